// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Json: any JSON value, kept as its text.
//
// Json is the type of fields without a schema (preserve-unknown-fields, RawExtension, FieldsV1, `x-kubernetes-...:
// any`), and of unknown fields. The text is kept as received: big integers and number spelling survive. Parsing happens
// on demand, with nlohmann_json; include <nlohmann/json.hpp> where you parse. (This header does not: everything
// includes it, and even the forward declarations there cost more compile time than all value types of kgen.)
//
//   auto body = order.spec->extra.Parse<nlohmann::json>();      discarded if unset or not JSON
//   order.spec->extra = kgen::Json::From(body);
#ifndef KGEN_CORE_JSON_H_
#define KGEN_CORE_JSON_H_

#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "kgen/core/string.h"

namespace kgen {

// Any JSON value. Thread safety: as String.
class Json {
 public:
  constexpr Json() noexcept = default;  // unset
  // Stores the text unchecked, and the encoder writes it unchanged. Use codec's ParseJson() for text that may be
  // invalid. The unset state is not the JSON value null: Json("null") is present.
  template <detail::TextLike S>
  explicit Json(const S& text) : text_(text) {}
  explicit Json(String text) noexcept : text_(static_cast<String&&>(text)) {}

  // `Value` is nlohmann::json, or nlohmann::ordered_json, which keeps the order of members; the library has both.
  template <typename Value>
  static Json From(const Value& value);
  // Returns the value; a discarded one (is_discarded()) if this is unset, or if the text is not JSON or is nested
  // deeper than 256, because `Value` recurses when it is copied or written. Never throws.
  template <typename Value>
  Value Parse() const;

  bool has_value() const noexcept { return text_.has_value(); }
  void reset() noexcept { text_.reset(); }
  // Returns whether it is the value `null`, which is not the same as unset.
  bool is_null() const noexcept { return text_ == "null"; }
  std::string_view text() const noexcept { return text_; }  // "" when unset

  // Compares by value: white space, the order of an object's members and the way strings are escaped make no
  // difference. If several members have the same name, the last one counts, as it does for servers. Numbers are equal
  // when they are the same number, `1`, `1.0` and `1e0` for instance: a server stores `1.0` and sends `1`. Integers
  // compare exactly, whatever their size, and fractions as 64-bit floating point, which is what servers hold. Null is a
  // value: it differs from a missing member and from the unset state. Text that is not JSON, or is nested deeper than
  // 1024, equals only itself. Texts that are spelled alike cost a comparison of bytes, others O(n log n).
  friend bool operator==(const Json& a, const Json& b) noexcept;

  friend std::ostream& operator<<(std::ostream& os, const Json& json);  // the text, or "absent"

 private:
  String text_;
};

static_assert(sizeof(Json) == 16 && std::is_standard_layout_v<Json>);

}  // namespace kgen

#endif  // KGEN_CORE_JSON_H_
