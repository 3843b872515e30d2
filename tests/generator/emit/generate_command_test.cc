// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// `kgen generate` as users run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "generator/commands/command.h"
#include "tests/support/paths.h"

namespace kgen::generator::commands {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Tree = std::map<std::string, std::string>;

struct Result {
  int code;
  std::string out, err;
};

Result Invoke(std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.insert(arguments.begin(), "generate");
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunKgen(arguments, {in, out, err});
  return {code, out.str(), err.str()};
}

Tree ReadTree(const fs::path& root) {
  Tree files;
  if (!fs::exists(root)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) {
      files[entry.path().lexically_relative(root).native()] = test_support::ReadFile(entry.path().native());
    }
  }
  return files;
}

// All files of a folder of the corpus, by name.
std::vector<std::string> Corpus(const std::string& folder) {
  std::vector<std::string> files;
  const auto root = test_support::SharedPath(folder);
  if (!root) return files;
  for (const auto& entry : fs::recursive_directory_iterator(*root)) {
    if (entry.is_regular_file()) files.push_back(entry.path().native());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Generate : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kgen-generate-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    out_ = (folder_ / "out").native();
  }
  void TearDown() override { fs::remove_all(folder_); }

  const std::string orders_ = test_support::SourcePath("examples/crds/orders.yaml");
  const std::string hostile_ = test_support::SourcePath("tests/golden/hostile.yaml");
  fs::path folder_;
  std::string out_;
};

TEST_F(Generate, ShowsItsOptionsWithExamples) {
  const Result result = Invoke({"--help"});
  EXPECT_EQ(result.code, kFine);
  EXPECT_THAT(result.out, HasSubstr("Examples:"));
  EXPECT_THAT(result.out, HasSubstr("--namespace"));
  EXPECT_THAT(result.err, IsEmpty());
}

