// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/watcher.h"

#include <deque>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "client/callback.h"
#include "client/connection_core.h"
#include "client/errors.h"
#include "client/stream.h"
#include "client/watch_decoder.h"
#include "core/mutex.h"
#include "kgen/codec/decode.h"
#include "kgen/core/waiter.h"

namespace kgen {

std::string_view ToString(WatchType type) noexcept {
  switch (type) {
    case WatchType::kAdded:
      return "ADDED";
    case WatchType::kModified:
      return "MODIFIED";
    case WatchType::kDeleted:
      return "DELETED";
    case WatchType::kBookmark:
      return "BOOKMARK";
  }
  return "UNKNOWN";
}

namespace {

// The type of an event that has an object.
WatchType TypeOf(WatchEventType type) noexcept {
  switch (type) {
    case WatchEventType::kModified:
      return WatchType::kModified;
    case WatchEventType::kDeleted:
      return WatchType::kDeleted;
    case WatchEventType::kBookmark:
      return WatchType::kBookmark;
    default:
      return WatchType::kAdded;
  }
}

// An event that Next() has not taken yet. It is not decoded before, so that a slow caller uses no thread of the pool.
struct RawEvent {
  WatchEventType type;
  std::string word;  // of an unknown type
  std::string object;
  std::size_t credit;  // bytes of credit to return to the stream once this event is taken
};

// Between the stream's strand and the caller. `mutex_` is never held across a call.
class WatchQueue final : public StreamSink {
 public:
  WatchQueue(std::string what, Shared<Waiter> waiter)
      : what_(std::move(what)), waiter_(std::move(waiter)), decoder_([this](const WatchEvent& event) {
          const bool known = event.type != WatchEventType::kUnknown;
          fresh_.push_back({event.type, std::string(known ? "" : event.word), std::string(event.object), 0});
          return Result<void>();
        }) {}

  void Attach(Shared<client::StreamOperation> stream) {
    const MutexLock lock(mutex_);
    stream_ = std::move(stream);
  }
  Shared<client::StreamOperation> stream() const {
    const MutexLock lock(mutex_);
    return stream_;
  }

  // Used instead of WaitOpen(): OnOpen() or, if it is not called, OnEnd() calls `opening`. Until then the queue holds
  // no reference to the stream, so that an executor that shuts down and drops the stream also drops the queue.
  using Opening = std::move_only_function<void(Result<void>)>;
  void NotifyOpening(client::StreamOperation* stream, Opening opening) {
    unopened_ = stream;
    opening_ = std::move(opening);
  }

  void OnOpen() override {
    if (opening_) {
      Attach(Shared<client::StreamOperation>(unopened_));
      return std::exchange(opening_, nullptr)({});
    }
    {
      const MutexLock lock(mutex_);
      open_ = true;
    }
    waiter_->Notify();
  }

  void OnBytes(std::string_view bytes) override {
    const Result<void> fed = decoder_.Feed(bytes);
    // The credit of a piece is returned with its last event. If no event ends in the piece, it is returned at once,
    // because the rest of a large event must still arrive.
    const std::size_t credit = bytes.size();
    const bool waits = !fresh_.empty();
    if (waits) fresh_.back().credit = credit;
    {
      const MutexLock lock(mutex_);
      for (RawEvent& event : fresh_) events_.push_back(std::move(event));
      if (!fed && !end_) {
        fault_ = fed.error().With(what_);
        end_ = Error(Code::kUnavailable, "the watch was closed because its stream could not be read any further")
                   .With(what_);
      }
    }
    fresh_.clear();
    const Shared<client::StreamOperation> stream = this->stream();
    if (!waits && stream) stream->Consumed(credit);
    if (!fed && stream) stream->Cancel();
    waiter_->Notify();
  }

  void OnEnd(Result<void> end) override {
    Error error = EndOf(end);
    if (end && opening_) end = Fail(error);
    Shared<client::StreamOperation> dropped;  // the operation and this sink refer to each other
    {
      const MutexLock lock(mutex_);
      if (!end_) end_ = std::move(error);
      dropped = std::exchange(stream_, {});
    }
    waiter_->Notify();
    if (opening_) std::exchange(opening_, nullptr)(std::move(end));
  }

