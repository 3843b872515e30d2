// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One API request on its way: limiter, token, attempts, time limit. Calls and streams differ in what they do with the
// answer.
//
//   Begin --> limiter --> token --> transport --> OnHead, OnBytes..., OnEnd --> End, or Again
//
// Everything but Begin() and Cancel() happens on the strand, so that nothing here is locked. What the transport says of
// an attempt that is over, or after End(), goes nowhere. An exception that leaves a task of the operation (no memory, a
// sink of the user that throws) ends it with an error, so that no caller waits for a response that cannot come any
// more.
#ifndef KGEN_SRC_CLIENT_OPERATION_H_
#define KGEN_SRC_CLIENT_OPERATION_H_

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/connection_core.h"
#include "kgen/client/connection.h"
#include "kgen/client/transport.h"

namespace kgen::client {

class Operation : public SharedObject {
 public:
  void Begin();  // once
  // Fails with kCancelled soon; nothing is delivered from now on. Any thread, idempotent.
  void Cancel() noexcept;

 protected:
  Operation(Shared<ConnectionCore> core, ApiRequest request, Shared<Strand> strand);

  // The answer to the attempt under way, on the strand. Credit for the bytes goes back when OnBytes returns, unless the
  // operation keeps it.
  virtual void OnHead(HttpHead head) = 0;
  virtual void OnBytes(std::string bytes) = 0;
  virtual void OnEnd(HttpEnd end) = 0;
  // Cancelled, out of time, no token, or an exception: OnEnd does not come. On the strand. Calls End().
  virtual void OnFailed(Error error) = 0;

  // Collects the body of a refusal up to a bound. False when the bound is reached.
  bool CollectRefusal(std::string_view bytes);
  // The Error of the answer that was collected; a 401 makes a token file be read again.
  Error RefusalOf(const HttpHead& head);
  // Why a 2xx response is not the requested JSON or text; `body` may be its beginning.
  std::optional<Error> NotAsAsked(const HttpHead& head, std::string_view body) const;
  // The same failure, seen from outside: "get pods default/web-0: ...".
  Error Describe(const Error& error) const { return error.With(request_.what); }

  // Another attempt after `delay`, because the last one failed by `why`. False if the time limit would pass before.
  bool Again(Nanos delay, const Error& why);
  // After the refusal `why`: whether another attempt is under way, with a new credential of the plugin. Once.
  bool AgainWithNewCredential(const HttpHead& head, const Error& why);
  // The rest of the answer has no deadline: a watch is open.
  void StopTimeLimit() noexcept {
    deadline_.reset();
    time_limit_.Cancel();
  }
  // Nothing comes any more; what was under way at the transport is given up.
  void End() noexcept;
  // Credit that was kept.
  void Consume(std::size_t bytes) noexcept;

  bool ended() const noexcept { return ended_; }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
  const ApiRequest& request() const noexcept { return request_; }
  ConnectionCore& core() const noexcept { return *core_; }
  // Calls task(*this) on the strand; keeps the operation until then.
  template <typename Task>
  void PostSelf(Task task) {
    core_->executor->Post(strand_, [self = Shared<Operation>(this), task = std::move(task)]() mutable {
      try {
        task(*self);
      } catch (...) {
        if (self->ended_) throw;  // from the callback for the end: the executor reports it
        self->OnFailed(self->FailureOfException());
      }
    });
  }

  bool keeps_credit_ = false;

 private:
  class Sink;
  void Throttle(bool exempt);
  void Authorize();
  void OnToken(Result<std::string> token);
  void OnCredential(ExecCredentials::Answer credential);
  void Attempt(const std::string& token);
  void StartTimeLimit(TimePoint from, Nanos limit);
  void OnTimeLimit();
  void TellWarnings(const HttpHead& head) const;
  Nanos TimeLimit() const noexcept;
  std::string LastAttempt() const;   // its failure, to be appended to a message
  Error FailureOfException() const;  // in a catch block
  // Fails with `error`, to which the transport adds how far the attempt under way had come.
  void GiveUp(Error error);
  HttpRequest Compose(const std::string& token) const;
  void Deliver(int attempt, std::string bytes);

  const Shared<ConnectionCore> core_;
  ApiRequest request_;
  const Shared<Strand> strand_;
  Shared<Exchange> exchange_{};
  Timer pause_{};  // limiter or retry
  Timer time_limit_{};
  std::optional<TimePoint> deadline_{};
  TimePoint attempt_started_{};
  int attempt_ = 0;
  std::optional<Error> last_failure_{};  // of the attempt before this one
  std::string refusal_{};
  std::optional<Error> given_up_{};             // by GiveUp(), until the transport has ended the exchange
  Shared<ExecCredentials::Waiting> waiting_{};  // for a credential
  Shared<const Credential> credential_{};       // of the attempt under way, if a plugin gave it
  bool refreshed_ = false;                      // after a 401
  bool ended_ = false;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_OPERATION_H_
