// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The requests of the verbs: paths, queries, bodies, and requests that are refused before they are sent.
#include "kgen/client/raw_resource.h"

#include "net/base64.h"
#include "net/duration_text.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

constexpr KindInfo kPods = {"", "v1", "Pod", "PodList", "pods", "pod", Scope::kNamespaced, nullptr};
constexpr KindInfo kNodes = {"", "v1", "Node", "NodeList", "nodes", "node", Scope::kCluster, nullptr};
constexpr KindInfo kOrders = {"shop.example.com", "v1beta1", "Order", "OrderList", "orders", "order",
                              Scope::kNamespaced, nullptr};

class RawResourceTest : public ClientTest {
 protected:
  RawResource Of(const KindInfo& kind, std::string_view namespace_ = "") { return {connection(), kind, namespace_}; }
  RawResource Pods() { return Of(kPods, "default"); }
};

// Contract: client CFG-3.
TEST_F(RawResourceTest, RootsPathsInGroupAndVersion) {
  EXPECT_EQ(Pods().List({})->path, "/api/v1/namespaces/default/pods");
  EXPECT_EQ(Of(kPods).List({})->path, "/api/v1/pods");
  EXPECT_EQ(Of(kNodes).Get("n1", "", {})->path, "/api/v1/nodes/n1");
  EXPECT_EQ(Of(kOrders, "a").Get("o", "", {})->path, "/apis/shop.example.com/v1beta1/namespaces/a/orders/o");
}

// Contract: client TYP-1.
TEST_F(RawResourceTest, MapsVerbsToMethods) {
  EXPECT_EQ(Pods().Create("", "{}", {})->method, "POST");
  EXPECT_EQ(Pods().Create("", "{}", {})->path, "/api/v1/namespaces/default/pods");
  EXPECT_EQ(Pods().Update("", "web-0", "", "{}", {})->method, "PUT");
  EXPECT_EQ(Pods().Update("", "web-0", "status", "{}", {})->path, "/api/v1/namespaces/default/pods/web-0/status");
  EXPECT_EQ(Pods().Delete("web-0", {})->method, "DELETE");
  EXPECT_EQ(Pods().DeleteCollection({}, {})->method, "DELETE");
  EXPECT_EQ(Pods().DeleteCollection({}, {})->path, "/api/v1/namespaces/default/pods");
  EXPECT_EQ(Pods().Get("web-0", "", {})->method, "GET");
  EXPECT_EQ(Pods().Watch({})->query, "watch=true");
  EXPECT_TRUE(Pods().Watch({})->watch);
  EXPECT_FALSE(Pods().List({})->watch);
  EXPECT_EQ(Pods().Patch("web-0", "status", MergePatch("{}"), {})->method, "PATCH");
}

TEST_F(RawResourceTest, DescribesTheOperation) {
  EXPECT_EQ(Pods().Get("web-0", "", {})->what, "get pods default/web-0");
  EXPECT_EQ(Pods().List({})->what, "list pods in default");
  EXPECT_EQ(Of(kPods).Watch({})->what, "watch pods");
  EXPECT_EQ(Of(kNodes).Get("n1", "", {})->what, "get nodes n1");
  EXPECT_EQ(Pods().Update("", "web-0", "status", "{}", {})->what, "update pods/status default/web-0");
}

// Contract: generator CLI-05.
TEST_F(RawResourceTest, EscapesSegmentsOnce) {
  EXPECT_EQ(Of(kNodes).Get("system:node a", "", {})->path, "/api/v1/nodes/system:node%20a");
  EXPECT_EQ(Of(kNodes).Get("caf\u00e9?#", "", {})->path, "/api/v1/nodes/caf%C3%A9%3F%23");
}

// Contract: client TYP-3; generator CLI-04.
TEST_F(RawResourceTest, RefusesAnEmptyNameWithoutSending) {
  for (const Result<ApiRequest>& request :
       {Pods().Get("", "", {}), Pods().Delete("", {}), Pods().Update("", "", "", "{}", {}),
        Pods().Patch("", "", MergePatch("{}"), {}), Of(kNodes).Delete("", {})}) {
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().code(), Code::kInvalidArgument);
  }
}

