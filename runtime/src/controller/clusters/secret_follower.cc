// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/clusters/secret_follower.h"

#include <optional>
#include <string>
#include <utility>

#include "client/auth/kubeconfig.h"
#include "core/quoted.h"
#include "kgen/core/unstructured.h"
#include "net/base64.h"

namespace kgen::controller {
namespace {

constexpr KindInfo kSecret = {.group = "",
                              .version = "v1",
                              .kind = "Secret",
                              .list_kind = "SecretList",
                              .resource = "secrets",
                              .singular = "secret",
                              .scope = Scope::kNamespaced,
                              .list = nullptr};

std::string SourceOf(const ObjectKey& key) { return "Secret " + std::string(key.str()); }

std::unexpected<Error> Refuse(const std::string& what, const std::string& advice) {
  return Fail(Code::kConfig, what + "; " + advice);
}

Result<void> CheckExec(const rest::Config& config, const KubeconfigSecrets& options) {
  if (config.exec.command.empty() || options.allow_exec) return {};
  return Refuse("the user has the credential plugin " + detail::Quoted(config.exec.command) +
                    ", a program that this process would run",
                "give the user a token or a client certificate as data, or set KubeconfigSecrets::allow_exec if only "
                "administrators write these Secrets");
}

// A relative path would depend on the folder of this process; the kubeconfig has none.
Result<void> CheckFiles(const rest::Config& config, const KubeconfigSecrets& options) {
  const std::pair<const std::string&, std::string_view> files[] = {{config.tls.ca_file, "certificate-authority"},
                                                                   {config.tls.certificate_file, "client-certificate"},
                                                                   {config.tls.key_file, "client-key"},
                                                                   {config.bearer_token_file, "tokenFile"}};
  for (const auto& [path, member] : files) {
    if (path.empty()) continue;
    if (!options.allow_files) {
      return Refuse("\"" + std::string(member) + "\" names a file of this process",
                    (member == "tokenFile" ? std::string("put the token into \"token\"")
                                           : "put the content into \"" + std::string(member) + "-data\"") +
                        ", or set KubeconfigSecrets::allow_files if only administrators write these Secrets");
    }
    if (!path.starts_with('/')) {
      return Refuse("\"" + std::string(member) + "\" is a relative path", "use an absolute one");
    }
  }
  return {};
}

}  // namespace

Result<rest::Config> ConfigOf(const Unstructured& secret, const KubeconfigSecrets& options) {
  const Result<Map<Json>> data = secret.GetMap("data");
  const auto found = data ? data->find(options.key) : Map<Json>::const_iterator();
  if (!data || found == data->end()) {
    return Refuse("the Secret has no key " + detail::Quoted(options.key) + " in its data",
                  "put the kubeconfig there, or name its key in KubeconfigSecrets::key");
  }
  const Result<String> encoded = secret.GetString("data['" + options.key + "']");
  const std::optional<std::string> text = encoded ? net::DecodeBase64(encoded->view()) : std::nullopt;
  if (!text) return Refuse("data[" + detail::Quoted(options.key) + "] is not base64", "write the Secret again");
  client::Kubeconfig kubeconfig;
  // Names the place in messages, and ends with no folder that a relative path could be in.
  if (Result<void> added = kubeconfig.Add(options.key, *text); !added) return Fail(added.error());
  if (kubeconfig.empty()) {
    return Refuse(options.key + ": it has no clusters, users and contexts",
                  "write a whole kubeconfig, such as `kubectl config view --raw --minify --flatten` prints");
  }
  Result<rest::Config> config = kubeconfig.Resolve("");
  if (!config) return config;
  if (Result<void> fine = CheckExec(*config, options); !fine) return Fail(fine.error().With(options.key));
  if (Result<void> fine = CheckFiles(*config, options); !fine) return Fail(fine.error().With(options.key));
  config->exec.interactive_mode = rest::ExecConfig::InteractiveMode::kNever;
  return config;
}

SecretFollower::SecretFollower(const Connection& home, KubeconfigSecrets options, Shared<ClusterSink> sink)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      caches_(home, {.scopes = {{.namespace_ = options_.namespace_, .label_selector = options_.label_selector}}}) {}

Result<void> SecretFollower::Start() {
  Result<AnyCache> secrets = caches_.Of(Unstructured::kTable, kSecret);
  if (!secrets) return Fail(secrets.error().With("follow the Secrets of " + options_.namespace_));
  caches_.Start({});
  registration_ = secrets->AddEventHandler(
      [self = Shared<SecretFollower>(this)](const AnyEvent& event) { self->OnEvent(event); }, {.name = "clusters"});
  return registration_.status();
}

void SecretFollower::Stop() {
  registration_.Remove();
  caches_.Shutdown();
}

void SecretFollower::OnEvent(const AnyEvent& event) const {
  const std::string name(event.key.name.view());
  if (const Ref<const Unstructured> secret = event.now.As<Unstructured>()) {
    if (event.reason != Reason::kResync) sink_->Set(name, SourceOf(event.key), ConfigOf(*secret, options_));
  } else {
    sink_->Unset(name, SourceOf(event.key));
  }
}

}  // namespace kgen::controller
