// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// `kgen diff`: a small document for each kind of finding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "generator/commands/command.h"
#include "tests/generator/load.h"
#include "tests/support/paths.h"

namespace kgen::generator::commands {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Result {
  int code;
  std::string out, err;
};

class Diff : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kgen-diff-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result Invoke(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "diff");
    std::istringstream in;
    std::ostringstream out, err;
    const int code = RunKgen(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).native();
  }

  Result Compare(const std::string& before, const std::string& after, std::vector<std::string> options = {}) {
    options.push_back(Write("old.yaml", before));
    options.push_back(Write("new.yaml", after));
    return Invoke(options);
  }

  // What is printed for two states of the properties of an Order's spec.
  std::string OfSpec(const std::string& before, const std::string& after) {
    const auto crd = [](const std::string& properties) {
      return test::OrderCrd("spec: {type: object, properties: {" + properties + "}}");
    };
    const Result result = Compare(crd(before), crd(after));
    EXPECT_EQ(result.err, "");
    const bool breaks = result.out.find("breaks") != std::string::npos ||
                        result.out.find("the server now refuses") != std::string::npos;
    EXPECT_EQ(result.code, breaks ? 1 : 0) << result.out;
    static const std::regex same("was ([^\n]*), is \\1\n");
    EXPECT_FALSE(std::regex_search(result.out, same)) << result.out;
    return result.out;
  }

  fs::path folder_;
};

constexpr const char* kSpec = "shop.example.com/v1 Order.spec";

