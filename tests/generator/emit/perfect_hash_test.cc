// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/perfect_hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kgen/core/type_table.h"

namespace kgen::generator::emit {
namespace {

std::vector<std::string> Numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("field" + std::to_string(i * 7919));
  return names;
}

TEST(NameSlots, FindEachField) {
  for (std::size_t count : {1, 2, 13, 60, 120, 200}) {
    const std::vector<std::string> names = Numbered(count);
    const NameSlots slots = FindNameSlots(names);
    ASSERT_FALSE(slots.slots.empty()) << count;
    std::vector<Field> fields;
    for (const std::string& name : names) {
      fields.push_back({name.data(), static_cast<std::uint16_t>(name.size()), 0, ValueKind::kString, 0, 0, nullptr});
    }
    TypeTable table{};
    table.field_data = fields.data();
    table.field_count = static_cast<std::uint16_t>(count);
    table.hash_bits = slots.bits;
    table.hash_seed = slots.seed;
    table.hash_slots = slots.slots.data();
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(table.Find(names[i]), &fields[i]) << names[i];
    EXPECT_EQ(table.Find("nobody"), nullptr);
  }
}

TEST(NameSlots, AreEmptyForNamesThatTheHashCannotDistinguish) {
  EXPECT_TRUE(FindNameSlots({"aaaaaaaa-1-bbbbbbbb", "aaaaaaaa-2-bbbbbbbb"}).slots.empty());
}

TEST(NameSlots, AreEmptyForMoreThan255Fields) { EXPECT_TRUE(FindNameSlots(Numbered(255)).slots.empty()); }

}  // namespace
}  // namespace kgen::generator::emit
