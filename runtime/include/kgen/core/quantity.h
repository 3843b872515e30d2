// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Quantity, IntOrString and Bytes: scalar types of the Kubernetes API that are more than text. Each has 16 bytes.
//
// All of them keep the text that the server wrote until they are assigned.
#ifndef KGEN_CORE_QUANTITY_H_
#define KGEN_CORE_QUANTITY_H_

#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include "kgen/core/string.h"

namespace kgen {

// A resource.Quantity: "500m", "1.5Gi", "1e3". Arithmetic is exact and decimal, without floating point.
//
//   container.resources->limits["cpu"] = "500m";
//   if (node_cpu < wanted) ...                      by amount: "1" == "1000m"
//
// Assigned text is stored unchecked: the server decides whether it is valid. An invalid or unset quantity has the value
// 0, and valid() is false.
class Quantity {
 public:
  constexpr Quantity() noexcept = default;
  // Take text as it is, and an integer.
  template <detail::TextLike S>
  Quantity(const S& text) : text_(text) {}
  Quantity(std::int64_t value);
  template <std::floating_point F>
  Quantity(F) = delete;  // 0.5 would become 0: say "500m" or "0.5"

  bool has_value() const noexcept { return text_.has_value(); }
  void reset() noexcept { text_.reset(); }
  bool valid() const noexcept;  // whether the text is a quantity
  // Return the amount, rounded up (away from zero) as by Go's Value() and MilliValue(), and saturating at the ends of
  // the range.
  std::int64_t Value() const noexcept;
  std::int64_t MilliValue() const noexcept;
  double AsDouble() const noexcept;        // the nearest one
  std::string_view text() const noexcept;  // as received; "" when unset
  // Returns whether it was read from a JSON number (`cpu: 2`, as custom resources may store it), and so is written as
  // one.
  bool is_number() const noexcept;

  // Compare by amount. In <=>, invalid and unset quantities count as zero. == also requires equal presence, and
  // compares invalid quantities as text.
  friend bool operator==(const Quantity& a, const Quantity& b) noexcept {
    return a.has_value() == b.has_value() && (a <=> b) == 0 && (a.text() == b.text() || (a.valid() && b.valid()));
  }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) noexcept { return Compare(a, b); }

  friend std::ostream& operator<<(std::ostream& os, const Quantity& quantity);  // the text, or "absent"

 private:
  friend struct detail::ScalarAccess;
  static std::strong_ordering Compare(const Quantity& a, const Quantity& b) noexcept;
  String text_;  // a number is inline text with a tag of its own, as in IntOrString
};

// An intstr.IntOrString: a port number or a port name, a count or a percentage.
class IntOrString {
 public:
  constexpr IntOrString() noexcept = default;
  IntOrString(std::int32_t value);  // is_int()
  template <std::floating_point F>
  IntOrString(F) = delete;  // would be cut to an integer
  template <detail::TextLike S>
  IntOrString(const S& text) : text_(text) {}  // is_string()

  bool has_value() const noexcept { return text_.has_value(); }
  void reset() noexcept { text_.reset(); }
  // Say which of the two it is; neither when unset.
  bool is_int() const noexcept;
  bool is_string() const noexcept { return has_value() && !is_int(); }
  std::int32_t int_value() const noexcept;         // 0 unless is_int(); saturating
  std::int64_t int64_value() const noexcept;       // the same, for CRDs with wider integers
  std::string_view string_value() const noexcept;  // "" unless is_string()
  std::string str() const;                         // either, as text; "" when unset

  // Compares integers by value, however they are spelled (`80`, `8e1`).
  friend bool operator==(const IntOrString& a, const IntOrString& b) noexcept;

  friend std::ostream& operator<<(std::ostream& os, const IntOrString& v);  // either, as text, or "absent"

 private:
  friend struct detail::ScalarAccess;
  String text_;  // an integer is inline text with a tag of its own (0x80 + size + 1), as the server spelled it
};

// A []byte of the Kubernetes API: base64 on the wire, and kept as base64.
//
//   std::string password = secret.data["password"].Decode();
//   secret.data["password"] = kgen::Bytes::Of("hunter2");
class Bytes {
 public:
  constexpr Bytes() noexcept = default;
  // Make a value of raw bytes, and of base64, which is taken as it is.
  static Bytes Of(std::string_view raw);
  static Bytes FromBase64(std::string_view base64) { return Bytes(String(base64)); }

  bool has_value() const noexcept { return base64_.has_value(); }
  void reset() noexcept { base64_.reset(); }
  bool valid() const noexcept;        // false if the text is not base64; true when unset
  std::string Decode() const;         // the raw bytes; "" when unset or not valid
  std::size_t size() const noexcept;  // of the raw bytes; 0 when not valid
  std::string_view base64() const noexcept { return base64_; }

  friend bool operator==(const Bytes& a, const Bytes& b) noexcept {
    return a.has_value() == b.has_value() && a.base64_ == b.base64_;
  }

  friend std::ostream& operator<<(std::ostream& os, const Bytes& bytes);  // the base64 text, or "absent"

 private:
  friend struct detail::ScalarAccess;
  explicit Bytes(String base64) noexcept : base64_(static_cast<String&&>(base64)) {}
  String base64_;
};

static_assert(sizeof(Quantity) == 16 && sizeof(IntOrString) == 16 && sizeof(Bytes) == 16);

}  // namespace kgen

#endif  // KGEN_CORE_QUANTITY_H_
