// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Logging in to a real API server: credential plugins and a real forward proxy (tinyproxy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <string>

#include "client/auth/process.h"
#include "kgen/core/quantity.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RealLogin : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server; run ./dev integration";
    folder_ = ::testing::TempDir() + "kgen_login_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text, bool executable = false) {
    const std::string path = folder_ + '/' + name;
    std::ofstream(path, std::ios::binary) << text;
    if (executable) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + '/' + name).rdbuf();
    return text.str();
  }
  static rest::Config Admin(const std::string& context = "token") {
    return Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig(), .context = context}));
  }
  // A kubeconfig of the server whose user is a plugin beside it.
  rest::Config WithPlugin(const std::string& script) {
    const rest::Config admin = Admin();
    Write("plugin.sh", "#!/bin/sh\nD='" + folder_ + "'\necho run >>$D/runs\n" + script, true);
    const std::string path =
        Write("config",
              "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
              "clusters: [{name: c, cluster: {server: '" +
                  admin.host + "', certificate-authority-data: " + std::string(Bytes::Of(admin.tls.ca_data).base64()) +
                  "}}]\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
                  "command: ./plugin.sh, interactiveMode: Never, provideClusterInfo: true}}}]\n");
    return Must(rest::LoadConfig({.kubeconfig = path}));
  }
  static std::string Answer(const std::string& status) {
    return "printf "
           "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{%s}}' " +
           status + "\n";
  }
  static Result<k8s::core::v1::NamespaceList> Namespaces(const rest::Config& config) {
    return Must(k8s::Clientset::New(config)).CoreV1().Namespaces().List({.timeout = std::chrono::seconds(30)});
  }

  std::string folder_;
};

TEST_F(RealLogin, WithATokenOfAServiceAccountThatAPluginFetches) {
  RealApiServer::Kubectl("create serviceaccount login -n default");
  // No built-in role such as view: a controller fills those, and none runs here.
  RealApiServer::Kubectl("create clusterrole login --verb=list --resource=namespaces");
  RealApiServer::Kubectl("create clusterrolebinding login --clusterrole=login --serviceaccount=default:login");
  ASSERT_TRUE(Eventually([] {
    return RealApiServer::Kubectl("auth can-i list namespaces --as=system:serviceaccount:default:login")
        .ends_with("yes\n");
  }));
  const rest::Config config =
      WithPlugin("token=$(" + std::string(std::getenv("KGEN_TEST_KUBECTL")) +
                 " create token login -n default --duration=10m) || exit 1\n" + Answer(R"("\"token\":\"$token\"")"));
  const k8s::Clientset clientset = Must(k8s::Clientset::New(config));
  const auto namespaces = clientset.CoreV1().Namespaces().List();
  ASSERT_TRUE(namespaces.has_value()) << namespaces.error();
  EXPECT_GE(namespaces->size(), 3u);
  // It is this account, and no administrator.
  const auto secrets = clientset.CoreV1().Secrets("default").List();
  ASSERT_FALSE(secrets.has_value());
  EXPECT_EQ(secrets.error().code(), Code::kForbidden);
  EXPECT_THAT(secrets.error().message(), HasSubstr("system:serviceaccount:default:login"));
  EXPECT_EQ(Read("runs"), "run\n") << "one for both calls";
}

TEST_F(RealLogin, WithAClientCertificateOfAPlugin) {
  const rest::Config admin = Admin("certificate");
  const auto escape = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\n");
    return text;
  };
  Write("status", R"("clientCertificateData":")" + escape(admin.tls.certificate_data) + R"(","clientKeyData":")" +
                      escape(admin.tls.key_data) + '"');
  const auto namespaces = Namespaces(WithPlugin(Answer("\"$(cat $D/status)\"")));
  ASSERT_TRUE(namespaces.has_value()) << namespaces.error();
}

