// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/reflector.h"

#include <algorithm>
#include <utility>

#include "cache/deliberate_bugs.h"
#include "cache/reflector_impl.h"
#include "core/tell.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEndMarker = "k8s.io/initial-events-end";
constexpr Nanos kVeryShort = 1s;

// Larger than what the decoder takes, so that an object that is too large is refused by itself instead of ending its
// stream. [D6]
constexpr std::size_t kMaxEventBytes = std::size_t{64} << 20;

// Sums of durations must not overflow, and nothing that runs for a week is waited for by more than that.
ReflectorOptions Bounded(ReflectorOptions options) {
  constexpr Nanos kLongest = 7 * 24h;
  for (Nanos* duration : {&options.min_watch_timeout, &options.end_marker_deadline, &options.list_deadline,
                          &options.watch_deadline_slack, &options.internal_error_retry}) {
    *duration = std::min(*duration, kLongest);
  }
  return options;
}

// In simulation the clock follows the seed, elsewhere no two processes start in the same microsecond of the same name.
std::uint64_t SeedOf(const ReflectorOptions& options, Clock& clock, std::string_view name) {
  if (options.seed != 0) return options.seed;
  std::uint64_t seed = 1469598103934665603u;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211u;
  seed ^= static_cast<std::uint64_t>(clock.WallNow().time_since_epoch().count()) * 0x9E3779B97F4A7C15u;
  return seed ^ static_cast<std::uint64_t>(clock.Now().time_since_epoch().count());
}

}  // namespace

Reflector::Impl::Impl(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
                      Shared<Strand> strand, Shared<Observer> observer, ReflectorOptions options, Hooks hooks)
    : source_(std::move(source)),
      table_(table),
      fifo_(fifo),
      executor_(std::move(executor)),
      strand_(std::move(strand)),
      observer_(std::move(observer)),
      options_(Bounded(std::move(options))),
      hooks_(std::move(hooks)),
      name_(source_->Describe()),
      backoff_(SeedOf(options_, *executor_->clock(), name_), executor_->clock()->Now()),
      internal_errors_(options_.internal_error_retry),
      intake_(table, name_, observer_, options_.decode, options_.sharing, options_.transform),
      wait_timer_(executor_, strand_),
      deadline_timer_(executor_, strand_),
      resync_timer_(executor_, strand_) {}

// ------------------------------------------------------------------------------------------ rounds and waiting

void Reflector::Impl::Start() {
  if (phase_ == Phase::kNone) StartRound();
}

void Reflector::Impl::Stop() {
  if (phase_ == Phase::kStopped) return;
  const Shared<Impl> keep(this);
  phase_ = Phase::kStopped;
  CloseStream();
  wait_timer_.Cancel();
  resync_timer_.Cancel();
  list_ = {};
  snapshot_ = {};
  status_.state = ReflectorStatus::State::kStopped;
  hooks_ = {};
}

void Reflector::Impl::StartRound() {
  ++status_.rounds;
  streaming_attempts_ = 0;
  if (options_.streaming_list && source_->SupportsStreamingList()) return StartStreaming();
  StartList();
}

void Reflector::Impl::EndRound(bool watch, const Error& error) {
  CloseStream();
  resync_timer_.Cancel();
  CountFailure(error);
  const Nanos delay = backoff_.Next(Now(), error.retry_after_seconds());
  Report(watch, error, delay);
  if (hooks_.on_failed) hooks_.on_failed(error, status_.failures);  // before the wait [WE-02]
  Wait(delay, &Impl::StartRound);
}

void Reflector::Impl::EndRoundQuietly(const Error& why) {
  CloseStream();
  resync_timer_.Cancel();
  const Nanos delay = backoff_.Next(Now(), why.retry_after_seconds());  // a clean end waits as well [ER-13]
  Report(true, why, delay);
  Wait(delay, &Impl::StartRound);
}

void Reflector::Impl::RetryLater(bool watch, const Error& error, Step step) {
  CloseStream();
  CountFailure(error);
  const Nanos delay = backoff_.Next(Now(), error.retry_after_seconds());
  Report(watch, error, delay);
  Wait(delay, step);
}

