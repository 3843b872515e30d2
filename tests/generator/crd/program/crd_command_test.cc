// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen-crd as a program: headers in, CRDs, code and messages out.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/generator/crd/program/crd_fixture.h"

namespace kgen::generator::crd {
namespace {

namespace fs = std::filesystem;

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
      "  static constexpr const char* kPen = \"pen\";\n"  // a text for item
      "  static constexpr std::string_view kInk = \"ink\";\n"
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

TEST_F(KgenCrd, SkipsHeadersThatItWillGenerateItself) {
  const std::string header = Write("shop.h", "#include \"acme/later.h\"\n");
  const Outcome with = RunAlone({"--out", folder_.native(), "--namespace", "acme::inner", header});
  EXPECT_TRUE(Has(with.err, "no struct of the headers is a kind"));
  EXPECT_FALSE(Has(with.err, "file not found"));
  EXPECT_TRUE(Has(RunAlone({header}).err, "shop.h:1:10: error: 'acme/later.h' file not found"));
}

TEST_F(KgenCrd, NeedsHeadersThatExistAndCompile) {
  EXPECT_TRUE(Has(RunAlone({Path("absent.h")}).err, "absent.h: error: there is no such header"));
  EXPECT_TRUE(Has(RunAlone({folder_.native()}).err, "error: this is no file, so it cannot be a header"));
  EXPECT_TRUE(Has(RunAlone({Write("empty.h", "")}).err, "kgen-crd: error: no struct of the headers is a kind"));
  const Outcome outcome = RunAlone({Write("shop.h", "\nUnheard of;\n")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome.err, "shop.h:2:1: error: unknown type name 'Unheard'"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(KgenCrd, ExplainsItsOptions) {
  const Outcome help = RunAlone({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  for (const char* option : {"--crds", "--out", "--namespace", "--flags", "--check", "--rbac", "--depfile"})
    EXPECT_TRUE(Has(help.out, option));
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{}, "no input; pass headers"},
      {{"--chek", "a.h"}, "--chek"},
      {{"--crds"}, "missing an argument"},
      {{"--out", "x", "a.h"}, "--out and --namespace belong together"},
      {{"--out", "x", "--namespace", "Acme", "a.h"}, "lower-case identifiers"},
      {{"--max-description", "few", "a.h"}, "--max-description needs a number"},
      {{"--flags", Path("absent"), "a.h"}, "cannot read the file of --flags"},
  };
  for (const auto& [arguments, message] : wrong) {
    const Outcome outcome = RunAlone(arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_TRUE(Has(outcome.err, message));
    EXPECT_TRUE(Has(outcome.err, "`kgen-crd --help` shows the usage."));
  }
}

TEST_F(KgenCrd, SaysItsVersion) {
  const Outcome version = RunAlone({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.err, "");
  EXPECT_TRUE(Has(version.out, "kgen-crd 0."));
}

TEST_F(KgenCrd, TakesTheFlagsOfTheCompiler) {
  fs::create_directories(folder_ / "plain");
  fs::create_directories(folder_ / "system");
  fs::create_directories(folder_ / "root/usr/include");
  Write("plain/a.h", "");
  Write("system/b.h", "#define B 1\n");
  Write("root/usr/include/c.h", "#define C 1\n");
  const std::string header = Write("shop.h",
                                   "#include <a.h>\n#include <b.h>\n#include <c.h>\n"
                                   "static_assert(A == 2 && B == 1 && C == 1 && __cplusplus == 202002L);\n");
  const std::string flags = Write("flags", "-I" + Path("plain") + "\n\n-isystem\n" + Path("system") +
                                               "\n-DA=2\n-std=c++20\n--sysroot=" + Path("root") + "\n");
  const Outcome outcome = RunAlone({"--flags", flags, header});
  EXPECT_TRUE(Has(outcome.err, "no struct of the headers is a kind"));
  EXPECT_EQ(Errors(outcome.err), 1u) << outcome.err;
  EXPECT_TRUE(Has(RunAlone({"--flag=-DA=3", "--flags", flags, header}).err, "static assertion failed"));
}

TEST_F(KgenCrd, FindsTheHeadersOfClangByItself) {
  const std::string header = Write("shop.h", "#include <stddef.h>\n#include <stdarg.h>\n");
  EXPECT_TRUE(Has(RunAlone({header}).err, "no struct of the headers is a kind"));
}

TEST_F(KgenCrd, WritesCodeForTheStructsOfTheHeader) {
  const std::string header =
      Header("struct OrderSpec { kgen::String item{}; KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind));
  const std::vector<std::string> arguments = {
      "--out",  folder_.native() + "/out",  "--namespace", "acme", "--root", folder_.native(),
      "--crds", folder_.native() + "/crds", header};
  EXPECT_EQ(Run(arguments).err, "");
  const std::string types = Read("out/acme/shop/v1/types.h"), tables = Read("out/acme/acme.cc");
  const std::string crd = Read("crds/shop.example.com_orders.yaml");
  EXPECT_TRUE(Has(types, "#include \"shop.h\"\n"));
  EXPECT_FALSE(Has(types, "struct Order {"));
  EXPECT_TRUE(Has(types, "struct OrderList {"));
  EXPECT_TRUE(Has(tables, "{\"item\", 4, offsetof(OrderSpec, item), kgen::ValueKind::kString, 0, 0, nullptr}"));
  EXPECT_TRUE(fs::exists(folder_ / "crds/shop.example.com_orders.yaml"));

  std::vector<std::string> check = arguments;
  check.insert(check.begin(), "--check");
  Outcome checked = Run(check);
  EXPECT_EQ(checked.code, 0);
  EXPECT_EQ(checked.out + checked.err, "");
  Header("struct OrderSpec { kgen::String article{}; KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind));
  checked = Run(check);
  EXPECT_EQ(checked.code, 1);
  EXPECT_TRUE(Has(checked.err, "write  " + folder_.native() + "/crds/shop.example.com_orders.yaml\n"));
  EXPECT_TRUE(Has(checked.err, "acme.cc\n"));

  Header("struct OrderSpec { kgen::String* item{}; KGEN_OBJECT(OrderSpec) };\n" + std::string(kKind));
  EXPECT_EQ(Run(arguments).code, 1);
  EXPECT_EQ(Read("out/acme/acme.cc"), tables) << "neither a check nor a faulty header writes anything";
  EXPECT_EQ(Read("out/acme/shop/v1/types.h"), types);
  EXPECT_EQ(Read("crds/shop.example.com_orders.yaml"), crd);
}

TEST_F(KgenCrd, LeavesFilesAloneThatAreUpToDate) {
  const std::vector<std::string> arguments = {"--crds", Path("crds"), Light(kSpec + std::string(kKind))};
  EXPECT_EQ(RunAlone(arguments).code, 0);
  const fs::path crd = folder_ / "crds/shop.example.com_orders.yaml";
  fs::last_write_time(crd, fs::file_time_type());
  EXPECT_EQ(RunAlone(arguments).code, 0);
  EXPECT_EQ(fs::last_write_time(crd), fs::file_time_type());
}

// A CRD without a kind would stay in the folder, and in clusters, forever.
TEST_F(KgenCrd, SeesAndRemovesTheCrdOfAKindThatIsGone) {
  const std::string gone =
      "// +kgen:resource:group=shop.example.com,version=v1\n"
      "struct Gone { kgen::meta::v1::ObjectMeta metadata{}; KGEN_OBJECT(Gone) };\n";
  const std::vector<std::string> arguments = {"--crds", Path("crds"), Light(kSpec + std::string(kKind) + gone)};
  EXPECT_EQ(RunAlone(arguments).code, 0);
  const std::string other = Write("crds/mine.yaml", "# not of this run\n");
  Light(kSpec + std::string(kKind));
  std::vector<std::string> check = arguments;
  check.insert(check.begin(), "--check");
  const Outcome checked = RunAlone(check);
  EXPECT_EQ(checked.code, 1);
  EXPECT_EQ(checked.err, "remove " + Path("crds") + "/shop.example.com_gones.yaml\n");
  EXPECT_TRUE(fs::exists(Path("crds/shop.example.com_gones.yaml"))) << "a check changes nothing";
  EXPECT_EQ(RunAlone(arguments).code, 0);
  EXPECT_FALSE(fs::exists(Path("crds/shop.example.com_gones.yaml")));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_EQ(RunAlone(check).code, 0);
}

TEST_F(KgenCrd, SeesAndRemovesWhatAKilledRunHasLeft) {
  const std::vector<std::string> arguments = {"--crds", Path("crds"), "--depfile", Path("d"),
                                              Light(kSpec + std::string(kKind))};
  std::vector<std::string> check = arguments;
  check.insert(check.begin(), "--check");
  EXPECT_EQ(RunAlone(arguments).code, 0);
  for (const std::string name : {"crds/shop.example.com_orders.yaml.kgen-new", "d.kgen-new"}) {
    Write(name, "half");
    const Outcome checked = RunAlone(check);
    EXPECT_EQ(checked.code, 1);
    EXPECT_EQ(checked.err, "remove " + Path(name) + "\n");
    EXPECT_TRUE(fs::exists(Path(name))) << "a check changes nothing";
    EXPECT_EQ(RunAlone(arguments).code, 0);
    EXPECT_FALSE(fs::exists(Path(name)));
    EXPECT_EQ(RunAlone(check).code, 0);
  }
}

TEST_F(KgenCrd, OverwritesACrdThatWasEditedByHandOnlyWithForce) {
  const std::vector<std::string> arguments = {"--crds", Path("crds"), Light(kSpec + std::string(kKind))};
  EXPECT_EQ(RunAlone(arguments).code, 0);
  const std::string crd = Read("crds/shop.example.com_orders.yaml");
  Write("crds/shop.example.com_orders.yaml", crd + "# my line\n");
  const Outcome refused = RunAlone(arguments);
  EXPECT_EQ(refused.code, 3);
  EXPECT_TRUE(Has(refused.err, "shop.example.com_orders.yaml was edited by hand; move it away, or use --force"));
  EXPECT_EQ(Read("crds/shop.example.com_orders.yaml"), crd + "# my line\n");
  std::vector<std::string> force = arguments;
  force.insert(force.begin(), "--force");
  EXPECT_EQ(RunAlone(force).code, 0);
  EXPECT_EQ(Read("crds/shop.example.com_orders.yaml"), crd);
}

TEST_F(KgenCrd, SaysWhichFolderItCannotWrite) {
  const std::string header = Light(kSpec + std::string(kKind));
  Write("file", "");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--crds", Path("file")}, {"--out", Path("file/x"), "--namespace", "acme"}}) {
    std::vector<std::string> all = arguments;
    all.push_back(header);
    const Outcome outcome = RunAlone(all);
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_TRUE(Has(outcome.err, Path("file")));
  }
}

TEST_F(KgenCrd, RefusesOneKindInTwoHeaders) {
  const std::string first = Light(kSpec + std::string(kKind));
  const std::string text = LightText(kSpec + std::string(kKind), "acme::shop::v2");
  const std::string second = Write("again.h", "#pragma once\n" + text.substr(text.find("namespace acme")));
  const Outcome outcome = RunAlone({"--crds", Path("crds"), first, second});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome.err, "the kind \"Order\" of \"v1\" is declared twice, first at " + first + ":" +
                                   std::to_string(kLightLine + 1) + ":4"));
  EXPECT_EQ(Errors(outcome.err), 1u) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "crds"));
}

// They would be missing in the CRDs without a word.
TEST_F(KgenCrd, WarnsOfKindsInHeadersThatAreNotListed) {
  const std::string part = Light("struct PartSpec { KGEN_OBJECT(PartSpec) };\n" + std::string(kSpec) + kKind);
  const std::string header = Write("jobs.h",
                                   "#include \"shop.h\"\nnamespace acme::jobs::v1 {\n"
                                   "// +kgen:resource:group=jobs.example.com,version=v1\n"
                                   "struct Job { kgen::meta::v1::ObjectMeta metadata{}; KGEN_OBJECT(Job) };\n}\n");
  const Outcome outcome = RunAlone({header});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(Has(outcome.out, "kind: Job\n"));
  EXPECT_FALSE(Has(outcome.out, "kind: Order\n"));
  EXPECT_TRUE(outcome.err.starts_with(part + ":" + std::to_string(kLightLine + 3) +
                                      ":8: warning: \"Order\" is a kind, but its header is not an input"))
      << outcome.err;
  EXPECT_TRUE(
      Has(outcome.err, "    hint: name that header too, or, if it is of another API, the API: --use NAMESPACE\n"));
  EXPECT_EQ(outcome.err.find("warning"), outcome.err.rfind("warning")) << "PartSpec is no kind";
  EXPECT_EQ(RunAlone({header, part}).err, "");
  EXPECT_EQ(RunAlone({"--use", "acme::shop", header}).err, "");
}

TEST_F(KgenCrd, PrintsOneRoleOfAllHeaders) {
  const std::string rule = "// +kgen:rbac:groups=apps,resources=deployments,verbs=list;get;get\n";
  const std::string first = Light(rule + kSpec + "// +kgen:rbac:groups=core,resources=pods,verbs=get\n" + kKind);
  const std::string second = Write("jobs.h",
                                   "#pragma once\n#include \"shop.h\"\nnamespace acme {\n"
                                   "// +kgen:rbac:groups=apps,resources=deployments,verbs=get;list\n"
                                   "struct Job { KGEN_OBJECT(Job) };\n}\n");
  const Outcome outcome = RunAlone({"--rbac", "shop", "--crds", Path("crds"), first, second});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: shop\nrules:\n"
            "- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n"
            "- apiGroups:\n  - apps\n  resources:\n  - deployments\n  verbs:\n  - get\n  - list\n");
  EXPECT_EQ(RunAlone({"--rbac", "shop", second, first}).out, outcome.out) << "the order of the headers does not matter";
  EXPECT_FALSE(fs::exists(folder_ / "crds")) << "nothing is written";
}

// A controller's rights stand where its code is.
TEST_F(KgenCrd, ReadsRulesAboveFunctionsAndInSources) {
  const std::string header =
      Light("// +kgen:rbac:groups=apps,resources=deployments,verbs=get\nvoid Run();\n" + std::string(kSpec) + kKind);
  const std::string source = Write("controller.cc",
                                   "const char* kText = \"// +kgen:rbac:groups=no,resources=no,verbs=no\";\n"
                                   "const char* kRaw = R\"(// +kgen:rbac:groups=no,resources=no,verbs=no)\";\n"
                                   "int Reconcile() {\n"
                                   "  // +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=get,namespace=vault\n"
                                   "  return 1'000;  /* +kgen:rbac:urls=/metrics,verbs=get; */\n}\n");
  const Outcome outcome = RunAlone({"--rbac", "shop", "--source", source, header});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: shop\nrules:\n"
            "- nonResourceURLs:\n  - /metrics\n  verbs:\n  - get\n"
            "- apiGroups:\n  - apps\n  resources:\n  - deployments\n  verbs:\n  - get\n"
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: shop\n  namespace: vault\n"
            "rules:\n- apiGroups:\n  - \"\"\n  resources:\n  - secrets\n  verbs:\n  - get\n");
  const std::string wrong =
      Write("wrong.cc", "// +kgen:rbac:groups=a,verbs=get\n// +kgen:minimum=1\n// +optional text\n");
  const Outcome refused = RunAlone({"--rbac", "shop", "--source", wrong, "--source", Path("absent.cc"), header});
  EXPECT_TRUE(Has(refused.err, wrong + ":2:4: error: the marker \"+kgen:minimum=1\" is in a source"));
  EXPECT_TRUE(Has(refused.err, wrong + ":1:4: error: +kgen:rbac: it names neither resources nor urls"));
  EXPECT_TRUE(Has(refused.err, "absent.cc: error: the source cannot be read"));
  EXPECT_EQ(Errors(refused.err), 3u) << refused.err;
  EXPECT_TRUE(Has(RunAlone({"--source", source, header}).err, "--source is for --rbac"));
}

TEST_F(KgenCrd, WritesADepfileWithEachHeaderThatWasRead) {
  Write("part.h", "#define PART 1\n");
  const std::string header =
      Write("shop.h", "#include \"part.h\"\n#include <cstddef>\n" + LightText(kSpec + std::string(kKind)));
  EXPECT_EQ(RunAlone({"--crds", Path("crds"), "--depfile", Path("deps.d"), "--depfile-target", "stamp", header}).err,
            "");
  const std::string rule = Read("deps.d");
  EXPECT_TRUE(rule.starts_with("stamp:")) << rule;
  EXPECT_TRUE(Has(rule, header));
  EXPECT_TRUE(Has(rule, Path("part.h")));
  EXPECT_TRUE(Has(rule, "/cstddef "));
  EXPECT_FALSE(Has(rule, "kgen-crd/api.cc"));
  std::istringstream names(rule.substr(rule.find(':') + 1));
  for (std::string name; names >> name;) {
    EXPECT_TRUE(name == "\\" || fs::exists(name)) << name << ": a missing file would run kgen-crd in every build";
  }
}

}  // namespace
}  // namespace kgen::generator::crd
