// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Load: clients that use CronJobs in both versions for as long as it lives, so that the API server calls every webhook
// all the time.
#ifndef KGEN_TESTS_INTEGRATION_WEBHOOKS_LOAD_H_
#define KGEN_TESTS_INTEGRATION_WEBHOOKS_LOAD_H_

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kgen/client/connection.h"

namespace kgen::integration {

// Thread safety: all members from any thread, End() once.
class Load {
 public:
  explicit Load(const Connection& connection, int threads = 2);
  ~Load() { End(); }
  // Waits until each thread has begun and ended `count` rounds. False: that takes more than two minutes.
  bool Passes(int count) const;
  // Ends it. Returns what failed: requests, and answers that are not what they should be.
  std::vector<std::string> End();
  // How long the slowest request has taken.
  std::chrono::milliseconds slowest() const { return std::chrono::milliseconds(slowest_); }

 private:
  struct Worker {
    std::atomic<int> rounds = 0;
    std::jthread thread;  // the last member, so that it ends first
  };

  void Round(const std::string& name);
  // Sends a request, and notes how long it takes and whether it fails.
  template <typename Call>
  auto Timed(Call call);
  void Note(std::string failure);

  const Connection connection_;
  std::atomic<std::chrono::milliseconds::rep> slowest_ = 0;
  std::mutex mutex_;
  std::vector<std::string> failures_;  // guarded by mutex_
  std::vector<Worker> workers_;
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_WEBHOOKS_LOAD_H_