  // Blocks until the response has begun or the stream has ended.
  Result<void> WaitOpen(std::stop_token stop) {
    for (;;) {
      {
        const MutexLock lock(mutex_);
        if (open_) return {};
        if (end_) return Fail(*end_);
      }
      const Result<void> waited = waiter_->Wait(stop);
      if (waited) continue;
      const Shared<client::StreamOperation> stream = this->stream();
      if (!stop.stop_requested() || !stream) return Fail(waited.error().With(what_));
      stream->Cancel();  // OnEnd() then gets an error that describes how far the request got
      stop = {};
    }
  }

  Result<RawEvent> Take(std::stop_token stop) {
    for (;;) {
      {
        const MutexLock lock(mutex_);
        if (!events_.empty()) {
          RawEvent event = std::move(events_.front());
          events_.pop_front();
          return event;
        }
        if (fault_) return Fail(*std::exchange(fault_, std::nullopt));
        if (end_) return Fail(*end_);
      }
      if (Result<void> waited = waiter_->Wait(stop); !waited) return Fail(waited.error().With(what_));
    }
  }

 private:
  // A caller that waits in Next() must be notified of the end, even if there is no memory for the message.
  Error EndOf(const Result<void>& end) const {
    if (!end) return end.error();
    try {
      return decoder_.at_boundary()
                 ? Error(Code::kStopped, "the server has ended the watch").With(what_)
                 : Error(Code::kUnavailable, "the connection ended in the middle of an event").With(what_);
    } catch (const std::bad_alloc&) {
      return client::OutOfMemory();
    }
  }

  const std::string what_;
  const Shared<Waiter> waiter_;
  WatchDecoder decoder_;           // strand only, as is fresh_
  std::vector<RawEvent> fresh_{};  // events of the piece that is being read
  Opening opening_{};              // strand only, as is unopened_; set before the stream begins
  client::StreamOperation* unopened_ = nullptr;
  mutable Mutex mutex_;
  std::deque<RawEvent> events_ KGEN_GUARDED_BY(mutex_){};
  Shared<client::StreamOperation> stream_ KGEN_GUARDED_BY(mutex_){};
  bool open_ KGEN_GUARDED_BY(mutex_) = false;
  std::optional<Error> fault_ KGEN_GUARDED_BY(mutex_){};  // an error in the stream, which is returned once, before end_
  std::optional<Error> end_ KGEN_GUARDED_BY(mutex_){};
};

struct QueuedStream {
  Shared<WatchQueue> queue;
  Shared<client::StreamOperation> stream;  // not started, and not attached to the queue
};

QueuedStream MakeStream(const Connection& connection, ApiRequest request) {
  Executor& executor = connection.executor();
  const std::string what = request.what;
  auto queue = MakeShared<WatchQueue>(what, executor.MakeWaiter(what));
  auto stream = MakeShared<client::StreamOperation>(client::ConnectionCore::Of(connection), std::move(request),
                                                    executor.MakeStrand(what), queue);
  stream->KeepCredit();
  return {std::move(queue), std::move(stream)};
}

}  // namespace

class AnyWatcher::State : public SharedObject {
 public:
  State(Connection connection, std::string what, const TypeTable& table)
      : connection_(std::move(connection)), what_(std::move(what)), decoder_(table, {false, false}) {}
  ~State() override {
    if (!queue_) return;
    if (const Shared<client::StreamOperation> stream = queue_->stream()) stream->Cancel();
    queue_->Attach({});
  }

  // Called once, before anything else.
  void Read(Shared<WatchQueue> queue) noexcept { queue_ = std::move(queue); }

