// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Where the API server is and who we are: rest::Config, from a kubeconfig or from inside a pod.
//
//   auto config = kgen::rest::LoadConfig();        // $KUBECONFIG, ~/.kube/config, in-cluster, in this order
//   auto config = kgen::rest::LoadConfig({.kubeconfig = "/etc/admin.conf", .context = "staging"});
#ifndef KGEN_CLIENT_CONFIG_H_
#define KGEN_CLIENT_CONFIG_H_

#include <string>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::rest {

// Data wins over the file of the same name. PEM. Files may be replaced while a connection lives: they are read by
// Connection::Open(), before every TCP connection, with a request when the last look was a minute ago, and after a 401.
// Once their content has changed, new requests go over a new TCP connection, requests under way end on the old one, and
// watches end as if the server had ended them. What cannot be read or used is passed over. [CLI CFG-10, TRN-10, TRN-11]
struct TlsConfig {
  std::string ca_data{};
  std::string ca_file{};  // neither: the system's roots
  std::string certificate_data{};
  std::string certificate_file{};
  std::string key_data{};
  std::string key_file{};
  std::string server_name{};  // for SNI and the check of the name, if it is not the host
  bool insecure_skip_verify = false;
};

// All that a Connection is made from. A plain value; equal configs share one connection.
//
// Proxies are not supported: HTTPS_PROXY, HTTP_PROXY and NO_PROXY have no effect. Where no connection comes about and
// one of the first two is set, the error says so. [CLI TRN-12]
struct Config {
  std::string host{};  // "https://10.0.0.1:6443" or with a path prefix; without a scheme as in [CLI CFG-1]
  TlsConfig tls{};
  std::string bearer_token{};
  std::string bearer_token_file{};  // read again when it may have changed (every minute), for rotated tokens
  std::string user_agent{};         // "": "<program>/kgen"
  std::string namespace_{};         // of the context; "" means "default"
  double qps = 0;                   // requests a second; 0: no limit on our side (the server has priority and fairness)
  int burst = 0;                    // with qps: how many at once; 0: what one second brings
  Nanos timeout{};                  // of each request but watches; 0: none

  Shared<Observer> observer{};  // null: warnings go to standard error; NullObserver() for silence
  Shared<Executor> executor{};  // null: DefaultExecutor()

  // Everything but secrets, in one line. [CLI CFG-8]
  std::string ToString() const;
};

struct LoadOptions {
  std::string kubeconfig{};  // a file; "": $KUBECONFIG (a list of files, merged), then ~/.kube/config, then in-cluster
  std::string context{};     // "": current-context
};

// Reads files, so it may block; not for use on an executor's posted task.
// Errors: kConfig  a file that was named but cannot be read; bad YAML (file:line:column); a context, cluster or user
//                  that is referred to and not there; a credential that is not supported (exec, auth-provider), by
//                  name; nothing found at all (the message lists what was tried, where, and why it failed)
Result<Config> LoadConfig(const LoadOptions& options = {});

// From the service account of the pod. [CLI CFG-7]
// Errors: kConfig  not in a cluster, or the token cannot be read
Result<Config> InClusterConfig();

}  // namespace kgen::rest

#endif  // KGEN_CLIENT_CONFIG_H_
