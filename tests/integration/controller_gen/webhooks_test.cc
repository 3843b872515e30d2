// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhook configurations of kgen-crd beside those that controller-gen makes of the same markers: of the CronJob of
// kubebuilder's book, with its CRD of two versions, of another project, and of every argument. What differs is in
// kWebhookDifferences, and in the table of docs/cpp-first.md; nothing else does.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/yaml.h"
#include "tests/integration/controller_gen/crd_leaves.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

struct WebhookDifference {
  std::string_view what;  // the row of the table
  std::string_view kind;
  std::string_view part;  // of the path
  bool ours;              // whether kgen-crd has it, or controller-gen
};

// These hold for the CronJob and for the arguments.
constexpr WebhookDifference kWebhookDifferences[] = {
    {"the own namespace is excluded", "WebhookConfiguration", "/namespaceSelector/", true},
    {"the Service", "Service", "", true},
};
constexpr WebhookDifference kConversionDifferences[] = {
    {"the conversion", "CustomResourceDefinition", "/spec/conversion/", true},
    {"the annotation with its version", "CustomResourceDefinition",
     "/metadata/annotations/controller-gen.kubebuilder.io/version", false},
    {"descriptions of apiVersion and kind", "CustomResourceDefinition",
     "/openAPIV3Schema/properties/apiVersion/description", false},
    {"descriptions of apiVersion and kind", "CustomResourceDefinition", "/openAPIV3Schema/properties/kind/description",
     false},
};

const std::string kWebhookSources = test_support::SourcePath("tests/integration/controller_gen/webhooks/");

// What kgen-crd prints for headers in webhooks/, without its warnings.
std::string KgenCrdOutput(const std::string& options, const std::vector<std::string>& headers) {
  std::string command = KGEN_CRD_EXECUTABLE " " + options;
  for (const char* flag : {"", "/runtime/include"}) command += " --flag=-I" + test_support::SourcePath("") + flag;
  for (const std::string& header : headers) command += " " + kWebhookSources + header;
  std::FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), count);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

// The objects of a YAML stream by kind; there is one of each.
std::map<std::string, Leaves> ReadKinds(const std::string& text) {
  std::map<std::string, Leaves> out;
  const auto stream = yaml::Parse(text);
  EXPECT_TRUE(stream.has_value()) << text.substr(0, 2000);
  for (std::size_t i = 0; stream && i < stream->documents().size(); ++i) {
    const yaml::Node& document = stream->documents()[i];
    const yaml::Node* kind = document.Find("kind");
    if (kind != nullptr) Flatten(document, "", out[std::string(kind->text())]);
  }
  return out;
}

// Compares all leaves of all objects, and demands that every difference of the list is seen. Returns how many there
// are.
template <std::size_t n>
std::size_t ExpectSameBut(const WebhookDifference (&differences)[n], const std::string& our_text,
                          const std::string& their_text) {
  auto ours = ReadKinds(our_text), theirs = ReadKinds(their_text);
  std::map<std::string_view, int> seen;
  const auto expect_documented = [&](bool of_ours, const std::string& kind, const std::string& path,
                                     const std::string& value) {
    for (const WebhookDifference& difference : differences) {
      if (difference.ours != of_ours || !kind.ends_with(difference.kind) || !path.contains(difference.part)) continue;
      ++seen[difference.what];
      return;
    }
    ADD_FAILURE() << "only " << (of_ours ? "kgen-crd" : "controller-gen") << " has " << kind << path << ": " << value;
  };
  std::size_t leaves = 0;
  for (const auto& [kind, object] : theirs) {
    for (const auto& [path, value] : object) {
      ++leaves;
      const auto found = ours[kind].find(path);
      if (found == ours[kind].end()) {
        expect_documented(false, kind, path, value);
      } else {
        EXPECT_EQ(found->second, value) << kind << path;
      }
    }
  }
  for (const auto& [kind, object] : ours) {
    for (const auto& [path, value] : object) {
      if (!theirs[kind].contains(path)) expect_documented(true, kind, path, value);
    }
  }
  for (const WebhookDifference& difference : differences)
    EXPECT_GT(seen[difference.what], 0) << "no longer a difference: " << difference.what;
  return leaves;
}