  Result<Event> Next(std::stop_token stop) {
    if (connection_.executor().InPostedTask())
      return Failed(
          Error(Code::kInvalidArgument, "a blocking call on a thread that runs posted tasks; use Executor::Blocking"));
    if (!stop.stop_possible()) stop = connection_.stop();
    Result<RawEvent> raw = queue_->Take(std::move(stop));
    if (!raw) return Fail(raw.error());
    if (raw->credit != 0) {
      if (const Shared<client::StreamOperation> stream = queue_->stream()) stream->Consumed(raw->credit);
    }
    if (raw->type == WatchEventType::kError) return Failed(client::WatchError(raw->object));
    if (raw->type == WatchEventType::kUnknown) {
      return Failed(Error(Code::kDecode, "the event has the unknown type \"" + raw->word + '"'));
    }
    try {
      Result<AnyRef> object = decoder_.Decode(raw->object);
      if (!object) return Failed(object.error());
      return Event{TypeOf(raw->type), *std::move(object)};
    } catch (const std::bad_alloc&) {
      return Fail(client::OutOfMemory(what_));
    }
  }

 private:
  std::unexpected<Error> Failed(const Error& error) const { return Fail(error.With(what_)); }

  const Connection connection_;
  const std::string what_;
  Shared<WatchQueue> queue_{};
  ObjectDecoder decoder_;  // shares nothing between objects, because there is no cache of similar objects
};

AnyWatcher::AnyWatcher(Shared<State> state) noexcept : state_(std::move(state)) {}
AnyWatcher::~AnyWatcher() = default;
AnyWatcher& AnyWatcher::operator=(AnyWatcher&& other) noexcept = default;

Result<AnyWatcher> AnyWatcher::Open(const RawResource& resource, const ListOptions& options, const TypeTable& table) {
  Result<ApiRequest> request = resource.Watch(options);
  if (!request) return Fail(std::move(request).error());
  const Connection& connection = resource.connection();
  const std::string what = request->what;
  if (connection.executor().InPostedTask()) {
    return Fail(
        Error(Code::kInvalidArgument, "a blocking call on a thread that runs posted tasks; use Executor::Blocking")
            .With(what));
  }
  auto [queue, stream] = MakeStream(connection, *std::move(request));
  queue->Attach(stream);
  auto state = MakeShared<State>(connection, what, table);
  state->Read(queue);  // from here on, the state cancels the stream if this function fails
  stream->Begin();
  if (Result<void> opened = queue->WaitOpen(connection.stop()); !opened) return Fail(opened.error());
  return AnyWatcher(std::move(state));
}

void AnyWatcher::OpenAsync(const RawResource& resource, const ListOptions& options, const TypeTable& table,
                           std::move_only_function<void(Result<AnyWatcher>)> done) {
  const Connection& connection = resource.connection();
  Result<ApiRequest> request = resource.Watch(options);
  if (!request) {
    Executor& executor = connection.executor();
    executor.Post(executor.MakeStrand("refused watch"),
                  [error = request.error(), done = std::move(done)]() mutable { done(Fail(std::move(error))); });
    return;
  }
  std::string what = request->what;
  auto [queue, stream] = MakeStream(connection, *std::move(request));
  // Everything is allocated here, so that nothing can fail between the response and `done`. The state does not refer to
  // the queue yet, because the queue would then keep itself alive.
  auto state = MakeShared<State>(connection, what, table);
  queue->NotifyOpening(stream.get(), [observer = client::ConnectionCore::Of(connection)->observer,
                                      what = std::move(what), state = std::move(state), queue = queue.get(),
                                      done = std::move(done)](Result<void> opened) mutable {
    Result<AnyWatcher> watcher = Fail(client::OutOfMemory());
    if (opened) {
      state->Read(Shared<WatchQueue>(queue));
      watcher = AnyWatcher(std::move(state));
    } else {
      watcher = Fail(std::move(opened).error());
    }
    client::RunCallback(observer, what, [&] { done(std::move(watcher)); });
  });
  stream->Begin();
}

Result<AnyWatcher::Event> AnyWatcher::Next(std::stop_token stop) { return state_->Next(std::move(stop)); }

}  // namespace kgen
