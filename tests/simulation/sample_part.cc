// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/sample_part.h"

#include <array>
#include <cstddef>
#include <type_traits>

#include "core/tables/table_builder.h"

namespace kgen::simulation {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;
using detail::NameSlots;
using detail::WithWire;
using meta::v1::ObjectMeta;

constexpr Field kMetadataFields[] = {
    MakeField("name", offsetof(ObjectMeta, name), ValueKind::kString, nullptr, kUnique),
    MakeField("namespace", offsetof(ObjectMeta, namespace_), ValueKind::kString),
    MakeField("deletionTimestamp", offsetof(ObjectMeta, deletionTimestamp), ValueKind::kTime),
    MakeField("finalizers", offsetof(ObjectMeta, finalizers), ValueKind::kList, &kTypeOf<String>),
    MakeField("labels", offsetof(ObjectMeta, labels), ValueKind::kMap, &kTypeOf<String>),
    MakeField("resourceVersion", offsetof(ObjectMeta, resourceVersion), ValueKind::kString, nullptr, kUnique),
    MakeField("uid", offsetof(ObjectMeta, uid), ValueKind::kString, nullptr, kUnique),
};
constexpr Field kSpecFields[] = {
    MakeField("replicas", offsetof(SamplePart::Spec, replicas), ValueKind::kInt32),
};
constexpr Field kPartFields[] = {
    MakeField("metadata", offsetof(SamplePart, metadata), ValueKind::kStruct, &SamplePart::Metadata::kTable),
    MakeField("spec", offsetof(SamplePart, spec), ValueKind::kBox, &SamplePart::Spec::kTable, kNoMemo),
};
constexpr NameSlots kMetadataSlots = FindNameSlots(kMetadataFields);
constexpr NameSlots kSpecSlots = FindNameSlots(kSpecFields);
constexpr NameSlots kPartSlots = FindNameSlots(kPartFields);
constexpr std::array<WireField, 7> kMetadataWire = {{{1, 0, 0, true},
                                                     {3, 1, 0, true},
                                                     {5, 6, 0, true},
                                                     {6, 5, 0, true},
                                                     {9, 2, 0, false},
                                                     {11, 4, 0, false},
                                                     {14, 3, 0, false}}};
// Sample numbers its members in their order.
constexpr std::array<WireField, 1> kSpecWire = {{{15, 0, 0, false}}};
constexpr std::array<WireField, 2> kPartWire = {{{1, 0, 0, false}, {2, 1, 0, false}}};
static_assert(std::is_standard_layout_v<SamplePart> && std::is_standard_layout_v<SamplePart::Metadata> &&
              sizeof(SamplePart::Metadata) == sizeof(ObjectMeta));

constexpr KindInfo kPartKind = {.group = "test.kgen.dev",
                                .version = "v1",
                                .kind = "Sample",
                                .list_kind = "SampleList",
                                .resource = "samples",
                                .singular = "sample",
                                .scope = Scope::kNamespaced,
                                .list = nullptr};

// The unknown fields of ObjectMeta are not accessible in the class that derives from it.
consteval TypeTable MetadataTable() {
  TypeTable table = MakeTable<SamplePart::Metadata>("test.SamplePart.Metadata", kMetadataFields, kMetadataSlots,
                                                    TypeTable::kNoMetadata, nullptr, kProjection | kMetadataPart);
  table.unknown_offset = offsetof(ObjectMeta, unknown_fields);
  return table;
}

}  // namespace

constinit const TypeTable SamplePart::Metadata::kTable = WithWire(MetadataTable(), kMetadataWire);
constinit const TypeTable SamplePart::Spec::kTable =
    WithWire(MakeTable<SamplePart::Spec>("test.SamplePart.Spec", kSpecFields, kSpecSlots, TypeTable::kNoMetadata,
                                         nullptr, kProjection),
             kSpecWire);
constinit const TypeTable SamplePart::kTable =
    WithWire(MakeTable<SamplePart>("test.SamplePart", kPartFields, kPartSlots, offsetof(SamplePart, metadata),
                                   &kPartKind, kProjection),
             kPartWire);

}  // namespace kgen::simulation
