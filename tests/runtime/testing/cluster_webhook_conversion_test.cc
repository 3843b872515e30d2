// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Conversion webhooks of the in-memory cluster: objects that are stored in one version are written, read, listed and
// watched in another.
#include "kgen/cache/dynamic_informer.h"
#include "kgen/cache/factory.h"
#include "kgen/client/dynamic_client.h"
#include "tests/runtime/testing/webhook_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Converts between spec.quantity of v1 and spec.lines of v2.
json ConvertOrders(const json& request) {
  json objects = json::array();
  const std::string to = request["desiredAPIVersion"];
  const char* now = to == "shop.example/v1" ? "quantity" : "lines";
  const char* before = to == "shop.example/v1" ? "lines" : "quantity";
  for (json object : request["objects"]) {
    object["apiVersion"] = to;
    if (object["spec"].contains(before)) {
      object["spec"][now] = object["spec"][before];
      object["spec"].erase(before);
    }
    objects.push_back(std::move(object));
  }
  return {{"result", {{"status", "Success"}}}, {"convertedObjects", objects}};
}

class ConversionTest : public WebhookTest {
 protected:
  explicit ConversionTest(ClusterOptions options = {.seed = 1}) : WebhookTest(std::move(options)) {
    Must(cluster_.Add(std::string_view(Crd("v2", kConversion).dump())));
  }

  void StoreIn(const std::string& version) {
    json crd = Get(std::string(kCrds) + "/orders.shop.example");
    for (json& each : crd["spec"]["versions"]) each["storage"] = each["name"] == version;
    Put(std::string(kCrds) + "/orders.shop.example", crd);
    ASSERT_EQ(last_status_, 200) << last_error_;
  }
  static std::vector<std::string> Quantities(const WatchLog& log) {
    std::vector<std::string> lines;
    for (const json& event : log.events) {
      const json& object = event["object"];
      lines.push_back(event["type"].get<std::string>() + " " + object["apiVersion"].get<std::string>().substr(13) +
                      " " + object["metadata"]["name"].get<std::string>() + " " +
                      object["spec"].value("quantity", json()).dump());
    }
    return lines;
  }

  inline static const json kConversion = {
      {"strategy", "Webhook"},
      {"webhook",
       {{"conversionReviewVersions", {"v1"}},
        {"clientConfig", {{"service", {{"namespace", "shop"}, {"name", "hooks"}, {"path", "/convert"}}}}}}}};
  const Shared<FakeWebhook> convert_ = Serve("/convert", ConvertOrders);
};