TEST_F(Diff, SaysNothingAboutEqualStates) {
  const std::string orders = test_support::SourcePath("examples/crds/orders.yaml");
  const Result result = Invoke({orders, orders});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(Diff, SaysNothingAboutProseAndOrder) {
  EXPECT_EQ(OfSpec("a: {type: string}, b: {type: integer}", "b: {type: integer, description: x}, a: {type: string}"),
            "");
}

TEST_F(Diff, FindsAFieldThatIsGone) {
  EXPECT_EQ(OfSpec("a: {type: string}, b: {type: integer}", "b: {type: integer}"),
            std::string("breaks C++ source (1):\n  ") + kSpec + ".a: the member a is gone\nbreaks the wire (1):\n  " +
                kSpec + ".a: the field is gone\n");
}

TEST_F(Diff, FindsANewField) {
  EXPECT_EQ(OfSpec("b: {type: integer}", "b: {type: integer}, c: {type: object, properties: {d: {type: string}}}"),
            std::string("only new (1):\n  ") + kSpec + ".c: a new field\n");
}

TEST_F(Diff, FindsAFieldOfAnotherType) {
  EXPECT_EQ(OfSpec("a: {type: array, items: {type: string}}", "a: {type: string}"),
            std::string("breaks C++ source (1):\n  ") + kSpec +
                ".a: its C++ type was kgen::List<kgen::String>, is kgen::String\nbreaks the wire (1):\n  " + kSpec +
                ".a: was a list, is a string\n");
}

TEST_F(Diff, FindsATypeThatOnlyCppSees) {
  EXPECT_EQ(OfSpec("a: {type: integer, format: int32}", "a: {type: integer}"),
            std::string("breaks C++ source (1):\n  ") + kSpec +
                ".a: its C++ type was kgen::Optional<std::int32_t>, is kgen::Optional<std::int64_t>\n");
}

TEST_F(Diff, FindsAStructThatBecameAMap) {
  EXPECT_EQ(OfSpec("a: {type: object, properties: {b: {type: string}}}",
                   "a: {type: object, additionalProperties: {type: string}}"),
            std::string("breaks C++ source (1):\n  ") + kSpec +
                ".a: its C++ type was kgen::Optional<shop::v1::Order::Spec::A>, is kgen::Map<kgen::String>\n");
}

// Two positions of one shape: one C++ type, whose own name ends in a hash of its fields.
std::string TwoPods(const std::string& first, const std::string& second) {
  const auto pod = [](const std::string& inner) {
    return "{type: object, properties: {image: {type: string}, " + inner + "}}";
  };
  return "a: {type: array, items: " + pod(first) + "}, b: " + pod(second);
}

TEST_F(Diff, SaysNothingAboutTheHashOfASharedType) {
  const std::string one = "x: {type: string}", two = one + ", y: {type: string}";
  EXPECT_EQ(OfSpec(TwoPods(one, one), TwoPods(two, two)),
            std::string("only new (2):\n  ") + kSpec + ".a[].y: a new field\n  " + kSpec + ".b.y: a new field\n");
}

TEST_F(Diff, FindsPositionsThatBecameOneType) {
  const std::string one = "x: {type: string}", two = one + ", y: {type: string}";
  EXPECT_EQ(OfSpec(TwoPods(one, two), TwoPods(two, two)),
            std::string("breaks C++ source (1):\n  ") + kSpec + ".b: has the same C++ type as " + kSpec +
                ".a[] now, so overloads and specializations for both do not compile\nonly new (1):\n  " + kSpec +
                ".a[].y: a new field\n");
}

TEST_F(Diff, SaysNothingWhenANewPositionSharesAType) {
  const std::string pod = "{type: object, properties: {image: {type: string}}}";
  EXPECT_EQ(OfSpec("a: " + pod, "a: " + pod + ", b: " + pod),
            std::string("only new (1):\n  ") + kSpec + ".b: a new field\n");
}

TEST_F(Diff, FindsASharedTypeThatBecameTwo) {
  const std::string one = "x: {type: string}", two = one + ", y: {type: string}";
  EXPECT_EQ(OfSpec(TwoPods(one, one), TwoPods(one, two)),
            std::string("breaks C++ source (1):\n  ") + kSpec + ".b: no longer has the C++ type of " + kSpec +
                ".a[], so assignments from one to the other do not compile\nonly new (1):\n  " + kSpec +
                ".b.y: a new field\n");
}

// What is around them says it for the objects inside.
TEST_F(Diff, FindsTypesThatBecameTwoOnceForAllThatIsInside) {
  const auto deep = [](const std::string& inner) {
    return "{type: object, properties: {pod: {type: object, properties: {spec: {type: object, properties: {" + inner +
           "}}}}}}";
  };
  const std::string one = "x: {type: string}", two = one + ", y: {type: string}";
  const std::string out = OfSpec("a: " + deep(one) + ", b: " + deep(one), "a: " + deep(one) + ", b: " + deep(two));
  EXPECT_THAT(out, HasSubstr("breaks C++ source (1):\n  " + std::string(kSpec) + ".b: no longer has"));
}

TEST_F(Diff, NamesEveryPositionOfASharedTypeThatBreaks) {
  const std::string one = "x: {type: string}, z: {type: string}", two = "x: {type: integer}";
  const std::string out = OfSpec(TwoPods(one, one), TwoPods(two, two));
  for (const char* position : {".a[]", ".b"}) {
    EXPECT_THAT(out, HasSubstr(kSpec + std::string(position) + ".z: the member z is gone\n"));
    EXPECT_THAT(out, HasSubstr(kSpec + std::string(position) + ".x: its C++ type was kgen::String, is "));
  }
  EXPECT_THAT(out, HasSubstr("breaks C++ source (4):\n"));
}

TEST_F(Diff, NamesEveryVersionThatBreaks) {
  const auto crd = [](const std::string& rule) {
    const std::string spec =
        "{type: object, properties: {rules: {type: array, items: {type: object, properties: {" + rule + "}}}}}";
    return test::OrderCrd("spec: " + spec) +
           "  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: "
           "{spec: " +
           spec + "}}}}\n";
  };
  const Result result = Compare(crd("a: {type: string}, b: {type: string}"), crd("a: {type: string}"));
  EXPECT_THAT(result.out, HasSubstr("breaks C++ source (2):\n"
                                    "  shop.example.com/v1 Order.spec.rules[].b: the member b is gone\n"
                                    "  shop.example.com/v1beta1 Order.spec.rules[].b: the member b is gone\n"));
}

// The hash in the name of a shared type is no name for users.
TEST_F(Diff, SpellsTypesByTheirPositions) {
  const std::string pod = "{type: object, properties: {image: {type: string}}}";
  const std::string out = OfSpec("a: " + pod + ", b: " + pod, "a: " + pod + ", b: {type: array, items: " + pod + "}");
  EXPECT_THAT(out, HasSubstr(".b: its C++ type was kgen::Optional<shop::v1::Order::Spec::B>, is "
                             "kgen::List<shop::v1::Order::Spec::B>\n"));
}

TEST_F(Diff, LooksIntoElements) {
  const auto of = [](const std::string& inner) {
    return "a: {type: array, items: {type: object, additionalProperties: {type: object, properties: {" + inner + "}}}}";
  };
  EXPECT_EQ(OfSpec(of("b: {type: string}, c: {type: string}"), of("b: {type: boolean}, c: {type: string}")),
            std::string("breaks C++ source (1):\n  ") + kSpec +
                ".a[][*].b: its C++ type was kgen::String, is kgen::Optional<bool>\nbreaks the wire (1):\n  " + kSpec +
                ".a[][*].b: was a string, is a boolean\n");
}

// A sibling takes the name that only it spells exactly.
TEST_F(Diff, FindsAMemberThatIsRenamed) {
  EXPECT_EQ(OfSpec("foo-bar: {type: string}", "foo-bar: {type: string}, foo_bar: {type: string}"),
            std::string("breaks C++ source (1):\n  ") + kSpec +
                ".foo-bar: the member was foo_bar, is foo_bar_2\nonly new (1):\n  " + kSpec +
                ".foo_bar: a new field\n");
}

TEST_F(Diff, FindsARenamedStructOnceAndLooksIntoIt) {
  const std::string inside = ": {type: object, properties: {c: {type: object, properties: {d: {type: string}}}}}";
  EXPECT_EQ(
      OfSpec("foo-bar" + inside, "foo-bar" + inside + ", FooBar: {type: object, properties: {e: {type: string}}}"),
      std::string("breaks C++ source (1):\n  ") + kSpec +
          ".foo-bar: its C++ type was shop::v1::Order::Spec::FooBar, is "
          "shop::v1::Order::Spec::FooBar_2\nonly new (1):\n  " +
          kSpec + ".FooBar: a new field\n");
}

TEST_F(Diff, FindsConstants) {
  const std::string out = OfSpec("a: {type: string, enum: [x, z]}, b: {type: string, enum: [x]}",
                                 "a: {type: string, enum: [x, X]}, b: {type: string}");
  EXPECT_THAT(out, HasSubstr(": the constant AValues::k_z is gone\n"));
  EXPECT_THAT(out, HasSubstr(": the constants BValues are gone\n"));
  EXPECT_THAT(out, HasSubstr(".a: values are gone: \"z\"\n"));
  EXPECT_THAT(out, HasSubstr(".a: new values: \"X\"\n"));
}

TEST_F(Diff, FindsValuesThatAreNoLongerLegal) {
  EXPECT_EQ(OfSpec("a: {type: string}", "a: {type: string, enum: [x, z]}"),
            std::string("breaks the wire (1):\n  ") + kSpec + ".a: only these values are legal now: \"x\", \"z\"\n");
  EXPECT_EQ(OfSpec("a: {type: string, nullable: true}", "a: {type: string}"),
            std::string("breaks the wire (1):\n  ") + kSpec + ".a: may no longer be null\n");
}

TEST_F(Diff, FindsFieldsThatAreRequired) {
  EXPECT_EQ(OfSpec("a: {type: object, properties: {b: {type: string}}}",
                   "a: {type: object, required: [b, c, d], properties: {b: {type: string}, c: {type: string}, "
                   "d: {type: string, default: x}}}"),
            std::string("breaks the wire (2):\n  ") + kSpec + ".a.b: the field is required now\n  " + kSpec +
                ".a.c: a new field is required\nonly new (1):\n  " + kSpec + ".a.d: a new field\n");
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_F(Diff, FindsWhatHappensToAResource) {
  const std::string before = test::OrderCrd("spec: {type: object}") + "    subresources: {status: {}}\n";
  std::string after = Replaced(before, "Namespaced", "Cluster");
  after = Replaced(after, "orders", "commands");
  after = Replaced(after, "{status: {}}", "{scale: {specReplicasPath: .spec.a, statusReplicasPath: .status.a}}");
  EXPECT_EQ(Compare(before, after).out,
            "breaks C++ source (1):\n"
            "  orders.shop.example.com v1: the accessor Orders is gone\n"
            "breaks the wire (3):\n"
            "  shop.example.com/v1 Order: the resource was orders, is commands\n"
            "  shop.example.com/v1 Order: was namespaced, is cluster-wide\n"
            "  shop.example.com/v1 Order/status: the subresource is gone\n"
            "only new (1):\n"
            "  shop.example.com/v1 Order/scale: a new subresource\n");
  EXPECT_EQ(Compare(before, Replaced(before, "Namespaced", "Cluster")).out,
            "breaks C++ source (1):\n"
            "  orders.shop.example.com v1: Orders(namespace) takes no namespace now\n"
            "breaks the wire (1):\n"
            "  shop.example.com/v1 Order: was namespaced, is cluster-wide\n");
  EXPECT_EQ(Compare(before, Replaced(before, "    subresources: {status: {}}\n", "")).out,
            "breaks C++ source (2):\n"
            "  orders.shop.example.com v1: the method PatchStatus is gone\n"
            "  orders.shop.example.com v1: the method UpdateStatus is gone\n"
            "breaks the wire (1):\n"
            "  shop.example.com/v1 Order/status: the subresource is gone\n");
}

TEST_F(Diff, FindsVersionsAndKinds) {
  const std::string v1 = test::OrderCrd("spec: {type: object}");
  const std::string both =
      v1 + "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n";
  EXPECT_EQ(Compare(v1, both).out, "only new (1):\n  shop.example.com/v2: a new version\n");
  EXPECT_EQ(Compare(both, v1).out,
            "breaks C++ source (1):\n  shop.example.com/v2: the namespace shop::v2 is gone\n"
            "breaks the wire (1):\n  shop.example.com/v2: the version is gone\n");
  const std::string more = v1 + "---\n" + Replaced(Replaced(v1, "Order", "Invoice"), "orders", "invoices");
  EXPECT_EQ(Compare(v1, more).out, "only new (1):\n  shop.example.com/v1 Invoice: a new kind\n");
  const Result lost = Compare(more, v1);
  EXPECT_EQ(lost.code, 1);
  EXPECT_THAT(lost.out, HasSubstr("  shop.example.com/v1 Invoice: the type Invoice is gone\n"));
  EXPECT_THAT(lost.out, HasSubstr("  invoices.shop.example.com v1: the accessor Invoices is gone\n"));
  EXPECT_THAT(lost.out, HasSubstr("  shop.example.com/v1 Invoice: the kind is gone\n"));
}

TEST_F(Diff, FindsAnAliasThatIsGone) {
  const std::string before = test::OrderCrd("spec: {type: object}");
  const std::string taken = before + "---\n" + Replaced(Replaced(before, "Order", "OrderSpec"), "orders", "orderspecs");
  EXPECT_THAT(Compare(before, taken).out,
              HasSubstr("  shop.example.com/v1 OrderSpec: the alias OrderSpec is another type now\n"));
  EXPECT_THAT(Compare(before, test::OrderCrd("status: {type: object}")).out,
              HasSubstr("  shop.example.com/v1 OrderSpec: the alias OrderSpec is gone\n"));
}

TEST_F(Diff, FindsAGroupWithAnotherName) {
  const std::string crd = test::OrderCrd("spec: {type: object}");
  const std::string other = Replaced(crd, "shop.example.com", "shop.example.org");
  const std::string three = crd + "---\n" + other;
  const Result clash = Compare(crd, three);
  EXPECT_EQ(clash.code, 2);
  EXPECT_THAT(clash.err, HasSubstr("share the C++ name shop"));
  const Result chosen = Compare(crd, three, {"--group-names", "shop.example.org=second"});
  EXPECT_EQ(chosen.out, "only new (1):\n  shop.example.org/v1: a new version\n");
  EXPECT_EQ(chosen.code, 0);
  EXPECT_EQ(Compare(crd, crd, {"--group-names", "shop.exampel.com=second"}).code, 2);
}

// An API document with the kind Widget, whose members `a` and `b` have these types, and with the types A and B.
std::string Document(const std::string& a, const std::string& b) {
  const std::string gvk = "{group: x.example.com, version: v1, kind: Widget}";
  const std::string ref = "{$ref: '#/components/schemas/com.example.x.v1.";
  return R"(openapi: 3.0.0
info: {title: t, version: '1'}
components:
  schemas:
    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: string}}}
    com.example.x.v1.A: {type: object, properties: {name: {type: string}}}
    com.example.x.v1.B: {type: object, properties: {name: {type: string}}}
    com.example.x.v1.Widget:
      type: object
      properties:
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
        a: )" +
         ref + a + "'}\n        b: " + ref + b + "'}\n      x-kubernetes-group-version-kind: [" + gvk + R"(]
