// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reflector: feeds the state of one resource into a DeltaFifo: it lists, then watches, and reopens the watch whenever
// it ends.
//
//   ListWatch bytes --> split, decode, transform --> DeltaFifo --> Hooks::on_queued (the controller loop drains)
//
// A state machine on the informer's strand: every member runs there, nothing blocks, and all waiting is a timer of the
// clock or a turn at the connection's gate. One round is a streaming list, or else a paged list, followed by watches
// from the last resource version.
//
// What fails is retried by its cause:
//   no connection           parks at the gate of the connection, then sends the same request again
//   the server asks to wait (Retry-After): waits for that time and up to twice that, at most five minutes
//   the resource fails      (403, 404, 500, not a list): a delay that doubles from 0.5..1 to 15..30 seconds until a
//                           watch has brought an event or a bookmark or has lasted ten seconds; in the 30 seconds
//                           after the connection came back, 0.5 to 2 seconds, and at once when another stream succeeds
//   410                     lists again at once; without progress since the last one it counts as a failure
//   a watch that ends early is reopened at once, five times and then once a second; if it ends more often, after a
//                           delay that doubles to 15..30 seconds
//   a replaced history      (a restored etcd): lists again at once, without a version
//   protobuf that cannot be used (it has what the table does not know): asks for the same again at once, as JSON
//
// With a saved cache, it first reads that, and queues it as the state. Before the first request and before each list it
// asks which cluster this is, since the answer is saved with the state. If the cluster is the one of the file, and the
// file is not old, it resumes the watch where the saved state ends, and checks the server's history as after a lost
// connection. The state is current with the first bookmark after that check. Otherwise it lists: without a version if
// the cluster is another one, or if that is not known.
//
// It never publishes streamed objects before the end marker, records a version from before the marker, goes back to an
// older state after a 410, treats a clean end of a watch as an error, or keeps a stream that it no longer reads.
//
// The state is a std::variant, and each state owns its request: leaving a state ends the request and the timer.
//
//   Idle --Start--> Waiting --turn granted--> Streaming --marker--> Watching --ends--> Waiting --> ...
//                      |                          | cannot stream
//                      +----------------------> Listing --last page--> Waiting --turn--> Watching
//
//   with a saved cache: Idle --Start--> Restoring --> Waiting --turn--> Asking --> Watching, Streaming or Listing
//   of a shard:         Idle --Hold--> Waiting --> ...; back from every state when it holds nothing
//
// The reflector of a shard takes what is in the ranges that it holds. These may change in every state: more ranges need
// a new round; fewer of them, only if a list is under way. A watch then goes on, and what it sends of the others is
// left out.
//
// Every stream is opened from Waiting, because it needs a turn at the gate; on a working connection, the turn is
// granted at once. Parts: reflector.cc (rounds, waiting, requests), reflector_watch.cc, reflector_list.cc,
// reflector_streaming.cc, reflector_shard.cc, reflector_restore.cc.
#ifndef KGEN_SRC_CACHE_REFLECTOR_REFLECTOR_H_
#define KGEN_SRC_CACHE_REFLECTOR_REFLECTOR_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cache/queue/delta_fifo.h"
#include "cache/reflector/backoff.h"
#include "cache/reflector/history_check.h"
#include "cache/reflector/informer_settings.h"
#include "cache/reflector/list_watch.h"
#include "cache/reflector/object_intake.h"
#include "cache/reflector/strand_timer.h"
#include "cache/reflector/watch_errors.h"
#include "cache/saved/saved_cache.h"
#include "client/request/reconnect_gate.h"
#include "client/verbs/watch_decoder.h"
#include "codec/list_splitter.h"
#include "kgen/cache/informer_status.h"
#include "kgen/client/pages.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// The server is asked to end a watch after a random time between this and twice this.
inline constexpr std::chrono::seconds kLeastWatchTimeout = std::chrono::minutes(5);
// The reflector ends a watch that outlives its timeout by this.
inline constexpr Nanos kWatchDeadlineSlack = std::chrono::seconds(30);
// A list that receives no byte for this long fails, and so does a watch without a response.
inline constexpr Nanos kListDeadline = std::chrono::minutes(1);
// A resumed watch of a saved state that brings no bookmark for this long gives way to a list. Servers send one about
// once a minute.
inline constexpr Nanos kBookmarkDeadline = std::chrono::minutes(3);
// A streaming list that receives no initial event for this long, or no end marker for five times as long, falls back to
// a list.
inline constexpr Nanos kEndMarkerDeadline = std::chrono::minutes(1);

