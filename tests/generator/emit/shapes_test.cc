// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which objects of a group become one struct, and what that struct says.
#include "generator/emit/plan/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/plan/make_plan.h"
#include "generator/emit/render/emitter.h"
#include "tests/generator/load.h"

namespace kgen::generator::emit {
namespace {

using test::Load;
using test::Loaded;
using test::OrderCrd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

Plan PlanOf(std::vector<std::string> texts, std::set<std::string, std::less<>> distinct = {}) {
  Loaded loaded = Load(std::move(texts));
  EXPECT_EQ(loaded.Said(), "");
  Plan plan = MakePlan(loaded.api, {.name_space = "acme", .distinct = std::move(distinct)}, loaded.diagnostics);
  EXPECT_EQ(loaded.Said(), "");
  return plan;
}

std::vector<PlannedStruct> SharedOf(const Plan& plan) {
  const auto group = plan.groups.find("shop.example.com");
  return group == plan.groups.end() ? std::vector<PlannedStruct>() : group->second.structs;
}

// Returns the plan of a CRD with these properties of `spec`.
Plan PlanOfSpec(const std::string& properties) {
  return PlanOf({OrderCrd("spec: {type: object, properties: {" + properties + "}}")});
}

std::vector<std::string> AliasesOf(const PlannedStruct& planned) {
  std::vector<std::string> aliases;
  for (const PlannedAlias& alias : planned.aliases) aliases.push_back(alias.name + " = " + alias.target);
  return aliases;
}

const PlannedStruct& SpecOf(const Plan& plan) { return plan.versions.at(0).structs.at(0).nested.at(0); }

bool AreOneType(const std::string& a, const std::string& b) {
  const Plan plan = PlanOfSpec("a: " + a + ", b: " + b);
  const std::vector<PlannedAlias>& aliases = SpecOf(plan).aliases;
  return aliases.size() == 2 && aliases[0].target == aliases[1].target;
}

constexpr const char* kReference = "{type: object, properties: {name: {type: string}}}";

TEST(Shapes, OfOneUseAreNested) {
  const Plan plan = PlanOfSpec(std::string("a: ") + kReference);
  EXPECT_THAT(plan.groups, IsEmpty());
  EXPECT_FALSE(plan.versions.at(0).has_shared);
  EXPECT_EQ(SpecOf(plan).nested.at(0).path, "Order::Spec::A");
}

TEST(Shapes, OfSeveralUsesAreSharedAndEachUseIsAnAlias) {
  const Plan plan = PlanOfSpec(std::string("a: ") + kReference + ", b: {type: array, items: " + kReference + "}");
  const std::vector<PlannedStruct> shared = SharedOf(plan);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_THAT(shared[0].name, MatchesRegex("A_[0-9a-f]{8}"));
  EXPECT_EQ(shared[0].table_name, "acme.shop." + shared[0].name);
  EXPECT_THAT(shared[0].comment, ElementsAre("// v1::Order::Spec::A and 1 other."));
  EXPECT_THAT(AliasesOf(SpecOf(plan)), ElementsAre("A = " + shared[0].name, "B = " + shared[0].name));
  EXPECT_THAT(SpecOf(plan).nested, IsEmpty());
  EXPECT_EQ(SpecOf(plan).fields.at(0).type, "kgen::Optional<A>");
  EXPECT_EQ(SpecOf(plan).fields.at(0).detail, "&" + shared[0].name + "::kTable");
  EXPECT_EQ(SpecOf(plan).fields.at(1).type, "kgen::List<B>");
  EXPECT_EQ(SpecOf(plan).fields.at(1).detail, "&kgen::kTypeOf<" + shared[0].name + ">");
  EXPECT_TRUE(plan.versions.at(0).has_shared);
}

TEST(Shapes, AreToldApartByNamesKindsNullabilityAndWhatIsInside) {
  EXPECT_TRUE(AreOneType("{type: object, properties: {a: {type: integer, format: int32}}}",
                         "{type: object, properties: {a: {type: integer, format: int32}}}"));
  EXPECT_FALSE(AreOneType("{type: object, properties: {a: {type: integer, format: int32}}}",
                          "{type: object, properties: {a: {type: integer, format: int64}}}"));
  EXPECT_FALSE(
      AreOneType("{type: object, properties: {a: {type: string}}}", "{type: object, properties: {c: {type: string}}}"));
  EXPECT_FALSE(AreOneType("{type: object, properties: {a: {type: string}}}",
                          "{type: object, properties: {a: {type: string, nullable: true}}}"));
  EXPECT_FALSE(AreOneType("{type: object, properties: {a: {type: array, items: {type: string}}}}",
                          "{type: object, properties: {a: {type: object, additionalProperties: {type: string}}}}"));
  EXPECT_FALSE(AreOneType("{type: object, properties: {d: {type: object, properties: {a: {type: string}}}}}",
                          "{type: object, properties: {d: {type: object, properties: {a: {type: boolean}}}}}"));
  EXPECT_FALSE(
      AreOneType("{type: object, properties: {a: {type: string}}}",
                 "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}"));
}

TEST(Shapes, DoNotDependOnWhatIsSaidOfTheFields) {
  EXPECT_TRUE(AreOneType(
      "{type: object, description: One., required: [a], properties: {a: {type: string, minLength: 1, default: x}}}",
      "{type: object, description: Two., properties: {a: {type: string, description: Words.}}}"));
}

TEST(Shapes, SayWhatIsTrueOfAllPositions) {
  const std::string one =
      "{type: object, required: [a, b], properties: {a: {type: string, description: A., minLength: 1, default: x}, "
      "b: {type: string, description: B.}}}";
  const std::string two =
      "{type: object, required: [a], properties: {a: {type: string, description: A., minLength: 2, default: x}, "
      "b: {type: string, description: Other.}}}";
  const std::vector<PlannedStruct> shared = SharedOf(PlanOfSpec("a: " + one + ", b: " + two));
  ASSERT_EQ(shared.size(), 1u);
  const PlannedField &a = shared[0].fields.at(0), &b = shared[0].fields.at(1);
  EXPECT_THAT(a.comment, ElementsAre("// Required. A. Default: \"x\"."));
  EXPECT_THAT(b.comment, IsEmpty());
}

TEST(Shapes, AreToldApartByTheValuesOfEnums) {
  const auto with = [](const std::string& p) { return "{type: object, properties: {p: " + p + "}}"; };
  const std::string wx = "{type: string, enum: [w, x]}";
  EXPECT_TRUE(AreOneType(with(wx), with("{type: string, enum: [x, w]}")));
  EXPECT_FALSE(AreOneType(with(wx), with("{type: string, enum: [w]}")));
  EXPECT_FALSE(AreOneType(with(wx), with("{type: string, enum: [wx]}")));
  EXPECT_FALSE(AreOneType(with(wx), with("{type: string}")));
  EXPECT_FALSE(AreOneType(with("{type: array, items: " + wx + "}"), with("{type: array, items: {type: string}}")));
  EXPECT_FALSE(AreOneType(with(with(wx)), with(with("{type: string}"))));
  EXPECT_FALSE(AreOneType(with("{type: integer, enum: [1]}"), with("{type: integer, enum: [1, 2]}")));
}

// The name of every constant of a version, by the path of its struct.
std::set<std::string> ConstantsOf(const PlannedVersion& version, const PlannedGroup& group) {
  std::set<std::string> out;
  const std::function<void(const std::string&, const PlannedStruct&)> add = [&](const std::string& path,
                                                                                const PlannedStruct& planned) {
    for (const PlannedEnum& values : planned.enums) {
      for (const PlannedEnum::Constant& constant : values.constants)
        out.insert(path + "::" + values.name + "::" + constant.identifier + " = " + constant.value);
    }
    for (const PlannedStruct& nested : planned.nested) add(path + "::" + nested.name, nested);
    for (const PlannedAlias& alias : planned.aliases) {
      for (const PlannedStruct& shared : group.structs) {
        if (alias.shared && shared.name == alias.target) add(path + "::" + alias.name, shared);
      }
    }
  };
  for (const PlannedStruct& planned : version.structs) add(planned.name, planned);
  return out;
}

// Contract: generator ENUM-04; design D19.
TEST(Constants, StayWhatTheyAreWhenAKindIsAdded) {
  const std::string order = OrderCrd(
      "spec: {type: object, properties: {rule: {type: object, properties: {action: {type: string, enum: [drop, "
      "Keep]}, note: {type: string}}}}}");
  std::string route = OrderCrd(
      "spec: {type: object, properties: {rule: {type: object, properties: {action: {type: string, enum: [Drop, drop, "
      "keep]}, note: {type: string}}}}}");
  for (std::size_t at = route.find("orders"); at != std::string::npos; at = route.find("orders"))
    route.replace(at, 6, "routes");
  route.replace(route.find("kind: Order,"), 12, "kind: Route,");
  const auto of = [](const Plan& plan, const std::string& kind) {
    const auto group = plan.groups.find("shop.example.com");
    std::set<std::string> constants =
        ConstantsOf(plan.versions.at(0), group == plan.groups.end() ? PlannedGroup() : group->second);
    std::erase_if(constants, [&](const std::string& name) { return !name.starts_with(kind); });
    return constants;
  };
  const std::set<std::string> alone = of(PlanOf({order}), "Order");
  EXPECT_THAT(alone, ElementsAre("Order::Spec::Rule::ActionValues::kKeep = \"Keep\"",
                                 "Order::Spec::Rule::ActionValues::k_drop = \"drop\""));
  const Plan both = PlanOf({order, route});
  EXPECT_EQ(of(both, "Order"), alone);
  EXPECT_THAT(of(both, "Route"), ElementsAre("Route::Spec::Rule::ActionValues::kDrop = \"Drop\"",
                                             "Route::Spec::Rule::ActionValues::k_drop = \"drop\"",
                                             "Route::Spec::Rule::ActionValues::k_keep = \"keep\""));
}

TEST(Constants, OfAPositionDoNotAppearAtAnother) {
  const Plan plan = PlanOfSpec(
      "a: {type: object, properties: {p: {type: string, enum: [w, x]}}}, "
      "b: {type: object, properties: {p: {type: string}}}, "
      "c: {type: object, properties: {p: {type: string, enum: [z, x]}}}, "
      "d: {type: object, properties: {p: {type: string, enum: [x, w]}}}");
  ASSERT_EQ(SharedOf(plan).size(), 1u);
  const auto constants = ConstantsOf(plan.versions.at(0), plan.groups.at("shop.example.com"));
  EXPECT_THAT(constants, ElementsAre("Order::Spec::A::PValues::k_w = \"w\"", "Order::Spec::A::PValues::k_x = \"x\"",
                                     "Order::Spec::C::PValues::k_x = \"x\"", "Order::Spec::C::PValues::k_z = \"z\"",
                                     "Order::Spec::D::PValues::k_w = \"w\"", "Order::Spec::D::PValues::k_x = \"x\""));
  EXPECT_THAT(SpecOf(plan).nested.at(0).fields.at(0).comment, IsEmpty());
  EXPECT_THAT(SpecOf(plan).nested.at(1).fields.at(0).comment, ElementsAre("// One of PValues."));
}

TEST(Shapes, LeaveTheWordsOfAPositionAtItsAlias) {
  const Plan plan = PlanOfSpec(
      "a: {type: array, items: {type: object, description: One a., properties: {x: {type: string}}}}, "
      "b: {type: array, items: {type: object, description: One b., properties: {x: {type: string}}}}");
  EXPECT_THAT(SpecOf(plan).aliases.at(0).comment, ElementsAre("// One a."));
  EXPECT_THAT(SpecOf(plan).aliases.at(1).comment, ElementsAre("// One b."));
  EXPECT_THAT(SharedOf(plan).at(0).comment, ElementsAre("// v1::Order::Spec::A and 1 other."));
}

TEST(Shapes, LeaveTheWordsOfMembersAtTheAliasWhereTheyDiffer) {
  const auto pod = [](const std::string& image, const std::string& port) {
    return "{type: object, properties: {image: {type: string" + image +
           "}, ports: {type: array, items: {type: object, properties: {port: {type: integer" + port +
           "}, name: {type: string, description: Same.}}}}}}";
  };
  const Plan plan =
      PlanOfSpec("a: " + pod(", description: One.", "") + ", b: " + pod(", description: Two.", ", description: P2.") +
                 ", c: " + pod("", ", description: P3."));
  const std::vector<PlannedAlias>& aliases = SpecOf(plan).aliases;
  ASSERT_EQ(aliases.size(), 3u);
  EXPECT_THAT(aliases[0].comment, ElementsAre("// `image`: One."));
  EXPECT_THAT(aliases[1].comment, ElementsAre("// `image`: Two.", "// `ports.port`: P2."));
  EXPECT_THAT(aliases[2].comment, ElementsAre("// `ports.port`: P3."));
  ASSERT_EQ(SharedOf(plan).size(), 1u);
  EXPECT_THAT(SharedOf(plan)[0].nested.at(0).fields.at(0).comment, ElementsAre("// Same."));
}

// What the positions of an alias inside of a shared struct have in common stands there, once.
TEST(Shapes, LeaveTheWordsOfMembersAtTheInnermostAliasThatKnowsThem) {
  const std::string tls =
      "{type: object, properties: {map: {type: object, properties: {key: {type: string, description: Of a map.}}}, "
      "secret: {type: object, properties: {key: {type: string, description: Of a secret.}}}}}";
  const Plan plan = PlanOfSpec("a: " + tls + ", b: " + tls);
  EXPECT_THAT(SpecOf(plan).aliases.at(0).comment, IsEmpty());
  const std::vector<PlannedStruct> shared = SharedOf(plan);
  const auto outer = std::find_if(shared.begin(), shared.end(), [](const auto& s) { return s.aliases.size() == 2; });
  ASSERT_NE(outer, shared.end());
  EXPECT_THAT(outer->aliases[0].comment, ElementsAre("// `key`: Of a map."));
  EXPECT_THAT(outer->aliases[1].comment, ElementsAre("// `key`: Of a secret."));
}

TEST(Shapes, HaveTheDescriptionThatSomePositionsLeaveOut) {
  const Plan plan = PlanOfSpec(
      "a: {type: object, properties: {x: {type: string, description: Words.}}}, "
      "b: {type: object, properties: {x: {type: string}}}");
  ASSERT_EQ(SharedOf(plan).size(), 1u);
  EXPECT_THAT(SharedOf(plan)[0].fields.at(0).comment, ElementsAre("// Words."));
  EXPECT_THAT(SpecOf(plan).aliases.at(0).comment, IsEmpty());
}

TEST(Shapes, StandAfterTheOnesThatTheyUse) {
  const std::string inner = "{type: object, properties: {z: {type: string}}}";
  const std::string outer = "{type: object, properties: {z: " + inner + ", w: {type: boolean}}}";
  const std::vector<PlannedStruct> shared = SharedOf(PlanOfSpec("a: " + outer + ", b: " + outer + ", c: " + inner));
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_THAT(shared[1].aliases, testing::SizeIs(1));
  EXPECT_EQ(shared[1].aliases[0].target, shared[0].name);
}

TEST(Shapes, InsideASharedOneAreNestedThere) {
  const std::string outer =
      "{type: object, properties: {z: {type: object, properties: {x: {type: string}}}, w: {type: boolean}}}";
  const std::vector<PlannedStruct> shared = SharedOf(PlanOfSpec("a: " + outer + ", b: " + outer));
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].nested.at(0).path, shared[0].name + "::Z");
  EXPECT_EQ(shared[0].nested.at(0).table_name, "acme.shop." + shared[0].name + ".Z");
}

