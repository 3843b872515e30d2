// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen-crd as a program: headers in, CRDs, code and messages out.
#include "generator/crd/crd_command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "generator/commands/command.h"

namespace kgen::generator::crd {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code;
  std::string out, err;
};

class KgenCrd : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::temp_directory_path() / ("kgen_crd_" + std::to_string(::getpid()) + "_" + name);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).native();
  }

  // A header with these declarations in acme::shop::v1.
  std::string Header(const std::string& declarations) const {
    return Write("shop.h",
                 "#pragma once\n#include \"kgen/core/enum.h\"\n#include \"kgen/core/object.h\"\n"
                 "#include \"kgen/core/object_meta.h\"\n#include \"kgen/core/quantity.h\"\n#include <vector>\n"
                 "namespace acme::shop::v1 {\n" +
                     declarations + "}\n");
  }

  static Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--flag=-I" KGEN_TEST_INCLUDES);
    std::istringstream in;
    std::ostringstream out, err;
    const int code = RunKgenCrd(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  fs::path folder_;
};

constexpr const char* kKind =
    "// +kgen:resource:group=shop.example.com,version=v1\n"
    "struct Order {\n"
    "  kgen::meta::v1::ObjectMeta metadata{};\n"
    "  kgen::Optional<OrderSpec> spec = kgen::kAbsent;\n"
    "  KGEN_OBJECT(Order)\n"
    "};\n";

testing::AssertionResult Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no\n" << part << "\nin\n" << text;
}

TEST_F(KgenCrd, PrintsTheCrdOfAHeader) {
  const std::string header = Header(
      "// How much.\nenum class Size { kSmall, kBig };\n"
      "struct OrderSpec {\n"
      "  // +required\n"
      "\n"
      "  // The article,\n  // as the catalogue calls it.\n"
      "  kgen::String item{};\n"
      "  kgen::List<kgen::Map<kgen::Quantity>> grid{};  // +kgen:maxItems=3\n"
      "  /* How it is packed.\n   * +kgen:default=Big\n   */\n"
      "  kgen::Enum<Size> size{};\n"
      "  kgen::Optional<std::int64_t> template_{};\n"
      "  KGEN_OBJECT(OrderSpec)\n"
      "};\n" +
      std::string(kKind));
  const Outcome outcome = Run({header});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(
      Has(outcome.out, "              item:\n                description: |-\n                  The article,\n"));
  EXPECT_TRUE(Has(outcome.out, "            required:\n            - item\n"));
  EXPECT_TRUE(Has(outcome.out, "                maxItems: 3\n"));
  EXPECT_TRUE(Has(outcome.out, "                default: Big\n                description: How it is packed.\n"));
  EXPECT_TRUE(Has(outcome.out, "              template:\n                format: int64\n"));
}

TEST_F(KgenCrd, RefusesCxxThatAnApiCannotHaveWithThePositionAndTheWayOut) {
  const std::pair<const char*, const char*> kCases[] = {
      {"kgen::String* item{};", "is a pointer or reference"},
      {"std::int32_t count{};", "write: kgen::Optional<T> count{};"},
      {"kgen::Optional<unsigned> count{};", "which JSON does not have"},
      {"std::vector<int> list{};", "write kgen::List<T>"},
      {"kgen::String list[3]{};", "is an array"},
      {"kgen::Optional<kgen::String> item{};", "can be absent by "},
      {"kgen::List<kgen::Optional<int>> list{};", "Optional"},
      {"kgen::String item = \"x\";", "has an initial value"},
      {"int bits : 3 = 0;", "is a bit field"},
      {"Inner inner{};", "= kgen::kAbsent;"},
      {"kgen::Optional<Inner> inner{};", "write: kgen::Optional<Inner> inner = kgen::kAbsent;"},
      {"kgen::Optional<Plain> plain = kgen::kAbsent;", "as the last member of that struct"},
      {"Colour colour{};", "write kgen::Enum<Colour>"},
      {"virtual void Do();", "has virtual functions"},
      {"private: kgen::String item{}; public:", "private members"},
      {"// +kgen:minimun=1\n  kgen::String item{};", "no marker is called"},
  };
  for (const auto& [member, fault] : kCases) {
    const std::string header = Header(
        "struct Plain {};\nenum class Colour { kRed };\nstruct Inner { KGEN_OBJECT(Inner) };\n"
        "struct OrderSpec {\n  " +
        std::string(member) + "\n  KGEN_OBJECT(OrderSpec)\n};\n" + kKind);
    const Outcome outcome = Run({"--crds", folder_.native() + "/crds", header});
    EXPECT_EQ(outcome.code, 1) << member;
    EXPECT_TRUE(Has(outcome.err, fault)) << member;
    EXPECT_TRUE(Has(outcome.err, "shop.h:1")) << member;
    EXPECT_FALSE(fs::exists(folder_ / "crds")) << "nothing is written";
  }
}

