// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's streaming list: a watch that begins with the whole state. [INF WL]
#include <algorithm>
#include <utility>

#include "cache/reflector_impl.h"
#include "core/tell.h"

namespace kgen::cache {
namespace {

// Streams that end without a marker are tried so often in a round before it lists. One is bad luck; more are a server
// or a proxy that will never send it, which would keep the informer waiting for ever. [WL-09]
constexpr int kAttempts = 2;
constexpr int kDeadlinesForAll = 5;

}  // namespace

void Reflector::Impl::StartStreaming() {
  phase_ = Phase::kStreaming;
  snapshot_ = {};
  snapshot_.started = snapshot_.last_event = Now();
  ListOptions options = WatchOptions(version_unusable_ ? "" : status_.resource_version);  // [WL-02]
  options.resource_version_match = "NotOlderThan";
  options.send_initial_events = true;  // [WL-01]
  SetState(ReflectorStatus::State::kStreaming);
  ArmDeadline(options_.end_marker_deadline, TimerKind::kProgress);
  OpenStream(true, options);
}

// [WL-03]
void Reflector::Impl::Collect(std::string_view type, Received received) {
  const auto [place, is_new] = snapshot_.places.try_emplace(received.key, snapshot_.items.size());
  if (type == "DELETED" && !received.foreign) {
    if (!is_new) snapshot_.items[place->second].key = {};
    snapshot_.places.erase(place);
    return;
  }
  received.object = OrStored(received.key, std::move(received.object));
  if (is_new) {
    snapshot_.items.push_back({std::move(received.key), std::move(received.object)});
    return;
  }
  ListedObject& item = snapshot_.items[place->second];
  item.stale = !received.object;
  if (received.object) item.object = std::move(received.object);
}

// [WL-05]
void Reflector::Impl::OnMarker() {
  version_unusable_ = false;
  Snapshot done = std::exchange(snapshot_, {});
  std::erase_if(done.items, [](const ListedObject& item) { return item.key.name.empty(); });
  const Observer::Relisted event{name_, done.provisional, done.items.size(), true, Now() - done.started};
  Tell(observer_, [&](Observer& o) { o.OnRelisted(event); });
  ++status_.lists;
  fifo_.Replace(std::move(done.items), done.provisional, done.incomplete);
  status_.resource_version = done.provisional;
  phase_ = Phase::kWatch;  // over the same stream [RW-12]
  watch_.unordered = false;
  status_.state = ReflectorStatus::State::kWatching;
  CountSuccess();
  EnterWatchPhase();
  const TimePoint end = watch_.started + watch_.timeout + options_.watch_deadline_slack;
  ArmDeadline(std::max(end - Now(), Nanos(0)), TimerKind::kHousekeeping);
}

void Reflector::Impl::StreamingEnded(End end) {
  CloseStream();
  const std::string version = watch_.version;
  snapshot_ = {};
  if (end.error) {
    if (IsRetriable(*end.error)) return RetryLater(true, *end.error, &Impl::StartStreaming);  // [WL-07]
    if ((IsExpired(*end.error) || IsVersionTooLarge(*end.error)) && !version.empty()) {       // [WL-08]
      version_unusable_ = true;
      Report(true, *end.error, Nanos(0));
      return StartStreaming();
    }
    return FallBack(*end.error);  // [WL-06]
  }
  const Error error(Code::kUnavailable, "streaming list " + name_ + " ended before the marker of the initial events");
  if (end.very_short || ++streaming_attempts_ >= kAttempts) return FallBack(error);
  Report(true, error, Nanos(0));
  StartStreaming();  // [WL-09]
}

void Reflector::Impl::FallBack(const Error& why) {
  CloseStream();
  snapshot_ = {};
  Report(true, why, Nanos(0));
  StartList();
}

void Reflector::Impl::OnStreamingDeadline() {
  const TimePoint due = std::min(snapshot_.last_event + options_.end_marker_deadline,
                                 snapshot_.started + kDeadlinesForAll * options_.end_marker_deadline);
  if (Now() < due) return ArmDeadline(due - Now(), TimerKind::kProgress);
  FallBack(Error(
      Code::kTimeout,
      "streaming list " + name_ + " without a marker of the end of the initial events for " +
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(Now() - snapshot_.started).count()) + " s"));
}

}  // namespace kgen::cache
