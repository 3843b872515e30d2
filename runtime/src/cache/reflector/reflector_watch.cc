// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's watches: their events, how they end, and what follows.
#include <algorithm>
#include <utility>

#include "cache/reflector/reflector.h"
#include "cache/store/deliberate_bugs.h"
#include "client/request/errors.h"
#include "codec/interpreter.h"
#include "codec/protobuf_envelope.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEndMarker = "k8s.io/initial-events-end";
constexpr Nanos kVeryShort = 1s;
constexpr Nanos kLasting = 10s;
constexpr Nanos kCheckAfter = 1s;  // a resumed watch without a response may be ahead of the server

// Larger than the decoder's limit for one object, so that an object that is too large is refused without ending the
// stream.
constexpr std::size_t kMaxEventBytes = std::size_t{64} << 20;

}  // namespace

Reflector::Decoder::Decoder(WatchDecoder::OnEvent on_event, Encoding encoding)
    : decoder(std::move(on_event), kMaxEventBytes, encoding) {}

Shared<Reflector::Decoder> Reflector::MakeDecoder(Encoding encoding) {
  return MakeShared<Decoder>([this](const WatchEvent& event) { return OnEvent(event); }, encoding);
}

ListOptions Reflector::WatchOptions(Watch& watch, std::string version) {
  watch.version = version;
  watch.unordered = version.empty() || version == "0";
  watch.timeout = std::chrono::seconds(jitter_.Between(kLeastWatchTimeout.count(), 2 * kLeastWatchTimeout.count()));
  watch.started = Now();
  ++watches_;
  ListOptions options;
  options.resource_version = std::move(version);
  options.allow_watch_bookmarks = true;
  options.timeout_seconds = watch.timeout.count();
  options.shard_selector = selector_;
  return options;
}

void Reflector::SendWatch(Turn turn) {
  bookmarked_ = false;
  Watching& state = Become(Watching{.request = Request(std::move(turn)), .watch = {}, .decoder = MakeDecoder()});
  const ListOptions options = WatchOptions(state.watch, version_);
  ArmDeadline(check_due_ ? kCheckAfter : kListDeadline, TimerKind::kProgress);
  Open(state.request, true, options);
  if (!resync_timer_.armed()) ArmResync();
  Changed();
}

Reflector::Watch* Reflector::CurrentWatch() noexcept {
  if (auto* streaming = std::get_if<Streaming>(&state_)) return &streaming->watch;
  auto* watching = std::get_if<Watching>(&state_);
  return watching != nullptr ? &watching->watch : nullptr;
}

void Reflector::OnWatchBytes(std::string_view bytes) {
  const std::size_t queued = fifo_.size();
  auto* streaming = std::get_if<Streaming>(&state_);
  const Shared<Decoder> decoder = streaming != nullptr ? streaming->decoder : std::get<Watching>(state_).decoder;
  const Result<void> fed = decoder->decoder.Feed(bytes);  // may turn Streaming into Watching
  Watch& watch = *CurrentWatch();
  if (!fed && !watch.error) watch.error = fed.error();
  // OnEvent has queued the marker first, then what followed it in the same bytes.
  if (fifo_.size() != queued && hooks_.on_queued) hooks_.on_queued();
  if (!watch.error) return;
  const Error error = *watch.error;
  if (NeedsJson(error)) {
    const bool streams = std::holds_alternative<Streaming>(state_);
    return UseJson(true, error, streams ? &Reflector::SendStreaming : &Reflector::SendWatch);
  }
  End end = Describe(watch, Fail(error));
  end.lost = false;
  if (auto* still = std::get_if<Streaming>(&state_)) return StreamingEnded(*still, std::move(end));
  WatchEnded(std::get<Watching>(state_), std::move(end));
}

