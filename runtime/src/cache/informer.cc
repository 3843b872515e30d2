// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/informer.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "cache/store/store_state.h"
#include "cache/store/version_number.h"
#include "client/request/errors.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"
#include "core/own_bytes.h"
#include "kgen/core/field_path.h"
#include "net/duration_text.h"

namespace kgen::cache {
namespace {

// Returns why no handler can be registered with these options, if so.
std::optional<Error> WhyNot(const HandlerOptions& options) {
  const auto refuse = [](const std::string& what) { return Error(Code::kInvalidArgument, "HandlerOptions::" + what); };
  if (options.resync && *options.resync <= Nanos(0)) {
    return refuse("resync is " + net::DurationText(*options.resync) +
                  ", but a period must be positive; kgen::kNever means no resync");
  }
  if (options.backlog_warning == 0u) {
    return refuse("backlog_warning is 0, but events that wait are at least one; kgen::kUnlimited means no warning");
  }
  if (options.backlog_bytes == 0u) {
    return refuse(
        "backlog_bytes is 0, but a limit must be positive; 1 merges whenever it can, and kgen::kUnlimited means no "
        "limit");
  }
  return std::nullopt;
}

constexpr std::size_t kBytesSample = 64;  // objects

// The place of an object depends on the hash of its key, so the first ones are a fair sample.
std::size_t EstimatedBytes(const AnySnapshot& view) {
  std::size_t bytes = 0, measured = 0;
  ObjectMap::Cursor cursor(view.state().objects);
  for (const ObjectLeaf* leaf = cursor.Next(); leaf != nullptr && measured < kBytesSample; leaf = cursor.Next()) {
    bytes += detail::BytesWithShare(leaf->object());
    ++measured;
  }
  return measured == 0 ? 0 : bytes * view.size() / measured;
}

}  // namespace

// Ends the informer on its strand. If the executor discards the task, no strand runs any more, and the destructor ends
// the informer at once.
class Informer::StopTask {
 public:
  explicit StopTask(Shared<Informer> informer) noexcept : informer_(std::move(informer)) {}
  StopTask(StopTask&&) noexcept = default;
  StopTask& operator=(StopTask&&) = delete;
  ~StopTask() { (*this)(); }
  void operator()() noexcept {
    if (const Shared<Informer> informer = std::exchange(informer_, {})) informer->StopOnStrand();
  }

 private:
  Shared<Informer> informer_;
};

// Frees a store that has no readers, and then the strings and subtrees that its objects shared, in tasks of bounded
// length. Made with the informer, because the informer's destructor must not need memory.
class Informer::Freer final : public SharedObject {
 public:
  Freer(Shared<ReservedPost> post, std::size_t objects_per_task)
      : post_(std::move(post)), objects_per_task_(objects_per_task) {}
  // `store` is null if it still has readers, `reflector` if the informer was never started. The reflector has been
  // stopped.
  void Start(Shared<Store> store, Shared<Reflector> reflector) noexcept {
    store_ = std::move(store);
    reflector_ = std::move(reflector);
    Continue();
  }

 private:
  void Continue() noexcept {
    post_->Post([self = Shared<Freer>(this)] { self->Step(); });
  }
  void Step() {
    std::size_t units = objects_per_task_;
    if (store_) {
      std::size_t one = 1;  // suffices to publish an empty content
      if (!std::exchange(emptied_, true)) Store::Replacement(*store_).Publish("", one);
      if (store_->FreeSome(units)) store_ = {};
    } else if (!reflector_->FreeStep(objects_per_task_)) {
      reflector_ = {};
    }
    if (store_ || reflector_) Continue();
  }

