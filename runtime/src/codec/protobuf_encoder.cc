// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/protobuf_encoder.h"

#include <bit>
#include <chrono>
#include <cstring>

#include "codec/protobuf_envelope.h"
#include "codec/protobuf_wire.h"
#include "codec/text_writer.h"
#include "core/access.h"
#include "core/blocks.h"
#include "kgen/core/json.h"
#include "kgen/core/optional.h"
#include "kgen/core/unknown_fields.h"

namespace kgen::codec {
namespace {

constexpr std::size_t kLongestVarint = 10;

// Writes to `to`, and returns the end.
char* PutVarint(std::uint64_t value, char* to) noexcept {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

char* PutTag(std::uint32_t number, WireType type, char* to) noexcept {
  return PutVarint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type), to);
}

void Varint(std::uint32_t number, std::uint64_t value, TextWriter& out) {
  char* const to = out.Reserve(2 * kLongestVarint);
  out.Advance(PutVarint(value, PutTag(number, WireType::kVarint, to)));
}

void Text(std::uint32_t number, std::string_view bytes, TextWriter& out) {
  char* const to = out.Reserve(2 * kLongestVarint + bytes.size());
  out.Advance(PutVarint(bytes.size(), PutTag(number, WireType::kBytes, to)));
  out.Raw(bytes);
}

void Fixed64(std::uint32_t number, std::uint64_t value, TextWriter& out) {
  char* to = PutTag(number, WireType::kFixed64, out.Reserve(kLongestVarint + sizeof value));
  for (std::size_t i = 0; i < sizeof value; ++i) *to++ = static_cast<char>(value >> (8 * i));
  out.Advance(to);
}

// Writes a field whose bytes `write` writes, and returns what that returns. The size stands before the bytes and is not
// known yet; most messages are short, so there is room for a size of one byte, and longer ones are moved.
template <typename Write>
bool Sized(std::uint32_t number, Write write, TextWriter& out) {
  out.Advance(PutTag(number, WireType::kBytes, out.Reserve(kLongestVarint + 1)) + 1);
  const std::size_t start = out.size();
  if (!write()) return false;
  const std::size_t size = out.size() - start;
  char* const end = out.Reserve(kLongestVarint);
  char* const bytes = end - size;
  char length[kLongestVarint];
  const std::ptrdiff_t more = PutVarint(size, length) - length - 1;
  if (more > 0) {
    std::memmove(bytes + more, bytes, size);
    out.Advance(end + more);
  }
  std::memcpy(bytes - 1, length, static_cast<std::size_t>(more) + 1);
  return true;
}

// The functions return false if protobuf cannot express the value.
class Encoder {
 public:
  bool Message(const void* object, const TypeTable& table, TextWriter& out) {
    if (table.wire == nullptr) return false;
    for (const UnknownField& unknown : detail::UnknownOf(object, table)) {
      // A struct in place that is empty is kept as text (codec/interpreter.h); the message is written anyway.
      const Field* const field = table.Find(unknown.name.view());
      if (field == nullptr || field->kind != ValueKind::kStruct || unknown.value.text() != "{}") return false;
    }
    // JSON has null for the zero time. No other null has a form in protobuf, nor a meaning.
    std::uint64_t zero_times = 0;
    detail::ForEachSentNull(object, table, [&](const Field& field) {
      if (IsTime(field.kind)) zero_times |= std::uint64_t{1} << (&field - table.begin());
    });
    return Fields(object, table, table.wire, table.wire_count, zero_times, out);
  }

 private:
  static bool IsTime(ValueKind kind) noexcept { return kind == ValueKind::kTime || kind == ValueKind::kMicroTime; }

  bool Fields(const void* object, const TypeTable& table, const WireField* fields, std::size_t count,
              std::uint64_t zero_times, TextWriter& out) {
    for (const WireField* field = fields; field != fields + count; ++field) {
      if (field->count == 0) {
        const Field& member = table.field_data[field->index];
        const bool zero_time = IsTime(member.kind) && (zero_times >> field->index & 1) != 0;
        const bool zero = field->zero_is_absent || zero_time;
        if (!Member(field->number, detail::MemberOf(object, member), member, zero, out)) return false;
        continue;
      }
      const auto embedded = [&] {
        return Fields(object, table, table.wire + field->index, field->count, zero_times, out);
      };
      if (!Sized(field->number, embedded, out)) return false;
    }
    return true;
  }

