// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/value.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/access.h"
#include "core/blocks.h"
#include "core/tables/name_hash.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::Full;
using sample::kLong;
using sample::Node;
using sample::Port;
using sample::Sample;
using sample::Spec;
using ValueTest = sample::CoreTest;

// That a T without anything in it is made of zeros, and that zeros read as one.
template <typename T>
void ExpectEmptyIsZeros() {
  alignas(T) unsigned char bytes[sizeof(T)] = {};
  T* made = ::new (bytes) T{};
  EXPECT_EQ(std::count(bytes, bytes + sizeof(T), 0), std::ptrdiff_t{sizeof(T)})
      << ::testing::internal::GetTypeName<T>();
  EXPECT_EQ(detail::Empty<T>(), *made);
  made->~T();
}

// Contract: design D5.
TEST_F(ValueTest, AnAbsentValueReadsAsAnEmptyOne) {
  ExpectEmptyIsZeros<Optional<bool>>();
  ExpectEmptyIsZeros<Optional<double>>();
  ExpectEmptyIsZeros<String>();
  ExpectEmptyIsZeros<Time>();
  ExpectEmptyIsZeros<MicroTime>();
  ExpectEmptyIsZeros<Duration>();
  ExpectEmptyIsZeros<Quantity>();
  ExpectEmptyIsZeros<IntOrString>();
  ExpectEmptyIsZeros<Bytes>();
  ExpectEmptyIsZeros<Json>();
  ExpectEmptyIsZeros<List<String>>();
  ExpectEmptyIsZeros<Map<String>>();
  ExpectEmptyIsZeros<UnknownFields>();
  ExpectEmptyIsZeros<Sample>();
  ExpectEmptyIsZeros<Spec>();
  ExpectEmptyIsZeros<meta::v1::ObjectMeta>();
  ExpectEmptyIsZeros<meta::v1::Status>();
  ExpectEmptyIsZeros<Unstructured>();
}

// Contract: design D5.
TEST_F(ValueTest, CopiesEveryKindOfField) {
  const Sample a = Full();
  const Sample b = a;
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(a), Hash(b));
  EXPECT_TRUE(SemanticEqual(a, b));
  EXPECT_EQ(b.spec->exact.str(), "2026-11-21T08:33:00.123456+01:00");
  EXPECT_EQ(b.spec->target.int_value(), 8080);
  EXPECT_EQ(b.spec->matrix[2][0], 3);
  EXPECT_EQ(b.spec->ports[0].unknown_fields["appProtocol"].text(), "\"h2c\"");
}

// One change each, at every kind of place.
// Contract: design D5.
TEST_F(ValueTest, DistinguishesValuesThatDifferInAnyOneField) {
  using Change = void (*)(Sample&);
  const Change changes[] = {
      [](Sample& s) { s.metadata.name = "x"; },
      [](Sample& s) { s.metadata.labels["app"] = "x"; },
      [](Sample& s) { s.spec.reset(); },
      [](Sample& s) { s.status.reset(); },
      [](Sample& s) { s.unknown_fields.clear(); },
      [](Sample& s) { s.spec->amount = "1536Mi"; },
      [](Sample& s) { s.spec->args.pop_back(); },
      [](Sample& s) { s.spec->args[0] = "x"; },
      [](Sample& s) { s.spec->big.reset(); },
      [](Sample& s) { s.spec->blob.reset(); },
      [](Sample& s) { s.spec->data["password"] = Bytes::Of("x"); },
      [](Sample& s) { s.spec->exact = s.spec->exact.value(); },
      [](Sample& s) { s.spec->extra = Json("1"); },
      [](Sample& s) { s.spec->limits["cpu"] = "0.5"; },
      [](Sample& s) { s.spec->lists["x"].reset(); },
      [](Sample& s) { s.spec->matrix[1] = {9}; },
      [](Sample& s) { s.spec->matrix[0][1] = 3; },
      [](Sample& s) { s.spec->nodeName = kLong + "x"; },
      [](Sample& s) { s.spec->nodes["b"] = Node{.name = "b"}; },
      [](Sample& s) { s.spec->ports[1].containerPort = 444; },
      [](Sample& s) { s.spec->ports[0].unknown_fields.clear(); },
      [](Sample& s) { s.spec->ratio = 0.5; },
      [](Sample& s) { s.spec->replicas = 0; },
      [](Sample& s) { s.spec->selector.clear(); },
      [](Sample& s) { s.spec->suspend.reset(); },
      [](Sample& s) { s.spec->suspend = true; },
      [](Sample& s) { s.spec->target = "8080"; },
      [](Sample& s) { s.spec->timeout = Duration::Parse("90m").value(); },
      [](Sample& s) { s.spec->tree->child->children[0].name.reset(); },
      [](Sample& s) { s.spec->weights["w"] = 8; },
      [](Sample& s) { s.spec->when.reset(); },
  };
  const Sample original = Full();
  int i = 0;
  for (const Change change : changes) {
    Sample changed = original;
    change(changed);
    EXPECT_NE(changed, original) << "change " << i;
    EXPECT_NE(Hash(changed), Hash(original)) << "change " << i;
    EXPECT_EQ(original, Full()) << "a copy shares what change " << i << " writes";
    ++i;
  }
}

