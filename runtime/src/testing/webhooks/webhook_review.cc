// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/webhooks/webhook_review.h"

#include <utility>

#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "core/quoted.h"
#include "kgen/core/quantity.h"

namespace kgen::testing {
namespace {

using detail::Quoted;
using nlohmann::json;

constexpr char kAdmissionVersion[] = "admission.k8s.io/v1", kConversionVersion[] = "apiextensions.k8s.io/v1";

json ParseAnswer(std::string_view text) {
  if (detail::NestsTooDeep(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

json MemberAt(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : json();
}

std::string WordAt(const json& object, const char* key) {
  const json value = MemberAt(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::unexpected<std::string> Refused(std::string why) { return std::unexpected<std::string>(std::move(why)); }

// "shop.example/v1, Kind=Order", as servers write it; the core group has no name.
std::string KindText(std::string_view api_version, std::string_view kind) {
  std::string text(api_version);
  if (text.find('/') == std::string::npos) text.insert(0, "/");
  return text + ", Kind=" + std::string(kind);
}

// Returns the response of a review of that apiVersion and kind.
ReviewResult<json> ResponseOf(std::string_view answer, const char* api_version, const char* kind, std::string_view uid,
                              const char* absent) {
  const json review = ParseAnswer(answer);
  if (!review.is_object()) return Refused("the answer is not JSON of at most 256 levels");
  const std::string version = WordAt(review, "apiVersion"), own = WordAt(review, "kind");
  if (version.empty() || own.empty()) return Refused("the answer has no apiVersion and kind");
  json response = MemberAt(review, "response");
  if (!response.is_object()) return Refused(absent);
  if (const std::string given = WordAt(response, "uid"); given != uid) {
    return Refused("expected response.uid=" + Quoted(uid) + ", got " + Quoted(given));
  }
  if (version != api_version || own != kind) {
    return Refused("expected webhook response of " + KindText(api_version, kind) + ", got " + KindText(version, own));
  }
  return response;
}

ReviewResult<json> PatchOf(const json& response, bool mutating) {
  const std::string patch = WordAt(response, "patch"), type = WordAt(response, "patchType");
  const bool typed = MemberAt(response, "patchType").is_string();
  if (!mutating && !patch.empty()) return Refused("validating webhook may not return response.patch");
  if (!mutating && typed) return Refused("validating webhook may not return response.patchType");
  if (!patch.empty() && !typed) return Refused("webhook returned response.patch but not response.patchType");
  if (patch.empty() && typed) return Refused("webhook returned response.patchType but not response.patch");
  if (patch.empty()) return json();
  if (type != "JSONPatch") return Refused("webhook returned invalid response.patchType of " + Quoted(type));
  const Bytes bytes = Bytes::FromBase64(patch);
  if (!bytes.valid()) return Refused("response.patch is not base64");
  json operations = ParseAnswer(bytes.Decode());
  // A server reports a patch that it cannot read like one that it cannot apply.
  return operations.is_discarded() ? json("not JSON") : operations;
}

// Returns why the object is no conversion of `original`, or "".
std::string Objection(const json& original, const json& converted, std::string_view to) {
  if (const std::string version = WordAt(converted, "apiVersion"); version != to) {
    return "invalid groupVersion (expected " + std::string(to) + ", received " + version + ")";
  }
  if (const std::string kind = WordAt(converted, "kind"), own = WordAt(original, "kind"); kind != own) {
    return "invalid kind (expected " + own + ", received " + kind + ")";
  }
  const json before = MemberAt(original, "metadata"), now = MemberAt(converted, "metadata");
  for (const auto& [key, name] :
       {std::pair("name", "name"), std::pair("namespace", "namespace"), std::pair("uid", "UID")}) {
    const std::string was = WordAt(before, key), is = WordAt(now, key);
    if (was != is) return std::string("must have the same ") + name + ": " + was + " != " + is;
  }
  for (const char* key : {"labels", "annotations"}) {
    const json map = MemberAt(now, key);
    if (map.is_null()) continue;
    bool texts = map.is_object();
    for (const json& each : map) texts = texts && each.is_string();
    if (!texts) return std::string("metadata.") + key + " is not a map of strings";
  }
  return {};
}

std::string WhatWasConverted(const std::vector<json>& objects) {
  const json first = objects.empty() ? json() : objects.front();
  return "conversion webhook for " +
         KindText(WordAt(first, "apiVersion"), WordAt(first, "kind") + (objects.size() > 1 ? "List" : ""));
}

}  // namespace

std::string AdmissionReviewOf(json request, std::string_view uid) {
  request["uid"] = uid;
  return detail::CompactJson(
      {{"kind", "AdmissionReview"}, {"apiVersion", kAdmissionVersion}, {"request", std::move(request)}});
}

ReviewResult<AdmissionVerdict> ReadAdmissionReview(std::string_view answer, std::string_view uid, bool mutating) {
  const auto response = ResponseOf(answer, kAdmissionVersion, "AdmissionReview", uid, "webhook response was absent");
  if (!response) return Refused(response.error());
  AdmissionVerdict verdict;
  const json allowed = MemberAt(*response, "allowed");
  verdict.allowed = allowed.is_boolean() && allowed.get<bool>();
  auto patch = PatchOf(*response, mutating);
  if (!patch) return Refused(patch.error());
  verdict.patch = *std::move(patch);
  verdict.status = MemberAt(*response, "status");
  for (const json& warning : MemberAt(*response, "warnings")) {
    if (warning.is_string()) verdict.warnings.push_back(warning.get<std::string>());
  }
  return verdict;
}

json DenialOf(std::string_view webhook, json status) {
  if (!status.is_object()) status = json::object();
  const json code = MemberAt(status, "code");
  if (!code.is_number_integer() || code < 400) status["code"] = 400;
  if (const std::string said = WordAt(status, "status"); said.empty() || said == "Success")
    status["status"] = "Failure";
  const std::string denied = "admission webhook " + Quoted(webhook) + " denied the request";
  const std::string message = WordAt(status, "message"), reason = WordAt(status, "reason");
  status["message"] = !message.empty()  ? denied + ": " + message
                      : !reason.empty() ? denied + ": " + reason
                                        : denied + " without explanation";
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  if (!MemberAt(status, "metadata").is_object()) status["metadata"] = json::object();
  return status;
}

std::string ConversionReviewOf(const std::vector<json>& objects, std::string_view to, std::string_view uid) {
  return detail::CompactJson({{"kind", "ConversionReview"},
                              {"apiVersion", kConversionVersion},
                              {"request", {{"uid", uid}, {"desiredAPIVersion", to}, {"objects", objects}}}});
}

std::string ConversionFailure(const std::vector<json>& objects, std::string_view why) {
  return WhatWasConverted(objects) + " failed: " + std::string(why);
}

ReviewResult<std::vector<json>> ReadConversionReview(std::string_view answer, const std::vector<json>& objects,
                                                     std::string_view to, std::string_view uid) {
  const auto response = ResponseOf(answer, kConversionVersion, "ConversionReview", uid, "no response provided");
  if (!response) return Refused(ConversionFailure(objects, response.error()));
  const json result = MemberAt(*response, "result");
  if (const std::string status = WordAt(result, "status"); status != "Success") {
    const std::string message = WordAt(result, "message");
    return Refused(ConversionFailure(
        objects, !message.empty() ? message : "response.result.status was '" + status + "', not 'Success'"));
  }
  json converted = MemberAt(*response, "convertedObjects");
  const std::size_t count = converted.is_array() ? converted.size() : 0;
  if (count != objects.size()) {
    return Refused(WhatWasConverted(objects) + " returned " + std::to_string(count) + " objects, expected " +
                   std::to_string(objects.size()));
  }
  std::vector<json> read;
  for (std::size_t i = 0; i < count; ++i) {
    if (const std::string why = Objection(objects[i], converted[i], to); !why.empty()) {
      return Refused(WhatWasConverted(objects) + " returned invalid converted object at index " + std::to_string(i) +
                     ": " + why);
    }
    read.push_back(WithMetadataOf(objects[i], std::move(converted[i])));
  }
  return read;
}

json WithMetadataOf(const json& original, json converted) {
  json metadata = MemberAt(original, "metadata");
  const json given = MemberAt(converted, "metadata");
  for (const char* key : {"labels", "annotations"}) {
    const json map = MemberAt(given, key);
    if (map.is_object() && !map.empty()) {
      metadata[key] = map;
    } else if (metadata.is_object()) {
      metadata.erase(key);
    }
  }
  converted["metadata"] = std::move(metadata);
  return converted;
}

std::string WithWrongUid(const std::string& answer) {
  json review = ParseAnswer(answer);
  if (!review.is_object()) return answer;
  review["response"]["uid"] = "00000000-0000-4000-a000-000000000000";
  return detail::CompactJson(review);
}

std::string WithoutOneObject(const std::string& answer) {
  json review = ParseAnswer(answer);
  if (!review.is_object() || !review["response"].is_object()) return answer;
  json& objects = review["response"]["convertedObjects"];
  if (objects.is_array() && !objects.empty()) objects.erase(objects.size() - 1);
  return detail::CompactJson(review);
}

}  // namespace kgen::testing
