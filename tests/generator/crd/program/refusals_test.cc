// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// C++ that an API cannot have: each place is reported with its position, the reason and the way out, all in one run.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/generator/crd/program/crd_fixture.h"

namespace kgen::generator::crd {
namespace {

using Refusals = KgenCrd;

struct Case {
  const char* code;  // the error is on the line that ends in "// !"
  const char *fault, *hint;
};

constexpr const char* kTypes =
    "struct Plain {};\nstruct Later;\nenum class Colour { kRed };\nenum Unscoped { kBlue };\n"
    "union Either { int a; bool b; };\ntemplate <class T> struct Box { T t; };\n"
    "struct Inner { KGEN_OBJECT(Inner) };\n";

// Members of a struct each.
constexpr Case kMembers[] = {
    {"kgen::String* m{};", "is a pointer or reference", "write kgen::Optional<T>, which owns"},
    {"kgen::String& m;", "is a pointer or reference", "write kgen::Optional<T>"},
    {"void (*m)() = nullptr;", "is a pointer or reference", "write kgen::Optional<T>"},
    {"const kgen::String m{};", "is const or volatile", "remove the word"},
    {"mutable kgen::String m{};", "is mutable", "remove the word"},
    {"kgen::String m[3]{};", "is an array", "write kgen::List<T>"},
    {"int m : 3;", "is a bit field", "kgen::Optional<bool>"},
    {"std::int32_t m{};", "cannot be absent", "write: kgen::Optional<T> m{};"},
    {"kgen::Optional<unsigned> m{};", "\"unsigned int\", which JSON does not have", "+kgen:minimum=0"},
    {"kgen::Optional<float> m{};", "which JSON does not have", "double"},
    {"std::vector<int> m{};", "\"std::vector<int>\"", "write kgen::List<T>"},
    {"kgen::List<std::string> m{};", "\"std::string\"", "write kgen::String"},
    {"std::optional<int> m{};", "\"std::optional<int>\"", "write kgen::Optional<T>"},
    {"std::map<int, int> m{};", "\"std::map<int, int>\"", "write kgen::Map<T>"},
    {"Box<int> m{};", "\"Box<int>\"", "a struct with KGEN_OBJECT"},
    {"kgen::Optional<kgen::String> m{};", "can be absent by itself", "write it without Optional"},
    {"kgen::List<kgen::Optional<int>> m{};", "has Optional elements", "lists have no gaps"},
    {"Colour m{};", "is an enum, which cannot be absent", "write kgen::Enum<Colour>"},
    {"kgen::List<Colour> m{};", "is an enum", "write kgen::Enum<Colour>"},
    {"kgen::Enum<Unscoped> m{};", "\"kgen::Enum<Unscoped>\"", "write an enum class"},
    {"Inner m{};", "a struct that is always there", "write: kgen::Optional<Inner> m = kgen::kAbsent;"},
    {"kgen::Optional<Inner> m{};", "would be present", "write: kgen::Optional<Inner> m = kgen::kAbsent;"},
    {"kgen::Optional<Inner> m;", "without a default", "write: kgen::Optional<Inner> m = kgen::kAbsent;"},
    {"kgen::Optional<Inner> m = Inner{};", "would be present", "= kgen::kAbsent;"},
    {"kgen::Optional<Plain> m = kgen::kAbsent;", "which is no API type", "write KGEN_OBJECT(Plain)"},
    {"kgen::List<Later> m{};", "which is not defined", "define it"},
    {"Either m{};", "is a union", "write one Optional member for each alternative"},
    {"union { int m; };", "has no name", "write its struct outside"},
    {"struct { int a; } m{};", "has a struct without a name", "name the struct"},
    {"kgen::String m = \"x\";", "has an initial value", "write: kgen::String m{};"},
    {"kgen::Optional<int> m{3};", "has an initial value", "write: kgen::Optional<int> m{};"},
    {"void Do() {}", "is a function", "write it outside"},
    {"template <class T> void Do();", "is a function", "write it outside"},
    {"static constexpr int kMost = 3;", "is static", "write it outside"},
    {"private: kgen::String m{}; public:", "is not public", "make it public"},
    {"// +kgen:minimun=1  // !\n  kgen::String m{};", "no marker is called", "+kgen:minimum=1"},
};

// Whole declarations.
constexpr Case kDeclarations[] = {
    {"struct Base {};\nstruct Derived : Base {  // !\n  KGEN_OBJECT(Derived)\n};", "has a base class",
     "Base base{};  // +kgen:inline"},
    {"struct Virtual {  // !\n  virtual void Do();\n  KGEN_OBJECT(Virtual)\n};", "has virtual functions", "outside"},
    {"union Both {  // !\n  int a;\n  KGEN_OBJECT(Both)\n};", "is a union", "one Optional member for each"},
    {"struct Made {  // !\n  Made();\n  KGEN_OBJECT(Made)\n};", "has constructors", "functions outside"},
    {"struct __attribute__((packed)) Tight {  // !\n  KGEN_OBJECT(Tight)\n};", "is packed", "remove the attribute"},
    {"struct Early {  // !\n  KGEN_OBJECT(Early)\n  kgen::String late{};\n};", "is not the last member", "move it"},
    {"struct Other {};\nstruct Wrong {\n  KGEN_OBJECT(Other)  // !\n};", "does not name its struct",
     "write KGEN_OBJECT(Wrong)"},
    {"namespace {\nstruct Hidden {  // !\n  KGEN_OBJECT(Hidden)\n};\n}", "anonymous namespace", "with a name"},
    {"// +kgen:resource:group=shop.example.com,version=v1\nstruct Bare {};  // !", "is no API type",
     "write KGEN_OBJECT(Bare)"},
    {"// +kgen:resource:group=shop.example.com,version=v1\ntemplate <class T> struct Pattern {};  // !",
     "is a template", "one struct for each type"},
    {"enum class Twice { kOne, One };  // !", "is \"One\" in JSON, as is another", "+kgen:name="},
    {"enum class Same { kOne = 1, kUno = 1 };  // !", "has the same number", "its own"},
    {"enum class None {};  // !", "has no values", "write at least one"},
};

// The header, and the expected beginning of each error.
std::pair<std::string, std::vector<std::string>> Batch(int line) {
  std::string text;
  std::vector<std::string> expected;
  const auto add = [&](const std::string& code) {
    const std::size_t place = code.find("// !\n");
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (i == place) expected.push_back("shop.h:" + std::to_string(line) + ":");
      line += code[i] == '\n' ? 1 : 0;
    }
    text += code;
  };
  add(kTypes);
  int number = 0;
  for (const Case& row : kMembers) {
    const std::string name = "Case" + std::to_string(number++);
    const std::string mark =
        std::string_view(row.code).ends_with("// !") || std::string(row.code).contains("// !") ? "" : "  // !";
    add("struct " + name + " {\n  " + row.code + mark + "\n  KGEN_OBJECT(" + name + ")\n};\n");
  }
  for (const Case& row : kDeclarations) add(std::string(row.code) + "\n");
  return {text, expected};
}

TEST_F(Refusals, AllShowTheirPositionTheReasonAndTheWayOutInOneRun) {
  const auto [text, expected] = Batch(kFirstLine);
  const Outcome outcome = Run({"--crds", Path("crds"), Header(text)});
  EXPECT_EQ(outcome.code, 1);
  std::vector<Case> cases(std::begin(kMembers), std::end(kMembers));
  cases.insert(cases.end(), std::begin(kDeclarations), std::end(kDeclarations));
  ASSERT_EQ(expected.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t at = outcome.err.find(expected[i]);
    ASSERT_NE(at, std::string::npos) << expected[i] << " " << cases[i].code << "\n" << outcome.err;
    const std::size_t hint = outcome.err.find("\n    hint: ", at);
    const std::size_t end = outcome.err.find('\n', hint + 1);
    EXPECT_TRUE(Has(outcome.err.substr(at, hint - at), cases[i].fault)) << cases[i].code;
    EXPECT_TRUE(Has(outcome.err.substr(hint, end - hint), cases[i].hint)) << cases[i].code;
  }
  EXPECT_EQ(Errors(outcome.err), cases.size()) << "one error for each place\n" << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(Path("crds")));
}

