// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Folders as projects have them: CRDs beside kustomizations, patches, charts and settings of tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/generator/load.h"

namespace kgen::generator {
namespace {

namespace fs = std::filesystem;
using test::OrderCrd;
using ::testing::HasSubstr;
using ::testing::Not;

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kgen-folder-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  // The kinds that are read from a path below the folder, and what is said without and with -v.
  struct Read {
    std::vector<std::string> kinds;
    std::string said, noted;
  };
  Read Load(const std::string& name = "") {
    Diagnostics diagnostics;
    const model::Api api = commands::LoadApi({(folder_ / name).native()}, diagnostics);
    Read out{.kinds = {}, .said = diagnostics.Render(), .noted = diagnostics.Render(100, /*notes=*/true)};
    for (const model::Group& group : api.groups) {
      for (const model::Version& version : group.versions) {
        for (const model::ApiKind& kind : version.kinds) {
          if (kind.custom) out.kinds.push_back(kind.gvk.kind);
        }
      }
    }
    return out;
  }

  static std::string Crd(const std::string& kind, const std::string& plural) {
    std::string crd = OrderCrd("spec: {type: object}");
    for (const auto& [from, to] : {std::pair{std::string("orders"), plural}, {std::string("Order"), kind}}) {
      for (std::size_t at = crd.find(from); at != std::string::npos; at = crd.find(from, at + to.size()))
        crd.replace(at, from.size(), to);
    }
    return crd;
  }

