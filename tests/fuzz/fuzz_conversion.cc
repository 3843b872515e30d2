// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a conversion review, and as the annotation that keeps what a spoke cannot say.
//
//   * The answer is JSON, and a ConversionReview that succeeds or fails.
//   * On success it has as many objects as the review, all in the desired version, with the metadata that they had but
//     for labels and annotations.
//   * With KeepsWhatIsLost(), a hub object that becomes a spoke and comes back is what it was.
//   * Data that is restored leaves apiVersion, kind and metadata as they are.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "controller/webhook/lost_data.h"
#include "controller/webhook/webhook_routes.h"
#include "kgen/controller/conversion.h"
#include "tests/runtime/controller/webhook/orders.h"

namespace {

using kgen::Shared;
using kgen::controller::WebhookRoutes;
using nlohmann::json;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Routes with and without KeepsWhatIsLost().
Shared<WebhookRoutes> MakeRoutes(bool keep) {
  auto routes = kgen::MakeShared<WebhookRoutes>();
  auto versions = kgen::orders::DeclareOrders(kgen::ConversionBuilder<kgen::orders::v2::Order>(routes));
  if (keep) versions.KeepsWhatIsLost();
  return routes;
}

// A conversion may add labels and annotations to an object without metadata, which no server sends.
json Metadata(const json& object) {
  json metadata = object.value("metadata", json());
  if (metadata.is_null()) metadata = json::object();
  if (metadata.is_object()) {
    metadata.erase("labels");
    metadata.erase("annotations");
  }
  return metadata;
}

std::string ReviewOf(const json& objects, std::string_view version) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1",)"
         R"("desiredAPIVersion":"shop.example/)" +
         std::string(version) + R"(","objects":)" + objects.dump() + "}}";
}

void Review(const Shared<WebhookRoutes>& routes, std::string_view text) {
  const auto handler = routes->Find("/convert");
  const std::string answer_text = handler->Answer(text, {});
  const json answer = json::parse(answer_text, nullptr, false);
  Require(answer.is_object() && answer["kind"] == "ConversionReview", "the answer is a ConversionReview");
  const json& response = answer["response"];
  if (response["result"]["status"] != "Success") {
    Require(!response.contains("convertedObjects"), "a failure has no objects");
    return;
  }
  const json review = json::parse(text, nullptr, false);
  if (review.is_discarded()) return;  // for instance text that is not UTF-8 outside of the objects
  const json objects = review["request"].value("objects", json::array());
  const json& converted = response["convertedObjects"];
  if (!objects.is_array()) return;
  Require(converted.size() == objects.size(), "as many objects as came");
  for (std::size_t i = 0; i < objects.size(); ++i) {
    Require(converted[i]["apiVersion"] == review["request"]["desiredAPIVersion"], "the desired version");
    Require(converted[i]["kind"] == objects[i]["kind"], "the same kind");
    Require(Metadata(converted[i]) == Metadata(objects[i]), "the same metadata");
  }
}

// The converted object; null if it could not be converted.
json Convert(const Shared<WebhookRoutes>& routes, const json& object, std::string_view version) {
  const json answer =
      json::parse(routes->Find("/convert")->Answer(ReviewOf(json::array({object}), version), {}), nullptr, false);
  const json& response = answer["response"];
  return response["result"]["status"] == "Success" ? response["convertedObjects"][0] : json();
}

void RoundTrip(const Shared<WebhookRoutes>& routes, const json& object) {
  for (const char* version : {"v1", "v3"}) {
    const json spoke = Convert(routes, object, version);
    if (spoke.is_null()) continue;
    json back = Convert(routes, spoke, "v2");
    if (back.is_null()) continue;      // this spoke cannot be converted back, and says so
    back["metadata"].erase("labels");  // a function makes one of a member that the hub does not know
    const bool kept = spoke["metadata"].contains("annotations");
    Require(back == object || (!kept && object["spec"]["item"] == "one way"), "the hub object comes back as it was");
  }
}

void Restore(std::string_view data) {
  const std::string hub = R"({"apiVersion":"shop.example/v2","kind":"Order","metadata":{"name":"a"},"spec":{"b":[1]}})";
  const auto restored = kgen::controller::RestoreLost({"v2", "v1"}, hub, hub, data);
  if (!restored) return;
  const json before = json::parse(hub);
  const json after = json::parse(restored->hub, nullptr, false);
  Require(after.is_object(), "what is restored is JSON");
  for (const char* member : {"apiVersion", "kind", "metadata"}) {
    Require(after[member] == before[member], "data does not change the identity");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Shared<WebhookRoutes> plain = MakeRoutes(false);
  static const Shared<WebhookRoutes> keeping = MakeRoutes(true);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Review(plain, text);
  Review(keeping, text);
  Restore(text);
  // As the spec of a hub object, so that most inputs reach the functions.
  const json spec = json::parse(text, nullptr, false);
  if (spec.is_object()) {
    for (const char* version : {"v1", "v2", "v3"}) {
      const json object = {{"apiVersion", std::string("shop.example/") + version},
                           {"kind", "Order"},
                           {"metadata", {{"name", "a"}}},
                           {"spec", spec}};
      if (std::string_view(version) == "v2" && size < 100'000) RoundTrip(keeping, object);  // larger data is not kept
      for (const char* to : {"v1", "v2", "v3"}) Review(keeping, ReviewOf(json::array({object}), to));
    }
  }
  return 0;
}