// Contract: generator ERR-06.
TEST_F(Generate, NamesTheMissingPartOfACommandLine) {
  EXPECT_EQ(Invoke({orders_}).code, kBadUsage);
  EXPECT_EQ(Invoke({"--out", out_}).code, kBadUsage);
  for (const char* bad : {"main", "Acme", "kgen", "kgen::x", "std", "a__b", "class", "a:b", "../x", "", "a::", "_a"}) {
    const Result result = Invoke({"--out", out_, "--namespace", bad, orders_});
    EXPECT_EQ(result.code, kBadUsage) << bad;
    EXPECT_THAT(result.err, HasSubstr("--namespace")) << bad;
  }
  EXPECT_EQ(Invoke({"--out", out_, "--shards", "0", orders_}).code, kBadUsage);
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(Generate, MakesTheTypesOfTheRuntimeThatAListNamesAndAllThatTheyContain) {
  std::ofstream(folder_ / "list.txt") << "# types\nsrc/a/event.h src/a/event.cc kgen::a events.k8s.io/v1/Event\n"
                                      << "include/kgen/core/scale.h src/core/scale.cc kgen::b autoscaling/v1/Scale\n";
  const auto api = [](const char* name) { return test_support::SourcePath("openapi/kubernetes-1.36/") + name; };
  const Result result = Invoke({"--out", out_, "--runtime", folder_ / "list.txt", api("apis__events.k8s.io__v1.json"),
                                api("apis__apps__v1.json")});
  ASSERT_EQ(result.code, kFine) << result.err;
  const Tree files = ReadTree(out_);
  EXPECT_THAT(files, SizeIs(5));  // and the manifest
  const std::string& event = files.at("src/a/event.h");
  EXPECT_THAT(event, HasSubstr("#ifndef KGEN_SRC_A_EVENT_H_"));
  EXPECT_THAT(event, HasSubstr("namespace kgen::a {"));
  EXPECT_THAT(event, HasSubstr("struct ObjectReference {"));
  EXPECT_THAT(event, HasSubstr("friend bool operator==(const ObjectReference& a"));
  EXPECT_THAT(event, Not(HasSubstr("EventList")));
  EXPECT_THAT(event, Not(HasSubstr("struct ObjectMeta")));
  EXPECT_THAT(event, Not(HasSubstr("fingerprint.h")));
  EXPECT_THAT(files.at("src/a/event.cc"), HasSubstr("#include \"a/event.h\""));
  EXPECT_THAT(files.at("include/kgen/core/scale.h"), HasSubstr("#ifndef KGEN_CORE_SCALE_H_"));
  EXPECT_THAT(files.at("src/core/scale.cc"), HasSubstr("\"kgen.b.Scale\""));
}

TEST_F(Generate, MakesTheTypesOfMetaWithTheFlagsThatTheRuntimeReads) {
  std::ofstream(folder_ / "list.txt")
      << "include/kgen/core/object_meta.h src/core/object_meta.cc kgen::meta::v1 meta.k8s.io/v1/ObjectMeta "
         "meta.k8s.io/v1/Status\n";
  const Result result = Invoke({"--out", out_, "--runtime", folder_ / "list.txt",
                                test_support::SourcePath("openapi/kubernetes-1.36/apis__apps__v1.json")});
  ASSERT_EQ(result.code, kFine) << result.err;
  const Tree files = ReadTree(out_);
  const std::string& header = files.at("include/kgen/core/object_meta.h");
  EXPECT_THAT(header, HasSubstr("// The types of meta/v1."));
  EXPECT_THAT(header, Not(HasSubstr("#include \"kgen/core/object_meta.h\"")));
  for (const char* contained : {"ManagedFieldsEntry", "OwnerReference", "ListMeta", "ShardInfo", "StatusCause"})
    EXPECT_THAT(header, HasSubstr(std::string("struct ") + contained + " {"));
  EXPECT_THAT(header, HasSubstr("  ListMeta metadata{};\n"));  // of Status, in place
  const std::string& tables = files.at("src/core/object_meta.cc");
  EXPECT_THAT(tables,
              HasSubstr("constexpr kgen::KindInfo kStatusKind = {\n    .group = \"\",\n    .version = \"v1\","));
  EXPECT_THAT(tables, HasSubstr("offsetof(ObjectMeta, name), kgen::ValueKind::kString, kgen::kUnique, "));
  EXPECT_THAT(tables, HasSubstr("offsetof(ObjectMeta, managedFields), kgen::ValueKind::kList, "
                                "kgen::kNoMemo | kgen::kManagedFields, "));
  EXPECT_THAT(tables, HasSubstr("offsetof(OwnerReference, uid), kgen::ValueKind::kString, 0, "));
}

TEST_F(Generate, RefusesAListOfTheRuntimeThatNamesNoTypeOrCannotBeRead) {
  const std::string list = folder_ / "list.txt";
  const std::string events = test_support::SourcePath("openapi/kubernetes-1.36/apis__events.k8s.io__v1.json");
  EXPECT_EQ(Invoke({"--out", out_, "--runtime", list, events}).code, kBadUsage);
  std::ofstream(list) << "# types\nsrc/a/event.h src/a/event.cc kgen::a\n";
  Result result = Invoke({"--out", out_, "--runtime", list, events});
  EXPECT_EQ(result.code, kBadUsage);
  EXPECT_THAT(result.err, HasSubstr("list.txt:2: a line needs"));
  std::ofstream(list) << "src/a/event.h src/a/event.cc kgen::a events.k8s.io/v1/Evnt\n";
  result = Invoke({"--out", out_, "--runtime", list, events});
  EXPECT_EQ(result.code, kBadInput);
  EXPECT_THAT(result.err, HasSubstr("events.k8s.io/v1/Evnt"));
  EXPECT_THAT(Invoke({"--out", out_, "--runtime", list, "--namespace", "acme", events}).err,
              HasSubstr("--runtime and --namespace cannot be combined"));
  EXPECT_FALSE(fs::exists(out_));
}

// Contract: generator OUT-03.
TEST_F(Generate, WritesAFingerprintThatEveryHeaderIncludesAndThatChangesWithAnyOfThem) {
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", orders_}).code, kFine);
  const Tree before = ReadTree(out_);
  for (const auto& [path, text] : before) {
    if (!path.ends_with(".h") || path.ends_with("fingerprint.h")) continue;
    const bool manifest = path.ends_with("_manifest.h");
    const std::string included = manifest ? "acme/manifest_fingerprint.h" : "acme/fingerprint.h";
    EXPECT_THAT(text, HasSubstr("#include \"" + included + "\"")) << path;
  }
  std::string changed = test_support::ReadFile(orders_);
  changed.replace(changed.find("photo:"), 6, "photograph:");
  std::ofstream(folder_ / "changed.yaml") << changed;
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", folder_ / "changed.yaml"}).code, kFine);
  EXPECT_NE(ReadTree(out_)["acme/fingerprint.h"], before.at("acme/fingerprint.h"));
  EXPECT_NE(ReadTree(out_)["acme/manifest_fingerprint.h"], before.at("acme/manifest_fingerprint.h"));
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", orders_}).code, kFine);
  EXPECT_EQ(ReadTree(out_), before);
}

// Users of the types need not be compiled again.
TEST_F(Generate, ChangesOnlyTheFingerprintOfTheManifestsIfNoTypeChanges) {
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", orders_}).code, kFine);
  const Tree before = ReadTree(out_);
  std::string changed = test_support::ReadFile(orders_);
  const std::string was = "metadata:\n";
  ASSERT_TRUE(changed.contains(was));
  changed.replace(changed.find(was), was.size(), was + "  labels: {team: a}\n");
  std::ofstream(folder_ / "changed.yaml") << changed;
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", folder_ / "changed.yaml"}).code, kFine);
  Tree after = ReadTree(out_);
  for (const auto& [path, text] : before) {
    const bool changes = path.contains("manifest") && !path.ends_with("_manifests.cc");
    EXPECT_EQ(after[path] != text, changes) << path;
  }
}

// A CRD of kind Order in this group, in a file of its own.
std::string WriteCrd(const fs::path& folder, const std::string& group) {
  std::string text = test_support::ReadFile(test_support::SourcePath("examples/crds/orders.yaml"));
  for (std::size_t at = 0; (at = text.find("shop.example.com", at)) != std::string::npos; at += group.size()) {
    text.replace(at, 16, group);
  }
  const fs::path path = folder / (group + ".yaml");
  std::ofstream(path) << text;
  return path.native();
}

// Contract: generator GRP-02, CFG-04.
TEST_F(Generate, RefusesGroupsThatShareANameAndTakesNamesForThem) {
  const std::string a = WriteCrd(folder_, "shop.a.com"), b = WriteCrd(folder_, "shop.b.com");
  const Result clash = Invoke({"--out", out_, a, b});
  EXPECT_EQ(clash.code, kBadInput);
  EXPECT_THAT(clash.err, HasSubstr("GROUP_NAMES shop.a.com=shop_a shop.b.com=shop_b"));
  EXPECT_FALSE(fs::exists(out_));
  ASSERT_EQ(Invoke({"--out", out_, "--group-names", "shop.b.com=store", a, b}).code, kFine);
  EXPECT_TRUE(fs::exists(out_ + "/api/shop/v1/types.h"));
  EXPECT_TRUE(fs::exists(out_ + "/api/store/v1/types.h"));
  ASSERT_EQ(Invoke({"--out", out_, "--group-names", "full", a, b}).code, kFine);
  EXPECT_TRUE(fs::exists(out_ + "/api/shop_a_com/v1/types.h"));
}

TEST_F(Generate, NamesAGroupAloneAsBesideOthers) {
  const std::string a = WriteCrd(folder_, "gateway.a.com"), b = WriteCrd(folder_, "other.gateway.com");
  ASSERT_EQ(Invoke({"--out", out_, a}).code, kFine);
  const std::string alone = ReadTree(out_)["api/gateway/v1/types.h"];
  ASSERT_EQ(Invoke({"--out", out_, a, b, orders_}).code, kFine);
  EXPECT_EQ(ReadTree(out_)["api/gateway/v1/types.h"], alone);
}

TEST_F(Generate, RefusesGroupNamesThatAreNone) {
  for (const char* bad : {"whole", "shop.example.com=", "shop.example.com=Shop", "shop.example.com=a::b",
                          "shop.example.com=std", "=class"}) {
    const Result result = Invoke({"--out", out_, "--group-names", bad, orders_});
    EXPECT_EQ(result.code, kBadUsage) << bad;
    EXPECT_THAT(result.err, HasSubstr("--group-names needs full, or a group and a lower-case identifier")) << bad;
  }
  const Result twice = Invoke({"--out", out_, "--group-names", "a.b=c", "--group-names", "a.b=d", orders_});
  EXPECT_EQ(twice.code, kBadUsage);
  EXPECT_THAT(twice.err, HasSubstr("names the group \"a.b\" twice"));
}

// Contract: generator OUT-01, OUT-02.
TEST_F(Generate, GivesTheSameBytesInEveryOrder) {
  ASSERT_EQ(Invoke({"--out", out_ + "1", "--namespace", "both", orders_, hostile_}).code, kFine);
  ASSERT_EQ(Invoke({"--out", out_ + "2", "--namespace", "both", hostile_, orders_}).code, kFine);
  EXPECT_THAT(ReadTree(out_ + "1"), SizeIs(::testing::Gt(10u)));
  EXPECT_EQ(ReadTree(out_ + "1"), ReadTree(out_ + "2"));
}

// Contract: generator ERR-05.
TEST_F(Generate, WritesNothingWhenAnythingIsWrong) {
  std::ofstream(folder_ / "bad.yaml") << "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
  const Result result = Invoke({"--out", out_, orders_, (folder_ / "bad.yaml").native()});
  EXPECT_EQ(result.code, kBadInput);
  EXPECT_THAT(result.err, HasSubstr("bad.yaml:"));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(Generate, WritesTheSourcesThatCMakeExpects) {
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme::inner", "--shards", "3", orders_}).code, kFine);
  const Tree tree = ReadTree(out_);
  for (const char* path : {"acme/inner/inner.cc", "acme/inner/inner_1.cc", "acme/inner/inner_2.cc",
                           "acme/inner/inner_manifests.cc", "acme/inner/clientset.h", "acme/inner/shop/v1/types.h"}) {
    EXPECT_TRUE(tree.contains(path)) << path;
  }
}

TEST_F(Generate, PutsEachCrdIntoAHeaderOfItsOwn) {
  const std::string crd = "additionalPrinterColumns";
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", orders_}).code, kFine);
  EXPECT_THAT(ReadTree(out_).at("acme/shop/orders_manifest.h"), HasSubstr(crd));
  EXPECT_THAT(ReadTree(out_).at("acme/acme.cc"), Not(HasSubstr(crd)));
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", "--split-by-group", orders_}).code, kFine);
  EXPECT_THAT(ReadTree(out_).at("acme/shop/orders_manifest.h"), HasSubstr(crd));
  // Without CRDs the file is there where its name is fixed.
  const std::string document = test_support::SourcePath("openapi/kubernetes-1.36/apis__policy__v1.json");
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", document}).code, kFine);
  EXPECT_THAT(ReadTree(out_).at("acme/acme_manifests.cc"), HasSubstr("No CustomResourceDefinitions"));
  EXPECT_THAT(ReadTree(out_).at("acme/clientset.h"), Not(HasSubstr("Manifests")));
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", "--split-by-group", document}).code, kFine);
  EXPECT_FALSE(ReadTree(out_).contains("acme/acme_manifests.cc"));
}

TEST_F(Generate, SeesAndRemovesWhatAKilledRunHasLeftOfTheDepfile) {
  const std::string depfile = (folder_ / "d").native(), leftover = depfile + ".kgen-new";
  ASSERT_EQ(Invoke({"--out", out_, "--depfile", depfile, orders_}).code, kFine);
  std::ofstream(leftover) << "half";
  const Result checked = Invoke({"--check", "--out", out_, "--depfile", depfile, orders_});
  EXPECT_EQ(checked.code, kBadInput);
  EXPECT_THAT(checked.err, HasSubstr("remove " + leftover + "\n"));
  EXPECT_TRUE(fs::exists(leftover)) << "a check changes nothing";
  EXPECT_EQ(Invoke({"--out", out_, "--depfile", depfile, orders_}).code, kFine);
  EXPECT_FALSE(fs::exists(leftover));
  EXPECT_EQ(Invoke({"--check", "--out", out_, "--depfile", depfile, orders_}).code, kFine);
}

TEST_F(Generate, WritesADepfileWithAbsolutePaths) {
  fs::create_directories(folder_ / "in put");
  fs::copy(orders_, folder_ / "in put" / "o$.yaml");
  const std::string depfile = (folder_ / "d").native();
  ASSERT_EQ(
      Invoke({"--out", out_, "--depfile", depfile, "--depfile-target", "/x/stamp", (folder_ / "in put").native()}).code,
      kFine);
  EXPECT_EQ(test_support::ReadFile(depfile), "/x/stamp: \\\n  " + folder_.native() + "/in\\ put/o$$.yaml\n");
}

// Contract: generator OUT-17.
TEST_F(Generate, ChecksWithoutWriting) {
  const std::vector<std::string> check = {"--check", "--out", out_, orders_};
  EXPECT_EQ(Invoke(check).code, kBadInput);
  EXPECT_FALSE(fs::exists(out_));
  ASSERT_EQ(Invoke({"--out", out_, orders_}).code, kFine);
  EXPECT_EQ(Invoke(check).code, kFine);
  std::ofstream(fs::path(out_) / "api/scheme.h") << "// Code generated by kgen. DO NOT EDIT.\n";
  EXPECT_NE(Invoke(check).code, kFine);
}

// Contract: generator OUT-20.
TEST_F(Generate, PutsTheHeaderOnTopOfEachFile) {
  std::ofstream(folder_ / "header") << "Copyright */ Me\\\n";
  ASSERT_EQ(Invoke({"--out", out_, "--header", (folder_ / "header").native(), orders_}).code, kFine);
  Tree tree = ReadTree(out_);
  std::erase_if(tree, [](const auto& file) { return file.first.starts_with(".kgen"); });
  for (const auto& [path, text] : tree) {
    EXPECT_TRUE(text.starts_with("// Copyright */ Me\\ .\n// Code generated by kgen. DO NOT EDIT.\n")) << path;
  }
}

// Contract: generator OUT-01.
TEST_F(Generate, NeverShowsTheMachineInItsOutput) {
  ASSERT_EQ(Invoke({"--out", out_, orders_, hostile_}).code, kFine);
  for (const auto& [path, text] : ReadTree(out_)) {
    EXPECT_THAT(text, Not(HasSubstr(folder_.native()))) << path;
    EXPECT_THAT(text, Not(HasSubstr(test_support::SourcePath("")))) << path;
    EXPECT_EQ(text.find('\r'), std::string::npos) << path;
    EXPECT_EQ(text.find(" \n"), std::string::npos) << path;
    for (unsigned char c : text) {
      if (c < 0x20 && c != '\n') ADD_FAILURE() << path << " holds a control character";
    }
  }
}

// Contract: generator OUT-08.
TEST_F(Generate, NamesFilesForEveryFileSystem) {
  ASSERT_EQ(Invoke({"--out", out_, orders_, hostile_}).code, kFine);
  for (const auto& [path, text] : ReadTree(out_)) {
    EXPECT_TRUE(std::all_of(path.begin(), path.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/' || c == '.' || c == '-';
    })) << path;
    EXPECT_LE(path.size(), 200u);
  }
}

// Contract: generator ACC-01.
TEST_F(Generate, AcceptsEveryCrdOfTheCorpus) {
  const std::vector<std::string> files = Corpus("corpus/crds");
  if (files.empty()) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  for (const std::string& file : files) {
    const Result result = Invoke({"--dry-run", "--out", out_, file});
    EXPECT_EQ(result.code, kFine) << file << "\n" << result.err;
  }
}

// Contract: generator ACC-05, SEC-03.
TEST_F(Generate, WritesNothingOutsideItsFolderForHostileFiles) {
  const std::vector<std::string> files = Corpus("corpus/invalid");
  if (files.empty()) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  for (const std::string& file : files) {
    const Result result = Invoke({"--out", out_, file});
    EXPECT_THAT((std::vector<int>{kFine, kBadInput}), Contains(result.code)) << file << "\n" << result.err;
    for (const auto& [path, text] : ReadTree(folder_)) {
      EXPECT_TRUE(path.starts_with("out/")) << file << " made " << path;
      // Text that these files try to inject may only appear in comments and literals.
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        const bool data = line.find("//") != std::string::npos || line.find('"') != std::string::npos;
        if (data) continue;
        EXPECT_THAT(line, Not(HasSubstr("java"))) << file << " " << path;
      }
    }
    fs::remove_all(out_);
  }
}

