// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Clusters from the kubeconfigs in Secrets: added, changed, removed and refused.
#include <cstdint>

#include "tests/runtime/controller/clusters/clusters_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) bits = bits << 8 | (i + j < text.size() ? std::uint8_t(text[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) {
      encoded += i + j <= text.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return encoded;
}

class ClusterSecretsTest : public ClustersTest {
 protected:
  // `cluster` and `user` are members of these in a kubeconfig, in flow style.
  static std::string Kubeconfig(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: only\n"
           "contexts: [{name: only, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: {" +
           cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
  }
  static std::string KubeconfigOf(const std::string& name, const std::string& token = "first") {
    return Kubeconfig("server: 'https://" + name + ".example:6443'", "token: " + token);
  }
  static std::string SecretOf(const std::string& name, const std::string& kubeconfig,
                              const std::string& key = "kubeconfig") {
    return R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name +
           R"(","namespace":"fleet","labels":{"sigs.k8s.io/multicluster-runtime-kubeconfig":"true"}},"data":{")" + key +
           R"(":")" + Base64(kubeconfig) + R"("}})";
  }
  ClustersOptions Following(KubeconfigSecrets secrets = {.namespace_ = "fleet"}) {
    ClustersOptions options = Options();
    options.secrets.push_back(std::move(secrets));
    return options;
  }
  // The error of a Secret's cluster, after some time.
  std::string ErrorOf(const Clusters& clusters, const std::string& name) {
    Settle();
    const ClusterStatus status = StatusOf(clusters, name);
    return status.error ? status.error->ToString() : std::string(ToString(status.state));
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ClusterSecretsTest, ::testing::Range<std::uint64_t>(0, 5));

TEST_P(ClusterSecretsTest, ComeChangeAndGoWithTheirSecrets) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  Must(clusters.Each(Mark));
  const Ran ran = Spawn(home);
  Settle();
  Must(cluster_.Add(SecretOf("eu-1", KubeconfigOf("eu-1"))));
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "source"), "eu-1");
  EXPECT_EQ(StatusOf(clusters, "eu-1").source, "Secret fleet/eu-1");
  EXPECT_FALSE(clusters.Remove("eu-1")) << "it comes from a Secret";
  const int lists = told_->lists["eu-1"];
  Must(cluster_.Update(SecretOf("eu-1", KubeconfigOf("eu-1", "second"))));
  AddMap(Server("eu-1"), "later");
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "later"), "eu-1");
  EXPECT_EQ(told_->lists["eu-1"], lists) << "a new token takes no new list";
  Must(cluster_.Delete("secrets", "fleet", "eu-1"));
  Settle();
  EXPECT_EQ(StateOf(clusters, "eu-1"), "none");
  End(ran);
}

TEST_P(ClusterSecretsTest, DoNotFollowSecretsWithoutTheLabel) {
  Server("eu-1");
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  std::string secret = SecretOf("eu-1", KubeconfigOf("eu-1"));
  secret.replace(secret.find("true"), 4, "no");
  Must(cluster_.Add(secret));
  const Ran ran = Spawn(home);
  Settle();
  EXPECT_EQ(StateOf(clusters, "eu-1"), "none");
  End(ran);
}

TEST_P(ClusterSecretsTest, AreRefusedIfTheyRunProgramsOrReadFiles) {
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  const std::string server = "server: 'https://eu-1.example:6443'";
  const auto add = [&](const std::string& name, const std::string& cluster, const std::string& user) {
    Must(cluster_.Add(SecretOf(name, Kubeconfig(cluster, user))));
  };
  add("exec", server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never}");
  add("ca", server + ", certificate-authority: /etc/ca.crt", "token: t");
  add("token", server, "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token");
  add("key", server, "client-certificate-data: aGk=, client-key: ../key.pem");
  Server("fine");
  Must(cluster_.Add(SecretOf("fine", KubeconfigOf("fine"))));
  const Ran ran = Spawn(home);
  EXPECT_THAT(ErrorOf(clusters, "exec"), AllOf(HasSubstr("the credential plugin \"aws\""), HasSubstr("allow_exec")));
  EXPECT_THAT(ErrorOf(clusters, "ca"), AllOf(HasSubstr("\"certificate-authority\" names a file"),
                                             HasSubstr("certificate-authority-data"), HasSubstr("allow_files")));
  EXPECT_THAT(ErrorOf(clusters, "token"), HasSubstr("\"tokenFile\" names a file"));
  EXPECT_THAT(ErrorOf(clusters, "key"), HasSubstr("\"client-key\" names a file"));
  EXPECT_EQ(StateOf(clusters, "exec"), "refused");
  EXPECT_EQ(StateOf(clusters, "fine"), "running");
  EXPECT_EQ(configs_.size(), 1u);
  EXPECT_THAT(told_->clustered, ::testing::Contains(HasSubstr("exec clusters: Secret fleet/exec is refused")));
  End(ran);
}

