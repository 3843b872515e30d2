// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "tests/runtime/codec/widget.h"

#include <type_traits>

#include "core/tables/table_builder.h"

namespace kgen::widgets {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;
using detail::NameSlots;

constexpr Field kPartFields[] = {
    MakeField("name", offsetof(Part, name), ValueKind::kString),
    MakeField("child", offsetof(Part, child), ValueKind::kBox, &Part::kTable),
    MakeField("count", offsetof(Part, count), ValueKind::kInt32),
    MakeField("env", offsetof(Part, env), ValueKind::kMap, &kTypeOf<String>),
    MakeField("limits", offsetof(Part, limits), ValueKind::kMap, &kTypeOf<Quantity>),
    MakeField("parts", offsetof(Part, parts), ValueKind::kList, &kTypeOf<Part>),
    MakeField("tags", offsetof(Part, tags), ValueKind::kList, &kTypeOf<String>),
    MakeField("token", offsetof(Part, token), ValueKind::kString, nullptr, kUnique),
};
constexpr Field kClaimFields[] = {
    MakeField("metadata", offsetof(Claim, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    MakeField("spec", offsetof(Claim, spec), ValueKind::kBox, &Part::kTable),
};
constexpr Field kSpecFields[] = {
    MakeField("name", offsetof(Spec, name), ValueKind::kString),
    MakeField("amount", offsetof(Spec, amount), ValueKind::kQuantity),
    MakeField("anything", offsetof(Spec, anything), ValueKind::kJson),
    MakeField("blob", offsetof(Spec, blob), ValueKind::kBytes),
    MakeField("blobs", offsetof(Spec, blobs), ValueKind::kMap, &kTypeOf<Bytes>),
    MakeField("enabled", offsetof(Spec, enabled), ValueKind::kBool),
    MakeField("extras", offsetof(Spec, extras), ValueKind::kMap, &kTypeOf<Json>),
    MakeField("factors", offsetof(Spec, factors), ValueKind::kList, &kTypeOf<double>),
    MakeField("flags", offsetof(Spec, flags), ValueKind::kList, &kTypeOf<bool>),
    MakeField("groups", offsetof(Spec, groups), ValueKind::kMap, &kTypeOf<List<String>>),
    MakeField("large", offsetof(Spec, large), ValueKind::kInt64),
    MakeField("named", offsetof(Spec, named), ValueKind::kMap, &kTypeOf<Part>),
    MakeField("note", offsetof(Spec, note), ValueKind::kString, nullptr, kNullable),
    MakeField("optional", offsetof(Spec, optional), ValueKind::kBox, &Part::kTable, kNullable),
    MakeField("parts", offsetof(Spec, parts), ValueKind::kList, &kTypeOf<Part>),
    MakeField("port", offsetof(Spec, port), ValueKind::kIntOrString),
    MakeField("ports", offsetof(Spec, ports), ValueKind::kList, &kTypeOf<IntOrString>),
    MakeField("ratio", offsetof(Spec, ratio), ValueKind::kDouble),
    MakeField("replicas", offsetof(Spec, replicas), ValueKind::kInt32),
    MakeField("rows", offsetof(Spec, rows), ValueKind::kList, &kTypeOf<List<std::int64_t>>),
    MakeField("scores", offsetof(Spec, scores), ValueKind::kMap, &kTypeOf<std::int32_t>),
    MakeField("seen", offsetof(Spec, seen), ValueKind::kMicroTime),
    MakeField("templates", offsetof(Spec, templates), ValueKind::kList, &kTypeOf<Claim>),
    MakeField("timeout", offsetof(Spec, timeout), ValueKind::kDuration),
    MakeField("times", offsetof(Spec, times), ValueKind::kList, &kTypeOf<Time>),
    MakeField("when", offsetof(Spec, when), ValueKind::kTime),
};
constexpr Field kWidgetFields[] = {
    MakeField("metadata", offsetof(Widget, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    MakeField("spec", offsetof(Widget, spec), ValueKind::kBox, &Spec::kTable),
    MakeField("status", offsetof(Widget, status), ValueKind::kBox, &Part::kTable, kNoMemo),
};
constexpr Field kWidgetListFields[] = {
    MakeField("metadata", offsetof(WidgetList, metadata), ValueKind::kStruct, &meta::v1::ListMeta::kTable),
    MakeField("items", offsetof(WidgetList, items), ValueKind::kList, &kTypeOf<Widget>),
};
constexpr NameSlots kPartSlots = FindNameSlots(kPartFields);
constexpr NameSlots kClaimSlots = FindNameSlots(kClaimFields);
constexpr NameSlots kSpecSlots = FindNameSlots(kSpecFields);
constexpr NameSlots kWidgetSlots = FindNameSlots(kWidgetFields);
constexpr NameSlots kWidgetListSlots = FindNameSlots(kWidgetListFields);
static_assert(std::is_standard_layout_v<Part> && std::is_standard_layout_v<Claim> && std::is_standard_layout_v<Spec> &&
              std::is_standard_layout_v<Widget> && std::is_standard_layout_v<WidgetList>);

constexpr KindInfo kClaimKind = {.group = "",
                                 .version = "v1",
                                 .kind = "Claim",
                                 .list_kind = "ClaimList",
                                 .resource = "claims",
                                 .singular = "claim",
                                 .scope = Scope::kNamespaced,
                                 .list = nullptr};
constexpr KindInfo kWidgetKind = {.group = "test.kgen.dev",
                                  .version = "v1",
                                  .kind = "Widget",
                                  .list_kind = "WidgetList",
                                  .resource = "widgets",
                                  .singular = "widget",
                                  .scope = Scope::kNamespaced,
                                  .list = &WidgetList::kTable};
constexpr KindInfo kWidgetListKind = {.group = "test.kgen.dev",
                                      .version = "v1",
                                      .kind = "WidgetList",
                                      .list_kind = "",
                                      .resource = "widgets",
                                      .singular = "",
                                      .scope = Scope::kNamespaced,
                                      .list = nullptr};

}  // namespace

constinit const TypeTable Part::kTable = MakeTable<Part>("test.Part", kPartFields, kPartSlots);
constinit const TypeTable Claim::kTable =
    MakeTable<Claim>("test.Claim", kClaimFields, kClaimSlots, offsetof(Claim, metadata), &kClaimKind);
constinit const TypeTable Spec::kTable = MakeTable<Spec>("test.Spec", kSpecFields, kSpecSlots);
constinit const TypeTable Widget::kTable =
    MakeTable<Widget>("test.Widget", kWidgetFields, kWidgetSlots, offsetof(Widget, metadata), &kWidgetKind);
constinit const TypeTable WidgetList::kTable = MakeTable<WidgetList>(
    "test.WidgetList", kWidgetListFields, kWidgetListSlots, offsetof(WidgetList, metadata), &kWidgetListKind);

}  // namespace kgen::widgets