// Contract: generator ERR-06.
TEST_F(Generate, RefusesAHeaderThatIsNotAFile) {
  const Result result = Invoke({"--out", out_, "--header", folder_.native(), orders_});
  EXPECT_EQ(result.code, kBadUsage);
  EXPECT_THAT(result.err, HasSubstr("Is a directory"));
}

// Contract: generator OUT-19.
TEST_F(Generate, FailsWhenTheDepfileIsAFolder) {
  const Result result = Invoke({"--out", out_, "--depfile", folder_.native(), orders_});
  EXPECT_EQ(result.code, kCannotWrite) << result.err;
}

TEST_F(Generate, NamesTheHeaderInTheDepfile) {
  const std::string header = (folder_ / "header").native(), depfile = (folder_ / "d").native();
  std::ofstream(header) << "Mine\n";
  ASSERT_EQ(Invoke({"--out", out_, "--depfile", depfile, "--header", header, orders_}).code, kFine);
  EXPECT_THAT(test_support::ReadFile(depfile), HasSubstr(" \\\n  " + header + "\n"));
}

TEST_F(Generate, RefusesAnEmptyFolder) {
  const Result result = Invoke({"--out", "", orders_});
  EXPECT_EQ(result.code, kBadUsage);
  EXPECT_THAT(result.err, HasSubstr("--out needs a value"));
}

