// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "kgen/codec/encode.h"

#include "codec/encode_rest.h"
#include "codec/spelling.h"
#include "codec/text_writer.h"
#include "core/access.h"
#include "core/blocks.h"
#include "core/json/number.h"

namespace kgen {

namespace {

using detail::KeyOf;
using detail::ListOf;
using detail::MapOf;
using detail::ValueOf;

// Walks a table and a value in parallel. Recursion is as deep as the value; decoded values are limited by the decoder.
class Encoder {
 public:
  explicit Encoder(codec::TextWriter& out) noexcept : out_(out) {}

  // `kind` is the kind whose apiVersion and kind are written first, or null.
  void Struct(const void* object, const TypeTable& table, const KindInfo* kind) {
    const std::size_t start = out_.size();
    out_.Char('{');
    if (kind != nullptr) Identity(*kind, table);
    const std::size_t body = out_.size();
    const bool extras =
        table.unknown_offset != TypeTable::kNoUnknown && detail::UnknownWord(detail::UnknownOf(object, table)) != 0;
    const detail::ListBlock* list =
        extras ? detail::UnknownList(detail::UnknownWord(detail::UnknownOf(object, table))) : nullptr;
    if (list != nullptr && list->hidden != 0) {
      MembersWithNotes(object, table, list, [](const Field&) { return true; });
    } else {
      for (const Field& field : table) Member(detail::MemberOf(object, field), field, table);
    }
    if (extras) {
      const UnknownFields& unknown = detail::UnknownOf(object, table);
      if (unknown.size() == 1 && !unknown.begin()->name.has_value() && out_.size() == body) {
        // An element that was not an object, and in which nothing was set (interpreter.h), is written as received.
        out_.Truncate(start);
        return out_.Raw(unknown.begin()->value.text());
      }
      detail::ForEachSentNull(object, table, [this](const Field& field) {
        Name(field);
        Null();
      });
      Unknown(unknown, object, table, kind != nullptr);
    }
    out_.Char('}');
  }

  // Writes the members that `take` selects, the unknown fields and the nulls.
  void Rest(const void* object, const TypeTable& table, const KindInfo* kind,
            const std::function<bool(const Field&)>& take) {
    const UnknownFields& unknown = detail::UnknownOf(object, table);
    out_.Char('{');
    if (kind != nullptr) Identity(*kind, table);
    MembersWithNotes(object, table, detail::UnknownList(detail::UnknownWord(unknown)), take);
    detail::ForEachSentNull(object, table, [this](const Field& field) {
      Name(field);
      Null();
    });
    Unknown(unknown, object, table, kind != nullptr);
    out_.Char('}');
  }

  // Writes a bare value, that is, an element of a list or map. `kind` is as for Struct().
  void Value(const void* value, const ValueType& type, const KindInfo* kind) {
    switch (type.kind) {
      case ValueKind::kBool:
        return Bool(*static_cast<const bool*>(value));
      case ValueKind::kInt32:
        return Integer(*static_cast<const std::int32_t*>(value));
      case ValueKind::kInt64:
        return Integer(*static_cast<const std::int64_t*>(value));
      case ValueKind::kDouble:
        return Double(*static_cast<const double*>(value));
      case ValueKind::kStruct:
        return Struct(value, *type.table, kind);
      case ValueKind::kBox:
        return Null();  // no list or map has elements of that kind
      case ValueKind::kList:
        return ListOf(value) != nullptr ? List(ListOf(value), *type.element, nullptr) : Null();
      case ValueKind::kMap:
        return MapOf(value) != nullptr ? Map(MapOf(value), *type.element) : Null();
      default:
        return detail::ValueIsSet(value, type.kind) ? Text(value, type.kind) : Null();
    }
  }