void Reflector::Impl::Wait(Nanos delay, Step step) {
  phase_ = Phase::kWaiting;
  SetState(ReflectorStatus::State::kBackingOff);
  wait_timer_.After(delay, TimerKind::kProgress, [self = Shared<Impl>(this), step] { (self.get()->*step)(); });
}

void Reflector::Impl::CountFailure(const Error& error) {
  ++status_.failures;
  status_.refusals = IsRefusal(error) ? status_.refusals + 1 : 0;
  status_.has_error = true;
  status_.last_error = error;
}

void Reflector::Impl::CountSuccess() {
  status_.failures = 0;
  status_.refusals = 0;
  status_.has_error = false;
  Changed();
}

void Reflector::Impl::Report(bool watch, const Error& error, Nanos retry_in) {
  const Observer::ListOrWatchFailed event{
      name_, watch, &error, std::max(status_.failures, 1), retry_in, status_.refusals >= kRefusalsToGiveUp};
  Tell(observer_, [&](Observer& o) { o.OnListOrWatchFailed(event); });
}

void Reflector::Impl::SetState(ReflectorStatus::State state) {
  status_.state = state;
  Changed();
}

void Reflector::Impl::Changed() {
  if (hooks_.on_status) hooks_.on_status();
}

// -------------------------------------------------------------------------------------------------- the stream

void Reflector::Impl::OpenStream(bool watch, const ListOptions& options) {
  stream_ = MakeShared<Stream>(Shared<Impl>(this));
  last_bytes_ = Now();
  call_ = watch ? source_->Watch(options, strand_, stream_) : source_->List(options, strand_, stream_);
}

void Reflector::Impl::CloseStream() {
  deadline_timer_.Cancel();
  if (stream_) stream_->Detach();
  stream_ = {};
  if (const Shared<StreamCall> call = std::exchange(call_, {})) call->Cancel();
  splitter_.reset();
  decoder_.reset();
}

void Reflector::Impl::OnOpen() {
  if (phase_ == Phase::kList) return;
  watch_.open = true;
  if (phase_ == Phase::kWatch) CountSuccess();
}

void Reflector::Impl::OnBytes(std::string_view bytes) {
  last_bytes_ = Now();
  if (phase_ == Phase::kList) return OnListBytes(bytes);
  OnWatchBytes(bytes);
}

void Reflector::Impl::OnEnd(Result<void> end) {
  if (phase_ == Phase::kList) return OnListEnd(std::move(end));
  End how = DescribeEnd(std::move(end));
  if (phase_ == Phase::kStreaming) return StreamingEnded(std::move(how));
  WatchEnded(std::move(how));
}

void Reflector::Impl::ArmDeadline(Nanos delay, TimerKind kind) {
  deadline_timer_.After(delay, kind, [self = Shared<Impl>(this)] { self->OnDeadline(); });
}

void Reflector::Impl::OnDeadline() {
  if (phase_ == Phase::kList) return OnListDeadline();
  if (phase_ == Phase::kStreaming) return OnStreamingDeadline();
  if (phase_ != Phase::kWatch) return;
  // The server should have ended it by now: the connection is dead, or the server has forgotten us. [D16]
  const Error error(Code::kTimeout,
                    "watch " + name_ + " outlived its timeout of " + std::to_string(watch_.timeout.count()) + " s");
  CloseStream();
  Report(true, error, Nanos(0));
  StartWatch();
}

// ----------------------------------------------------------------------------------------------------- watches

void Reflector::Impl::EnterWatchPhase() {
  ArmResync();  // lives as long as the watch phase of the round [RW-13, RW-14]
}

