// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/field_path.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "core/blocks.h"
#include "core/quoted.h"
#include "kgen/core/function.h"

namespace kgen {
namespace {

// One part of a path as written: a name, or the key of ['key'].
struct Token {
  std::string text;
  bool is_key = false;
};

using detail::Quoted;

std::unexpected<Error> Bad(std::string_view path, const std::string& why) {
  return Fail(Code::kInvalidArgument, "field path " + Quoted(path) + ": " + why);
}

Result<std::vector<Token>> Split(std::string_view path) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < path.size()) {
    if (path[at] == '[') {
      const char quote = at + 1 < path.size() ? path[at + 1] : '\0';
      if (quote != '\'' && quote != '"') return Bad(path, "'[' is followed by a quoted key, as in ['app']");
      const std::size_t end = path.find(quote, at + 2);
      if (end == std::string_view::npos || end + 1 == path.size() || path[end + 1] != ']') {
        return Bad(path, "a key ends with its quote and ']'");
      }
      if (tokens.empty()) return Bad(path, "a quoted key must follow a field");
      tokens.push_back({std::string(path.substr(at + 2, end - at - 2)), true});
      at = end + 2;
    } else {
      if (!tokens.empty() && path[at++] != '.') return Bad(path, "'.' or '[' is missing after a key");
      const std::size_t end = std::min(path.find_first_of(".[", at), path.size());
      if (end == at) return Bad(path, "a field name is missing at byte " + std::to_string(at));
      tokens.push_back({std::string(path.substr(at, end - at)), false});
      at = end;
    }
  }
  if (tokens.empty()) return Bad(path, "it is empty");
  return tokens;
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string NoSuchField(std::string_view name, const TypeTable& table) {
  std::string message = Quoted(name) + " is not a field of " + table.name;
  const Field* nearest = std::min_element(table.begin(), table.end(), [&](const Field& a, const Field& b) {
    return EditDistance(name, a.wire_name()) < EditDistance(name, b.wire_name());
  });
  if ((table.flags & kProjection) != 0) message += ", which is a part of a type: add the member to the projection";
  if (nearest != table.end()) message += "; the nearest is " + Quoted(nearest->wire_name());
  return message;
}

template <typename T>
String Number(T value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string_view(buffer, static_cast<std::size_t>(end - buffer));
}

using Sink = Function<void(const String&)>;

// Emits the text of a value of one of the text types, if it is set.
void EmitText(const void* value, ValueKind kind, const Sink& sink) {
  if (!detail::ValueIsSet(value, kind)) return;
  switch (kind) {
    case ValueKind::kTime:
      return sink(static_cast<const Time*>(value)->str());
    case ValueKind::kMicroTime:
      return sink(static_cast<const MicroTime*>(value)->str());
    case ValueKind::kIntOrString:
      return sink(static_cast<const IntOrString*>(value)->str());
    case ValueKind::kQuantity:
      return sink(static_cast<const Quantity*>(value)->text());
    case ValueKind::kString:
    case ValueKind::kDuration:
    case ValueKind::kBytes:
      return sink(*static_cast<const String*>(value));
    default:
      return;
  }
}

void EmitMember(const void* member, ValueKind kind, const Sink& sink) {
  const auto emit = [&]<typename T>(const Optional<T>& value) {
    if (value.has_value()) sink(Number(*value));
  };
  switch (kind) {
    case ValueKind::kBool:
      if (const auto& value = *static_cast<const Optional<bool>*>(member); value.has_value())
        sink(*value ? "true" : "false");
      return;
    case ValueKind::kInt32:
      return emit(*static_cast<const Optional<std::int32_t>*>(member));
    case ValueKind::kInt64:
      return emit(*static_cast<const Optional<std::int64_t>*>(member));
    case ValueKind::kDouble:
      return emit(*static_cast<const Optional<double>*>(member));
    default:
      return EmitText(member, kind, sink);
  }
}

void EmitValue(const void* value, ValueKind kind, const Sink& sink) {
  switch (kind) {
    case ValueKind::kBool:
      return sink(*static_cast<const bool*>(value) ? "true" : "false");
    case ValueKind::kInt32:
      return sink(Number(*static_cast<const std::int32_t*>(value)));
    case ValueKind::kInt64:
      return sink(Number(*static_cast<const std::int64_t*>(value)));
    case ValueKind::kDouble:
      return sink(Number(*static_cast<const double*>(value)));
    default:
      return EmitText(value, kind, sink);
  }
}

bool IsContainer(ValueKind kind) { return kind == ValueKind::kList || kind == ValueKind::kMap; }

// The current value of a walk; `object` is null for an absent struct.
struct Place {
  const void* at;
  ValueKind kind;
  bool is_member;
  const TypeTable* table;    // of a struct or box
  const ValueType* element;  // of a list or map