TEST_F(ValueTest, ComparesTextInABlockWithTheSameTextInline) {
  Spec a;
  a.nodeName = "short";
  Spec b;
  detail::StringAccess::AdoptBlock(b.nodeName, detail::NewText("short"));
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(a), Hash(b));
  detail::StringAccess::AdoptBlock(a.nodeName = String(), detail::NewText(""));
  EXPECT_NE(a, Spec()) << "empty text in a block is not unset";
}

TEST_F(ValueTest, KeepsTheNumberAndTheTextOfAnIntOrStringApart) {
  Spec number{.target = 80};
  Spec text{.target = "80"};
  EXPECT_NE(number, text);
  detail::StringAccess::AdoptBlock(detail::ScalarAccess::Text(text.target = IntOrString()), detail::NewText("80"));
  EXPECT_NE(number, text);
}

// Contract: generator COD-20.
TEST_F(ValueTest, TreatsAbsentAndEmptyAsEqualInSemanticEqualityOnly) {
  Spec absent;
  Spec empty;
  empty.args.emplace();
  empty.selector.emplace();
  empty.nodeName = "";
  empty.blob = Bytes::Of("");
  EXPECT_NE(absent, empty);
  EXPECT_TRUE(SemanticEqual(absent, empty));
  EXPECT_TRUE(SemanticEqual(empty, absent));
}

// Contract: generator COD-20.
TEST_F(ValueTest, ComparesAmountsAndInstantsInSemanticEqualityOnly) {
  Spec a{.amount = "1",
         .timeout = Duration::Parse("90m").value(),
         .when = Time::Parse("2026-01-01T01:00:00+01:00").value()};
  Spec b{.amount = "1000m",
         .timeout = Duration::Parse("1h30m").value(),
         .when = Time::Parse("2026-01-01T00:00:00Z").value()};
  EXPECT_NE(a, b);
  EXPECT_TRUE(SemanticEqual(a, b));
  b.amount = "1001m";
  EXPECT_FALSE(SemanticEqual(a, b));
  Spec limits_a{.limits = {{"cpu", "1"}}};
  Spec limits_b{.limits = {{"cpu", "1000m"}}};
  EXPECT_TRUE(SemanticEqual(limits_a, limits_b));
}

// Contract: generator COD-20.
TEST_F(ValueTest, DistinguishesContentInSemanticEquality) {
  EXPECT_FALSE(SemanticEqual(Spec{.args = {"a"}}, Spec{}));
  EXPECT_FALSE(SemanticEqual(Spec{.replicas = 0}, Spec{}));
  EXPECT_FALSE(SemanticEqual(Spec{.args = {"a", "b"}}, Spec{.args = {"b", "a"}}));
  EXPECT_FALSE(SemanticEqual(Node{.child = {}}, Node{}));
}