// The state of a reflector, for WaitForCacheSync and status queries.
struct ReflectorStatus {
  InformerState state = InformerState::kStarting;
  int failures = 0;                        // in a row; 0 once a watch is open
  int refusals = 0;                        // 401, 403 and 404 in a row; WaitForCacheSync gives up on these
  TimePoint refused_since{};               // the time of the first one; meaningful if refusals > 0
  std::optional<TimePoint> current_as_of;  // the last event, bookmark or opening of a watch; absent while restored
  std::optional<Error> last_error;         // absent once a watch is open
  std::string resource_version;            // last seen; "" before the first list
  std::uint64_t lists = 0, watches = 0, events = 0;
};

// Thread safety: all members on the strand.
// Lifetime: kept alive by its stream, its turn at the gate and its timers, until Stop() drops them. Whoever starts it
// must stop it.
class Reflector final : public SharedObject {
 public:
  // No hook may call Stop().
  struct Hooks {
    std::function<void()> on_queued;      // new elements are in the fifo
    std::function<bool()> should_resync;  // absent: yes
    std::function<void()> on_status;      // state, failures or last error changed
    // A failure was reported to the observer. Absent: nobody counts them.
    std::function<void(Code)> on_failure{};
    // The cached object with that key, or null. A list uses it in place of an equal object, so that a relist keeps no
    // second copy of unchanged objects. Absent: every object is new.
    std::function<AnyRef(const ObjectKey&)> stored{};
    // Frees the objects of a list that failed, without delaying the strand. Absent: they are freed at once.
    std::function<void(ListedObjects)> discard{};
  };

  // `table` describes the kind; `strand` is the informer's. The fifo must outlive the reflector's last task; the
  // informer owns both. `saved` is null without a warm start.
  Reflector(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
            Shared<Strand> strand, Shared<Observer> observer, InformerSettings settings, Hooks hooks,
            Shared<SavedCache> saved = {});

  // The first round starts at once; with InformerSettings::shard_by, as soon as there is something to hold.
  void Start();
  // See the members of Informer. `number` is theirs, and grows. The element of the queue with which the store has that
  // state carries it. Before Start(), they only determine what that does.
  void Hold(ShardRanges ranges, std::uint64_t number);
  void ListAnew(std::uint64_t number);
  // Lists again.
  void Relist();
  // Ends stream and timers; no hook is called afterwards. Idempotent.
  void Stop();
  ReflectorStatus status() const;
  // How often Hooks::should_resync is called while it watches; kNever: not at all. Replaces InformerSettings::resync.
  void SetResync(Nanos period);
  // Forgets shared strings and subtrees that no object uses any more, in short tasks on the strand. Call it after a
  // relist was applied.
  void Sweep();
  // After Stop(), frees up to `entries` of the strings and subtrees that objects share. Returns true while there are
  // more. The destructor frees the rest at once.
  bool FreeStep(std::size_t entries) { return intake_.FreeStep(entries); }

 private:
  using Turn = client::ReconnectGate::Turn;
  using Step = void (Reflector::*)(Turn);  // sends a request, after its turn was granted
  class Stream;

  // A request that is being sent or was sent. Destroying it cancels the request and returns its turn.
  class Request {
   public:
    Request() noexcept = default;
    explicit Request(Turn turn) noexcept : turn_(std::move(turn)) {}
    Request(Request&&) noexcept = default;
    Request& operator=(Request&& other) noexcept;
    ~Request() { Close(); }

    void Sent(Shared<Stream> stream, Shared<StreamCall> call);  // replaces the previous call, for the next page
    void Close() noexcept;
    Turn& turn() noexcept { return turn_; }

   private:
    void End() noexcept;
    Turn turn_;
    Shared<Stream> stream_;
    Shared<StreamCall> call_;
  };