// Contract: generator ERR-07, ERR-10.
TEST_F(Generate, RefusesUnknownWarningIds) {
  const Result near = Invoke({"--out", out_, "--no-warn", "crd-nam", orders_});
  EXPECT_EQ(near.code, kBadUsage);
  EXPECT_THAT(near.err, HasSubstr("--no-warn: no warning has the id \"crd-nam\", did you mean crd-name?"));
  EXPECT_EQ(Invoke({"--out", out_, "--error", "bogus-and-more", orders_}).code, kBadUsage);
  EXPECT_EQ(Invoke({"--out", out_, "--error", "crd-name", "--no-warn", "enum-range", orders_}).code, kFine);
}

// Contract: generator OUT-12.
TEST_F(Generate, SplitsALongManifestIntoLiteralsThatEveryCompilerAccepts) {
  std::string crd = test_support::ReadFile(orders_);
  const std::string start = "description: Order is what";
  ASSERT_NE(crd.find(start), std::string::npos);
  crd.replace(crd.find(start), start.size(), "description: " + std::string(150'000, 'x') + " Order is what");
  std::ofstream(folder_ / "long.yaml") << crd;
  ASSERT_EQ(Invoke({"--out", out_, "--namespace", "acme", folder_ / "long.yaml"}).code, kFine);
  std::istringstream lines(test_support::ReadFile(out_ + "/acme/shop/orders_manifest.h"));
  std::size_t literal = 0, literals = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (line.starts_with("      {\"{") || (literal != 0 && line.starts_with("      {\""))) literal = 1, ++literals;
    if (literal == 0 || begin == std::string::npos || (line[begin] != '"' && line[begin] != '{')) continue;
    literal += line.size() - begin;
    ASSERT_LT(literal, 65'536u);
  }
  EXPECT_EQ(literals, 3u);
}

}  // namespace
}  // namespace kgen::generator::commands