TEST_F(RealLogin, AgainAfterTheServerHasRefusedATokenOfThePlugin) {
  const rest::Config config = WithPlugin("[ $(wc -l <$D/runs) -gt 1 ] && token=" + Admin().bearer_token +
                                         " || token=stale\n" + Answer(R"("\"token\":\"$token\"")"));
  const auto namespaces = Namespaces(config);
  ASSERT_TRUE(namespaces.has_value()) << namespaces.error();
  EXPECT_EQ(Read("runs"), "run\nrun\n");
}

TEST_F(RealLogin, OfAnInformerWhoseFirstCredentialWasRefused) {
  const rest::Config config = WithPlugin("[ $(wc -l <$D/runs) -gt 1 ] && token=" + Admin().bearer_token +
                                         " || token=stale\n" + Answer(R"("\"token\":\"$token\"")"));
  k8s::SharedInformerFactory factory(Must(k8s::Clientset::New(config)));
  auto namespaces = factory.Core().V1().Namespaces();
  std::stop_source stop;
  (void)namespaces.Informer();
  factory.Start(stop.get_token());
  const auto synced = factory.WaitForCacheSync(stop.get_token());
  EXPECT_TRUE(synced.has_value()) << synced.error();
  EXPECT_GE(namespaces.Lister().List().size(), 3u);
  stop.request_stop();
}

// tinyproxy on a port of its own, with a user.
class RealProxy : public RealLogin {
 protected:
  void SetUp() override {
    RealLogin::SetUp();
    if (IsSkipped()) return;
    if (::access("/usr/bin/tinyproxy", X_OK) != 0) GTEST_SKIP() << "no tinyproxy; ./dev setup installs it";
    process_ = Must(client::Process::Make());
    for (int port = 20000 + ::getpid() % 20000; !up_ && port < 60000; port += 97) Run(port);
    ASSERT_TRUE(up_) << Read("log");
  }
  void TearDown() override {
    if (process_) process_->Kill();
    if (process_) Eventually([&] { return ended_.load(); });
    RealLogin::TearDown();
  }

  void Run(int port) {
    port_ = std::to_string(port);
    const std::string config = Write("tinyproxy.conf", "Port " + port_ +
                                                           "\nListen 127.0.0.1\nTimeout 600\nMaxClients 50\n"
                                                           "BasicAuth bob hunter2\nLogLevel Info\nLogFile \"" +
                                                           folder_ + "/log\"\n");
    ended_ = false;
    DefaultExecutor()->Blocking("tinyproxy", [this, process = process_, config] {
      (void)process->Run({.argv = {"/usr/bin/tinyproxy", "-d", "-c", config}});
      ended_ = true;
    });
    // The port is in use: the proxy ends, and the next port is tried.
    ASSERT_TRUE(Eventually([&] { return ended_ || Read("log").find("Accepting connections") != std::string::npos; }))
        << Read("log");
    up_ = !ended_;
  }
  rest::Config Through(const std::string& user) const {
    rest::Config config = Admin();
    config.proxy_url = "http://" + user + "127.0.0.1:" + port_;
    return config;
  }

  Shared<client::Process> process_;
  std::atomic<bool> ended_{false};
  bool up_ = false;
  std::string port_;
};

TEST_F(RealProxy, ForwardsToTheServer) {
  const auto namespaces = Namespaces(Through("bob:hunter2@"));
  ASSERT_TRUE(namespaces.has_value()) << namespaces.error();
  EXPECT_GE(namespaces->size(), 3u);
  EXPECT_THAT(Read("log"), HasSubstr("CONNECT 127.0.0.1:"));
}

TEST_F(RealProxy, NamesTheProxyWhenThePasswordIsMissingOrWrong) {
  const auto without = Namespaces(Through(""));
  ASSERT_FALSE(without.has_value());
  EXPECT_EQ(without.error().code(), Code::kUnavailable);
  EXPECT_THAT(without.error().ToString(), AllOf(HasSubstr("through the proxy http://127.0.0.1:" + port_),
                                                HasSubstr("407"), HasSubstr("give user")));
  const auto wrong = Namespaces(Through("bob:secret7@"));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().ToString(), AllOf(HasSubstr("the proxy refused: 4"), Not(HasSubstr("secret7"))));
}

TEST_F(RealProxy, CarriesAWatch) {
  const auto clientset = Must(k8s::Clientset::New(Through("bob:hunter2@")));
  const auto list = Must(clientset.CoreV1().Namespaces().List());
  auto watcher = Must(clientset.CoreV1().Namespaces().Watch({.resource_version = list.metadata.resourceVersion.str()}));
  RealApiServer::Kubectl("create namespace proxied");
  const auto event = watcher.Next();
  ASSERT_TRUE(event.has_value()) << event.error();
  EXPECT_EQ(event->object->metadata.name, "proxied");
  RealApiServer::Kubectl("delete namespace proxied --wait=false");
}

}  // namespace
}  // namespace kgen::integration