  // One list, with all its pages and retries.
  struct List {
    ListOptions first;    // of the first page
    ListOptions request;  // of the current page
    std::string version;  // of the first page
    ListedObjects items;
    detail::TokenCycle tokens;
    bool answered = false;  // the response to the current page has begun
    bool incomplete = false;
    bool paginated = false;
    bool without_pages = false;  // the full list after an expired continue token
    TimePoint started{};
    TimePoint last_bytes{};
    OpenSpan span{};
  };
  // One watch request, streaming list or not.
  struct Watch {
    std::string version;
    std::optional<TimePoint> opened{};
    bool unordered = false;  // started at "" or "0", so the versions of its first events are not ordered
    std::uint64_t events = 0;
    std::optional<Error> error{};  // an ERROR event, or bytes that are not events
    std::chrono::seconds timeout{};
    TimePoint started{};
  };
  // The objects collected by a streaming list, before they are published.
  struct Snapshot {
    ListedObjects items;
    bool incomplete = false;
    std::string provisional;  // version of the newest event
    TimePoint started{};
    TimePoint last_event{};
  };
  // Shared, so that it outlives a state that is left while the decoder runs.
  struct Decoder final : SharedObject {
    Decoder(WatchDecoder::OnEvent on_event, Encoding encoding);
    WatchDecoder decoder;
  };

  struct Idle {};
  // Reads the saved cache.
  struct Restoring {
    ListedObjects items;             // as of the last commit
    ListedObjects group;             // changes that no commit follows yet; without an object: a deletion
    std::size_t applied = 0;         // slots of `group` that are in `items`
    bool has_base = false;           // the first commit was read
    bool committing = false;         // `group` is being applied
    std::deque<SavedBatch> batches;  // not taken yet
    std::size_t taken_items = 0;     // of the first one
    std::optional<Result<SavedState>> end;
    bool scheduled = false;

    bool decoded() const noexcept { return items.slots() > 0 || group.slots() > 0; }
  };
  // Asks which cluster this is.
  struct Asking {
    Request request;
    std::string body;
    bool answered = false;
  };
  struct Listing {
    Request request;
    List list;
    std::optional<ListSplitter> splitter;
  };
  struct Streaming {
    Request request;
    Watch watch;
    Shared<Decoder> decoder;
    Snapshot snapshot;
  };
  struct Watching {
    Request request;
    Watch watch;
    Shared<Decoder> decoder;
  };
  struct Waiting {
    enum class Reason : std::uint8_t { kTurn, kConnection, kDelay };
    Reason reason;
    Step next;
    Turn turn{};
  };
  struct Stopped {};
  using State = std::variant<Idle, Restoring, Asking, Listing, Streaming, Watching, Waiting, Stopped>;

  // How a watch or a streaming list ended.
  struct End {
    std::optional<Error> error{};  // none: closed by the server
    bool opened = false;
    bool lost = false;       // the connection was lost; not a failure of the stream
    bool fruitless = false;  // ended within a second and without an event
    bool proved = false;     // it brought an event or a bookmark, or lasted ten seconds
  };

  // States and waiting.
  template <typename S>
  S& Become(S state);
  void Go(Step step);
  void Go(Step step, client::ReconnectGate::Purpose purpose);  // runs `step` as soon as the gate grants a turn
  void OnTurn();
  void OnGateClosed();
  void Wait(Nanos delay, Step step, bool wakes);  // `wakes`: also when another stream succeeds
  void StartRound(Turn turn);
  void SendAnyList(Turn turn);
  void EndRound(bool watch, const Error& error);  // with a failure
  void OpeningFailed(bool watch, const Error& error, Step same);
  void Park(bool watch, const Error& error, Step step);  // no connection
  // After a 410, or a version that is ahead of the server's: lists again, the first time in a row at once.
  void HistoryGone(const Error& error);
  void OnHistoryChecked(Result<std::optional<std::string>> verdict);
  Nanos DelayAfter(const Error& error);
  void CountFailure(const Error& error);
  void CountSuccess();
  void Report(bool watch, const Error& error, Nanos retry_in);
  void Changed();
  void Discard(ListedObjects& items);  // of a list or a streaming list that failed
  TimePoint Now() const noexcept { return executor_->clock()->Now(); }
  // Each step is a separate task, so that events are handled in between.
  void SweepOn() {
    if (std::holds_alternative<Stopped>(state_)) return;  // all entries will be freed
    if (intake_.SweepStep()) executor_->Post(strand_, [self = Shared<Reflector>(this)] { self->SweepOn(); });
  }

