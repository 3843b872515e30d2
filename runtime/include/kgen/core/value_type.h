// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kTypeOf<T>: the ValueType of a C++ type, for the elements of lists and maps and for generated tables.
#ifndef KGEN_CORE_VALUE_TYPE_H_
#define KGEN_CORE_VALUE_TYPE_H_

#include <cstdint>

#include "kgen/core/type_table.h"

namespace kgen {

class String;
class Time;
class MicroTime;
class Duration;
class Quantity;
class IntOrString;
class Bytes;
class Json;
template <typename T>
class List;
template <typename T>
class Map;

namespace detail {

template <typename T>
struct KindOf {  // structs
  static constexpr ValueKind kKind = ValueKind::kStruct;
  static constexpr const TypeTable* kTable = &T::kTable;
  static constexpr const ValueType* kElement = nullptr;
};

template <ValueKind kind>
struct LeafKind {
  static constexpr ValueKind kKind = kind;
  static constexpr const TypeTable* kTable = nullptr;
  static constexpr const ValueType* kElement = nullptr;
};

template <>
struct KindOf<bool> : LeafKind<ValueKind::kBool> {};
template <>
struct KindOf<std::int32_t> : LeafKind<ValueKind::kInt32> {};
template <>
struct KindOf<std::int64_t> : LeafKind<ValueKind::kInt64> {};
template <>
struct KindOf<double> : LeafKind<ValueKind::kDouble> {};
template <>
struct KindOf<String> : LeafKind<ValueKind::kString> {};
template <>
struct KindOf<Time> : LeafKind<ValueKind::kTime> {};
template <>
struct KindOf<MicroTime> : LeafKind<ValueKind::kMicroTime> {};
template <>
struct KindOf<Duration> : LeafKind<ValueKind::kDuration> {};
template <>
struct KindOf<Quantity> : LeafKind<ValueKind::kQuantity> {};
template <>
struct KindOf<IntOrString> : LeafKind<ValueKind::kIntOrString> {};
template <>
struct KindOf<Bytes> : LeafKind<ValueKind::kBytes> {};
template <>
struct KindOf<Json> : LeafKind<ValueKind::kJson> {};

}  // namespace detail

template <typename T>
inline constexpr ValueType kTypeOf = {detail::KindOf<T>::kKind, sizeof(T), detail::KindOf<T>::kTable,
                                      detail::KindOf<T>::kElement};

namespace detail {

template <typename T>
struct KindOf<List<T>> {
  static constexpr ValueKind kKind = ValueKind::kList;
  static constexpr const TypeTable* kTable = nullptr;
  static constexpr const ValueType* kElement = &kTypeOf<T>;
};
template <typename T>
struct KindOf<Map<T>> {
  static constexpr ValueKind kKind = ValueKind::kMap;
  static constexpr const TypeTable* kTable = nullptr;
  static constexpr const ValueType* kElement = &kTypeOf<T>;
};

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CORE_VALUE_TYPE_H_
