// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/anchors.h"

#include <algorithm>
#include <utility>

namespace kgen::generator::model {
namespace {

// The minimum part of the fields of an anchor that an object must have.
constexpr std::size_t kPercent = 60;

bool IsObjectMeta(const NamedType& type) { return type.group == kMetaGroup && type.name == "ObjectMeta"; }

bool IsInteger(Kind kind) { return kind == Kind::kInt32 || kind == Kind::kInt64; }

std::string Below(const std::string& path, const std::string& field) {
  return path.empty() ? Visible(field) : path + "." + Visible(field);
}

// Returns the innermost element of nested lists and maps, or the schema itself.
const Schema& Innermost(const Schema& schema) {
  const Schema* inner = &schema;
  while (inner->element != nullptr) inner = inner->element.get();
  return *inner;
}

}  // namespace

// The list omits types that have the same shape as another type (SecretKeySelector and ConfigMapKeySelector,
// PodAffinity and PodAntiAffinity, TypedObjectReference and Subject), and types of one or two fields that could mean
// anything (LocalObjectReference, HTTPHeader).
const std::vector<Anchors::Anchor>& Anchors::All() {
  static const std::vector<Anchor> kAnchors = {
      {"", "PodTemplateSpec", {"metadata", "spec"}},
      {"", "PodSpec", {"containers"}},
      {"", "Container", {"name", "image", "command"}},
      {"", "Volume", {"name", "configMap", "secret"}},
      {"", "VolumeMount", {"name", "mountPath", "subPath"}},
      {"", "VolumeDevice", {"name", "devicePath"}},
      {"", "ContainerPort", {"containerPort", "hostPort"}},
      {"", "EnvVar", {"name", "value", "valueFrom"}},
      {"", "EnvVarSource", {"configMapKeyRef", "fieldRef", "secretKeyRef"}},
      {"", "EnvFromSource", {"configMapRef", "secretRef"}},
      {"", "Probe", {"httpGet", "periodSeconds"}},
      {"", "Lifecycle", {"postStart", "preStop"}},
      {"", "ResourceRequirements", {"limits", "requests"}},
      {"", "Toleration", {"key", "operator", "tolerationSeconds"}},
      {"", "Affinity", {"nodeAffinity", "podAffinity", "podAntiAffinity"}},
      {"", "NodeAffinity", {"requiredDuringSchedulingIgnoredDuringExecution"}},
      {"", "NodeSelector", {"nodeSelectorTerms"}},
      {"", "TopologySpreadConstraint", {"maxSkew", "topologyKey"}},
      {"", "SecurityContext", {"capabilities", "privileged"}},
      {"", "PodSecurityContext", {"fsGroup", "supplementalGroups"}},
      {"", "HostAlias", {"hostnames", "ip"}},
      {"", "PodDNSConfig", {"nameservers", "searches"}},
      {"", "PersistentVolumeClaimTemplate", {"spec"}},
      {"", "PersistentVolumeClaimSpec", {"accessModes", "resources"}},
      {"", "ServiceSpec", {"ports", "selector"}},
      {"networking.k8s.io", "IngressSpec", {"rules", "tls"}},
      {"", "ObjectReference", {"kind", "name", "namespace"}},
      {"", "TypedLocalObjectReference", {"apiGroup", "kind", "name"}},
      {kMetaGroup, "LabelSelector", {"matchExpressions", "matchLabels"}},
      {kMetaGroup, "Condition", {"lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"}},
  };
  return kAnchors;
}

// One comparison. `chosen` is true if the user chose the type, so a value that the CRD leaves open matches.
class Anchors::Match {
 public:
  Match(const Api& api, const Api& built_in, bool chosen) : api_(api), built_in_(built_in), chosen_(chosen) {}

  std::map<std::string, std::set<std::string>> lacks;
  std::string difference;  // the first one

  bool Object(const Schema& object, const NamedType& type, const std::string& path) {
    if (IsObjectMeta(type) && object.kind == Kind::kJson && object.json_shape == JsonShape::kObject) return true;
    if (object.kind != Kind::kObject) return Differ(path, object, "an object, " + type.name);
    if (object.preserve_unknown && !type.schema.preserve_unknown && !IsObjectMeta(type) && !chosen_) {
      return Fail((path.empty() ? "the object" : path) + " preserves unknown fields, " + type.name + " does not");
    }
    for (const Field& field : object.fields) {
      const Field* same = type.schema.Find(field.name);
      if (same == nullptr) return Fail(Below(path, field.name) + " is no field of " + type.name);
      if (!Value(*field.schema, *same->schema, Below(path, field.name), type.name)) return false;
    }
    if (IsObjectMeta(type)) return true;
    for (const Field& field : type.schema.fields) {
      if (object.Find(field.name) == nullptr) lacks[type.name].insert(field.name);
    }
    return true;
  }