Result<void> Reflector::OnEvent(const WatchEvent& event) {
  switch (event.type) {
    case WatchEventType::kAdded:
    case WatchEventType::kModified:
    case WatchEventType::kDeleted:
      if (Result<void> expected = CheckKind(event); !expected) return expected;
      return OnObjectEvent(event.type, event.object);
    case WatchEventType::kBookmark:
      return OnBookmark(event.object);
    case WatchEventType::kError:
      return Fail(CurrentWatch()->error.emplace(client::WatchError(event.object)));
    case WatchEventType::kUnknown:
      break;
  }
  if (encoding_ == Encoding::kProtobuf) {
    return Fail(Code::kDecode, "the event has the unknown type \"" + std::string(event.word) + "\"");
  }
  intake_.Report(event.object,
                 Error(Code::kDecode, "the event has the unknown type \"" + std::string(event.word) + "\""));
  ++CurrentWatch()->events;
  Record(false, PeekIdentity(event.object).resource_version);
  return {};
}

// In protobuf, the kind of an object is in its envelope.
Result<void> Reflector::CheckKind(const WatchEvent& event) const {
  if (encoding_ == Encoding::kJson) return {};
  if (codec::IsKindOf(event.kind, table_) && codec::IsApiVersionOf(event.api_version, table_)) return {};
  return Fail(Code::kDecode, "the event has an object of another kind: " + std::string(event.api_version) + " " +
                                 std::string(event.kind));
}

Result<void> Reflector::OnObjectEvent(WatchEventType type, std::string_view object) {
  const bool added = type == WatchEventType::kAdded;
  const bool initial = added && std::holds_alternative<Streaming>(state_);  // of a streaming list
  Received received = intake_.Take(object,
                                   !initial      ? Origin::kWatch
                                   : first_list_ ? Origin::kFirstList
                                                 : Origin::kLaterList,
                                   encoding_);
  if (received.json_needed) return Fail(*std::move(received.json_needed));
  Watch& watch = *CurrentWatch();
  ++watch.events;
  if (received.left_out) return OnLeftOut(added, received.version);
  ++events_;
  const std::string version = received.version;
  const bool nameless = received.key.name.empty();
  auto* streaming = std::get_if<Streaming>(&state_);
  if (nameless && type == WatchEventType::kDeleted)
    return Fail(Code::kDecode, "the name of a deleted object cannot be read");
  if (nameless && streaming != nullptr) {
    streaming->snapshot.incomplete = true;
  } else if (streaming != nullptr) {
    if (added) streaming->snapshot.last_event = Now();  // only ADDED events are initial
    Collect(streaming->snapshot, type, std::move(received));
  } else {
    NoteCurrent();
    if (watch.unordered && added) received.version.clear();
    Queue(type, std::move(received));
  }
  Record(added, version);
  return {};
}

// The event shows that the stream brings something, and how far.
Result<void> Reflector::OnLeftOut(bool added, std::string_view version) {
  if (auto* streaming = std::get_if<Streaming>(&state_)) {
    if (added) streaming->snapshot.last_event = Now();
  } else {
    NoteCurrent();
  }
  Record(added, version);
  return {};
}

void Reflector::Queue(WatchEventType type, Received received) {
  const bool readable = received.object || (type == WatchEventType::kDeleted && !received.foreign);
  if (!readable) {
    fifo_.Refuse(std::move(received.key), std::move(received.version));
  } else if (type == WatchEventType::kAdded) {
    fifo_.Add(std::move(received.key), std::move(received.object), std::move(received.version));
  } else if (type == WatchEventType::kModified) {
    fifo_.Update(std::move(received.key), std::move(received.object), std::move(received.version));
  } else {
    fifo_.Delete(std::move(received.key), std::move(received.object), std::move(received.version));
  }
}

void Reflector::Record(bool added, std::string_view version) {
  if (version.empty()) return;
  if (auto* streaming = std::get_if<Streaming>(&state_)) {
    streaming->snapshot.provisional = version;
    return;
  }
  Watch& watch = *CurrentWatch();
  if (watch.unordered && added) return;
  watch.unordered = false;
  version_ = version;
}

