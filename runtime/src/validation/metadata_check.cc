// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Sources: pkg/api/validation/objectmeta.go and pkg/api/validate/content of k8s.io/apimachinery.
#include "validation/metadata_check.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/dns_names.h"
#include "core/json/compact_json.h"
#include "kgen/core/time.h"
#include "validation/ascii.h"
#include "validation/number_check.h"
#include "validation/report.h"

namespace kgen::validation {
namespace {

using nlohmann::json;
using Reasons = std::vector<std::string>;

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxAnnotations = 256 * 1024;
constexpr std::size_t kMaxManager = 128;
constexpr std::size_t kMaxSubresource = 256;

constexpr std::string_view kLabelPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kPartPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

// Servers count bytes, and call them so for labels. For names they call them characters.
constexpr std::string_view kBytes = "bytes", kCharacters = "characters";

std::string AtMost(std::size_t size, std::string_view unit) {
  return "must be no more than " + std::to_string(size) + " " + std::string(unit);
}

std::string NoMatch(std::string_view what, std::string_view examples, std::string_view pattern) {
  return std::string(what) + " (e.g. " + std::string(examples) + ", regex used for validation is '" +
         std::string(pattern) + "')";
}

Reasons FaultsOfSubdomain(std::string_view text, std::string_view unit) {
  Reasons reasons;
  if (text.size() > detail::kMaxDnsSubdomain) reasons.push_back(AtMost(detail::kMaxDnsSubdomain, unit));
  bool good = true;
  for (std::string_view rest = text; good;) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    good = detail::IsDnsPart(part);
    if (part.size() == rest.size()) break;
    rest.remove_prefix(part.size() + 1);
  }
  if (!good) {
    const std::string part(kPartPattern);
    reasons.push_back(
        NoMatch("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
                "'.', and must start and end with an alphanumeric character",
                "'example.com'", part + "(\\." + part + ")*"));
  }
  return reasons;
}

Reasons FaultsOfDnsLabel(std::string_view text) {
  Reasons reasons;
  if (text.size() > detail::kMaxDnsLabel) reasons.push_back(AtMost(detail::kMaxDnsLabel, kCharacters));
  if (detail::IsDnsPart(text)) return reasons;
  const Reasons faults = FaultsOfSubdomain(text, kCharacters);
  if (faults.empty() || (faults.size() == 1 && faults[0] == AtMost(detail::kMaxDnsSubdomain, kCharacters))) {
    reasons.push_back("must not contain dots");
  } else {
    reasons.push_back(
        NoMatch("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
                "must start and end with an alphanumeric character",
                "'my-name',  or '123-abc'", kPartPattern));
  }
  return reasons;
}

bool IsLabelText(std::string_view text) {
  const auto good = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::ranges::all_of(text, good);
}

constexpr std::string_view kLabelRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
constexpr std::string_view kLabelExamples = "'MyName',  or 'my.name',  or '123-abc'";

// A label key, which is also called a qualified name.
Reasons FaultsOfLabelKey(std::string_view key) {
  Reasons reasons;
  std::string_view name = key;
  if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.contains('/')) {
      return {NoMatch("a valid label key " + std::string(kLabelRule), kLabelExamples, kLabelPattern) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) reasons.emplace_back("prefix part must be non-empty");
    if (!prefix.empty()) {
      for (const std::string& reason : FaultsOfSubdomain(prefix, kBytes)) reasons.push_back("prefix part " + reason);
    }
  }
  if (name.empty()) reasons.emplace_back("name part must be non-empty");
  if (name.size() > kMaxLabel) reasons.push_back("name part " + AtMost(kMaxLabel, kBytes));
  if (!IsLabelText(name)) reasons.push_back("name part " + NoMatch(kLabelRule, kLabelExamples, kLabelPattern));
  return reasons;
}

Reasons FaultsOfLabelValue(std::string_view value) {
  Reasons reasons;
  if (value.size() > kMaxLabel) reasons.push_back(AtMost(kMaxLabel, kBytes));
  if (!value.empty() && !IsLabelText(value)) {
    reasons.push_back(
        NoMatch("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
                "'.', and must start and end with an alphanumeric character",
                "'MyValue',  or 'my_value',  or '12345'", "(" + std::string(kLabelPattern) + ")?"));
  }
  return reasons;
}

