// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Admission webhooks of the in-memory cluster: which requests they see, in which order, and what becomes of their
// answers.
#include "testing/api_server.h"
#include "tests/runtime/testing/webhook_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AdmissionTest : public WebhookTest {
 protected:
  AdmissionTest() { Must(cluster_.Add(std::string_view(Crd().dump()))); }
  explicit AdmissionTest(ClusterOptions options) : WebhookTest(std::move(options)) {
    Must(cluster_.Add(std::string_view(Crd().dump())));
  }

  // Stores an object that no webhook has seen.
  void ChangeBehindTheBack(json object) {
    object["metadata"]["resourceVersion"] = std::to_string(cluster_.resource_version() + 1);
    Must(cluster_.Corrupt("orders", "default", object["metadata"]["name"].get<std::string>(), object.dump()));
  }

  // A mutating webhook that appends its name to spec.note, under a configuration of the same name.
  Shared<FakeWebhook> Appends(const std::string& name, const json& more = json::object()) {
    auto webhook = Serve("/" + name, [name](const json& request) {
      if (request["operation"] == "DELETE") return Allow();
      const std::string note = request["object"]["spec"]["note"];
      return PatchWith(json::array({{{"op", "replace"}, {"path", "/spec/note"}, {"value", note + "+" + name}}}));
    });
    Configure(kMutating, name, json::array({HookOf(name + ".shop.example", "/" + name, more)}));
    return webhook;
  }
  Shared<FakeWebhook> Validates(const std::string& name, FakeWebhook::Function function,
                                const json& more = json::object(), Nanos duration = {}) {
    auto webhook = Serve("/" + name, std::move(function), duration);
    Configure(kValidating, name, json::array({HookOf(name + ".shop.example", "/" + name, more)}));
    return webhook;
  }
};

TEST_F(AdmissionTest, AMutatingWebhookSeesAndChangesANewObject) {
  const auto hook = Appends("a");
  const json order = Post(kOrders, Order("one", {{"quantity", 1}, {"unknown", true}}));
  EXPECT_EQ(last_status_, 201);
  EXPECT_EQ(order["spec"], json({{"note", "none+a"}, {"quantity", 1}}));
  EXPECT_EQ(Stored("one"), order);

  ASSERT_THAT(hook->requests, SizeIs(1));
  const json& request = hook->requests[0];
  EXPECT_EQ(request["uid"].get<std::string>().size(), 36u);
  EXPECT_EQ(request["operation"], "CREATE");
  EXPECT_EQ(request["kind"], json({{"group", "shop.example"}, {"version", "v1"}, {"kind", "Order"}}));
  EXPECT_EQ(request["requestResource"], json({{"group", "shop.example"}, {"version", "v1"}, {"resource", "orders"}}));
  EXPECT_EQ(request["name"], "one");
  EXPECT_EQ(request["namespace"], "default");
  EXPECT_EQ(request["dryRun"], false);
  EXPECT_EQ(request["options"]["kind"], "CreateOptions");
  EXPECT_EQ(request["oldObject"], nullptr);
  // The defaults are there, and what the server sets is not yet.
  EXPECT_EQ(request["object"]["spec"], json({{"note", "none"}, {"quantity", 1}}));
  EXPECT_FALSE(request["object"]["metadata"].contains("uid"));
}

TEST_F(AdmissionTest, PrunesAndChecksWhatMutatingWebhooksLeave) {
  Serve("/m", [](const json& request) {
    const bool bad = request["object"]["metadata"]["name"] == "bad";
    return PatchWith(json::array({{{"op", "remove"}, {"path", "/spec/note"}},
                                  {{"op", "add"}, {"path", "/spec/unknown"}, {"value", 1}},
                                  {{"op", "add"}, {"path", "/spec/quantity"}, {"value", bad ? -1 : 5}}}));
  });
  Configure(kMutating, "m", json::array({HookOf("m.shop.example", "/m")}));
  const auto validating = Validates("v", [](const json&) { return Allow(); });
  EXPECT_EQ(Post(kOrders, Order("good"))["spec"], json({{"note", "none"}, {"quantity", 5}}));
  ASSERT_THAT(validating->requests, SizeIs(1));
  EXPECT_EQ(validating->requests[0]["object"]["spec"], json({{"note", "none"}, {"quantity", 5}}));
  EXPECT_TRUE(validating->requests[0]["object"]["metadata"].contains("uid"));

  Post(kOrders, Order("bad"));
  EXPECT_EQ(last_code_, Code::kInvalid);
  EXPECT_THAT(last_error_, HasSubstr("should be greater than or equal to 0"));
  EXPECT_THAT(validating->requests, SizeIs(1)) << "a denial by schema spares validating webhooks";
}

