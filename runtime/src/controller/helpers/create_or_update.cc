// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/create_or_update.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/caches/kind_cache.h"
#include "core/json/json_value.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "kgen/codec/encode.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/quantity.h"
#include "kgen/core/time.h"

namespace kgen {

std::string_view ToString(OperationResult result) noexcept {
  switch (result) {
    case OperationResult::kUnchanged:
      return "unchanged";
    case OperationResult::kCreated:
      return "created";
    case OperationResult::kUpdated:
      return "updated";
    case OperationResult::kUpdatedStatus:
      return "updatedStatus";
    case OperationResult::kUpdatedStatusOnly:
      return "updatedStatusOnly";
  }
  return "unknown";
}

namespace detail {

Result<void> CheckSameKey(const ObjectKey& before, const ObjectKey& after) {
  if (before == after) return {};
  return Fail(Code::kInvalidArgument, "mutate changed the name or namespace from " + before.str() + " to " +
                                          after.str() + "; another name is another object");
}

namespace {

using Members = std::map<std::string, std::string_view, std::less<>>;
using Elements = std::vector<std::string_view>;

// The type of a JSON value, as far as a table knows it.
struct Type {
  ValueKind kind = ValueKind::kJson;
  const void* detail = nullptr;  // kStruct, kBox: const TypeTable*; kList, kMap: const ValueType* of the element