TEST(Shapes, AreNotSharedByDirectChildrenOfKinds) {
  const Plan plan = PlanOf({OrderCrd(std::string("spec: ") + kReference + "\nstatus: " + kReference)});
  EXPECT_THAT(plan.groups, IsEmpty());
  EXPECT_EQ(plan.versions.at(0).structs.at(0).nested.size(), 2u);
}

TEST(Shapes, AreSharedByTheVersionsOfAGroup) {
  std::string crd = OrderCrd(std::string("spec: {type: object, properties: {a: ") + kReference + "}}");
  crd += std::string(
             "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: "
             "{spec: {type: object, properties: {b: ") +
         kReference + "}}}}}}\n  conversion: {strategy: Webhook}\n";
  const Plan plan = PlanOf({crd});
  ASSERT_EQ(SharedOf(plan).size(), 1u);
  EXPECT_THAT(SharedOf(plan)[0].comment, ElementsAre("// v2::Order::Spec::B and 1 other."));
  ASSERT_EQ(plan.versions.size(), 2u);
  for (const PlannedVersion& version : plan.versions) {
    EXPECT_EQ(version.structs.at(0).nested.at(0).aliases.at(0).target, SharedOf(plan)[0].name);
  }
}

TEST(Shapes, AreNotSharedByGroups) {
  const std::string first = OrderCrd(std::string("spec: {type: object, properties: {a: ") + kReference + "}}");
  std::string second = first;
  for (std::size_t at; (at = second.find("shop.")) != std::string::npos;) second.replace(at, 5, "mart.");
  EXPECT_THAT(PlanOf({first, second}).groups, IsEmpty());
}

