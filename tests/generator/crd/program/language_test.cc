// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen-crd as a program: what a header may contain beside plain structs, and types of other APIs.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "generator/commands/command.h"
#include "tests/generator/crd/program/crd_fixture.h"

namespace kgen::generator::crd {
namespace {

class HeaderLanguage : public KgenCrd {
 protected:
  // A header with these declarations in acme::shop::v1, and the kind Order. The first declaration is on line 9.
  std::string Header(const std::string& declarations, const std::string& includes = {}) const {
    return Write("shop.h",
                 "#pragma once\n#include \"kgen/core/enum.h\"\n#include \"kgen/core/object.h\"\n"
                 "#include \"kgen/core/object_meta.h\"\n#include <string_view>\n" +
                     includes + "\n\nnamespace acme::shop::v1 {\n" + declarations +
                     "// +kgen:resource:group=shop.example.com,version=v1\n"
                     "struct Order {\n"
                     "  kgen::meta::v1::ObjectMeta metadata{};\n"
                     "  kgen::Optional<OrderSpec> spec = kgen::kAbsent;\n"
                     "  KGEN_OBJECT(Order)\n"
                     "};\n}\n");
  }

  // Finds the headers of the built-in API and of the test.
  Outcome Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"--flag=-I" KGEN_TEST_SOURCE_DIR "/generated", "--flag=-I" + folder_.native()});
    return KgenCrd::Run(std::move(arguments));
  }
};

TEST_F(HeaderLanguage, PutsTheMembersOfAnInlinedStructIntoTheOuterObject) {
  const std::string header = Header(
      "// +kgen:XValidation:rule=\"true\",message=\"always\"\n"
      "struct Deep { kgen::String city{}; };\n"
      "struct Common {\n"
      "  // Who pays.\n  // +required\n  kgen::String owner{};\n"
      "  // +kgen:inline\n  Deep deep{};\n"
      "};\n"
      "struct OrderSpec {\n"
      "  kgen::String item{};\n"
      "  Common common{};  // +kgen:inline\n"
      "  KGEN_OBJECT(OrderSpec)\n"
      "};\n");
  const Outcome outcome =
      Run({"--out", folder_.native() + "/out", "--namespace", "acme", "--root", folder_.native(), header});
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(Has(Run({header}).out,
                  "          spec:\n            properties:\n              city:\n                type: string\n"
                  "              item:\n                type: string\n"
                  "              owner:\n                description: Who pays.\n                type: string\n"
                  "            required:\n            - owner\n            type: object\n"
                  "            x-kubernetes-validations:\n            - message: always\n"));
  EXPECT_TRUE(Has(Read("out/acme/acme.cc"), "offsetof(OrderSpec, common.owner)"));
  EXPECT_TRUE(Has(Read("out/acme/acme.cc"), "offsetof(OrderSpec, common.deep.city)"));
}

TEST_F(HeaderLanguage, RefusesWhatCannotBeInlinedWithThePosition) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"// +kgen:inline\n  kgen::String a{};", "it is no struct"},
      {"// +kgen:inline\n  kgen::Optional<Object> a = kgen::kAbsent;", "it is no struct"},
      {"// +kgen:inline\n  Based a{};", "has a base class"},
      {"// +kgen:inline\n  Plain a{.x = \"1\"};", "has an initial value"},
      {"// +kgen:inline\n  // +required\n  Plain a{};", "a marker beside +kgen:inline has no effect"},
      {"// +kgen:inline\n  Meta a{};", "metadata belongs to the kind itself"},
      {"// +kgen:inline\n  Plain a{};\n  // +kgen:inline\n  Plain b{};",
       "is called \"x\" in JSON, as is another one at "},
      {"Plain a{};", "is no API type"},
  };
  for (const auto& [member, fault] : cases) {
    const Outcome outcome = Run(
        {Header("struct Object { kgen::String x{}; KGEN_OBJECT(Object) };\nstruct Base {};\nstruct Based : Base {};\n"
                "struct Plain { kgen::String x{}; };\nstruct Meta { kgen::meta::v1::ObjectMeta metadata{}; };\n"
                "struct OrderSpec {\n  " +
                member + "\n  KGEN_OBJECT(OrderSpec)\n};\n")});
    EXPECT_EQ(outcome.code, 1) << member;
    EXPECT_TRUE(Has(outcome.err, fault)) << member;
    EXPECT_TRUE(Has(outcome.err, "shop.h:1")) << member;
  }
}

