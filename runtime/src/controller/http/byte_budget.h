// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ByteBudget: the memory that the requests of a port hold together. Requests that are read in part wait for room, and
// never for one another without an end.
//
// What a request may still need is known from its head. A share grows only if, afterwards, there is an order in which
// all requests that are being read can become complete, each with what is free and what the ones before it give back
// (the banker's algorithm). So a large request that arrives slowly keeps no small one out, and two large ones are read
// one after the other.
#ifndef KGEN_SRC_CONTROLLER_HTTP_BYTE_BUDGET_H_
#define KGEN_SRC_CONTROLLER_HTTP_BYTE_BUDGET_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// Thread safety: all members from any thread. None blocks.
class ByteBudget final : public SharedObject {
 public:
  // What one request holds; nothing after its end.
  class Share final : public SharedObject {
   public:
    // `most` is what the request may need to be complete, at most the budget.
    Share(Shared<ByteBudget> budget, std::size_t most);
    ~Share() override { Set(0); }

    // Whether the request may hold `bytes` while it is being read. If so, it does.
    bool Grow(std::size_t bytes);
    // The request is complete, or its answer took its place. Always possible: an answer is there before its size is
    // known.
    void Set(std::size_t bytes) noexcept;

   private:
    friend class ByteBudget;
    const Shared<ByteBudget> budget_;
    const std::size_t most_;
    // Guarded by the budget's mutex.
    std::size_t held_ = 0;
    bool reads_ = false;  // it is in `reading_`
  };

  explicit ByteBudget(std::size_t limit) : limit_(limit) {}

  // `call` is called, on any thread and without a lock, when there is more room after a share could not grow. It must
  // not throw anything but std::bad_alloc. Replaces the call before; an empty one ends the calls.
  void OnRoom(std::function<void()> call);
  std::size_t held() const;

 private:
  bool CanAllComplete() const KGEN_REQUIRES(mutex_);
  void TellOfRoom() noexcept;

  const std::size_t limit_;
  mutable Mutex mutex_;
  std::function<void()> on_room_ KGEN_GUARDED_BY(mutex_);
  bool short_ KGEN_GUARDED_BY(mutex_) = false;  // a share could not grow since the last call
  std::size_t held_ KGEN_GUARDED_BY(mutex_) = 0;
  std::vector<Share*> reading_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_HTTP_BYTE_BUDGET_H_
