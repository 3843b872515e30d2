// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen-crd in a folder of the test's own. A header that includes kgen's takes most of a second, so tests put
// many cases into one header.
#ifndef KGEN_TESTS_GENERATOR_CRD_PROGRAM_CRD_FIXTURE_H_
#define KGEN_TESTS_GENERATOR_CRD_PROGRAM_CRD_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/commands/command.h"
#include "generator/crd/command/crd_command.h"

namespace kgen::generator::crd {

struct Outcome {
  int code;
  std::string out, err;
};

class KgenCrd : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("kgen_crd_" + std::to_string(::getpid()) + "_" + name);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).native(); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return Path(name);
  }

  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  // A header with these declarations in acme::shop::v1. The first of them is on line kFirstLine.
  static constexpr int kFirstLine = 11;
  static std::string Text(const std::string& declarations) {
    return "#pragma once\n#include \"kgen/core/enum.h\"\n#include \"kgen/core/object.h\"\n"
           "#include \"kgen/core/object_meta.h\"\n#include \"kgen/core/quantity.h\"\n#include <map>\n#include "
           "<optional>\n"
           "#include <string>\n#include <vector>\nnamespace acme::shop::v1 {\n" +
           declarations + "}\n";
  }
  std::string Header(const std::string& declarations) const { return Write("shop.h", Text(declarations)); }

  // Returns a header with the declarations from line kLightLine on, and stand-ins for kgen's types: for tests that need
  // the program, not the runtime.
  static constexpr int kLightLine = 14;
  static std::string LightText(const std::string& declarations, const std::string& name_space = "acme::shop::v1") {
    return "#pragma once\n"
           "namespace kgen {\n"
           "struct Absent {};\n"
           "inline constexpr Absent kAbsent;\n"
           "struct String {};\n"
           "struct UnknownFields {};\nstruct TypeTable {};\n"
           "template <class T> struct Optional { Optional() = default; Optional(Absent) {} };\n"
           "template <class T> struct List {};\n"
           "namespace meta::v1 { struct ObjectMeta {}; }\n"
           "}\n"
           "#define KGEN_OBJECT(T) kgen::UnknownFields unknown_fields{}; static const kgen::TypeTable kTable; "
           "friend bool operator==(const T&, const T&) { return true; }\n"
           "namespace " +
           name_space + " {\n" + declarations + "}\n";
  }
  std::string Light(const std::string& declarations) const { return Write("shop.h", LightText(declarations)); }

  static Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--flag=-I" KGEN_TEST_INCLUDES);
    return RunAlone(arguments);
  }

  // Runs kgen-crd without the headers of kgen.
  static Outcome RunAlone(const std::vector<std::string>& arguments) {
    std::istringstream in;
    std::ostringstream out, err;
    const int code = RunKgenCrd(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  std::filesystem::path folder_;
};

// Needs an OrderSpec.
inline constexpr const char* kKind =
    "// +kgen:resource:group=shop.example.com,version=v1\n"
    "struct Order {\n"
    "  kgen::meta::v1::ObjectMeta metadata{};\n"
    "  kgen::Optional<OrderSpec> spec = kgen::kAbsent;\n"
    "  KGEN_OBJECT(Order)\n"
    "};\n";

inline constexpr const char* kSpec = "struct OrderSpec { kgen::String item{}; KGEN_OBJECT(OrderSpec) };\n";

inline testing::AssertionResult Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no\n" << part << "\nin\n" << text.substr(0, 4000);
}

// How many lines begin with a position and "error: ".
inline std::size_t Errors(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(": error: "); at != std::string::npos; at = text.find(": error: ", at + 1)) ++count;
  return count;
}

}  // namespace kgen::generator::crd

#endif  // KGEN_TESTS_GENERATOR_CRD_PROGRAM_CRD_FIXTURE_H_