  const Shared<ReservedPost> post_;
  const std::size_t objects_per_task_;
  Shared<Store> store_;
  Shared<Reflector> reflector_;
  bool emptied_ = false;
};

void Informer::FireRelay::operator()() const {
  const Shared<StopRelay> held = relay;  // the informer may destroy this object
  if (const Shared<Informer> informer = held->Take()) informer->Stop();
}

// -------------------------------------------------------------------------------------------------- any thread

Informer::Informer(const Connection& connection, Shared<ListWatch> source, const TypeTable& table,
                   InformerSettings settings)
    : connection_(connection),
      source_(std::move(source)),
      table_(table),
      settings_(std::move(settings)),
      name_(source_->Describe()),
      executor_(connection.shared_executor()),
      observer_(&connection.observer()),
      strand_(executor_->MakeStrand("informer " + name_)),
      work_post_(executor_->ReservePost(strand_)),
      stop_post_(executor_->ReservePost(strand_)),
      freer_(MakeShared<Freer>(executor_->ReservePost(strand_), settings_.objects_per_task)),
      saved_(settings_.saved ? MakeShared<SavedCache>(*settings_.saved, name_, executor_, strand_, observer_)
                             : Shared<SavedCache>()),
      store_(MakeShared<Store>()),
      joiner_(executor_->MakeWaiter("stop of informer " + name_)),
      relay_(MakeShared<StopRelay>()),
      stop_timer_(executor_, strand_),
      save_timer_(executor_, strand_) {
  status_.name = name_;
  status_.kind = source_->kind();
  store_->SetOnFault([name = name_, observer = observer_](const StoreFault& fault) {
    NotifyObserver(observer, [&](Observer& o) { o.OnHandlerFailed({name, &fault.key, fault.what}); });
  });
}

// Runs on any thread. Tasks of the strand may still be sweeping the reflector's shared values, so they are freed on the
// strand.
Informer::~Informer() {
  if (!store_.ReleaseUnlessLast() || reflector_) freer_->Start(std::move(store_), std::move(reflector_));
}

void Informer::Start(std::stop_token stop) {
  if (detail::ForkedChild() || stopping_.load() || started_->set.exchange(true)) return;
  relay_->Set(Shared<Informer>(this));
  if (stopping_.load()) relay_->Take();  // a concurrent Stop() found nothing to take
  executor_->Post(strand_, [self = Shared<Informer>(this)] { self->StartOnStrand(); });
  on_stop_.emplace(std::move(stop), FireRelay{relay_});  // if the stop was already requested, this calls it at once
}

void Informer::Stop() noexcept {
  if (detail::ForkedChild() || stopping_.exchange(true)) return;
  stop_post_->Post(StopTask(Shared<Informer>(this)));
}

Result<void> Informer::Join(const std::stop_token& stop) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (!joins_.exchange(true)) {
    Result<void> joined;
    try {
      joined = JoinWith(*joiner_, stop);
    } catch (const std::bad_alloc&) {
      joined = Fail(detail::OutOfMemory());
    }
    joins_ = false;
    return joined;
  }
  const Shared<Waiter> waiter = executor_->MakeWaiter("stop of informer " + name_);
  const Shared<Watch> watch = OnStatusChange([waiter] { waiter->Notify(); });
  return JoinWith(*waiter, stop);
}

Result<void> Informer::JoinWith(Waiter& waiter, const std::stop_token& stop) {
  const auto ended = [this] { return ended_.load(std::memory_order_acquire); };
  while (!ended()) {
    if (Result<void> waited = waiter.Wait(stop); !waited && !ended()) return waited;
  }
  std::vector<Shared<Listener>> listeners;
  {
    const MutexLock lock(mutex_);
    listeners.swap(spare_);
    listeners = listeners_;
  }
  Result<void> joined;
  for (std::size_t i = 0; joined && i < listeners.size(); ++i) joined = listeners[i]->Join(stop);
  listeners.clear();  // before the lock is taken
  const MutexLock lock(mutex_);
  if (spare_.capacity() < listeners.capacity()) listeners.swap(spare_);
  return joined;
}