Result<meta::v1::ObjectMeta> Reflector::BookmarkOf(std::string_view object) const {
  if (encoding_ == Encoding::kProtobuf) return codec::MetadataOfMessage(object);
  Result<Unstructured> bookmark = Decode<Unstructured>(object);
  if (!bookmark) return Fail(std::move(bookmark).error());
  return std::move(bookmark->metadata);
}

Result<void> Reflector::OnBookmark(std::string_view object) {
  ++CurrentWatch()->events;
  const Result<meta::v1::ObjectMeta> bookmark = BookmarkOf(object);
  if (!bookmark && encoding_ == Encoding::kProtobuf) return Fail(bookmark.error());
  if (!bookmark) {
    intake_.Report(object, bookmark.error().With("bookmark"));
    Record(false, PeekIdentity(object).resource_version);
    return {};
  }
  const meta::v1::ObjectMeta& meta = *bookmark;
  if (auto* streaming = std::get_if<Streaming>(&state_)) {
    if (meta.annotations[kEndMarker] != "true") return {};
    if (meta.resourceVersion.empty()) {
      return Fail(Code::kDecode, "the bookmark that ends the initial events has no resourceVersion");
    }
    std::string& provisional = streaming->snapshot.provisional;
    if (!Injected(Bug::kVersionBeforeEndMarker) || provisional.empty()) provisional = meta.resourceVersion;
    OnMarker();
    return {};
  }
  NoteCurrent();
  if (meta.resourceVersion.empty()) return {};
  bookmarked_ = bookmarked_ || !IsOlderVersion(meta.resourceVersion, version_);
  Record(false, meta.resourceVersion);
  fifo_.Bookmark(meta.resourceVersion.str());
  MayBeCurrent();
  return {};
}

Reflector::End Reflector::Describe(const Watch& watch, Result<void> end) const {
  End how;
  const TimePoint now = Now();
  how.opened = watch.opened.has_value();
  // An event that was cut off when the connection broke is not lost: its version was not recorded, so it is sent again.
  how.lost = how.opened && !end && IsNoConnection(end.error());
  if (!end) how.error = end.error();
  how.fruitless = watch.events == 0 && now - watch.started < kVeryShort;
  how.proved = watch.events > 0 || (how.opened && now - *watch.opened >= kLasting);
  return how;
}

void Reflector::WatchEnded(Watching& state, End end) {
  const Watch watch = std::move(state.watch);
  if (end.proved) {
    backoff_.Reset();
    expirations_ = 0;
  }
  if (end.lost) {
    state.request.turn().Lost();
    check_due_ = true;
    check_->Stop();  // its request was lost with the connection; the next watch starts it again
  }
  if (!end.opened && end.error) {
    Settle(state.request, *end.error);
    return WatchNotOpened(*end.error);
  }
  state.request.turn().Leave();
  state.request.Close();
  if (end.error && !end.lost) return WatchFailedInside(*end.error);
  WatchClosed(watch, end);
}

void Reflector::WatchNotOpened(const Error& error) {
  if (IsNoConnection(error)) return Park(true, error, &Reflector::SendWatch);
  if (Injected(Bug::kRewatchFromNothing) && IsExpired(error)) {
    version_.clear();
    return Wait(backoff_.Next(jitter_), &Reflector::SendWatch, false);
  }
  if (IsVersionTooLarge(error)) version_unusable_ = true;
  if (IsExpired(error) || IsVersionTooLarge(error)) return HistoryGone(error);
  OpeningFailed(true, error, &Reflector::SendWatch);
}

// Called for an ERROR event, or for bytes that are not events.
void Reflector::WatchFailedInside(const Error& error) {
  if (error.code() == Code::kTooManyRequests) return OpeningFailed(true, error, &Reflector::SendWatch);
  if (Injected(Bug::kRewatchFromNothing) && IsExpired(error)) {
    version_.clear();
    return Wait(backoff_.Next(jitter_), &Reflector::SendWatch, false);
  }
  if (IsVersionTooLarge(error)) version_unusable_ = true;
  if (IsExpired(error) || IsVersionTooLarge(error)) return HistoryGone(error);
  resync_timer_.Cancel();
  CountFailure(error);
  const Nanos delay = DelayAfter(error);
  Report(true, error, delay);
  Wait(delay, &Reflector::StartRound, MayBeStarting(error));
}

