// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The state of an event recorder: series, spam filter, queue, and the one request that is under way.
//
// A Record is an Event of the server and how often it occurred. What is queued are records, not requests: the request
// is made when it is the record's turn, with the count of that time. So a record is in the queue at most once, and what
// occurs while the server is away costs one request in the end.
#ifndef KGEN_SRC_CONTROLLER_EVENTS_EVENT_WRITER_H_
#define KGEN_SRC_CONTROLLER_EVENTS_EVENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "controller/events/event.h"
#include "core/execution/jitter.h"
#include "core/execution/post_timer.h"
#include "core/memory/lru_map.h"
#include "core/memory/mutex.h"
#include "kgen/controller/event_recorder.h"

namespace kgen::controller {

// Thread safety: all members from any thread. The connection, the observer and the executor are called without the
// lock; timers of the clock are set and cancelled under it.
// Lifetime: shared by the handles, timers, and the request under way. A timer is armed only while a series is open, the
// queue is not empty, or a stop is under way.
class EventWriter final : public SharedObject {
 public:
  EventWriter(const Connection& connection, EventRecorderOptions options);

  void Add(const detail::EventObject& regarding, const detail::EventObject* related, const EventDetails& details);
  EventCounts counts();
  Result<void> Stop(Nanos limit);
  void BeginStop(Nanos limit);

 private:
  struct Record : SharedObject {
    explicit Record(Event made) : event(std::move(made)) {}
    Event event;           // without series
    std::string series{};  // its key in series_
    SysMicros observed{};  // the last occurrence, for the server
    TimePoint last{};      // the same by the monotonic clock
    TimePoint written_at{};
    std::int64_t count = 1;    // occurrences
    std::int64_t written = 0;  // of these, the ones that are counted as written or dropped
    int tries = 0;             // since the last success
    bool open = true;          // in series_: it may occur again
    bool queued = false;       // or under way
    bool created = false;      // the server has it, as far as known
    bool uncertain = false;    // a request to create it failed, but may have taken effect
  };
  enum class Sender : std::uint8_t {
    kIdle,     // the queue is empty
    kPosted,   // Send() will run
    kSending,  // a request is under way
    kPausing,  // until the next try
  };
  // What the observer learns about lost events.
  struct Dropped {
    std::string about;
    std::string why;
    std::size_t count = 1;
  };
  // What to do after the lock is released.
  struct After {
    bool post = false;  // Send()
    std::optional<Dropped> dropped{};
    bool ends = false;  // the stop, after the observer was told of what it drops
  };

  void AddNew(Event event, std::string object, std::string series, TimePoint now, After& after) KGEN_REQUIRES(mutex_);
  void Repeat(const Shared<Record>& record, SysMicros wall, TimePoint now, After& after) KGEN_REQUIRES(mutex_);
  bool PassesSpamFilter(std::string object, TimePoint now) KGEN_REQUIRES(mutex_);
  void Rename(Record& record) KGEN_REQUIRES(mutex_);
  void Close(const Shared<Record>& record, After& after) KGEN_REQUIRES(mutex_);
  void Enqueue(const Shared<Record>& record, After& after) KGEN_REQUIRES(mutex_);
  void ArmSweep() noexcept KGEN_REQUIRES(mutex_);
  void Sweep();

  void Send();
  void OnAnswer(const Shared<Record>& record, std::int64_t count, Result<ApiResponse> answer);
  void Succeed(const Shared<Record>& record, std::int64_t count, After& after) KGEN_REQUIRES(mutex_);
  void Fail(const Shared<Record>& record, const Error& error, After& after) KGEN_REQUIRES(mutex_);
  void Again(const Shared<Record>& record) KGEN_REQUIRES(mutex_);
  void Pause() noexcept KGEN_REQUIRES(mutex_);
  void EndPause();
  std::int64_t Drop(Record& record, std::uint64_t EventCounts::* cause) KGEN_REQUIRES(mutex_);

  void Abandon();
  void End(After& after) KGEN_REQUIRES(mutex_);
  void Act(After& after);

  const Connection connection_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const Shared<Strand> strand_;
  const EventReporter source_;

  Mutex mutex_;
  detail::LruMap<Shared<Record>> series_ KGEN_GUARDED_BY(mutex_);  // the open ones, by SeriesOf()
  // When all tokens of the bucket are back, by ObjectOf().
  detail::LruMap<TimePoint> spam_ KGEN_GUARDED_BY(mutex_);
  std::deque<Shared<Record>> queue_ KGEN_GUARDED_BY(mutex_);
  Sender sender_ KGEN_GUARDED_BY(mutex_) = Sender::kIdle;
  Shared<Record> sending_ KGEN_GUARDED_BY(mutex_);  // null unless kSending
  std::uint64_t last_stamp_ KGEN_GUARDED_BY(mutex_) = 0;
  Jitter jitter_ KGEN_GUARDED_BY(mutex_);
  const Shared<ReservedPost> send_ = executor_->ReservePost(strand_);
  kgen::detail::PostTimer sweep_ KGEN_GUARDED_BY(mutex_){executor_, strand_};
  kgen::detail::PostTimer pause_ KGEN_GUARDED_BY(mutex_){executor_, strand_};
  kgen::detail::PostTimer limit_ KGEN_GUARDED_BY(mutex_){executor_, strand_};  // of the stop
  TimePoint stop_by_ KGEN_GUARDED_BY(mutex_) = TimePoint::max();
  bool stopping_ KGEN_GUARDED_BY(mutex_) = false;
  bool ended_ KGEN_GUARDED_BY(mutex_) = false;
  bool told_ KGEN_GUARDED_BY(mutex_) = false;                    // ended, and so the calls of Stop() return
  std::uint64_t abandoned_ KGEN_GUARDED_BY(mutex_) = 0;          // events that the stop dropped
  std::vector<Shared<Waiter>> waiters_ KGEN_GUARDED_BY(mutex_);  // of calls of Stop()
  EventCounts counts_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_EVENTS_EVENT_WRITER_H_
