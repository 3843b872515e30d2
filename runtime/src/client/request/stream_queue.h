// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A streamed response whose caller takes one item after the other: the events of a watch, the lines of a log.
//
//   strand: bytes --Split--> items --> Take(stop), which blocks, or TakeAsync(reader)
//
// Items wait undecoded, so that a slow caller costs the pool nothing, and the server may send no more than one
// flow-control window ahead of them: credit goes back when an item is taken.
#ifndef KGEN_SRC_CLIENT_REQUEST_STREAM_QUEUE_H_
#define KGEN_SRC_CLIENT_REQUEST_STREAM_QUEUE_H_

#include <cstddef>
#include <deque>
#include <iterator>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/request/callback.h"
#include "client/request/connection_state.h"
#include "client/request/stream.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "core/out_of_memory.h"
#include "kgen/core/function.h"
#include "kgen/core/waiter.h"

namespace kgen::client {

// Between the stream's strand and the caller. `mutex_` is never held across a call.
template <typename ItemType>
class StreamQueue : public StreamSink {
 public:
  using Item = ItemType;
  using Reader = UniqueFunction<void(Result<Item>)>;

  // `thing` is what the server ends: "watch".
  StreamQueue(const Connection& connection, std::string what, std::string_view thing)
      : what_(std::move(what)),
        thing_(thing),
        executor_(connection.shared_executor()),
        observer_(ConnectionState::Of(connection)->observer),
        strand_(executor_->MakeStrand(what_)),
        waiter_(executor_->MakeWaiter(what_)) {}

  void Attach(Shared<StreamOperation> stream) {
    const MutexLock lock(mutex_);
    stream_ = std::move(stream);
  }
  Shared<StreamOperation> stream() const {
    const MutexLock lock(mutex_);
    return stream_;
  }
  const std::string& what() const noexcept { return what_; }
  const Shared<Strand>& strand() const noexcept { return strand_; }

  // Used instead of WaitOpen(): OnOpen() or, if it is not called, OnEnd() calls `opening`. Until then the queue holds
  // no reference to the stream, so that an executor that shuts down and drops the stream also drops the queue.
  using Opening = UniqueFunction<void(Result<void>)>;
  void NotifyOpening(StreamOperation* stream, Opening opening) {
    unopened_ = stream;
    opening_ = std::move(opening);
  }

  void OnOpen() override {
    if (opening_) {
      Attach(Shared<StreamOperation>(unopened_));
      return std::exchange(opening_, nullptr)({});
    }
    {
      const MutexLock lock(mutex_);
      open_ = true;
    }
    waiter_->Notify();
  }

  void OnBytes(std::string_view bytes) override {
    const Result<void> split = Split(bytes);
    // The bytes of a piece are paid back with its last item; a piece that ends none is paid back at once, because the
    // rest of a large item has to come.
    const std::size_t credit = bytes.size();
    const bool waits = !fresh_.empty();
    if (waits) fresh_.back().credit = credit;
    {
      const MutexLock lock(mutex_);
      MoveFresh();
      if (!split && !end_) {
        fault_ = split.error().With(what_);
        end_ = Error(Code::kUnavailable,
                     "the " + std::string(thing_) + " was closed because its stream could not be read any further")
                   .With(what_);
      }
    }
    const Shared<StreamOperation> stream = this->stream();
    if (!waits && stream) stream->Consumed(credit);
    if (!split && stream) stream->Cancel();
    waiter_->Notify();
    Serve();
  }

  void OnEnd(Result<void> end) override {
    Error error = EndOf(end);
    if (end && opening_) end = Fail(error);
    Shared<StreamOperation> dropped;  // the operation holds this sink, and this sink the operation
    {
      const MutexLock lock(mutex_);
      if (!end_) {
        try {
          MoveFresh();
        } catch (const std::bad_alloc&) {
          error = detail::OutOfMemory();
          fresh_.clear();
        }
        end_ = std::move(error);
      }
      dropped = std::exchange(stream_, {});
    }
    waiter_->Notify();
    if (opening_) return std::exchange(opening_, nullptr)(std::move(end));
    Serve();
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
      const Shared<StreamOperation> stream = this->stream();
      if (!stop.stop_requested() || !stream) return Fail(waited.error().With(what_));
      stream->Cancel();  // OnEnd() then gets an error that describes how far the request got
      stop = {};
    }
  }

