// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's streaming list: a watch that begins with the whole state.
#include <algorithm>
#include <utility>

#include "cache/reflector/reflector.h"
#include "core/observers/notify_observer.h"

namespace kgen::cache {
namespace {

// How many streams of a round may end without a marker before the reflector lists. One may be bad luck; if it happens
// again, the server or a proxy will probably never send the marker, and the informer would wait forever.
constexpr int kStreamingAttempts = 2;
constexpr int kDeadlinesForAll = 5;

}  // namespace

void Reflector::SendStreaming(Turn turn) {
  Streaming& state =
      Become(Streaming{.request = Request(std::move(turn)), .watch = {}, .decoder = MakeDecoder(), .snapshot = {}});
  state.snapshot.started = state.snapshot.last_event = Now();
  ListOptions options = WatchOptions(state.watch, version_unusable_ ? "" : version_);
  options.resource_version_match = "NotOlderThan";
  options.send_initial_events = true;
  ArmDeadline(kEndMarkerDeadline, TimerKind::kProgress);
  Open(state.request, true, options);
  Changed();
}

void Reflector::Collect(Snapshot& snapshot, WatchEventType type, Received received) {
  if (type == WatchEventType::kDeleted && !received.foreign) return snapshot.items.Remove(received.key);
  AnyRef object = OrStored(received);
  snapshot.items.Upsert(std::move(received.key), std::move(object));
}

// The stream continues as the watch.
void Reflector::OnMarker() {
  auto& streaming = std::get<Streaming>(state_);
  Snapshot done = std::move(streaming.snapshot);
  streaming.watch.unordered = false;
  Watching& watching = Become(Watching{.request = std::move(streaming.request),
                                       .watch = std::move(streaming.watch),
                                       .decoder = std::move(streaming.decoder)});
  const Observer::Relisted event{name_, done.provisional, done.items.size(), true, Now() - done.started};
  NotifyObserver(observer_, [&](Observer& o) { o.OnRelisted(event); });
  ++lists_;
  Replace(std::move(done.items), done.provisional, done.incomplete);
  ArmWatchDeadline(watching.watch);
  ArmResync();
  CountSuccess();
}

void Reflector::StreamingEnded(Streaming& state, End end) {
  const std::string version = state.watch.version;
  if (end.lost) state.request.turn().Lost();
  if (!end.opened && end.error) Settle(state.request, *end.error);
  state.request.Close();
  if (!end.opened && end.error && IsNoConnection(*end.error)) return Park(true, *end.error, &Reflector::SendStreaming);
  if (end.error && !end.lost) return StreamingFailed(version, *end.error);
  const Error error(Code::kUnavailable,
                    "streaming list " + name_ + " ended before the bookmark that ends the initial events");
  if (end.fruitless || ++streaming_attempts_ >= kStreamingAttempts) return FallBack(error);
  Report(true, error, Nanos(0));
  Go(&Reflector::SendStreaming);
}

void Reflector::StreamingFailed(const std::string& version, const Error& error) {
  if (error.code() == Code::kTooManyRequests) return OpeningFailed(true, error, &Reflector::SendStreaming);
  if ((IsExpired(error) || IsVersionTooLarge(error)) && !version.empty()) {
    version_unusable_ = true;
    Report(true, error, Nanos(0));
    return Go(&Reflector::SendStreaming);
  }
  // The server supports streaming lists and is still starting; it would refuse a list as well.
  if (lists_ > 0 && MayBeStarting(error) && gate_->reconnected_lately()) {
    return OpeningFailed(true, error, &Reflector::SendStreaming);
  }
  FallBack(error);
}

void Reflector::FallBack(const Error& why) {
  Report(true, why, Nanos(0));
  Go(&Reflector::SendList);
}

void Reflector::OnStreamingDeadline(Streaming& state) {
  const Snapshot& snapshot = state.snapshot;
  const TimePoint due =
      std::min(snapshot.last_event + kEndMarkerDeadline, snapshot.started + kDeadlinesForAll * kEndMarkerDeadline);
  if (Now() < due) return ArmDeadline(due - Now(), TimerKind::kProgress);
  FallBack(Error(
      Code::kTimeout,
      "streaming list " + name_ + " without the bookmark that ends the initial events for " +
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(Now() - snapshot.started).count()) + " s"));
}

}  // namespace kgen::cache