paths:
  /apis/x.example.com/v1/widgets/{name}:
    get: {x-kubernetes-action: get, x-kubernetes-group-version-kind: )" +
         gvk + "}\n";
}

TEST_F(Diff, FindsWhatWasOneTypeAndIsTwo) {
  EXPECT_EQ(Compare(Document("A", "A"), Document("A", "B")).out,
            "breaks C++ source (1):\n"
            "  x.example.com/v1 Widget.b: its C++ type was x::v1::A, is x::v1::B\n");
}

TEST_F(Diff, ReportsADifferenceOfASharedTypeOnce) {
  const std::string before = Document("A", "A");
  EXPECT_EQ(Compare(before, Replaced(before, "v1.A: {type: object, properties: {name: {type: string}}}",
                                     "v1.A: {type: object, properties: {name: {type: integer}}}"))
                .out,
            "breaks C++ source (1):\n"
            "  x.example.com/v1 A.name: its C++ type was kgen::String, is kgen::Optional<std::int64_t>\n"
            "breaks the wire (1):\n"
            "  x.example.com/v1 A.name: was a string, is an integer\n");
}

TEST_F(Diff, FindsWhatAServerRefusesNow) {
  const auto refuses = [&](const std::string& before, const std::string& after) {
    const std::string out = OfSpec("a: {type: " + before + "}", "a: {type: " + after + "}");
    const std::string title = "the server now refuses (1):\n  " + std::string(kSpec) + ".a: ";
    return out.starts_with(title) ? out.substr(title.size(), out.find('\n', title.size()) - title.size()) : out;
  };
  EXPECT_EQ(refuses("integer", "integer, minimum: 5"), "its minimum is 5 now");
  EXPECT_EQ(refuses("integer, minimum: 5", "integer, minimum: 10"), "its minimum is 10, was 5");
  EXPECT_EQ(refuses("integer, maximum: 10", "integer, maximum: 9"), "its maximum is 9, was 10");
  EXPECT_EQ(refuses("integer, minimum: 5", "integer, minimum: 5, exclusiveMinimum: true"),
            "its minimum 5 itself is no longer legal");
  EXPECT_EQ(refuses("integer", "integer, multipleOf: 2"), "it must be a multiple of 2 now");
  EXPECT_EQ(refuses("string", "string, maxLength: 3"), "its greatest length is 3 now");
  EXPECT_EQ(refuses("string", "string, pattern: '^a$'"), "its pattern is \"^a$\" now");
  EXPECT_EQ(refuses("string, pattern: '^a$'", "string, pattern: '^b$'"), "its pattern is \"^b$\", was \"^a$\"");
  EXPECT_EQ(refuses("array, items: {type: string}", "array, items: {type: string}, maxItems: 3"),
            "its greatest number of elements is 3 now");
  EXPECT_EQ(refuses("array, items: {type: string}", "array, items: {type: string}, x-kubernetes-list-type: set"),
            "its elements must differ now");
  EXPECT_EQ(refuses("object, additionalProperties: {type: string}",
                    "object, additionalProperties: {type: string}, minProperties: 1"),
            "its least number of entries is 1 now");
  EXPECT_EQ(refuses("string", "string, x-kubernetes-validations: [{rule: 'self != oldSelf', message: M}]"),
            "a new rule: \"self != oldSelf\"");
}