  Result<Item> Take(std::stop_token stop) {
    for (;;) {
      // Before what is ready: a server that keeps sending must not keep a caller that was stopped.
      if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(what_));
      if (std::optional<Result<Item>> ready = TakeReady()) return *std::move(ready);
      if (Result<void> waited = waiter_->Wait(stop); !waited) return Fail(waited.error().With(what_));
    }
  }

  // `reader` runs once, on the strand.
  void TakeAsync(Reader reader) {
    if (detail::ForkedChild()) return Run(std::move(reader), Fail(detail::ForkedError()));
    bool busy = false;
    {
      const MutexLock lock(mutex_);
      busy = reader_ != nullptr;
      if (!busy) reader_ = std::move(reader);
    }
    try {
      executor_->Post(
          strand_, [self = Shared<StreamQueue>(this), refused = busy ? std::move(reader) : Reader()]() mutable {
            if (!refused) return self->Serve();
            self->Run(std::move(refused),
                      Fail(Error(Code::kInvalidArgument, "another call waits for the next item").With(self->what_)));
          });
    } catch (...) {  // out of memory: the caller gets the exception, and may call again
      const MutexLock lock(mutex_);
      if (!busy) reader_ = nullptr;
      throw;
    }
  }

 protected:
  // The items of the next piece into fresh_. An error ends the stream.
  virtual Result<void> Split(std::string_view bytes) = 0;
  // After the last piece, for what it has begun and not ended: an item into fresh_, or what was cut ("an event").
  virtual std::string_view Flush() = 0;

  std::vector<Item> fresh_{};  // of the piece that is being read; strand only

 private:
  // A caller that waits must learn of the end, even if there is no memory for its message.
  Error EndOf(const Result<void>& end) {
    try {
      const std::string_view cut = Flush();
      if (!end) return end.error();
      return cut.empty()
                 ? Error(Code::kStopped, "the server has ended the " + std::string(thing_)).With(what_)
                 : Error(Code::kUnavailable, "the connection ended in the middle of " + std::string(cut)).With(what_);
    } catch (const std::bad_alloc&) {
      return detail::OutOfMemory();
    }
  }

  // All or none, if memory runs out.
  void MoveFresh() KGEN_REQUIRES(mutex_) {
    items_.insert(items_.end(), std::make_move_iterator(fresh_.begin()), std::make_move_iterator(fresh_.end()));
    fresh_.clear();
  }

  // What there is for the caller: the next item, an error, or nothing yet.
  std::optional<Result<Item>> TakeReady() {
    ReturnCredit();
    std::optional<Result<Item>> ready;
    {
      const MutexLock lock(mutex_);
      if (!items_.empty()) {
        ready.emplace(std::move(items_.front()));
        items_.pop_front();
      } else if (fault_) {
        ready.emplace(Fail(*std::exchange(fault_, std::nullopt)));
      } else if (end_) {
        ready.emplace(Fail(*end_));
      }
    }
    return ready;
  }

  // For the next item, before it is taken: returning credit may fail for want of memory, and then the item stays.
  void ReturnCredit() {
    Shared<StreamOperation> stream;
    std::size_t credit = 0;
    {
      const MutexLock lock(mutex_);
      if (items_.empty() || items_.front().credit == 0) return;
      credit = items_.front().credit;
      stream = stream_;
    }
    if (stream) stream->Consumed(credit);
    const MutexLock lock(mutex_);
    if (!items_.empty()) items_.front().credit = 0;  // there is one consumer, so it is still the same item
  }

  // Strand only, so that one reader at most is served at a time.
  void Serve() {
    {
      const MutexLock lock(mutex_);
      if (!reader_) return;
    }
    std::optional<Result<Item>> ready = TakeReady();
    if (!ready) return;
    Reader reader;
    {
      const MutexLock lock(mutex_);
      reader = std::exchange(reader_, nullptr);
    }
    Run(std::move(reader), *std::move(ready));
  }

  void Run(Reader reader, Result<Item> item) {
    RunCallback(observer_, what_, [&] { reader(std::move(item)); });
  }

  const std::string what_;
  const std::string_view thing_;
  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const Shared<Strand> strand_;
  const Shared<Waiter> waiter_;
  Opening opening_{};  // strand only, as is unopened_; set before the stream begins
  StreamOperation* unopened_ = nullptr;
  mutable Mutex mutex_;
  std::deque<Item> items_ KGEN_GUARDED_BY(mutex_){};
  Reader reader_ KGEN_GUARDED_BY(mutex_){};
  Shared<StreamOperation> stream_ KGEN_GUARDED_BY(mutex_){};
  bool open_ KGEN_GUARDED_BY(mutex_) = false;
  std::optional<Error> fault_ KGEN_GUARDED_BY(mutex_){};  // an error in the stream, which is returned once, before end_
  std::optional<Error> end_ KGEN_GUARDED_BY(mutex_){};
};

