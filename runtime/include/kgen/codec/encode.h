// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Encodes structs with tables into JSON and YAML.
//
// Order: apiVersion and kind (from the table, for kinds), then the members in table order, then the unknown ones as
// received. Equal values give the same JSON value. Absent members are not written. A value that was decoded and not
// assigned is written as received: raw text (unknown members, Json, members of the wrong type) unchanged, numbers in
// their spelling, nulls as null. A merge patch made from a decoded object therefore asks the server to delete the
// members that were null in it.
//
// Thread safety: pure. Does not block.
#ifndef KGEN_CODEC_ENCODE_H_
#define KGEN_CODEC_ENCODE_H_

#include <string>

#include "kgen/core/json.h"
#include "kgen/core/ref.h"
#include "kgen/core/type_table.h"

namespace kgen {

namespace detail {
// Both append to `out`. An unset value is written as `null`.
void EncodeStruct(const void* object, const TypeTable& table, std::string& out);
void EncodeValue(const void* value, const ValueType& type, std::string& out);
}  // namespace detail

// Returns the object as compact JSON.
template <detail::HasTable T>
std::string Encode(const T& value) {
  std::string out;
  detail::EncodeStruct(&value, T::kTable, out);
  return out;
}
std::string Encode(const AnyRef& object);  // "null" for a null one

namespace detail {
std::string EncodeStructYaml(const void* object, const TypeTable& table);
}

// Writes a value as block-style YAML, as `kubectl get -o yaml` prints it but in the order above. Ends with a newline. A
// value that YAML cannot express (duplicate members, text that is not UTF-8) is written as JSON, which YAML parsers
// accept or refuse for the same reason.
template <detail::HasTable T>
std::string EncodeYaml(const T& value) {
  return detail::EncodeStructYaml(&value, T::kTable);
}
std::string EncodeYaml(const AnyRef& object);
std::string EncodeYaml(const Json& value);  // "" when unset

// Writes JSON with sorted keys at every level, no insignificant white space, and each number in one spelling: two
// objects are the same for the server exactly if their canonical texts are equal. It is for tests and comparisons
// across clients. Text that is not JSON is returned unchanged.
std::string CanonicalJson(std::string_view json);

}  // namespace kgen

#endif  // KGEN_CODEC_ENCODE_H_
