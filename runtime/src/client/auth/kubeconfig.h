// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Kubeconfig: reads and merges kubeconfig files, and turns one context into a rest::Config.
#ifndef KGEN_SRC_CLIENT_AUTH_KUBECONFIG_H_
#define KGEN_SRC_CLIENT_AUTH_KUBECONFIG_H_

#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/result.h"

namespace kgen::client {

// One file, parsed. Entries point into `stream`.
struct KubeconfigFile {
  std::string path;
  yaml::Stream stream;
};

// A named entry of a list, and the file that contains it.
struct KubeconfigEntry {
  std::string_view name;
  const yaml::Node* value = nullptr;  // the value of "cluster", "user" or "context"
  const KubeconfigFile* file = nullptr;
};

// The merged files of a list: the first file that names an entry supplies the whole entry.
// Ownership: owns the files; entries point into them. Move-only.
class Kubeconfig {
 public:
  // Errors: kConfig  not valid YAML, or of the wrong form; with file:line:column
  Result<void> Add(std::string path, std::string text);

  bool empty() const noexcept {
    return clusters_.empty() && users_.empty() && contexts_.empty() && current_context_.empty();
  }
  // An empty `context` means current-context. Errors: kConfig, see rest::LoadConfig.
  Result<rest::Config> Resolve(std::string_view context) const;

 private:
  using Entries = std::vector<KubeconfigEntry>;
  Result<void> AddDocument(const KubeconfigFile& file, const yaml::Node& document);
  static Result<void> AddList(const KubeconfigFile& file, const yaml::Node& document, std::string_view list,
                              std::string_view member, Entries& entries);
  std::string Paths() const;

  std::vector<std::vector<KubeconfigFile>> files_{};  // vectors of one element, so that the elements never move
  Entries clusters_{};
  Entries users_{};
  Entries contexts_{};
  std::string current_context_{};
  std::string current_context_at_{};  // file:line:column
};

// The environment that LoadConfig and InClusterConfig read. Tests set it.
struct Surroundings {
  std::string kubeconfig_variable{};  // $KUBECONFIG
  std::string home{};                 // $HOME
  std::string service_host{};         // $KUBERNETES_SERVICE_HOST
  std::string service_port{};         // $KUBERNETES_SERVICE_PORT
  std::string pod_namespace{};        // $POD_NAMESPACE
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  static Surroundings OfProcess();
};
Result<rest::Config> LoadConfig(const rest::LoadOptions& options, const Surroundings& around);
Result<rest::Config> InClusterConfig(const Surroundings& around);

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_AUTH_KUBECONFIG_H_