 private:
  // Writes apiVersion and kind, unless the table has members of these names (Unstructured).
  void Identity(const KindInfo& kind, const TypeTable& table) {
    if (table.Find("apiVersion") == nullptr) {
      out_.Name("apiVersion", 10);
      out_.Char('"');
      if (!kind.group.empty()) {
        out_.Raw(kind.group);
        out_.Char('/');
      }
      out_.Raw(kind.version);
      out_.Char('"');
    }
    if (table.Find("kind") == nullptr) {
      out_.Name("kind", 4);
      out_.Quoted(kind.kind);
    }
  }

  // Tests for presence first, because most members of most objects are absent.
  void Member(const void* member, const Field& field, const TypeTable& owner) {
    switch (field.kind) {
      case ValueKind::kBool:
        if (const auto& v = *static_cast<const Optional<bool>*>(member); v.has_value()) {
          Name(field);
          Bool(*v);
        }
        return;
      case ValueKind::kInt32:
        if (const auto& v = *static_cast<const Optional<std::int32_t>*>(member); v.has_value()) {
          Name(field);
          Integer(*v);
        }
        return;
      case ValueKind::kInt64:
        if (const auto& v = *static_cast<const Optional<std::int64_t>*>(member); v.has_value()) {
          Name(field);
          Integer(*v);
        }
        return;
      case ValueKind::kDouble:
        if (const auto& v = *static_cast<const Optional<double>*>(member); v.has_value()) {
          Name(field);
          Double(*v);
        }
        return;
      case ValueKind::kStruct:
        if (detail::IsEmptyStruct(member, *field.table())) return;
        Name(field);
        return Struct(member, *field.table(), nullptr);
      case ValueKind::kBox: {
        const detail::BoxBlock* box = detail::BoxOf(member);
        if (box == nullptr || (box->word != 0 && !detail::BoxHasValue(box, *field.table()))) return;
        Name(field);
        return Struct(box->object(), *field.table(), nullptr);
      }
      case ValueKind::kList:
        if (ListOf(member) == nullptr) return;
        Name(field);
        return List(ListOf(member), *field.element(), &owner);
      case ValueKind::kMap:
        if (MapOf(member) == nullptr || !detail::MemberIsPresent(member, field)) return;
        Name(field);
        return Map(MapOf(member), *field.element());
      default:
        if (!detail::ValueIsSet(member, field.kind)) return;
        Name(field);
        return Text(member, field.kind);
    }
  }

  // Writes the members, and numbers with another spelling as they were received. Their notes are in the order of the
  // members. `list` may be null.
  template <typename Take>
  void MembersWithNotes(const void* object, const TypeTable& table, const detail::ListBlock* list, const Take& take) {
    const auto* note = list != nullptr ? static_cast<const UnknownField*>(list->elements()) : nullptr;
    const UnknownField* const end = list != nullptr ? note + list->hidden : nullptr;
    for (const Field& field : table) {
      if (!take(field)) continue;
      const void* member = detail::MemberOf(object, field);
      const Field* noted = nullptr;
      for (; note != end; ++note) {
        noted = note->name == "null" ? nullptr : detail::NotedMember(*note, table);
        if (noted != nullptr && noted >= &field) break;
      }
      if (note != end && noted == &field && codec::IsSpelling(note->name, member, field)) {
        Name(field);
        out_.Raw(note->name);
      } else {
        Member(member, field, table);
      }
    }
  }

  // Writes unknown members as they were received, except those that now have a value.
  void Unknown(const UnknownFields& unknown, const void* object, const TypeTable& table, bool has_identity) {
    for (const UnknownField& field : unknown) {
      if (!field.name.has_value() || detail::IsReplaced(field, object, table)) continue;
      if (has_identity && (field.name == "apiVersion" || field.name == "kind")) continue;
      if (out_.last() != '{') out_.Char(',');
      out_.Quoted(field.name);
      out_.Char(':');
      out_.Raw(field.value.text());
    }
  }