Registration Informer::AddEventHandler(AnyHandler handler, HandlerOptions options) {
  std::optional<Error> refused = WhyNot(options);
  if (!refused && (stopping_.load() || detail::ForkedChild())) refused = Stopped();
  const auto listener =
      MakeShared<Listener>(std::move(handler), std::move(options), name_, executor_, observer_, started_);
  if (refused) {
    if (refused->code() == Code::kInvalidArgument) {
      NotifyObserver(observer_, [&](Observer& o) {
        o.OnHandlerFailed({.informer = name_, .what = "not registered: " + refused->message()});
      });
    }
    listener->Reject(*std::move(refused));
    return Registration(listener);
  }
  std::vector<Shared<Listener>> gone;  // destroyed outside of the lock
  {
    const MutexLock lock(mutex_);
    std::erase_if(listeners_, [&](Shared<Listener>& old) {
      if (!old->gone()) return false;  // if it removed itself, its call may still run; Join() waits for it
      gone.push_back(old);
      return true;
    });
    if (spare_.capacity() <= listeners_.size()) spare_.reserve(2 * listeners_.size() + 4);
    listeners_.push_back(listener);
  }
  // Changes are applied on the strand, so none can come between the replay and the registration.
  const PendingListener pending{listener, executor_->clock()->Now()};
  executor_->Post(strand_, [self = Shared<Informer>(this), pending] { self->AddOnStrand(pending); });
  return Registration(listener);
}

Result<void> Informer::AddIndex(std::string_view name, const IndexFunction& function) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (IsStopped()) return Fail(Code::kStopped, "index \"" + std::string(name) + "\": the informer has been stopped");
  return store_->AddIndex(name, function);
}

Result<void> Informer::AddIndex(std::string_view name, const FieldPath& path) {
  Result<ResolvedPath> resolved = ResolvedPath::Resolve(path, table_);
  if (!resolved) return Fail(resolved.error().With("index \"" + std::string(name) + "\""));
  return AddIndex(name, [path = *std::move(resolved)](const AnyRef& object, IndexSink& sink) {
    path.Visit(object.object(), [&](const String& value) { sink.Add(value); });
  });
}

Result<void> Informer::SetTransform(TransformFunction transform) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const MutexLock lock(mutex_);
  if (started_->set.load())
    return Fail(Code::kInvalidArgument, "informer " + name_ + " has been started; set the transform before Start()");
  if (settings_.saved && settings_.saved->binding.transform.empty()) {
    return Fail(Code::kInvalidArgument,
                "informer " + name_ + " has a warm start without a name for the transform; set WarmStart::transform");
  }
  transform_ = std::move(transform);
  return {};
}

Result<void> Informer::WaitUntil(std::string_view version, std::stop_token stop, Nanos limit) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const std::string doing = "wait for resource version " + std::string(version) + " of " + name_;
  const std::optional<std::uint64_t> wanted = VersionNumber(version);
  if (!wanted) return Fail(Error(Code::kInvalidArgument, "the version is not a decimal number").With(doing));
  if (limit < Nanos(0)) {
    return Fail(
        Error(Code::kInvalidArgument, "`limit` is " + net::DurationText(limit) + ", but it must not be negative")
            .With(doing));
  }
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(doing));
  // A saved state may be of another cluster, whose versions mean nothing here.
  const auto reached = [&](const AnySnapshot& view) {
    return HasSynced() && VersionNumber(view.version()).value_or(0) >= *wanted;
  };
  const Result<AnySnapshot> waited = WaitFor(doing, reached, std::move(stop), Later(executor_->clock()->Now(), limit));
  if (waited) return {};
  if (waited.error().code() != Code::kTimeout) return Fail(waited.error().With(doing));
  return Fail(Error(Code::kTimeout, "after " + net::DurationText(limit) + " the cache is at \"" +
                                        store_->Snapshot().version() + "\"" +
                                        (Progress().stale ? ", saved by an earlier process" : "") +
                                        "; does the informer select the object that was written?")
                  .With(doing));
}

// A waiter that is notified with every transaction as long as this object lives.
class Informer::StoreWait {
 public:
  StoreWait(Informer& informer, std::string_view what)
      : informer_(informer), waiter_(informer.executor_->MakeWaiter(what)) {
    const MutexLock lock(informer_.mutex_);
    informer_.store_waiters_.push_back(waiter_);
  }
  StoreWait(const StoreWait&) = delete;
  StoreWait& operator=(const StoreWait&) = delete;
  ~StoreWait() {
    const MutexLock lock(informer_.mutex_);
    std::erase(informer_.store_waiters_, waiter_);
  }
  Waiter& waiter() const noexcept { return *waiter_; }

 private:
  Informer& informer_;
  const Shared<Waiter> waiter_;
};