// Where a change stands makes no difference: in elements, in entries, in shared types, in all versions.
TEST_F(Diff, FindsWhatBreaksWhereverItStands) {
  struct Case {
    std::string before, after, line;  // `line` without the start of the position
  };
  const Case cases[] = {
      {"{type: integer}", "{type: integer, minimum: 3}", "its minimum is 3 now"},
      {"{type: integer, maximum: 10}", "{type: integer, maximum: 9}", "its maximum is 9, was 10"},
      {"{type: number}", "{type: number, multipleOf: 0.5}", "it must be a multiple of 0.5 now"},
      {"{type: string}", "{type: string, minLength: 1}", "its least length is 1 now"},
      {"{type: string}", "{type: string, pattern: '^b'}", "its pattern is \"^b\" now"},
      {"{type: string}", "{type: string, x-kubernetes-validations: [{rule: 'self > \"a\"'}]}",
       "a new rule: \"self > \\\"a\\\"\""},
      {"{type: string, enum: [u, v]}", "{type: string, enum: [u]}", "values are gone: \"v\""},
      {"{type: string}", "{type: string, enum: [u]}", "only these values are legal now: \"u\""},
      {"{type: string, nullable: true}", "{type: string}", "may no longer be null"},
      {"{type: string}", "{type: integer}", "was a string, is an integer"},
      {"{type: object, properties: {k: {type: string}}}",
       "{type: object, required: [k], properties: {k: {type: string}}}", "k: the field is required now"},
      {"{type: object, properties: {k: {type: string}}}", "{type: object, properties: {l: {type: string}}}",
       "k: the field is gone"},
      {"{type: object, properties: {k: {type: string}}, x-kubernetes-preserve-unknown-fields: true}",
       "{type: object, properties: {k: {type: string}}}", "fields that the schema does not name are dropped now"},
      {"{type: array, items: {type: string}}", "{type: array, items: {type: string}, x-kubernetes-list-type: set}",
       "its elements must differ now"},
      {"{type: array, items: {type: string}}", "{type: array, items: {type: string}, minItems: 1}",
       "its least number of elements is 1 now"},
      {"{type: object, additionalProperties: {type: string}}",
       "{type: object, additionalProperties: {type: string}, maxProperties: 2}",
       "its greatest number of entries is 2 now"},
  };
  const auto crd = [](const std::string& value) {
    const std::string pod = "{type: object, properties: {i: {type: string}, j: " + value + "}}";
    const std::string spec = "{type: object, properties: {a: {type: array, items: " + pod +
                             "}, b: {type: object, additionalProperties: " + pod + "}, c: " + pod + "}}";
    return test::OrderCrd("spec: " + spec) +
           "  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: "
           "{spec: " +
           spec + "}}}}\n";
  };
  for (const Case& c : cases) {
    const Result result = Compare(crd(c.before), crd(c.after));
    EXPECT_EQ(result.code, 1) << c.after;
    EXPECT_EQ(result.err, "") << c.after;
    for (const char* version : {"v1", "v1beta1"}) {
      for (const char* position : {"a[].j", "b[*].j", "c.j"}) {
        const std::string start = "  shop.example.com/" + std::string(version) + " Order.spec." + position;
        const std::string separator = c.line.starts_with("k:") ? "." : ": ";
        EXPECT_THAT(result.out, HasSubstr(start + separator + c.line + "\n")) << c.after;
      }
    }
  }
}

