// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EnumNamesOf: the names of the values of an enum class, for generated code only.
//
//   template <> struct EnumNamesOf<Priority> { static constexpr EnumName kNames[] = {{0, "Low"}, {1, "High"}}; };
//   template std::span<const EnumName> NamesOf<Priority>() noexcept;
#ifndef KGEN_CORE_ENUM_NAMES_H_
#define KGEN_CORE_ENUM_NAMES_H_

#include <span>

#include "kgen/core/enum.h"

namespace kgen::detail {

template <typename E>
struct EnumNamesOf;  // a specialization has the array kNames

template <typename E>
std::span<const EnumName> NamesOf() noexcept {
  return EnumNamesOf<E>::kNames;
}

}  // namespace kgen::detail

#endif  // KGEN_CORE_ENUM_NAMES_H_
