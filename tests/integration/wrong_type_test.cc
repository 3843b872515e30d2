// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A real server whose schema is looser than the one of our types: fields of the wrong type do not stop an informer, and
// are not lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/shop/v1/types.h>
#include <k8s/apiextensions/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using acme::shop::v1::Order;
using acme::shop::v1::OrderSpec;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

// "odd: spec.quantity" for each report of refused fields, "deep" for each report of refused objects, and the number of
// fields in those reports.
class Reports : public Observer {
 public:
  void OnFieldRefused(const FieldRefused& e) override {
    Put(fields_, e.key->name.str() + ": " + std::string(e.path));
    field_count_ += e.count;
  }
  void OnObjectRefused(const ObjectRefused& e) override { Put(objects_, e.key->name.str()); }
  std::vector<std::string> fields() const { return Look(fields_); }
  std::vector<std::string> objects() const { return Look(objects_); }
  std::size_t field_count() const { return field_count_; }

 private:
  void Put(std::vector<std::string>& to, std::string text) {
    const std::lock_guard lock(mutex_);
    to.push_back(std::move(text));
  }
  std::vector<std::string> Look(const std::vector<std::string>& at) const {
    const std::lock_guard lock(mutex_);
    return at;
  }
  mutable std::mutex mutex_;
  std::vector<std::string> fields_, objects_;
  std::atomic<std::size_t> field_count_ = 0;
};

class WrongTypeTest : public ::testing::Test {
 protected:
  auto Orders() { return shop_->ShopV1().Orders(namespace_); }
  std::string Path() const { return "/apis/shop.example.com/v1/namespaces/" + namespace_ + "/orders"; }
  // Past our types, which could not say it.
  Result<void> Create(const std::string& name, const std::string& spec) {
    return Send("POST", Path(), "application/json",
                R"({"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":")" + name + R"("},"spec":)" +
                    spec + "}");
  }
  Result<void> Change(const std::string& name, const std::string& spec) {
    return Send("PATCH", Path() + '/' + name, "application/merge-patch+json", R"({"spec":)" + spec + "}");
  }
  Result<void> Send(const std::string& method, const std::string& path, const std::string& type,
                    const std::string& body) {
    return Discard(connection_->Call(
        {.method = method, .path = path, .content_type = type, .body = body, .what = method + ' ' + path}));
  }

  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    auto config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = reports_;
    connection_.emplace(Must(Connection::Open(config)));
    kubernetes_.emplace(*connection_);
    shop_.emplace(*connection_);
    namespace_ = "mismatch-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    Must(kubernetes_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    Must(crd::Install(*kubernetes_, acme::Manifests(), {.timeout = 60s}));
    const std::string path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/";
    nlohmann::json patch;
    for (const char* field : {"quantity", "address", "lines"}) {
      patch.push_back(
          {{"op", "replace"}, {"path", path + field}, {"value", {{"x-kubernetes-preserve-unknown-fields", true}}}});
    }
    Must(kubernetes_->ApiextensionsV1().CustomResourceDefinitions().Patch(kCrd, JsonPatch(patch.dump())));
    // The new schema takes effect after a while; until then the server refuses objects that violate the old one.
    Result<void> created;
    ASSERT_TRUE(Eventually([&] { return (created = Create("odd", kOdd)).has_value(); })) << created.error();
    Must(Orders().Create({.metadata = {.name = "good"}, .spec = OrderSpec{.item = "teapot", .quantity = 1}}));
  }
  void TearDown() override {  // the other tests need the original schema
    if (kubernetes_) Must(crd::Install(*kubernetes_, acme::Manifests(), {.timeout = 60s}));
  }

  // The spec as stored on the server.
  nlohmann::json Stored(const std::string& name) {
    return nlohmann::json::parse(
        Must(connection_->Call({.path = Path() + '/' + name, .what = "get " + name})).body)["spec"];
  }

  static constexpr const char* kCrd = "orders.shop.example.com";
  static constexpr const char* kOdd =
      R"({"item":"cup","quantity":"a dozen","address":["round","the","corner"],"lines":{"item":"saucer"}})";

  Shared<Reports> reports_ = MakeShared<Reports>();
  std::optional<Connection> connection_;
  std::optional<k8s::Clientset> kubernetes_;
  std::optional<acme::Clientset> shop_;
  std::string namespace_;
};

