// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/versions.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "generator/document_path.h"

namespace kgen::generator::model {
namespace {

constexpr std::size_t kMostNamed = 5;  // fields of one version in a message

// The JSON types that a value may have.
enum JsonType : unsigned {
  kObjectType = 1,
  kListType = 2,
  kStringType = 4,
  kBoolType = 8,
  kIntType = 16,
  kRealType = 32
};

unsigned JsonTypes(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kObject:
    case Kind::kMap:
    case Kind::kRef:
      return kObjectType;
    case Kind::kList:
      return kListType;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kTime:
    case Kind::kMicroTime:
    case Kind::kDuration:
      return kStringType;
    case Kind::kBool:
      return kBoolType;
    case Kind::kInt32:
    case Kind::kInt64:
      return kIntType;
    case Kind::kDouble:
      return kIntType | kRealType;
    case Kind::kQuantity:
    case Kind::kIntOrString:
      return kIntType | kStringType;
    case Kind::kJson:
      return schema.json_shape == JsonShape::kObject ? unsigned{kObjectType} : ~0U;
  }
  return ~0U;
}

std::string Named(const std::vector<std::string>& paths) {
  std::string out;
  for (std::size_t i = 0; i < paths.size() && i < kMostNamed; ++i) out += (i == 0 ? "" : ", ") + Visible(paths[i], 200);
  if (paths.size() > kMostNamed) out += " and " + std::to_string(paths.size() - kMostNamed) + " more";
  return out;
}

// The fields that do not survive the way from one version of a kind to the other.
class VersionPair {
 public:
  VersionPair(const RawCustomVersion& first, const RawCustomVersion& second) : first_(first), second_(second) {}

  // Compares two objects, without the members that every kind has.
  void CompareKinds(const Schema& a, const Schema& b) { CompareObjects(a, b, {}); }

  // What is lost, as the end of a sentence; empty if nothing is.
  std::string Text() const {
    std::string out;
    const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
    if (!second_lacks_.empty()) add(second_.name + " lacks " + Named(second_lacks_));
    if (!first_lacks_.empty()) add(first_.name + " lacks " + Named(first_lacks_));
    if (!changed_.empty()) add("of another JSON type: " + Named(changed_));
    return out;
  }

 private:
  void Compare(const Schema& a, const Schema& b, const std::string& path) {
    const bool maps = a.kind == Kind::kMap && b.kind == Kind::kMap;
    if ((JsonTypes(a) & JsonTypes(b)) == 0) {
      changed_.push_back(path);
    } else if (a.kind == Kind::kObject && b.kind == Kind::kObject) {
      CompareObjects(a, b, path);
    } else if (a.kind == Kind::kObject && b.kind == Kind::kMap) {
      for (const Field& field : a.fields) Compare(*field.schema, *b.element, Below(path, field));
      if (!a.preserve_unknown) first_lacks_.push_back(path + "[*]");
    } else if (a.kind == Kind::kMap && b.kind == Kind::kObject) {
      for (const Field& field : b.fields) Compare(*a.element, *field.schema, Below(path, field));
      if (!b.preserve_unknown) second_lacks_.push_back(path + "[*]");
    } else if (maps || (a.kind == Kind::kList && b.kind == Kind::kList)) {
      Compare(*a.element, *b.element, path + (maps ? "[*]" : "[]"));
    }
  }

  void CompareObjects(const Schema& a, const Schema& b, const std::string& path) {
    for (const Field& field : a.fields) {
      const Field* other = b.Find(field.name);
      if (other != nullptr) {
        Compare(*field.schema, *other->schema, Below(path, field));
      } else if (!b.preserve_unknown) {
        second_lacks_.push_back(Below(path, field));
      }
    }
    if (a.preserve_unknown) return;
    for (const Field& field : b.fields) {
      if (a.Find(field.name) == nullptr) first_lacks_.push_back(Below(path, field));
    }
  }

  static std::string Below(const std::string& path, const Field& field) {
    return DocumentPath(path).Key(field.name).Text();
  }

  const RawCustomVersion& first_;
  const RawCustomVersion& second_;
  std::vector<std::string> first_lacks_, second_lacks_, changed_;
};

}  // namespace

void CheckVersions(const RawCustomResource& crd, const Api& api, Diagnostics& diagnostics) {
  if (crd.converts) return;
  std::vector<const RawCustomVersion*> used;
  for (const RawCustomVersion& version : crd.versions) {
    if (version.served || version.storage) used.push_back(&version);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t k = i + 1; k < used.size(); ++k) {
      const TypeId first = api.FindType(crd.group, used[i]->name, crd.kind);
      const TypeId second = api.FindType(crd.group, used[k]->name, crd.kind);
      if (first == kNoType || second == kNoType) continue;
      VersionPair pair(*used[i], *used[k]);
      pair.CompareKinds(api.types[first].schema, api.types[second].schema);
      const std::string lost = pair.Text();
      if (lost.empty()) continue;
      diagnostics.Warning(
          "crd-conversion", used[k]->origin,
          "objects of " + Quote(crd.kind) + " lose fields between " + used[i]->name + " and " + used[k]->name +
              ", because the CRD has no conversion: " + lost,
          used[k]->path,
          "reading or updating an object through one version drops what only the other declares; "
          "declare the same fields in both, set x-kubernetes-preserve-unknown-fields: true, or convert "
          "with spec.conversion.strategy: Webhook (if a patch of a kustomization adds that, pass its folder)");
    }
  }
}

}  // namespace kgen::generator::model
