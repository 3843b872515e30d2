// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reflector: keeps a DeltaFifo fed with the state of one resource: list, then watch, then watch again, without end.
//
//   ListWatch bytes --> split, decode, transform --> DeltaFifo --> Hooks::on_queued (the controller loop drains)
//
// A state machine on the informer's strand: every member runs there, nothing blocks, and all waiting is a timer of the
// clock or a turn at the connection's gate. One round is a streaming list, or else a paged list, followed by watches
// from the last resource version.
//
// What fails is retried by its cause:
//   no connection           parks at the gate of the connection, then sends the same request again
//   the server asks to wait (Retry-After): as long as it says and up to twice that, at most five minutes
//   the resource fails      (403, 404, 500, no list): a delay that doubles from 0.5..1 to 15..30 seconds until a watch
//                           has proved itself by an event, a bookmark or ten seconds; in the 30 seconds after the
//                           connection came back, 0.5 to 2 seconds, and once another stream succeeds, at once
//   410                     lists again at once; without progress since the last one it counts as a failure
//   a watch that ends early is opened again at once, five times and then once a second; more often with a delay that
//                           doubles to 15..30 seconds
//   a replaced history      (a restored etcd): lists again at once, without a version
//
// It never publishes streamed objects before the end marker, records a version from before the marker, goes back to an
// older state after a 410, treats a clean end of a watch as an error, or keeps a stream that it no longer reads.
//
// The state is a sum type, and each state owns what belongs to it: leaving a state ends its request and its timer.
//
//   Idle --Start--> Waiting --turn granted--> Streaming --marker--> Watching --ends--> Waiting --> ...
//                      |                          | cannot stream
//                      +----------------------> Listing --last page--> Waiting --turn--> Watching
//
// Everything that opens a stream goes through Waiting, because it needs a turn at the gate; when the connection works
// that takes no time. Parts: reflector.cc (rounds, waiting, requests), reflector_watch.cc, reflector_list.cc,
// reflector_streaming.cc.
#ifndef KGEN_RUNTIME_CACHE_REFLECTOR_H_
#define KGEN_RUNTIME_CACHE_REFLECTOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cache/backoff.h"
#include "cache/delta_fifo.h"
#include "cache/history_check.h"
#include "cache/informer_options.h"
#include "cache/list_watch.h"
#include "cache/object_intake.h"
#include "cache/strand_timer.h"
#include "cache/watch_errors.h"
#include "client/gate.h"
#include "client/watch_decoder.h"
#include "codec/list_splitter.h"
#include "kgen/client/pages.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// The server is asked to end a watch after between this and twice as long.
inline constexpr std::chrono::seconds kLeastWatchTimeout = std::chrono::minutes(5);
// A watch that outlives its timeout by this is ended from here.
inline constexpr Nanos kWatchDeadlineSlack = std::chrono::seconds(30);
// A list that receives no byte for so long fails, and so does a watch without a response.
inline constexpr Nanos kListDeadline = std::chrono::minutes(1);
// A streaming list without an initial event for so long, or without its end marker for five times as long, falls back
// to a list.
inline constexpr Nanos kEndMarkerDeadline = std::chrono::minutes(1);

// The state of a reflector, for WaitForCacheSync and status queries.
struct ReflectorStatus {
  enum class State : std::uint8_t {
    kIdle,
    kListing,
    kStreaming,
    kOpening,       // a watch was requested
    kWatching,      // a watch is open
    kDisconnected,  // waits for a connection
    kQueued,        // waits for its turn on a working connection
    kBackingOff,    // waits before it tries again
    kStopped
  };
  State state = State::kIdle;
  int failures = 0;                        // in a row; 0 once a watch is open
  int refusals = 0;                        // 401, 403 and 404 in a row: what a wait for the sync gives up on
  TimePoint refused_since{};               // the first of them; meaningful if refusals > 0
  std::optional<TimePoint> current_as_of;  // the last event, bookmark or opening of a watch
  bool has_error = false;
  Error last_error{Code::kInternal, ""};  // meaningful if has_error
  std::string resource_version;           // last seen; "" before the first list
  std::uint64_t lists = 0, watches = 0, events = 0;
};

// Thread safety: all members on the strand.
// Lifetime: kept alive by its stream, its turn at the gate and its timers, until Stop() drops them. Whoever starts it
// must stop it.
class Reflector final : public SharedObject {
 public:
  // None may call Stop().
  struct Hooks {
    std::function<void()> on_queued;      // the fifo has something new
    std::function<bool()> should_resync;  // absent: yes
    std::function<void()> on_status;      // state, failures or last error changed
    // The cached object with that key, or null. A list uses it in place of an equal object, so that a relist makes no
    // second copy of unchanged objects. Absent: every object is a new one.
    std::function<AnyRef(const ObjectKey&)> stored{};
    // Frees the objects of a list that failed, without delaying the strand. Absent: they are freed at once.
    std::function<void(ListedObjects)> discard{};
  };

