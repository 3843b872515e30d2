// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// rest::LoadConfig: files, merging, contexts, errors with their positions, in-cluster, redaction.
#include "client/auth/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "net/url.h"

namespace kgen::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kGood = R"(apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: main
  cluster:
    server: https://10.0.0.1:6443/prefix/?a=b#c
    certificate-authority-data: Q0E=
    tls-server-name: api.example
- name: plain
  cluster: {server: "http://127.0.0.1:8001"}
users:
- name: admin
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
- name: robot
  user: {token: abc, tokenFile: token.txt}
contexts:
- name: prod
  context: {cluster: main, user: admin, namespace: shop}
- name: robot
  context: {cluster: main, user: robot}
- name: proxy
  context: {cluster: plain, user: robot}
- name: nobody
  context: {cluster: main}
)";

class KubeconfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "kgen_kubeconfig_" + info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    around_.home = folder_ + "/home";
    around_.service_account = folder_ + "/account";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = folder_ + '/' + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Result<rest::Config> Load(std::string_view text, std::string context = {}) {
    return LoadConfig({.kubeconfig = Write("config", text), .context = std::move(context)}, around_);
  }
  // The message of the fault that a text has.
  std::string Fault(std::string_view text, std::string context = {}) {
    const Result<rest::Config> config = Load(text, std::move(context));
    if (config) return "no fault";
    EXPECT_EQ(config.error().code(), Code::kConfig);
    return config.error().message();
  }

  std::string folder_;
  Surroundings around_;
};

// Contract: client KCFG-2.
TEST_F(KubeconfigTest, ReadsTheCurrentContext) {
  const Result<rest::Config> config = Load(kGood);
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->host, "https://10.0.0.1:6443/prefix") << "query and fragment are dropped";
  EXPECT_EQ(config->tls.ca_data, "CA");
  EXPECT_EQ(config->tls.certificate_data, "CERT");
  EXPECT_EQ(config->tls.key_data, "KEY");
  EXPECT_EQ(config->tls.server_name, "api.example");
  EXPECT_EQ(config->namespace_, "shop");
  EXPECT_EQ(config->bearer_token, "");
}

// Contract: client KCFG-7; controller 165.
TEST_F(KubeconfigTest, ReadsTheNamedContext) {
  const Result<rest::Config> config = Load(kGood, "robot");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->bearer_token, "abc");
  EXPECT_EQ(config->bearer_token_file, folder_ + "/token.txt") << "relative to the file";
  EXPECT_EQ(config->namespace_, "");
  EXPECT_TRUE(Load(kGood, "nobody").has_value()) << "a context without a user is anonymous";
}

// Contract: client KCFG-9.
TEST_F(KubeconfigTest, DropsCredentialsForAServerWithoutTls) {
  const Result<rest::Config> config = Load(kGood, "proxy");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->host, "http://127.0.0.1:8001");
  EXPECT_EQ(config->bearer_token, "");
  EXPECT_EQ(config->bearer_token_file, "");
}

// Contract: client KCFG-1.
TEST_F(KubeconfigTest, ReadsJsonToo) {
  const Result<rest::Config> config = Load(
      R"({"current-context":"a","clusters":[{"name":"c","cluster":{"server":"https://x","insecure-skip-tls-verify":true}}],)"
      R"("contexts":[{"name":"a","context":{"cluster":"c"}}]})");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_TRUE(config->tls.insecure_skip_verify);
}