  void List(const detail::ListBlock* list, const ValueType& type, const TypeTable* owner) {
    const bool items = owner != nullptr && type.kind == ValueKind::kStruct && type.table->kind != nullptr &&
                       type.table->kind->list == owner;
    out_.Char('[');
    for (std::size_t i = 0; i < list->word; ++i) {
      if (i != 0) out_.Char(',');
      Value(detail::ElementAt(list, i, type), type, items ? type.table->kind : nullptr);
    }
    out_.Char(']');
  }

  void Map(const detail::MapBlock* map, const ValueType& type) {
    out_.Char('{');
    const std::size_t size = detail::MapSize(map);
    for (std::size_t i = 0; i < size; ++i) {
      if (!detail::MapEntryCounts(map, i, type)) continue;
      const void* entry = detail::MapEntryAt(map, i, type);
      if (out_.last() != '{') out_.Char(',');
      out_.Quoted(KeyOf(entry));
      out_.Char(':');
      Value(ValueOf(entry), type, nullptr);
    }
    out_.Char('}');
  }

  // Writes a value of a type that has its own unset state. The value must be set.
  void Text(const void* value, ValueKind kind) {
    switch (kind) {
      case ValueKind::kTime:
        return Time(detail::TimeAccess::Word(*static_cast<const kgen::Time*>(value)), detail::TimePrecision::kSeconds);
      case ValueKind::kMicroTime:
        return Time(detail::TimeAccess::Word(*static_cast<const MicroTime*>(value)),
                    detail::TimePrecision::kMicroseconds);
      case ValueKind::kIntOrString: {
        const auto& v = *static_cast<const IntOrString*>(value);
        return v.is_int() ? out_.Raw(v.str()) : out_.Quoted(v.string_value());
      }
      case ValueKind::kDuration:
        return out_.Quoted(static_cast<const Duration*>(value)->text());
      case ValueKind::kQuantity: {
        const auto& v = *static_cast<const Quantity*>(value);
        return v.is_number() ? out_.Raw(v.text()) : out_.Quoted(v.text());
      }
      case ValueKind::kBytes:
        return out_.Quoted(static_cast<const Bytes*>(value)->base64());
      case ValueKind::kJson:
        return out_.Raw(static_cast<const Json*>(value)->text());
      default:
        return out_.Quoted(*static_cast<const String*>(value));
    }
  }

  void Time(const detail::TimeWord& word, detail::TimePrecision precision) {
    if (const detail::TextBlock* block = word.block(); block != nullptr) return out_.Quoted(block->view());
    out_.Quoted(word.Text(precision));
  }

  void Name(const Field& field) { out_.Name(field.name, field.name_size); }
  void Bool(bool value) { out_.Raw(value ? "true" : "false"); }
  void Null() { out_.Raw("null"); }
  void Integer(std::int64_t value) { out_.Advance(detail::WriteInteger(value, out_.Reserve(detail::kNumberRoom))); }
  void Double(double value) { out_.Advance(detail::WriteDouble(value, out_.Reserve(detail::kNumberRoom))); }

  codec::TextWriter& out_;
};

}  // namespace

namespace detail {

void EncodeStruct(const void* object, const TypeTable& table, std::string& out) {
  codec::TextWriter writer;
  Encoder(writer).Struct(object, table, table.kind);
  writer.AppendTo(out);
}

void EncodeValue(const void* value, const ValueType& type, std::string& out) {
  codec::TextWriter writer;
  Encoder(writer).Value(value, type, nullptr);
  writer.AppendTo(out);
}

}  // namespace detail

namespace codec {

void EncodeRest(const void* object, const TypeTable& table, const KindInfo* kind,
                const std::function<bool(const Field&)>& take, std::string& out) {
  TextWriter writer;
  Encoder(writer).Rest(object, table, kind, take);
  writer.AppendTo(out);
}

}  // namespace codec

std::string Encode(const AnyRef& object) {
  std::string out;
  if (!object) return "null";
  detail::EncodeStruct(object.object(), object.table(), out);
  return out;
}

}  // namespace kgen