  fs::path folder_;
};

TEST_F(Folder, LeavesOutWhatIsPlainlyNoCrd) {
  Write("bases/orders.yaml", Crd("Order", "orders"));
  Write("Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
  Write("values.yaml", "replicas: 2\n");
  Write("kustomizeconfig.yaml", "nameReference:\n- kind: Service\n  version: v1\n");
  Write(
      "patches/webhook.yaml",
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: orders.shop.example.com}\n"
      "spec: {conversion: {strategy: Webhook}}\n");
  Write("patches/json.yaml", "- op: add\n  path: /spec\n  value: {}\n");
  Write("templates/deployment.yaml", "{{- if .Values.x }}\nkind: Deployment\n{{- end }}\n");
  Write("empty.yaml", "\n");
  const Read read = Load();
  EXPECT_EQ(read.kinds, std::vector<std::string>{"Order"});
  EXPECT_EQ(read.said, "");
  for (const char* name : {"Chart.yaml:1:1", "values.yaml:1:1", "kustomizeconfig.yaml:1:1", "webhook.yaml:1:1",
                           "json.yaml:1:1", "deployment.yaml:1:"})
    EXPECT_THAT(read.noted, HasSubstr(name + std::string()));
}

// Settings of a chart and of kustomize use the keys of API documents for maps and flags.
TEST_F(Folder, TakesNoSettingsForAnApiDocument) {
  Write("orders.yaml", Crd("Order", "orders"));
  Write("values.yaml", "swagger:\n  enabled: true\n");
  Write("more.yaml", "openapi: false\n");
  Write("overlay/kustomization.yaml", "openapi:\n  path: schema.json\nresources: [../orders.yaml]\n");
  for (const char* name : {"", "overlay"}) {
    const Read read = Load(name);
    EXPECT_EQ(read.kinds, std::vector<std::string>{"Order"}) << name;
    EXPECT_EQ(read.said, "") << name;
  }
  Write("more.yaml", "swagger: 2.0\n");
  EXPECT_THAT(Load().said, HasSubstr("more.yaml:1:"));
}

TEST_F(Folder, LeavesOutUnreadableFilesThatOnlyMentionACrd) {
  Write("orders.yaml", Crd("Order", "orders"));
  Write("templates/wait.yaml", "{{- if .Values.x }}\n# waits for a CustomResourceDefinition\n{{- end }}\n");
  Write("templates/server.yaml", "{{- if .Values.x }}\nargs: [--openapi-validation]\nui: {swagger: /ui}\n{{- end }}\n");
  const Read read = Load();
  EXPECT_EQ(read.kinds, std::vector<std::string>{"Order"});
  EXPECT_EQ(read.said, "");
  for (const char* text :
       {"openapi: 3.0.0\n\t: [\n", "{\"swagger\": \"2.0\", }}", "- kind: \"CustomResourceDefinition\"\n  [\n",
        "kind:\tCustomResourceDefinition\nspec: [", "{\"kind\":\"CustomResourceDefinition\",,}"}) {
    Write("broken.yaml", text);
    EXPECT_THAT(Load().said, HasSubstr("[syntax]")) << text;
  }
}

TEST_F(Folder, ReportsItsTemplatesOfCrdsAsOneError) {
  for (const char* name : {"a", "b", "c"}) {
    Write(std::string("templates/") + name + ".yaml",
          "{{- if .Values.crds }}\nkind: CustomResourceDefinition\n{{- end }}\n");
  }
  const Read read = Load();
  EXPECT_THAT(
      read.said,
      HasSubstr("templates/a.yaml:1:2: error: this is the source of a template (\"{{\"), not YAML, and so are 2 "
                "more files: a key must be text, not a map [syntax]\n    hint: render it first, for example with "
                "`helm template`, and pass the result\n"));
  EXPECT_THAT(read.said, Not(HasSubstr("b.yaml")));
  EXPECT_THAT(read.noted, HasSubstr("templates/c.yaml:1:2: note: skipped: the source of a template"));
}

TEST_F(Folder, RefusesTheSameFilesWhenTheyAreNamed) {
  Write("values.yaml", "replicas: 2\n");
  EXPECT_THAT(Load("values.yaml").said, HasSubstr("values.yaml:1:1: error: this is neither an object"));
  EXPECT_THAT(Load().said, HasSubstr("the input contains neither a CustomResourceDefinition nor an API document; "
                                     "skipped 1 other [no-input]"));
}

TEST_F(Folder, KeepsErrorsForWhatLooksLikeACrd) {
  Write("orders.yaml", Crd("Order", "orders"));
  Write("broken.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: [\n");
  EXPECT_THAT(Load().said, HasSubstr("broken.yaml:4:1: error: "));
  Write("broken.yaml", "kind: CustomResourceDefinition\nspec: {group: a.example.com}\n");
  EXPECT_THAT(Load().said, HasSubstr("broken.yaml:1:1: error: \"apiVersion\" is missing"));
  Write("broken.yaml", "metadata: {name: x}\nspec: {group: a.example.com, names: {kind: A}}\n");
  EXPECT_THAT(Load().said, HasSubstr("broken.yaml:1:1: error: this is neither an object"));
}

TEST_F(Folder, StandsForTheResourcesOfItsKustomization) {
  Write("crd/bases/orders.yaml", Crd("Order", "orders"));
  Write("crd/bases/routes.yaml", Crd("Route", "routes"));
  Write("crd/bases/unused.yaml", Crd("Unused", "unuseds"));
  Write("crd/patches/broken.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: [\n");
  Write("crd/kustomization.yaml",
        "resources:\n- bases/orders.yaml\n- bases/routes.yaml\n- https://example.com/more.yaml\n"
        "patches:\n- path: patches/broken.yaml\n");
  Write("default/kustomization.yml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../crd]\n");
  const std::vector<std::string> both = {"Order", "Route"};
  for (const char* name : {"", "crd", "default"}) {
    const Read read = Load(name);
    EXPECT_EQ(read.kinds, both) << name;
    EXPECT_THAT(read.said, Not(HasSubstr("error"))) << name;
    EXPECT_THAT(read.said,
                HasSubstr("kustomization.yaml:4:3: info: skipped \"https://example.com/more.yaml\": kgen does not use "
                          "the network [skipped]\n"));
    EXPECT_THAT(read.noted, HasSubstr("kustomization.yaml:5:1: note: skipped: \"patches\" of this kustomization"));
  }
}

constexpr const char* kLossyCrd =
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    "metadata: {name: orders.shop.example.com}\n"
    "spec:\n  group: shop.example.com\n  scope: Namespaced\n  names: {kind: Order, plural: orders}\n  versions:\n"
    "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: "
    "string}}}}}\n"
    "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {b: {type: "
    "string}}}}}\n";
constexpr const char* kWarning = "objects of \"Order\" lose fields between v1 and v2";
constexpr const char* kMerge =
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    "metadata: {name: orders.shop.example.com}\nspec: {conversion: {strategy: Webhook}}\n";
constexpr const char* kOperations =
    "- {op: add, path: /spec/conversion, value: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}}\n";

// The webhook of a conversion is usually in a patch beside the CRDs.
TEST_F(Folder, HasNoLossyVersionsWhereAPatchConfiguresTheirConversion) {
  Write("bases/orders.yaml", kLossyCrd);
  Write("patches/merge.yaml", kMerge);
  Write("patches/operations.yaml", kOperations);
  const std::string target = "target: {kind: CustomResourceDefinition, name: ";
  for (const std::string& patches : {
           std::string("patches: [{path: patches/merge.yaml}]"),
           std::string("patchesStrategicMerge: [patches/merge.yaml]"),
           "patchesJson6902: [{path: patches/operations.yaml, " + target + "orders.shop.example.com}}]",
           "patches: [{path: patches/operations.yaml, " + target + "'.*.example.com'}}]",
           std::string("patches: [{path: patches/operations.yaml, target: {kind: CustomResourceDefinition}}]"),
           "patches:\n- patch: '[{op: replace, path: /spec/conversion/strategy, value: Webhook}]'\n  " + target +
               "orders.shop.example.com}",
           std::string("patchesStrategicMerge:\n- |\n  kind: CustomResourceDefinition\n  metadata: {name: "
                       "orders.shop.example.com}\n  spec: {conversion: {strategy: Webhook}}"),
       }) {
    Write("kustomization.yaml", "resources: [bases/orders.yaml]\n" + patches + "\n");
    EXPECT_THAT(Load().said, Not(HasSubstr(kWarning))) << patches;
  }
}

TEST_F(Folder, HasLossyVersionsWhereNoPatchConfiguresTheirConversion) {
  Write("bases/orders.yaml", kLossyCrd);
  Write("merge.yaml", kMerge);
  Write("none.yaml",
        "kind: CustomResourceDefinition\nmetadata: {name: orders.shop.example.com}\n"
        "spec: {conversion: {strategy: None}}\n");
  Write("operations.yaml", kOperations);
  Write("other.yaml",
        "- {op: add, path: /spec/conversion/webhook, value: {strategy: Webhook}}\n"
        "- {op: test, path: /spec/conversion/strategy, value: Webhook}\n");
  const std::string target = "target: {kind: CustomResourceDefinition, name: ";
  for (const std::string& patches : {
           std::string("patches: []"),
           std::string("patches: [{path: missing.yaml}, 3, {path: none.yaml}]"),
           "patches: [{path: operations.yaml, " + target + "baskets.shop.example.com}}]",
           std::string("patches: [{path: operations.yaml, target: {kind: Deployment}}]"),
           "patches: [{path: other.yaml, " + target + "orders.shop.example.com}}]",
       }) {
    Write("kustomization.yaml", "resources: [bases/orders.yaml]\n" + patches + "\n");
    EXPECT_THAT(Load().said, HasSubstr(kWarning)) << patches;
  }
}

TEST_F(Folder, NamesWhatAKustomizationLacks) {
  Write("kustomization.yaml", "resources:\n- orders.yaml\n");
  EXPECT_THAT(Load().said, HasSubstr("kustomization.yaml:2:3: error: the kustomization names \"orders.yaml\", which is "
                                     "no file or folder [input-missing]"));
}

TEST_F(Folder, KnowsTheUrlsOfKustomize) {
  Write("orders.yaml", Crd("Order", "orders"));
  for (const char* url : {"https://example.com/crd", "github.com/a/b/crd", "gitlab.com/a/b//crd", "git@example.com:a/b",
                          "example.com/a/b.git", "example.com/a?version=v1", "git::example.com/a"}) {
    Write("kustomization.yaml", "resources:\n- orders.yaml\n- " + std::string(url) + "\n");
    const Read read = Load();
    EXPECT_EQ(read.kinds, std::vector<std::string>{"Order"}) << url;
    EXPECT_THAT(read.said, HasSubstr(std::string("skipped \"") + url)) << url;
  }
}

TEST_F(Folder, IsNamedByItsKustomizationToo) {
  Write("bases/orders.yaml", Crd("Order", "orders"));
  Write("kustomization.yaml", "resources: [bases/orders.yaml]\n");
  EXPECT_EQ(Load("kustomization.yaml").kinds, std::vector<std::string>{"Order"});
}

TEST_F(Folder, ListsTheLinksThatItDoesNotFollow) {
  Write("other/orders.yaml", Crd("Order", "orders"));
  Write("crds/items.yaml", Crd("Item", "items"));
  fs::create_symlink(folder_ / "other" / "orders.yaml", folder_ / "crds" / "orders.yaml");
  fs::create_directory_symlink(folder_ / "other", folder_ / "crds" / "more");
  fs::create_directory_symlink(folder_ / "crds", folder_ / "crds" / "loop");
  fs::create_symlink("self.yaml", folder_ / "crds" / "self.yaml");
  fs::create_symlink("items.yaml", folder_ / "crds" / "notes.txt");  // would not be read if it were a file
  const Read read = Load("crds");
  EXPECT_EQ(read.kinds, std::vector<std::string>{"Item"});
  EXPECT_EQ(read.said, "");
  for (const char* name : {"crds/orders.yaml", "crds/more", "crds/loop"}) {
    EXPECT_THAT(read.noted,
                HasSubstr(name + std::string(": note: skipped: this is a link, and kgen follows no links")));
  }
  EXPECT_THAT(read.noted, HasSubstr("crds/self.yaml: note: skipped: this is a link, and its target does not exist"));
  EXPECT_THAT(read.noted, Not(HasSubstr("notes.txt")));
  // Links that are named are followed.
  EXPECT_EQ(Load("crds/orders.yaml").kinds, std::vector<std::string>{"Order"});
  EXPECT_EQ(Load("crds/more").kinds, std::vector<std::string>{"Order"});
}

TEST_F(Folder, SaysThatItHasOnlyLinks) {
  Write("other/orders.yaml", Crd("Order", "orders"));
  fs::create_directories(folder_ / "crds");
  fs::create_symlink(folder_ / "other" / "orders.yaml", folder_ / "crds" / "orders.yaml");
  EXPECT_THAT(Load("crds").said,
              HasSubstr("crds: error: the folder contains only links, which kgen does not follow [input-empty]\n"
                        "    hint: pass the files or folders that they lead to\n"));
}

TEST_F(Folder, SaysThatAKustomizationNamesALink) {
  Write("other/orders.yaml", Crd("Order", "orders"));
  Write("crd/kustomization.yaml", "resources:\n- orders.yaml\n");
  fs::create_symlink(folder_ / "other" / "orders.yaml", folder_ / "crd" / "orders.yaml");
  EXPECT_THAT(Load("crd").said,
              HasSubstr("crd/kustomization.yaml:2:3: error: the kustomization names \"orders.yaml\", which is a link; "
                        "kgen follows no links in a folder [input-missing]\n"));
}

TEST_F(Folder, NotesWhatAKustomizationMakesBesidesItsResources) {
  Write("orders.yaml", Crd("Order", "orders"));
  Write("kustomization.yaml", "resources: [orders.yaml]\nhelmCharts:\n- name: shop\ngenerators: [a.yaml]\n");
  const Read read = Load();
  EXPECT_THAT(read.noted, HasSubstr("kustomization.yaml:2:1: note: skipped: \"helmCharts\" of this kustomization"));
  EXPECT_THAT(read.noted, HasSubstr("kustomization.yaml:4:1: note: skipped: \"generators\" of this kustomization"));
}

TEST_F(Folder, EndsWhereKustomizationsNameEachOther) {
  Write("a/kustomization.yaml", "resources: [../b, orders.yaml]\n");
  Write("a/orders.yaml", Crd("Order", "orders"));
  Write("b/kustomization.yaml", "resources: [../a]\n");
  EXPECT_EQ(Load("a").kinds, std::vector<std::string>{"Order"});
}

std::string Said(std::string crd, const std::string& from, const std::string& to) {
  crd.replace(crd.find(from), from.size(), to);
  Diagnostics diagnostics;
  const std::uint32_t good = diagnostics.AddFile("good.yaml"), bad = diagnostics.AddFile("bad.yaml");
  commands::LoadApi({{"good.yaml", OrderCrd("spec: {type: object}"), good}, {"bad.yaml", crd, bad}}, diagnostics);
  return diagnostics.Render();
}

TEST(MistypedCrd, IsAnErrorBesideAGoodOne) {
  const std::string crd = OrderCrd("spec: {type: object}");
  for (const char* wrong : {"apiextension.k8s.io/v1", "apiextensions.k8s.io", "v1", "apiextensions/v1"}) {
    EXPECT_EQ(Said(crd, "apiextensions.k8s.io/v1", wrong),
              "bad.yaml:1:13: error: this looks like a CRD, but its apiVersion is \"" + std::string(wrong) +
                  "\" [crd-api-version]\n    at apiVersion\n    hint: write apiVersion: apiextensions.k8s.io/v1\n");
  }
  for (const char* wrong :
       {"CustomResourceDefinitions", "CustomResourceDefiniton", "customresourcedefinition", "Crd"}) {
    EXPECT_EQ(Said(crd, "kind: CustomResourceDefinition", std::string("kind: ") + wrong),
              "bad.yaml:2:7: error: this looks like a CRD, but its kind is \"" + std::string(wrong) +
                  "\" [crd-api-version]\n    at kind\n    hint: write kind: CustomResourceDefinition\n");
  }
}

TEST(MistypedCrd, IsNotAnotherKindThatSoundsLikeIt) {
  const std::string other =
      "apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition\nspec: {group: a.b, names: {}}\n";
  EXPECT_EQ(Said(other, "spec", "spec"),
            "kgen: info: skipped 1 CompositeResourceDefinition: not a "
            "CustomResourceDefinition [skipped-summary]\n");
}

}  // namespace
}  // namespace kgen::generator
