// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The network endpoint of the in-memory cluster with kubectl. Without kubectl these tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/testing/cluster.h"
#include "tests/integration/memory/kubectl.h"

namespace kgen::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KubectlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kubectl_ = FindKubectl();
    if (kubectl_.empty()) GTEST_SKIP() << "no kubectl: ./dev integration builds one, or put one into the PATH";
    char folder[] = "kubectl_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = std::filesystem::absolute(folder);
    auto kubeconfig = cluster_.Serve();
    ASSERT_TRUE(kubeconfig) << kubeconfig.error();
    Write("kubeconfig", *kubeconfig);
    ASSERT_TRUE(cluster_.Add(kCrd));
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  // What it prints comes through the pipe, both streams. Ends by itself after 30 s.
  FILE* Start(const std::string& arguments) {
    const std::string command = "cd " + folder_.string() + " && timeout 30 " + kubectl_ +
                                " --kubeconfig kubeconfig --cache-dir cache " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("no shell for kubectl");
    return pipe;
  }

  std::string Kubectl(const std::string& arguments, bool good = true) {
    FILE* pipe = Start(arguments);
    std::string out;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    const int status = pclose(pipe);
    EXPECT_EQ(WEXITSTATUS(status) == 0, good) << "kubectl " << arguments << "\n" << out;
    return out;
  }

  static constexpr const char* kCrd = R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "orders.shop.example"},
    "spec": {"group": "shop.example", "scope": "Namespaced",
      "names": {"plural": "orders", "singular": "order", "kind": "Order", "listKind": "OrderList", "shortNames": ["ord"]},
      "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "required": ["item"],
          "properties": {"item": {"type": "string"}, "count": {"type": "integer"}}}}}}}]}})";
  static constexpr const char* kPod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec: {containers: [{name: main, image: "
      "example/main:1}]}\n";
  static constexpr const char* kOrder =
      "apiVersion: shop.example/v1\nkind: Order\nmetadata: {name: first}\nspec: {item: tea, count: 1}\n";

  Cluster cluster_{ClusterOptions{.simulated = false}};
  std::string kubectl_;
  std::filesystem::path folder_;
};

TEST_F(KubectlTest, CreatesGetsReplacesAndDeletesAPod) {
  Write("pod.yaml", kPod);
  EXPECT_EQ(Kubectl("create -f pod.yaml"), "pod/web created\n");
  EXPECT_EQ(Kubectl("get pods -o name"), "pod/web\n");
  EXPECT_EQ(Kubectl("get po/web -o name"), "pod/web\n");
  const auto pod = nlohmann::json::parse(Kubectl("get pod web -o json"));
  EXPECT_EQ(pod["kind"], "Pod");
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "example/main:1");
  EXPECT_THAT(Kubectl("get pods -o yaml"), AllOf(HasSubstr("kind: List"), HasSubstr("name: web")));
  EXPECT_EQ(Kubectl("get pods -l app=db -o name"), "");
  EXPECT_THAT(Kubectl("get pods"), AllOf(HasSubstr("NAME"), HasSubstr("web")));
  EXPECT_EQ(Kubectl("label pod web color=red"), "pod/web labeled\n");
  EXPECT_EQ(Kubectl("get pods -l color=red -o name"), "pod/web\n");
  EXPECT_EQ(Kubectl("apply --server-side -f pod.yaml"), "pod/web serverside-applied\n");

  Write("pod.yaml", std::string(kPod).replace(std::string(kPod).find("main:1"), 6, "main:2"));
  EXPECT_EQ(Kubectl("replace -f pod.yaml"), "pod/web replaced\n");
  EXPECT_EQ(Kubectl("get pod web -o jsonpath={.spec.containers[0].image}"), "example/main:2");
  EXPECT_THAT(Kubectl("create -f pod.yaml", /*good=*/false), HasSubstr("AlreadyExists"));

  EXPECT_THAT(Kubectl("delete pod web"), HasSubstr("pod \"web\" deleted"));
  EXPECT_THAT(Kubectl("get pod web", /*good=*/false), HasSubstr("pods \"web\" not found"));
}

TEST_F(KubectlTest, CreatesGetsReplacesAndDeletesACustomObject) {
  Write("order.yaml", kOrder);
  EXPECT_EQ(Kubectl("create -f order.yaml"), "order.shop.example/first created\n");
  EXPECT_EQ(Kubectl("get ord -o name"), "order.shop.example/first\n");
  EXPECT_EQ(nlohmann::json::parse(Kubectl("get orders -o json"))["items"][0]["spec"]["item"], "tea");
  EXPECT_THAT(Kubectl("get order first -o yaml"), HasSubstr("kind: Order"));
  Write("order.yaml", Kubectl("get order first -o json"));
  EXPECT_EQ(Kubectl("replace -f order.yaml"), "order.shop.example/first replaced\n");
  Write("bad.yaml", "apiVersion: shop.example/v1\nkind: Order\nmetadata: {name: second}\nspec: {count: many}\n");
  EXPECT_THAT(Kubectl("create -f bad.yaml", /*good=*/false), AllOf(HasSubstr("spec.item"), HasSubstr("spec.count")));
  EXPECT_THAT(Kubectl("delete -f order.yaml"), HasSubstr("deleted"));
  EXPECT_EQ(Kubectl("get orders -o name"), "");
}

TEST_F(KubectlTest, WatchesPodsAndCustomObjects) {
  for (const std::string kind : {"pods", "orders"}) {
    Write(kind + ".yaml", kind == "pods" ? kPod : kOrder);
    // The watch runs beside the writes; it is stopped once the object has come, which ends the pipe.
    const std::string name = kind == "pods" ? "pod/web" : "order.shop.example/first";
    const std::string script = "get " + kind + " -w -o name | { " + "read -r line; echo \"saw $line\"; }";
    std::string seen;
    {
      FILE* pipe = Start(script);
      EXPECT_THAT(Kubectl("create -f " + kind + ".yaml"), HasSubstr("created"));
      char buffer[4096];
      // One read line ends the reader; kubectl itself notices at its next line.
      if (fgets(buffer, sizeof buffer, pipe) != nullptr) seen = buffer;
      Kubectl("delete -f " + kind + ".yaml --wait=false");
      pclose(pipe);
    }
    EXPECT_EQ(seen, "saw " + name + "\n");
  }
}

TEST_F(KubectlTest, DiscoversTheResourcesOfTheServer) {
  EXPECT_THAT(Kubectl("api-resources"),
              AllOf(HasSubstr("orders"), HasSubstr("deployments"), HasSubstr("customresourcedefinitions")));
  EXPECT_EQ(Kubectl("get --raw /readyz"), "ok");
  EXPECT_THAT(Kubectl("version"), HasSubstr("v1.36.1"));
}

// The endpoint serves our own client too: kubeconfig, TLS, HTTP/2.
TEST(LoopbackEndpoint, ServesOurOwnClient) {
  Cluster cluster({.simulated = false});
  const std::string kubeconfig = Must(cluster.Serve());
  ASSERT_TRUE(cluster.Add(MinimalPod("default", "web")));
  char file[] = "kubeconfig_XXXXXX";
  const int descriptor = mkstemp(file);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  std::ofstream(file) << kubeconfig;
  const auto connection = Connection::Open(Must(rest::LoadConfig({.kubeconfig = file})));
  std::filesystem::remove(file);
  ASSERT_TRUE(connection) << connection.error();
  const auto answer = connection->Call({.path = "/api/v1/namespaces/default/pods/web", .what = "get pods default/web"});
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_THAT(answer->body, HasSubstr("\"name\":\"web\""));
}

}  // namespace
}  // namespace kgen::testing
