// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/webhooks/webhook_fixture.h"

#include <stdlib.h>
#include <tutorial/clientset.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "examples/cronjob/webhooks.h"
#include "kgen/client/config.h"
#include "kgen/client/crd.h"
#include "kgen/core/quantity.h"
#include "net/x509.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using Json = nlohmann::json;

ManagerOptions OptionsOf(WebhookOptions webhooks) {
  ManagerOptions options{.name = "cronjobs", .endpoint = {.address = "127.0.0.1:0"}, .webhooks = std::move(webhooks)};
  options.webhooks.enabled = true;
  options.webhooks.address = "127.0.0.1:0";
  return options;
}

constexpr std::string_view kAdmission = "/apis/admissionregistration.k8s.io/v1/";
constexpr const char* kConfigurations[] = {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"};
constexpr std::string_view kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

void Write(const std::string& file, const std::string& text) {
  // As a mounted Secret changes: a new file in place of the old one.
  std::ofstream(file + ".new") << text;
  std::filesystem::rename(file + ".new", file);
}

std::string ReadFile(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

void PrintTo(Route route, std::ostream* out) { *out << (route == Route::kUrl ? "a URL" : "a Service"); }

Replica::Replica(const Connection& connection, WebhookOptions webhooks,
                 const std::function<void(const Manager&)>& declare)
    : manager_(Must(Manager::New(connection, OptionsOf(std::move(webhooks))))) {
  declare(manager_);
  const std::string& address = manager_.webhook_address();
  const std::string text = address.substr(address.rfind(':') + 1);
  std::from_chars(text.data(), text.data() + text.size(), port_);
  thread_ = std::jthread([this] {
    const Result<void> ran = manager_.Run(stop_.get_token());
    EXPECT_TRUE(ran) << ran;
  });
}

void Replica::Stop() {
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void WebhookTest::SetUp() {
  if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
  connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
  std::string folder = (std::filesystem::temp_directory_path() / "kgen-webhooks-XXXXXX").string();
  folder_ = ::mkdtemp(folder.data());
  authority_ = Must(testing::CertificateAuthority::Make());
  IssueFiles(authority_);
  Must(crd::Install(*connection_, tutorial::Manifests()));
  Apply("/api/v1/namespaces", {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "cronjobs"}}}});
}

void WebhookTest::TearDown() {
  if (folder_.empty()) return;
  // Without its webhooks everything can be deleted, whatever is stored.
  for (const char* kind : kConfigurations) Delete(std::string(kAdmission) + kind + "/cronjobs");
  const std::string crd = std::string(kCrds) + "/" + kCrd;
  Change(crd, [](Json& object) { object["spec"]["conversion"] = {{"strategy", "None"}}; });
  // The next test goes on with the CRD, which takes a server seconds to delete and to make, unless it has two versions.
  if (Read(crd)["status"]["storedVersions"] != Json{"v1"}) Delete(crd);
  for (const char* in : {"default", "cronjobs"}) {
    const std::string all = "/apis/batch.tutorial.kubebuilder.io/v1/namespaces/" + std::string(in) + "/cronjobs";
    EXPECT_TRUE(Eventually([&] {
      (void)connection_->Call({.method = "DELETE", .path = all, .what = "delete all"});
      const Json left = Read(all);
      return left.is_null() || left["items"].empty();
    }));
  }
  Delete("/api/v1/namespaces/cronjobs/services/cronjobs");
  for (const char* name : {"cronjobs-certificates", "webhook-certificates"}) {
    Delete("/api/v1/namespaces/cronjobs/secrets/" + std::string(name));
  }
  std::filesystem::remove_all(folder_);
}

void WebhookTest::IssueFiles(const Authority& authority) {
  const auto identity =
      Must(authority->Issue({.common_name = "cronjobs", .names = {"cronjobs.cronjobs.svc", "127.0.0.1"}}));
  Write(folder_ + "/tls.key", identity.key_pem);
  Write(folder_ + "/tls.crt", identity.certificate_pem);
}

std::string WebhookTest::IssuedCertificate() const {
  return net::ReadCertificates(ReadFile(folder_ + "/tls.crt")).front().pem;
}

