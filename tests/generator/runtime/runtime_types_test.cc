// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The types of the API that the runtime spells by hand, because kgen itself is built from it, have the members that the
// documents of the API say.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "generator/commands/load_api.h"
#include "generator/emit/plan/plan_types.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/scale.h"
#include "kgen/core/type_table.h"
#include "kgen/core/value_type.h"
#include "tests/support/paths.h"

namespace kgen::generator {
namespace {

using model::Kind;
using Names = std::set<std::string, std::less<>>;

const model::Api& Kubernetes() {
  static const model::Api kApi = [] {
    Diagnostics diagnostics;
    model::Api api = commands::LoadApi({test_support::SourcePath("openapi/kubernetes-1.36")}, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.Render();
    return api;
  }();
  return kApi;
}

ValueKind KindOf(Kind kind) {
  static const std::map<Kind, ValueKind> kKinds = {{Kind::kObject, ValueKind::kBox},
                                                   {Kind::kRef, ValueKind::kBox},
                                                   {Kind::kList, ValueKind::kList},
                                                   {Kind::kMap, ValueKind::kMap},
                                                   {Kind::kString, ValueKind::kString},
                                                   {Kind::kBool, ValueKind::kBool},
                                                   {Kind::kInt32, ValueKind::kInt32},
                                                   {Kind::kInt64, ValueKind::kInt64},
                                                   {Kind::kDouble, ValueKind::kDouble},
                                                   {Kind::kBytes, ValueKind::kBytes},
                                                   {Kind::kTime, ValueKind::kTime},
                                                   {Kind::kMicroTime, ValueKind::kMicroTime},
                                                   {Kind::kDuration, ValueKind::kDuration},
                                                   {Kind::kQuantity, ValueKind::kQuantity},
                                                   {Kind::kIntOrString, ValueKind::kIntOrString},
                                                   {Kind::kJson, ValueKind::kJson}};
  return kKinds.at(kind);
}

// Whether a struct stands for the type that a schema refers to: "kgen.meta.v1.ListMeta" for ListMeta.
bool IsTableOf(const TypeTable* table, const model::Schema& schema) {
  return table != nullptr && schema.kind == Kind::kRef &&
         std::string_view(table->name).ends_with("." + Kubernetes().types[schema.ref].name);
}

// The tables have no elements of elements.
bool HasType(const Field& field, const model::Schema& unresolved) {
  const model::Schema& schema = emit::Resolved(Kubernetes(), unresolved);
  const ValueKind expected = KindOf(schema.kind);
  if (expected == ValueKind::kBox) {
    const bool in_place = field.wire_name() == "metadata" && field.kind == ValueKind::kStruct;
    return (in_place || field.kind == ValueKind::kBox) && IsTableOf(field.table(), schema);
  }
  if (field.kind != expected) return false;
  if (schema.element == nullptr) return true;
  const model::Schema& element = emit::Resolved(Kubernetes(), *schema.element);
  if (KindOf(element.kind) != ValueKind::kBox) return field.element()->kind == KindOf(element.kind);
  return field.element()->kind == ValueKind::kStruct && IsTableOf(field.element()->table, element);
}

// `left_out` are members that the runtime leaves among the unknown fields.
void ExpectMembersOf(const std::string& group, const std::string& name, const TypeTable& table,
                     const Names& left_out = {}) {
  SCOPED_TRACE(table.name);
  const model::TypeId id = Kubernetes().FindType(group, "v1", name);
  ASSERT_NE(id, model::kNoType);
  const model::Schema& schema = Kubernetes().types[id].schema;
  for (const model::Field& member : schema.fields) {
    const Field* field = table.Find(member.name);
    EXPECT_EQ(field == nullptr, left_out.contains(member.name)) << member.name << " of the document";
    EXPECT_TRUE(field == nullptr || HasType(*field, *member.schema)) << "the type of " << member.name;
  }
  for (const Field& field : table)
    EXPECT_NE(schema.Find(field.wire_name()), nullptr) << field.wire_name() << " is not in the document";
}

TEST(RuntimeTypes, OfMetaHaveTheMembersOfTheDocuments) {
  namespace meta = kgen::meta::v1;
  const std::map<std::string, const TypeTable*, std::less<>> tables = {
      {"Condition", &meta::Condition::kTable},
      {"DeleteOptions", &meta::DeleteOptions::kTable},
      {"FieldSelectorRequirement", &meta::FieldSelectorRequirement::kTable},
      {"LabelSelector", &meta::LabelSelector::kTable},
      {"LabelSelectorRequirement", &meta::LabelSelectorRequirement::kTable},
      {"ListMeta", &meta::ListMeta::kTable},
      {"ManagedFieldsEntry", &meta::ManagedFieldsEntry::kTable},
      {"ObjectMeta", &meta::ObjectMeta::kTable},
      {"OwnerReference", &meta::OwnerReference::kTable},
      {"Preconditions", &meta::Preconditions::kTable},
      {"ShardInfo", &meta::ShardInfo::kTable},
      {"Status", &meta::Status::kTable},
      {"StatusCause", &meta::StatusCause::kTable},
      {"StatusDetails", &meta::StatusDetails::kTable}};
  for (const auto& [name, table] : tables) {
    const bool kind = name == "Status" || name == "DeleteOptions";  // whose apiVersion and kind are in KindInfo
    ExpectMembersOf("meta.k8s.io", name, *table, kind ? Names{"apiVersion", "kind"} : Names{});
  }
  for (const model::NamedType& type : Kubernetes().types) {
    EXPECT_TRUE(!type.runtime || tables.contains(type.name)) << type.name << " is missing in this test";
  }
}

TEST(RuntimeTypes, OfScaleHaveTheMembersOfTheDocuments) {
  ExpectMembersOf("autoscaling", "Scale", autoscaling::v1::Scale::kTable, {"apiVersion", "kind"});
  ExpectMembersOf("autoscaling", "ScaleSpec", autoscaling::v1::ScaleSpec::kTable);
  ExpectMembersOf("autoscaling", "ScaleStatus", autoscaling::v1::ScaleStatus::kTable);
}

}  // namespace
}  // namespace kgen::generator
