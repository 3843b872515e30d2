// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/election/lease.h"

#include <type_traits>

#include "core/tables/table_builder.h"

namespace kgen::controller {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;
using detail::NameSlots;

constexpr Field kSpecFields[] = {
    MakeField("acquireTime", offsetof(LeaseSpec, acquireTime), ValueKind::kMicroTime),
    MakeField("holderIdentity", offsetof(LeaseSpec, holderIdentity), ValueKind::kString),
    MakeField("leaseDurationSeconds", offsetof(LeaseSpec, leaseDurationSeconds), ValueKind::kInt32),
    MakeField("leaseTransitions", offsetof(LeaseSpec, leaseTransitions), ValueKind::kInt32),
    MakeField("renewTime", offsetof(LeaseSpec, renewTime), ValueKind::kMicroTime),
};
constexpr NameSlots kSpecSlots = FindNameSlots(kSpecFields);
static_assert(std::is_standard_layout_v<LeaseSpec>);

constexpr Field kLeaseFields[] = {
    MakeField("metadata", offsetof(Lease, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    MakeField("spec", offsetof(Lease, spec), ValueKind::kBox, &LeaseSpec::kTable),
};
constexpr NameSlots kLeaseSlots = FindNameSlots(kLeaseFields);
static_assert(std::is_standard_layout_v<Lease>);

constexpr KindInfo kLeaseKind = {.group = "coordination.k8s.io",
                                 .version = "v1",
                                 .kind = "Lease",
                                 .list_kind = "LeaseList",
                                 .resource = "leases",
                                 .singular = "lease",
                                 .scope = Scope::kNamespaced,
                                 .list = nullptr};

}  // namespace

constinit const TypeTable LeaseSpec::kTable =
    MakeTable<LeaseSpec>("kgen.controller.LeaseSpec", kSpecFields, kSpecSlots);
constinit const TypeTable Lease::kTable =
    MakeTable<Lease>("kgen.controller.Lease", kLeaseFields, kLeaseSlots, offsetof(Lease, metadata), &kLeaseKind);

}  // namespace kgen::controller
