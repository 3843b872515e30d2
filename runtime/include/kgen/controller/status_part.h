// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Internal: splits an object into the status and the rest, which the server stores with different calls.
#ifndef KGEN_CONTROLLER_STATUS_PART_H_
#define KGEN_CONTROLLER_STATUS_PART_H_

namespace kgen::detail {

// Returns a copy of `object` with the status of `from`. A status for which the type has no member is among the unknown
// fields.
template <typename T>
T WithStatusOf(T object, const T& from) {
  if constexpr (requires { object.status; }) object.status = from.status;
  object.unknown_fields.Set("status", from.unknown_fields["status"]);
  return object;
}

}  // namespace kgen::detail

#endif  // KGEN_CONTROLLER_STATUS_PART_H_
