// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "client/auth/kubeconfig.h"
#include "core/files/read_file.h"
#include "kgen/client/config.h"
#include "net/trim.h"
#include "net/url.h"

namespace kgen {

Result<rest::Config> rest::LoadConfig(const LoadOptions& options) {
  return client::LoadConfig(options, client::Surroundings::OfProcess());
}

Result<rest::Config> rest::InClusterConfig() { return client::InClusterConfig(client::Surroundings::OfProcess()); }

namespace client {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Returns the paths of $KUBECONFIG in order, without duplicates.
std::vector<std::string> SplitPaths(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string path(list.substr(0, end));
    if (!path.empty() && std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

// Adds the files that exist; `missing` lists the others. Every file that exists must be valid.
Result<void> AddFiles(const std::vector<std::string>& paths, Kubeconfig& into, std::string& missing) {
  for (const std::string& path : paths) {
    if (!Exists(path)) {
      missing += (missing.empty() ? "" : ", ") + path;
      continue;
    }
    Result<std::string> text = detail::ReadFile("kubeconfig", path);
    if (!text) return Fail(text.error());
    if (Result<void> added = into.Add(path, *std::move(text)); !added) return added;
  }
  return {};
}

}  // namespace

Surroundings Surroundings::OfProcess() {
  Surroundings around;
  around.kubeconfig_variable = Variable("KUBECONFIG");
  around.home = Variable("HOME");
  around.service_host = Variable("KUBERNETES_SERVICE_HOST");
  around.service_port = Variable("KUBERNETES_SERVICE_PORT");
  around.pod_namespace = Variable("POD_NAMESPACE");
  return around;
}

Result<rest::Config> InClusterConfig(const Surroundings& around) {
  const auto failed = [](std::string_view why) { return Fail(Error(Code::kConfig, why).With("in-cluster config")); };
  if (around.service_host.empty() || around.service_port.empty()) {
    return failed("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set");
  }
  rest::Config config;
  const bool ipv6 = around.service_host.find(':') != std::string::npos && !around.service_host.starts_with('[');
  config.host = "https://" + (ipv6 ? '[' + around.service_host + ']' : around.service_host) + ':' + around.service_port;
  config.bearer_token_file = around.service_account + "/token";
  Result<std::string> token = detail::ReadFile("token file", config.bearer_token_file, 1u << 20);
  if (!token) return failed(token.error().message());
  config.bearer_token = net::Trim(*token);
  if (config.bearer_token.empty()) return failed("token file " + config.bearer_token_file + " is empty");
  // Without a CA file the system's roots may still verify the cluster.
  const std::string ca = around.service_account + "/ca.crt";
  if (Result<std::string> text = detail::ReadFile("CA file", ca); text && !text->empty()) config.tls.ca_file = ca;
  config.namespace_ = around.pod_namespace;
  if (config.namespace_.empty()) {
    if (Result<std::string> text = detail::ReadFile("namespace", around.service_account + "/namespace", 4096))
      config.namespace_ = net::Trim(*text);
  }
  return config;
}

Result<rest::Config> LoadConfig(const rest::LoadOptions& options, const Surroundings& around) {
  const auto failed = [](const Error& error) { return Fail(error.With("load config")); };
  Kubeconfig files;
  std::string tried;
  if (!options.kubeconfig.empty()) {  // named explicitly, so it must exist
    Result<std::string> text = detail::ReadFile("kubeconfig", options.kubeconfig);
    if (!text) return failed(text.error());
    if (Result<void> added = files.Add(options.kubeconfig, *std::move(text)); !added) return failed(added.error());
    if (files.empty()) return failed(Error(Code::kConfig, "kubeconfig " + options.kubeconfig + " is empty"));
  } else {
    std::string missing;
    const std::vector<std::string> listed = SplitPaths(around.kubeconfig_variable);
    if (!listed.empty()) {
      if (Result<void> added = AddFiles(listed, files, missing); !added) return failed(added.error());
      tried = "$KUBECONFIG (" + (missing.empty() ? "empty files" : "no such file: " + missing) + ")";
    } else if (!around.home.empty()) {
      if (Result<void> added = AddFiles({around.home + "/.kube/config"}, files, missing); !added)
        return failed(added.error());
      tried = "$KUBECONFIG (not set), " + around.home + "/.kube/config (" +
              (missing.empty() ? "empty" : "no such file") + ")";
    } else {
      tried = "$KUBECONFIG (not set), $HOME (not set)";
    }
  }
  if (!files.empty()) {
    Result<rest::Config> config = files.Resolve(options.context);
    if (!config) return failed(config.error());
    return config;
  }
  if (!options.context.empty()) {
    return failed(
        Error(Code::kConfig, "there is no context \"" + options.context + "\": no kubeconfig found; tried " + tried));
  }
  Result<rest::Config> config = InClusterConfig(around);
  if (!config)
    return failed(Error(Code::kConfig, "no kubeconfig found; tried " + tried + ", then " + config.error().message()));
  return config;
}

}  // namespace client
}  // namespace kgen