TEST_F(KgenCrd, RefusesStructsThatHaveNoTable) {
  EXPECT_TRUE(Has(
      Run({Header("struct Base {};\nstruct OrderSpec : Base { KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind))}).err,
      "has a base class"));
  EXPECT_TRUE(Has(Run({Header("// +kgen:resource:group=a.b,version=v1\nstruct Order {};\n")}).err,
                  "write KGEN_OBJECT(Order) as its last member"));
  EXPECT_TRUE(
      Has(Run({Header("struct OrderSpec { KGEN_OBJECT(OrderSpec) kgen::String late{}; };\n" + std::string(kKind))}).err,
          "is not the last member"));
  EXPECT_TRUE(
      Has(Run({Header("struct OrderSpec { KGEN_OBJECT(OrderSpec) };\n")}).err, "no struct of the headers is a kind"));
}

TEST_F(KgenCrd, RefusesAHeaderThatDoesNotCompile) {
  const Outcome outcome = Run({Header("struct OrderSpec { Unheard of{}; KGEN_OBJECT(OrderSpec) };\n")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome.err, "shop.h:8:20: error: unknown type name 'Unheard'"));
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(Has(Run({(folder_ / "absent.h").native()}).err, "there is no such header"));
}

TEST_F(KgenCrd, SkipsHeadersThatItWillGenerateItself) {
  const std::string header = Write("shop.h", "#include \"acme/later.h\"\n");
  const Outcome with = Run({"--out", folder_.native(), "--namespace", "acme", header});
  EXPECT_TRUE(Has(with.err, "no struct of the headers is a kind"));
  EXPECT_FALSE(Has(with.err, "file not found"));
  EXPECT_TRUE(Has(Run({header}).err, "'acme/later.h' file not found"));
}

TEST_F(KgenCrd, WritesCodeForTheStructsOfTheHeader) {
  const std::string header =
      Header("struct OrderSpec { kgen::String item{}; KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind));
  const std::vector<std::string> arguments = {
      "--out",  folder_.native() + "/out",  "--namespace", "acme", "--root", folder_.native(),
      "--crds", folder_.native() + "/crds", header};
  EXPECT_EQ(Run(arguments).err, "");
  std::stringstream types, tables;
  types << std::ifstream(folder_ / "out/acme/shop/v1/types.h").rdbuf();
  tables << std::ifstream(folder_ / "out/acme/acme.cc").rdbuf();
  EXPECT_TRUE(Has(types.str(), "#include \"shop.h\"\n"));
  EXPECT_FALSE(Has(types.str(), "struct Order {"));
  EXPECT_TRUE(Has(types.str(), "struct OrderList {"));
  EXPECT_TRUE(Has(tables.str(), "{\"item\", 4, offsetof(OrderSpec, item), kgen::ValueKind::kString, 0, 0, nullptr}"));
  EXPECT_TRUE(fs::exists(folder_ / "crds/shop.example.com_orders.yaml"));

  std::vector<std::string> check = arguments;
  check.insert(check.begin(), "--check");
  EXPECT_EQ(Run(check).code, 0);
  Header("struct OrderSpec { kgen::String article{}; KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind));
  const Outcome changed = Run(check);
  EXPECT_EQ(changed.code, 1);
  EXPECT_TRUE(Has(changed.err, "shop.example.com_orders.yaml"));
}

TEST_F(KgenCrd, SurvivesHostileHeaders) {
  std::string many = "struct OrderSpec {\n";
  for (int i = 0; i < 20'000; ++i) many += "  kgen::String m" + std::to_string(i) + "{};\n";
  EXPECT_TRUE(Has(Run({Header(many + "  KGEN_OBJECT(OrderSpec)\n};\n" + kKind)}).err, "larger than 65535 bytes"));
  std::string deep = "kgen::String";
  for (int i = 0; i < 300; ++i) deep = "kgen::List<" + deep + ">";
  EXPECT_EQ(Run({Header("struct OrderSpec { " + deep + " deep{}; KGEN_OBJECT(OrderSpec) };\n" + kKind)}).code, 1);
  EXPECT_EQ(Run({Header("/* never closed\n")}).code, 1);
  EXPECT_EQ(
      Run({Header("// +kgen:default={\"a\":\nstruct OrderSpec { KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind))})
          .code,
      1);
  EXPECT_TRUE(
      Has(Run({Header("#define MEMBER kgen::String item{};\nstruct OrderSpec { MEMBER KGEN_OBJECT(OrderSpec) };\n" +
                      std::string(kKind))})
              .err,
          "comes from a macro"));
}

}  // namespace
}  // namespace kgen::generator::crd