TEST_F(ValueTest, ComparesQuantitiesThatWereNumbersByValue) {
  const auto number = [](auto value, std::string_view text) {
    EXPECT_TRUE(detail::ScalarAccess::SetNumber(value, text));
    return value;
  };
  const Spec a{.amount = number(Quantity(), "2"), .target = number(IntOrString(), "80")};
  const Spec b{.amount = number(Quantity(), "2.0"), .target = number(IntOrString(), "8e1")};
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(a), Hash(b));
  EXPECT_NE(a, (Spec{.amount = number(Quantity(), "2"), .target = number(IntOrString(), "81")}));
  EXPECT_NE(a, (Spec{.amount = "2", .target = number(IntOrString(), "80")}));
}

TEST_F(ValueTest, GivesEqualHashesToZeroAndMinusZeroWhichAreEqual) {
  const Spec a{.ratio = 0.0};
  const Spec b{.ratio = -0.0};
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(a), Hash(b));
}

TEST_F(ValueTest, HashesTheSameElementsInOtherFieldsDifferently) {
  EXPECT_NE(Hash(Node{.children = {Node{}}}), Hash(Node{.named = {{"", Node{}}}}));
  EXPECT_NE(Hash(Port{.name = "a"}), Hash(Port{.protocol = "a"}));
}

TEST_F(ValueTest, RecognisesAnEmptyStructAtAnyDepth) {
  EXPECT_TRUE(detail::IsEmptyStruct(Spec::kTable.empty, Spec::kTable));
  Sample s;
  EXPECT_TRUE(detail::IsEmptyStruct(&s, Sample::kTable));
  s.metadata.unknown_fields.Set("a", Json("1"));
  EXPECT_FALSE(detail::IsEmptyStruct(&s, Sample::kTable));
}

TEST_F(ValueTest, DestroysAMillionLevelsOfNestingWithoutExhaustingTheStack) {
  Node top;
  {
    Optional<Node> chain = kAbsent;
    for (int i = 0; i < 1'000'000; ++i) {
      Node n;
      n.child = std::move(chain);
      chain = Optional<Node>(std::move(n));
    }
    top.child = std::move(chain);
  }
  EXPECT_GE(LiveBlocks(), 1'000'000);
}

TEST_F(ValueTest, DestroysDeepNestingThroughListsAndMapsToo) {
  List<Node> list;
  Map<Node> map;
  for (int i = 0; i < 20'000; ++i) {
    Node n{.name = kLong};
    n.children = std::move(list);
    list = {};
    list.push_back(std::move(n));
    Node m;
    m.named = std::move(map);
    map = {};
    map.insert_or_assign(kLong, std::move(m));
  }
}

TEST_F(ValueTest, HasAllZeroBytesAsTheDefaultStateOfEveryType) {
  const auto all_zero = [](const auto& value) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    return std::all_of(bytes, bytes + sizeof value, [](unsigned char byte) { return byte == 0; });
  };
  alignas(8) unsigned char memory[sizeof(Sample)] = {};
  const Sample* sample = ::new (memory) Sample();
  EXPECT_TRUE(all_zero(*sample));
  EXPECT_TRUE(all_zero(*std::as_const(sample->spec)));
}

TEST_F(ValueTest, ResetsMembersAndStructsToTheirDefaults) {
  Sample full = Full();
  for (const Field& field : Spec::kTable) detail::ResetMember(detail::MemberOf(&*full.spec, field), field);
  EXPECT_EQ(*full.spec, Spec());
  detail::ResetStruct(&full, Sample::kTable);
  EXPECT_EQ(full, Sample());
}

// ---- Tables. ----