TEST_P(ClusterSecretsTest, MayRunProgramsAndReadFilesWhereTheOptionsAllowIt) {
  const Manager home = New();
  const Clusters clusters = Make(home, Following({.namespace_ = "fleet", .allow_exec = true, .allow_files = true}));
  const std::string server = "server: 'https://eu-1.example:6443'";
  Server("eu-1");
  Must(cluster_.Add(
      SecretOf("exec", Kubeconfig(server,
                                  "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: "
                                  "Never}"))));
  Must(cluster_.Add(SecretOf("file", Kubeconfig(server, "tokenFile: /token"))));
  Must(cluster_.Add(SecretOf("relative", Kubeconfig(server, "tokenFile: token"))));
  const Ran ran = Spawn(home);
  EXPECT_EQ(ErrorOf(clusters, "exec"), "running");
  EXPECT_EQ(ErrorOf(clusters, "file"), "running");
  EXPECT_THAT(ErrorOf(clusters, "relative"), HasSubstr("is a relative path; use an absolute one"));
  End(ran);
}

TEST_P(ClusterSecretsTest, SayWhatIsWrongAndWhere) {
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  Must(cluster_.Add(SecretOf("syntax", "clusters: [\n  {")));
  Must(cluster_.Add(SecretOf("empty", "")));
  Must(cluster_.Add(SecretOf("key", KubeconfigOf("eu-1"), "config")));
  Must(cluster_.Add(SecretOf("no-server", Kubeconfig("", "token: secret-text"))));
  const Ran ran = Spawn(home);
  EXPECT_THAT(ErrorOf(clusters, "syntax"), HasSubstr("kubeconfig:3:1: "));
  EXPECT_THAT(ErrorOf(clusters, "empty"), HasSubstr("write a whole kubeconfig"));
  EXPECT_THAT(ErrorOf(clusters, "key"), HasSubstr("no key \"kubeconfig\" in its data"));
  EXPECT_THAT(ErrorOf(clusters, "no-server"), AllOf(HasSubstr("\"server\" is missing"), Not(HasSubstr("secret-text"))));
  // And a mended one starts.
  Server("eu-1");
  Must(cluster_.Update(SecretOf("syntax", KubeconfigOf("eu-1"))));
  EXPECT_EQ(ErrorOf(clusters, "syntax"), "running");
  End(ran);
}

TEST_P(ClusterSecretsTest, KeepARunningOneWhoseNewKubeconfigIsRefused) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  Must(clusters.Each(Mark));
  Must(cluster_.Add(SecretOf("eu-1", KubeconfigOf("eu-1"))));
  const Ran ran = Spawn(home);
  Settle();
  Must(cluster_.Update(SecretOf("eu-1", "nonsense")));
  EXPECT_THAT(ErrorOf(clusters, "eu-1"), HasSubstr("kubeconfig:1:1"));
  EXPECT_EQ(StateOf(clusters, "eu-1"), "running");
  AddMap(Server("eu-1"), "later");
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "later"), "eu-1");
  End(ran);
}

TEST_P(ClusterSecretsTest, DoNotTakeTheNameOfAnotherCluster) {
  AddMap(Server("eu-1"), "source");
  Server("us-1");
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  Must(clusters.Each(Mark));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  Must(cluster_.Add(SecretOf("eu-1", KubeconfigOf("us-1"))));
  const Ran ran = Spawn(home);
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "source"), "eu-1");
  EXPECT_EQ(configs_.size(), 1u);
  EXPECT_THAT(told_->clustered, ::testing::Contains(HasSubstr("there is a cluster of this name already, from Add()")));
  Must(cluster_.Delete("secrets", "fleet", "eu-1"));
  Settle();
  EXPECT_EQ(StateOf(clusters, "eu-1"), "running");
  End(ran);
}

TEST_P(ClusterSecretsTest, NeedRightsThatTheRulesOfTheHomeManagerHave) {
  const Manager home = New();
  const Clusters clusters = Make(home, Following());
  EXPECT_THAT(home.Rules(), ::testing::Contains(AccessRule{"fleet", "", "secrets", "", {"get", "list", "watch"}}));
}

}  // namespace
}  // namespace kgen
