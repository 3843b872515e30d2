// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real API server of the integration tests: its kubeconfig, its kubectl, and functions that kill and start it.
// `./dev integration` starts it (tests/integration/apiserver) and passes its addresses in the environment.

#ifndef KGEN_TESTS_INTEGRATION_REAL_API_SERVER_H_
#define KGEN_TESTS_INTEGRATION_REAL_API_SERVER_H_

#include <string>
#include <string_view>

namespace kgen::integration {

// All calls block. If the control endpoint does not answer, they abort the test program with a message, since no test
// can continue. Stateless; may be used from any thread.
class RealApiServer {
 public:
  // False outside of `./dev integration`; tests then call GTEST_SKIP().
  static bool Present();

  // A kubeconfig file with the contexts "token" (the current one) and "certificate", both cluster admins, and "reader"
  // and "reader-certificate", one user ("kgen-reader") without any rights until a test grants some.
  static std::string Kubeconfig();

  // Kills API server and etcd with SIGKILL. Their data stays. Returns when the process is gone.
  static void Kill();

  // Starts the killed server on the same ports and data. Returns when /readyz says ok.
  static void Start();

  // Kill and Start. With `compact`, etcd is compacted before the API server reads it, so every watch from an older
  // resource version ends with a 410.
  static void Restart(bool compact = false);

  // Restarts the server with or without its watch cache. Without it, watches are served from etcd, and Compact() alone
  // causes the 410. Stays in force until the next call.
  static void RestartWithWatchCache(bool enabled);

  // Restarts the server with more flags of kube-apiserver, separated by spaces:
  // "--feature-gates=ShardedListAndWatch=true". They stay in force until the next call.
  static void RestartWithFlags(std::string_view flags);

  // Makes etcd forget every revision before the newest. A watch from the revision before the newest still works, since
  // the first event that it asks for is kept.
  static void Compact();

  // Copies etcd's data. Kills the server for it and starts it again.
  static void Save();

  // Kills the server and restores the copy of Save(), so that later writes are lost. Call Start() afterwards.
  static void Restore();

  // Runs kubectl with these arguments, which a shell splits, and returns its standard output and standard error.
  static std::string Kubectl(std::string_view arguments);
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_REAL_API_SERVER_H_
