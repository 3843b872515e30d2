// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an AdmissionReview.
//
//   * The answer is always a review with the uid of the request, and a patch comes with its type, never with a denial.
//   * What is set by the functions of Default() is what the patch does to the object that arrived.
//   * Without an assignment there is no patch, however the object is spelled.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "controller/webhook/admission_review.h"
#include "controller/webhook/webhook_routes.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/quantity.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/widget.h"

namespace {

using kgen::Admission;
using kgen::FieldErrors;
using kgen::Result;
using kgen::controller::WebhookHandler;
using kgen::widgets::Widget;
using nlohmann::json;

void Require(bool condition, const char* what, std::string_view detail = {}) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

void SetDefaults(Widget& widget) {
  widget.metadata.labels["a/b~c"] = "x";
  if (!widget.spec->replicas) widget.spec->replicas = 1;
  if (widget.spec->parts.size() > 1) widget.spec->parts[1].tags.push_back("t");
  widget.status.reset();
}

// The webhooks of a Widget, and one that takes whatever comes.
kgen::Shared<kgen::controller::WebhookRoutes> MakeRoutes() {
  auto routes = kgen::MakeShared<kgen::controller::WebhookRoutes>();
  kgen::WebhookBuilder<Widget>(routes)
      .MutatingPath("/set")
      .Default([](Widget& widget, const Admission& request) -> Result<void> {
        SetDefaults(widget);
        request.Warn(request.user().username);
        request.Audit(request.key().name, request.subresource());
        return {};
      })
      .MutatingPath("/keep")
      .Default([](Widget&, const Admission&) { return Result<void>(); })
      .ValidatingPath("/check")
      .ValidateUpdate([](const Widget& before, const Widget& now, const Admission&) -> Result<FieldErrors> {
        FieldErrors errors;
        if (before.metadata.name != now.metadata.name) errors.Invalid("metadata.name", now.metadata.name, "is another");
        return errors;
      });
  kgen::WebhookBuilder<kgen::Unstructured>(routes, {"test.kgen.dev", "v1", "Widget"})
      .MutatingPath("/any")
      .Default([](kgen::Unstructured&, const Admission&) { return Result<void>(); });
  const auto echo = [](const kgen::RawAdmission& raw) -> Result<kgen::AdmissionAnswer> {
    return kgen::AdmissionAnswer{.patch = raw.object};
  };
  Require(kgen::detail::AddRawWebhook(routes, "/raw", echo).has_value(), "the raw webhook");
  return routes;
}

// Returns the response after checks of what every answer has.
json Call(const kgen::Shared<kgen::controller::WebhookRoutes>& routes, std::string_view path, std::string_view review) {
  const std::string text = routes->Find(path)->Answer(review, {});
  const json answer = json::parse(text, nullptr, false);
  Require(answer.is_object() && answer.value("kind", "") == "AdmissionReview", "an answer that is no review:", text);
  kgen::controller::AdmissionRequest request;
  const bool read = kgen::controller::ReadAdmissionReview(review, request).has_value();
  json response = answer.at("response");
  Require(response.at("uid").get<std::string>() == request.uid, "another uid:", text);
  const bool allowed = response.at("allowed").get<bool>();
  Require(allowed == !response.contains("status"), "a status of what is allowed:", text);
  Require(response.contains("patch") == response.contains("patchType"), "a patch without its type:", text);
  Require(allowed || !response.contains("patch"), "a patch of what is denied:", text);
  Require(read || (!allowed && response.at("status").at("code") == 400), "allowed without a request:", text);
  return response;
}

json PatchOf(const json& response) {
  if (!response.contains("patch")) return json::array();
  return json::parse(kgen::Bytes::FromBase64(response.at("patch").get<std::string>()).Decode(), nullptr, false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& routes = *new kgen::Shared<kgen::controller::WebhookRoutes>(MakeRoutes());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view path : {"/check", "/raw"}) Call(routes, path, text);
  const json any = Call(routes, "/any", text);
  Require(!any.contains("patch"), "a patch of an Unstructured without an assignment:", any.dump());
  const json kept = Call(routes, "/keep", text);
  const json set = Call(routes, "/set", text);
  if (!set.contains("patch")) return 0;
  kgen::controller::AdmissionRequest request;
  Require(kgen::controller::ReadAdmissionReview(text, request).has_value(), "a patch without a request");
  const json object = json::parse(request.object, nullptr, false);
  if (object.is_discarded()) return 0;  // half of a surrogate pair, or a number that no double can hold
  // A Widget always writes its identity, which servers always send.
  const auto has = [&object](const char* name, const char* value) {
    return object.contains(name) && object.at(name) == value;
  };
  const bool complete = has("apiVersion", "test.kgen.dev/v1") && has("kind", "Widget");
  Require(!complete || !kept.contains("patch"), "a patch without an assignment:", kept.dump());
  auto expected = kgen::Decode<Widget>(request.object);
  Require(expected.has_value(), "a patch of what cannot be decoded");
  SetDefaults(*expected);
  const json patch = PatchOf(set);
  if (patch.is_discarded()) return 0;
  Require(object.patch(patch) == json::parse(kgen::Encode(*expected), nullptr, false), "a wrong patch:", patch.dump());
  return 0;
}
