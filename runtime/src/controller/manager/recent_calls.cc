// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/manager/recent_calls.h"

#include <algorithm>
#include <utility>

namespace kgen::controller {

void RecentCalls::Add(PastCall call) noexcept {
  const MutexLock lock(mutex_);
  if (call.error) ++failed_;
  std::swap(calls_[added_++ % kMost], call);  // the old one is freed without the lock
}

std::vector<PastCall> RecentCalls::Read() const {
  std::vector<PastCall> calls;
  const MutexLock lock(mutex_);
  for (std::size_t back = 1; back <= std::min<std::uint64_t>(added_, kMost); ++back)
    calls.push_back(calls_[(added_ - back) % kMost]);
  return calls;
}

std::uint64_t RecentCalls::calls() const {
  const MutexLock lock(mutex_);
  return added_;
}

std::uint64_t RecentCalls::failed() const {
  const MutexLock lock(mutex_);
  return failed_;
}

}  // namespace kgen::controller