ListOptions Reflector::Impl::WatchOptions(std::string version) {
  const auto least =
      std::chrono::duration_cast<std::chrono::seconds>(std::max<Nanos>(options_.min_watch_timeout, 5min));  // [RW-02]
  watch_ = {};
  watch_.version = version;
  watch_.unordered = version.empty() || version == "0";
  watch_.timeout = std::chrono::seconds(backoff_.jitter().Between(least.count(), 2 * least.count()));
  watch_.started = Now();  // before the request [RW-04]
  ++status_.watches;
  decoder_.emplace([this](std::string_view type, std::string_view object) { return OnEvent(type, object); },
                   kMaxEventBytes);
  ListOptions options;
  options.resource_version = std::move(version);
  options.allow_watch_bookmarks = true;
  options.timeout_seconds = watch_.timeout.count();
  return options;
}

void Reflector::Impl::StartWatch() {
  phase_ = Phase::kWatch;
  const ListOptions options = WatchOptions(status_.resource_version);  // [RW-01]
  SetState(ReflectorStatus::State::kWatching);
  ArmDeadline(watch_.timeout + options_.watch_deadline_slack, TimerKind::kHousekeeping);
  OpenStream(true, options);
}

void Reflector::Impl::OnWatchBytes(std::string_view bytes) {
  const std::size_t queued = fifo_.size();
  const Result<void> fed = decoder_->Feed(bytes);
  if (!fed && !watch_.error) watch_.error = fed.error();
  // The marker first: what came behind it in the same bytes was queued after it, by OnEvent.
  if (fifo_.size() != queued && hooks_.on_queued) hooks_.on_queued();
  if (!watch_.error) return;
  const End end{watch_.error, true};
  if (phase_ == Phase::kStreaming) return StreamingEnded(end);
  WatchEnded(end);
}

Result<void> Reflector::Impl::OnEvent(std::string_view type, std::string_view object) {
  if (type == "ERROR") return Fail(watch_.error.emplace(WatchError(object)));
  if (type == "BOOKMARK") return OnBookmark(object);
  if (type == "ADDED" || type == "MODIFIED" || type == "DELETED") return OnObjectEvent(type, object);
  intake_.Report(object, Error(Code::kDecode, "an event of the unknown type \"" + std::string(type) + "\""));
  ++watch_.events;
  Record(false, PeekIdentity(object).resource_version);
  return {};
}

Result<void> Reflector::Impl::OnObjectEvent(std::string_view type, std::string_view object) {
  Received received = intake_.Take(object);
  ++watch_.events;
  ++status_.events;
  const bool added = type == "ADDED";
  const std::string version = received.version;
  const bool nameless = received.key.name.empty();
  if (nameless && type == "DELETED") return Fail(Code::kDecode, "a deletion of an object whose name cannot be read");
  if (nameless && phase_ == Phase::kStreaming) {
    snapshot_.incomplete = true;
  } else if (phase_ == Phase::kStreaming) {
    snapshot_.last_event = added ? Now() : snapshot_.last_event;  // what is not ADDED is not initial
    Collect(type, std::move(received));
  } else {
    if (watch_.unordered && added) received.version.clear();
    Queue(type, std::move(received));
  }
  Record(added, version);
  return {};
}

void Reflector::Impl::Queue(std::string_view type, Received received) {
  const bool readable = received.object || (type == "DELETED" && !received.foreign);
  if (!readable) {
    fifo_.Refuse(std::move(received.key), std::move(received.version));
  } else if (type == "ADDED") {
    fifo_.Add(std::move(received.key), std::move(received.object), std::move(received.version));
  } else if (type == "MODIFIED") {
    fifo_.Update(std::move(received.key), std::move(received.object), std::move(received.version));
  } else {
    fifo_.Delete(std::move(received.key), std::move(received.object), std::move(received.version));
  }
}

// [RW-09, RW-10, WL-12]
void Reflector::Impl::Record(bool added, std::string_view version) {
  if (version.empty()) return;
  if (phase_ == Phase::kStreaming) {
    snapshot_.provisional = version;
    return;
  }
  if (watch_.unordered && added) return;
  watch_.unordered = false;
  status_.resource_version = version;
}

