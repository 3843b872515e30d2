// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Headers that nobody writes on purpose: each gives an error or output, and soon.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/generator/crd/program/crd_fixture.h"
#include "tests/programs/program.h"

#ifdef __SANITIZE_ADDRESS__
// The archives of LLVM are built without ASan, and do not unpoison what LLVM's allocator, inlined here, has poisoned.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is ASan's.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0"; }
#endif

namespace kgen::generator::crd {
namespace {

class Hostile : public KgenCrd {
 protected:
  // The error, "" if there is none.
  std::string Said(const std::string& text) const {
    const Outcome outcome = RunAlone({Write("shop.h", text)});
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 1) << outcome.code << "\n" << outcome.err;
    EXPECT_EQ(outcome.code == 0, outcome.err.empty()) << outcome.err;
    EXPECT_EQ(outcome.code == 0, !outcome.out.empty());
    return outcome.err;
  }
  std::string SaidOf(const std::string& declarations) const { return Said(LightText(declarations)); }
  // Returns what kgen-crd says about a struct with this member.
  std::string SaidOfMember(const std::string& member) const {
    return SaidOf("struct OrderSpec {\n" + member + "\n  KGEN_OBJECT(OrderSpec)\n};\n" + kKind);
  }

  // A process with a limit of CPU seconds, for headers that Clang cannot stand.
  static Outcome RunProcess(const std::string& header, int seconds) {
    test_support::Program program(
        "/bin/sh",
        {"-c", "ulimit -S -t " + std::to_string(seconds) + "; exec \"$0\" \"$1\"", KGEN_TEST_PROGRAM, header}, {});
    const int code = program.Wait();
    return {code, program.output(), program.errors()};
  }
};

std::string Repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_F(Hostile, SizesAreRefusedOrFine) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "  kgen::String m" + std::to_string(i) + "{};\n";
  EXPECT_TRUE(Has(SaidOfMember(many), "\"OrderSpec\" is larger than 65535 bytes"));