  // The current stream.
  void Open(Request& request, bool watch, const ListOptions& options);
  static void Settle(Request& request, const Error& error);  // reports a failed request to the gate
  void OnContentType(std::string_view type);
  void OnOpen();
  void OnBytes(std::string_view bytes);
  void OnEnd(Result<void> end);
  // Returns whether the stream failed because its protobuf cannot be used, as JSON can.
  bool NeedsJson(const Error& error) const noexcept {
    return encoding_ == Encoding::kProtobuf && error.code() == Code::kDecode;
  }
  void UseJson(bool watch, const Error& error, Step step);
  void ArmDeadline(Nanos delay, TimerKind kind);
  void OnDeadline();

  // reflector_list.cc
  void SendList(Turn turn);
  void SendPage(Listing& state);
  void MakeSplitter(Listing& state);
  std::string ListVersion() const;
  std::int64_t PageSize(const std::string& version) const;
  Result<void> OnListItem(std::string_view item);
  void OnListEnd(Listing& state, Result<void> end);
  Result<meta::v1::ListMeta> FinishPage(Listing& state, Result<void> end);
  void ListFailed(Listing& state, const Error& error);
  AnyRef OrStored(Received& received) const;
  void ListDone(Listing& state);
  void OnListDeadline(Listing& state);
  void Replace(ListedObjects items, const std::string& version, bool incomplete);

  // reflector_watch.cc
  void SendWatch(Turn turn);
  ListOptions WatchOptions(Watch& watch, std::string version);
  Shared<Decoder> MakeDecoder(Encoding encoding = Encoding::kJson);
  Watch* CurrentWatch() noexcept;
  void OnWatchBytes(std::string_view bytes);
  Result<void> OnEvent(const WatchEvent& event);
  Result<void> OnObjectEvent(WatchEventType type, std::string_view object);
  Result<void> OnLeftOut(bool added, std::string_view version);
  Result<void> CheckKind(const WatchEvent& event) const;
  Result<meta::v1::ObjectMeta> BookmarkOf(std::string_view object) const;
  Result<void> OnBookmark(std::string_view object);
  void Queue(WatchEventType type, Received received);
  void Record(bool added, std::string_view version);
  End Describe(const Watch& watch, Result<void> end) const;
  void WatchEnded(Watching& state, End end);
  void WatchNotOpened(const Error& error);
  void WatchFailedInside(const Error& error);
  void WatchClosed(const Watch& watch, const End& end);
  void StartCheck();
  static TimePoint EndOf(const Watch& watch) noexcept;  // when it should have ended at the latest
  void ArmWatchDeadline(const Watch& watch);
  void OnWatchDeadline(Watching& state);
  void ArmResync();
  void OnResync();

  // reflector_streaming.cc
  void SendStreaming(Turn turn);
  void Collect(Snapshot& snapshot, WatchEventType type, Received received);
  void OnMarker();
  void StreamingEnded(Streaming& state, End end);
  void StreamingFailed(const std::string& version, const Error& error);
  void FallBack(const Error& why);
  void OnStreamingDeadline(Streaming& state);

  // reflector_shard.cc
  bool holds_nothing() const noexcept { return settings_.shard_by && ranges_.empty(); }
  void SetRanges(ShardRanges ranges);
  void Follow();
  void HoldNothing();

  // reflector_restore.cc
  void Restore();
  void RestoreLater();
  void RestoreSome();
  Result<void> DecodeSome(Restoring& state);
  Result<void> TakeSaved(Restoring& state, SavedItem& item);
  void ApplyGroup(Restoring& state);
  void Restored(Result<SavedState> end);
  void SendQuestion(Turn turn);
  void OnAnswerBytes(Asking& state, std::string_view bytes);
  void OnAnswer(Asking& state, const Result<void>& end);
  void QuestionFailed(Turn turn, const Error& error);
  void ClusterIs(Turn turn, std::string uid);
  void MayBeCurrent();
  void NoteCurrent() {
    if (!stale_) current_as_of_ = Now();
  }