Result<void> Reflector::Impl::OnBookmark(std::string_view object) {
  ++watch_.events;  // [BM-01]
  const Result<Unstructured> bookmark = Decode<Unstructured>(object);
  if (!bookmark) {
    intake_.Report(object, bookmark.error().With("bookmark"));
    Record(false, PeekIdentity(object).resource_version);
    return {};
  }
  const meta::v1::ObjectMeta& meta = bookmark->metadata;
  if (phase_ == Phase::kStreaming) {
    if (meta.annotations[kEndMarker] != "true") return {};  // [WL-04]
    if (!Injected(Bug::kVersionBeforeEndMarker) || snapshot_.provisional.empty())
      snapshot_.provisional = meta.resourceVersion;
    OnMarker();
    return {};
  }
  if (meta.resourceVersion.empty()) return {};
  Record(false, meta.resourceVersion);
  fifo_.Bookmark(meta.resourceVersion.str());  // [BM-02, BM-04]
  return {};
}

Reflector::Impl::End Reflector::Impl::DescribeEnd(Result<void> end) const {
  End how;
  how.opened = watch_.open;
  // A connection that breaks under a running stream says nothing against the stream: it is closed, like one that the
  // server ended. A frame that was cut is not missed, as its version was not recorded.
  const bool lost = how.opened && !end && end.error().code() == Code::kUnavailable && end.error().status() == nullptr;
  if (!end && !lost) how.error = end.error();
  how.very_short = !how.error && watch_.events == 0 && Now() - watch_.started < kVeryShort;
  return how;
}

void Reflector::Impl::WatchEnded(End end) {
  CloseStream();
  if (end.error && end.opened) return WatchFailedInside(*end.error);
  if (end.error) {
    if (IsRetriable(*end.error)) return RetryLater(true, *end.error, &Impl::StartWatch);  // [ER-03]
    if (Injected(Bug::kRewatchFromNothing) && IsExpired(*end.error)) {
      status_.resource_version.clear();
      return RetryLater(true, *end.error, &Impl::StartWatch);
    }
    return EndRound(true, *end.error);  // [ER-04]
  }
  if (end.very_short) {
    return EndRoundQuietly(Error(Code::kUnavailable, "watch " + name_ + " ended within a second and without an event"));
  }
  StartWatch();  // [RW-03]
}

void Reflector::Impl::WatchFailedInside(const Error& error) {
  if (error.code() == Code::kTooManyRequests) return RetryLater(true, error, &Impl::StartWatch);  // [ER-05]
  if (Injected(Bug::kRewatchFromNothing) && IsExpired(error)) {
    status_.resource_version.clear();
    return RetryLater(true, error, &Impl::StartWatch);
  }
  if (IsInternal(error) && internal_errors_.Allow(Now())) {  // [ER-07]
    Report(true, error, Nanos(0));
    return StartWatch();
  }
  EndRoundQuietly(error);
}

void Reflector::Impl::ArmResync() {
  resync_timer_.Cancel();
  if (options_.resync <= Nanos(0)) return;
  resync_timer_.After(options_.resync, TimerKind::kHousekeeping, [self = Shared<Impl>(this)] { self->OnResync(); });
}

void Reflector::Impl::OnResync() {
  const bool due = !hooks_.should_resync || hooks_.should_resync();  // [RS-08]
  ArmResync();
  if (!due) return;
  fifo_.Resync();
  if (hooks_.on_queued) hooks_.on_queued();
}

// ----------------------------------------------------------------------------------------------------- outside

Reflector::Reflector(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
                     Shared<Strand> strand, Shared<Observer> observer, ReflectorOptions options, Hooks hooks)
    : impl_(MakeShared<Impl>(std::move(source), table, fifo, std::move(executor), std::move(strand),
                             std::move(observer), std::move(options), std::move(hooks))) {}
Reflector::~Reflector() { impl_->Stop(); }

void Reflector::Start() { impl_->Start(); }
void Reflector::Stop() { impl_->Stop(); }
const ReflectorStatus& Reflector::status() const noexcept { return impl_->status(); }
void Reflector::Sweep() { impl_->Sweep(); }

}  // namespace kgen::cache
