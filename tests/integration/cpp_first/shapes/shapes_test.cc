// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen generate makes of the CRD of kgen-crd the types that the CRD was made of: the structs of ../api, and those that
// are generated from their CRD, have the same members of the same kinds, however deep.
#include <copied/gadgets/v1/types.h>
#include <copied/gadgets/v1beta1/types.h>
#include <gtest/gtest.h>
#include <parts/gadgets/v1/types.h>
#include <parts/gadgets/v1beta1/types.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kgen/core/type_table.h"

namespace kgen {
namespace {

// Every member of a struct, with the path from the kind and the number of its ValueKind.
class Members {
 public:
  explicit Members(const TypeTable& table) { OfTable("", table); }
  const std::map<std::string, std::string>& all() const { return all_; }

 private:
  void OfTable(const std::string& path, const TypeTable& table) {
    if (&table == &meta::v1::ObjectMeta::kTable) return;  // of the runtime; an empty struct where a CRD embeds it
    for (const Field& field : std::span(table.field_data, table.field_count)) {
      const std::string at = path + "/" + std::string(field.wire_name());
      all_[at] = std::to_string(static_cast<int>(field.kind)) + ((field.flags & kNullable) != 0 ? " nullable" : "");
      if (field.kind == ValueKind::kStruct || field.kind == ValueKind::kBox) OfTable(at, *field.table());
      if (field.kind == ValueKind::kList || field.kind == ValueKind::kMap) OfElement(at + "[]", *field.element());
    }
    if ((table.flags & kPreservesUnknown) != 0) all_[path + "/*"] = "";
  }
  void OfElement(const std::string& path, const ValueType& type) {
    all_[path] = std::to_string(static_cast<int>(type.kind));
    if (type.table != nullptr) OfTable(path, *type.table);
    if (type.element != nullptr) OfElement(path + "[]", *type.element);
  }

  std::map<std::string, std::string> all_;
};

// What a CRD cannot say, as "path kind".
using Differences = std::set<std::pair<std::string, std::string>>;

Differences OnlyIn(const Members& one, const Members& other) {
  Differences out;
  for (const auto& member : one.all()) {
    const auto found = other.all().find(member.first);
    if (found == other.all().end() || found->second != member.second) out.insert(member);
  }
  return out;
}

std::string Number(ValueKind kind) { return std::to_string(static_cast<int>(kind)); }

TEST(GadgetShapes, TheTypesOfTheHeaderAndOfItsCrdHaveTheSameMembers) {
  const Members header(parts::gadgets::v1::Gadget::kTable), crd(copied::gadgets::v1::Gadget::kTable);
  EXPECT_GT(header.all().size(), 80u);
  EXPECT_EQ(OnlyIn(header, crd), (Differences{{"/spec/types/microTime", Number(ValueKind::kMicroTime)}}));
  EXPECT_EQ(OnlyIn(crd, header), (Differences{{"/spec/types/microTime", Number(ValueKind::kTime)}}));
  const Members older(parts::gadgets::v1beta1::Gadget::kTable);
  EXPECT_EQ(older.all(), Members(copied::gadgets::v1beta1::Gadget::kTable).all());
}

TEST(GadgetShapes, TheKindIsTheSame) {
  const KindInfo& header = *parts::gadgets::v1::Gadget::kTable.kind;
  const KindInfo& crd = *copied::gadgets::v1::Gadget::kTable.kind;
  EXPECT_EQ(header.group, crd.group);
  EXPECT_EQ(header.version, crd.version);
  EXPECT_EQ(header.kind, crd.kind);
  EXPECT_EQ(header.list_kind, crd.list_kind);
  EXPECT_EQ(header.resource, crd.resource);
  EXPECT_EQ(header.singular, crd.singular);
  EXPECT_EQ(header.scope, crd.scope);
}

}  // namespace
}  // namespace kgen