  const void* object() const {
    if (kind == ValueKind::kStruct) return at;
    const detail::BoxBlock* box = detail::BoxOf(at);
    return box != nullptr ? box->object() : nullptr;
  }
};

Place PlaceOf(const void* value, const ValueType& type) { return {value, type.kind, false, type.table, type.element}; }

Place PlaceOf(const void* object, const Field& field) {
  const bool container = IsContainer(field.kind);
  return {detail::MemberOf(object, field), field.kind, true, container ? nullptr : field.table(),
          container ? field.element() : nullptr};
}

}  // namespace

Result<ResolvedPath> ResolvedPath::Resolve(const FieldPath& path, const TypeTable& table) {
  auto tokens = Split(path.text());
  if (!tokens) return Fail(std::move(tokens).error());
  ResolvedPath resolved;
  const TypeTable* in = &table;         // the struct that the next name is looked up in, or null
  ValueKind kind = ValueKind::kStruct;  // of the value reached
  const ValueType* element = nullptr;   // of the list or map reached
  // Steps into a list's or map's elements.
  const auto enter = [&](const Token* key) {
    resolved.steps_.push_back({.element = element, .key = key != nullptr ? key->text : "", .has_key = key != nullptr});
    kind = element->kind;
    in = kind == ValueKind::kStruct || kind == ValueKind::kBox ? element->table : nullptr;
    element = IsContainer(kind) ? element->element : nullptr;
  };
  for (const Token& token : *tokens) {
    if (token.is_key) {
      while (kind == ValueKind::kList) enter(nullptr);
      if (kind != ValueKind::kMap)
        return Bad(path.text(), "['" + token.text + "'] follows something that is not a map");
      enter(&token);
      continue;
    }
    while (IsContainer(kind)) enter(nullptr);
    if (in == nullptr) return Bad(path.text(), Quoted(token.text) + " follows something that has no fields");
    const Field* field = in->Find(token.text);
    if (field == nullptr) return Bad(path.text(), NoSuchField(token.text, *in));
    resolved.steps_.push_back({.field = field});
    kind = field->kind;
    element = IsContainer(kind) ? field->element() : nullptr;
    in = kind == ValueKind::kStruct || kind == ValueKind::kBox ? field->table() : nullptr;
  }
  while (IsContainer(kind)) enter(nullptr);
  return resolved;
}

namespace {

template <typename Steps>
void Walk(const Place& place, const Steps& steps, std::size_t next, const Sink& sink) {
  if (next == steps.size()) {
    return place.is_member ? EmitMember(place.at, place.kind, sink) : EmitValue(place.at, place.kind, sink);
  }
  const auto& step = steps[next];
  if (step.field != nullptr) {
    if (const void* object = place.object(); object != nullptr) {
      Walk(PlaceOf(object, *step.field), steps, next + 1, sink);
    }
  } else if (place.kind == ValueKind::kList) {
    const detail::ListBlock* list = detail::ListOf(place.at);
    for (std::uint32_t i = 0; list != nullptr && i < list->word; ++i) {
      Walk(PlaceOf(detail::ElementAt(list, i, *step.element), *step.element), steps, next + 1, sink);
    }
  } else if (const detail::MapBlock* map = detail::MapOf(place.at); map != nullptr && step.has_key) {
    const void* entry = detail::MapFind(const_cast<detail::MapBlock*>(map), step.key, *step.element);
    if (entry != nullptr) Walk(PlaceOf(detail::ValueOf(entry), *step.element), steps, next + 1, sink);
  } else {
    for (std::size_t i = 0; i < detail::MapSize(map); ++i) {
      const void* entry = detail::MapEntryAt(map, i, *step.element);
      Walk(PlaceOf(detail::ValueOf(entry), *step.element), steps, next + 1, sink);
    }
  }
}

}  // namespace

void ResolvedPath::Visit(const void* object, const Sink& sink) const {
  Walk({object, ValueKind::kStruct, false, nullptr, nullptr}, steps_, 0, sink);
}

}  // namespace kgen
