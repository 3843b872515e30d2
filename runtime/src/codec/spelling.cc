// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/spelling.h"

#include <bit>
#include <cstdint>
#include <string>

#include "codec/reader.h"
#include "core/blocks.h"
#include "core/json/number.h"

namespace kgen::codec {
namespace {

template <typename T>
const T& As(const void* value) noexcept {
  return *static_cast<const T*>(value);
}

// Walks the text and the value in parallel.
class Comparison {
 public:
  explicit Comparison(std::string_view raw) : reader_(raw, kDepthCeiling, static_cast<std::size_t>(-1), scratch_) {}

  bool Integer(std::int64_t value) {
    std::string_view number;
    bool plain;
    std::int64_t parsed;
    return IsNumber() && reader_.Number(number, plain) && detail::ParseInteger(number, plain, parsed) &&
           parsed == value;
  }

  // Zero and minus zero differ.
  bool Double(double value) {
    std::string_view number;
    bool plain;
    double parsed;
    return IsNumber() && reader_.Number(number, plain) && detail::ParseDouble(number, parsed) &&
           std::bit_cast<std::uint64_t>(parsed) == std::bit_cast<std::uint64_t>(value);
  }

  bool List(const detail::ListBlock* list, const ValueType& type) {
    if (list == nullptr) return reader_.Literal("null");
    if (reader_.Peek() != '[' || !reader_.Enter()) return false;
    for (std::uint32_t i = 0; i < list->word; ++i) {
      if ((i != 0 && !reader_.Take(',')) || !Value(detail::ElementAt(list, i, type), type)) return false;
    }
    if (!reader_.Take(']')) return false;
    reader_.Leave();
    return true;
  }

  // Names may be in any order, but must not repeat.
  bool Map(const detail::MapBlock* map, const ValueType& type) {
    if (map == nullptr) return reader_.Literal("null");
    if (reader_.Peek() != '{' || !reader_.Enter()) return false;
    std::size_t count = 0;
    for (std::size_t i = 0; i < detail::MapSize(map); ++i) count += detail::MapEntryCounts(map, i, type) ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::string_view name;
      if ((i != 0 && !reader_.Take(',')) || !reader_.Key(name)) return false;
      const void* entry = detail::MapFind(const_cast<detail::MapBlock*>(map), name, type);
      if (entry == nullptr || !Value(detail::ValueOf(entry), type)) return false;
    }
    if (!reader_.Take('}')) return false;
    reader_.Leave();
    return true;
  }

 private:
  bool IsNumber() noexcept {
    const char c = reader_.Peek();
    return c == '-' || (c >= '0' && c <= '9');
  }

  bool Value(const void* value, const ValueType& type) {
    reader_.Peek();  // skips white space
    switch (type.kind) {
      case ValueKind::kInt32:
        return Integer(As<std::int32_t>(value));
      case ValueKind::kInt64:
        return Integer(As<std::int64_t>(value));
      case ValueKind::kDouble:
        return Double(As<double>(value));
      case ValueKind::kList:
        return List(detail::ListOf(value), *type.element);
      case ValueKind::kMap:
        return Map(detail::MapOf(value), *type.element);
      default:
        return false;
    }
  }

  std::string scratch_;
  Reader reader_;
};

}  // namespace

bool IsSpelling(std::string_view raw, const void* member, const Field& field) {
  if (!detail::MemberIsPresent(member, field)) return false;
  Comparison comparison(raw);
  switch (field.kind) {
    case ValueKind::kInt32:
      return comparison.Integer(*As<Optional<std::int32_t>>(member));
    case ValueKind::kInt64:
      return comparison.Integer(*As<Optional<std::int64_t>>(member));
    case ValueKind::kDouble:
      return comparison.Double(*As<Optional<double>>(member));
    case ValueKind::kList:
      return comparison.List(detail::ListOf(member), *field.element());
    case ValueKind::kMap:
      return comparison.Map(detail::MapOf(member), *field.element());
    default:
      return false;
  }
}

}  // namespace kgen::codec