  Type Member(std::string_view name) const noexcept {
    if (kind == ValueKind::kMap) return Element();
    if (kind != ValueKind::kStruct && kind != ValueKind::kBox) return {};
    const Field* field = static_cast<const TypeTable*>(detail)->Find(name);
    return field != nullptr ? Type{field->kind, field->detail} : Type{};
  }
  Type Element() const noexcept {
    if (kind != ValueKind::kMap && kind != ValueKind::kList) return {};
    const auto& type = *static_cast<const ValueType*>(detail);
    const bool is_struct = type.kind == ValueKind::kStruct || type.kind == ValueKind::kBox;
    return {type.kind, is_struct ? static_cast<const void*>(type.table) : type.element};
  }
};

bool IsObject(std::string_view json) noexcept { return KindOfJson(json) == "an object"; }
bool IsList(std::string_view json) noexcept { return KindOfJson(json) == "a list"; }

// Nothing if it is not an object.
std::optional<Members> MembersOf(std::string_view json) {
  if (!IsObject(json)) return std::nullopt;
  Members members;
  const auto done = ForEachJson(
      json, [&](std::string_view name, std::string_view value) { members.insert_or_assign(std::string(name), value); });
  return done ? std::optional(std::move(members)) : std::nullopt;
}

std::optional<Elements> ElementsOf(std::string_view json) {
  if (!IsList(json)) return std::nullopt;
  Elements elements;
  const auto done = ForEachJson(json, [&](std::string_view, std::string_view value) { elements.push_back(value); });
  return done ? std::optional(std::move(elements)) : std::nullopt;
}

// "" for a member that is not there.
std::string_view At(const Members& members, std::string_view name) {
  const auto found = members.find(name);
  return found != members.end() ? found->second : std::string_view();
}

std::string TextOf(std::string_view json) { return UnquoteJson(json).value_or(std::string(json)); }

// ---- Equality of whole values. ----

template <typename T>
bool SameParsed(std::string_view a, std::string_view b) {
  const Result<T> x = T::Parse(TextOf(a));
  const Result<T> y = T::Parse(TextOf(b));
  return x && y && *x == *y;
}

bool SameScalar(std::string_view a, std::string_view b, Type type) {
  if (a.empty() || b.empty()) return false;
  if (SameJson(a, b)) return true;
  switch (type.kind) {
    case ValueKind::kQuantity:
      return Quantity(TextOf(a)) == Quantity(TextOf(b));
    case ValueKind::kTime:
      return SameParsed<Time>(a, b);
    case ValueKind::kMicroTime:
      return SameParsed<MicroTime>(a, b);
    case ValueKind::kDuration:
      return SameParsed<Duration>(a, b);
    default:
      return false;
  }
}

// Whether two values are the same, defaults and all. An empty list, map or text is the same as none. `additions`:
// objects in `b` may have more members.
bool Same(std::string_view a, std::string_view b, Type type, bool additions = false) {
  const auto is_empty = [](std::string_view json) {
    return json.empty() || json == "[]" || json == "{}" || json == "\"\"";
  };
  const bool may_be_empty =
      type.kind == ValueKind::kList || type.kind == ValueKind::kMap || type.kind == ValueKind::kString;
  if (may_be_empty && is_empty(a) && is_empty(b)) return true;
  if (IsObject(a) && IsObject(b)) {
    const auto x = MembersOf(a);
    const auto y = MembersOf(b);
    if (!x || !y) return false;
    const auto same = [&](const auto& member) {
      return Same(At(*x, member.first), At(*y, member.first), type.Member(member.first), additions);
    };
    return std::ranges::all_of(*x, same) && (additions || std::ranges::all_of(*y, same));
  }
  if (IsList(a) && IsList(b)) {
    const auto x = ElementsOf(a);
    const auto y = ElementsOf(b);
    if (!x || !y) return false;
    return std::ranges::equal(*x, *y, [&](auto i, auto j) { return Same(i, j, type.Element(), additions); });
  }
  return SameScalar(a, b, type);
}

// Appends a value with the members of its objects in the order of their names. It leaves out apiVersion and kind, which
// an object inside of another one has in JSON and not in protobuf.
void AppendSorted(std::string_view json, std::string& out) {
  const char* separator = "";
  if (const auto members = MembersOf(json)) {
    out += '{';
    for (const auto& [name, value] : *members) {
      if (name == "apiVersion" || name == "kind") continue;
      out.append(std::exchange(separator, ",")).append(QuoteJson(name)).append(":");
      AppendSorted(value, out);
    }
    out += '}';
  } else if (const auto elements = ElementsOf(json)) {
    out += '[';
    for (const std::string_view element : *elements) {
      out += std::exchange(separator, ",");
      AppendSorted(element, out);
    }
    out += ']';
  } else {
    out += json;
  }
}

// ---- Fields that are owned: fieldsV1, where "f:name" stands for a member, "k:{...}" for the element of a list with
// these keys, "v:..." for an element of that value, and "." for the value itself. ----

// Without ".", which any of the others implies.
std::optional<Members> ChildrenOf(std::string_view owned) {
  auto children = MembersOf(owned);
  if (children) children->erase(".");
  return children;
}

// The values that are owned as a whole and have more members than were applied, of one object, in the order in which
// they are compared. Nobody can tell by the object itself whether the server has added a member, as a default for
// instance, or the manager has applied it before and wants it no longer.
class Additions {
 public:
  void AddNone() { text_ += '\n'; }
  void Add(std::string_view cached) {
    AppendSorted(cached, text_);
    text_ += '\n';
    any_ = true;
  }
  bool any() const noexcept { return any_; }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;  // a line for each whole value, empty if nothing was added to it
  bool any_ = false;
};

bool IsApplied(std::string_view wanted, std::string_view cached, std::string_view owned, Type type,
               Additions& additions);

bool WholeIsApplied(std::string_view wanted, std::string_view cached, Type type, Additions& additions) {
  if (Same(wanted, cached, type)) return additions.AddNone(), true;
  if (!Same(wanted, cached, type, /*additions=*/true)) return false;
  additions.Add(cached);
  return true;
}

// Whether the children of `owned` are the members of `wanted`, with the same values.
bool MembersAreApplied(const Members& wanted, const Members& cached, const Members& owned, Type type,
                       Additions& additions) {
  if (wanted.size() != owned.size()) return false;
  return std::ranges::all_of(wanted, [&](const auto& member) {
    const auto& [name, value] = member;
    const auto child = owned.find("f:" + name);
    return child != owned.end() && IsApplied(value, At(cached, name), child->second, type.Member(name), additions);
  });
}

// Whether an element has the keys of "k:{...}", or the value of "v:...". With `owned`, the fields of this element that
// the manager has applied, it may lack a key that is not among them: then it has been applied without, and the server
// has filled in the default.
bool IsElement(std::string_view element, std::string_view path, const Members* owned = nullptr) {
  if (path.starts_with("v:")) return SameJson(element, path.substr(2));
  if (!path.starts_with("k:")) return false;
  const auto keys = MembersOf(path.substr(2));
  const auto members = MembersOf(element);
  return keys && members && std::ranges::all_of(*keys, [&](const auto& key) {
           const std::string_view value = At(*members, key.first);
           if (value.empty()) return owned != nullptr && !owned->contains("f:" + key.first);
           return SameJson(value, key.second);
         });
}

bool ElementsAreApplied(const Elements& wanted, const Elements& cached, const Members& owned, Type type,
                        Additions& additions) {
  if (wanted.size() != owned.size()) return false;
  Members left = owned;
  auto next = cached.begin();
  for (const std::string_view element : wanted) {
    const auto child = std::ranges::find_if(left, [&](const auto& each) {
      const auto fields = ChildrenOf(each.second);
      return IsElement(element, each.first, fields ? &*fields : nullptr);
    });
    if (child == left.end()) return false;
    const auto found = std::find_if(next, cached.end(), [&](auto each) { return IsElement(each, child->first); });
    if (found == cached.end()) return false;
    const bool whole = child->first.starts_with("v:");
    if (!whole && !IsApplied(element, *found, child->second, type, additions)) return false;
    next = found + 1;
    left.erase(child);
  }
  return true;
}

bool IsApplied(std::string_view wanted, std::string_view cached, std::string_view owned, Type type,
               Additions& additions) {
  if (wanted == "null") return false;
  const auto children = ChildrenOf(owned);
  if (!children) return false;
  if (children->empty()) return WholeIsApplied(wanted, cached, type, additions);
  if (const auto members = MembersOf(wanted)) {
    const auto has = MembersOf(cached);
    return has && MembersAreApplied(*members, *has, *children, type, additions);
  }
  const auto elements = ElementsOf(wanted);
  const auto has = ElementsOf(cached);
  return elements && has && ElementsAreApplied(*elements, *has, *children, type.Element(), additions);
}

// fieldsV1 of what the manager has applied, or "" if it cannot be told.
std::string_view FieldsOf(const meta::v1::ObjectMeta& object, std::string_view manager, std::string_view api_version) {
  std::string_view fields;
  for (const meta::v1::ManagedFieldsEntry& entry : object.managedFields) {
    if (entry.manager != manager || entry.operation != "Apply" || !entry.subresource.empty()) continue;
    if (!fields.empty() || entry.apiVersion != api_version || entry.fieldsType != "FieldsV1") return {};
    fields = entry.fieldsV1.text();
  }
  return fields;
}

const meta::v1::ObjectMeta& MetadataOf(const void* object, const TypeTable& table) {
  return *reinterpret_cast<const meta::v1::ObjectMeta*>(static_cast<const char*>(object) + table.metadata_offset);
}

// Whether the manager owns exactly what is in `wanted_json`, and with these values, but for `additions`.
bool IsApplied(std::string_view wanted_json, const void* cached, const TypeTable& table, std::string_view manager,
               Additions& additions) {
  std::string cached_json;
  EncodeStruct(cached, table, cached_json);
  auto members = MembersOf(wanted_json);
  const auto has = MembersOf(cached_json);
  if (!members || !has) return false;
  auto owned = ChildrenOf(FieldsOf(MetadataOf(cached, table), manager, TextOf(At(*members, "apiVersion"))));
  if (!owned) return false;

  // The server records no owner of what identifies the object.
  auto wanted_meta = MembersOf(At(*members, "metadata"));
  const auto cached_meta = MembersOf(At(*has, "metadata"));
  const auto owned_meta = owned->contains("f:metadata") ? ChildrenOf(At(*owned, "f:metadata")) : Members();
  if (!wanted_meta || !cached_meta || !owned_meta) return false;
  for (const char* name : {"name", "namespace"}) wanted_meta->erase(name);
  for (const char* name : {"apiVersion", "kind", "metadata"}) members->erase(name);
  owned->erase("f:metadata");
  return MembersAreApplied(*wanted_meta, *cached_meta, *owned_meta, {ValueKind::kStruct, &meta::v1::ObjectMeta::kTable},
                           additions) &&
         MembersAreApplied(*members, *has, *owned, {ValueKind::kStruct, &table}, additions);
}

// The lines of an exchange, see AppliedAnswers. JSON of an encoder has no line breaks.
std::string OwnerOf(const void* object, const TypeTable& table, std::string_view manager) {
  return MetadataOf(object, table).uid.str() + '\n' + std::string(manager);
}
std::string ExchangeOf(std::string_view owner, std::string_view wanted_json, const Additions& additions) {
  return std::string(owner).append("\n").append(wanted_json).append("\n").append(additions.text());
}

}  // namespace

bool AlreadyApplied(const void* wanted, const void* cached, const TypeTable& table, std::string_view manager,
                    const Caches* caches) {
  std::string wanted_json;
  EncodeStruct(wanted, table, wanted_json);
  Additions additions;
  if (!IsApplied(wanted_json, cached, table, manager, additions)) return false;
  if (!additions.any()) return true;
  if (caches == nullptr) return false;
  const std::string owner = OwnerOf(cached, table, manager);
  return caches->state()->applied_answers().Has(owner, ExchangeOf(owner, wanted_json, additions));
}

void RememberApplied(const void* wanted, const void* answer, const TypeTable& table, std::string_view manager,
                     const Caches& caches) {
  std::string wanted_json;
  EncodeStruct(wanted, table, wanted_json);
  Additions additions;
  if (!IsApplied(wanted_json, answer, table, manager, additions) || !additions.any()) return;
  const std::string owner = OwnerOf(answer, table, manager);
  caches.state()->applied_answers().Add(owner, ExchangeOf(owner, wanted_json, additions));
}

}  // namespace detail
}  // namespace kgen