TEST_F(AdmissionTest, CallsMutatingWebhooksByNameAndOnceMoreIfALaterOneChangedTheObject) {
  const auto b = Appends("b"), a = Appends("a", {{"reinvocationPolicy", "IfNeeded"}});
  EXPECT_EQ(Post(kOrders, Order("one"))["spec"]["note"], "none+a+b+a");
  EXPECT_THAT(a->requests, SizeIs(2));
  EXPECT_NE(a->requests[0]["uid"], a->requests[1]["uid"]);
  EXPECT_THAT(b->requests, SizeIs(1));

  // Nothing comes after the last one, so it is not called again, and neither is one before that changed nothing later.
  b->function = [](const json&) { return Allow(); };
  EXPECT_EQ(Post(kOrders, Order("two"))["spec"]["note"], "none+a");
  EXPECT_THAT(a->requests, SizeIs(3));
}

TEST_F(AdmissionTest, ADenialKeepsTheStatusOfTheWebhook) {
  const auto hook = Validates("v", [](const json&) {
    return Deny({{"code", 422},
                 {"reason", "Invalid"},
                 {"message", "quantity is odd"},
                 {"details", {{"causes", {{{"field", "spec.quantity"}, {"reason", "FieldValueInvalid"}}}}}}});
  });
  Post(kOrders, Order("one"));
  EXPECT_EQ(last_code_, Code::kInvalid);
  EXPECT_THAT(last_error_, HasSubstr("admission webhook \"v.shop.example\" denied the request: quantity is odd"));
  EXPECT_THAT(last_causes_, ElementsAre("spec.quantity FieldValueInvalid"));
  EXPECT_THAT(Names(), IsEmpty());

  hook->function = [](const json&) { return Deny({{"code", 200}, {"status", "Success"}}); };
  Post(kOrders, Order("one"));
  EXPECT_EQ(last_status_, 400);
  EXPECT_THAT(last_error_, HasSubstr("admission webhook \"v.shop.example\" denied the request without explanation"));
  hook->function = [](const json&) { return Deny({{"code", 403}, {"reason", "Forbidden"}}); };
  Post(kOrders, Order("one"));
  EXPECT_EQ(last_status_, 403);
  EXPECT_THAT(last_error_, HasSubstr("denied the request: Forbidden"));
}

TEST_F(AdmissionTest, CallsValidatingWebhooksAtTheSameTime) {
  const auto deny = [](const char* why) { return [why](const json&) { return Deny({{"message", why}}); }; };
  const auto a = Validates("a", deny("first"), json::object(), 3s);
  const auto b = Validates("b", deny("second"), json::object(), 2s);
  Post(kOrders, Order("one"));
  EXPECT_THAT(last_error_, HasSubstr("denied the request: first"));
  EXPECT_EQ(now().time_since_epoch(), 3s);
  EXPECT_THAT(a->requests, SizeIs(1));
  EXPECT_THAT(b->requests, SizeIs(1));
}

