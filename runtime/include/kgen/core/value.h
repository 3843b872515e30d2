// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Copies, destroys, compares and hashes values with a table, and tells whether they are empty.
//
// Optional, List, Map, Ref and every generated operator== call these functions, which are compiled once instead of once
// for each type. Users call SemanticEqual and Hash; the rest is for the value types.
//
// Equality (`==`, Hash) is equality on the wire: two structs are equal when they encode to the same JSON value. So
// unset text differs from "", an absent list from an empty one, and a `null` member from an absent one; a struct that a
// non-const access created and in which nothing was set equals an absent one. Unknown fields count, and JSON text
// (Json, unknown fields) is compared by value, as json.h says: the order of members, escapes, white space and the
// spelling of numbers make no difference. Equal structs may therefore encode to different bytes.
//
// Thread safety: pure functions; const arguments may be shared. None blocks. Comparing and hashing large JSON text
// allocates memory; if there is none, texts that are spelled differently count as different. Decoded values are at most
// 256 levels deep, which bounds recursion; only Destroy walks deeper values that a user built with an explicit stack.
#ifndef KGEN_CORE_VALUE_H_
#define KGEN_CORE_VALUE_H_

#include <cstddef>
#include <cstdint>

#include "kgen/core/type_table.h"

namespace kgen {

namespace detail {

// Operations on structs in place. `to` is raw memory for CopyStruct.
void CopyStruct(void* to, const void* from, const TypeTable& table);
void DestroyStruct(void* object, const TypeTable& table) noexcept;
bool EqualStruct(const void* a, const void* b, const TypeTable& table) noexcept;
// Compares two objects as EqualStruct() does, but for metadata.resourceVersion and metadata.managedFields.
bool EqualButVersion(const void* a, const void* b, const TypeTable& table) noexcept;
// Returns true if the struct would encode as `{}`. A struct that only a non-const access created is absent while this
// is true.
bool IsEmptyStruct(const void* object, const TypeTable& table) noexcept;

// Operations on values of any kind, by their type.
void CopyValue(void* to, const void* from, const ValueType& type);
void DestroyValue(void* value, const ValueType& type) noexcept;
bool EqualValue(const void* a, const void* b, const ValueType& type) noexcept;

std::uint64_t HashStruct(const void* object, const TypeTable& table) noexcept;
bool SemanticEqualStruct(const void* a, const void* b, const TypeTable& table) noexcept;

}  // namespace detail

// Returns a hash, which is equal for equal values and stable only within a process.
template <detail::HasTable T>
std::uint64_t Hash(const T& value) noexcept {
  return detail::HashStruct(&value, T::kTable);
}

// Compares two values as a controller does to decide whether an update is worth sending: absent and empty lists, maps
// and text are the same, and so are absent and `null` members; quantities compare by amount ("1" and "1000m"), times by
// instant. Everything else compares as with `==`, JSON by value and unknown fields included. (A `null` inside of JSON,
// or of a member that the table does not know, is a value.)
template <detail::HasTable T>
bool SemanticEqual(const T& a, const T& b) noexcept {
  return detail::SemanticEqualStruct(&a, &b, T::kTable);
}

}  // namespace kgen

#endif  // KGEN_CORE_VALUE_H_