std::unique_ptr<Replica> WebhookTest::Start(const std::function<void(const Manager&)>& declare, Nanos drain) {
  return std::make_unique<Replica>(
      *connection_, WebhookOptions{.certificate = TlsFiles{folder_ + "/tls.crt", folder_ + "/tls.key"}, .drain = drain},
      declare ? declare : AddCronJobWebhooks);
}

Json WebhookTest::ClientConfig(std::string_view path) const {
  Json config = Json::object();
  if (!ca_.empty()) config["caBundle"] = std::string(Bytes::Of(ca_).base64());
  if (GetParam() == Route::kUrl) {
    config["url"] = "https://127.0.0.1:" + std::to_string(port_) + std::string(path);
  } else {
    config["service"] = {{"name", "cronjobs"}, {"namespace", "cronjobs"}, {"path", path}, {"port", port_}};
  }
  return config;
}

void WebhookTest::PointTo(int port) {
  port_ = port;
  if (GetParam() == Route::kService) {
    Apply("/api/v1/namespaces/cronjobs/services",
          {{"apiVersion", "v1"},
           {"kind", "Service"},
           {"metadata", {{"name", "cronjobs"}}},
           {"spec", {{"type", "ExternalName"}, {"externalName", "localhost"}}}});
  }
  Change(std::string(kCrds) + "/" + kCrd, [this](Json& crd) {
    crd["spec"]["conversion"] = {
        {"strategy", "Webhook"},
        {"webhook", {{"conversionReviewVersions", {"v1"}}, {"clientConfig", ClientConfig("/convert")}}}};
  });
}

void WebhookTest::Install(int port, const std::vector<Authority>& authorities) {
  ca_.clear();
  for (const Authority& authority : authorities) ca_ += authority->certificate_pem();
  PointTo(port);
  Apply(std::string(kAdmission) + "mutatingwebhookconfigurations", Configuration("MutatingWebhookConfiguration"));
  Apply(std::string(kAdmission) + "validatingwebhookconfigurations", Configuration("ValidatingWebhookConfiguration"));
  AwaitWebhooks();
}

// The server reads its configurations, and the CRD, after a while.
void WebhookTest::AwaitWebhooks() const {
  const auto create = [this](std::string_view version, const Json& object) {
    const auto answer = connection_->Call(
        {.method = "POST",
         .path = "/apis/batch.tutorial.kubebuilder.io/" + std::string(version) + "/namespaces/default/cronjobs",
         .query = "dryRun=All",
         .content_type = "application/json",
         .body = object.dump(),
         .what = "probe"});
    return answer ? answer->body : answer.error().ToString();
  };
  Json next = CronJob("probe");
  next["apiVersion"] = "batch.tutorial.kubebuilder.io/v2";
  next["spec"]["schedule"] = {{"minute", "7"}};
  std::string answer;
  const auto says = [&](std::string_view version, const Json& object, std::string_view part) {
    answer = create(version, object);
    return answer.find(part) != std::string::npos;
  };
  EXPECT_TRUE(Eventually(
      [&] {
        return says("v1", CronJob("probe", "nonsense"), "the minute is") &&
               says("v1", CronJob("probe"), "successfulJobsHistory") && says("v2", next, "successfulJobsHistory");
      },
      std::chrono::minutes(2)))
      << answer;
}

Json WebhookTest::Configuration(std::string_view kind) const {
  const std::string verb = kind.starts_with("Mutating") ? "mutate" : "validate";
  const Json rule = {{"operations", {"CREATE", "UPDATE", "DELETE"}},
                     {"apiGroups", {"batch.tutorial.kubebuilder.io"}},
                     {"apiVersions", {"v1"}},
                     {"resources", {"cronjobs", "cronjobs/status"}}};
  const Json webhook = {{"name", verb + ".cronjobs.example.com"},
                        {"admissionReviewVersions", {"v1"}},
                        {"clientConfig", ClientConfig("/" + verb + "-batch-tutorial-kubebuilder-io-v1-cronjob")},
                        {"failurePolicy", "Fail"},
                        {"sideEffects", "None"},
                        {"timeoutSeconds", 30},  // the machine may be busy
                        {"rules", Json::array({rule})}};
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", "cronjobs"}}},
          {"webhooks", Json::array({webhook})}};
}

