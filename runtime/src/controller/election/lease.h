// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Lease of coordination.k8s.io/v1, as leader election reads and writes it. The members that it does not use are among
// the unknown fields.
#ifndef KGEN_SRC_CONTROLLER_ELECTION_LEASE_H_
#define KGEN_SRC_CONTROLLER_ELECTION_LEASE_H_

#include <cstdint>

#include "kgen/core/object_meta.h"
#include "kgen/core/optional.h"
#include "kgen/core/string.h"
#include "kgen/core/time.h"
#include "kgen/core/type_table.h"
#include "kgen/core/unknown_fields.h"

namespace kgen::controller {

struct LeaseSpec {
  MicroTime acquireTime{};
  String holderIdentity{};
  Optional<std::int32_t> leaseDurationSeconds{};
  Optional<std::int32_t> leaseTransitions{};
  MicroTime renewTime{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const LeaseSpec& a, const LeaseSpec& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

struct Lease {
  meta::v1::ObjectMeta metadata{};
  Optional<LeaseSpec> spec = kAbsent;
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ELECTION_LEASE_H_