TEST_F(Diff, SaysNothingAboutLimitsThatWereLifted) {
  EXPECT_EQ(OfSpec("a: {type: integer, minimum: 5, maximum: 9}, b: {type: string, pattern: x}",
                   "a: {type: integer, minimum: -1, maximum: 10}, b: {type: string}"),
            "");
  EXPECT_EQ(OfSpec("a: {type: string, x-kubernetes-validations: [{rule: 'true', message: one}]}",
                   "a: {type: string, x-kubernetes-validations: [{rule: 'true', message: two}]}"),
            "");
}

TEST_F(Diff, FindsANewRuleOfAKind) {
  const std::string crd = test::OrderCrd("spec: {type: object}");
  const Result result = Compare(crd, crd + "        x-kubernetes-validations: [{rule: 'has(self.spec)'}]\n");
  EXPECT_EQ(result.out, "the server now refuses (1):\n  shop.example.com/v1 Order: a new rule: \"has(self.spec)\"\n");
  EXPECT_EQ(result.code, 1);
}

TEST_F(Diff, FindsVerbs) {
  const std::string before = Document("A", "B");
  const Result result = Compare(before, Replaced(before, "action: get", "action: list"));
  EXPECT_THAT(result.out, HasSubstr("  widgets.x.example.com v1: the method Get is gone\n"));
  EXPECT_THAT(result.out, HasSubstr("  x.example.com/v1 Widget: verbs are gone: get\n"));
  EXPECT_THAT(result.out, HasSubstr("  x.example.com/v1 Widget: new verbs: list\n"));
}