  const Shared<ListWatch> source_;
  const TypeTable& table_;
  DeltaFifo& fifo_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<Observer> observer_;
  const InformerSettings settings_;
  Hooks hooks_;  // emptied by Stop()
  const Shared<SavedCache> saved_;
  const std::string name_;
  const Shared<client::ReconnectGate> gate_;

  State state_;
  Encoding encoding_ = Encoding::kJson;  // of the current stream
  StrandTimer timer_;                    // of the current state: a delay or a deadline
  StrandTimer resync_timer_;
  Nanos resync_;
  Jitter jitter_;
  Backoff backoff_;
  EarlyEnds early_ends_;
  ObjectIntake intake_;
  Shared<HistoryCheck> check_;

  bool first_list_ = true;         // until the first list or streaming list ends, however it ends
  std::string version_;            // last seen; "" before the first list
  bool has_been_open_ = false;     // a watch
  bool check_due_ = false;         // the connection was, or may have been, lost since the last history check
  bool history_replaced_ = false;  // until the next list
  // Expired, ahead of the server, or from a lost history: the next list sends no version, and so gets the newest state.
  bool version_unusable_;
  bool server_pages_ = false;   // a list at "0" has been paged once
  int streaming_attempts_ = 0;  // streaming lists of this round that ended without a marker
  int expirations_ = 0;         // without progress in between

  bool started_ = false;
  ShardRanges ranges_;       // with InformerSettings::shard_by: what is held
  std::string selector_;     // of the ranges; "" without any
  std::uint64_t asked_ = 0;  // the number of the last Hold() or ListAnew()
  bool list_due_ = false;    // what is held needs a list; the next one has it

  // The following are about a saved cache.
  bool stale_ = false;                     // the state was restored, and is not known to be current
  bool bookmarked_ = false;                // a bookmark came since; what is missing is the check of the history
  bool resumable_ = false;                 // the restored state may be continued by a watch, if the cluster is the same
  std::optional<TimePoint> current_by_{};  // when a resumed watch without a bookmark gives way to a list
  std::string cluster_;                    // the last answer, or the UID in the file; "" if unknown
  int questions_ = 0;                      // that failed in a row

  // What status() returns besides the state.
  int failures_ = 0, refusals_ = 0;
  std::size_t reported_ = 0;    // failures, since a watch was open
  TimePoint reported_since_{};  // the time of the first of these
  TimePoint refused_since_{};
  std::optional<Error> last_error_;  // since a watch was open
  std::optional<TimePoint> current_as_of_;
  std::uint64_t lists_ = 0, watches_ = 0, events_ = 0;
};

// Receives the bytes of the source. Once detached, it ignores them.
class Reflector::Stream final : public StreamSink {
 public:
  explicit Stream(Shared<Reflector> owner) noexcept : owner_(std::move(owner)) {}
  void Detach() noexcept { owner_ = {}; }

  void OnContentType(std::string_view type) override {
    if (const Shared<Reflector> owner = owner_) owner->OnContentType(type);
  }
  void OnOpen() override {
    if (const Shared<Reflector> owner = owner_) owner->OnOpen();
  }
  void OnBytes(std::string_view bytes) override {
    if (const Shared<Reflector> owner = owner_) owner->OnBytes(bytes);
  }
  void OnEnd(Result<void> end) override {
    if (const Shared<Reflector> owner = owner_) owner->OnEnd(std::move(end));
  }

 private:
  Shared<Reflector> owner_;
};

// Leaves the previous state, which ends its request and its timer. Objects that it had listed are freed without
// delaying the strand.
template <typename S>
S& Reflector::Become(S state) {
  timer_.Cancel();
  if (auto* listing = std::get_if<Listing>(&state_)) Discard(listing->list.items);
  if (auto* streaming = std::get_if<Streaming>(&state_)) Discard(streaming->snapshot.items);
  if (auto* restoring = std::get_if<Restoring>(&state_); restoring != nullptr && restoring->decoded()) {
    Discard(restoring->items);
    Discard(restoring->group);
  }
  State before(std::in_place_type<S>, std::move(state));
  before.swap(state_);
  return std::get<S>(state_);
}

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_REFLECTOR_H_