  template <typename T>
  static void Integer(std::uint32_t number, const Optional<T>& value, bool zero_is_absent, TextWriter& out) {
    if (!value.has_value() && !zero_is_absent) return;
    Varint(number, static_cast<std::uint64_t>(std::int64_t{value.value_or(T{})}), out);
  }

  bool Member(std::uint32_t number, const void* member, const Field& field, bool zero_is_absent, TextWriter& out) {
    switch (field.kind) {
      case ValueKind::kBool: {
        const auto& value = *static_cast<const Optional<bool>*>(member);
        if (value.has_value() || zero_is_absent) Varint(number, value.value_or(false) ? 1u : 0u, out);
        return true;
      }
      case ValueKind::kInt32:
        Integer(number, *static_cast<const Optional<std::int32_t>*>(member), zero_is_absent, out);
        return true;
      case ValueKind::kInt64:
        Integer(number, *static_cast<const Optional<std::int64_t>*>(member), zero_is_absent, out);
        return true;
      case ValueKind::kDouble: {
        const auto& value = *static_cast<const Optional<double>*>(member);
        if (value.has_value()) Fixed64(number, std::bit_cast<std::uint64_t>(*value), out);
        return true;
      }
      case ValueKind::kStruct:
        return MessageField(number, member, *field.table(), out);
      case ValueKind::kBox: {
        const detail::BoxBlock* const box = detail::BoxOf(member);
        if (box == nullptr || (box->word != 0 && !detail::BoxHasValue(box, *field.table()))) return true;
        return MessageField(number, box->object(), *field.table(), out);
      }
      case ValueKind::kList:
        return detail::ListOf(member) == nullptr || List(number, detail::ListOf(member), *field.element(), out);
      case ValueKind::kMap:
        return detail::MapOf(member) == nullptr || Map(number, detail::MapOf(member), *field.element(), out);
      default:
        break;
    }
    if (detail::ValueIsSet(member, field.kind)) return Value(number, member, {field.kind, 0, nullptr, nullptr}, out);
    if (zero_is_absent) Text(number, std::string_view(), out);
    return true;
  }

  bool MessageField(std::uint32_t number, const void* object, const TypeTable& table, TextWriter& out) {
    return Sized(number, [&] { return Message(object, table, out); }, out);
  }

  bool List(std::uint32_t number, const detail::ListBlock* list, const ValueType& type, TextWriter& out) {
    for (std::size_t i = 0; i < list->word; ++i) {
      if (!Value(number, detail::ElementAt(list, i, type), type, out)) return false;
    }
    return true;
  }

  bool Map(std::uint32_t number, const detail::MapBlock* map, const ValueType& type, TextWriter& out) {
    for (std::size_t i = 0; i < detail::MapSize(map); ++i) {
      if (!detail::MapEntryCounts(map, i, type)) continue;
      const void* const entry = detail::MapEntryAt(map, i, type);
      const auto key_and_value = [&] {
        Text(1, detail::KeyOf(entry).view(), out);
        return Value(2, detail::ValueOf(entry), type, out);
      };
      if (!Sized(number, key_and_value, out)) return false;
    }
    return true;
  }

  // Writes an element of a list, the value of an entry, or a member of the same form.
  bool Value(std::uint32_t number, const void* value, const ValueType& type, TextWriter& out) {
    switch (type.kind) {
      case ValueKind::kBool:
        Varint(number, *static_cast<const bool*>(value) ? 1u : 0u, out);
        return true;
      case ValueKind::kInt32:
        Varint(number, static_cast<std::uint64_t>(std::int64_t{*static_cast<const std::int32_t*>(value)}), out);
        return true;
      case ValueKind::kInt64:
        Varint(number, static_cast<std::uint64_t>(*static_cast<const std::int64_t*>(value)), out);
        return true;
      case ValueKind::kDouble:
        Fixed64(number, std::bit_cast<std::uint64_t>(*static_cast<const double*>(value)), out);
        return true;
      case ValueKind::kStruct:
        return MessageField(number, value, *type.table, out);
      case ValueKind::kList: {
        const detail::ListBlock* const list = detail::ListOf(value);
        return Sized(number, [&] { return list == nullptr || List(1, list, *type.element, out); }, out);
      }
      case ValueKind::kString:
        Text(number, static_cast<const String*>(value)->view(), out);
        return true;
      case ValueKind::kBytes:
        if (!static_cast<const Bytes*>(value)->valid()) return false;
        Text(number, static_cast<const Bytes*>(value)->Decode(), out);
        return true;
      default:
        return Sized(number, [&] { return Wrapped(value, type.kind, out); }, out);
    }
  }

