// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's state machine.
//
//   StartRound -> StartStreaming --marker--> watching --+-- ends cleanly: StartWatch
//        ^             | falls back                     |
//        |             v                                |
//        |         StartList ... SendPage -> StartWatch +
//        +------------- one back-off delay <------------+-- the round ends
//
// Parts: reflector.cc (rounds, waiting, watches), reflector_list.cc, reflector_streaming.cc.
#ifndef KGEN_RUNTIME_CACHE_REFLECTOR_IMPL_H_
#define KGEN_RUNTIME_CACHE_REFLECTOR_IMPL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/backoff.h"
#include "cache/object_intake.h"
#include "cache/strand_timer.h"
#include "cache/watch_errors.h"
#include "kgen/cache/reflector.h"
#include "kgen/client/watch_decoder.h"
#include "kgen/codec/list_splitter.h"

namespace kgen::cache {

// Thread safety: all members on the strand.
// Lifetime: kept alive by its stream and its timers until Stop() drops them.
class Reflector::Impl final : public SharedObject {
 public:
  Impl(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
       Shared<Strand> strand, Shared<Observer> observer, ReflectorOptions options, Hooks hooks);

  void Start();
  void Stop();
  const ReflectorStatus& status() const noexcept { return status_; }
  void Sweep() { intake_.Sweep(); }

 private:
  class Stream;
  enum class Phase : std::uint8_t { kNone, kList, kStreaming, kWatch, kWaiting, kStopped };
  using Step = void (Impl::*)();

  // One list, over all its pages and its second attempts.
  struct List {
    ListOptions first;    // of the first page
    ListOptions request;  // of the page under way
    std::string version;  // of the first page [LW-07]
    std::vector<ListedObject> items;
    bool incomplete = false;
    bool paginated = false;
    bool without_pages = false;    // the full list after an expired continue token [LW-08]
    bool without_version = false;  // the second attempt, as the version was unusable [RL-04]
    TimePoint started{};
  };
  // One watch request, from before it was sent.
  struct Watch {
    std::string version;
    bool open = false;
    bool unordered = false;  // started at "" or "0": what comes first has no order of versions [RW-10]
    std::uint64_t events = 0;
    std::optional<Error> error{};  // an ERROR event, or an event that ends the watch
    std::chrono::seconds timeout{};
    TimePoint started{};
  };
  // The private store of a streaming list. [WL-03]
  struct Snapshot {
    std::vector<ListedObject> items;  // a null key's name: taken out again
    std::unordered_map<ObjectKey, std::size_t> places;
    bool incomplete = false;
    std::string provisional;  // version of the newest event
    bool complete = false;    // the marker was among the bytes just read
    TimePoint started{};
    TimePoint last_event{};
  };
  // How a watch or streaming list came to its end.
  struct End {
    std::optional<Error> error{};  // none: closed, by the server or with the connection
    bool opened = false;
    bool very_short = false;  // within a second and without an event [RW-04]
  };

  // Rounds and waiting.
  void StartRound();
  void EndRound(bool watch, const Error& error);  // with a failure [RF-01, WE-03]
  void EndRoundQuietly(const Error& why);         // a running stream failed: no failure of the round [ER-06, ER-09]
  void RetryLater(bool watch, const Error& error, Step step);  // one delay, then the same again [ER-03, ER-05, WL-07]
  void Wait(Nanos delay, Step step);
  void CountFailure(const Error& error);
  void CountSuccess();
  void Report(bool watch, const Error& error, Nanos retry_in);
  void SetState(ReflectorStatus::State state);
  void Changed();
  TimePoint Now() const noexcept { return executor_->clock()->Now(); }

  // The one stream that is open. Every way out of a phase goes through CloseStream(). [RF-05]
  void OpenStream(bool watch, const ListOptions& options);
  void CloseStream();
  void OnOpen();
  void OnBytes(std::string_view bytes);
  void OnEnd(Result<void> end);
  void ArmDeadline(Nanos delay, TimerKind kind);
  void OnDeadline();

  // reflector_list.cc
  void StartList();
  void SendPage();
  std::string ListVersion() const;
  std::int64_t PageSize(const std::string& version) const;
  Result<void> OnListItem(std::string_view item);
  void OnListBytes(std::string_view bytes);
  void OnListEnd(Result<void> end);
  Result<meta::v1::ListMeta> FinishPage(Result<void> end);
  void ListFailed(const Error& error);
  AnyRef OrStored(const ObjectKey& key, AnyRef object) const;
  void ListDone();
  void OnListDeadline();

  // Watches.
  void EnterWatchPhase();
  void StartWatch();
  ListOptions WatchOptions(std::string version);
  void OnWatchBytes(std::string_view bytes);
  Result<void> OnEvent(std::string_view type, std::string_view object);
  Result<void> OnObjectEvent(std::string_view type, std::string_view object);
  Result<void> OnBookmark(std::string_view object);
  void Queue(std::string_view type, Received received);
  void Record(bool added, std::string_view version);
  End DescribeEnd(Result<void> end) const;
  void WatchEnded(End end);
  void WatchFailedInside(const Error& error);
  void ArmResync();
  void OnResync();

  // reflector_streaming.cc
  void StartStreaming();
  void Collect(std::string_view type, Received received);
  void OnMarker();
  void StreamingEnded(End end);
  void FallBack(const Error& why);
  void OnStreamingDeadline();

  const Shared<ListWatch> source_;
  const TypeTable& table_;
  DeltaFifo& fifo_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<Observer> observer_;
  const ReflectorOptions options_;
  Hooks hooks_;  // emptied by Stop()
  const std::string name_;

  ReflectorStatus status_;
  Phase phase_ = Phase::kNone;
  Backoff backoff_;
  RetryBudget internal_errors_;
  ObjectIntake intake_;
  StrandTimer wait_timer_;
  StrandTimer deadline_timer_;
  StrandTimer resync_timer_;

  bool version_unusable_ = false;  // expired or ahead of the server [RL-03]
  bool server_pages_ = false;      // a list at "0" came in pages once [RL-07]
  int streaming_attempts_ = 0;     // of this round, that ended without a marker

  Shared<Stream> stream_;
  Shared<StreamCall> call_;
  TimePoint last_bytes_{};
  std::optional<ListSplitter> splitter_;
  std::optional<WatchDecoder> decoder_;
  List list_;
  Watch watch_;
  Snapshot snapshot_;
};

// What the source talks to. Once detached it passes nothing on.
class Reflector::Impl::Stream final : public StreamSink {
 public:
  explicit Stream(Shared<Impl> owner) noexcept : owner_(std::move(owner)) {}
  void Detach() noexcept { owner_ = {}; }

  void OnOpen() override {
    if (const Shared<Impl> owner = owner_) owner->OnOpen();
  }
  void OnBytes(std::string_view bytes) override {
    if (const Shared<Impl> owner = owner_) owner->OnBytes(bytes);
  }
  void OnEnd(Result<void> end) override {
    if (const Shared<Impl> owner = owner_) owner->OnEnd(std::move(end));
  }

 private:
  Shared<Impl> owner_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_REFLECTOR_IMPL_H_
