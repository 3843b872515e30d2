// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "controller/webhook/webhook_routes.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/json.h"
#include "kgen/core/object_key.h"
#include "kgen/core/quantity.h"
#include "kgen/testing/webhooks.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

// Returns the JSON patch that a webhook answers to the creation of the object; an empty list if there is none.
Result<json> PatchOfCreation(controller::WebhookHandler& handler, const json& object) {
  const Result<GroupVersion> version = GroupVersion::Parse(object["apiVersion"].get_ref<const std::string&>());
  if (!version) return Fail(version.error());
  const json kind = {{"group", version->group.str()}, {"version", version->version.str()}, {"kind", object["kind"]}};
  const json review = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"request", {{"uid", "check"}, {"kind", kind}, {"operation", "CREATE"}, {"object", object}}}};
  const std::string answer = handler.Answer(review.dump(), {.deadline = TimePoint::max()});
  const json response = json::parse(answer, nullptr, false).value("response", json::object());
  if (!response.value("allowed", false)) {
    return Fail(Code::kInvalid, "denied: " + response.value("status", json::object()).value("message", ""));
  }
  if (!response.contains("patch")) return json::array();
  return json::parse(Bytes::FromBase64(response["patch"].get_ref<const std::string&>()).Decode());
}

Result<void> Check(controller::WebhookHandler& handler, const json& object) {
  const Result<json> first = PatchOfCreation(handler, object);
  if (!first) return Fail(first.error());
  const Result<json> second = PatchOfCreation(handler, object.patch(*first));
  if (!second) return Fail(second.error().With("the second call"));
  if (second->empty()) return {};
  return Fail(Code::kInvalid,
              "the defaults are not idempotent: a second call still changes the object, with the patch " +
                  second->dump() + "; let them assign only what is absent, since servers call them again");
}

}  // namespace

Result<void> DefaultsAreIdempotent(const Manager& manager, std::string_view path, std::string_view object_json) {
  const std::string where = "webhook " + std::string(path);
  const Shared<controller::WebhookHandler> handler = detail::WebhookRoutesOf(manager)->Find(path);
  if (!handler || handler->kind() != controller::WebhookHandler::Kind::kMutating) {
    return Fail(Code::kInvalidArgument, where + ": no functions of Default() are at this path");
  }
  const json object = Json(object_json).Parse<json>();
  const auto has_text = [&](const char* name) { return object.contains(name) && object[name].is_string(); };
  if (!object.is_object() || !has_text("apiVersion") || !has_text("kind")) {
    return Fail(Code::kInvalidArgument, where + ": the object is not a JSON object with apiVersion and kind");
  }
  try {
    Result<void> checked = Check(*handler, object);
    if (!checked) return Fail(checked.error().With(where));
    return {};
  } catch (const json::exception& error) {  // a review or a patch that this JSON library cannot read
    return Fail(Code::kInternal, where + ": " + error.what());
  }
}

}  // namespace kgen::testing