// The lines with markers of webhooks.
std::set<std::string> MarkersOf(const std::vector<std::string>& files) {
  std::set<std::string> out;
  for (const std::string& file : files) {
    std::istringstream text(test_support::ReadFile(kWebhookSources + file));
    for (std::string line; std::getline(text, line);) {
      if (line.contains("+kubebuilder:webhook")) out.insert(line.substr(line.find('+')));
    }
  }
  return out;
}

class ControllerGenWebhooksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("KGEN_TEST_CONTROLLER_GEN");
    if (folder == nullptr) GTEST_SKIP() << "no controller-gen: run ./dev integration";
    theirs_ = folder;
  }
  std::string theirs_;
};

// Without --webhooks, controller-gen calls this Service.
constexpr const char* kSameService = "--webhooks system/webhook-service";

TEST_F(ControllerGenWebhooksTest, TheCronJobHasTheSameConfigurationsButForTheDocumentedDifferences) {
  const std::string ours = KgenCrdOutput(kSameService, {"cronjob_v1.h", "cronjob_v2.h"});
  const std::string theirs = test_support::ReadFile(theirs_ + "/../webhooks/cronjob/manifests.yaml");
  EXPECT_GE(ExpectSameBut(kWebhookDifferences, ours, theirs), 50u);
}

TEST_F(ControllerGenWebhooksTest, TheCronJobHasTheSameCrdButForTheDocumentedDifferences) {
  const std::string ours = KgenCrdOutput("--conversion system/webhook-service", {"cronjob_v1.h", "cronjob_v2.h"});
  const std::string theirs = test_support::ReadFile(theirs_ + "/batch.tutorial.kubebuilder.io_cronjobs.yaml");
  EXPECT_GE(ExpectSameBut(kConversionDifferences, ours, theirs), 100u);
}

TEST_F(ControllerGenWebhooksTest, EveryArgumentHasTheSameEffectButForTheDocumentedDifferences) {
  const std::string ours = KgenCrdOutput(kSameService, {"arguments.h"});
  const std::string theirs = test_support::ReadFile(theirs_ + "/../webhooks/arguments/manifests.yaml");
  EXPECT_GE(ExpectSameBut(kWebhookDifferences, ours, theirs), 190u);
}

TEST_F(ControllerGenWebhooksTest, AnotherProjectHasTheSameConfigurationsButForTheDocumentedDifferences) {
  const std::string ours = KgenCrdOutput(kSameService, {"leader_worker_set.h"});
  const std::string theirs = test_support::ReadFile(theirs_ + "/../webhooks/leader_worker_set/manifests.yaml");
  EXPECT_GE(ExpectSameBut(kWebhookDifferences, ours, theirs), 45u);
}

// Needs no controller-gen: the comparison means something only if both read the same.
TEST(ControllerGenWebhooks, HaveTheSameMarkersInBothLanguages) {
  const std::set<std::string> cronjob = MarkersOf({"cronjob_v1.h", "cronjob_v2.h"});
  EXPECT_EQ(cronjob.size(), 4u);
  EXPECT_EQ(cronjob, MarkersOf({"cronjob/v1/cronjob_webhook.go", "cronjob/v2/cronjob_webhook.go"}));
  EXPECT_EQ(MarkersOf({"leader_worker_set.h"}), MarkersOf({"leader_worker_set/leader_worker_set.go"}));
  const std::set<std::string> arguments = MarkersOf({"arguments.h"});
  EXPECT_EQ(arguments, MarkersOf({"arguments/arguments.go"}));
  std::string all;
  for (const std::string& line : arguments) all += line + "\n";
  for (const char* argument :
       {"path=", "url=", "mutating=", "failurePolicy=", "matchPolicy=", "sideEffects=", "timeoutSeconds=", "groups=",
        "resources=", "verbs=", "versions=", "name=", "serviceName=", "serviceNamespace=", "servicePort=",
        "webhookVersions=", "admissionReviewVersions=", "reinvocationPolicy="})
    EXPECT_TRUE(all.contains(argument)) << argument;
}

}  // namespace
}  // namespace kgen::integration