// The name of an embedded resource, which is a part of a path.
Reasons FaultsOfSegment(std::string_view name, bool is_prefix) {
  if (!is_prefix && (name == "." || name == "..")) return {"may not be '" + std::string(name) + "'"};
  Reasons reasons;
  for (const char* banned : {"/", "%"}) {
    if (name.contains(banned)) reasons.push_back("may not contain '" + std::string(banned) + "'");
  }
  return reasons;
}

Reasons FaultsOfName(std::string_view name, bool is_prefix) {
  std::string whole(name);  // the dash at the end of a prefix is followed by something
  if (is_prefix && name.size() > 1 && name.ends_with('-')) whole = std::string(name.substr(0, name.size() - 2)) + "a";
  return FaultsOfSubdomain(whole, kCharacters);
}

using NameFaults = Reasons (*)(std::string_view name, bool is_prefix);

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The elements or members of a member, which are none if it is absent.
const json& PartOf(const json& object, const char* key) {
  static const json& none = *new json(json::array());
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? none : *found;
}

// Owner references as servers print them: with the members in the order of the struct in Go.
std::string OwnerText(const json& owner) {
  nlohmann::ordered_json ordered = {{"apiVersion", TextOf(owner, "apiVersion")},
                                    {"kind", TextOf(owner, "kind")},
                                    {"name", TextOf(owner, "name")},
                                    {"uid", TextOf(owner, "uid")}};
  for (const char* key : {"controller", "blockOwnerDeletion"}) {
    if (PartOf(owner, key).is_boolean()) ordered[key] = owner[key].get<bool>();
  }
  return detail::CompactJson(ordered);
}

class MetadataChecker {
 public:
  MetadataChecker(const json& metadata, std::string path, FieldErrors& errors)
      : metadata_(metadata), path_(std::move(path)), errors_(errors) {}

  // Returns whether each member has the type of the struct in Go, which is a condition of all other checks.
  bool HasTypes() {
    if (metadata_.is_null()) return true;
    if (!metadata_.is_object()) return Refuse("", "an object", metadata_);
    const auto text = [](const json& value) { return value.is_string(); };
    const auto whole = [](const json& value) { return IsInt64(value); };
    const auto time = [](const json& value) { return value.is_string() && Time::Parse(value.get<std::string>()); };
    const auto object = [](const json& value) { return value.is_object(); };
    for (const char* key : {"name", "generateName", "namespace", "uid", "selfLink", "resourceVersion"}) {
      if (!HasType(key, "a string", text)) return false;
    }
    for (const char* key : {"generation", "deletionGracePeriodSeconds"}) {
      if (!HasType(key, "an integer", whole)) return false;
    }
    for (const char* key : {"creationTimestamp", "deletionTimestamp"}) {
      if (!HasType(key, "a time such as 2024-12-31T23:59:59Z", time)) return false;
    }
    for (const char* key : {"labels", "annotations"}) {
      if (!HasType(key, "an object of strings",
                   [&](const json& value) { return value.is_object() && AllOf(value, text); }))
        return false;
    }
    if (!HasType("finalizers", "a list of strings",
                 [&](const json& value) { return value.is_array() && AllOf(value, text); }))
      return false;
    for (const char* key : {"ownerReferences", "managedFields"}) {
      if (!HasType(key, "a list of objects",
                   [&](const json& value) { return value.is_array() && AllOf(value, object); }))
        return false;
    }
    return true;
  }

  void Check(NameFaults faults) {
    const std::string generate = Text("generateName"), name = Text("name");
    if (!generate.empty()) AddAll("generateName", generate, faults(generate, true));
    if (!name.empty()) AddAll("name", name, faults(name, false));
    if (const std::string space = Text("namespace"); !space.empty())
      AddAll("namespace", space, FaultsOfDnsLabel(space));
    const json& generation = Part("generation");
    if (IsInt64(generation) && generation < 0)
      AddInvalid(errors_, At("generation"), generation, "must be greater than or equal to 0");
    CheckLabels();
    CheckAnnotations();
    CheckOwners();
    CheckFinalizers();
    CheckManagedFields();
  }

