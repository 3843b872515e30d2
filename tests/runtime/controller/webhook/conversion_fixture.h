// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Conversion reviews of the orders, as a server sends them.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_CONVERSION_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_CONVERSION_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/webhook/webhook_routes.h"
#include "core/json_path.h"
#include "kgen/controller/conversion.h"
#include "kgen/core/observer.h"
#include "tests/runtime/controller/webhook/orders.h"

namespace kgen {

// Keeps what the handler logs.
struct ConversionLog final : Observer {
  void OnLogged(const Logged& e) override { lines.push_back(std::string(e.key) + ": " + std::string(e.message)); }
  std::vector<std::string> lines;
};

class ConversionFixture : public ::testing::Test {
 protected:
  ConversionFixture() {
    log_ = MakeShared<ConversionLog>();
    routes_ = MakeShared<controller::WebhookRoutes>();
  }
  ConversionBuilder<orders::v2::Order> Builder() { return ConversionBuilder<orders::v2::Order>(routes_); }
  controller::WebhookHandler& Handler() {
    routes_->SetContext({.observer = log_});  // after the declarations; the first call counts
    handler_ = routes_->Find("/convert");
    return *handler_;
  }

  static std::string ReviewOf(std::string_view to, const std::vector<std::string>& objects,
                              std::string_view api_version = "apiextensions.k8s.io/v1") {
    std::string text = R"({"kind":"ConversionReview","apiVersion":")" + std::string(api_version) +
                       R"(","request":{"uid":"705ab4f5","desiredAPIVersion":")" + std::string(to) + R"(","objects":[)";
    for (const std::string& object : objects) text.append(text.back() == '[' ? "" : ",").append(object);
    return text + "]}}";
  }
  std::string Answer(std::string_view to, const std::vector<std::string>& objects) {
    return Handler().Answer(ReviewOf(to, objects), {});
  }
  // The converted object, as text; the message of a failure.
  std::string One(std::string_view to, const std::string& object) {
    const std::string answer = Answer("shop.example/" + std::string(to), {object});
    const nlohmann::json parsed = nlohmann::json::parse(answer);
    if (parsed["response"]["result"]["status"] != "Success") return parsed["response"]["result"]["message"];
    const std::vector<detail::JsonStep> steps{{.name = "response"}, {.name = "convertedObjects"}, {.index = 0}};
    return std::string(Must(detail::FindJson(answer, steps)));
  }
  static std::string Object(std::string_view version, std::string_view spec, std::string_view more = "",
                            std::string_view metadata = "") {
    return R"({"apiVersion":"shop.example/)" + std::string(version) +
           R"(","kind":"Order","metadata":{"name":"first","namespace":"shop","uid":"u1")" + std::string(metadata) +
           R"(},"spec":)" + std::string(spec) + std::string(more) + "}";
  }
  static nlohmann::json Parse(const std::string& text) { return nlohmann::json::parse(text, nullptr, false); }

  Shared<ConversionLog> log_;
  Shared<controller::WebhookRoutes> routes_;
  Shared<controller::WebhookHandler> handler_;
};

}  // namespace kgen

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_CONVERSION_FIXTURE_H_
