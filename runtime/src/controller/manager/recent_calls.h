// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RecentCalls: the last calls of one reconcile function, for /debug.
#ifndef KGEN_SRC_CONTROLLER_MANAGER_RECENT_CALLS_H_
#define KGEN_SRC_CONTROLLER_MANAGER_RECENT_CALLS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/controller/controller.h"
#include "kgen/controller/request.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// Hexadecimal digits.
using RequestId = std::array<char, 16>;

// A call that has ended. Of an error it has the code alone: messages may quote the object.
struct PastCall {
  ObjectKey key{};
  RequestId id{};
  std::vector<RequestReason> reasons{};
  std::size_t merged = 0;  // events, of which `reasons` are the first
  TimePoint ended{};
  Nanos took{};
  Requeue requeue = Requeue::Done();
  std::optional<Code> error{};
  bool terminal = false;
  bool timed_out = false;
};

// Thread safety: all members from any thread. Never blocks. Add() allocates nothing.
class RecentCalls final : public SharedObject {
 public:
  static constexpr std::size_t kMost = 10;

  void Add(PastCall call) noexcept;
  std::vector<PastCall> Read() const;  // newest first
  std::uint64_t calls() const;         // that were ever added
  std::uint64_t failed() const;        // of these, with an error

 private:
  mutable Mutex mutex_;
  std::array<PastCall, kMost> calls_ KGEN_GUARDED_BY(mutex_);
  std::uint64_t added_ KGEN_GUARDED_BY(mutex_) = 0;
  std::uint64_t failed_ KGEN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_RECENT_CALLS_H_
