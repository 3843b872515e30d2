// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// examples/cronjob beside the same program on controller-runtime (tests/integration/comparison/cronjob), on a real
// kube-apiserver: the programs themselves, each with the CRD, the webhook configurations and exactly the roles that its
// own tools write. What is stored, denied, converted and created must be the same, but for empty objects and lists,
// which the structs in Go add to every object that gets a default or is converted.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/codec/yaml.h"
#include "kgen/core/map.h"
#include "kgen/core/quantity.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/webhooks/webhook_fixture.h"
#include "tests/programs/program.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kUser = "kgen-reader";
constexpr const char* kJob = "cronjobs.v1.batch.tutorial.kubebuilder.io";

// What controller-gen makes of the program in Go: `./dev integration`.
std::string Generated(const std::string& file) {
  const char* const folder = std::getenv("KGEN_TEST_COMPARISON");
  return std::string(folder != nullptr ? folder : "") + "/generated/" + file;
}

// The documents of a file in YAML.
std::vector<Json> Documents(const std::string& file) {
  const auto stream = yaml::Parse(test_support::ReadFile(file));
  std::vector<Json> documents;
  EXPECT_TRUE(stream) << file;
  for (const yaml::Node& document : stream->documents()) documents.push_back(Json::parse(yaml::ToJson(document)));
  return documents;
}

