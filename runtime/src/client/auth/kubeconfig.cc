// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/auth/kubeconfig.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "client/auth/exec_credential.h"
#include "core/dns_names.h"
#include "core/quoted.h"
#include "net/base64.h"
#include "net/proxy.h"
#include "net/url.h"

namespace kgen::client {
namespace {

std::string At(std::string_view path, yaml::Mark mark) {
  return std::string(path) + ':' + std::to_string(mark.line) + ':' + std::to_string(mark.column);
}

std::unexpected<Error> Wrong(const KubeconfigFile& file, yaml::Mark mark, std::string_view message) {
  return Fail(Code::kConfig, At(file.path, mark) + ": " + std::string(message));
}

using detail::Quoted;

// Reads a map of a file member by member. Keeps the first error and its position.
class Members {
 public:
  Members(const KubeconfigEntry& entry, std::string_view what) : entry_(entry), what_(what) {}

  bool Has(std::string_view key) const {
    const yaml::Node* node = Find(key);
    return node != nullptr && !node->is_null() && !(node->is_scalar() && node->text().empty());
  }
  std::string Text(std::string_view key) {
    const yaml::Node* node = Find(key);
    if (node == nullptr || node->is_null()) return {};
    if (node->is_string()) return std::string(node->text());
    // People write tokens and namespaces that look like numbers or dates without quotes. They are used as text.
    if (node->is_scalar() && !node->is_bool()) return std::string(node->text());
    Fault(*node, std::string(key) + ": expected text, found " + std::string(yaml::Describe(node->kind())));
    return {};
  }
  bool Flag(std::string_view key) {
    const yaml::Node* node = Find(key);
    if (node == nullptr || node->is_null()) return false;
    if (!node->is_bool()) {
      Fault(*node, std::string(key) + ": expected true or false, found " + std::string(yaml::Describe(node->kind())));
    }
    return node->as_bool();
  }
  std::string Base64(std::string_view key) {
    const std::string text = Text(key);
    if (text.empty()) return {};
    if (std::optional<std::string> data = net::DecodeBase64(text)) return *std::move(data);
    Fault(*Find(key), std::string(key) + ": not base64");
    return {};
  }
  // Returns a path, which is relative to the folder of the file that contains the entry.
  std::string Path(std::string_view key) {
    std::string path = Text(key);
    const std::size_t slash = entry_.file->path.rfind('/');
    if (path.empty() || path.starts_with('/') || slash == std::string::npos) return path;
    return entry_.file->path.substr(0, slash + 1) + path;
  }
  // Does the same for a program, except that a bare name is looked up in PATH.
  std::string Command(std::string_view key) {
    std::string command = Text(key);
    return command.contains('/') ? Path(key) : command;
  }
  std::vector<std::string> Texts(std::string_view key) {
    std::vector<std::string> texts;
    for (const yaml::Node& item : List(key)) {
      if (!item.is_scalar() || item.is_null()) {
        Fault(item, std::string(key) + ": expected text, found " + std::string(yaml::Describe(item.kind())));
      }
      texts.emplace_back(item.text());
    }
    return texts;
  }
  std::span<const yaml::Node> List(std::string_view key) {
    const yaml::Node* node = Find(key);
    if (node == nullptr || node->is_null()) return {};
    if (!node->is_list()) {
      Fault(*node, std::string(key) + ": expected a list, found " + std::string(yaml::Describe(node->kind())));
    }
    return node->items();
  }
  // Returns a map inside this one as an entry of the same name, or nothing if it is absent.
  std::optional<KubeconfigEntry> Nested(std::string_view key) {
    const yaml::Node* node = Find(key);
    if (node == nullptr || node->is_null()) return std::nullopt;
    if (!node->is_map()) {
      Fault(*node, std::string(key) + ": expected a map, found " + std::string(yaml::Describe(node->kind())));
      return std::nullopt;
    }
    return KubeconfigEntry{entry_.name, node, entry_.file};
  }
  void Refuse(std::string_view key, std::string_view why) {
    if (Has(key)) FaultAtKey(key, std::string(key) + ": " + std::string(why));
  }
  void RefuseBoth(std::string_view a, std::string_view b) {
    if (Has(a) && Has(b)) FaultAtKey(b, Quoted(a) + " and " + Quoted(b) + " cannot both be set");
  }
  void FaultAtKey(std::string_view key, const std::string& message) {
    const yaml::Entry* found = entry_.value->FindEntry(key);
    FaultAt(found != nullptr ? found->mark : entry_.value->mark(), message);
  }
  void FaultHere(const std::string& message) { FaultAt(entry_.value->mark(), message); }