// Contract: client KCFG-6.
TEST_F(KubeconfigTest, ResolvesFilesAgainstTheFolderOfTheirFile) {
  const Result<rest::Config> config = Load(R"(
current-context: a
clusters: [{name: c, cluster: {server: "https://x", certificate-authority: pki/ca.crt}}]
users: [{name: u, user: {client-certificate: /abs/c.crt, client-key: ../k.key}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
)");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->tls.ca_file, folder_ + "/pki/ca.crt");
  EXPECT_EQ(config->tls.certificate_file, "/abs/c.crt");
  EXPECT_EQ(config->tls.key_file, folder_ + "/../k.key");
}

// Contract: client KCFG-5.
TEST_F(KubeconfigTest, UsesTheFirstFileThatDefinesAnEntry) {
  const std::string first = Write("first", R"(
current-context: a
clusters: [{name: c, cluster: {server: "https://first"}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
)");
  const std::string second = Write("sub/second", R"(
current-context: b
clusters: [{name: c, cluster: {server: "https://second", tls-server-name: other}}]
users: [{name: u, user: {tokenFile: t}}]
)");
  around_.kubeconfig_variable = first + ":" + folder_ + "/missing::" + second + ":" + first;
  const Result<rest::Config> config = LoadConfig({}, around_);
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->host, "https://first");
  EXPECT_EQ(config->tls.server_name, "") << "not one member of the second entry";
  EXPECT_EQ(config->bearer_token_file, folder_ + "/sub/t");
}

// Contract: client KCFG-3; controller 165.
TEST_F(KubeconfigTest, ReadsTheGivenFileElseTheVariableElseHome) {
  const auto of = [](std::string_view host) {
    return "current-context: a\nclusters: [{name: c, cluster: {server: \"https://" + std::string(host) +
           "\"}}]\ncontexts: [{name: a, context: {cluster: c}}]\n";
  };
  Write("home/.kube/config", of("home"));
  EXPECT_EQ(LoadConfig({}, around_)->host, "https://home");
  around_.kubeconfig_variable = Write("listed", of("listed"));
  EXPECT_EQ(LoadConfig({}, around_)->host, "https://listed");
  EXPECT_EQ(LoadConfig({.kubeconfig = Write("named", of("named"))}, around_)->host, "https://named");
  EXPECT_EQ(LoadConfig({.kubeconfig = folder_ + "/none"}, around_).error().code(), Code::kConfig);
}

// Contract: client KCFG-4.
TEST_F(KubeconfigTest, ListsWhatItTriedWhenThereIsNoKubeconfig) {
  const Result<rest::Config> nothing = LoadConfig({}, around_);
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().code(), Code::kConfig);
  EXPECT_THAT(nothing.error().message(),
              AllOf(HasSubstr("$KUBECONFIG (not set)"), HasSubstr("home/.kube/config (no such file)"),
                    HasSubstr("not in a cluster")));
  around_.kubeconfig_variable = folder_ + "/gone";
  EXPECT_THAT(LoadConfig({}, around_).error().message(), HasSubstr("no such file: " + folder_ + "/gone"));
}

TEST_F(KubeconfigTest, NamesThePositionOfFaultsInTheYaml) {
  EXPECT_THAT(Fault("clusters:\n- name: a\n  cluster: {server: [\n"), HasSubstr(folder_ + "/config:"));
  EXPECT_THAT(Fault("a: 1\na: 2\n"), HasSubstr("/config:2:1: "));
  EXPECT_THAT(Fault("- 1\n"), HasSubstr("/config:1:1: expected a map, found a list"));
  EXPECT_THAT(Fault("kind: Pod\n"), HasSubstr("/config:1:7: kind: expected \"Config\", found \"Pod\""));
  EXPECT_THAT(Fault("kind: Config\n---\nkind: Config\n"), HasSubstr("/config:3:1: "));
}

// Contract: client KCFG-1.
TEST_F(KubeconfigTest, NamesThePositionOfFaultsInTheStructure) {
  EXPECT_THAT(Fault("clusters: {}\n"), HasSubstr("/config:1:11: clusters: expected a list"));
  EXPECT_THAT(Fault("users:\n- 7\n"), HasSubstr("/config:2:3: users: expected a map"));
  EXPECT_THAT(Fault("contexts:\n- context: {}\n"), HasSubstr("/config:2:3: contexts: an entry has no name"));
  EXPECT_THAT(Fault("users:\n- name: a\n- name: b\n- name: a\n"),
              HasSubstr("/config:4:9: users: \"a\" appears twice, first at 2:9"));
  EXPECT_THAT(Fault("users:\n- name: a\n  user: text\n"), HasSubstr("/config:3:9: user \"a\": expected a map"));
}

// Contract: client KCFG-14, KCFG-7.
TEST_F(KubeconfigTest, NamesAMissingContextClusterOrUser) {
  EXPECT_THAT(Fault("clusters: [{name: c, cluster: {server: x}}]\n"), HasSubstr("no current-context"));
  EXPECT_THAT(Fault("current-context: gone\ncontexts: [{name: a, context: {}}, {name: b, context: {}}]\n"),
              AllOf(HasSubstr("/config:1:18: there is no context \"gone\""), HasSubstr("\"a\", \"b\"")));
  EXPECT_THAT(Fault(kGood, "gone"), HasSubstr("there is no context \"gone\""));
  EXPECT_THAT(Fault("current-context: a\ncontexts:\n- name: a\n  context: {cluster: c}\n"),
              AllOf(HasSubstr("/config:4:13: "), HasSubstr("there is no cluster \"c\"; there are none")));
  EXPECT_THAT(Fault("current-context: a\nclusters: [{name: c, cluster: {server: x}}]\ncontexts:\n- name: a\n  "
                    "context:\n    cluster: c\n    user: u\n"),
              HasSubstr("/config:7:5: context \"a\": there is no user \"u\""));
}

// One context around one cluster and one user, both in flow style on a line of their own.
std::string Around(std::string_view cluster, std::string_view user) {
  return "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters:\n- name: c\n  cluster: "
         "{" +
         std::string(cluster) + "}\nusers:\n- name: u\n  user: {" + std::string(user) + "}\n";
}

// Contract: client KCFG-14.
TEST_F(KubeconfigTest, RefusesClustersThatCannotWork) {
  EXPECT_THAT(Fault(Around("", "")), HasSubstr("/config:5:12: cluster \"c\": \"server\" is missing"));
  EXPECT_THAT(Fault(Around("server: 'https://x', certificate-authority-data: '%%'", "")),
              HasSubstr("certificate-authority-data: not base64"));
  EXPECT_THAT(Fault(Around("server: 'https://x', certificate-authority: a, certificate-authority-data: Q0E=", "")),
              HasSubstr("cannot both be set"));
  EXPECT_THAT(Fault(Around("server: 'https://x', certificate-authority: a, insecure-skip-tls-verify: true", "")),
              HasSubstr("cannot both be set"));
  EXPECT_THAT(Fault(Around("server: 'https://x', insecure-skip-tls-verify: 'true'", "")),
              HasSubstr("expected true or false"));
  EXPECT_THAT(Fault(Around("server: [x]", "")), HasSubstr("server: expected text, found a list"));
  EXPECT_THAT(Fault(Around("server: 'ftp://x'", "")),
              HasSubstr("/config:5:13: cluster \"c\": host \"ftp://x\": the scheme"));
  EXPECT_THAT(Fault(Around("server: 'https://x', proxy-url: 'socks5://u:sEcReT@p'", "")),
              AllOf(HasSubstr("/config:5:34: cluster \"c\": proxy-url: SOCKS proxies are not supported"),
                    Not(HasSubstr("sEcReT"))));
}

// Contract: client KCFG-13.
TEST_F(KubeconfigTest, RefusesUnsupportedCredentials) {
  const std::string cluster = "server: 'https://x'";
  EXPECT_THAT(Fault(Around(cluster, "exec: {command: aws}")),
              HasSubstr("/config:8:16: exec of user \"u\": \"apiVersion\" is missing"));
  const auto exec = [&](std::string more) {
    return Fault(Around(cluster, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, " + more + "}"));
  };
  EXPECT_THAT(exec(""), HasSubstr("interactiveMode: expected Never, IfAvailable or Always, found nothing"));
  EXPECT_THAT(exec("interactiveMode: Sometimes"), HasSubstr("found \"Sometimes\""));
  EXPECT_THAT(exec("interactiveMode: Never, args: x"), HasSubstr("args: expected a list"));
  EXPECT_THAT(exec("interactiveMode: Never, env: [{value: sEcReT}]"),
              AllOf(HasSubstr("an environment variable has no name"), Not(HasSubstr("sEcReT"))));
  EXPECT_THAT(Fault(Around(cluster,
                           "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws, "
                           "interactiveMode: Never}")),
              HasSubstr("\"client.authentication.k8s.io/v1alpha1\" is not supported; use "));
  EXPECT_THAT(Fault(Around(cluster, "auth-provider: {name: gcp}")), HasSubstr("user \"u\": auth-provider: "));
  EXPECT_THAT(Fault(Around(cluster, "username: a, password: b")), HasSubstr("basic authentication is not supported"));
  EXPECT_THAT(Fault(Around(cluster, "token: t, as: somebody")), HasSubstr("impersonation is not supported"));
  EXPECT_THAT(Fault(Around(cluster, "client-certificate: a")), HasSubstr("there is a client certificate, but no"));
  EXPECT_THAT(Fault(Around(cluster, "client-key: a")), HasSubstr("there is a client key, but no"));
  EXPECT_THAT(Fault(Around(cluster, "client-key: a, client-key-data: S0VZ")), HasSubstr("cannot both be set"));
  EXPECT_THAT(Fault(Around(cluster, "token: sEcReT, exec: {}")), AllOf(HasSubstr("exec"), Not(HasSubstr("sEcReT"))));
}

TEST_F(KubeconfigTest, ReadsACredentialPlugin) {
  const Result<rest::Config> config = Load(R"(current-context: a
contexts: [{name: a, context: {cluster: c, user: u}}]
clusters:
- name: c
  cluster:
    server: https://x
    extensions:
    - {name: other, extension: {audience: no}}
    - {name: client.authentication.k8s.io/exec, extension: {audience: me, level: 1}}
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: bin/login
      args: [--cluster, 7]
      env: [{name: A, value: b}]
      installHint: install it
      provideClusterInfo: true
)");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->exec, (rest::ExecConfig{.api_version = "client.authentication.k8s.io/v1beta1",
                                            .command = folder_ + "/bin/login",
                                            .args = {"--cluster", "7"},
                                            .env = {{"A", "b"}},
                                            .install_hint = "install it",
                                            .provide_cluster_info = true,
                                            .cluster_config = R"({"audience":"me","level":1})"}));
  EXPECT_THAT(config->ToString(), AllOf(HasSubstr("exec: "), Not(HasSubstr("--cluster"))));
}

