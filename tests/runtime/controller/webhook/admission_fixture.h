// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Routes of webhooks that are called with reviews, without a server.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_ADMISSION_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_ADMISSION_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "controller/webhook/webhook_routes.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/quantity.h"

namespace kgen {

// Remembers what is logged.
struct AdmissionLog final : Observer {
  void OnLogged(const Logged& e) override {
    lines.push_back(std::string(ToString(e.level)) + " " + std::string(e.source) + " " + std::string(e.key) + " " +
                    std::string(e.id) + ": " + std::string(e.message));
  }
  std::vector<std::string> lines;
};

class AdmissionTest : public ::testing::Test {
 protected:
  using json = nlohmann::json;

  // A review of an object; its kind is the object's.
  static json Review(std::string_view operation, const json& object, const json& old_object = nullptr) {
    const json& known = object.is_object() ? object : old_object;
    const std::string version = known.at("apiVersion");
    const std::size_t slash = version.find('/');
    const json kind = {{"group", slash == std::string::npos ? "" : version.substr(0, slash)},
                       {"version", version.substr(slash + 1)},
                       {"kind", known.at("kind")}};
    return {{"apiVersion", "admission.k8s.io/v1"},
            {"kind", "AdmissionReview"},
            {"request",
             {{"uid", "u-1"},
              {"kind", kind},
              {"requestKind", kind},
              {"resource", {{"group", kind["group"]}, {"version", kind["version"]}, {"resource", "things"}}},
              {"name", known["metadata"].value("name", "")},
              {"namespace", known["metadata"].value("namespace", "")},
              {"operation", operation},
              {"userInfo", {{"username", "jane"}, {"groups", {"dev"}}}},
              {"object", object},
              {"oldObject", old_object},
              {"dryRun", false},
              {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}}}};
  }

  // Returns the response to a review, after checks of what every answer has.
  json Call(std::string_view path, const json& review) { return CallText(path, review.dump()); }
  json CallText(std::string_view path, std::string_view review) {
    const Shared<controller::WebhookHandler> handler = routes_->Find(path);
    if (!handler) {
      ADD_FAILURE() << path << " is not there";
      return json::object();
    }
    const json answer = json::parse(handler->Answer(review, call_));
    EXPECT_EQ(answer.at("kind"), "AdmissionReview");
    json response = answer.at("response");
    EXPECT_EQ(response.contains("patch"), response.contains("patchType"));
    EXPECT_TRUE(response.at("allowed").get<bool>() || !response.contains("patch"));
    EXPECT_EQ(response.at("allowed").get<bool>(), !response.contains("status"));
    return response;
  }
  static json PatchOf(const json& response) {
    if (!response.contains("patch")) return nullptr;
    EXPECT_EQ(response.at("patchType"), "JSONPatch");
    return json::parse(Bytes::FromBase64(response.at("patch").get<std::string>()).Decode());
  }

  template <typename T>
  WebhookBuilder<T> For() {
    return WebhookBuilder<T>(routes_);
  }
  WebhookBuilder<Unstructured> For(GroupVersionKind kind) {
    return WebhookBuilder<Unstructured>(routes_, std::move(kind));
  }
  void Run() { routes_->SetContext({.client = {}, .observer = log_}); }

  const Shared<controller::WebhookRoutes> routes_ = MakeShared<controller::WebhookRoutes>();
  const Shared<AdmissionLog> log_ = MakeShared<AdmissionLog>();
  controller::WebhookCall call_;
};

}  // namespace kgen

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_ADMISSION_FIXTURE_H_
