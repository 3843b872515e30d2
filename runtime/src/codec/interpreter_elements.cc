// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Lists and maps: elements are decoded on the arena and then moved into a block of exactly their size.
#include <limits>
#include <utility>

#include "codec/interpreter.h"
#include "core/access.h"
#include "kgen/core/object_meta.h"

namespace kgen::codec {

// `owner`: the table of the object whose direct member this is, or null.
Interpreter::Outcome Interpreter::List(detail::ListBlock*& list, const ValueType& type, const TypeTable* owner) {
  const Position start = Here();
  // The items of a kind's list carry the kind's apiVersion and kind, or nothing. Elsewhere a kind inside an object (a
  // volume claim template) keeps those members like any others.
  const bool items = owner != nullptr && type.kind == ValueKind::kStruct && type.table->kind != nullptr &&
                     type.table->kind->list == owner;
  Elements elements(arena_, type, false);
  Step step{path_, {}, 0, Step::Kind::kIndex};
  path_ = &step;
  const Outcome outcome = ListElements(elements, type, items ? Place::kItem : Place::kPlain, step);
  path_ = step.up;
  field_ = nullptr;
  if (outcome == Outcome::kOk) {
    const std::size_t count = elements.count();
    list = detail::NewListFrom(elements.Take(), count, type);
    if (respelled_ != nullptr) respelled_ = start.p;
  } else if (outcome == Outcome::kMismatch) {
    Return(start);
  }
  return outcome;
}

Interpreter::Outcome Interpreter::ListElements(Elements& elements, const ValueType& type, Place place, Step& step) {
  const bool entries = std::exchange(at_entries_, false);
  if (entries) {
    same_entries_ = 0;
    for (std::size_t i = 0; i < MemberSlots::kEntries; ++i) trace_->now[trace_->slots.OfEntries() + i] = {};
  }
  if (!reader_.Enter()) return Broken();
  if (reader_.Peek() != ']') {
    for (;;) {
      field_ = nullptr;
      void* const element = elements.Append();
      const Outcome outcome = entries && step.index < MemberSlots::kEntries
                                  ? ManagedFieldsEntry(element, type, step.index)
                                  : Element(element, type, place);
      if (outcome != Outcome::kOk) return outcome;
      const char c = reader_.Peek();
      if (c == ']') break;
      if (c != ',') return Broken("expected ',' or ']'");
      reader_.Skip();
      ++step.index;
    }
  }
  reader_.Skip();
  reader_.Leave();
  return Outcome::kOk;
}

// If the earlier object has the same entry, at any position, copies it from there, which shares its text.
Interpreter::Outcome Interpreter::ManagedFieldsEntry(void* element, const ValueType& type, std::size_t index) {
  if (reader_.Peek() != '{') return Element(element, type, Place::kPlain);
  const std::size_t first = trace_->slots.OfEntries();
  MemberHash& now = trace_->now[first + index];
  for (std::size_t i = 0; i < MemberSlots::kEntries; ++i) {
    const std::size_t place = (index + i) % MemberSlots::kEntries;  // most are still in the same place
    if (!FindEarlier(first + place)) continue;
    const auto& metadata = *static_cast<const meta::v1::ObjectMeta*>(
        static_cast<const void*>(static_cast<const char*>(trace_->before) + top_->metadata_offset));
    if (place >= metadata.managedFields.size()) break;
    same_entries_ += place == index;
    *static_cast<meta::v1::ManagedFieldsEntry*>(element) = metadata.managedFields[place];
    return TakeEarlier(now, first + place);
  }
  const char* const start = reader_.position();
  const std::size_t members = reader_.members();
  const Outcome outcome = Element(element, type, Place::kPlain);
  if (outcome == Outcome::kOk) {
    now = Hashed({start, static_cast<std::size_t>(reader_.position() - start)}, reader_.members() - members);
  }
  return outcome;
}

Interpreter::Outcome Interpreter::Map(detail::MapBlock*& map, const ValueType& type) {
  const Position start = Here();
  Elements entries(arena_, type, true);
  Step step{path_, {}, 0, Step::Kind::kKey};
  path_ = &step;
  bool nulls = false;
  const Outcome outcome = MapEntries(entries, type, step, nulls);
  path_ = step.up;
  field_ = nullptr;
  if (outcome == Outcome::kOk) {
    const std::size_t count = entries.count();
    if (respelled_ != nullptr) respelled_ = start.p;
    map = detail::NewPackedMapFrom(entries.Take(), count, type);
    if (nulls) detail::KeepNulls(map, type);
    if (options_.strict && map->word != count) {
      return Refuse(Path() + ": duplicate key", reader_.OffsetOf(start.p));
    }
  } else if (outcome == Outcome::kMismatch) {
    Return(start);
  }
  return outcome;
}

Interpreter::Outcome Interpreter::MapEntries(Elements& entries, const ValueType& type, Step& step, bool& nulls) {
  if (!reader_.Enter()) return Broken();
  if (reader_.Peek() != '}') {
    for (;;) {
      std::string_view key;
      field_ = nullptr;
      if (!reader_.Key(key)) {
        path_ = step.up;
        return Broken();
      }
      void* entry = entries.Append();
      SetText(detail::KeyOf(entry), key, false);
      step.name = detail::KeyOf(entry);
      nulls |= reader_.Peek() == 'n';
      const Outcome outcome = Element(detail::ValueOf(entry), type, Place::kPlain);
      if (outcome != Outcome::kOk) return outcome;
      const char c = reader_.Peek();
      if (c == '}') break;
      if (c != ',') return Broken("expected ',' or '}'");
      reader_.Skip();
    }
  }
  reader_.Skip();
  reader_.Leave();
  return Outcome::kOk;
}

// Decodes into a default value.
Interpreter::Outcome Interpreter::Element(void* element, const ValueType& type, Place place) {
  const char c = reader_.Peek();
  if (c == 'n') return NullElement(element, type);
  switch (type.kind) {
    case ValueKind::kBool:
      return Bool(*static_cast<bool*>(element), c);
    case ValueKind::kInt32: {
      using Limits = std::numeric_limits<std::int32_t>;
      std::int64_t value = 0;
      const Outcome outcome = Integer(value, Limits::min(), Limits::max(), c);
      *static_cast<std::int32_t*>(element) = static_cast<std::int32_t>(value);
      return outcome;
    }
    case ValueKind::kInt64: {
      using Limits = std::numeric_limits<std::int64_t>;
      return Integer(*static_cast<std::int64_t*>(element), Limits::min(), Limits::max(), c);
    }
    case ValueKind::kDouble:
      return Double(*static_cast<double*>(element), c);
    case ValueKind::kString:
      return Text(*static_cast<String*>(element), false, c);
    case ValueKind::kTime:
      return TimeText(detail::TimeAccess::Word(*static_cast<Time*>(element)), detail::TimePrecision::kSeconds, c);
    case ValueKind::kMicroTime:
      return TimeText(detail::TimeAccess::Word(*static_cast<MicroTime*>(element)), detail::TimePrecision::kMicroseconds,
                      c);
    case ValueKind::kDuration:
      return DurationText(*static_cast<Duration*>(element), c);
    case ValueKind::kQuantity:
      return QuantityText(*static_cast<Quantity*>(element), c);
    case ValueKind::kIntOrString:
      return IntOrText(*static_cast<IntOrString*>(element), c);
    case ValueKind::kBytes:
      return Base64(*static_cast<Bytes*>(element), c);
    case ValueKind::kJson:
      return Raw(*static_cast<Json*>(element));
    case ValueKind::kStruct:
      return StructElement(element, type, place, c);
    case ValueKind::kBox:
      break;  // no list or map has elements of that kind
    case ValueKind::kList:
      return c == '[' ? List(detail::ListOf(element), *type.element, nullptr) : Mismatch("a list");
    case ValueKind::kMap:
      return c == '{' ? Map(detail::MapOf(element), *type.element) : Mismatch("an object");
  }
  return BadTable();
}

Interpreter::Outcome Interpreter::StructElement(void* element, const ValueType& type, Place place, char c) {
  const Position start = Here();
  const Outcome outcome = c == '{' ? Struct(element, *type.table, place) : Mismatch("an object");
  if (outcome != Outcome::kMismatch) return outcome;
  if (options_.strict) return Refuse(pending_.path + ": " + pending_.message, pending_.offset);
  Return(start);
  respelled_ = nullptr;
  detail::ResetStruct(element, *type.table);
  ++mismatches_;
  if (options_.mismatches != nullptr) options_.mismatches->push_back(std::move(pending_));
  return KeepElement(element, type);
}

// Null becomes the unset state of types that have one. A bare number has none, so null is a mismatch of the whole list
// or map.
Interpreter::Outcome Interpreter::NullElement(void* element, const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBool:
      return Mismatch("a boolean");
    case ValueKind::kInt32:
    case ValueKind::kInt64:
      return Mismatch("an integer");
    case ValueKind::kDouble:
      return Mismatch("a number");
    case ValueKind::kJson:
      return Raw(*static_cast<Json*>(element));
    case ValueKind::kStruct:
      return KeepElement(element, type);
    default:
      return reader_.Literal("null") ? Outcome::kOk : Broken();
  }
}

// Keeps the text of an element that is not an object; see the top of interpreter.h.
Interpreter::Outcome Interpreter::KeepElement(void* element, const ValueType& type) {
  std::string_view raw;
  if (!reader_.SkipValue(raw)) return Broken();
  detail::UnknownOf(element, *type.table).Append(String(), RawText(raw));
  return Outcome::kOk;
}

}  // namespace kgen::codec