  std::string values;
  for (int i = 0; i < 20'000; ++i) values += "k" + std::to_string(i) + ",";
  EXPECT_EQ(SaidOf("enum class E {" + values + "};\n" + kSpec + kKind), "");

  std::string chain = "struct S0 { KGEN_OBJECT(S0) };\n";
  for (int i = 1; i < 100; ++i) {
    const std::string name = "S" + std::to_string(i), inner = "S" + std::to_string(i - 1);
    chain += "struct " + name + " { kgen::List<" + inner + "> a{}; kgen::List<" + inner + "> b{}; KGEN_OBJECT(" + name +
             ") };\n";
  }
  const std::string bomb =
      SaidOf(chain + "struct OrderSpec { kgen::List<S99> all{}; KGEN_OBJECT(OrderSpec) };\n" + kKind);
  EXPECT_TRUE(Has(bomb, "has more than 50000 nodes"));
  EXPECT_TRUE(Has(bomb, "have more than 64 levels"));

  EXPECT_TRUE(Has(SaidOfMember(Repeat("kgen::List<", 300) + "kgen::String" + Repeat(">", 300) + " deep{};"),
                  "have more than 64 levels"));
  EXPECT_TRUE(Has(SaidOf(Repeat("namespace n {", 1000) + Repeat("}", 1000)), "bracket nesting level exceeded"));
  EXPECT_EQ(SaidOfMember("// " + std::string(1'000'000, 'x') + "\n  kgen::String item{};"), "");
  EXPECT_TRUE(
      Has(SaidOfMember("// +" + std::string(1'000'000, 'x') + "\n  kgen::String item{};"), "no marker is called"));
  EXPECT_TRUE(Has(SaidOfMember("// +kgen:default=" + std::string(100'000, '[') + "\n  kgen::String item{};"),
                  "neither JSON nor text"));
  std::string unheard;
  for (int i = 0; i < 1'000; ++i) unheard += "Unheard x" + std::to_string(i) + ";\n";
  EXPECT_TRUE(Has(SaidOf(unheard), "unknown type name 'Unheard'"));
}

TEST_F(Hostile, TextsThatDoNotEndHaveAPosition) {
  const std::string fine = kSpec + std::string(kKind);
  const std::string line = std::to_string(kLightLine + 7);
  EXPECT_TRUE(Has(SaidOf(fine + "/* never"), "shop.h:" + line + ":1: error: unterminated /* comment"));
  EXPECT_TRUE(Has(SaidOf(fine + "const char* x = R\"(never"), "shop.h:" + line + ":17: error: raw string missing"));
  EXPECT_NE(SaidOf(fine + "const char* x = \"never;\n"), "");
  EXPECT_TRUE(Has(SaidOf(fine + "#if 1\n"), "unterminated conditional directive"));
  EXPECT_TRUE(Has(SaidOf("#error stop\n" + fine), "shop.h:" + std::to_string(kLightLine) + ":2: error: stop"));
  EXPECT_TRUE(Has(SaidOf("#include \"nowhere.h\"\n" + fine),
                  "shop.h:" + std::to_string(kLightLine) + ":10: error: 'nowhere.h' file not found"));
}

TEST_F(Hostile, MacrosAreExpandedAsInTheCompiler) {
  const std::string fine = kSpec + std::string(kKind);
  const Outcome outcome = RunAlone({Light("#define Order Pod\n" + fine)});
  EXPECT_TRUE(Has(outcome.out, "kind: Pod\n")) << outcome.err;
  EXPECT_TRUE(Has(SaidOf("#define item article\n" + fine), "the member \"article\" comes from a macro"));
  EXPECT_TRUE(
      Has(SaidOf("#undef KGEN_OBJECT\n#define KGEN_OBJECT(x)\n" + fine), "\"Order\" has markers but is no API type"));
  EXPECT_NE(SaidOf("#define struct class\n" + fine), "");
  EXPECT_NE(SaidOf("#define kgen std\n" + fine), "");
  EXPECT_TRUE(Has(SaidOf("#define MEMBER kgen::String item{};\nstruct OrderSpec { MEMBER KGEN_OBJECT(OrderSpec) };\n" +
                         std::string(kKind)),
                  "comes from a macro"));
}

TEST_F(Hostile, FilesOfAnyBytesAreReadOrRefused) {
  const std::string fine = LightText("// What is\n// ordered.\n" + std::string(kSpec) + kKind);
  const std::string crd = RunAlone({Write("plain.h", fine)}).out;
  EXPECT_TRUE(Has(crd, "What is\n"));
  std::string crlf;
  for (const char c : fine) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(RunAlone({Write("crlf.h", crlf)}).out, crd);
  EXPECT_EQ(RunAlone({Write("bom.h", "\xEF\xBB\xBF" + fine)}).out, crd);
  std::string twice = fine.substr(fine.find('\n') + 1);
  EXPECT_TRUE(Has(Said(twice + "#include \"shop.h\"\n"), "redefinition of")) << "no guard";
  EXPECT_EQ(RunAlone({Write("self.h", "#pragma once\n#include \"self.h\"\n" + twice)}).out, crd);
  EXPECT_TRUE(Has(Said("#include \"shop.h\"\n" + fine), "#include nested too deeply"));

  EXPECT_TRUE(Has(Said(""), "no struct of the headers is a kind"));
  EXPECT_NE(Said(std::string(1000, '\0')), "");
  EXPECT_NE(Said("\x7F"
                 "ELF\x02\x01\x01" +
                 std::string(100, '\0') + "\xFF\xFE{{{"),
            "");
  EXPECT_EQ(SaidOfMember("// a\x01\x1B[31m\n  kgen::String item{};"), "");
  EXPECT_TRUE(Has(SaidOfMember("// caf\xE9\n  kgen::String item{};"),
                  "shop.h:" + std::to_string(kLightLine + 1) + ":4: error: the comment is not UTF-8"));
  const std::string marker = SaidOfMember("// +kgen:caf\xE9\x1B[31m\n  kgen::String item{};");
  EXPECT_TRUE(Has(marker, "shop.h:" + std::to_string(kLightLine + 1) +
                              ":4: error: the marker +kgen:caf\\xe9\\x1b[31m is not UTF-8"));
  EXPECT_EQ(marker.find("error:"), marker.rfind("error:")) << "one error for one fault: " << marker;
  EXPECT_EQ(SaidOfMember("// what?"
                         "?/\n  kgen::String item{};"),
            "")
      << "no trigraphs since C++17";
}

TEST_F(Hostile, PragmasForTestsOfClangHaveNoEffect) {
  EXPECT_EQ(
      SaidOf("#pragma clang __debug crash\n#pragma clang __debug parser_crash\n#pragma clang __debug overflow_stack\n" +
             std::string(kSpec) + kKind),
      "");
}

TEST_F(Hostile, TemplatesAndConstantsWithoutEndAreRefused) {
  EXPECT_TRUE(
      Has(SaidOf("template <int N> struct T { static constexpr int v = T<N + 1>::v; };\nconstexpr int x = T<0>::v;\n"),
          "recursive template instantiation exceeded maximum depth"));
  EXPECT_TRUE(Has(SaidOf("constexpr int Loop() { int i = 0; while (true) i ^= 1; }\nconstexpr int x = Loop();\n"),
                  "must be initialized by a constant expression"));
}

TEST_F(Hostile, HeadersThatClangCannotStandEndTheProgramWithAMessage) {
  const std::string endless = Write(
      "endless.h",
      "template <int N, int M> struct F { static constexpr int v = F<N - 1, M * 2>::v + F<N - 1, M * 2 + 1>::v; };\n"
      "template <int M> struct F<0, M> { static constexpr int v = 1; };\n"
      "constexpr int x = F<28, 1>::v;\n");
  Outcome outcome = RunProcess(endless, 1);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome.err, "did not finish the headers within the limit of time"));
  outcome = RunProcess(Write("deep.h", "int " + Repeat("*", 200'000) + "x;\n"), 20);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(Has(outcome.err, "error: Clang crashed on the headers")) << outcome.err;
  outcome = RunProcess(Write("zero.h", "#include \"/dev/zero\"\n"), 20);
  EXPECT_TRUE(outcome.code == 1 || outcome.code == 4) << outcome.code;
  EXPECT_TRUE(Has(outcome.err, "error: ")) << outcome.err;
}

}  // namespace
}  // namespace kgen::generator::crd
