// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The tables of all generated code: the built-in API and the small APIs.
#include <acme/scheme.h>
#include <gtest/gtest.h>
#include <hostile/scheme.h>
#include <k8s/core/v1/types.h>
#include <k8s/scheme.h>
#include <pipelines/scheme.h>

#include <set>
#include <string_view>

#include "kgen/core/type_table.h"

namespace {

using Tables = std::set<const kgen::TypeTable*>;

void Collect(const kgen::TypeTable& table, Tables& tables);

void Collect(const kgen::ValueType& type, Tables& tables) {
  if (type.table != nullptr) Collect(*type.table, tables);
  if (type.element != nullptr) Collect(*type.element, tables);
}

void Collect(const kgen::TypeTable& table, Tables& tables) {
  if (!tables.insert(&table).second) return;
  for (const kgen::Field& field : table) {
    if (field.kind == kgen::ValueKind::kBox || field.kind == kgen::ValueKind::kStruct) Collect(*field.table(), tables);
    if (field.kind == kgen::ValueKind::kList || field.kind == kgen::ValueKind::kMap) Collect(*field.element(), tables);
  }
  if (table.kind != nullptr && table.kind->list != nullptr) Collect(*table.kind->list, tables);
}

Tables AllTables() {
  Tables tables;
  for (const auto& kinds : {k8s::Kinds(), acme::Kinds(), hostile::Kinds(), pipelines::Kinds()}) {
    for (const kgen::TypeTable* kind : kinds) Collect(*kind, tables);
  }
  return tables;
}

TEST(Tables, HoldTheBuiltInApi) { EXPECT_GT(AllTables().size(), 250u); }

TEST(Tables, HaveTheVersionOfTheRuntime) {
  for (const kgen::TypeTable* table : AllTables()) EXPECT_EQ(table->version, kgen::kTableVersion) << table->name;
}

// Contract: generator NAM-02.
TEST(Tables, FindEachFieldByItsWireName) {
  for (const kgen::TypeTable* table : AllTables()) {
    for (const kgen::Field& field : *table)
      EXPECT_EQ(table->Find(field.wire_name()), &field) << table->name << " " << field.wire_name();
    EXPECT_EQ(table->Find("there is no such field"), nullptr) << table->name;
  }
}

TEST(Tables, ListMembersByOffset) {
  for (const kgen::TypeTable* table : AllTables()) {
    const kgen::Field* before = nullptr;
    for (const kgen::Field& field : *table) {
      if (before != nullptr) {
        EXPECT_LT(before->offset, field.offset) << table->name << " " << field.wire_name();
      }
      before = &field;
    }
    if (before != nullptr && table->unknown_offset != kgen::TypeTable::kNoUnknown) {
      EXPECT_LT(before->offset, table->unknown_offset) << table->name;
    }
    EXPECT_LE(table->unknown_offset + 8u, table->size) << table->name;
  }
}

TEST(Tables, HaveAPerfectHashWhereOneExists) {
  for (const kgen::TypeTable* table : AllTables()) {
    if (table->field_count != 0) {
      EXPECT_NE(table->hash_slots, nullptr) << table->name;
    }
  }
}

// Contract: generator SCH-01.
TEST(Tables, OfKindsHaveTheirIdentity) {
  const kgen::KindInfo& pod = *k8s::core::v1::Pod::kTable.kind;
  EXPECT_EQ(pod.group, "");
  EXPECT_EQ(pod.version, "v1");
  EXPECT_EQ(pod.kind, "Pod");
  EXPECT_EQ(pod.list_kind, "PodList");
  EXPECT_EQ(pod.resource, "pods");
  EXPECT_EQ(pod.singular, "pod");
  EXPECT_EQ(pod.scope, kgen::Scope::kNamespaced);
  EXPECT_EQ(pod.list, &k8s::core::v1::PodList::kTable);
  EXPECT_EQ(k8s::core::v1::PodList::kTable.kind->kind, "PodList");
  EXPECT_EQ(k8s::core::v1::Node::kTable.kind->scope, kgen::Scope::kCluster);
}

// Contract: generator OUT-13.
TEST(Tables, OfTwoRunsCoexistInOneProgram) {
  std::set<std::string_view> names;
  for (const kgen::TypeTable* table : AllTables()) EXPECT_TRUE(names.insert(table->name).second) << table->name;
}

}  // namespace