  // `table` is of the kind; `strand` the informer's. The fifo must outlive the reflector's last task: both belong to
  // the informer.
  Reflector(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
            Shared<Strand> strand, Shared<Observer> observer, InformerOptions options, Hooks hooks);

  void Start();  // the first round starts at once
  // Ends stream and timers; no hook is called afterwards. Idempotent.
  void Stop();
  ReflectorStatus status() const;
  // How often Hooks::should_resync is called while it watches; 0: never. Replaces InformerOptions::resync.
  void SetResync(Nanos period);
  // Forgets shared strings and subtrees that no object uses any more, in short tasks on the strand. Call it after a
  // relist was applied.
  void Sweep();
  // Frees, after Stop(), up to so many of the strings and subtrees that it keeps for objects to share. Returns true
  // while there are more. The destructor frees the rest at once.
  bool FreeStep(std::size_t entries) { return intake_.FreeStep(entries); }

 private:
  using Turn = client::Gate::Turn;
  using Step = void (Reflector::*)(Turn);  // sends something; the turn has been granted
  class Stream;

  // A request under way, from before it was sent. Destroying it ends it and gives its turn back.
  class Request {
   public:
    Request() noexcept = default;
    explicit Request(Turn turn) noexcept : turn_(std::move(turn)) {}
    Request(Request&&) noexcept = default;
    Request& operator=(Request&& other) noexcept;
    ~Request() { Close(); }

    void Sent(Shared<Stream> stream, Shared<StreamCall> call);  // instead of the one before: the next page
    void Close() noexcept;
    Turn& turn() noexcept { return turn_; }

   private:
    void End() noexcept;
    Turn turn_;
    Shared<Stream> stream_;
    Shared<StreamCall> call_;
  };

  // One list, over all its pages and its second attempts.
  struct List {
    ListOptions first;    // of the first page
    ListOptions request;  // of the page under way
    std::string version;  // of the first page
    ListedObjects items;
    detail::TokenCycle tokens;
    bool answered = false;  // the page under way has a head
    bool incomplete = false;
    bool paginated = false;
    bool without_pages = false;  // the full list after an expired continue token
    TimePoint started{};
    TimePoint last_bytes{};
  };
  // One watch request, streaming list or not.
  struct Watch {
    std::string version;
    std::optional<TimePoint> opened{};
    bool unordered = false;  // started at "" or "0": what comes first has no order of versions
    std::uint64_t events = 0;
    std::optional<Error> error{};  // an ERROR event, or an event that ends the watch
    std::chrono::seconds timeout{};
    TimePoint started{};
  };
  // The private store of a streaming list.
  struct Snapshot {
    ListedObjects items;
    bool incomplete = false;
    std::string provisional;  // version of the newest event
    TimePoint started{};
    TimePoint last_event{};
  };
  // Shared, so that it outlives the state that is left while it reads.
  struct Decoder final : SharedObject {
    explicit Decoder(WatchDecoder::OnEvent on_event);
    WatchDecoder decoder;
  };

  struct Idle {};
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
  using State = std::variant<Idle, Listing, Streaming, Watching, Waiting, Stopped>;

  // How a watch or streaming list came to its end.
  struct End {
    std::optional<Error> error{};  // none: closed by the server
    bool opened = false;
    bool lost = false;       // with the connection: nothing against the stream
    bool fruitless = false;  // within a second and without an event
    bool proved = false;     // by an event, a bookmark or ten seconds
  };

  // States and waiting.
  template <typename S>
  S& Become(S state);
  void Go(Step step);
  void Go(Step step, client::Gate::Purpose purpose);  // as soon as the gate lets it
  void OnTurn();
  void OnGateClosed();
  void Wait(Nanos delay, Step step, bool wakes);  // `wakes`: also when another stream succeeds
  void StartRound(Turn turn);
  void EndRound(bool watch, const Error& error);  // with a failure
  void OpeningFailed(bool watch, const Error& error, Step same);
  void Park(bool watch, const Error& error, Step step);  // no connection
  // 410, or a version of the future: lists, at once for the first time in a row.
  void HistoryGone(const Error& error);
  void OnHistoryChecked(Result<std::optional<std::string>> verdict);
  Nanos DelayAfter(const Error& error);
  void CountFailure(const Error& error);
  void CountSuccess();
  void Report(bool watch, const Error& error, Nanos retry_in);
  void Changed();
  void Discard(ListedObjects& items);  // of a list or streaming list that came to nothing
  TimePoint Now() const noexcept { return executor_->clock()->Now(); }
  // One short task after the other, so that events come in between.
  void SweepOn() {
    if (std::holds_alternative<Stopped>(state_)) return;  // all of it goes
    if (intake_.SweepStep()) executor_->Post(strand_, [self = Shared<Reflector>(this)] { self->SweepOn(); });
  }