// A port that nobody listens on.
int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (socket < 0) {
    ADD_FAILURE() << "no socket";
    return 0;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

// The members that kubectl's message refuses, with their values.
std::vector<std::string> Refused(const std::string& message) {
  static const std::regex kPattern(R"re((\S+): Invalid value: ("[^"]*"))re");
  std::vector<std::string> out;
  for (std::sregex_iterator each(message.begin(), message.end(), kPattern), end; each != end; ++each) {
    out.push_back("refused " + each->str(1) + " = " + each->str(2));
  }
  EXPECT_FALSE(out.empty()) << message;
  return out;
}

// The value without members that are empty objects or lists.
Json WithoutEmpty(const Json& value) {
  if (!value.is_structured()) return value;
  Json out = value.is_array() ? Json::array() : Json::object();
  for (const auto& [name, member] : value.items()) {
    Json kept = WithoutEmpty(member);
    if (value.is_array()) {
      out.push_back(std::move(kept));
    } else if (!kept.is_structured() || !kept.empty()) {
      out[name] = std::move(kept);
    }
  }
  return out;
}

// A Job without what differs from one server's object to the next.
Json Comparable(const Json& job) {
  Json out = {{"name", job["metadata"]["name"]},
              {"labels", job["metadata"]["labels"]},
              {"annotations", job["metadata"]["annotations"]},
              {"owners", job["metadata"]["ownerReferences"]},
              {"spec", job["spec"]}};
  for (Json& owner : out["owners"]) owner.erase("uid");
  out["spec"].erase("selector");
  out["spec"]["template"].erase("metadata");
  return WithoutEmpty(out);
}

class TwinsTest : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped()) return;
    KubectlFile("apply", {{"apiVersion", "v1"},
                          {"kind", "Service"},
                          {"metadata", {{"name", "cronjobs"}, {"namespace", "cronjobs"}}},
                          {"spec", {{"type", "ExternalName"}, {"externalName", "localhost"}}}});
  }
  void TearDown() override {
    Leave();
    WebhookTest::TearDown();
  }

  // Installs the CRD, webhook configurations and roles of files, and starts the program. kgen's replicas write the
  // caBundle themselves; without them, the test is what cert-manager is.
  void Start(const std::string& program, const std::string& arguments, const std::vector<std::string>& files,
             bool with_ca) {
    const int port = FreePort();
    for (const std::string& file : files) {
      for (Json& object : Documents(file)) Apply(object, port, with_ca);
    }
    std::string kubeconfig = test_support::ReadFile(RealApiServer::Kubeconfig());
    const std::string admin = "current-context: token";
    kubeconfig.replace(kubeconfig.find(admin), admin.size(), "current-context: reader");
    std::ofstream(folder_ + "/kubeconfig") << kubeconfig;
    log_ = folder_ + "/program.log";
    const std::string command = "KUBECONFIG=" + folder_ + "/kubeconfig exec " + program +
                                " --namespace=cronjobs --metrics=127.0.0.1:0 " +
                                "--health=127.0.0.1:0 --webhooks=127.0.0.1:" + std::to_string(port) + arguments;
    // Into a file: a full pipe would stop the program.
    program_.emplace("/bin/sh", std::vector<std::string>{"-c", command + " >" + log_ + " 2>&1"},
                     std::vector<std::string>{});
    EXPECT_TRUE(Eventually([this] {
      return KubectlFile("create --dry-run=server", CronJob("probe", "nonsense")).find("spec.schedule") !=
                 std::string::npos &&
             KubectlFile("create --dry-run=server -o yaml", CronJob("probe")).find("concurrencyPolicy") !=
                 std::string::npos;
    })) << KubectlFile("create --dry-run=server -o yaml", CronJob("probe", "nonsense"))
        << test_support::ReadFile(log_);
  }

  // Ends the program, and removes what it stored.
  void Leave() {
    if (!program_) return;
    RealApiServer::Kubectl(std::string("delete --all jobs,") + kJob);
    program_->Signal(SIGTERM);
    EXPECT_EQ(program_->Wait(), 0);
    EXPECT_THAT(test_support::ReadFile(log_), Not(HasSubstr("orbidden")));
    if (HasFailure()) ADD_FAILURE() << test_support::ReadFile(log_);
    program_.reset();
    RealApiServer::Kubectl("delete mutatingwebhookconfiguration,validatingwebhookconfiguration cronjobs");
    RealApiServer::Kubectl(
        "patch crd cronjobs.batch.tutorial.kubebuilder.io --type=merge "
        R"(-p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}')");
    RealApiServer::Kubectl("delete crd cronjobs.batch.tutorial.kubebuilder.io");
    for (const char* name : {"cronjob-operator", "cronjob-operator-writes"}) {
      RealApiServer::Kubectl(std::string("delete clusterrole,clusterrolebinding ") + name);
    }
    RealApiServer::Kubectl("-n cronjobs delete role,rolebinding cronjob-operator");
  }

  // Everything that a user of the program sees.
  std::vector<std::string> Answers() {
    std::vector<std::string> out = Admitted();
    for (const std::string& line : Converted()) out.push_back(line);
    for (const std::string& line : Controlled()) out.push_back(line);
    return out;
  }

 private:
  void Apply(Json& object, int port, bool with_ca) {
    const auto lead = [&](Json& config) {
      config["service"]["name"] = config["service"]["namespace"] = "cronjobs";
      config["service"]["port"] = port;
      if (with_ca) config["caBundle"] = std::string(Bytes::Of(authority_->certificate_pem()).base64());
    };
    const std::string kind = object["kind"];
    if (kind == "CustomResourceDefinition") {
      RealApiServer::Kubectl("delete crd cronjobs.batch.tutorial.kubebuilder.io");
      Json& conversion = object["spec"]["conversion"];
      // controller-gen leaves it to a patch.
      if (conversion.is_null()) {
        conversion = {{"strategy", "Webhook"}, {"webhook", {{"conversionReviewVersions", {"v1"}}}}};
        conversion["webhook"]["clientConfig"]["service"]["path"] = "/convert";
      }
      lead(conversion["webhook"]["clientConfig"]);
    } else if (kind.ends_with("WebhookConfiguration")) {
      object["metadata"]["name"] = "cronjobs";
      for (Json& webhook : object["webhooks"]) lead(webhook["clientConfig"]);
    } else if (kind == "Service") {
      return;  // it leads to pods
    } else {
      const std::string name = object["metadata"]["name"];
      RealApiServer::Kubectl((kind == "Role" ? "-n cronjobs create rolebinding " + name + " --role="
                                             : "create clusterrolebinding " + name + " --clusterrole=") +
                             name + " --user=" + kUser);
    }
    EXPECT_THAT(KubectlFile("apply --server-side", object), HasSubstr("serverside-applied"));
    if (kind == "CustomResourceDefinition") {
      RealApiServer::Kubectl("wait --for=condition=Established crd/cronjobs.batch.tutorial.kubebuilder.io");
    }
  }

  // Creates, and returns what is stored in both versions.
  std::vector<std::string> Created(const Json& object) {
    EXPECT_THAT(KubectlFile("create", object), HasSubstr("created"));
    const std::string name = object["metadata"]["name"];
    std::vector<std::string> out;
    for (const std::string version : {"v1", "v2"}) {
      out.push_back(name + ' ' + version + ' ' + WithoutEmpty(Get(version, name)["spec"]).dump());
    }
    return out;
  }

  // Defaults and denials.
  std::vector<std::string> Admitted() {
    std::vector<std::string> out = Created(CronJob("plain"));
    Json chosen = CronJob("chosen");
    chosen["spec"]["concurrencyPolicy"] = "Replace";
    chosen["spec"]["suspend"] = true;
    chosen["spec"]["successfulJobsHistoryLimit"] = 0;
    chosen["spec"]["failedJobsHistoryLimit"] = 7;
    chosen["spec"]["startingDeadlineSeconds"] = 60;
    for (const std::string& line : Created(chosen)) out.push_back(line);
    const auto refuse = [&](const std::string& message) {
      for (const std::string& line : Refused(message)) out.push_back(line);
    };
    refuse(KubectlFile("create", CronJob("malformed", "every day")));
    refuse(KubectlFile("create", CronJob(std::string(53, 'x'), "61 * * * *")));
    refuse(
        RealApiServer::Kubectl(std::string("patch ") + kJob + R"( plain --type=merge -p '{"spec":{"schedule":"x"}}')"));
    refuse(
        RealApiServer::Kubectl("patch cronjobs.v2.batch.tutorial.kubebuilder.io plain --type=merge "
                               R"(-p '{"spec":{"schedule":{"minute":"99"}}}')"));
    const std::string warned = KubectlFile("create", CronJob("never", "0 0 30 2 *"));
    out.push_back(warned.substr(0, warned.find('\n')));
    return out;
  }

  std::vector<std::string> Converted() {
    std::vector<std::string> out = Created(CronJob("each", "1 2 3 4 5"));
    Json next = CronJob("next");
    next["apiVersion"] = "batch.tutorial.kubebuilder.io/v2";
    next["spec"]["schedule"] = {{"minute", "7"}};
    next["spec"]["concurrencyPolicy"] = "Forbid";
    for (const std::string& line : Created(next)) out.push_back(line);
    return out;
  }

  // The Job of a run that was due before the CronJob was made, and its end.
  std::vector<std::string> Controlled() {
    Json yearly = CronJob("yearly", "0 0 1 1 *");
    yearly["spec"]["successfulJobsHistoryLimit"] = 0;
    yearly["spec"]["jobTemplate"]["metadata"]["labels"]["app"] = "report";
    KubectlFile("create", yearly);
    const auto patch = [](const std::string& what, const std::string& status) {
      EXPECT_THAT(RealApiServer::Kubectl("patch --subresource=status " + what +
                                         " --type=merge -p '{\"status\":" + status + "}'"),
                  HasSubstr("patched"));
    };
    patch(std::string(kJob) + " yearly", R"({"lastScheduleTime": "2025-06-01T00:00:00Z"})");
    Json jobs;
    const auto list = [&] {
      jobs = Json::parse(RealApiServer::Kubectl("get jobs -o json -l app=report"))["items"];
      return jobs.size();
    };
    EXPECT_TRUE(Eventually([&] { return list() == 1; }));
    if (jobs.empty()) return {};
    std::vector<std::string> out = {"job " + Comparable(jobs[0]).dump()};
    const auto status_now = [] { return WithoutEmpty(Get("v1", "yearly")["status"]); };
    EXPECT_TRUE(Eventually([&] { return status_now().contains("active"); }));
    Json status = status_now();
    status["active"][0].erase("uid");
    out.push_back("status " + status.dump());
    // No Job controller runs here. The limit is 0, so the Job goes.
    const std::string job = jobs[0]["metadata"]["name"];
    patch("job " + job, R"({"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:01:00Z",
                            "conditions": [{"type": "SuccessCriteriaMet", "status": "True"},
                                           {"type": "Complete", "status": "True"}]})");
    EXPECT_TRUE(Eventually([&] { return list() == 0; }));
    EXPECT_TRUE(Eventually([&] { return !status_now().contains("active"); }));
    out.push_back("status " + status_now().dump());
    return out;
  }

  std::optional<test_support::Program> program_;
  std::string log_;
};

