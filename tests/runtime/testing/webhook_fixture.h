// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Webhooks that are functions over JSON, and a cluster that calls them.
#ifndef KGEN_TESTS_RUNTIME_TESTING_WEBHOOK_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_TESTING_WEBHOOK_FIXTURE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/webhook/webhook_routes.h"
#include "kgen/core/quantity.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {

// Answers reviews with what a function makes of their request. The function returns a response without its uid.
class FakeWebhook final : public controller::WebhookHandler {
 public:
  using Function = std::function<json(const json& request)>;
  explicit FakeWebhook(Function given, Nanos given_duration, Shared<Executor> executor)
      : function(std::move(given)), duration(given_duration), executor_(std::move(executor)) {}

  Kind kind() const noexcept override { return Kind::kRaw; }
  std::string Answer(std::string_view text, const controller::WebhookCall& call) override {
    const json review = json::parse(text);
    requests.push_back(review["request"]);
    if (duration > Nanos::zero()) {
      (void)executor_->MakeWaiter("a slow webhook")->Wait(call.stop, Later(executor_->clock()->Now(), duration));
    }
    json response = function(review["request"]);
    response["uid"] = review["request"]["uid"];
    return json{{"apiVersion", review["apiVersion"]}, {"kind", review["kind"]}, {"response", response}}.dump();
  }
  std::string AnswerTooLarge(std::size_t) override { return {}; }
  std::uint64_t panics() const noexcept override { return 0; }

  std::vector<json> requests;
  Function function;
  Nanos duration;  // in virtual time

 private:
  const Shared<Executor> executor_;
};

inline json Allow() { return {{"allowed", true}}; }
inline json Deny(const json& status) { return {{"allowed", false}, {"status", status}}; }
inline json PatchWith(const json& operations) {
  return {{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", std::string(Bytes::Of(operations.dump()).base64())}};
}

// A webhook of a configuration: all operations on orders, and what `more` says.
inline json HookOf(const std::string& name, const std::string& path, const json& more = json::object()) {
  json hook = {{"name", name},
               {"clientConfig", {{"service", {{"namespace", "shop"}, {"name", "hooks"}, {"path", path}}}}},
               {"rules", json::array({{{"operations", {"CREATE", "UPDATE", "DELETE"}},
                                       {"apiGroups", {"shop.example"}},
                                       {"apiVersions", {"*"}},
                                       {"resources", {"orders"}}}})},
               {"sideEffects", "None"},
               {"admissionReviewVersions", {"v1"}}};
  hook.update(more);
  return hook;
}

class WebhookTest : public ClusterTest {
 protected:
  static constexpr char kOrders[] = "/apis/shop.example/v1/namespaces/default/orders";
  static constexpr char kOrders2[] = "/apis/shop.example/v2/namespaces/default/orders";
  static constexpr char kMutating[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  static constexpr char kValidating[] = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

  // Webhooks of Serve() belong to this service; "": there are none.
  explicit WebhookTest(ClusterOptions options = {.seed = 1}, std::string_view service = "shop/hooks")
      : ClusterTest(std::move(options)) {
    if (!service.empty()) cluster_.ServeWebhooks(routes_, service);
  }

  Shared<FakeWebhook> Serve(const std::string& path, FakeWebhook::Function function, Nanos duration = {}) {
    auto webhook = MakeShared<FakeWebhook>(std::move(function), duration, cluster_.simulation().executor());
    Must(routes_->Add(path, webhook));
    return webhook;
  }
  void Configure(const char* path, const std::string& name, const json& hooks) {
    const bool mutating = std::string_view(path) == kMutating;
    Must(cluster_.Add(std::string_view(json{
        {"apiVersion", "admissionregistration.k8s.io/v1"},
        {"kind", mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration"},
        {"metadata", {{"name", name}}},
        {"webhooks", hooks}}.dump())));
  }
  // Orders of v1 have spec.quantity, of v2 spec.lines; both have spec.note with a default.
  static json Crd(const std::string& storage = "v1", const json& conversion = {}) {
    const auto version = [&](const char* name, const json& members) {
      json spec = {{"type", "object"}, {"properties", {{"note", {{"type", "string"}, {"default", "none"}}}}}};
      spec["properties"].update(members);
      const json status = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
      return json{{"name", name},
                  {"served", true},
                  {"storage", name == storage},
                  {"subresources",
                   {{"status", json::object()},
                    {"scale", {{"specReplicasPath", ".spec.replicas"}, {"statusReplicasPath", ".status.replicas"}}}}},
                  {"schema",
                   {{"openAPIV3Schema", {{"type", "object"}, {"properties", {{"spec", spec}, {"status", status}}}}}}}};
    };
    const json replicas = {{"type", "integer"}};
    json crd = {{"apiVersion", "apiextensions.k8s.io/v1"},
                {"kind", "CustomResourceDefinition"},
                {"metadata", {{"name", "orders.shop.example"}}},
                {"spec",
                 {{"group", "shop.example"},
                  {"scope", "Namespaced"},
                  {"names", {{"plural", "orders"}, {"kind", "Order"}}},
                  {"versions",
                   {version("v1", {{"quantity", {{"type", "integer"}, {"minimum", 0}}}, {"replicas", replicas}}),
                    version("v2", {{"lines", {{"type", "integer"}, {"maximum", 100}}}, {"replicas", replicas}})}}}}};
    if (!conversion.is_null()) crd["spec"]["conversion"] = conversion;
    return crd;
  }
  static json Order(const std::string& name, const json& spec = json::object(), const char* version = "v1") {
    json order = {{"apiVersion", std::string("shop.example/") + version},
                  {"kind", "Order"},
                  {"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"spec", spec}};
    return order;
  }
  json Stored(const std::string& name) {
    const auto found = cluster_.Get("orders", "default", name);
    return found ? json::parse(*found) : json();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const std::string& each : cluster_.List("orders")) names.push_back(json::parse(each)["metadata"]["name"]);
    return names;
  }
  void Delete(const std::string& path) { Send("DELETE", path); }
  TimePoint now() { return cluster_.simulation().clock()->Now(); }

  const Shared<controller::WebhookRoutes> routes_ = MakeShared<controller::WebhookRoutes>();
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_RUNTIME_TESTING_WEBHOOK_FIXTURE_H_
