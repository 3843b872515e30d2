// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/connection.h"

#include <mutex>
#include <optional>
#include <utility>

#include "client/call.h"
#include "client/connection_core.h"
#include "client/errors.h"
#include "client/stream.h"
#include "kgen/core/waiter.h"

namespace kgen {

Connection::Connection(Shared<client::ConnectionCore> state) noexcept : state_(std::move(state)) {}

namespace client {

ConnectionCore::ConnectionCore(Connection::Parts parts, Shared<ThrottledObserver> throttle, Settings settings)
    : transport(std::move(parts.transport)),
      executor(std::move(parts.executor)),
      clock(executor->clock()),
      observer(std::move(throttle)),
      host(std::move(settings.host)),
      base_path(std::move(settings.base_path)),
      user_agent(std::move(settings.user_agent)),
      default_namespace(std::move(settings.default_namespace)),
      timeout(settings.timeout),
      limiter(settings.qps, settings.burst),
      token(std::move(settings.token), std::move(settings.token_file)),
      gate(MakeShared<Gate>(executor)) {
  executor->ReportTo(observer);
  OutOfMemory();
}

Shared<ConnectionCore> ConnectionCore::Of(const Connection& connection) { return connection.state_; }

Connection ConnectionCore::Handle(Connection::Parts parts, Settings settings) {
  auto observer = MakeShared<ThrottledObserver>(parts.observer, parts.executor);
  return Handle(std::move(parts), std::move(observer), std::move(settings));
}

Connection ConnectionCore::Handle(Connection::Parts parts, Shared<ThrottledObserver> observer, Settings settings) {
  return Connection(MakeShared<ConnectionCore>(std::move(parts), std::move(observer), std::move(settings)));
}

namespace {

// What a blocking call waits for. The caller holds no reference to the operation: when the executor was shut down and
// drops it, the operation has to go, so that the caller is told and nobody waits for ever.
struct Slot : SharedObject {
  explicit Slot(Shared<Waiter> w) : waiter(std::move(w)) {}

  void Cancel() noexcept {
    Shared<CallOperation> held;
    {
      const std::scoped_lock lock(mutex);
      if (operation != nullptr) held = Shared<CallOperation>::TryAdd(operation);
    }
    if (held) held->Cancel();
  }
  void Answer(Result<ApiResponse> answer) {
    {
      const std::scoped_lock lock(mutex);
      operation = nullptr;
    }
    result.emplace(std::move(answer));
    waiter->Notify();
  }

  const Shared<Waiter> waiter;
  std::optional<Result<ApiResponse>> result;  // written once, before the waiter is notified
  std::mutex mutex;
  CallOperation* operation = nullptr;  // until it has answered or goes
};

// Fills a Slot, at the latest when it is destroyed.
class Answerer {
 public:
  explicit Answerer(Shared<Slot> slot) : slot_(std::move(slot)) {}
  Answerer(Answerer&&) noexcept = default;
  Answerer& operator=(Answerer&&) = delete;
  ~Answerer() {
    if (slot_) slot_->Answer(Fail(Code::kCancelled, "the executor has been shut down"));
  }
  void operator()(Result<ApiResponse> result) { std::exchange(slot_, {})->Answer(std::move(result)); }

 private:
  Shared<Slot> slot_;
};

Shared<CallOperation> MakeCall(const Shared<ConnectionCore>& core, ApiRequest request, CallOperation::Done done) {
  Shared<Strand> strand = core->executor->MakeStrand(request.what.empty() ? request.path : request.what);
  return MakeShared<CallOperation>(core, std::move(request), std::move(strand), std::move(done));
}

}  // namespace
}  // namespace client

Result<Connection> Connection::Open(const rest::Config& config) { return client::ConnectionCore::Open(config); }

Connection Connection::Over(Parts parts) {
  client::ConnectionCore::Settings settings;
  settings.host = parts.host;
  settings.user_agent = "kgen";
  return client::ConnectionCore::Handle(std::move(parts), std::move(settings));
}

Connection Connection::With(std::stop_token stop) const {
  Connection with(state_);
  with.stop_ = std::move(stop);
  return with;
}

void Connection::CallAsync(ApiRequest request, std::move_only_function<void(Result<ApiResponse>)> done) const {
  client::MakeCall(state_, std::move(request), std::move(done))->Begin();
}

Result<ApiResponse> Connection::Call(ApiRequest request, std::stop_token stop) const {
  const std::string what = request.what.empty() ? request.method + ' ' + request.path : request.what;
  if (executor().InPostedTask()) {
    return Fail(Error(Code::kInvalidArgument,
                      "this blocks, on a thread that runs posted work; use the form with Async, or Executor::Blocking")
                    .With(what));
  }
  if (!stop.stop_possible()) stop = stop_;
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "stopped before it was sent").With(what));
  auto slot = MakeShared<client::Slot>(executor().MakeWaiter(what));
  {
    const auto call = client::MakeCall(state_, std::move(request), client::Answerer(slot));
    slot->operation = call.get();  // nobody else knows of it yet
    call->Begin();
  }
  if (Result<void> waited = slot->waiter->Wait(std::move(stop)); !waited) {
    slot->Cancel();
    // The call knows how far it had come.
    if (waited.error().code() != Code::kCancelled || !slot->waiter->Wait()) return Fail(waited.error().With(what));
  }
  return *std::move(slot->result);
}

Shared<StreamCall> Connection::Stream(ApiRequest request, Shared<Strand> strand, Shared<StreamSink> sink) const {
  auto stream = MakeShared<client::StreamOperation>(state_, std::move(request), std::move(strand), std::move(sink));
  stream->Begin();
  return MakeShared<client::StreamHandle>(std::move(stream));
}

Executor& Connection::executor() const noexcept { return *state_->executor; }
Shared<Executor> Connection::shared_executor() const noexcept { return state_->executor; }
Clock& Connection::clock() const noexcept { return *state_->clock; }
Observer& Connection::observer() const noexcept { return *state_->observer; }
std::string_view Connection::host() const noexcept { return state_->host; }
std::string_view Connection::default_namespace() const noexcept { return state_->default_namespace; }

}  // namespace kgen