  // Of the stream that is open.
  void Open(Request& request, bool watch, const ListOptions& options);
  static void Settle(Request& request, const Error& error);  // tells the gate of a request that was not answered well
  void OnOpen();
  void OnBytes(std::string_view bytes);
  void OnEnd(Result<void> end);
  void ArmDeadline(Nanos delay, TimerKind kind);
  void OnDeadline();

  // reflector_list.cc
  void SendList(Turn turn);
  void SendPage(Listing& state);
  std::string ListVersion() const;
  std::int64_t PageSize(const std::string& version) const;
  Result<void> OnListItem(std::string_view item);
  void OnListEnd(Listing& state, Result<void> end);
  Result<meta::v1::ListMeta> FinishPage(Listing& state, Result<void> end);
  void ListFailed(Listing& state, const Error& error);
  AnyRef OrStored(const ObjectKey& key, AnyRef object) const;
  void ListDone(Listing& state);
  void OnListDeadline(Listing& state);
  void Replace(ListedObjects items, const std::string& version, bool incomplete);

  // reflector_watch.cc
  void SendWatch(Turn turn);
  ListOptions WatchOptions(Watch& watch, std::string version);
  Shared<Decoder> MakeDecoder();
  Watch* CurrentWatch() noexcept;
  void OnWatchBytes(std::string_view bytes);
  Result<void> OnEvent(const WatchEvent& event);
  Result<void> OnObjectEvent(WatchEventType type, std::string_view object);
  Result<void> OnBookmark(std::string_view object);
  void Queue(WatchEventType type, Received received);
  void Record(bool added, std::string_view version);
  End Describe(const Watch& watch, Result<void> end) const;
  void WatchEnded(Watching& state, End end);
  void WatchNotOpened(const Error& error);
  void WatchFailedInside(const Error& error);
  void WatchClosed(const Watch& watch, const End& end);
  void StartCheck();
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

  const Shared<ListWatch> source_;
  const TypeTable& table_;
  DeltaFifo& fifo_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<Observer> observer_;
  const InformerOptions options_;
  Hooks hooks_;  // emptied by Stop()
  const std::string name_;
  const Shared<client::Gate> gate_;

  State state_;
  StrandTimer timer_;  // of the state: a delay or a deadline
  StrandTimer resync_timer_;
  Nanos resync_;
  Jitter jitter_;
  Backoff backoff_;
  EarlyEnds early_ends_;
  ObjectIntake intake_;
  Shared<HistoryCheck> check_;

  std::string version_;         // last seen; "" before the first list
  bool has_been_open_ = false;  // a watch
  bool check_due_ = false;      // the connection was lost, or may have been, since the history was known to be intact
  bool history_replaced_ = false;  // until the next list
  bool version_unusable_ = false;  // expired, ahead of the server, or of a history that is gone
  bool server_pages_ = false;      // a list at "0" came in pages once
  int streaming_attempts_ = 0;     // of this round, that ended without a marker
  int expirations_ = 0;            // without progress in between

  // What status() shows besides the state.
  int failures_ = 0, refusals_ = 0;
  TimePoint refused_since_{};
  std::optional<Error> last_error_;
  bool has_error_ = false;
  std::optional<TimePoint> current_as_of_;
  std::uint64_t lists_ = 0, watches_ = 0, events_ = 0;
};

// What the source talks to. Once detached it passes nothing on.
class Reflector::Stream final : public StreamSink {
 public:
  explicit Stream(Shared<Reflector> owner) noexcept : owner_(std::move(owner)) {}
  void Detach() noexcept { owner_ = {}; }

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

// Ends the state before, with its request and its timer. What it had listed is freed without holding up the strand.
template <typename S>
S& Reflector::Become(S state) {
  timer_.Cancel();
  if (auto* listing = std::get_if<Listing>(&state_)) Discard(listing->list.items);
  if (auto* streaming = std::get_if<Streaming>(&state_)) Discard(streaming->snapshot.items);
  State before(std::in_place_type<S>, std::move(state));
  before.swap(state_);
  return std::get<S>(state_);
}

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_REFLECTOR_H_
