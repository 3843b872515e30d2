// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/diff/source_diff.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/document_path.h"

namespace kgen::generator::emit {
namespace {

// A struct of a plan: its group version and its path in there, "Order::Spec". For a struct that places of a group
// share, the namespace of the group stands for the version.
struct TypeKey {
  std::string version, path;

  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};

using Types = std::map<TypeKey, const PlannedStruct*>;

void Collect(const std::string& version, const PlannedStruct& planned, Types& types) {
  types[{version, planned.path}] = &planned;
  for (const PlannedStruct& nested : planned.nested) Collect(version, nested, types);
}

// A plan with an index of its structs.
class Side {
 public:
  explicit Side(const Plan& plan) : plan_(plan) {
    for (const PlannedVersion& version : plan.versions) {
      versions_[version.title] = &version;
      for (const PlannedStruct& planned : version.structs) Collect(version.title, planned, types_);
    }
    for (const auto& [title, group] : plan.groups) {
      for (const PlannedStruct& planned : group.structs) Collect(group.name_space, planned, types_);
    }
  }

  const Plan& plan() const { return plan_; }
  const PlannedVersion* Version(const std::string& title) const {
    const auto found = versions_.find(title);
    return found == versions_.end() ? nullptr : found->second;
  }
  const PlannedStruct* Find(const TypeKey& key) const {
    const auto found = types_.find(key);
    return found == types_.end() ? nullptr : found->second;
  }

  // The struct that a name means in the tables of a version; an empty key for types of the runtime and values.
  TypeKey Resolve(const std::string& version, std::string_view name) const {
    if (!name.starts_with("::")) {
      TypeKey own = WithStruct({version, std::string(name)});
      const PlannedVersion* around = Version(version);
      if (!own.path.empty() || around == nullptr) return own;
      return WithStruct({GroupOf(around->name_space), std::string(name)});
    }
    name.remove_prefix(2);
    for (const PlannedVersion& other : plan_.versions) {
      if (name.starts_with(other.name_space + "::")) {
        return WithStruct({other.title, std::string(name.substr(other.name_space.size() + 2))});
      }
    }
    for (const auto& [title, group] : plan_.groups) {
      if (name.starts_with(group.name_space + "::")) {
        return WithStruct({group.name_space, std::string(name.substr(group.name_space.size() + 2))});
      }
    }
    return {};
  }

  // "shop::v1::Order::Spec".
  std::string Spell(const TypeKey& key) const {
    const PlannedVersion* version = Version(key.version);
    if (version == nullptr) return key.version.substr(GroupOf(key.version).size() + 2) + "::" + key.path;
    return version->group_space + "::" + version->space + "::" + key.path;
  }

 private:
  // "acme::shop" of "acme::shop::v1".
  static std::string GroupOf(const std::string& name_space) { return name_space.substr(0, name_space.rfind("::")); }
  TypeKey WithStruct(TypeKey key) const { return Find(key) == nullptr ? TypeKey() : key; }

