// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// rest::Config: the address of the API server and the credentials, from a kubeconfig or from inside a pod.
//
//   auto config = kgen::rest::LoadConfig();        // $KUBECONFIG, ~/.kube/config, in-cluster, in this order
//   auto config = kgen::rest::LoadConfig({.kubeconfig = "/etc/admin.conf", .context = "staging"});
#ifndef KGEN_CLIENT_CONFIG_H_
#define KGEN_CLIENT_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/tracer.h"
#include "kgen/net/tls_config.h"

namespace kgen::rest {

// A credential plugin, such as kubelogin or the plugin of a cloud provider: the program under `exec` of a kubeconfig's
// user. The plugin runs when a request needs a credential, once for all waiting requests, and again when the credential
// has expired or a server responded with 401; such a request is then sent a second time. It is killed when no request
// waits for it any more, and after five minutes unless it uses the terminal. Connections opened after it returned a
// client certificate use that certificate, as with replaced certificate files.
//
// Connections with an equal plugin (and, with provide_cluster_info, for the same server) share its runs and the
// credential. The plugin inherits the environment and the working directory. If it fails, its standard error becomes
// part of the error. What it writes while it waits, such as the code to enter in a browser, goes to the terminal if it
// reads from there, and otherwise to Observer::OnLogged as a warning, as does what a successful run has written. The
// values of `env` and of arguments whose names suggest a secret are hidden in both.
struct ExecConfig {
  // Whether the program may use the terminal, as in a kubeconfig.
  enum class InteractiveMode : std::uint8_t { kNever, kIfAvailable, kAlways };
  // A variable of the environment of the program.
  struct Variable {
    std::string name;  // as in the environment: "AWS_PROFILE"
    std::string value;
    friend bool operator==(const Variable&, const Variable&) = default;
  };

  std::string api_version{};  // "client.authentication.k8s.io/v1" or ".../v1beta1"
  std::string command{};  // looked up in PATH, but not in its relative folders, unless it holds a '/'; "": no plugin
  std::vector<std::string> args{};
  std::vector<Variable> env{};
  std::string install_hint{};         // shown when the command cannot be started
  bool provide_cluster_info = false;  // passes the server and its CA to the plugin
  std::string cluster_config{};       // a JSON value for the plugin, with provide_cluster_info
  // Whether the plugin reads standard input. With kIfAvailable it does if standard input is a terminal.
  InteractiveMode interactive_mode = InteractiveMode::kIfAvailable;
  bool stdin_unavailable = false;  // this program reads standard input itself

  friend bool operator==(const ExecConfig&, const ExecConfig&) = default;
};

// Everything that a Connection is made from. It is a plain value; equal configs share one connection.
struct Config {
  // Default: "localhost". "https://10.0.0.1:6443", optionally with a path prefix. Without a scheme, https is used if a
  // CA, a client certificate or `insecure` is set, and http otherwise.
  std::string host{};
  TlsConfig tls{};                  // Default: the CAs of the system, and no client certificate.
  std::string bearer_token{};       // Default: none.
  std::string bearer_token_file{};  // Default: none. Read again when it may have changed (every minute).
  ExecConfig exec{};  // Default: none. Not used if there is a token, a token file or a client certificate.
  // Default: the environment decides when the connection is opened: HTTPS_PROXY for https:// hosts and HTTP_PROXY for
  // http:// ones, but not for localhost, loopback addresses and the names in NO_PROXY; lower-case names work too.
  // "http://user:password@proxy:3128" is the proxy for every connection, by CONNECT. User and password are
  // percent-encoded and appear in no message. https:// and SOCKS proxies are refused with kConfig.
  std::string proxy_url{};
  std::string user_agent{};  // Default: "<program>/kgen".
  std::string namespace_{};  // Default: "default". The namespace of the context.
  // Default: true. Informers of built-in kinds ask for protobuf, which costs less to decode than JSON; a server that
  // has none sends JSON. An informer that receives protobuf which it cannot decode without loss, as from a server with
  // newer types, tells the observer and asks for JSON from then on. All other requests use JSON.
  bool protobuf = true;

  // Limits. Connection::Open() refuses zero and less with kConfig.
  std::optional<double> qps{};     // Default: no limit here, because the server has priority and fairness. Per second.
  std::optional<int> burst{};      // Default: as many as in one second, at least one. With qps: how many at once.
  std::optional<Nanos> timeout{};  // Default: none, as with kgen::kNoLimit. Of each request except watches.

  Shared<Observer> observer{};  // Default: warnings go to standard error. NullObserver() for silence.
  Shared<Executor> executor{};  // Default: DefaultExecutor().
  Shared<Tracer> tracer{};      // Default: none, and no header `traceparent`.

  // Returns everything except secrets, in one line.
  std::string ToString() const;
};

// Where LoadConfig() looks.
struct LoadOptions {
  std::string kubeconfig{};  // a file; "": $KUBECONFIG (a list of files, merged), then ~/.kube/config, then in-cluster
  std::string context{};     // "": current-context
};

// Loads the configuration as kubectl does, or from inside a pod. Reads files, so it may block: do not call it in posted
// work of an executor.
// Errors: kConfig  a file that was named but cannot be read; bad YAML (file:line:column); a context, cluster or user
//                  that does not exist; a credential that is not supported (auth-provider), by name;
//                  no config at all (the message lists what was tried, where, and why it failed)
Result<Config> LoadConfig(const LoadOptions& options = {});

// Loads the configuration from the service account of the pod.
// Errors: kConfig  not in a cluster, or the token cannot be read
Result<Config> InClusterConfig();

}  // namespace kgen::rest

#endif  // KGEN_CLIENT_CONFIG_H_