TEST(Shapes, HaveTheSameNameWhateverElseIsInTheRun) {
  const std::string both = std::string("aRef: ") + kReference + ", bRef: " + kReference;
  const std::string more = both + ", cRef: " + kReference + ", d: {type: object}, e: {type: object}";
  EXPECT_THAT(SharedOf(PlanOfSpec(both)).at(0).name, MatchesRegex("Ref_[0-9a-f]{8}"));
  EXPECT_EQ(SharedOf(PlanOfSpec(both)).at(0).name, SharedOf(PlanOfSpec(more)).at(1).name);
}

TEST(Shapes, WithAMemberThatIsCalledAsTheyAreKeepItsName) {
  const Plan plan = PlanOfSpec(
      "items: {type: object, properties: {items: {type: object}}}, "
      "port: {type: object, properties: {Port: {type: string}}}");
  const std::vector<PlannedStruct> shared = SharedOf(plan);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].nested.at(0).name, "Items");
  EXPECT_EQ(shared[1].fields.at(0).identifier, "Port");
}

TEST(Shapes, ThatReferToNamedTypesStayWhereTheyAre) {
  const Plan plan = PlanOf({R"(openapi: 3.0.0
info: {title: t, version: '1'}
components:
  schemas:
    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: string}}}
    com.example.shop.v1.B: {type: object, properties: {x: {type: string}}}
    com.example.shop.v1.A:
      type: object
      properties:
        one: {type: object, properties: {b: {$ref: '#/components/schemas/com.example.shop.v1.B'}}}
        two: {type: object, properties: {b: {$ref: '#/components/schemas/com.example.shop.v1.B'}}}
    com.example.shop.v1.Order:
      type: object
      properties:
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
        a: {$ref: '#/components/schemas/com.example.shop.v1.A'}
      x-kubernetes-group-version-kind: [{group: shop.example.com, version: v1, kind: Order}]