TEST_F(KubeconfigTest, SearchesPathForABareCommandAndRefusesItOverPlainText) {
  const auto load = [&](std::string server) {
    return Load(Around("server: '" + server + "'",
                       "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never}"));
  };
  EXPECT_EQ(Must(load("https://x")).exec.command, "aws");
  EXPECT_EQ(Must(load("http://x")).exec.command, "") << "nothing secret goes where everybody can read it";
}

TEST_F(KubeconfigTest, IgnoresUsersThatTheContextDoesNotUse) {
  const std::string text = std::string(kGood) + "extensions: []\n";
  EXPECT_TRUE(Load(text + "preferences: {}\n").has_value());
  EXPECT_TRUE(Load("current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c, cluster: "
                   "{server: 'https://x'}}]\n"
                   "users: [{name: other, user: {exec: {command: x}}}]\n")
                  .has_value());
}

// Contract: client KCFG-1.
TEST_F(KubeconfigTest, TreatsAnEmptyFileAsMissing) {
  EXPECT_THAT(Fault(""), HasSubstr("is empty"));
  around_.kubeconfig_variable = Write("empty", "# nothing\n");
  EXPECT_THAT(LoadConfig({}, around_).error().message(), HasSubstr("empty files"));
}

// Contract: client CFG-7, KCFG-16; controller 165.
TEST_F(KubeconfigTest, UsesTheServiceAccountOfThePod) {
  EXPECT_THAT(InClusterConfig(around_).error().message(), HasSubstr("not in a cluster"));
  around_.service_host = "fd00::1";
  around_.service_port = "443";
  EXPECT_THAT(InClusterConfig(around_).error().message(), HasSubstr("account/token"));
  Write("account/token", "abc\n");
  Write("account/namespace", "shop\n");
  Result<rest::Config> config = LoadConfig({}, around_);
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->host, "https://[fd00::1]:443");
  EXPECT_EQ(config->bearer_token, "abc");
  EXPECT_EQ(config->bearer_token_file, around_.service_account + "/token");
  EXPECT_EQ(config->tls.ca_file, "") << "no CA: the system's roots";
  EXPECT_EQ(config->namespace_, "shop");
  Write("account/ca.crt", "PEM");
  around_.pod_namespace = "mine";
  config = InClusterConfig(around_);
  EXPECT_EQ(config->tls.ca_file, around_.service_account + "/ca.crt");
  EXPECT_EQ(config->namespace_, "mine") << "POD_NAMESPACE wins over the file";
}

