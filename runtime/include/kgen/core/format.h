// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// std::format and std::print for the types of kgen, where the standard library has <format>. Empty elsewhere.
//
//   std::println("{} runs on {}", pod.metadata.name, pod.spec->nodeName);
//   std::println("{}", pod);                                                  YAML
//
// Values, keys, errors, results and every struct with a table print here as they do with operator<<. String
// takes the format specifications of text, as in {:>20}; the others take none. A header of its own, since <format> is
// slow to compile.
#ifndef KGEN_CORE_FORMAT_H_
#define KGEN_CORE_FORMAT_H_

#include <version>

#ifdef __cpp_lib_format

#include <concepts>
#include <expected>
#include <format>
#include <sstream>
#include <string_view>

#include "kgen/core/json.h"
#include "kgen/core/list.h"
#include "kgen/core/map.h"
#include "kgen/core/object_key.h"
#include "kgen/core/optional.h"
#include "kgen/core/quantity.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/string.h"
#include "kgen/core/time.h"
#include "kgen/core/type_table.h"

namespace kgen::detail {

template <typename T>
inline constexpr bool kFormatted = HasTable<T>;
template <typename T>
inline constexpr bool kFormatted<Optional<T>> = true;
template <typename T>
inline constexpr bool kFormatted<List<T>> = true;
template <typename T>
inline constexpr bool kFormatted<Map<T>> = true;
template <typename T>
inline constexpr bool kFormatted<MapEntry<T>> = true;
template <typename T>
inline constexpr bool kFormatted<Ref<T>> = true;
template <typename T>
inline constexpr bool kFormatted<std::expected<T, Error>> = true;

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);
template <typename T>
concept Formatted =
    kFormatted<T> || OneOf<T, AnyRef, Bytes, Code, Duration, Error, GroupVersion, GroupVersionKind,
                           GroupVersionResource, IntOrString, Json, MicroTime, ObjectKey, Quantity, Time>;

}  // namespace kgen::detail

template <>
struct std::formatter<kgen::String, char> : std::formatter<std::string_view, char> {
  template <typename Context>
  auto format(const kgen::String& text, Context& context) const {
    return std::formatter<std::string_view, char>::format(text.view(), context);
  }
};

template <kgen::detail::Formatted T>
struct std::formatter<T, char> {
  constexpr auto parse(std::format_parse_context& context) {
    if (context.begin() != context.end() && *context.begin() != '}') {
      throw std::format_error("kgen: only String takes a format specification; write {}");
    }
    return context.begin();
  }
  template <typename Context>
  auto format(const T& value, Context& context) const {
    using kgen::operator<<;
    std::ostringstream text;
    text << value;
    return std::format_to(context.out(), "{}", text.view());
  }
};

#endif  // __cpp_lib_format

#endif  // KGEN_CORE_FORMAT_H_