paths:
  /apis/shop.example.com/v1/namespaces/{namespace}/orders/{name}:
    get: {x-kubernetes-action: get, x-kubernetes-group-version-kind: {group: shop.example.com, version: v1, kind: Order}}
)"});
  EXPECT_THAT(plan.groups, IsEmpty());
}

TEST(DistinctPositions, HaveTypesOfTheirOwn) {
  const std::string outer =
      "{type: object, properties: {z: {type: object, properties: {x: {type: string}}}, w: {type: "
      "array, items: {type: object, properties: {x: {type: boolean}}}}}}";
  const std::string crd =
      OrderCrd("spec: {type: object, properties: {a: " + outer + ", b: " + outer + ", c: " + outer + "}}");
  const auto targets = [&](const std::string& path) {
    const Plan plan = PlanOf({crd}, {"orders.shop.example.com:" + path});
    return std::pair(SpecOf(plan).aliases.size(), SpecOf(plan).nested.size());
  };
  EXPECT_EQ(targets("spec.a"), std::pair(2ul, 1ul));
  EXPECT_EQ(targets("spec.b.z"), std::pair(2ul, 1ul)) << "what holds it is another type too";
  EXPECT_EQ(targets("spec.c.w"), std::pair(2ul, 1ul)) << "the elements of a list";
  EXPECT_EQ(targets("spec"), std::pair(3ul, 0ul)) << "it has a type of its own anyway";
}

