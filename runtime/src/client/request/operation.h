// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Operation: one API request, with its limiter, token, attempts and time limit. Calls and streams differ in what they
// do with the response.
//
//   Begin --> limiter --> token --> transport --> OnHead, OnBytes..., OnEnd --> End, or Again
//
// Everything but Begin() and Cancel() runs on the strand, so nothing here is locked. Events of the transport for an
// earlier attempt, or after End(), are ignored. An exception that leaves a task of the operation (out of memory, or
// thrown by a sink of the user) ends the operation with an error, so that no caller waits for a response that can no
// longer come.
#ifndef KGEN_SRC_CLIENT_REQUEST_OPERATION_H_
#define KGEN_SRC_CLIENT_REQUEST_OPERATION_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/request/connection_state.h"
#include "client/request/errors.h"
#include "client/request/request_log.h"
#include "core/observers/open_span.h"
#include "kgen/client/connection.h"
#include "kgen/net/transport.h"

namespace kgen::client {

class Operation : public SharedObject {
 public:
  void Begin();  // once
  // Soon ends the operation with kCancelled. Nothing is delivered from now on. Any thread, idempotent.
  void Cancel() noexcept;

 protected:
  Operation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand);

  // The response to the current attempt, on the strand. The credit for the bytes is returned when OnBytes returns,
  // unless the operation keeps it.
  virtual void OnHead(HttpHead head) = 0;
  virtual void OnBytes(std::string bytes) = 0;
  virtual void OnEnd(HttpEnd end) = 0;
  // Called on the strand instead of OnEnd if the operation was cancelled or ran out of time, for want of a token, or
  // after an exception. Must call End().
  virtual void OnFailed(Error error) = 0;

  // Collects the body of an error response up to a limit. Returns false when the limit is reached.
  bool CollectRefusal(std::string_view bytes);
  // Returns the Error for the collected response. After a 401, a token file is read again.
  Error RefusalOf(const HttpHead& head);
  // Returns why a 2xx response is not the requested JSON or text, or nothing if it is. `body` may be its beginning.
  std::optional<Error> NotAsAsked(const HttpHead& head, std::string_view body) const;
  // Adds the name of the request to an error: "get pods default/web-0: ...".
  Error Describe(const Error& error) const { return error.With(request_.what); }

  // Starts another attempt after `delay`, because the last one failed with `why`. Returns false if the time limit would
  // expire before.
  bool Again(Nanos delay, const Error& why);
  // Starts another attempt with a new credential of the plugin, after the refusal `why`. Returns false if that is not
  // possible. Works once.
  bool AgainWithNewCredential(const HttpHead& head, const Error& why);
  // Removes the deadline from the rest of the response, because a watch is open.
  void StopTimeLimit() noexcept {
    deadline_.reset();
    time_limit_.Cancel();
  }
  // Ends the operation, with `error` or, if that is null, well. No more events follow; a running exchange is cancelled.
  void End(const Error* error) noexcept;
  // Gives the memory of bytes that were read back to the transport.
  void Recycle(std::string&& bytes) noexcept;
  // Returns credit that was kept.
  void Consume(std::size_t bytes) noexcept;

  bool ended() const noexcept { return ended_; }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
  const ApiRequest& request() const noexcept { return request_; }
  ConnectionState& connection() const noexcept { return *connection_; }
  // Calls task(*this) on the strand; keeps the operation until then.
  template <typename Task>
  void PostSelf(Task task) {
    connection_->executor->Post(strand_, OnSelf(std::move(task)));
  }

  bool keeps_credit_ = false;

 private:
  class Sink;
  // What PostSelf() posts.
  template <typename Task>
  auto OnSelf(Task task) {
    return [self = Shared<Operation>(this), task = std::move(task)]() mutable {
      try {
        task(*self);
      } catch (...) {
        if (self->ended_) throw;  // thrown by the final callback: the executor reports it
        self->OnFailed(self->FailureOfException());
      }
    };
  }
  void Throttle();
  void Authorize();
  void OnToken(Result<std::string> token);
  void OnCredential(ExecCredentials::Answer credential);
  void Attempt(const std::string& token);
  void StartTimeLimit(TimePoint from, std::optional<Nanos> limit);
  void LimitToGuard();
  void OnTimeLimit();
  void TellWarnings(const HttpHead& head) const;
  std::optional<Nanos> TimeLimit() const noexcept;  // nothing: no limit
  std::string LastAttempt() const;                  // the failure of the last attempt, as the end of a message
  Error FailureOfException() const;                 // in a catch block
  // Fails with `error`, to which the transport adds how far the current attempt got.
  void GiveUp(Error error);
  HttpRequest Compose(const std::string& token) const;
  void Deliver(int attempt, std::string bytes);
  void CloseLog(const Error* error) noexcept;

  const Shared<ConnectionState> connection_;
  ApiRequest request_;
  const Shared<Strand> strand_;
  const Shared<ReservedPost> post_cancel_;  // Cancel() may run where nothing can handle a failure, as a stop callback
  Shared<Exchange> exchange_{};
  std::unique_ptr<RequestLog> log_{};  // of the current attempt, if somebody wants it
  Timer pause_{};                      // limiter or retry
  Timer time_limit_{};
  std::optional<TimePoint> deadline_{};
  Nanos guarded_limit_ = kNoLimit;  // SendGuard::TimeLeft() at the last attempt
  TimePoint attempt_started_{};
  int attempt_ = 0;
  std::optional<Error> last_failure_{};  // of the attempt before this one
  int status_ = 0;                       // of the last response
  int sent_ = 0;                         // attempts
  OpenSpan span_{};
  std::string refusal_{};
  std::optional<Error> given_up_{};             // set by GiveUp() until the transport has ended the exchange
  Shared<ExecCredentials::Waiting> waiting_{};  // for a credential
  Shared<const Credential> credential_{};       // of the current attempt, if it came from a plugin
  bool refreshed_ = false;                      // after a 401
  bool ended_ = false;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_OPERATION_H_
