// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tables into JSON.
//
// Order: apiVersion, kind (of kinds, from the table), then the members in table order, then the unknown ones as they
// came. Equal values give the same JSON value. Absent is not written. What was decoded and not assigned goes back as it
// came: raw text (unknown members, Json, members that did not fit) as it is, numbers in their spelling, nulls as null.
// So a merge patch that is made of a decoded object asks the server to delete what was null in it.
//
// Thread safety: pure. Does not block.
#ifndef KGEN_CODEC_ENCODE_H_
#define KGEN_CODEC_ENCODE_H_

#include <string>

#include "kgen/core/ref.h"
#include "kgen/core/type_table.h"

namespace kgen {

namespace detail {
void EncodeStruct(const void* object, const TypeTable& table, std::string& out);  // appends
}

// Compact JSON.
template <detail::HasTable T>
std::string Encode(const T& value) {
  std::string out;
  detail::EncodeStruct(&value, T::kTable, out);
  return out;
}
std::string Encode(const AnyRef& object);  // "null" for a null one

// The same value with sorted keys at every level, no insignificant space, and each number in one spelling: two
// objects are the same for the server exactly if their canonical texts are equal. For tests and comparisons across
// clients. Text that is not JSON comes back as it is.
std::string CanonicalJson(std::string_view json);

}  // namespace kgen

#endif  // KGEN_CODEC_ENCODE_H_