TEST(DistinctPositions, ThatAreNotThereAreErrors) {
  Loaded loaded = Load({OrderCrd("spec: {type: object, properties: {a: {type: string}}}")});
  (void)MakePlan(loaded.api, {.name_space = "acme", .distinct = {"orders.shop.example.com:spec.a"}},
                 loaded.diagnostics);
  EXPECT_THAT(loaded.Said(), HasSubstr("error distinct-unknown: --distinct \"orders.shop.example.com:spec.a\" names no "
                                       "object of the input"));
}

TEST(SharedHeader, ComesBeforeTheTablesOfItsVersions) {
  Loaded loaded =
      Load({OrderCrd(std::string("spec: {type: object, properties: {a: ") + kReference + ", b: " + kReference + "}}")});
  const Files one = Emit(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_TRUE(one.contains("acme/shop/shapes.h"));
  EXPECT_THAT(one.at("acme/shop/v1/types.h"), HasSubstr("#include \"acme/shop/shapes.h\""));
  EXPECT_THAT(one.at("acme/acme.cc"), HasSubstr("namespace acme::shop {"));
  const Files split = Emit(loaded.api, {.name_space = "acme", .split_by_group = true}, loaded.diagnostics);
  EXPECT_TRUE(split.contains("acme/shop/tables.cc"));
  const Files shards = Emit(loaded.api, {.name_space = "acme", .shards = 2}, loaded.diagnostics);
  EXPECT_THAT(shards.at("acme/acme.cc"), HasSubstr("namespace acme::shop {"));
}

}  // namespace
}  // namespace kgen::generator::emit