  Result<void> Check() const {
    if (!fault_) return {};
    return Fail(*fault_);
  }

 private:
  const yaml::Node* Find(std::string_view key) const { return entry_.value->Find(key); }
  void Fault(const yaml::Node& node, const std::string& message) { FaultAt(node.mark(), message); }
  void FaultAt(yaml::Mark mark, const std::string& message) {
    if (fault_) return;
    fault_ = Wrong(*entry_.file, mark, std::string(what_) + ' ' + Quoted(entry_.name) + ": " + message).error();
  }

  const KubeconfigEntry& entry_;
  const std::string_view what_;
  std::optional<Error> fault_{};
};

const KubeconfigEntry* FindEntry(const std::vector<KubeconfigEntry>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &KubeconfigEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

std::string Names(const std::vector<KubeconfigEntry>& entries) {
  if (entries.empty()) return "none";
  std::string names;
  for (const KubeconfigEntry& entry : entries) names += (names.empty() ? "" : ", ") + Quoted(entry.name);
  return names;
}

// Returns the cluster's extension for credential plugins, as JSON.
std::string ExecExtension(Members& cluster) {
  for (const yaml::Node& extension : cluster.List("extensions")) {
    const yaml::Node* name = extension.Find("name");
    const yaml::Node* value = extension.Find("extension");
    const bool ours = name != nullptr && name->text() == "client.authentication.k8s.io/exec";
    if (ours && value != nullptr) return yaml::ToJson(*value);
  }
  return {};
}

Result<void> ApplyExec(const KubeconfigEntry& entry, rest::ExecConfig& exec) {
  Members members(entry, "exec of user");
  exec.command = members.Command("command");
  if (exec.command.empty()) members.FaultHere("\"command\" is missing");
  exec.api_version = members.Text("apiVersion");
  if (exec.api_version.empty()) members.FaultHere("\"apiVersion\" is missing");
  exec.args = members.Texts("args");
  for (const yaml::Node& item : members.List("env")) {
    const KubeconfigEntry variable{entry.name, &item, entry.file};
    Members pair(variable, "env of exec of user");
    exec.env.push_back({pair.Text("name"), pair.Text("value")});
    if (auto ok = pair.Check(); !ok) return ok;
  }
  exec.install_hint = members.Text("installHint");
  exec.provide_cluster_info = members.Flag("provideClusterInfo");
  using Mode = rest::ExecConfig::InteractiveMode;
  const std::string mode = members.Text("interactiveMode");
  if (mode == "Never") {
    exec.interactive_mode = Mode::kNever;
  } else if (mode == "Always") {
    exec.interactive_mode = Mode::kAlways;
  } else if (mode == "IfAvailable" || (mode.empty() && exec.api_version.ends_with("/v1beta1"))) {
    exec.interactive_mode = Mode::kIfAvailable;
  } else {
    members.FaultAtKey("interactiveMode", "interactiveMode: expected Never, IfAvailable or Always, found " +
                                              (mode.empty() ? "nothing" : Quoted(mode)));
  }
  if (auto ok = CheckExec(exec); !ok) members.FaultHere(ok.error().message());
  return members.Check();
}

Result<void> ApplyCluster(const KubeconfigEntry& cluster, rest::Config& config) {
  Members members(cluster, "cluster");
  config.host = members.Text("server");
  if (config.host.empty()) members.FaultHere("\"server\" is missing");
  members.RefuseBoth("certificate-authority", "certificate-authority-data");
  config.tls.ca_data = members.Base64("certificate-authority-data");
  config.tls.ca_file = members.Path("certificate-authority");
  config.tls.insecure_skip_verify = members.Flag("insecure-skip-tls-verify");
  if (config.tls.insecure_skip_verify &&
      (members.Has("certificate-authority") || members.Has("certificate-authority-data"))) {
    members.FaultAtKey("insecure-skip-tls-verify",
                       "\"insecure-skip-tls-verify\" and a certificate authority cannot both be set");
  }
  config.tls.server_name = members.Text("tls-server-name");
  config.proxy_url = members.Text("proxy-url");
  if (!config.proxy_url.empty()) {
    if (auto proxy = net::ParseProxy(config.proxy_url, "proxy-url"); !proxy) {
      members.FaultAtKey("proxy-url", proxy.error().message());
    }
  }
  config.exec.cluster_config = ExecExtension(members);
  if (auto ok = members.Check(); !ok) return ok;
  if (Result<net::ServerUrl> url = net::ParseServerUrl(config.host, config.tls); !url) {
    members.FaultAtKey("server", url.error().message());
  }
  return members.Check();
}

Result<void> ApplyUser(const KubeconfigEntry& user, rest::Config& config) {
  Members members(user, "user");
  // These entries determine the identity of the user, so fail instead of silently acting as another user.
  members.Refuse("auth-provider", "auth-provider credentials are not supported; servers replaced them by exec plugins");
  members.Refuse("username", "basic authentication is not supported");
  members.Refuse("password", "basic authentication is not supported");
  for (const std::string_view key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    members.Refuse(key, "impersonation is not supported yet");
  }
  members.RefuseBoth("client-certificate", "client-certificate-data");
  members.RefuseBoth("client-key", "client-key-data");
  config.tls.certificate_data = members.Base64("client-certificate-data");
  config.tls.certificate_file = members.Path("client-certificate");
  config.tls.key_data = members.Base64("client-key-data");
  config.tls.key_file = members.Path("client-key");
  config.bearer_token = members.Text("token");
  config.bearer_token_file = members.Path("tokenFile");
  const bool certificate = members.Has("client-certificate") || members.Has("client-certificate-data");
  const bool key = members.Has("client-key") || members.Has("client-key-data");
  if (certificate && !key)
    members.FaultHere("there is a client certificate, but no \"client-key\" or \"client-key-data\"");
  if (key && !certificate)
    members.FaultHere("there is a client key, but no \"client-certificate\" or \"client-certificate-data\"");
  const std::optional<KubeconfigEntry> exec = members.Nested("exec");
  if (auto ok = members.Check(); !ok || !exec) return ok;
  return ApplyExec(*exec, config.exec);
}

// Removes the credentials, because secrets must not be sent over a connection without TLS.
void DropCredentials(rest::Config& config) {
  config.bearer_token.clear();
  config.bearer_token_file.clear();
  config.tls.certificate_data.clear();
  config.tls.certificate_file.clear();
  config.tls.key_data.clear();
  config.tls.key_file.clear();
  config.exec = {};
}

}  // namespace

Result<void> Kubeconfig::Add(std::string path, std::string text) {
  auto stream = yaml::Parse(std::move(text));
  if (!stream) {
    const yaml::SyntaxError& error = stream.error();
    std::string message = At(path, error.mark) + ": " + error.message;
    if (!error.hint.empty()) message += " (" + error.hint + ")";
    return Fail(Code::kConfig, message);
  }
  std::vector<KubeconfigFile> holder;
  holder.push_back({std::move(path), *std::move(stream)});
  files_.push_back(std::move(holder));
  const KubeconfigFile& file = files_.back().front();
  const auto documents = file.stream.documents();
  if (documents.empty()) return {};
  if (documents.size() > 1)
    return Wrong(file, documents[1].mark(), "a kubeconfig must be one document; a second one begins here");
  return AddDocument(file, documents[0]);
}

Result<void> Kubeconfig::AddDocument(const KubeconfigFile& file, const yaml::Node& document) {
  if (document.is_null()) return {};
  if (!document.is_map()) {
    return Wrong(file, document.mark(), "expected a map, found " + std::string(yaml::Describe(document.kind())));
  }
  const auto expect = [&](std::string_view key, std::string_view value) -> Result<void> {
    const yaml::Node* node = document.Find(key);
    if (node == nullptr || node->is_null() || node->text() == value || (node->is_string() && node->text().empty()))
      return {};
    return Wrong(file, node->mark(),
                 std::string(key) + ": expected " + Quoted(value) + ", found " + Quoted(node->text()));
  };
  if (auto ok = expect("kind", "Config"); !ok) return ok;
  if (auto ok = expect("apiVersion", "v1"); !ok) return ok;
  if (auto ok = AddList(file, document, "clusters", "cluster", clusters_); !ok) return ok;
  if (auto ok = AddList(file, document, "users", "user", users_); !ok) return ok;
  if (auto ok = AddList(file, document, "contexts", "context", contexts_); !ok) return ok;
  const yaml::Node* current = document.Find("current-context");
  if (current == nullptr || current->is_null()) return {};
  if (!current->is_scalar()) return Wrong(file, current->mark(), "current-context: expected text");
  if (current_context_.empty() && !current->text().empty()) {
    current_context_ = current->text();
    current_context_at_ = At(file.path, current->mark());
  }
  return {};
}

Result<void> Kubeconfig::AddList(const KubeconfigFile& file, const yaml::Node& document, std::string_view list,
                                 std::string_view member, Entries& entries) {
  const yaml::Node* node = document.Find(list);
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_list()) {
    return Wrong(file, node->mark(),
                 std::string(list) + ": expected a list, found " + std::string(yaml::Describe(node->kind())));
  }
  static const yaml::Node kNothing{};
  std::vector<std::pair<std::string_view, yaml::Mark>> seen;
  for (const yaml::Node& item : node->items()) {
    if (!item.is_map()) {
      return Wrong(file, item.mark(),
                   std::string(list) + ": expected a map, found " + std::string(yaml::Describe(item.kind())));
    }
    const yaml::Node* name = item.Find("name");
    if (name == nullptr || !name->is_scalar() || name->text().empty()) {
      return Wrong(file, name != nullptr ? name->mark() : item.mark(), std::string(list) + ": an entry has no name");
    }
    const auto before = std::ranges::find(seen, name->text(), &std::pair<std::string_view, yaml::Mark>::first);
    if (before != seen.end()) {
      return Wrong(file, name->mark(),
                   std::string(list) + ": " + Quoted(name->text()) + " appears twice, first at " +
                       std::to_string(before->second.line) + ':' + std::to_string(before->second.column));
    }
    seen.emplace_back(name->text(), name->mark());
    const yaml::Node* value = item.Find(member);
    if (value != nullptr && !value->is_map() && !value->is_null()) {
      return Wrong(file, value->mark(),
                   std::string(member) + " " + Quoted(name->text()) + ": expected a map, found " +
                       std::string(yaml::Describe(value->kind())));
    }
    if (FindEntry(entries, name->text()) == nullptr)
      entries.push_back({name->text(), value != nullptr ? value : &kNothing, &file});
  }
  return {};
}

std::string Kubeconfig::Paths() const {
  std::string paths;
  for (const auto& file : files_) paths += (paths.empty() ? "" : ", ") + file.front().path;
  return paths;
}

Result<rest::Config> Kubeconfig::Resolve(std::string_view name) const {
  const bool asked = !name.empty();
  if (!asked) name = current_context_;
  if (name.empty()) {
    return Fail(Code::kConfig,
                Paths() + ": no current-context is set, and no context was given; there are " + Names(contexts_));
  }
  const KubeconfigEntry* context = FindEntry(contexts_, name);
  if (context == nullptr) {
    return Fail(Code::kConfig, (asked ? Paths() : current_context_at_) + ": there is no context " + Quoted(name) +
                                   "; there are " + Names(contexts_));
  }
  Members members(*context, "context");
  const std::string cluster_name = members.Text("cluster");
  const std::string user_name = members.Text("user");
  rest::Config config;
  config.namespace_ = members.Text("namespace");
  if (!config.namespace_.empty() && !detail::IsDnsLabel(config.namespace_)) {
    members.FaultAtKey("namespace", Quoted(config.namespace_) + " is not a valid namespace");
  }
  if (cluster_name.empty()) members.FaultHere("\"cluster\" is missing");
  const KubeconfigEntry* cluster = FindEntry(clusters_, cluster_name);
  const KubeconfigEntry* user = FindEntry(users_, user_name);
  if (cluster == nullptr) {
    members.FaultAtKey("cluster", "there is no cluster " + Quoted(cluster_name) + "; there are " + Names(clusters_));
  }
  if (user == nullptr && !user_name.empty()) {
    members.FaultAtKey("user", "there is no user " + Quoted(user_name) + "; there are " + Names(users_));
  }
  if (auto ok = members.Check(); !ok) return Fail(ok.error());
  if (auto ok = ApplyCluster(*cluster, config); !ok) return Fail(ok.error());
  if (user != nullptr) {
    if (auto ok = ApplyUser(*user, config); !ok) return Fail(ok.error());
  }
  Result<net::ServerUrl> url = net::ParseServerUrl(config.host, config.tls);
  if (!url) return Fail(url.error());
  if (!url->tls) DropCredentials(config);
  config.host = url->origin + url->base_path;
  return config;
}

}  // namespace kgen::client