TEST_F(ConversionTest, StoresOneVersionAndServesBoth) {
  const json created = Post(kOrders, Order("one", {{"quantity", 3}}));
  EXPECT_EQ(last_status_, 201);
  EXPECT_EQ(created["apiVersion"], "shop.example/v1");
  EXPECT_EQ(created["spec"], json({{"note", "none"}, {"quantity", 3}}));
  EXPECT_EQ(Stored("one")["apiVersion"], "shop.example/v2");
  EXPECT_EQ(Stored("one")["spec"], json({{"note", "none"}, {"lines", 3}}));
  EXPECT_EQ(Get(std::string(kOrders) + "/one"), created);
  EXPECT_EQ(Get(std::string(kOrders2) + "/one"), Stored("one"));
  EXPECT_EQ(Get(std::string(kOrders2) + "/one")["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);

  Post(kOrders2, Order("two", {{"lines", 5}}, "v2"));
  convert_->requests.clear();
  const json list = Get(kOrders);
  ASSERT_THAT(list["items"], SizeIs(2));
  EXPECT_EQ(list["items"][0], created);
  EXPECT_EQ(list["items"][1]["spec"]["quantity"], 5);
  ASSERT_THAT(convert_->requests, SizeIs(1)) << "a list arrives whole";
  EXPECT_EQ(convert_->requests[0]["desiredAPIVersion"], "shop.example/v1");
  EXPECT_THAT(convert_->requests[0]["objects"], SizeIs(2));
  convert_->requests.clear();
  EXPECT_THAT(Get(kOrders2)["items"], SizeIs(2));
  EXPECT_THAT(convert_->requests, IsEmpty());
}

TEST_F(ConversionTest, WritesThroughTheOtherVersion) {
  json order = Post(kOrders, Order("one", {{"quantity", 3}, {"replicas", 1}}));
  const std::string path = std::string(kOrders) + "/one";
  order["spec"]["quantity"] = 4;
  order = Put(path, order);
  EXPECT_EQ(order["spec"]["quantity"], 4);
  EXPECT_EQ(order["metadata"]["generation"], 2);
  EXPECT_EQ(Stored("one")["spec"]["lines"], 4);
  const std::string version = order["metadata"]["resourceVersion"];
  EXPECT_EQ(Put(path, order)["metadata"]["resourceVersion"], version) << "nothing changed";
  order = Send("PATCH", path, "", {{"spec", {{"quantity", 5}}}}, "application/merge-patch+json");
  EXPECT_EQ(Stored("one")["spec"]["lines"], 5);
  Send("PATCH", path, "fieldManager=me", Order("one", {{"quantity", 6}}), "application/apply-patch+yaml");
  EXPECT_EQ(Stored("one")["spec"]["lines"], 6);
  order = Get(path);
  order["status"]["phase"] = "Good";
  EXPECT_EQ(Put(path + "/status", order)["status"]["phase"], "Good");
  EXPECT_EQ(Stored("one")["status"]["phase"], "Good");
  json scale = Get(path + "/scale");
  scale["spec"]["replicas"] = 9;
  EXPECT_EQ(Put(path + "/scale", scale)["spec"]["replicas"], 9);
  EXPECT_EQ(Stored("one")["spec"], json({{"note", "none"}, {"lines", 6}, {"replicas", 9}}));
  json deleted = Get(path);
  deleted["metadata"]["finalizers"] = {"shop.example/hold"};
  Put(path, deleted);
  deleted = Send("DELETE", path);
  EXPECT_EQ(deleted["apiVersion"], "shop.example/v1");
  EXPECT_TRUE(deleted["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(deleted["spec"]["quantity"], 6);
}

TEST_F(ConversionTest, TheSchemaOfTheRequestsVersionDecides) {
  Post(kOrders, Order("big", {{"quantity", 1000}}));
  EXPECT_EQ(last_status_, 201) << "only v2 has a maximum";
  Post(kOrders2, Order("other", {{"lines", 1000}}, "v2"));
  EXPECT_EQ(last_code_, Code::kInvalid);
  EXPECT_EQ(Post(kOrders2, Order("pruned", {{"quantity", 1}, {"lines", 1}}, "v2"))["spec"],
            json({{"note", "none"}, {"lines", 1}}));
}

TEST_F(ConversionTest, TakesOnlyLabelsAndAnnotationsFromTheMetadata) {
  Post(kOrders2, Order("one", {{"lines", 5}}, "v2"));
  convert_->function = [](const json& request) {
    json answer = ConvertOrders(request);
    json& metadata = answer["convertedObjects"][0]["metadata"];
    metadata["labels"] = {{"from", "webhook"}};
    metadata["annotations"] = {{"kept", "yes"}};
    metadata["finalizers"] = {"x"};
    metadata["generation"] = 77;
    return answer;
  };
  const json order = Get(std::string(kOrders) + "/one");
  EXPECT_EQ(order["metadata"]["labels"], json({{"from", "webhook"}}));
  EXPECT_EQ(order["metadata"]["annotations"], json({{"kept", "yes"}}));
  EXPECT_FALSE(order["metadata"].contains("finalizers"));
  EXPECT_EQ(order["metadata"]["generation"], 1);
  EXPECT_FALSE(convert_->requests.back()["objects"][0]["metadata"].contains("resourceVersion"));
}

TEST_F(ConversionTest, RefusesAnswersThatAreNoConversionOfTheObjects) {
  Post(kOrders2, Order("one", {{"lines", 5}}, "v2"));
  const auto refused = [&](const std::function<void(json & answer)>& spoil) {
    convert_->function = [spoil](const json& request) {
      json answer = ConvertOrders(request);
      spoil(answer);
      return answer;
    };
    Get(std::string(kOrders) + "/one");
    EXPECT_EQ(last_status_, 500);
    return last_error_;
  };
  const std::string what = "conversion webhook for shop.example/v2, Kind=Order ";
  EXPECT_THAT(refused([](json& answer) { answer["result"] = {{"status", "Failure"}, {"message", "no rate"}}; }),
              HasSubstr(what + "failed: no rate"));
  EXPECT_THAT(refused([](json& answer) { answer["convertedObjects"].push_back(json::object()); }),
              HasSubstr(what + "returned 2 objects, expected 1"));
  const std::string invalid = what + "returned invalid converted object at index 0: ";
  EXPECT_THAT(refused([](json& answer) { answer["convertedObjects"][0]["apiVersion"] = "shop.example/v3"; }),
              HasSubstr(invalid + "invalid groupVersion (expected shop.example/v1, received shop.example/v3)"));
  EXPECT_THAT(refused([](json& answer) { answer["convertedObjects"][0]["kind"] = "Other"; }),
              HasSubstr(invalid + "invalid kind (expected Order, received Other)"));
  for (const auto& [key, name] :
       {std::pair("name", "name"), std::pair("namespace", "namespace"), std::pair("uid", "UID")}) {
    EXPECT_THAT(refused([key = key](json& answer) { answer["convertedObjects"][0]["metadata"][key] = "x"; }),
                HasSubstr(invalid + "must have the same " + name));
  }
}

TEST_F(ConversionTest, AFailingConversionFailsReadsWritesAndDeletions) {
  Post(kOrders2, Order("one", {{"lines", 5}}, "v2"));
  const std::string one = std::string(kOrders) + "/one";
  struct Case {
    WebhookFault fault;
    const char* message;
  };
  for (const Case& each : {Case{{.refuse = true}, "connect: connection refused"},
                           Case{{.delay = 31s}, "?timeout=30s\": context deadline exceeded"},
                           Case{{.status = 500}, "has prevented the request from succeeding"},
                           Case{{.wrong_uid = true}, "expected response.uid="},
                           Case{{.wrong_count = true}, "returned 0 objects, expected 1"},
                           Case{{.malformed = true}, "the answer is not JSON"}}) {
    for (const char* method : {"GET", "DELETE", "LIST", "PATCH"}) {
      cluster_.InjectWebhook(each.fault);
      const bool list = method == std::string_view("LIST"), patch = method == std::string_view("PATCH");
      Send(list ? "GET" : method, list ? kOrders : one, "", patch ? json{{"spec", {{"quantity", 1}}}} : json(),
           patch ? "application/merge-patch+json" : "");
      EXPECT_EQ(last_status_, 500) << method;
      EXPECT_THAT(last_error_, HasSubstr("conversion webhook for shop.example/v2, Kind=Order"));
      EXPECT_THAT(last_error_, HasSubstr(each.message));
    }
  }
  EXPECT_EQ(Get(one)["spec"]["quantity"], 5);
  Delete(std::string(kOrders2) + "/one");
  EXPECT_EQ(last_status_, 200) << "this version needs no conversion";
}

TEST_F(ConversionTest, AWriteCountsAlthoughItsReplyCannotBeConverted) {
  cluster_.InjectWebhook({.skip = 1, .refuse = true});  // the first call is for storing
  Post(kOrders, Order("one", {{"quantity", 3}}));
  EXPECT_EQ(last_status_, 500);
  EXPECT_EQ(Stored("one")["spec"]["lines"], 3);
}

TEST_F(ConversionTest, WatchesOfBothVersionsSeeAllEventsInOrder) {
  Post(kOrders2, Order("zero", {{"lines", 0}}, "v2"));
  const auto first = Watch(kOrders, ""), second = Watch(kOrders2, "");
  convert_->requests.clear();
  cluster_.InjectWebhook({.delay = 5s});  // the first event is ready after the others
  Must(cluster_.Add(std::string_view(Order("a", {{"lines", 1}}, "v2").dump())));
  Must(cluster_.Add(std::string_view(Order("b", {{"lines", 2}}, "v2").dump())));
  Must(cluster_.Update(std::string_view(Order("a", {{"lines", 3}}, "v2").dump())));
  Must(cluster_.Delete("orders", "default", "b"));
  cluster_.Advance(1s);
  EXPECT_THAT(Quantities(*first), ElementsAre("ADDED v1 zero 0"));
  cluster_.Advance(5s);
  EXPECT_THAT(Quantities(*first),
              ElementsAre("ADDED v1 zero 0", "ADDED v1 a 1", "ADDED v1 b 2", "MODIFIED v1 a 3", "DELETED v1 b 2"));
  ASSERT_THAT(second->events, SizeIs(5));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(first->events[i]["object"]["metadata"], second->events[i]["object"]["metadata"]);
  }
  EXPECT_THAT(convert_->requests, SizeIs(4)) << "one for each event";
}

TEST_F(ConversionTest, AnEventIsConvertedOnceForAllWatchesOfAVersion) {
  std::vector<Shared<WatchLog>> logs;
  for (int i = 0; i < 3; ++i) logs.push_back(Watch(kOrders, ""));
  Must(cluster_.Add(std::string_view(Order("a", {{"lines", 1}}, "v2").dump())));
  cluster_.RunUntilIdle();
  for (const auto& log : logs) EXPECT_THAT(Quantities(*log), ElementsAre("ADDED v1 a 1"));
  EXPECT_THAT(convert_->requests, SizeIs(1));
}

TEST_F(ConversionTest, AFailingConversionEndsAWatchWithAnError) {
  const auto log = Watch(kOrders, "");
  cluster_.InjectWebhook({.refuse = true});
  Must(cluster_.Add(std::string_view(Order("a", {{"lines", 1}}, "v2").dump())));
  cluster_.RunUntilIdle();
  EXPECT_THAT(log->lines, ElementsAre("ERROR"));
  EXPECT_THAT(log->events[0]["object"]["message"].get<std::string>(), HasSubstr("conversion webhook for"));
  EXPECT_TRUE(log->end.has_value());
}

TEST_F(ConversionTest, AStreamingListEndsAfterItsConvertedObjects) {
  for (const char* name : {"a", "b"}) Post(kOrders2, Order(name, {{"lines", 1}}, "v2"));
  cluster_.InjectWebhook({.delay = 2s});
  const auto log = Watch(kOrders, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_THAT(log->lines, ElementsAre("ADDED a", "ADDED b", "BOOKMARK end"));
}

TEST_F(ConversionTest, RecordsTheVersionsInWhichObjectsMayBeStored) {
  const std::string path = std::string(kCrds) + "/orders.shop.example";
  EXPECT_EQ(Get(path)["status"]["storedVersions"], json({"v2"}));
  StoreIn("v1");
  EXPECT_EQ(Get(path)["status"]["storedVersions"], json({"v2", "v1"}));
  StoreIn("v2");
  EXPECT_EQ(Get(path)["status"]["storedVersions"], json({"v2", "v1"}));
  json crd = Get(path);
  crd["spec"]["versions"].erase(0);  // v1
  Put(path, crd);
  EXPECT_THAT(last_causes_, ElementsAre("status.storedVersions[1] FieldValueInvalid"));
  json status = Get(path);
  status["status"]["storedVersions"] = {"v2"};
  Put(path + "/status", status);
  crd = Get(path);
  crd["spec"]["versions"].erase(0);
  Put(path, crd);
  EXPECT_EQ(last_status_, 200) << last_error_;
}

TEST_F(ConversionTest, AnUpdateWithoutAChangeStoresTheNewVersion) {
  Post(kOrders2, Order("one", {{"lines", 5}}, "v2"));
  StoreIn("v1");
  EXPECT_EQ(Stored("one")["apiVersion"], "shop.example/v2");
  const json order = Get(std::string(kOrders2) + "/one");
  EXPECT_EQ(Put(std::string(kOrders2) + "/one", order)["spec"]["lines"], 5);
  EXPECT_EQ(Stored("one")["apiVersion"], "shop.example/v1");
  EXPECT_EQ(Stored("one")["spec"]["quantity"], 5);
}

TEST_F(ConversionTest, RefusesACrdWithoutAWebhook) {
  json crd = Crd("v1", {{"strategy", "Webhook"}});
  crd["metadata"]["name"] = "others.shop.example";
  Post(kCrds, crd);
  EXPECT_THAT(last_causes_, ElementsAre("spec.conversion.webhook.clientConfig FieldValueRequired",
                                        "spec.conversion.webhook.conversionReviewVersions FieldValueRequired"));
}

class InformersOfBothVersionsTest : public ConversionTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  InformersOfBothVersionsTest() : ConversionTest({.seed = GetParam()}) {}
  void Write(const std::string& name, bool first, int quantity) {
    const json order = Order(name, {{first ? "quantity" : "lines", quantity}}, first ? "v1" : "v2");
    if (cluster_.Get("orders", "default", name)) {
      Must(cluster_.Update(std::string_view(order.dump())));
    } else {
      Must(cluster_.Add(std::string_view(order.dump())));
    }
  }
};

TEST_P(InformersOfBothVersionsTest, StayRightWhileTheStorageVersionChanges) {
  SharedInformerFactory factory(cluster_.Connection());
  const DynamicInformer old = factory.ForResource({"shop.example", "v1", "orders"});
  const DynamicInformer now = factory.ForResource({"shop.example", "v2", "orders"});
  (void)old.Informer();
  (void)now.Informer();
  factory.Start();
  Must(factory.WaitForCacheSync({}));
  convert_->duration = 1s;
  for (int i = 0; i < 24; ++i) {
    Write("order-" + std::to_string(i % 7), i % 2 == 0, i);
    if (i % 5 == 0) StoreIn(i % 10 == 0 ? "v1" : "v2");
    if (i == 11) cluster_.CutWatches();
    if (i != 16) continue;
    cluster_.RunUntilIdle();
    cluster_.InjectWebhook({.refuse = true});  // for the event of the next object, which is stored as it is written
    Write("order-7", false, 70);
    cluster_.Advance(10s);
  }
  cluster_.Advance(5min);
  EXPECT_EQ(cluster_.List("orders").size(), 8u);
  for (const std::string& text : cluster_.List("orders")) {
    const json stored = json::parse(text);
    const std::string name = stored["metadata"]["name"];
    const int count = stored["spec"].contains("lines") ? stored["spec"]["lines"] : stored["spec"]["quantity"];
    const auto in_old = old.Lister().ByNamespace("default").Get(name);
    const auto in_now = now.Lister().ByNamespace("default").Get(name);
    ASSERT_TRUE(in_old && in_now) << name;
    EXPECT_EQ(in_old->GetInt64("spec.quantity"), count) << name;
    EXPECT_EQ(in_now->GetInt64("spec.lines"), count) << name;
    EXPECT_EQ(in_old->metadata.resourceVersion, in_now->metadata.resourceVersion);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformersOfBothVersionsTest, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace kgen::testing
