// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API of api/ on a real kube-apiserver: what the tests of this folder share.
#ifndef KGEN_TESTS_INTEGRATION_CPP_FIRST_CLUSTER_H_
#define KGEN_TESTS_INTEGRATION_CPP_FIRST_CLUSTER_H_

#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <parts/clientset.h>
#include <parts/gadgets/v1/types.h>
#include <parts/gadgets/v1beta1/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/crd.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {

// Collects the warnings of a server.
class Warnings final : public Observer {
 public:
  void OnServerWarned(const ServerWarned& warned) override {
    const std::lock_guard lock(mutex_);
    texts_.emplace_back(warned.message);
  }
  std::vector<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(texts_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

// Installs the CRD, and gives each test a namespace.
class GadgetTest : public ::testing::Test {
 protected:
  using Gadget = parts::gadgets::v1::Gadget;

  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    connection_.emplace(Connect(warnings_));
    Must(crd::Install(*connection_, parts::Manifests()));
    // It asks for the resource in each version, the deprecated one included.
    for (const std::string& warning : warnings_->Take())
      EXPECT_EQ(warning, "gadgets.example.com/v1beta1 Gadget is deprecated; use v1");
    namespace_ =
        "gadgets-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1));
    Must(k8s::Clientset(*connection_).CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    gadgets_.emplace(parts::Clientset(*connection_).GadgetsV1().Gadgets(namespace_));
  }

  static Connection Connect(Shared<Observer> observer) {
    rest::Config config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = std::move(observer);
    return Must(Connection::Open(config));
  }

  // A gadget with these members of spec, besides the color that it must have.
  static Gadget Make(std::string_view name, std::string_view members) {
    std::string json = R"({"apiVersion":"gadgets.example.com/v1","kind":"Gadget","metadata":{"name":")";
    json.append(name).append(R"("},"spec":{"color":"red")");
    if (!members.empty()) json.append(",").append(members);
    return Must(Decode<Gadget>(json + "}}"));
  }

  // What the server stores, as it writes it.
  std::string Raw(std::string_view name, std::string_view version = "v1") const {
    std::string raw = RealApiServer::Kubectl("get --raw /apis/gadgets.example.com/" + std::string(version) +
                                             "/namespaces/" + namespace_ + "/gadgets/" + std::string(name));
    return raw.erase(0, raw.find('{'));  // kubectl prints warnings first
  }

  Shared<Warnings> warnings_ = MakeShared<Warnings>();
  std::optional<Connection> connection_;
  std::optional<parts::gadgets::v1::GadgetsClient> gadgets_;
  std::string namespace_;
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_CPP_FIRST_CLUSTER_H_