  // Writes the message of a value that is no message in JSON.
  static bool Wrapped(const void* value, ValueKind kind, TextWriter& out) {
    switch (kind) {
      case ValueKind::kTime:
        return Timestamp(detail::TimeAccess::Word(*static_cast<const Time*>(value)), out);
      case ValueKind::kMicroTime:
        return Timestamp(detail::TimeAccess::Word(*static_cast<const MicroTime*>(value)), out);
      case ValueKind::kDuration: {
        const auto& duration = *static_cast<const Duration*>(value);
        if (Duration(duration.value()).text() != duration.text()) return false;
        Varint(1, static_cast<std::uint64_t>(duration.value().count()), out);
        return true;
      }
      case ValueKind::kQuantity:
        if (static_cast<const Quantity*>(value)->is_number()) return false;
        Text(1, static_cast<const Quantity*>(value)->text(), out);
        return true;
      case ValueKind::kIntOrString: {
        const auto& either = *static_cast<const IntOrString*>(value);
        Varint(1, either.is_int() ? 0u : 1u, out);
        Varint(2, static_cast<std::uint64_t>(either.is_int() ? std::int64_t{either.int_value()} : 0), out);
        Text(3, either.is_int() ? std::string_view() : either.string_value(), out);
        return true;
      }
      case ValueKind::kJson:
        if (const std::string_view json = static_cast<const Json*>(value)->text(); json != "null") {
          Text(1, json, out);
        }
        return true;
      default:
        return false;
    }
  }

  static bool Timestamp(const detail::TimeWord& word, TextWriter& out) {
    constexpr std::int64_t kMicros = 1'000'000;
    if (!word.has_value()) return true;  // the zero time
    if (word.block() != nullptr) return false;
    const auto since = std::chrono::microseconds(word.micros());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    Varint(1, static_cast<std::uint64_t>(seconds.count()), out);
    Varint(2, static_cast<std::uint64_t>((since - seconds).count() % kMicros * 1000), out);
    return true;
  }
};

}  // namespace

void AppendField(std::uint32_t number, std::string_view bytes, std::string& out) {
  TextWriter field;
  Text(number, bytes, field);
  field.AppendTo(out);
}

void AppendField(std::uint32_t number, std::uint64_t varint, std::string& out) {
  TextWriter field;
  Varint(number, varint, field);
  field.AppendTo(out);
}

bool AppendProtobuf(const void* object, const TypeTable& table, std::string& out) {
  TextWriter message;
  if (!Encoder().Message(object, table, message)) return false;
  message.AppendTo(out);
  return true;
}

Result<std::string> EncodeProtobuf(const void* object, const TypeTable& table) {
  std::string out;
  if (AppendProtobuf(object, table, out)) return out;
  return Fail(Code::kInvalidArgument, std::string("protobuf cannot express this ") + table.name +
                                          " without loss: it has unknown members, or values of another form");
}

std::string EnvelopeOf(std::string_view api_version, std::string_view kind, std::string_view message) {
  std::string type_meta, out(kProtobufMagic);
  AppendField(1, api_version, type_meta);
  AppendField(2, kind, type_meta);
  AppendField(static_cast<std::uint32_t>(EnvelopeField::kTypeMeta), type_meta, out);
  AppendField(static_cast<std::uint32_t>(EnvelopeField::kRaw), message, out);
  AppendField(static_cast<std::uint32_t>(EnvelopeField::kContentEncoding), std::string_view(), out);
  AppendField(static_cast<std::uint32_t>(EnvelopeField::kContentType), std::string_view(), out);
  return out;
}

}  // namespace kgen::codec