// The server closed the watch, or the connection was lost. That is not a failure unless it keeps happening. If watches
// end at once and bring nothing, they may never work; lists then at least refresh the cache from time to time.
void Reflector::WatchClosed(const Watch& watch, const End& end) {
  const Nanos delay = early_ends_.Next(Now(), jitter_);
  if (delay == Nanos(0)) {
    if (end.lost) last_error_ = *end.error;
    return Go(&Reflector::SendWatch);
  }
  const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(Now() - watch.started);
  const Error error(Code::kUnavailable, "watch " + name_ + " keeps ending early, the last one after " +
                                            std::to_string(watch.events) + " events and " +
                                            std::to_string(lasted.count()) + " ms" +
                                            (end.lost ? ": " + end.error->message() : ""));
  CountFailure(error);
  Report(true, error, delay);
  if (end.fruitless) resync_timer_.Cancel();
  Wait(delay, end.fruitless ? &Reflector::StartRound : &Reflector::SendWatch, false);
}

void Reflector::StartCheck() {
  if (check_due_ && !Injected(Bug::kIgnoresReplacedHistory)) check_->Start();
}

TimePoint Reflector::EndOf(const Watch& watch) noexcept { return watch.started + watch.timeout + kWatchDeadlineSlack; }

// For an open watch.
void Reflector::ArmWatchDeadline(const Watch& watch) {
  if (stale_) return ArmDeadline(*current_by_ - Now(), TimerKind::kProgress);
  ArmDeadline(EndOf(watch) - Now(), TimerKind::kHousekeeping);
}

void Reflector::OnWatchDeadline(Watching& state) {
  const TimePoint answered_by = state.watch.started + kListDeadline;
  if (!state.watch.opened && Now() < answered_by) {
    StartCheck();
    return ArmDeadline(answered_by - Now(), TimerKind::kProgress);
  }
  if (!state.watch.opened) {
    return WatchEnded(
        state,
        Describe(
            state.watch,
            Fail(Code::kTimeout,
                 "watch " + name_ + " was not answered within " +
                     std::to_string(std::chrono::duration_cast<std::chrono::seconds>(kListDeadline).count()) + " s")));
  }
  if (stale_ && Now() >= *current_by_) {
    const Error error(Code::kTimeout,
                      "watch " + name_ + " has brought no bookmark for " +
                          std::to_string(std::chrono::duration_cast<std::chrono::minutes>(kBookmarkDeadline).count()) +
                          " minutes, so nothing tells whether the saved cache is current");
    Report(true, error, Nanos(0));
    return Go(&Reflector::StartRound);
  }
  if (Now() < EndOf(state.watch)) return ArmWatchDeadline(state.watch);
  // The server should have ended it by now: the connection is dead, or the server has lost the watch.
  const Error error(Code::kTimeout, "watch " + name_ + " outlived its timeout of " +
                                        std::to_string(state.watch.timeout.count()) + " s");
  Report(true, error, Nanos(0));
  Go(&Reflector::SendWatch);
}

// The timer runs as long as the watches of the round.
void Reflector::ArmResync() {
  resync_timer_.Cancel();
  if (resync_ == kNever) return;
  resync_timer_.After(resync_, TimerKind::kHousekeeping, [self = Shared<Reflector>(this)] { self->OnResync(); });
}

void Reflector::OnResync() {
  const bool due = !hooks_.should_resync || hooks_.should_resync();
  ArmResync();
  if (!due) return;
  fifo_.Resync();
  if (hooks_.on_queued) hooks_.on_queued();
}

void Reflector::SetResync(Nanos period) {
  resync_ = period;
  if (std::holds_alternative<Watching>(state_) || resync_timer_.armed()) ArmResync();  // else the next watch does
}

}  // namespace kgen::cache