 private:
  bool Fail(std::string text) {
    difference = std::move(text);
    return false;
  }
  bool Differ(const std::string& path, const Schema& value, const std::string& expected) {
    return Fail((path.empty() ? "the value" : path) + " is " + std::string(Describe(value.kind)) + ", not " + expected);
  }

  bool Value(const Schema& value, const Schema& expected, const std::string& path, const std::string& owner) {
    if (value.kind == Kind::kJson && chosen_) return true;
    if (value.nullable && !expected.nullable) return Fail(path + " may be null, in " + owner + " it may not");
    if (expected.kind == Kind::kRef) {
      const NamedType& type = built_in_.Target(expected.ref);
      if (type.schema.kind != Kind::kObject) return Value(value, type.schema, path, owner);
      if (value.kind != Kind::kRef) return Object(value, type, path);
      const NamedType& own = api_.Target(value.ref);
      const bool same = own.group == type.group && own.version == type.version && own.name == type.name;
      return same || Fail(path + " is " + own.name + ", in " + owner + " " + type.name);
    }
    // A Quantity can hold integers and text.
    if (value.kind == Kind::kIntOrString && expected.kind == Kind::kQuantity) return true;
    // Many CRDs do not state the width of their integers. Digits that do not fit are kept unchanged.
    if (IsInteger(value.kind) && IsInteger(expected.kind)) return true;
    // Objects of any members, such as FieldsV1, are `type: object` in a CRD, of which a server keeps no member.
    const bool any_members = expected.kind == Kind::kJson && expected.json_shape == JsonShape::kObject;
    if (any_members && value.kind == Kind::kObject && value.fields.empty()) return true;
    if (value.kind != expected.kind || expected.kind == Kind::kObject) {
      return Differ(path, value, std::string(Describe(expected.kind)) + " as in " + owner);
    }
    return value.element == nullptr || Value(*value.element, *expected.element, path + "[]", owner);
  }

  const Api& api_;
  const Api& built_in_;
  const bool chosen_;
};

Anchors::Anchors(const Api& built_in) : built_in_(built_in) {
  for (const Anchor& anchor : All()) {
    const TypeId type = built_in.FindType(anchor.group, "v1", anchor.name);
    if (type != kNoType && !built_in.types[type].schema.fields.empty()) candidates_.push_back({&anchor, type});
  }
}

std::vector<TypeId> Anchors::Types() const {
  std::vector<TypeId> types;
  types.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) types.push_back(candidate.type);
  return types;
}

const Anchors::Candidate* Anchors::FindCandidate(TypeId type) const {
  const auto found =
      std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return c.type == type; });
  return found == candidates_.end() ? nullptr : &*found;
}

// Returns whether the object has enough fields of the candidate. A required field whose type is an anchor must also
// have enough fields of that anchor: metadata and spec make a pod template only if spec is a pod spec.
bool Anchors::Tells(const Api& api, const Schema& object, const Candidate& candidate) const {
  const std::vector<Field>& fields = built_in_.types[candidate.type].schema.fields;
  if (object.fields.size() * 100 < fields.size() * kPercent) return false;
  return std::all_of(candidate.anchor->telling.begin(), candidate.anchor->telling.end(), [&](std::string_view name) {
    const Field* field = object.Find(name);
    const Field* same = built_in_.types[candidate.type].schema.Find(name);
    if (field == nullptr || same == nullptr) return false;
    const Schema& inner = Innermost(*same->schema);
    const Candidate* below = inner.kind == Kind::kRef ? FindCandidate(inner.ref) : nullptr;
    return below == nullptr || Tells(api, Innermost(*field->schema), *below);
  });
}

std::expected<Fit, std::string> Anchors::Find(const Api& api, const Schema& object) const {
  std::expected<Fit, std::string> best = std::unexpected(std::string());
  std::size_t missing = 0;
  for (const Candidate& candidate : candidates_) {
    const NamedType& type = built_in_.types[candidate.type];
    const std::size_t its = type.schema.fields.size() - std::min(type.schema.fields.size(), object.fields.size());
    if ((best && its >= missing) || !Tells(api, object, candidate)) continue;
    Match match(api, built_in_, /*chosen=*/false);
    if (!match.Object(object, type, {})) {
      if (!best && best.error().empty()) best.error() = "it is no " + type.name + ", because " + match.difference;
      continue;
    }
    best = Fit{candidate.type, std::move(match.lacks)};
    missing = its;
  }
  return best;
}

std::expected<Fit, std::string> Anchors::Check(const Api& api, const Schema& object, TypeId type) const {
  Match match(api, built_in_, /*chosen=*/true);
  if (!match.Object(object, built_in_.types[type], {})) return std::unexpected(std::move(match.difference));
  return Fit{type, std::move(match.lacks)};
}

}  // namespace kgen::generator::model