// Deeper than the decoder allows; the server accepts it.
std::string Deep() {
  return R"({"item":"well","quantity":1,"extensions":{"deep":)" + std::string(300, '[') + std::string(300, ']') + "}}";
}

TEST_F(WrongTypeTest, AnObjectWithAFieldOfTheWrongTypeDoesNotStopTheInformer) {
  Must(Create("deep", Deep()));
  acme::SharedInformerFactory factory(*shop_, {.namespace_ = namespace_});
  const auto informer = factory.Shop().V1().Orders().Informer();
  const auto lister = factory.Shop().V1().Orders().Lister().Orders(namespace_);
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.give_up_after = 60s}));

  // One object is complete, one lacks three fields, one is missing, and all of this is reported.
  EXPECT_TRUE(lister.Get("good"));
  EXPECT_FALSE(lister.Get("deep"));
  const auto odd = lister.Get("odd");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->spec->item, "cup");
  EXPECT_FALSE(odd->spec->quantity.has_value());
  EXPECT_FALSE(odd->spec->address.has_value());
  EXPECT_FALSE(odd->spec->lines.has_value());
  EXPECT_EQ(odd->spec->unknown_fields["quantity"].text(), R"("a dozen")");
  EXPECT_EQ(informer.status().refused, 1u);
  const auto complete = factory.WaitForCacheSync({}, {.complete = true, .give_up_after = 60s});
  ASSERT_FALSE(complete);
  EXPECT_EQ(complete.error().code(), Code::kDecode);
  EXPECT_TRUE(Eventually([&] { return reports_->field_count() == 3; })) << reports_->field_count();
  EXPECT_THAT(reports_->fields(), AllOf(SizeIs(2), Each(HasSubstr("odd: spec."))));
  EXPECT_THAT(reports_->objects(), UnorderedElementsAre("deep"));

  // The watch continues after a state that cannot be decoded: the last good one stays, and is marked as stale.
  Must(Change("good", Deep()));
  Must(Orders().Create({.metadata = {.name = "later"}, .spec = OrderSpec{.item = "spoon", .quantity = 2}}));
  ASSERT_TRUE(Eventually([&] { return static_cast<bool>(lister.Get("later")); }));
  EXPECT_EQ(lister.Get("good").get()->spec->item, "teapot");
  EXPECT_TRUE(informer.Indexer().Snapshot().IsStale({namespace_, "good"}));
  EXPECT_EQ(informer.status().refused, 2u);

  // Objects that are valid again are updated.
  for (const char* name : {"good", "deep"}) {
    Must(Change(name, R"({"extensions":null,"item":"bucket"})"));
  }
  ASSERT_TRUE(Eventually([&] { return lister.Get("deep") && lister.Get("good").get()->spec->item == "bucket"; }));
  EXPECT_FALSE(informer.Indexer().Snapshot().IsStale({namespace_, "good"}));
  Must(factory.WaitForCacheSync({}, {.complete = true, .give_up_after = 60s}));
}

TEST_F(WrongTypeTest, AnUpdateKeepsAFieldOfTheWrongTypeUnlessItIsAssigned) {
  acme::SharedInformerFactory factory(*shop_, {.namespace_ = namespace_});
  const auto lister = factory.Shop().V1().Orders().Lister().Orders(namespace_);
  factory.Shop().V1().Orders().Informer();
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.give_up_after = 60s}));
  nlohmann::json expected = Stored("odd");
  ASSERT_EQ(expected["quantity"], "a dozen");

  const auto odd = lister.Get("odd");
  ASSERT_TRUE(odd);
  Order mine = *odd;
  mine.spec->item = "mug";
  mine = Must(Orders().Update(mine));
  expected["item"] = "mug";
  EXPECT_EQ(Stored("odd"), expected);

  mine.spec->quantity = 12;
  Must(Orders().Update(mine));
  expected["quantity"] = 12;
  EXPECT_EQ(Stored("odd"), expected);
  ASSERT_TRUE(Eventually([&] { return lister.Get("odd").get()->spec->quantity == 12; }));
  EXPECT_FALSE(lister.Get("odd").get()->spec->unknown_fields.contains("quantity"));
}

}  // namespace
}  // namespace kgen::integration
