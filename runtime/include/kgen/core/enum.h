// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Enum<E>: a member of an API type (kgen/core/object.h) whose values are the constants of an enum class.
//
//   enum class Priority { kLow, kNormal, kHigh };   // "Low", "Normal", "High" in JSON
//
//   kgen::Enum<Priority> priority{};                // absent
//   order.spec->priority = Priority::kHigh;
//   if (order.spec->priority == Priority::kHigh) ...
//   switch (order.spec->priority.value_or(Priority::kNormal)) ...
//
// The value is kept as text: a server that is newer than the program may send a value that the program does not know,
// and it must be sent back unchanged. For such a value, has_value() is true and value() is empty.
//
// kgen-crd defines the names of the values in generated code. Thread safety: as a standard container.
#ifndef KGEN_CORE_ENUM_H_
#define KGEN_CORE_ENUM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "kgen/core/string.h"
#include "kgen/core/value_type.h"

namespace kgen {

namespace detail {

struct EnumName {
  std::int64_t value;
  std::string_view text;
};

// The names of E's values. Generated code instantiates it (kgen/core/enum_names.h).
template <typename E>
std::span<const EnumName> NamesOf() noexcept;

// Return the text of a value, "" if it has none, and the value of a text.
std::string_view EnumText(std::span<const EnumName> names, std::int64_t value) noexcept;
std::optional<std::int64_t> EnumValue(std::span<const EnumName> names, std::string_view text) noexcept;

}  // namespace detail

// A member whose values are the constants of E, or absent.
template <typename E>
  requires std::is_enum_v<E>
class Enum {
 public:
  using value_type = E;

  constexpr Enum() noexcept = default;
  // A value that E does not name, such as a cast can make, becomes absent.
  Enum(E value) {
    const std::string_view text = detail::EnumText(detail::NamesOf<E>(), static_cast<std::int64_t>(value));
    if (!text.empty()) text_ = text;
  }

  bool has_value() const noexcept { return text_.has_value(); }
  void reset() noexcept { text_.reset(); }
  // Returns nothing if the value is absent, or not one of E.
  std::optional<E> value() const noexcept {
    const auto value = detail::EnumValue(detail::NamesOf<E>(), text_);
    return value ? std::optional(static_cast<E>(*value)) : std::nullopt;
  }
  E value_or(E otherwise) const noexcept { return value().value_or(otherwise); }
  // Returns the value as it is in JSON.
  const String& text() const noexcept KGEN_LIFETIMEBOUND { return text_; }

  friend bool operator==(const Enum& a, const Enum& b) noexcept { return a.text_ == b.text_; }
  friend bool operator==(const Enum& a, E b) noexcept { return a.value() == b; }
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, const Enum& e) {
    return os << e.text_;
  }

 private:
  String text_;
};

namespace detail {

template <typename E>
struct KindOf<Enum<E>> : LeafKind<ValueKind::kString> {};

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CORE_ENUM_H_