Result<AnySnapshot> Informer::WaitFor(std::string_view what, const std::function<bool(const AnySnapshot&)>& met,
                                      std::stop_token stop, TimePoint deadline) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (AnySnapshot view = store_->Snapshot(); met(view)) return view;
  const StoreWait wait(*this, what);
  Result<void> waited;
  while (true) {
    const bool stopped = IsStopped() || IsRetired();  // before the look, so that the last state is looked at
    if (AnySnapshot view = store_->Snapshot(); met(view)) return view;
    if (stopped) return Fail(Stopped());
    if (!waited) return Fail(std::move(waited).error());
    // A transaction that comes between the look and the wait has notified the waiter.
    waited = wait.waiter().Wait(stop, deadline);
    if (stop.stop_requested()) return Fail(Code::kCancelled, "a stop was requested");
  }
}

std::uint64_t Informer::Hold(ShardRanges ranges) { return Ask(std::move(ranges)); }
std::uint64_t Informer::ListAnew() { return Ask(std::nullopt); }

// The calls reach the strand in the order of their numbers.
std::uint64_t Informer::Ask(std::optional<ShardRanges> ranges) {
  if (detail::ForkedChild()) return 0;
  std::uint64_t number = 0;
  {
    const MutexLock lock(mutex_);
    asked_.push_back({last_asked_ + 1, std::move(ranges)});
    number = ++last_asked_;
  }
  executor_->Post(strand_, [self = Shared<Informer>(this)] { self->TakeAsked(); });
  return number;
}

Result<void> Informer::WaitUntilHeld(std::uint64_t number, const std::stop_token& stop, TimePoint deadline) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const std::string doing = "wait until the cache of " + name_ + " holds its shard";
  const auto reached = [&](const AnySnapshot&) { return held() >= number; };
  const Result<AnySnapshot> waited = WaitFor(doing, reached, stop, deadline);
  if (waited) return {};
  if (waited.error().code() != Code::kTimeout) return Fail(waited.error().With(doing));
  const InformerStatus status = Progress();
  std::string what = "the informer is " + std::string(ToString(status.state));
  if (status.last_error) what += "; its last error: " + status.last_error->ToString();
  return Fail(Error(Code::kTimeout, what).With(doing));
}

std::string_view ToString(InformerState state) noexcept {
  switch (state) {
    case InformerState::kNotStarted:
      return "not started";
    case InformerState::kStarting:
      return "starting";
    case InformerState::kIdle:
      return "holding nothing";
    case InformerState::kRestoring:
      return "reading the saved cache";
    case InformerState::kListing:
      return "listing";
    case InformerState::kStreaming:
      return "streaming the list";
    case InformerState::kOpening:
      return "opening a watch";
    case InformerState::kWatching:
      return "watching";
    case InformerState::kDisconnected:
      return "waiting for a connection";
    case InformerState::kQueued:
      return "waiting for its turn";
    case InformerState::kBackingOff:
      return "waiting to try again";
    case InformerState::kStopped:
      return "stopped";
  }
  return "";
}

InformerStatus Informer::status() const {
  InformerStatus status = Progress();
  if (detail::ForkedChild()) return status;
  std::vector<Shared<Listener>> listeners;
  {
    const MutexLock lock(mutex_);
    status.failure_counts = failure_counts_;
    listeners = listeners_;
  }
  if (status.current_as_of) status.age = std::max(Nanos(0), Nanos(executor_->clock()->Now() - *status.current_as_of));
  status.object_bytes = EstimatedBytes(store_->Snapshot());
  for (const Shared<Listener>& listener : listeners) {
    if (!listener->removed()) status.handlers.push_back(listener->Describe());
  }
  return status;
}

InformerStatus Informer::Progress() const {
  InformerStatus status;
  if (detail::ForkedChild()) {
    status.name = name_;
    return status;
  }
  {
    const MutexLock lock(mutex_);
    status = status_;
  }
  status.started = started_->set.load();
  if (status.started && status.state == InformerState::kNotStarted) status.state = InformerState::kStarting;
  return status;
}

Shared<Informer::Watch> Informer::OnStatusChange(std::function<void()> callback) {
  return MakeShared<StatusWatch>(Shared<Informer>(this), std::move(callback));
}

}  // namespace kgen::cache