  const Plan& plan_;
  std::map<std::string, const PlannedVersion*> versions_;
  Types types_;
};

// The C++ type of a member: "kgen::List<" + a struct + ">", or a type without a struct.
struct MemberType {
  std::string before, after;
  TypeKey type;      // empty: `before` is all
  std::string name;  // of a struct that the owner of the member holds: "Spec"
};

// What stands between the innermost angle brackets, or everything.
std::pair<std::size_t, std::size_t> Innermost(std::string_view type) {
  const std::size_t begin = type.rfind('<') + 1;  // 0 without one
  return {begin, begin == 0 ? type.size() : type.find('>', begin)};
}

// Table entries name the struct of a member in the spelling of namespace scope, which does not depend on its siblings.
MemberType TypeOf(const Side& side, const TypeKey& owner, const PlannedField& field) {
  constexpr std::string_view kTable = "::kTable", kTypeOf = "&kgen::kTypeOf<";
  const std::string_view detail = field.detail;
  std::string text = field.type;
  if (field.value_kind == "kBox" && detail.ends_with(kTable)) {
    text = "kgen::Optional<" + std::string(detail.substr(1, detail.size() - 1 - kTable.size())) + ">";
  } else if (detail.starts_with(kTypeOf)) {
    text = field.type.substr(0, field.type.find('<') + 1) + std::string(detail.substr(kTypeOf.size()));
  }
  const auto [begin, end] = Innermost(text);
  TypeKey type = side.Resolve(owner.version, std::string_view(text).substr(begin, end - begin));
  if (type.path.empty()) return {text, {}, {}, {}};
  const auto [own_begin, own_end] = Innermost(field.type);
  std::string name = field.type.substr(own_begin, own_end - own_begin);
  const PlannedStruct& holder = *side.Find(owner);
  const auto is_nested = [&](const PlannedStruct& nested) { return nested.name == name; };
  const auto is_shared = [&](const PlannedAlias& alias) { return alias.shared && alias.name == name; };
  if (std::none_of(holder.nested.begin(), holder.nested.end(), is_nested) &&
      std::none_of(holder.aliases.begin(), holder.aliases.end(), is_shared)) {
    name.clear();
  }
  return {text.substr(0, begin), text.substr(end), std::move(type), std::move(name)};
}

// The C++ name of the struct of a member. `holder` is the name of the struct with the member at this position.
std::string NameOf(const Side& side, const MemberType& type, const std::string& holder) {
  return type.name.empty() ? side.Spell(type.type) : holder + "::" + type.name;
}

std::string Spell(const Side& side, const MemberType& type, const std::string& holder) {
  return type.type.path.empty() ? type.before : type.before + NameOf(side, type, holder) + type.after;
}

// The kind whose table a struct has, as a literal; empty for others.
std::string KindOf(const PlannedVersion& version, const PlannedStruct& planned) {
  for (const PlannedKindInfo& kind : version.kinds) {
    if (kind.symbol == planned.kind_symbol) return kind.kind;
  }
  return {};
}

std::vector<std::string> VerbsOf(const std::string& verbs) {
  constexpr std::string_view kPrefix = "kgen::Verbs::";
  static const std::map<std::string, std::vector<std::string>, std::less<>> kCompound = {
      {"kNone", {}},
      {"kStandard", {"kCreate", "kGet", "kList", "kWatch", "kUpdate", "kPatch", "kDelete", "kDeleteCollection"}},
      {"kStatus", {"kUpdateStatus", "kPatchStatus"}},
      {"kScale", {"kGetScale", "kUpdateScale"}}};
  std::vector<std::string> out;
  for (std::size_t at = verbs.find(kPrefix); at != std::string::npos; at = verbs.find(kPrefix, at)) {
    at += kPrefix.size();
    const std::string verb = verbs.substr(at, verbs.find(' ', at) - at);
    const auto compound = kCompound.find(verb);
    if (compound == kCompound.end()) {
      out.push_back(verb.substr(1));
    } else {
      for (const std::string& part : compound->second) out.push_back(part.substr(1));
    }
  }
  return out;
}

class SourceDiff {
 public:
  SourceDiff(const Plan& before, const Plan& after, model::Differences& out)
      : before_(before), after_(after), out_(out) {}

  void Run() {
    for (const PlannedVersion& version : before_.plan().versions) {
      const PlannedVersion* other = after_.Version(version.title);
      if (other == nullptr) {
        Break(version.title, "the namespace " + version.group_space + "::" + version.space + " is gone");
      } else {
        MatchTypes(version, *other);
      }
    }
    for (const auto& [key, match] : named_) {
      CompareStructs(key, match.type, {match.path, before_.Spell(key), after_.Spell(match.type), false});
    }
    for (const PlannedVersion& version : before_.plan().versions) {
      if (const PlannedVersion* other = after_.Version(version.title)) CompareVersions(version, *other);
    }
  }

 private:
  // The counterpart of a struct in the other state, and the first position that says so.
  struct Match {
    TypeKey type;
    std::string path;
  };

  // A position of a struct, with its C++ names in both states: "shop::v1::Order::Spec".
  struct Place {
    std::string path;
    std::string was, is;
    bool told;  // a finding around this position says that its type is shared with other positions than before
  };

  void Break(const std::string& path, std::string text) { out_.source.push_back({path, std::move(text)}); }

  void Renamed(const std::string& path, std::string_view what, const std::string& was, const std::string& is) {
    if (was != is) Break(path, std::string(what) + " was " + was + ", is " + is);
  }