TEST_F(AdmissionTest, TheFailurePolicyDecidesWhenACallFails) {
  struct Case {
    WebhookFault fault;
    const char* message;
  };
  const std::string post = "failed to call webhook: Post \"https://hooks.shop.svc:443/m?timeout=2s\": ";
  const std::vector<Case> cases = {
      {{.refuse = true}, "connect: connection refused"},
      {{.delay = 3s}, "context deadline exceeded"},
      {{.status = 503}, "failed to call webhook: the server is currently unable to handle the request"},
      {{.wrong_uid = true}, "received invalid webhook response: expected response.uid="},
      {{.malformed = true}, "received invalid webhook response: "}};
  const auto hook = Appends("m", {{"timeoutSeconds", 2}, {"failurePolicy", "Ignore"}});
  int count = 0;
  for (const Case& each : cases) {
    cluster_.InjectWebhook(each.fault);
    const std::string name = "ignored-" + std::to_string(count++);
    EXPECT_EQ(Post(kOrders, Order(name))["spec"]["note"], "none") << last_error_;
  }
  Delete(std::string(kMutating) + "/m");
  Configure(kMutating, "m", json::array({HookOf("m.shop.example", "/m", {{"timeoutSeconds", 2}})}));
  for (const Case& each : cases) {
    cluster_.InjectWebhook(each.fault);
    const TimePoint before = now();
    Post(kOrders, Order("failed"));
    EXPECT_EQ(last_status_, 500);
    EXPECT_THAT(last_error_, HasSubstr("Internal error occurred: failed calling webhook \"m.shop.example\": "));
    EXPECT_THAT(last_error_, HasSubstr(each.message));
    EXPECT_EQ(now() - before, each.fault.delay > Nanos::zero() ? Nanos(2s) : Nanos());
    if (each.fault.refuse) {
      EXPECT_THAT(last_error_, HasSubstr(post));
    }
  }
  EXPECT_FALSE(cluster_.Get("orders", "default", "failed"));
  EXPECT_EQ(Post(kOrders, Order("after"))["spec"]["note"], "none+m");
}

TEST_F(AdmissionTest, AServiceThatNobodyServesIsUnreachable) {
  json hook = HookOf("m.shop.example", "/m");
  hook["clientConfig"]["service"]["name"] = "other";
  Configure(kMutating, "m", json::array({hook, HookOf("n.shop.example", "/nowhere")}));
  Post(kOrders, Order("one"));
  EXPECT_THAT(last_error_, HasSubstr("service \"other\" not found"));
  const auto other = MakeShared<controller::WebhookRoutes>();
  Must(other->Add("/m", Serve("/unused", [](const json&) { return Allow(); })));
  cluster_.ServeWebhooks(other);  // whatever the service
  Post(kOrders, Order("one"));
  EXPECT_THAT(last_error_,
              HasSubstr("n.shop.example\": failed to call webhook: the server could not find the requested"));
}

TEST_F(AdmissionTest, AWebhookThatBlocksIsStoppedAtItsTimeout) {
  const auto hook = Appends("m");
  hook->duration = kNever;
  Post(kOrders, Order("one"));
  EXPECT_THAT(last_error_, HasSubstr("?timeout=10s\": context deadline exceeded"));
  EXPECT_EQ(now().time_since_epoch(), 10s);
  EXPECT_EQ(cluster_.simulation().census().blocking, 0u) << "its stop token ended the wait";
}

