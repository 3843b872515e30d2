// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/core/sample.h"

#include <type_traits>

#include "core/tables/table_builder.h"

namespace kgen::sample {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;
using detail::NameSlots;
using detail::NumberFields;
using detail::WithWire;

constexpr Field kPortFields[] = {
    MakeField("name", offsetof(Port, name), ValueKind::kString),
    MakeField("containerPort", offsetof(Port, containerPort), ValueKind::kInt32),
    MakeField("protocol", offsetof(Port, protocol), ValueKind::kString),
};
constexpr Field kNodeFields[] = {
    MakeField("name", offsetof(Node, name), ValueKind::kString),
    MakeField("child", offsetof(Node, child), ValueKind::kBox, &Node::kTable),
    MakeField("children", offsetof(Node, children), ValueKind::kList, &kTypeOf<Node>),
    MakeField("named", offsetof(Node, named), ValueKind::kMap, &kTypeOf<Node>),
};
constexpr Field kSpecFields[] = {
    MakeField("amount", offsetof(Spec, amount), ValueKind::kQuantity),
    MakeField("args", offsetof(Spec, args), ValueKind::kList, &kTypeOf<String>),
    MakeField("big", offsetof(Spec, big), ValueKind::kInt64),
    MakeField("blob", offsetof(Spec, blob), ValueKind::kBytes),
    MakeField("data", offsetof(Spec, data), ValueKind::kMap, &kTypeOf<Bytes>),
    MakeField("exact", offsetof(Spec, exact), ValueKind::kMicroTime),
    MakeField("extra", offsetof(Spec, extra), ValueKind::kJson),
    MakeField("limits", offsetof(Spec, limits), ValueKind::kMap, &kTypeOf<Quantity>),
    MakeField("lists", offsetof(Spec, lists), ValueKind::kMap, &kTypeOf<List<String>>),
    MakeField("matrix", offsetof(Spec, matrix), ValueKind::kList, &kTypeOf<List<std::int64_t>>),
    MakeField("nodeName", offsetof(Spec, nodeName), ValueKind::kString),
    MakeField("nodes", offsetof(Spec, nodes), ValueKind::kMap, &kTypeOf<Node>),
    MakeField("ports", offsetof(Spec, ports), ValueKind::kList, &kTypeOf<Port>),
    MakeField("ratio", offsetof(Spec, ratio), ValueKind::kDouble),
    MakeField("replicas", offsetof(Spec, replicas), ValueKind::kInt32),
    MakeField("selector", offsetof(Spec, selector), ValueKind::kMap, &kTypeOf<String>),
    MakeField("suspend", offsetof(Spec, suspend), ValueKind::kBool),
    MakeField("target", offsetof(Spec, target), ValueKind::kIntOrString),
    MakeField("timeout", offsetof(Spec, timeout), ValueKind::kDuration),
    MakeField("tree", offsetof(Spec, tree), ValueKind::kBox, &Node::kTable),
    MakeField("weights", offsetof(Spec, weights), ValueKind::kMap, &kTypeOf<std::int32_t>),
    MakeField("when", offsetof(Spec, when), ValueKind::kTime, nullptr, kNullable),
};
constexpr Field kSampleFields[] = {
    MakeField("metadata", offsetof(Sample, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    MakeField("spec", offsetof(Sample, spec), ValueKind::kBox, &Spec::kTable),
    MakeField("status", offsetof(Sample, status), ValueKind::kBox, &Node::kTable),
};
constexpr Field kSampleListFields[] = {
    MakeField("metadata", offsetof(SampleList, metadata), ValueKind::kStruct, &meta::v1::ListMeta::kTable),
    MakeField("items", offsetof(SampleList, items), ValueKind::kList, &kTypeOf<Sample>),
};
constexpr NameSlots kPortSlots = FindNameSlots(kPortFields);
constexpr NameSlots kNodeSlots = FindNameSlots(kNodeFields);
constexpr NameSlots kSpecSlots = FindNameSlots(kSpecFields);
constexpr NameSlots kSampleSlots = FindNameSlots(kSampleFields);
constexpr NameSlots kSampleListSlots = FindNameSlots(kSampleListFields);
constexpr auto kPortWire = NumberFields(kPortFields);
constexpr auto kNodeWire = NumberFields(kNodeFields);
constexpr auto kSpecWire = NumberFields(kSpecFields);
constexpr auto kSampleWire = NumberFields(kSampleFields);
static_assert(std::is_standard_layout_v<Port> && std::is_standard_layout_v<Node> && std::is_standard_layout_v<Spec> &&
              std::is_standard_layout_v<Sample> && std::is_standard_layout_v<SampleList>);
static_assert(std::is_aggregate_v<Port> && std::is_aggregate_v<Node> && std::is_aggregate_v<Spec> &&
              std::is_aggregate_v<Sample>);

constexpr KindInfo kSampleKind = {.group = "test.kgen.dev",
                                  .version = "v1",
                                  .kind = "Sample",
                                  .list_kind = "SampleList",
                                  .resource = "samples",
                                  .singular = "sample",
                                  .scope = Scope::kNamespaced,
                                  .list = &SampleList::kTable};
constexpr KindInfo kSampleListKind = {.group = "test.kgen.dev",
                                      .version = "v1",
                                      .kind = "SampleList",
                                      .list_kind = "",
                                      .resource = "samples",
                                      .singular = "",
                                      .scope = Scope::kNamespaced,
                                      .list = nullptr};

}  // namespace

constinit const TypeTable Port::kTable = WithWire(MakeTable<Port>("test.Port", kPortFields, kPortSlots), kPortWire);
constinit const TypeTable Node::kTable = WithWire(MakeTable<Node>("test.Node", kNodeFields, kNodeSlots), kNodeWire);
constinit const TypeTable Spec::kTable = WithWire(MakeTable<Spec>("test.Spec", kSpecFields, kSpecSlots), kSpecWire);
constinit const TypeTable Sample::kTable =
    WithWire(MakeTable<Sample>("test.Sample", kSampleFields, kSampleSlots, offsetof(Sample, metadata), &kSampleKind),
             kSampleWire);
constinit const TypeTable SampleList::kTable = MakeTable<SampleList>(
    "test.SampleList", kSampleListFields, kSampleListSlots, offsetof(SampleList, metadata), &kSampleListKind);

Sample Full() {
  Sample full{.metadata = {.name = "full", .namespace_ = "default", .labels = {{"app", "web"}, {"tier", kLong}}}};
  Spec& spec = *full.spec;
  spec.amount = "1.5Gi";
  spec.args = {"--verbose", kLong};
  spec.big = std::int64_t{1} << 40;
  spec.blob = Bytes::Of(kLong);
  spec.data = {{"password", Bytes::Of("hunter2")}};
  spec.exact = MicroTime::Parse("2026-11-21T08:33:00.123456+01:00").value();
  spec.extra = Json(R"({"a":[1,2.50,12345678901234567890]})");
  spec.limits = {{"cpu", "500m"}, {"memory", "1Gi"}};
  spec.lists["x"] = {"a", kLong};
  spec.matrix = {{1, 2}, {}, {3}};
  spec.nodeName = kLong;
  spec.nodes["a"].name = "a";
  spec.ports = {{.name = "http", .containerPort = 80}, {.name = kLong, .containerPort = 443, .protocol = "TCP"}};
  spec.ports[0].unknown_fields.Set("appProtocol", Json("\"h2c\""));
  spec.ratio = 0.25;
  spec.replicas = 3;
  spec.selector = {{"app", "web"}};
  spec.suspend = false;
  spec.target = 8080;
  spec.timeout = Duration::Parse("1h30m").value();
  spec.tree->child->children.push_back({.name = "leaf"});
  spec.weights["w"] = 7;
  spec.when = Time::Parse("2026-11-21T08:33:00Z").value();
  full.status.emplace();
  full.unknown_fields.Set("newField", Json("{\"deep\":[null]}"));
  return full;
}

}  // namespace kgen::sample