TEST_F(HeaderLanguage, InlinesAStructThatIsAMemberElsewhere) {
  const std::string header = Header(
      "struct Owner { kgen::String owner{}; kgen::String item{}; KGEN_OBJECT(Owner) };\n"
      "struct OrderSpec {\n"
      "  // +kgen:inline\n"
      "  Owner common{};\n"
      "  kgen::Optional<Owner> second = kgen::kAbsent;\n"
      "  kgen::Optional<std::int32_t> item{};\n"
      "  KGEN_OBJECT(OrderSpec)\n};\n");
  const Outcome outcome =
      Run({"--out", folder_.native() + "/out", "--namespace", "acme", "--root", folder_.native(), header});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(Has(outcome.err, "info: \"item\" takes the place of \"common.item\", which is neither in the CRD nor"));
  EXPECT_TRUE(Has(Run({header}).out,
                  "            properties:\n              item:\n                format: int32\n"
                  "                type: integer\n              owner:\n                type: string\n"
                  "              second:\n                properties:\n                  item:\n"));
  EXPECT_TRUE(Has(Read("out/acme/acme.cc"), "offsetof(OrderSpec, common.owner)"));
  EXPECT_FALSE(Has(Read("out/acme/acme.cc"), "offsetof(OrderSpec, common.item)")) << "it is not in JSON";
}

TEST_F(HeaderLanguage, HasMarkersOfNamedTypesAndOfNamespaces) {
  const Outcome outcome =
      RunAlone({Light("// How it is called.\n// +kgen:maxLength=9\nusing Name = kgen::String;\n"
                      "// +kgen:maxItems=3\ntypedef kgen::List<Name> Names;\n"
                      "struct Order {\n"
                      "  kgen::meta::v1::ObjectMeta metadata{};\n"
                      "  Name one{};\n  kgen::List<kgen::List<Name>> many{};\n  Names few{};\n"
                      "  KGEN_OBJECT(Order)\n};\n")});
  EXPECT_TRUE(Has(outcome.err, "no struct of the headers is a kind"));
  std::string text = Read("shop.h");
  text.replace(text.find("namespace acme"), 0, "// +groupName=shop.example.com\n// +versionName=v1\n");
  text.replace(text.find("struct Order"), 0, "// +kgen:resource\n");
  const Outcome named = RunAlone({Write("shop.h", text)});
  EXPECT_EQ(named.err, "");
  EXPECT_TRUE(Has(named.out, "  name: orders.shop.example.com\n"));
  EXPECT_TRUE(Has(named.out,
                  "          few:\n            items:\n              description: How it is called.\n"
                  "              maxLength: 9\n              type: string\n            maxItems: 3\n"));
  EXPECT_TRUE(
      Has(named.out,
          "              items:\n                description: How it is called.\n                maxLength: 9\n"));
  EXPECT_TRUE(Has(named.out, "          one:\n            description: How it is called.\n            maxLength: 9\n"));
}

TEST_F(HeaderLanguage, LeavesATextWithConstantsOpenAndAnEnumClassClosed) {
  const Outcome outcome =
      Run({Header("inline constexpr std::string_view kPost = \"Post\";\n"
                  "enum class Size { kSmall, kExtraBig, // +kgen:name=X-Big\n };\n"
                  "struct OrderSpec {\n"
                  "  struct WayValues { static constexpr std::string_view kBike = \"Bike\"; };\n"
                  "  static constexpr std::string_view kTruck = \"Truck\";\n"
                  "  // +kgen:default=Post\n"
                  "  kgen::String way{};\n"
                  "  kgen::Enum<Size> size{};\n"
                  "  KGEN_OBJECT(OrderSpec)\n};\n")});
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(Has(outcome.out,
                  "              size:\n                enum:\n                - Small\n                - X-Big\n"
                  "                type: string\n              way:\n                default: Post\n"
                  "                type: string\n            type: object\n"));
}

TEST_F(HeaderLanguage, MakesOneCrdAndClientsOfVersionsInSeveralHeaders) {
  const auto version = [&](const std::string& name, const std::string& markers, const std::string& member) {
    return Write("shop_" + name + ".h",
                 "#pragma once\n#include \"kgen/core/object.h\"\n#include \"kgen/core/object_meta.h\"\n"
                 "namespace acme::shop::" +
                     name + " {\nstruct OrderSpec {\n  " + member +
                     "\n  KGEN_OBJECT(OrderSpec)\n};\n"
                     "// +kgen:resource:group=shop.example.com,version=" +
                     name + "\n" + markers +
                     "struct Order {\n  kgen::meta::v1::ObjectMeta metadata{};\n"
                     "  kgen::Optional<OrderSpec> spec = kgen::kAbsent;\n  KGEN_OBJECT(Order)\n};\n}\n");
  };
  const std::string v1alpha1 = version("v1alpha1", "// +kgen:served=false\n", "kgen::String article{};");
  const std::string v1beta1 = version("v1beta1", "// +kgen:deprecated:warning=\"use v1\"\n", "kgen::String item{};");
  const std::string v1 = version("v1", "// +kgen:storage\n", "kgen::List<kgen::String> items{};");
  const Outcome outcome = Run({"--out", folder_.native() + "/out", "--crds", folder_.native() + "/crds", "--namespace",
                               "acme", "--root", folder_.native(), v1alpha1, v1beta1, v1});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(Errors(outcome.err), 0u) << outcome.err;
  const std::string crd = Read("crds/shop.example.com_orders.yaml");
  EXPECT_TRUE(Has(crd, "                items:\n                  type: string\n                type: array\n"));
  EXPECT_TRUE(Has(crd, "    served: true\n    storage: true\n"));
  EXPECT_TRUE(Has(crd, "    served: false\n    storage: false\n"));
  EXPECT_TRUE(Has(crd, "  - deprecated: true\n    deprecationWarning: use v1\n    name: v1beta1\n"));
  EXPECT_TRUE(Has(Read("out/acme/clientset.h"), "ShopV1()"));
  EXPECT_TRUE(Has(Read("out/acme/clientset.h"), "ShopV1beta1()"));
  EXPECT_FALSE(Has(Read("out/acme/clientset.h"), "ShopV1alpha1()")) << "it is not served";
  EXPECT_TRUE(Has(Read("out/acme/shop/v1alpha1/types.h"), "#include \"shop_v1alpha1.h\"\n")) << "but has its types";
}