// Contract: client REST-14; generator CLI-03; controller 161.
TEST_F(RawResourceTest, RefusesAnEmptyNamespaceWhereOneIsNeeded) {
  for (const Result<ApiRequest>& request :
       {Of(kPods).Get("a", "", {}), Of(kPods).Delete("a", {}), Of(kPods).Update("", "a", "", "{}", {}),
        Of(kPods).Create("", "{}", {}), Of(kPods).Patch("a", "", MergePatch("{}"), {})}) {
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().code(), Code::kInvalidArgument);
  }
  EXPECT_TRUE(Of(kPods).List({}).has_value());
  EXPECT_TRUE(Of(kPods).Watch({}).has_value());
  EXPECT_TRUE(Of(kPods).DeleteCollection({}, {}).has_value());
}

// Contract: client REST-4.
TEST_F(RawResourceTest, RefusesSegmentsThatWouldChangeThePath) {
  for (const std::string_view bad : {".", "..", "a/b", "50%", "/"}) {
    EXPECT_FALSE(Pods().Get(bad, "", {}).has_value()) << bad;
    EXPECT_FALSE(Of(kPods, bad).List({}).has_value()) << bad;
    EXPECT_FALSE(Pods().Get("web-0", bad, {}).has_value()) << bad;
  }
  EXPECT_TRUE(Pods().Get("a..b", "", {}).has_value());
}