  // Named types: kinds and their lists by what they are on the wire, others by name.
  void MatchTypes(const PlannedVersion& version, const PlannedVersion& other) {
    for (const PlannedStruct& planned : version.structs) {
      const std::string kind = KindOf(version, planned);
      const auto same = [&](const PlannedStruct& candidate) {
        const std::string its = KindOf(other, candidate);
        return kind.empty() || its.empty() ? candidate.name == planned.name : its == kind;
      };
      const auto found = std::find_if(other.structs.begin(), other.structs.end(), same);
      const std::string path = version.title + " " + planned.name;
      if (found == other.structs.end()) {
        Break(path, "the type " + planned.name + " is gone");
        continue;
      }
      Renamed(path, "the type", planned.name, found->name);
      named_[{version.title, planned.path}] = {{other.title, found->path}, path};
    }
  }

  // Compares each position of a struct, because a struct that several positions share breaks at all of them. A pair of
  // structs without differences is compared once.
  void CompareStructs(const TypeKey& key, const TypeKey& other_key, const Place& place) {
    if (equal_.contains({key, other_key})) return;
    const std::size_t findings = out_.source.size();
    const PlannedStruct& planned = *before_.Find(key);
    const PlannedStruct& other = *after_.Find(other_key);
    for (const PlannedField& field : planned.fields) {
      const std::string below = DocumentPath(place.path).Key(field.wire_name).Text();
      const auto found = std::find_if(other.fields.begin(), other.fields.end(),
                                      [&](const PlannedField& f) { return f.wire_name == field.wire_name; });
      if (found == other.fields.end()) {
        Break(below, "the member " + field.identifier + " is gone");
        continue;
      }
      Renamed(below, "the member", field.identifier, found->identifier);
      CompareTypes(TypeOf(before_, key, field), TypeOf(after_, other_key, *found), below, place);
    }
    for (const PlannedEnum& values : planned.enums) CompareEnums(values, other, place.path);
    if (out_.source.size() == findings) equal_.insert({key, other_key});
  }

  void CompareTypes(const MemberType& was, const MemberType& is, const std::string& path, const Place& place) {
    const std::string spelled = Spell(before_, was, place.was), now = Spell(after_, is, place.is);
    if (was.before != is.before || was.after != is.after || was.type.path.empty() != is.type.path.empty()) {
      Renamed(path, "its C++ type", spelled, now);
      return;
    }
    if (was.type.path.empty()) return;
    Place below = {ElementPath(was, path), NameOf(before_, was, place.was), NameOf(after_, is, place.is), place.told};
    if (const auto named = named_.find(was.type); named != named_.end()) {  // compared where it is declared
      if (named->second.type != is.type) Renamed(path, "its C++ type", below.was, below.is);
      return;
    }
    // What is around a nested struct may have another name, which is reported there.
    if (was.name != is.name) Renamed(path, "its C++ type", below.was, below.is);
    CompareSharing(was.type, is.type, below);
    CompareStructs(was.type, is.type, below);
  }

  // Finds positions that had one type and have two, and the reverse.
  void CompareSharing(const TypeKey& was, const TypeKey& is, Place& place) {
    const auto [after, first] = became_.try_emplace(was, Match{is, place.path});
    const auto [before, only] = came_from_.try_emplace(is, Match{was, place.path});
    if (place.told) return;
    if (after->second.type != is) {
      Break(place.path, "no longer has the C++ type of " + after->second.path +
                            ", so assignments from one to the other do not compile");
      place.told = true;
    } else if (before->second.type != was) {
      Break(place.path, "has the same C++ type as " + before->second.path +
                            " now, so overloads and specializations for both do not compile");
      place.told = true;
    }
  }

  // "spec.items" -> "spec.items[]": where the members of an element are.
  static std::string ElementPath(const MemberType& type, const std::string& path) {
    std::string out = path;
    for (std::size_t at = 0; (at = type.before.find("kgen::", at)) != std::string::npos; ++at) {
      if (type.before.compare(at, 11, "kgen::List<") == 0) out += "[]";
      if (type.before.compare(at, 10, "kgen::Map<") == 0) out += "[*]";
    }
    return out;
  }