// Contract: generator ERR-06.
TEST_F(Diff, HasExitCodesOfItsOwn) {
  const std::string orders = test_support::SourcePath("examples/crds/orders.yaml");
  EXPECT_THAT(Invoke({"--help"}).out, HasSubstr("Exit codes: 0 nothing breaks, 1 something breaks or is refused, 2 "));
  EXPECT_EQ(Invoke({orders}).code, 2);
  EXPECT_EQ(Invoke({orders, orders, orders}).code, 2);
  EXPECT_EQ(Invoke({orders, (folder_ / "missing").native()}).code, 2);
  EXPECT_EQ(Invoke({orders, orders, "--group-names", "Shop"}).code, 2);
  const Result broken = Compare("kind: [", "kind: [");
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("old.yaml:"));
}

// The part of the output about C++ source, or "".
std::string SourceBreaks(const std::string& out) {
  if (!out.starts_with("breaks C++ source")) return "";
  return out.substr(0, out.find("breaks the wire"));
}

// What real servers of 1.26 to 1.28 published, beside the API of the project. All else that is gone from C++ since then
// would be a fault of the generator or of kgen diff.
TEST_F(Diff, NamesWhatKubernetesItselfBrokeSinceOlderServers) {
  const auto older = test_support::SharedPath("corpus/openapi/v3");
  if (!older) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  const std::string claims =
      "  v1 ClaimSource: the type ClaimSource is gone\n"
      "  v1 PodResourceClaim.source: the member source is gone\n";
  const std::string volumes =
      "  v1 ClaimSource: the type ClaimSource is gone\n"
      "  v1 PersistentVolumeClaimSpec.resources: its C++ type was core::v1::ResourceRequirements, is "
      "core::v1::VolumeResourceRequirements\n";
  const std::string source = "  v1 PodResourceClaim.source: the member source is gone\n";
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"api__v1.json.gz", "breaks C++ source (4):\n" + volumes +
                              "  v1 PersistentVolumeClaimStatus.resizeStatus: the member resizeStatus is gone\n" +
                              source},
      {"apis__apps__v1.json.gz", "breaks C++ source (2):\n" + claims},
      {"apis__autoscaling__v2.json", ""},
      {"apis__batch__v1.json.gz", "breaks C++ source (3):\n" + volumes + source},
      {"apis__discovery.k8s.io__v1.json", ""},
  };
  for (const auto& [name, breaks] : expected) {
    const std::string today = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
    const Result result = Invoke({*older + "/" + name, test_support::SourcePath("openapi/kubernetes-1.36/" + today)});
    EXPECT_EQ(result.code, 1) << name << result.err;
    EXPECT_EQ(SourceBreaks(result.out), breaks) << name;
  }
}