void WebhookTest::Configure(const std::function<void(Json& webhook)>& change) {
  for (const char* kind : kConfigurations) {
    Change(std::string(kAdmission) + kind + "/cronjobs", [&](Json& object) { change(object["webhooks"][0]); });
  }
}

void WebhookTest::SetStorageVersion(std::string_view version) {
  Change(std::string(kCrds) + "/" + kCrd, [&](Json& crd) {
    for (Json& each : crd["spec"]["versions"]) each["storage"] = each["name"] == version;
  });
}

void WebhookTest::Apply(std::string_view collection, const Json& object) const {
  Must(connection_->Call({.method = "PATCH",
                          .path = std::string(collection) + "/" + object["metadata"]["name"].get<std::string>(),
                          .query = "fieldManager=test&force=true",
                          .content_type = "application/apply-patch+yaml",
                          .body = object.dump(),
                          .what = "apply " + std::string(collection)}));
}

void WebhookTest::Change(const std::string& path, const std::function<void(Json& object)>& change) const {
  std::string failure;
  const auto changed = [&] {
    Json object = Read(path);
    if (object.is_null()) return true;
    change(object);
    const auto answer = connection_->Call(
        {.method = "PUT", .path = path, .content_type = "application/json", .body = object.dump(), .what = path});
    if (!answer) failure = answer.error().ToString();
    return answer.has_value();
  };
  EXPECT_TRUE(Eventually(changed)) << failure;  // somebody else may write at the same time
}

void WebhookTest::Delete(const std::string& path) const {
  (void)connection_->Call({.method = "DELETE", .path = path, .what = "delete " + path});
  EXPECT_TRUE(Eventually([&] { return Read(path).is_null(); })) << path;
}

std::string WebhookTest::KubectlFile(std::string_view arguments, const Json& object) const {
  const std::string file = folder_ + "/object.json";
  std::ofstream(file) << object.dump();
  return RealApiServer::Kubectl(std::string(arguments) + " -f " + file);
}

Json WebhookTest::Get(std::string_view version, std::string_view name) {
  const std::string text = RealApiServer::Kubectl("get -o json cronjobs." + std::string(version) +
                                                  ".batch.tutorial.kubebuilder.io " + std::string(name));
  Json object = Json::parse(text, nullptr, false);
  EXPECT_FALSE(object.is_discarded()) << text;
  return object;
}

Json WebhookTest::Read(std::string_view path) const {
  const auto answer = connection_->Call({.path = std::string(path), .what = "read " + std::string(path), .json = true});
  if (answer) return Json::parse(answer->body);
  EXPECT_EQ(answer.error().code(), Code::kNotFound) << answer.error().ToString();
  return {};
}

std::vector<std::string> WebhookTest::FailedCalls() const {
  const auto answer = connection_->Call({.path = "/metrics", .what = "read the metrics", .accept = "text/plain"});
  EXPECT_TRUE(answer) << answer.error().ToString();
  std::istringstream lines(answer ? answer->body : "");
  std::vector<std::string> failed;
  int calls = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](std::string_view part) { return line.find(part) != std::string::npos; };
    calls += line.starts_with("apiserver_admission_webhook_request_total{") ? 1 : 0;
    if (line.starts_with("apiserver_admission_webhook_fail_open_count{") ||
        (line.starts_with("apiserver_admission_webhook_rejection_count{") && !has("error_type=\"no_error\""))) {
      failed.push_back(line);
    }
  }
  EXPECT_GT(calls, 0) << "the server has no metrics of webhooks";
  return failed;
}

Json WebhookTest::CronJob(std::string_view name, std::string_view schedule) {
  const Json pod = {{"restartPolicy", "Never"}, {"containers", {{{"name", "main"}, {"image", "busybox"}}}}};
  return {{"apiVersion", "batch.tutorial.kubebuilder.io/v1"},
          {"kind", "CronJob"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"schedule", schedule}, {"jobTemplate", {{"spec", {{"template", {{"spec", pod}}}}}}}}}};
}

}  // namespace kgen::integration
