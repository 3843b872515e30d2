// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Convert<To>(): converts a value of one type into another type for the same JSON.
//
// It is for two positions that have types of their own and the same meaning: the pod templates of a custom resource and
// of a Deployment, two versions of a kind, an Unstructured and a generated type.
//
//   auto pods = kgen::Convert<PodTemplateSpec>(*order.spec->template_);              // copies; std::move(...) moves
//   if (!pods) return pods.error();
//   for (const kgen::Unplaced& each : pods->unplaced) std::cerr << each.path << ": " << each.reason << "\n";
//   deployment.spec->template_ = std::move(pods->value);
//
// Members are matched by their wire names. Values that fit are moved; values of another kind (an integer and a double,
// text and a Quantity, Json and a struct) go through their JSON, so every value that To would decode finds its place.
// Unknown fields of the source that To knows become members. A value for which To has no place is kept among its
// unknown fields: the result encodes to the JSON that the source encodes to, except for apiVersion and kind, which To
// determines.
#ifndef KGEN_CODEC_CONVERT_H_
#define KGEN_CODEC_CONVERT_H_

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/core/list.h"
#include "kgen/core/map.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"
#include "kgen/core/value_type.h"

namespace kgen {

// A value that is kept among the unknown fields of the result, or of a struct in it.
struct Unplaced {
  std::string path;    // "spec.containers[2].ports[0].containerPort"
  std::string reason;  // "expected an integer of 32 bits, found number 5000000000"
};

// What Convert() returns: the value, and what found no place in it.
template <typename To>
struct Converted {
  To value{};
  std::vector<Unplaced> unplaced{};  // empty: every member has its place in `value`
};

namespace detail {

// The shape of T: a struct (0), a list of structs (1), a map of structs (2), or anything else (-1).
template <typename T>
inline constexpr int kFormOf = HasTable<T> ? 0 : -1;
template <HasTable T>
inline constexpr int kFormOf<List<T>> = 1;
template <HasTable T>
inline constexpr int kFormOf<Map<T>> = 2;

// `to` is a default value. What `from` holds afterwards is unspecified.
Result<void> ConvertValue(void* from, const ValueType& from_type, void* to, const ValueType& to_type,
                          std::vector<Unplaced>& unplaced);

}  // namespace detail

// Converts `from`. Both types are structs with tables, or both are lists or both maps of such structs. Structs whose
// type is the same on both sides are taken over as they are: what stood among their unknown fields stays there and is
// not listed.
//
// Errors: kDecode  nested deeper than 256; text in a Json or an unknown field that is no JSON; an Unstructured
//                  with another apiVersion or kind than To, or whose name or namespace is no text
// Thread safety: pure. Does not block.
// Ownership: the result shares no block that can change with `from` or anything else.
template <typename To, typename From>
  requires(detail::kFormOf<To> != -1 && detail::kFormOf<To> == detail::kFormOf<From> && !detail::IsProjection<From>)
Result<Converted<To>> Convert(From from) {
  Result<Converted<To>> result{std::in_place};
  auto done = detail::ConvertValue(&from, kTypeOf<From>, &result->value, kTypeOf<To>, result->unplaced);
  if (!done) return Fail(std::move(done).error());
  return result;
}

}  // namespace kgen

#endif  // KGEN_CODEC_CONVERT_H_