  std::string Text(const char* key) const { return metadata_.is_object() ? TextOf(metadata_, key) : std::string(); }

 private:
  std::string At(std::string_view key) const { return ChildPath(path_, key); }
  const json& Part(const char* key) const { return PartOf(metadata_, key); }

  template <typename Fits>
  bool HasType(const char* key, const char* expected, const Fits& fits) {
    const auto found = metadata_.find(key);
    return found == metadata_.end() || found->is_null() || fits(*found) || Refuse(key, expected, *found);
  }
  template <typename Fits>
  static bool AllOf(const json& values, const Fits& fits) {
    return std::ranges::all_of(values, [&](const json& value) { return value.is_null() || fits(value); });
  }
  bool Refuse(std::string_view key, const std::string& expected, const json& found) {
    errors_.Add({.kind = FieldError::Kind::kTypeInvalid,
                 .field = key.empty() ? path_ : At(key),
                 .message = "Invalid value: " + detail::CompactJson(found) + ": must be " + expected});
    return false;
  }
  void AddAll(std::string_view key, std::string_view value, const Reasons& reasons) {
    for (const std::string& reason : reasons) errors_.Invalid(At(key), value, reason);
  }

  void CheckLabels() {
    for (const auto& [key, value] : Part("labels").items()) {
      AddAll("labels", key, FaultsOfLabelKey(key));
      const std::string text = value.is_string() ? value.get<std::string>() : std::string();
      AddAll("labels", text, FaultsOfLabelValue(text));
    }
  }

  void CheckAnnotations() {
    std::size_t size = 0;
    for (const auto& [key, value] : Part("annotations").items()) {
      AddAll("annotations", key, FaultsOfLabelKey(Lower(key)));
      size += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
    }
    if (size > kMaxAnnotations) errors_.TooLong(At("annotations"), kMaxAnnotations);
  }

  void RefuseOwners(const std::string& shown, const std::string& why) {
    errors_.Add({.kind = FieldError::Kind::kInvalid,
                 .field = At("ownerReferences"),
                 .message = "Invalid value: " + shown + ": " + why});
  }

  void CheckOwners() {
    const json& owners = Part("ownerReferences");
    std::string controller, text;
    for (const json& owner : owners) text += (text.empty() ? "" : ",") + OwnerText(owner);
    for (const json& owner : owners) {
      const std::string path = At("ownerReferences");
      const std::string version = TextOf(owner, "apiVersion"), kind = TextOf(owner, "kind"),
                        name = TextOf(owner, "name");
      if (std::ranges::count(version, '/') > 1 || version.empty() || version.ends_with('/'))
        errors_.Invalid(ChildPath(path, "apiVersion"), version, "version must not be empty");
      for (const char* key : {"kind", "name", "uid"}) {
        if (TextOf(owner, key).empty()) errors_.Invalid(ChildPath(path, key), "", "must not be empty");
      }
      if (version == "v1" && kind == "Event")
        RefuseOwners(OwnerText(owner), "/v1, Kind=Event is disallowed from being an owner");
      if (PartOf(owner, "controller") != true) continue;
      if (!controller.empty()) {
        RefuseOwners("[" + text + "]",
                     "Only one reference can have Controller set to true. Found \"true\" in references for " +
                         controller + " and " + kind + "/" + name);
      } else {
        controller = kind + "/" + name;
      }
    }
  }