TEST_P(TwinsTest, StoreDenyConvertAndCreateTheSame) {
  const std::string deploy = test_support::SourcePath("examples/cronjob/deploy/");
  Start(KGEN_PROGRAMS_DIR "/cronjob_operator", "",
        {deploy + "crd.yaml", deploy + "webhooks.yaml", deploy + "role.yaml", deploy + "role_writes.yaml"}, false);
  const std::vector<std::string> answers = Answers();
  Leave();
  EXPECT_EQ(answers.size(), 17U);
  EXPECT_THAT(answers, Contains(HasSubstr(R"("successfulJobsHistoryLimit":3)")));

  Start(std::string(std::getenv("KGEN_TEST_COMPARISON")) + "/cronjob", " --certificates=" + folder_,
        {Generated("batch.tutorial.kubebuilder.io_cronjobs.yaml"), Generated("manifests.yaml"), Generated("role.yaml")},
        true);
  EXPECT_THAT(Answers(), ElementsAreArray(answers)) << "controller-runtime, compared with kgen";
}

INSTANTIATE_TEST_SUITE_P(Service, TwinsTest, ::testing::Values(Route::kService));

class GeneratedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "nothing was generated: run ./dev integration";
  }
};

TEST_F(GeneratedTest, TheDeepCopiesOfTheProgramInGoAreUpToDate) {
  for (const std::string version : {"v1", "v2"}) {
    EXPECT_EQ(test_support::ReadFile(test_support::SourcePath("tests/integration/comparison/cronjob/api/" + version +
                                                              "/zz_generated.deepcopy.go")),
              test_support::ReadFile(Generated(version + "/zz_generated.deepcopy.go")));
  }
}

TEST_F(GeneratedTest, TheTableOfWhatIsGeneratedIsUpToDate) {
  test_support::Program lines("/usr/bin/env",
                              {"python3", test_support::SourcePath("tests/integration/comparison/lines.py"), "--check",
                               "--generated", Generated("")},
                              {});
  EXPECT_EQ(lines.Wait(), 0) << lines.errors();
}

}  // namespace
}  // namespace kgen::integration
