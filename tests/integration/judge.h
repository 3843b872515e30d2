// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real API server of the integration tests, as a test sees it: its kubeconfig, its kubectl, and the switch to kill
// it. `./dev integration` starts it (tests/integration/apiserver) and passes its addresses in the environment.

#ifndef KGEN_TESTS_INTEGRATION_JUDGE_H_
#define KGEN_TESTS_INTEGRATION_JUDGE_H_

#include <string>
#include <string_view>

namespace kgen::integration {

// All calls block, and end the test program with a message when the control endpoint does not answer: then no test can
// go on. Stateless; may be used from any thread.
class Judge {
 public:
  // False outside `./dev integration`. Tests then say GTEST_SKIP().
  static bool Present();

  // A kubeconfig file with the contexts "token" (the current one) and "certificate", which may do everything, and
  // "reader", a user who may do nothing until a test allows it.
  static std::string Kubeconfig();

  // SIGKILL to API server and etcd. What was written stays. Returns when the process is gone.
  static void Kill();

  // Starts the killed server on the same ports and data. Returns when /readyz says ok.
  static void Start();

  // Kill and Start. With `compact`, etcd has forgotten all history before the API server reads it, so every watch from
  // an older resource version ends in a 410.
  static void Restart(bool compact = false);

  // With false, the server starts again and answers watches from etcd instead of its own cache: then Compact() alone
  // brings the 410. Stays in force until it is called again.
  static void RestartWithWatchCache(bool enabled);

  // etcd forgets every revision before the newest. A watch from the revision before the newest still works: the first
  // thing that it asks for is kept.
  static void Compact();

  // Copies etcd's data; kills the server for it and starts it again.
  static void Save();

  // Kills the server and puts the copy of Save() back: what was written since has never happened. Start() follows.
  static void Restore();

  // Runs kubectl with these arguments (words for the shell) and returns what it printed, both streams.
  static std::string Kubectl(std::string_view arguments);
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_JUDGE_H_