// What the handle of a stream holds. Destroying it ends the stream.
template <typename Queue>
class StreamReader : public SharedObject {
 public:
  StreamReader(Connection connection, std::string what) : connection_(std::move(connection)), what_(std::move(what)) {}
  ~StreamReader() override {
    if (!queue_) return;
    if (const Shared<StreamOperation> stream = queue_->stream()) stream->Cancel();
    queue_->Attach({});
  }

  // Called once, before anything else.
  void Read(Shared<Queue> queue) noexcept { queue_ = std::move(queue); }

  Result<typename Queue::Item> Take(std::stop_token stop) {
    if (detail::ForkedChild()) return Fail(detail::ForkedError());
    if (connection_.executor().InPostedTask()) return Fail(InPostedWork().With(what_));
    if (!stop.stop_possible()) stop = connection_.stop();
    return queue_->Take(std::move(stop));
  }
  void TakeAsync(typename Queue::Reader reader) { queue_->TakeAsync(std::move(reader)); }

  static Error InPostedWork() {
    return {Code::kInvalidArgument, "a blocking call on a thread that runs posted tasks; use Executor::Blocking"};
  }

 protected:
  const Connection connection_;
  const std::string what_;

 private:
  Shared<Queue> queue_{};
};

template <typename Queue>
Shared<StreamOperation> MakeQueuedStream(const Connection& connection, ApiRequest request, const Shared<Queue>& queue) {
  request.parent = connection.trace();
  auto stream =
      MakeShared<StreamOperation>(ConnectionState::Of(connection), std::move(request), queue->strand(), queue);
  stream->KeepCredit();
  return stream;
}

// Opens a stream for `State`, a StreamReader<Queue>, which is made of the connection, the request's `what` and `more`.
// Blocks until the server has answered.
template <typename State, typename Queue, typename... More>
Result<Shared<State>> OpenStream(const Connection& connection, Result<ApiRequest> request, const More&... more) {
  if (!request) return Fail(std::move(request).error());
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const std::string what = request->what;
  if (connection.executor().InPostedTask()) return Fail(State::InPostedWork().With(what));
  if (connection.stop().stop_requested()) {
    return Fail(Error(Code::kCancelled, "stopped before it was sent").With(what));
  }
  const auto queue = MakeShared<Queue>(connection, what);
  const auto stream = MakeQueuedStream(connection, *std::move(request), queue);
  queue->Attach(stream);
  auto state = MakeShared<State>(connection, what, more...);
  state->Read(queue);  // from here on, the state cancels the stream if this function fails
  stream->Begin();
  if (Result<void> opened = queue->WaitOpen(connection.stop()); !opened) return Fail(opened.error());
  return state;
}

// Opens a stream without blocking. `done` runs once, as posted work.
template <typename State, typename Queue, typename... More>
void OpenStreamAsync(const Connection& connection, Result<ApiRequest> request,
                     UniqueFunction<void(Result<Shared<State>>)> done, const More&... more) {
  if (RefuseInForkedChild(ConnectionState::Of(connection)->observer, "open a stream", done)) return;
  if (!request) {
    Executor& executor = connection.executor();
    executor.Post(executor.MakeStrand("refused stream"),
                  [error = request.error(), done = std::move(done)]() mutable { done(Fail(std::move(error))); });
    return;
  }
  std::string what = request->what;
  const auto queue = MakeShared<Queue>(connection, what);
  const auto stream = MakeQueuedStream(connection, *std::move(request), queue);
  // Everything is allocated here, so that nothing can fail between the response and `done`. The state does not refer to
  // the queue yet, because the queue would then keep itself alive.
  auto state = MakeShared<State>(connection, what, more...);
  queue->NotifyOpening(stream.get(), [observer = ConnectionState::Of(connection)->observer, what = std::move(what),
                                      state = std::move(state), queue = queue.get(),
                                      done = std::move(done)](Result<void> opened) mutable {
    Result<Shared<State>> result = Fail(detail::OutOfMemory());
    if (opened) {
      state->Read(Shared<Queue>(queue));
      result = std::move(state);
    } else {
      result = Fail(std::move(opened).error());
    }
    RunCallback(observer, what, [&] { done(std::move(result)); });
  });
  stream->Begin();
}

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_STREAM_QUEUE_H_