// Contract: client CFG-8.
TEST(ConfigToString, ShowsEverythingButSecrets) {
  rest::Config config;
  config.host = "https://x";
  config.tls = {
      .ca_data = "secret-ca", .certificate_data = "secret-cert", .key_data = "secret-key", .key_file = "k.pem"};
  config.bearer_token = "secret-token";
  config.namespace_ = "shop";
  config.qps = 2.5;
  const std::string text = config.ToString();
  EXPECT_THAT(text, AllOf(HasSubstr("https://x"), HasSubstr("k.pem"), HasSubstr("shop"), HasSubstr("qps: 2.5"),
                          Not(HasSubstr("secret"))));
  EXPECT_THAT(text, AllOf(HasSubstr("bearer_token: --- REDACTED ---"), HasSubstr("key_data: --- REDACTED ---"),
                          HasSubstr("ca_data: --- TRUNCATED ---"), HasSubstr("certificate_data: --- TRUNCATED ---")));
  EXPECT_THAT(rest::Config().ToString(), Not(HasSubstr("---"))) << "empty secrets print as empty";
}

// Contract: client CFG-1, CFG-2.
TEST(ParseServerUrl, AcceptsHostsAndUrlsWithTheirDefaults) {
  const rest::TlsConfig plain;
  const rest::TlsConfig tls = {.insecure_skip_verify = true};
  EXPECT_EQ(net::ParseServerUrl("", plain)->origin, "http://localhost");
  EXPECT_EQ(net::ParseServerUrl("host", plain)->origin, "http://host");
  EXPECT_EQ(net::ParseServerUrl("host:8080", tls)->origin, "https://host:8080");
  EXPECT_EQ(net::ParseServerUrl("host/", tls)->base_path, "");
  EXPECT_EQ(net::ParseServerUrl("HTTPS://host/a/b/", plain)->base_path, "/a/b");
  EXPECT_EQ(net::ParseServerUrl("https://[::1]:6443", plain)->origin, "https://[::1]:6443");
  EXPECT_FALSE(net::ParseServerUrl("http://host", tls)->tls);
  for (const std::string_view bad :
       {"host/path", "ftp://host", "https://", "https://a b", "https://host:0", "https://host:66000", "https://host:x",
        "https://u:p@host", "https://::1", "https://[::1", "https://[x]", "https://h/a b"}) {
    const Result<net::ServerUrl> url = net::ParseServerUrl(bad, plain);
    ASSERT_FALSE(url.has_value()) << bad;
    EXPECT_EQ(url.error().code(), Code::kConfig);
    EXPECT_THAT(url.error().message(), HasSubstr(net::WithoutUser(bad)));
  }
}

TEST(WithoutUser, RemovesOnlyTheUserInformation) {
  EXPECT_EQ(net::WithoutUser("https://u:p@host:6443/a"), "https://(hidden)@host:6443/a");
  EXPECT_EQ(net::WithoutUser("u:p@host"), "(hidden)@host");
  EXPECT_EQ(net::WithoutUser("u:p://q@x@host"), "(hidden)@host");
  EXPECT_EQ(net::WithoutUser("https://host/a"), "https://host/a");
}

}  // namespace
}  // namespace kgen::client