TEST_F(Diff, APositionThatBecomesATypeOfAnotherApiBreaksSource) {
  const std::string part = "effect: {type: string}, key: {type: string}, operator: {type: string}, ";
  const auto crd = [&](const std::string& more) {
    return test::OrderCrd("spec: {type: object, properties: {x: {type: object, properties: {" + part + more + "}}}}");
  };
  const std::string before = crd("tolerationSeconds: {type: integer}, more: {type: string}");
  const std::string after = crd("tolerationSeconds: {type: integer}");
  const std::string use = "--use=k8s=" + test_support::SourcePath("openapi/kubernetes-1.36");
  const Result mapped = Compare(before, after, {use});
  EXPECT_EQ(mapped.code, 1);
  EXPECT_THAT(mapped.out, HasSubstr("shop.example.com/v1 Order.spec.x: its C++ type was "
                                    "kgen::Optional<shop::v1::Order::Spec::X>, is "
                                    "kgen::Optional<::k8s::core::v1::Toleration>"));
  EXPECT_THAT(mapped.out, HasSubstr("Order.spec.x.more: the field is gone")) << "the wire is that of the CRD";
  EXPECT_EQ(Compare(after, crd("tolerationSeconds: {type: integer}, value: {type: string}"), {use}).code, 0);
  EXPECT_EQ(Compare(before, after, {use, "--type=orders.shop.example.com:spec.x=own"}).code, 1);
  EXPECT_EQ(Compare(before, after, {use, "--type=orders.shop.example.com:spec.y=own"}).code, 2);
}

TEST_F(Diff, ReportsSubresourcesThatAreGone) {
  const std::string before = test_support::ReadFile(test_support::SourcePath("openapi/kubernetes-1.36/api__v1.json"));
  std::string after = before;
  const std::string path = "pods/{name}/eviction";
  after.replace(after.find(path), path.size(), "pods/{name}/expulsion");
  const Result result = Compare(before, after);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("the subresource \"eviction\" is gone"));
}

}  // namespace
}  // namespace kgen::generator::commands
