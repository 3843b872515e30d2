// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/scale.h"

#include <type_traits>

#include "core/tables/table_builder.h"

namespace kgen::autoscaling::v1 {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;
using detail::NameSlots;

constexpr Field kScaleSpecFields[] = {
    MakeField("replicas", offsetof(ScaleSpec, replicas), ValueKind::kInt32),
};
constexpr NameSlots kScaleSpecSlots = FindNameSlots(kScaleSpecFields);
static_assert(std::is_standard_layout_v<ScaleSpec>);

constexpr Field kScaleStatusFields[] = {
    MakeField("replicas", offsetof(ScaleStatus, replicas), ValueKind::kInt32),
    MakeField("selector", offsetof(ScaleStatus, selector), ValueKind::kString),
};
constexpr NameSlots kScaleStatusSlots = FindNameSlots(kScaleStatusFields);
static_assert(std::is_standard_layout_v<ScaleStatus>);

constexpr Field kScaleFields[] = {
    MakeField("metadata", offsetof(Scale, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    MakeField("spec", offsetof(Scale, spec), ValueKind::kBox, &ScaleSpec::kTable),
    MakeField("status", offsetof(Scale, status), ValueKind::kBox, &ScaleStatus::kTable, kNoMemo),
};
constexpr NameSlots kScaleSlots = FindNameSlots(kScaleFields);
static_assert(std::is_standard_layout_v<Scale>);

// Scale is not a resource, only the type of a subresource.
constexpr KindInfo kScaleKind = {.group = "autoscaling",
                                 .version = "v1",
                                 .kind = "Scale",
                                 .list_kind = "",
                                 .resource = "",
                                 .singular = "",
                                 .scope = Scope::kNamespaced,
                                 .list = nullptr};

}  // namespace

constinit const TypeTable ScaleSpec::kTable =
    MakeTable<ScaleSpec>("kgen.autoscaling.v1.ScaleSpec", kScaleSpecFields, kScaleSpecSlots);
constinit const TypeTable ScaleStatus::kTable =
    MakeTable<ScaleStatus>("kgen.autoscaling.v1.ScaleStatus", kScaleStatusFields, kScaleStatusSlots);
constinit const TypeTable Scale::kTable =
    MakeTable<Scale>("kgen.autoscaling.v1.Scale", kScaleFields, kScaleSlots, offsetof(Scale, metadata), &kScaleKind);

}  // namespace kgen::autoscaling::v1