TEST_F(AdmissionTest, APatchThatDoesNotApplyIsAnErrorWhateverTheFailurePolicy) {
  const auto hook = Appends("m", {{"failurePolicy", "Ignore"}});
  hook->function = [](const json&) { return PatchWith(json::array({{{"op", "remove"}, {"path", "/spec/nothing"}}})); };
  Post(kOrders, Order("one"));
  EXPECT_EQ(last_status_, 500);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(AdmissionTest, OnlyMutatingWebhooksMayReturnAPatch) {
  Validates("v", [](const json&) { return PatchWith(json::array()); });
  Post(kOrders, Order("one"));
  EXPECT_THAT(last_error_, HasSubstr("validating webhook may not return response.patch"));
}

TEST_F(AdmissionTest, SeesUpdatesPatchesAppliesAndDeletionsWithBothObjects) {
  const auto hook = Validates("v", [](const json&) { return Allow(); });
  json order = Post(kOrders, Order("one", {{"quantity", 1}}));
  order["spec"]["quantity"] = 2;
  Put(std::string(kOrders) + "/one", order);
  Send("PATCH", std::string(kOrders) + "/one", "", {{"spec", {{"quantity", 3}}}}, "application/merge-patch+json");
  Send("PATCH", std::string(kOrders) + "/one", "fieldManager=me&force=true", Order("one", {{"quantity", 4}}),
       "application/apply-patch+yaml");
  Send("PATCH", std::string(kOrders) + "/two", "fieldManager=me", Order("two", {{"quantity", 9}}),
       "application/apply-patch+yaml");
  Delete(std::string(kOrders) + "/one");
  std::vector<std::string> seen;
  for (const json& each : hook->requests) {
    const auto quantity = [](const json& object) { return object.is_null() ? "-" : object["spec"]["quantity"].dump(); };
    seen.push_back(each["operation"].get<std::string>() + " " + each["name"].get<std::string>() + " " +
                   quantity(each["oldObject"]) + " " + quantity(each["object"]) + " " +
                   each["options"]["kind"].get<std::string>());
  }
  EXPECT_THAT(seen, ElementsAre("CREATE one - 1 CreateOptions", "UPDATE one 1 2 UpdateOptions",
                                "UPDATE one 2 3 UpdateOptions", "UPDATE one 3 4 UpdateOptions",
                                "CREATE two - 9 CreateOptions", "DELETE one 4 - DeleteOptions"));
}

TEST_F(AdmissionTest, ADeniedDeletionKeepsTheObjectAndTheRestOfACollection) {
  const auto hook = Validates("v", [](const json& request) {
    return request["operation"] == "DELETE" && request["name"] == "b" ? Deny({{"message", "b stays"}}) : Allow();
  });
  for (const char* name : {"a", "b", "c"}) Post(kOrders, Order(name));
  Delete(std::string(kOrders) + "/b");
  EXPECT_THAT(last_error_, HasSubstr("b stays"));
  Delete(kOrders);
  EXPECT_THAT(last_error_, HasSubstr("b stays"));
  EXPECT_THAT(Names(), ElementsAre("b", "c"));
  hook->function = [](const json&) { return Allow(); };
  const json list = Send("DELETE", kOrders);
  EXPECT_THAT(list["items"], SizeIs(2));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(AdmissionTest, AMutatingWebhookCannotChangeADeletion) {
  const auto hook = Appends("m");
  Post(kOrders, Order("one"));
  hook->function = [](const json&) { return PatchWith(json::array({{{"op", "remove"}, {"path", "/spec"}}})); };
  Delete(std::string(kOrders) + "/one");
  EXPECT_EQ(last_status_, 500);
  EXPECT_THAT(last_error_, HasSubstr("attempted to modify the object, which is not supported for this operation"));
}

TEST_F(AdmissionTest, ADryRunSaysSoAndIsRefusedByWebhooksWithSideEffects) {
  const auto hook = Appends("m");
  Send("POST", kOrders, "dryRun=All", Order("one"));
  EXPECT_EQ(last_status_, 201);
  EXPECT_EQ(hook->requests[0]["dryRun"], true);
  EXPECT_THAT(Names(), IsEmpty());
  json order = Post(kOrders, Order("one"));
  Send("DELETE", std::string(kOrders) + "/one", "", {{"dryRun", {"All"}}});
  EXPECT_EQ(hook->requests[2]["dryRun"], true);
  EXPECT_THAT(Names(), ElementsAre("one"));

  json configuration = json::parse(*cluster_.Get("mutatingwebhookconfigurations", "", "m"));
  configuration["webhooks"][0]["sideEffects"] = "Some";  // of an older server
  Must(cluster_.Corrupt("mutatingwebhookconfigurations", "", "m", configuration.dump()));
  Send("POST", kOrders, "dryRun=All", Order("two"));
  EXPECT_EQ(last_status_, 400);
  EXPECT_THAT(last_error_, HasSubstr("admission webhook \"m.shop.example\" does not support dry run"));
}

TEST_F(AdmissionTest, AChangeOfTheStoredObjectMeanwhileRepeatsTheAdmission) {
  const auto hook = Appends("m");
  Post(kOrders, Order("one"));
  hook->requests.clear();
  int changes = 1;
  hook->function = [&](const json&) {
    if (changes-- > 0) {
      json other = Stored("one");
      other["spec"]["quantity"] = 10 + changes;
      ChangeBehindTheBack(other);
    }
    return PatchWith(json::array({{{"op", "add"}, {"path", "/spec/note"}, {"value", "seen"}}}));
  };
  const auto patch = [&] {
    return Send("PATCH", std::string(kOrders) + "/one", "", {{"metadata", {{"labels", {{"x", "1"}}}}}},
                "application/merge-patch+json");
  };
  const json now = patch();
  EXPECT_EQ(now["spec"], json({{"note", "seen"}, {"quantity", 10}}));
  EXPECT_EQ(now["metadata"]["labels"]["x"], "1");
  ASSERT_THAT(hook->requests, SizeIs(2));
  EXPECT_FALSE(hook->requests[0]["oldObject"]["spec"].contains("quantity"));
  EXPECT_EQ(hook->requests[1]["oldObject"]["spec"]["quantity"], 10);

  changes = 1000;
  hook->requests.clear();
  patch();
  EXPECT_EQ(last_code_, Code::kConflict);
  EXPECT_THAT(hook->requests, SizeIs(6));
}

TEST_F(AdmissionTest, AnUpdateOfAVersionThatIsNoLongerStoredIsAConflict) {
  const auto hook = Appends("m");
  json order = Post(kOrders, Order("one"));
  hook->function = [&](const json&) {
    json other = Stored("one");
    other["metadata"]["labels"] = {{"other", "1"}};
    ChangeBehindTheBack(other);
    return Allow();
  };
  order["spec"]["quantity"] = 7;
  Put(std::string(kOrders) + "/one", order);
  EXPECT_EQ(last_code_, Code::kConflict);
  EXPECT_FALSE(Stored("one")["spec"].contains("quantity"));
}

TEST_F(AdmissionTest, AGeneratedNameAndTheUidAreTheSameInAllPasses) {
  const auto mutating = Appends("m");
  const auto validating = Validates("v", [](const json&) { return Allow(); }, json::object(), 5s);
  json order = Order("x");
  order["metadata"].erase("name");
  order["metadata"]["generateName"] = "web-";
  const json created = Post(kOrders, order);
  EXPECT_FALSE(mutating->requests[0].contains("name"));
  EXPECT_EQ(validating->requests[0]["name"], created["metadata"]["name"]);
  EXPECT_EQ(validating->requests[0]["object"]["metadata"]["uid"], created["metadata"]["uid"]);
  EXPECT_EQ(created["metadata"]["creationTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_THAT(cluster_.Writes(), SizeIs(1));
  EXPECT_EQ(cluster_.Writes()[0].name, created["metadata"]["name"].get<std::string>());
}

// On a server of its own, because our client does not show the headers.
TEST_F(AdmissionTest, SendsTheWarningsOfAllWebhooks) {
  Serve("/v", [](const json&) {
    json answer = Allow();
    answer["warnings"] = {"old", "old", "dear"};
    return answer;
  });
  Configure(kValidating, "v", json::array({HookOf("v.shop.example", "/v")}));
  const auto server = MakeShared<ApiServer>(ClusterOptions(), cluster_.simulation().executor());
  server->webhooks().Serve(routes_, "");
  ASSERT_TRUE(server->Add(Crd().dump()));
  json configuration = json::parse(*cluster_.Get("validatingwebhookconfigurations", "", "v"));
  configuration["metadata"].erase("resourceVersion");
  ASSERT_TRUE(server->Add(configuration.dump()));
  std::vector<std::string> warnings;
  const auto at_once = server->Handle({.method = "POST",
                                       .path = kOrders,
                                       .headers = {{"content-type", "application/json"}},
                                       .body = Order("one").dump()},
                                      [&](const Reply& reply) {
                                        for (const HttpHeader& header : reply.headers) {
                                          if (header.name == "warning") warnings.push_back(header.value);
                                        }
                                      });
  EXPECT_FALSE(at_once);
  cluster_.RunUntilIdle();
  EXPECT_THAT(warnings, ElementsAre("299 - \"old\"", "299 - \"dear\""));
  server->Close();
}

TEST_F(AdmissionTest, TheSameCallsOfTheTestReachWebhooks) {
  const auto hook = Appends("m");
  Must(cluster_.Add(std::string_view(Order("one").dump())));
  EXPECT_EQ(Stored("one")["spec"]["note"], "none+m");
  Must(cluster_.Update(std::string_view(Order("one", {{"note", "new"}}).dump())));
  EXPECT_EQ(Stored("one")["spec"]["note"], "new+m");
  hook->function = [](const json&) { return Deny({{"message", "no"}}); };
  const auto refused = cluster_.Delete("orders", "default", "one");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("denied the request: no"));
}

}  // namespace
}  // namespace kgen::testing