  void CompareEnums(const PlannedEnum& values, const PlannedStruct& other, const std::string& path) {
    const auto found = std::find_if(other.enums.begin(), other.enums.end(),
                                    [&](const PlannedEnum& e) { return e.name == values.name; });
    if (found == other.enums.end()) {
      Break(path, "the constants " + values.name + " are gone");
      return;
    }
    Renamed(path, "the type of the constants " + values.name, values.type, found->type);
    for (const PlannedEnum::Constant& constant : values.constants) {
      const auto same = std::find_if(found->constants.begin(), found->constants.end(),
                                     [&](const auto& c) { return c.value == constant.value; });
      if (same == found->constants.end()) {
        Break(path, "the constant " + values.name + "::" + constant.identifier + " is gone");
      } else {
        Renamed(path, "the constant for " + constant.value, values.name + "::" + constant.identifier,
                values.name + "::" + same->identifier);
      }
    }
  }

  void CompareVersions(const PlannedVersion& version, const PlannedVersion& other) {
    Renamed(version.title, "the namespace", version.group_space + "::" + version.space,
            other.group_space + "::" + other.space);
    Renamed(version.title, "the accessor", version.group_accessor + version.accessor,
            other.group_accessor + other.accessor);
    Renamed(version.title, "the class of its clients", version.client_class, other.client_class);
    Renamed(version.title, "the class of its informers", version.informers_class, other.informers_class);
    for (const PlannedAlias& alias : version.aliases) CompareAlias(version, other, alias);
    for (const PlannedResource& resource : version.resources) {
      const auto found = std::find_if(other.resources.begin(), other.resources.end(),
                                      [&](const PlannedResource& r) { return r.title == resource.title; });
      if (found == other.resources.end()) {
        Break(resource.title + " " + version.version, "the accessor " + resource.accessor + " is gone");
      } else {
        CompareResources(resource.title + " " + version.version, resource, *found);
      }
    }
  }

  void CompareAlias(const PlannedVersion& version, const PlannedVersion& other, const PlannedAlias& alias) {
    const bool kept = std::any_of(other.aliases.begin(), other.aliases.end(),
                                  [&](const PlannedAlias& a) { return a.name == alias.name; });
    if (kept) return;
    const bool replaced = after_.Find({other.title, alias.name}) != nullptr;
    Break(version.title + " " + alias.name,
          "the alias " + alias.name + (replaced ? " is another type now" : " is gone"));
  }

  void CompareResources(const std::string& path, const PlannedResource& was, const PlannedResource& is) {
    Renamed(path, "the accessor", was.accessor, is.accessor);
    Renamed(path, "the class of its client", was.client_class, is.client_class);
    if (was.namespaced != is.namespaced) {
      Break(path, was.accessor + (was.namespaced ? "(namespace) takes no namespace now" : "() takes a namespace now"));
    }
    if (was.list_type != "void") Renamed(path, "the type of its list", was.list_type, is.list_type);
    if (was.has_informer && !is.has_informer) {
      Break(path, was.lister_class + " and " + was.informer_name + " are gone");
    } else if (was.has_informer) {
      Renamed(path, "the class of its lister", was.lister_class, is.lister_class);
      Renamed(path, "the class of its informer", was.informer_name, is.informer_name);
    }
    const std::vector<std::string> verbs = VerbsOf(is.verbs);
    for (const std::string& verb : VerbsOf(was.verbs)) {
      if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) Break(path, "the method " + verb + " is gone");
    }
    for (const PlannedSubresource& subresource : was.subresources) CompareSubresources(path, subresource, is);
  }

  void CompareSubresources(const std::string& path, const PlannedSubresource& was, const PlannedResource& resource) {
    const auto is = std::find_if(resource.subresources.begin(), resource.subresources.end(),
                                 [&](const PlannedSubresource& other) { return other.name == was.name; });
    if (is == resource.subresources.end()) return Break(path, "the subresource " + was.name + " is gone");
    Renamed(path, "the body of the subresource " + was.name, was.body, is->body);
    const std::vector<std::string> verbs = VerbsOf(is->verbs);
    for (const std::string& verb : VerbsOf(was.verbs)) {
      if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
        Break(path, "the method " + verb + " of the subresource " + was.name + " is gone");
      }
    }
  }

  const Side before_, after_;
  model::Differences& out_;
  std::map<TypeKey, Match> named_;               // kinds, lists and named types, by what they were
  std::map<TypeKey, Match> became_, came_from_;  // all others: by what they were, and by what they are
  std::set<std::pair<TypeKey, TypeKey>> equal_;  // pairs without differences
};

}  // namespace

void CompareSource(const Plan& before, const Plan& after, model::Differences& out) {
  SourceDiff(before, after, out).Run();
}

}  // namespace kgen::generator::emit