  void CheckFinalizers() {
    const json& finalizers = Part("finalizers");
    for (const json& each : finalizers) {
      const std::string text = each.is_string() ? each.get<std::string>() : std::string();
      AddAll("finalizers", text, FaultsOfLabelKey(text));
    }
    const auto has = [&](const char* name) { return std::ranges::find(finalizers, name) != finalizers.end(); };
    if (has("orphan") && has("foregroundDeletion"))
      AddInvalid(errors_, At("finalizers"), finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }

  void CheckManagedFields() {
    const json& entries = Part("managedFields");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const json& entry = entries[i];
      const std::string path = IndexPath(At("managedFields"), i), operation = TextOf(entry, "operation");
      const std::string type = TextOf(entry, "fieldsType");
      if (operation != "Apply" && operation != "Update")
        errors_.Invalid(ChildPath(path, "operation"), operation, "must be `Apply` or `Update`");
      if (!type.empty() && type != "FieldsV1")
        errors_.Invalid(ChildPath(path, "fieldsType"), type, "must be `FieldsV1`");
      if (TextOf(entry, "manager").size() > kMaxManager) errors_.TooLong(ChildPath(path, "manager"), kMaxManager);
      if (TextOf(entry, "subresource").size() > kMaxSubresource)
        errors_.TooLong(ChildPath(path, "subresource"), kMaxSubresource);
    }
  }

  const json& metadata_;
  const std::string path_;
  FieldErrors& errors_;
};

void CheckApiVersion(const json& value, const std::string& path, FieldErrors& errors) {
  if (!value.is_string()) return AddInvalid(errors, path, value, "must be a string");
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) errors.Invalid(path, text, "must not be empty");
  if (std::ranges::count(text, '/') > 1) errors.Invalid(path, text, "unexpected GroupVersion string: " + text);
}

void CheckKind(const json& value, const std::string& path, FieldErrors& errors) {
  if (!value.is_string()) return AddInvalid(errors, path, value, "must be a string");
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) return errors.Invalid(path, text, "must not be empty");
  const std::string lower = Lower(text);
  std::string why;
  if (lower.size() > kMaxLabel) why = AtMost(kMaxLabel, kCharacters);
  if (!detail::IsDnsPart(lower) || IsDigit(lower[0])) {
    why += (why.empty() ? "" : ",") +
           NoMatch(
               "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
               "character, and end with an alphanumeric character",
               "'my-name',  or 'abc-123'", "[a-z]([-a-z0-9]*[a-z0-9])?");
  }
  if (!why.empty()) errors.Invalid(path, text, "may have mixed case, but should otherwise match: " + why);
}

}  // namespace

void NameObject(json& object) {
  json& metadata = object["metadata"];
  if (!metadata.is_object() && !metadata.is_null()) return;
  const std::string name = metadata.is_null() ? "" : TextOf(metadata, "name");
  const std::string prefix = metadata.is_null() ? "" : TextOf(metadata, "generateName");
  constexpr std::string_view kSuffix = "xxxxx";
  if (name.empty() && !prefix.empty()) metadata["name"] = prefix.substr(0, kMaxLabel - kSuffix.size()) += kSuffix;
}

void CheckMetadata(const json& object, FieldErrors& errors) {
  const json& metadata = PartOf(object, "metadata");
  MetadataChecker checker(metadata, "metadata", errors);
  const bool present = object.contains("metadata") && !object["metadata"].is_null();
  if (present && !checker.HasTypes()) return;
  if (checker.Text("name").empty()) errors.Required("metadata.name", "name or generateName is required");
  checker.Check(FaultsOfName);
}

void CheckEmbeddedResource(const json& resource, const std::string& path, FieldErrors& errors) {
  for (const char* key : {"apiVersion", "kind"}) {
    if (!resource.contains(key)) errors.Required(ChildPath(path, key));
  }
  if (const auto version = resource.find("apiVersion"); version != resource.end())
    CheckApiVersion(*version, ChildPath(path, "apiVersion"), errors);
  if (const auto kind = resource.find("kind"); kind != resource.end())
    CheckKind(*kind, ChildPath(path, "kind"), errors);
  const auto metadata = resource.find("metadata");
  if (metadata == resource.end() || metadata->is_null()) return;
  MetadataChecker checker(*metadata, ChildPath(path, "metadata"), errors);
  if (checker.HasTypes()) checker.Check(FaultsOfSegment);
}

}  // namespace kgen::validation