TEST_F(HeaderLanguage, InlinesBuiltInTypesWithoutConfiguration) {
  const std::string header = Header(
      "struct OrderSpec {\n  kgen::Optional<k8s::core::v1::PodTemplateSpec> template_ = kgen::kAbsent;\n"
      "  KGEN_OBJECT(OrderSpec)\n};\n",
      "#include \"k8s/core/v1/types.h\"");
  const Outcome outcome = Run({"--use", "k8s", "--embedded-metadata", "--depfile", folder_.native() + "/d", "--crds",
                               folder_.native() + "/crds", header});
  EXPECT_EQ(outcome.err, "");
  const std::string crd = Read("crds/shop.example.com_orders.yaml");
  EXPECT_TRUE(
      Has(crd,
          "                              x-kubernetes-list-map-keys:\n                              - containerPort\n"
          "                              - protocol\n                              x-kubernetes-list-type: map\n"));
  EXPECT_TRUE(Has(crd, "                      labels:\n"));
  EXPECT_TRUE(Has(Read("d"), "api__v1.json")) << "a new document makes new CRDs";
  EXPECT_TRUE(Has(Run({header}).err, "--use NAMESPACE"));
  EXPECT_TRUE(Has(Run({"--use", "k8s=" + folder_.native() + "/absent", header}).err, "absent"));
  EXPECT_TRUE(Has(Run({"--use", "=x", header}).err, "--use needs NS=PATH"));
}

TEST_F(HeaderLanguage, ReadsTheStructsOfAnotherApiOfHeadersWithTheirMarkers) {
  Write("parts.h",
        "#pragma once\n#include \"kgen/core/enum.h\"\n#include \"kgen/core/object.h\"\n"
        "#include \"kgen/core/object_meta.h\"\nnamespace base::parts::v1 {\n"
        "enum class Grade { kFine, kRough };\n"
        "// How large.\nstruct Size {\n  // +kgen:minimum=1\n  kgen::Optional<int> width{};\n"
        "  kgen::Enum<Grade> grade{};\n  KGEN_OBJECT(Size)\n};\n"
        "// +kgen:resource:group=parts.example.com,version=v1\nstruct Part {\n"
        "  kgen::meta::v1::ObjectMeta metadata{};\n  KGEN_OBJECT(Part)\n};\n}\n");
  const std::string header = Header(
      "struct OrderSpec {\n  kgen::List<base::parts::v1::Size> sizes{};\n"
      "  kgen::Optional<base::parts::v1::Part> part = kgen::kAbsent;\n  KGEN_OBJECT(OrderSpec)\n};\n",
      "#include \"parts.h\"");
  const Outcome outcome = Run({"--use", "base", "--out", folder_.native() + "/out", "--crds",
                               folder_.native() + "/crds", "--namespace", "acme", "--root", folder_.native(), header});
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(
      Has(Read("crds/shop.example.com_orders.yaml"),
          "                items:\n                  description: How large.\n                  properties:\n"
          "                    grade:\n                      enum:\n                      - Fine\n"
          "                      - Rough\n                      type: string\n"
          "                    width:\n                      format: int32\n                      minimum: 1\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "crds/parts.example.com_parts.yaml")) << "the kind is the other API's";
  const std::string code = Read("out/acme/acme.cc");
  EXPECT_TRUE(Has(code, "&kgen::kTypeOf<::base::parts::v1::Size>"));
  EXPECT_FALSE(Has(code, "Size::kTable = ")) << "the other API has the table";
  EXPECT_FALSE(Has(code, "EnumNamesOf<::base::parts::v1::Grade>"));
}

}  // namespace
}  // namespace kgen::generator::crd
