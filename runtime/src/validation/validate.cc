// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/validation/validate.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/json/json_depth.h"
#include "validation/compiled_schema.h"
#include "validation/report.h"

namespace kgen {
namespace {

using nlohmann::json;

constexpr std::string_view kCrdVersion = "apiextensions.k8s.io/v1", kCrdKind = "CustomResourceDefinition";

// The JSON, or what is wrong with it.
Result<json> ParseJson(std::string_view text, const char* what) {
  if (detail::NestsTooDeep(text)) {
    return Fail(Code::kInvalidArgument,
                std::string(what) + " is nested deeper than " + std::to_string(detail::kMaxJsonDepth));
  }
  json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return Fail(Code::kInvalidArgument, std::string(what) + " is not JSON, or not UTF-8");
  return parsed;
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Schema::Schema(Shared<const validation::CompiledSchema> compiled) noexcept : compiled_(std::move(compiled)) {}

Result<Schema> Schema::FromCrd(std::string_view crd, std::string_view version) {
  const auto parsed = ParseJson(crd, "the CustomResourceDefinition");
  if (!parsed) return Fail(parsed.error());
  if (TextOf(*parsed, "apiVersion") != kCrdVersion || TextOf(*parsed, "kind") != kCrdKind) {
    return Fail(Code::kInvalidArgument, "expected a " + std::string(kCrdKind) + " of " + std::string(kCrdVersion) +
                                            ", found apiVersion \"" + TextOf(*parsed, "apiVersion") + "\" and kind \"" +
                                            TextOf(*parsed, "kind") + "\"");
  }
  const json name = parsed->value(json::json_pointer("/metadata/name"), json("the CustomResourceDefinition"));
  const std::string shown = name.is_string() ? name.get<std::string>() : "the CustomResourceDefinition";
  const json versions = parsed->value(json::json_pointer("/spec/versions"), json());
  std::string known;
  for (std::size_t i = 0; versions.is_array() && i < versions.size(); ++i) {
    if (TextOf(versions[i], "name") == version) {
      auto compiled = validation::CompiledSchema::FromVersion(*parsed, i);
      if (!compiled) return Fail(compiled.error().With(shown));
      return Schema(*std::move(compiled));
    }
    known += (known.empty() ? "" : ", ") + TextOf(versions[i], "name");
  }
  return Fail(Code::kInvalidArgument,
              shown + " has no version \"" + std::string(version) + "\"; it has " + (known.empty() ? "none" : known));
}

Validation Schema::Validate(const Json& object) const {
  auto parsed = ParseJson(object.text(), "the object");
  if (parsed) return compiled_->Validate(*std::move(parsed));
  Validation result;
  result.errors.Invalid(validation::kNowhere, "", parsed.error().message());
  return result;
}

namespace detail {

Validation NotValidated(const Error& why) {
  Validation result;
  result.errors.Internal(validation::kNowhere, "the object was not validated: " + why.ToString());
  return result;
}

}  // namespace detail
}  // namespace kgen