TEST_F(Refusals, OfKindsNameWhatIsWrongWithTheirMetadata) {
  const std::string resource = "// +kgen:resource:group=shop.example.com,version=v1\n";
  const Outcome outcome = RunAlone({Light(
      "struct Spec { KGEN_OBJECT(Spec) };\n" + resource +
      "struct Bare {\n  kgen::Optional<Spec> spec = kgen::kAbsent;\n  KGEN_OBJECT(Bare)\n};\n" + resource +
      "struct Boxed {\n  kgen::Optional<kgen::meta::v1::ObjectMeta> metadata = kgen::kAbsent;\n  "
      "KGEN_OBJECT(Boxed)\n};\n" +
      resource + "struct Text {\n  kgen::String metadata{};\n  KGEN_OBJECT(Text)\n};\n" + resource +
      "struct Extra {\n  kgen::meta::v1::ObjectMeta metadata{};\n  kgen::String kind{};\n  KGEN_OBJECT(Extra)\n};\n")});
  EXPECT_TRUE(Has(outcome.err, "shop.h:16:8: error: the kind \"Bare\" has no metadata"));
  EXPECT_TRUE(Has(outcome.err, "shop.h:22:46: error: the metadata of a kind has another type"));
  EXPECT_TRUE(Has(outcome.err, "shop.h:27:16: error: the metadata of a kind has another type"));
  EXPECT_TRUE(Has(outcome.err, "    hint: write: kgen::meta::v1::ObjectMeta metadata{};"));
  EXPECT_TRUE(Has(outcome.err, "shop.h:33:16: error: \"kind\" is part of the type"));
  EXPECT_EQ(Errors(outcome.err), 4u) << outcome.err;
}