TEST_F(ValueTest, FindsEachFieldByItsWireNameAndNothingElse) {
  const TypeTable* const tables[] = {&Sample::kTable,
                                     &Spec::kTable,
                                     &Node::kTable,
                                     &meta::v1::ObjectMeta::kTable,
                                     &meta::v1::Status::kTable,
                                     &meta::v1::Condition::kTable};
  for (const TypeTable* table : tables) {
    TypeTable linear = *table;
    linear.hash_slots = nullptr;
    for (const Field& field : *table) {
      const std::string name(field.wire_name());
      EXPECT_EQ(table->Find(name), &field) << table->name;
      EXPECT_EQ(linear.Find(name), &field) << table->name;
      for (const std::string& other : {name + "x", name.substr(1), "X" + name.substr(1), std::string(1, name[0])}) {
        EXPECT_EQ(table->Find(other), linear.Find(other)) << table->name << ' ' << other;
      }
    }
    EXPECT_EQ(table->Find(""), nullptr);
    EXPECT_EQ(linear.Find(""), nullptr);
    EXPECT_EQ(table->Find("no such field"), nullptr);
  }
}

TEST_F(ValueTest, HashesANameAtRunTimeAsAtCompileTime) {
  constexpr std::uint64_t kShort = detail::NameKey("uid");
  constexpr std::uint64_t kEight = detail::NameKey("nodeName");
  constexpr std::uint64_t kLonger = detail::NameKey("terminationGracePeriodSeconds");
  EXPECT_EQ(detail::NameKey(std::string("uid")), kShort);
  EXPECT_EQ(detail::NameKey(std::string("nodeName")), kEight);
  EXPECT_EQ(detail::NameKey(std::string("terminationGracePeriodSeconds")), kLonger);
}

TEST_F(ValueTest, UsesTheWireNamesOfTheMetaFields) {
  using meta::v1::ObjectMeta;
  EXPECT_EQ(ObjectMeta::kTable.Find("namespace")->offset, offsetof(ObjectMeta, namespace_));
  EXPECT_EQ(ObjectMeta::kTable.Find("namespace_"), nullptr);
  EXPECT_EQ(meta::v1::ListMeta::kTable.Find("continue")->offset, offsetof(meta::v1::ListMeta, continue_));
  EXPECT_EQ(meta::v1::LabelSelectorRequirement::kTable.Find("operator")->kind, ValueKind::kString);
  EXPECT_EQ(ObjectMeta::kTable.version, kTableVersion);
  EXPECT_EQ(meta::v1::Status::kTable.kind->kind, "Status");
  EXPECT_EQ(meta::v1::Status::kTable.kind->version, "v1");
  EXPECT_EQ(meta::v1::Status::kTable.kind->group, "");
}

// A table is right when it covers its struct: members in order, without gap or overlap.
TEST_F(ValueTest, CoversEveryByteOfItsStructWithFieldsInOrder) {
  using namespace meta::v1;
  const TypeTable* const tables[] = {&OwnerReference::kTable,
                                     &ManagedFieldsEntry::kTable,
                                     &ObjectMeta::kTable,
                                     &ListMeta::kTable,
                                     &LabelSelector::kTable,
                                     &LabelSelectorRequirement::kTable,
                                     &FieldSelectorRequirement::kTable,
                                     &Preconditions::kTable,
                                     &DeleteOptions::kTable,
                                     &Condition::kTable,
                                     &StatusCause::kTable,
                                     &StatusDetails::kTable,
                                     &Status::kTable,
                                     &Spec::kTable};
  const auto size_of = [](const Field& field) -> std::size_t {
    switch (field.kind) {
      case ValueKind::kBool:
        return 2;
      case ValueKind::kInt32:
      case ValueKind::kTime:
      case ValueKind::kMicroTime:
      case ValueKind::kBox:
      case ValueKind::kList:
      case ValueKind::kMap:
        return 8;
      case ValueKind::kStruct:
        return field.table()->size;
      default:
        return 16;
    }
  };
  for (const TypeTable* table : tables) {
    std::size_t at = 0;
    for (const Field& field : *table) {
      EXPECT_GE(field.offset, at) << table->name << '.' << field.name;
      EXPECT_LT(field.offset, at + 8) << table->name << '.' << field.name;
      at = field.offset + size_of(field);
    }
    EXPECT_LT(table->unknown_offset - at, 8u) << table->name;
    EXPECT_EQ(table->unknown_offset + sizeof(UnknownFields), table->size) << table->name;
  }
}

}  // namespace
}  // namespace kgen