// Contract: generator CLI-03; controller 161.
TEST_F(RawResourceTest, UsesTheNamespaceOfTheObjectInAClientOfAllNamespaces) {
  EXPECT_EQ(Of(kPods).Create("shop", "{}", {})->path, "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(Of(kPods).Update("shop", "a", "", "{}", {})->path, "/api/v1/namespaces/shop/pods/a");
  EXPECT_EQ(Pods().Create("default", "{}", {})->path, "/api/v1/namespaces/default/pods");
  EXPECT_EQ(Pods().Create("shop", "{}", {}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Of(kNodes).Create("shop", "{}", {})->path, "/api/v1/nodes");
}

// Contract: client REST-7; generator CLI-07; controller 159.
TEST_F(RawResourceTest, SendsListOptionsSortedAndEscaped) {
  const ListOptions options = {.label_selector = "app=web,tier in (a,b)",
                               .field_selector = "spec.nodeName=n1",
                               .shard_selector = "shardRange(object.metadata.uid, '0x0', '0x8')",
                               .limit = 500,
                               .continue_ = "a+b/=",
                               .resource_version = "7",
                               .resource_version_match = "NotOlderThan",
                               .timeout_seconds = 90,
                               .allow_watch_bookmarks = true,
                               .send_initial_events = true};
  EXPECT_EQ(options.Query(true),
            "allowWatchBookmarks=true&continue=a%2Bb%2F%3D&fieldSelector=spec.nodeName%3Dn1&"
            "labelSelector=app%3Dweb%2Ctier%20in%20%28a%2Cb%29&limit=500&resourceVersion=7&"
            "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&"
            "shardSelector=shardRange%28object.metadata.uid%2C%20%270x0%27%2C%20%270x8%27%29&timeout=1m30s&"
            "timeoutSeconds=90&watch=true");
}

TEST_F(RawResourceTest, SendsNoOptionThatIsNotSet) {
  EXPECT_EQ(ListOptions{}.Query(), "");
  EXPECT_EQ(ListOptions{.limit = 0}.Query(), "");
  EXPECT_EQ(ListOptions{.resource_version = "0"}.Query(), "resourceVersion=0");
  EXPECT_EQ(Pods().Create("", "{}", {})->query, "");
}

// Contract: client TYP-2.
TEST_F(RawResourceTest, SendsTimeoutSecondsInBothForms) {
  EXPECT_EQ(ListOptions{.timeout_seconds = 5}.Query(), "timeout=5s&timeoutSeconds=5");
}

// Contract: controller 158.
TEST_F(RawResourceTest, SendsWriteOptions) {
  const CreateOptions options = {.dry_run = true, .field_manager = "me", .field_validation = FieldValidation::kStrict};
  EXPECT_EQ(Pods().Create("", "{}", options)->query, "dryRun=All&fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(Pods().Update("", "a", "", "{}", options)->query, "dryRun=All&fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(Pods().Create("", "{}", {})->content_type, "application/json");
}

// Contract: client REST-12; generator CLI-09; controller 157.
TEST_F(RawResourceTest, SendsThePatchWithItsMediaType) {
  EXPECT_EQ(Pods().Patch("a", "", MergePatch("{}"), {})->content_type, "application/merge-patch+json");
  EXPECT_EQ(Pods().Patch("a", "", JsonPatch("[]"), {})->content_type, "application/json-patch+json");
  EXPECT_EQ(Pods().Patch("a", "", StrategicMergePatch("{}"), {})->content_type,
            "application/strategic-merge-patch+json");
  EXPECT_EQ(Pods().Patch("a", "", JsonPatch("[]"), {})->body, "[]");
}

// Contract: client TYP-4; controller 156.
TEST_F(RawResourceTest, SendsForceWithEveryApply) {
  const Result<ApiRequest> apply = Pods().Patch("a", "", ApplyPatch("{}"), {.field_manager = "me"});
  EXPECT_EQ(apply->content_type, "application/apply-patch+yaml");
  EXPECT_EQ(apply->query, "fieldManager=me&force=false");
  EXPECT_EQ(Pods().Patch("a", "", ApplyPatch("{}"), {.field_manager = "me", .force = true})->query,
            "fieldManager=me&force=true");
  EXPECT_EQ(Pods().Patch("a", "", MergePatch("{}"), {.force = true})->query, "");
}

// Contract: generator CLI-11; controller 158.
TEST_F(RawResourceTest, SendsDeleteOptionsAsBody) {
  EXPECT_EQ(Pods().Delete("a", {})->body, R"({"apiVersion":"v1","kind":"DeleteOptions"})");
  const DeleteOptions options = {.grace_period_seconds = 0,
                                 .propagation_policy = Propagation::kForeground,
                                 .uid = "u\"1",
                                 .resource_version = "8",
                                 .dry_run = true};
  EXPECT_EQ(options.Body(),
            R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions",)"
            R"("preconditions":{"resourceVersion":"8","uid":"u\"1"},"propagationPolicy":"Foreground"})");
}

// Contract: client TYP-1.
TEST_F(RawResourceTest, SelectsTheObjectsOfDeleteCollectionInTheQuery) {
  const Result<ApiRequest> request = Pods().DeleteCollection({.label_selector = "a=b"}, {.dry_run = true});
  EXPECT_EQ(request->query, "labelSelector=a%3Db");
  EXPECT_EQ(request->body, R"({"apiVersion":"v1","dryRun":["All"],"kind":"DeleteOptions"})");
}

TEST_F(RawResourceTest, DeletesNoCollectionOfAShard) {
  const Result<ApiRequest> request = Pods().DeleteCollection({.shard_selector = "shardRange(...)"}, {});
  ASSERT_EQ(request.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(request.error().ToString(), ::testing::HasSubstr("would delete every object"));
}

// Contract: client REST-8.
TEST(DurationText, HasTheFormatOfGo) {
  EXPECT_EQ(net::DurationText(0s), "0s");
  EXPECT_EQ(net::DurationText(32s), "32s");
  EXPECT_EQ(net::DurationText(90s), "1m30s");
  EXPECT_EQ(net::DurationText(1h), "1h0m0s");
  EXPECT_EQ(net::DurationText(1500ms), "1.5s");
  EXPECT_EQ(net::DurationText(-90s), "-1m30s");
  EXPECT_EQ(net::DurationText(Nanos::min()), net::DurationText(-Nanos::max())) << "it has no positive counterpart";
  EXPECT_EQ(net::DurationText(250ms), "250ms");
  EXPECT_EQ(net::DurationText(1001ms), "1.001s");
}

TEST(DecodeBase64, AcceptsOnlyTheBase64OfKubeconfigs) {
  EXPECT_EQ(net::DecodeBase64(""), "");
  EXPECT_EQ(net::DecodeBase64("aGVsbG8="), "hello");
  EXPECT_EQ(net::DecodeBase64("aGVs\n bG8="), "hello");
  EXPECT_EQ(net::DecodeBase64("AP8="), std::string("\0\xff", 2));
  for (const std::string_view bad : {"a", "aGVsbG8", "a===", "aG=s", "****", "aGVsbG8=aGVs"}) {
    EXPECT_FALSE(net::DecodeBase64(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace kgen::testing