// A marker that nothing reads would be lost without a word.
TEST_F(Refusals, OfMarkersThatAreOnNoDeclarationOfTheApi) {
  const Outcome outcome =
      RunAlone({Light("// +kgen:maxLength=3\nextern kgen::String name;\n"           // 14
                      "// +kgen:minProperties=1\nstruct OrderSpec;\n"               // 16
                      "// +required\nenum Old { kOld };\n"                          // 18
                      "struct OrderSpec {\n"                                        // 20
                      "  /* +kgen:minLength=1\n     +kgen:maxLength=2 */\n#if 1\n"  // 21
                      "  kgen::String name{};\n#else\n  // +kgen:maxLength=3\n  Name other{};\n#endif\n"
                      "  // +kgen:minProperties=1\n  KGEN_OBJECT(OrderSpec)\n};\n"  // 29
                      "#if 0\n// +kgen:gone\n#endif\n"
                      "// +kgen:minProprties=1\nvoid Make();  // +something else\n"  // 35
                      "struct Shared { kgen::String a{}; /* +kgen:maxLength=3 */ };\n" +
                      std::string(kKind))});
  EXPECT_EQ(outcome.code, 1);
  for (const char* place : {"14:4: error: the marker \"+kgen:maxLength=3\" is not on a declaration of the API", "16:4",
                            "18:4", "21:6", "22:6", "29:6", "35:4"})
    EXPECT_TRUE(Has(outcome.err, "shop.h:" + std::string(place))) << place;
  EXPECT_EQ(Errors(outcome.err), 7u) << outcome.err;
}

// Clang finds some, kgen-crd others, and the readers of markers the rest.
TEST_F(Refusals, OfTypesComeInOneRun) {
  const Outcome outcome =
      Run({Header("struct Plain {};\nstruct OrderSpec {\n"  // 11, 12
                  "  kgen::Enum<int> a{};\n"
                  "  kgen::Enum<Plain> b{};\n"
                  "  kgen::Map<kgen::String, int> c{};\n"
                  "  std::vector<int> d{};\n"
                  "  kgen::Optional<std::string> e{};\n"
                  "  // +kgen:minimun=1\n"
                  "  kgen::String f{};\n"
                  "  KGEN_OBJECT(OrderSpec)\n};\n" +
                  std::string(kKind))});
  EXPECT_EQ(outcome.code, 1);
  for (const char* error :
       {"shop.h:13:9: error: constraints not satisfied for class template 'Enum'", "shop.h:14:9: error: constraints",
        "shop.h:15:9: error: too many template arguments for class template 'Map'", "shop.h:16:20: error: the member",
        "shop.h:17:31: error: the member \"e\" has the type \"std::string\"", "shop.h:18:6: error: no marker is called",
        "hint: write kgen::Map<T> with the type of the values", "hint: write kgen::Enum of an enum class"})
    EXPECT_TRUE(Has(outcome.err, error)) << error;
  EXPECT_EQ(Errors(outcome.err), 6u) << outcome.err;
}

// What the compiler would refuse too.
TEST_F(Refusals, OfClangHaveOnePositionEach) {
  const Outcome outcome =
      RunAlone({Light("struct Twice {\n  KGEN_OBJECT(Twice)\n  KGEN_OBJECT(Twice)\n};\n"
                      "struct Absent {\n  KGEN_OBJECT(Missing)\n};\n"
                      "struct Same { KGEN_OBJECT(Same) };\nstruct Same { KGEN_OBJECT(Same) };\n"
                      "struct Unheard { Unknown of{}; KGEN_OBJECT(Unheard) };\n")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome.err, "shop.h:16:3: error: KGEN_OBJECT does not compile: "));
  EXPECT_TRUE(Has(outcome.err, "shop.h:19:3: error: KGEN_OBJECT does not compile: unknown type name 'Missing'"));
  EXPECT_TRUE(Has(outcome.err, "hint: write it once, as the last member, with the name of its struct"));
  EXPECT_TRUE(Has(outcome.err, "shop.h:22:8: error: redefinition of 'Same'"));
  EXPECT_TRUE(Has(outcome.err, "shop.h:23:18: error: unknown type name 'Unknown'"));
  EXPECT_EQ(Errors(outcome.err), 4u) << outcome.err;
}

}  // namespace
}  // namespace kgen::generator::crd
