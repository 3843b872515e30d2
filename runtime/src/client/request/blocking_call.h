// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The blocking form of a call: starts the asynchronous call and waits for its result.
#ifndef KGEN_SRC_CLIENT_REQUEST_BLOCKING_CALL_H_
#define KGEN_SRC_CLIENT_REQUEST_BLOCKING_CALL_H_

#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "client/request/connection_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/core/waiter.h"

namespace kgen::client {

// What a blocking call waits for. The caller holds no reference to the operation. So, when the executor is shut down
// and drops the operation, it is destroyed, and the caller is notified instead of waiting forever.
template <typename Op>
struct Slot : SharedObject {
  explicit Slot(Shared<Waiter> w) : waiter(std::move(w)) {}

  void Cancel() noexcept {
    Shared<Op> held;
    {
      const MutexLock lock(mutex);
      if (operation != nullptr) held = Shared<Op>::TryAdd(operation);
    }
    if (held) held->Cancel();
  }
  void Take(Result<typename Op::Answer> answer) {
    {
      const MutexLock lock(mutex);
      operation = nullptr;
    }
    result.emplace(std::move(answer));
    waiter->Notify();
  }

  const Shared<Waiter> waiter;
  std::optional<Result<typename Op::Answer>> result;  // written once, before the waiter is notified
  Mutex mutex;
  Op* operation KGEN_GUARDED_BY(mutex) = nullptr;  // until it has a result or is destroyed
};

// Fills a Slot, at the latest when it is destroyed.
template <typename Op>
class Answerer {
 public:
  explicit Answerer(Shared<Slot<Op>> slot) : slot_(std::move(slot)) {}
  Answerer(Answerer&&) noexcept = default;
  Answerer& operator=(Answerer&&) = delete;
  ~Answerer() {
    if (slot_) slot_->Take(Fail(Code::kCancelled, "the executor has been shut down"));
  }
  void operator()(Result<typename Op::Answer> result) { std::exchange(slot_, {})->Take(std::move(result)); }

 private:
  Shared<Slot<Op>> slot_;
};

template <typename Op, typename... More>
Shared<Op> MakeCall(const Shared<ConnectionState>& connection, ApiRequest request, typename Op::Done done,
                    More&... more) {
  Shared<Strand> strand = connection->executor->MakeStrand(request.what.empty() ? request.path : request.what);
  return MakeShared<Op>(connection, std::move(request), std::move(strand), std::move(done), more...);
}

// Blocks until the call has ended. `more` are further arguments of the operation's constructor.
template <typename Op, typename... More>
Result<typename Op::Answer> CallAndWait(const Connection& connection, ApiRequest request, std::stop_token stop,
                                        More&... more) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const std::string what = request.what.empty() ? request.method + ' ' + request.path : request.what;
  Executor& executor = connection.executor();
  if (executor.InPostedTask()) {
    return Fail(Error(Code::kInvalidArgument,
                      "a blocking call on a thread that runs posted tasks; use the Async form, or Executor::Blocking")
                    .With(what));
  }
  if (!stop.stop_possible()) stop = connection.stop();
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "stopped before it was sent").With(what));
  auto slot = MakeShared<Slot<Op>>(executor.MakeWaiter(what));
  {
    const auto call = MakeCall<Op>(ConnectionState::Of(connection), std::move(request), Answerer<Op>(slot), more...);
    {
      const MutexLock lock(slot->mutex);
      slot->operation = call.get();
    }
    call->Begin();
  }
  if (Result<void> waited = slot->waiter->Wait(std::move(stop)); !waited) {
    slot->Cancel();
    // The result of the cancelled call describes how far it got.
    if (waited.error().code() != Code::kCancelled || !slot->waiter->Wait()) return Fail(waited.error().With(what));
  }
  return *std::move(slot->result);
}

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_BLOCKING_CALL_H_
