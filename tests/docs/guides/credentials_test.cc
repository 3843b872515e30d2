// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"

namespace guides {
namespace {

// begin config
// Without a kubeconfig: a plugin for credentials, and a proxy.
kgen::rest::Config ConfigBehindAProxy() {
  kgen::rest::Config config;
  config.host = "https://cluster.example.com:6443";
  config.tls.ca_file = "/etc/cluster/ca.crt";
  config.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = "cluster-login",
                 .args = {"token", "--audience=cluster"},
                 .install_hint = "install the package cluster-login",
                 .interactive_mode = kgen::rest::ExecConfig::InteractiveMode::kNever};
  config.proxy_url = "http://agent:secret@proxy.example.com:3128";
  return config;
}
// end config

TEST(CredentialsGuide, ShowsNoSecretOfTheConfiguration) {
  const std::string text = ConfigBehindAProxy().ToString();
  EXPECT_THAT(text, ::testing::HasSubstr("cluster-login"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace guides
