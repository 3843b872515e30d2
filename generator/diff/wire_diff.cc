// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/diff/wire_diff.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "generator/document_path.h"

namespace kgen::generator::model {
namespace {

// What a value is in JSON.
std::string_view JsonOf(Kind kind) {
  switch (kind) {
    case Kind::kObject:
    case Kind::kMap:
    case Kind::kRef:
      return "an object";
    case Kind::kList:
      return "a list";
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kTime:
    case Kind::kMicroTime:
    case Kind::kDuration:
      return "a string";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt32:
    case Kind::kInt64:
      return "an integer";
    case Kind::kDouble:
      return "a number";
    case Kind::kQuantity:
      return "a quantity";
    case Kind::kIntOrString:
      return "an integer or a string";
    case Kind::kJson:
      return "any JSON";
  }
  return "a value";
}

std::string_view JsonOf(const Schema& schema) {
  return schema.kind == Kind::kJson && schema.json_shape == JsonShape::kObject ? "an object" : JsonOf(schema.kind);
}

std::string Listed(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

// The words of `a` that `b` lacks.
template <typename List>
std::vector<std::string_view> Without(const List& a, const List& b) {
  std::vector<std::string_view> out;
  for (const auto& word : a) {
    if (std::find(b.begin(), b.end(), word) == b.end()) out.emplace_back(word);
  }
  return out;
}

std::vector<std::string> Values(const Schema& schema) {
  std::vector<std::string> out;
  for (const EnumValue& value : schema.enum_values) out.push_back(Quote(value.text));
  return out;
}

double Number(const std::string& json) { return std::strtod(json.c_str(), nullptr); }

// A limit that is new, or stricter than before. `sign` is 1 for a lower limit and -1 for an upper one.
bool IsStricter(const std::string& was, const std::string& is, int sign) {
  return !is.empty() && (was.empty() || sign * Number(is) > sign * Number(was));
}

class WireDiff {
 public:
  WireDiff(const Api& before, const Api& after, Differences& out) : before_(before), after_(after), out_(out) {}

  void Run() {
    const Kinds before = KindsOf(before_), after = KindsOf(after_);
    std::set<std::string> whole;  // group versions of one state only: one finding each
    const auto report = [&](const GroupVersionKind& gvk, const Kinds& others, std::vector<Finding>& findings,
                            std::string_view kind, std::string_view version) {
      const std::string title = (gvk.group.empty() ? "" : gvk.group + "/") + gvk.version;
      const bool alone = std::none_of(others.begin(), others.end(), [&](const auto& other) {
        return other.first.group == gvk.group && other.first.version == gvk.version;
      });
      if (!alone) {
        findings.push_back({Describe(gvk), std::string(kind)});
      } else if (whole.insert(title).second) {
        findings.push_back({title, std::string(version)});
      }
    };
    for (const auto& [gvk, kind] : before) {
      if (const auto found = after.find(gvk); found != after.end()) {
        CompareKind(*kind, *found->second);
      } else {
        report(gvk, after, out_.wire, "the kind is gone", "the version is gone");
      }
    }
    for (const auto& [gvk, kind] : after) {
      if (!before.contains(gvk)) report(gvk, before, out_.added, "a new kind", "a new version");
    }
  }

 private:
  using Kinds = std::map<GroupVersionKind, const ApiKind*>;

  static Kinds KindsOf(const Api& api) {
    Kinds kinds;
    for (const Group& group : api.groups) {
      for (const Version& version : group.versions) {
        for (const ApiKind& kind : version.kinds) {
          if (kind.has_object_meta && kind.resource) kinds.emplace(kind.gvk, &kind);
        }
      }
    }
    return kinds;
  }

  void Break(const std::string& path, std::string text) { out_.wire.push_back({path, std::move(text)}); }
  void Refuse(const std::string& path, std::string text) { out_.refuses.push_back({path, std::move(text)}); }
  void Add(const std::string& path, std::string text) { out_.added.push_back({path, std::move(text)}); }

  void CompareKind(const ApiKind& a, const ApiKind& b) {
    const std::string path = Describe(a.gvk);
    if (a.served && !b.served) Break(path, "the kind is no longer served");
    if (!a.served && b.served) Add(path, "the kind is served");
    if (a.list_kind != b.list_kind) Break(path, "the kind of its list was " + a.list_kind + ", is " + b.list_kind);
    CompareResource(path, *a.resource, *b.resource);
    CompareNamed(before_.types[a.type], after_.types[b.type]);
  }

  void CompareResource(const std::string& path, const Resource& a, const Resource& b) {
    if (a.plural != b.plural) Break(path, "the resource was " + a.plural + ", is " + b.plural);
    if (a.scope != b.scope) {
      Break(path, b.scope == Scope::kCluster ? "was namespaced, is cluster-wide" : "was cluster-wide, is namespaced");
    }
    CompareVerbs(path, a.verbs, b.verbs);
    for (const Subresource& subresource : a.subresources) {
      const std::string below = path + "/" + subresource.name;
      const Subresource* other = b.Find(subresource.name);
      if (other == nullptr) {
        Break(below, "the subresource is gone");
        continue;
      }
      CompareVerbs(below, subresource.verbs, other->verbs);
      if (subresource.body_gvk != other->body_gvk) {
        Break(below, "its body was " + Describe(subresource.body_gvk) + ", is " + Describe(other->body_gvk));
      }
    }
    for (const Subresource& subresource : b.subresources) {
      if (a.Find(subresource.name) == nullptr) Add(path + "/" + subresource.name, "a new subresource");
    }
  }

  void CompareVerbs(const std::string& path, const Verbs& a, const Verbs& b) {
    if (const auto lost = Without(a.Names(), b.Names()); !lost.empty()) Break(path, "verbs are gone: " + Listed(lost));
    if (const auto more = Without(b.Names(), a.Names()); !more.empty()) Add(path, "new verbs: " + Listed(more));
  }

  void CompareNamed(const NamedType& a, const NamedType& b) {
    if (a.runtime || b.runtime || !seen_.insert({&a, &b}).second) return;
    const std::string path = (a.group.empty() ? "" : a.group + "/") + a.version + " " + a.name;
    CompareLimits(a.schema, b.schema, path);
    CompareFields(a.schema, b.schema, path);
  }

  // A value without the aliases in front of it, and the type that it names, if it names a struct.
  struct Value {
    const Schema* schema;
    const NamedType* named = nullptr;
  };
  static Value ValueOf(const Api& api, const Schema& schema) {
    if (schema.kind != Kind::kRef) return {&schema};
    const NamedType& type = api.Target(schema.ref);
    if (type.runtime || type.schema.kind == Kind::kObject) return {&type.schema, &type};
    return {&type.schema};
  }

  void CompareValues(const Schema& a, const Schema& b, const std::string& path) {
    const Value from = ValueOf(before_, a), to = ValueOf(after_, b);
    const std::string_view was = from.named != nullptr ? JsonOf(Kind::kObject) : JsonOf(*from.schema);
    const std::string_view is = to.named != nullptr ? JsonOf(Kind::kObject) : JsonOf(*to.schema);
    if (a.nullable && !b.nullable) Break(path, "may no longer be null");
    if (was != is) {
      Break(path, "was " + std::string(was) + ", is " + std::string(is));
      return;
    }
    CompareEnums(*from.schema, *to.schema, path);
    CompareLimits(a, b, path);
    const auto known = [](const Value& value) { return value.named == nullptr || !value.named->runtime; };
    if (from.named != nullptr && to.named != nullptr) {
      CompareNamed(*from.named, *to.named);
    } else if (!known(from) || !known(to)) {
      return;  // the runtime's types have no fields here
    } else if (from.schema->kind == Kind::kObject && to.schema->kind == Kind::kObject) {
      CompareFields(*from.schema, *to.schema, path);
    } else if (from.schema->element != nullptr && from.schema->kind == to.schema->kind) {
      CompareValues(*from.schema->element, *to.schema->element,
                    path + (from.schema->kind == Kind::kList ? "[]" : "[*]"));
    }
  }

  void CompareEnums(const Schema& a, const Schema& b, const std::string& path) {
    if (b.enum_values.empty()) return;  // all are legal
    const std::vector<std::string> was = Values(a), is = Values(b);
    if (was.empty()) {
      Break(path, "only these values are legal now: " + Listed(Without(is, was)));
      return;
    }
    if (const auto lost = Without(was, is); !lost.empty()) Break(path, "values are gone: " + Listed(lost));
    if (const auto more = Without(is, was); !more.empty()) Add(path, "new values: " + Listed(more));
  }

  void CompareLimits(const Schema& a, const Schema& b, const std::string& path) {
    static const Facets kNone;
    const Facets& was = a.facets == nullptr ? kNone : *a.facets;
    const Facets& is = b.facets == nullptr ? kNone : *b.facets;
    const auto limit = [&](std::string Facets::* which, int sign, std::string_view what) {
      if (!IsStricter(was.*which, is.*which, sign)) return;
      Refuse(path, std::string(what) + " is " + is.*which + ((was.*which).empty() ? " now" : ", was " + was.*which));
    };
    limit(&Facets::minimum, 1, "its minimum");
    limit(&Facets::maximum, -1, "its maximum");
    limit(&Facets::min_length, 1, "its least length");
    limit(&Facets::max_length, -1, "its greatest length");
    limit(&Facets::min_items, 1, "its least number of elements");
    limit(&Facets::max_items, -1, "its greatest number of elements");
    limit(&Facets::min_properties, 1, "its least number of entries");
    limit(&Facets::max_properties, -1, "its greatest number of entries");
    if (is.exclusive_minimum && !was.exclusive_minimum && was.minimum == is.minimum)
      Refuse(path, "its minimum " + is.minimum + " itself is no longer legal");
    if (is.exclusive_maximum && !was.exclusive_maximum && was.maximum == is.maximum)
      Refuse(path, "its maximum " + is.maximum + " itself is no longer legal");
    if (!is.multiple_of.empty() && is.multiple_of != was.multiple_of)
      Refuse(path, "it must be a multiple of " + is.multiple_of + " now");
    if (!is.pattern.empty() && is.pattern != was.pattern)
      Refuse(path, "its pattern is " + Quote(is.pattern, 200) +
                       (was.pattern.empty() ? " now" : ", was " + Quote(was.pattern, 200)));
    for (const ValidationRule& rule : b.validations) {
      const auto known = [&](const ValidationRule& other) { return other.rule == rule.rule; };
      if (std::any_of(a.validations.begin(), a.validations.end(), known)) continue;
      Refuse(path, "a new rule: " + Quote(rule.rule, 200));
    }
    const bool unique = b.merge.list_type == "set" || b.merge.list_type == "map";
    if (unique && (b.merge.list_type != a.merge.list_type || b.merge.list_map_keys != a.merge.list_map_keys)) {
      Refuse(path, b.merge.list_type == "set"
                       ? "its elements must differ now"
                       : "its elements must differ in " +
                             Listed({b.merge.list_map_keys.begin(), b.merge.list_map_keys.end()}) + " now");
    }
  }

  static bool IsDemanded(const Field& field) { return field.required && field.schema->default_json.empty(); }

  void CompareFields(const Schema& a, const Schema& b, const std::string& parent) {
    const DocumentPath path(parent);
    if (a.preserve_unknown && !b.preserve_unknown) {
      Break(parent, "fields that the schema does not name are dropped now");
    }
    for (const Field& field : a.fields) {
      const std::string below = path.Key(field.name).Text();
      const Field* other = b.Find(field.name);
      if (other == nullptr) {
        Break(below, "the field is gone");
        continue;
      }
      if (!IsDemanded(field) && IsDemanded(*other)) Break(below, "the field is required now");
      CompareValues(*field.schema, *other->schema, below);
    }
    for (const Field& field : b.fields) {
      if (a.Find(field.name) != nullptr) continue;
      const std::string below = path.Key(field.name).Text();
      if (IsDemanded(field)) {
        Break(below, "a new field is required");
      } else {
        Add(below, "a new field");
      }
    }
  }

  const Api& before_;
  const Api& after_;
  Differences& out_;
  std::set<std::pair<const NamedType*, const NamedType*>> seen_;
};

}  // namespace

void CompareWire(const Api& before, const Api& after, Differences& out) { WireDiff(before, after, out).Run(); }

}  // namespace kgen::generator::model
