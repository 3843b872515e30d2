// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The requests of an event recorder: one at a time, and what follows from their answers.
#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "controller/events/event_writer.h"
#include "kgen/client/options.h"
#include "kgen/client/raw_resource.h"
#include "kgen/codec/encode.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

constexpr int kMaxTries = 12;
constexpr Nanos kPause = 10s;  // and up to a quarter more, so that many programs do not come back at once
constexpr Nanos kRequestTimeout = 30s;

EventSeries SeriesWith(std::int64_t count, SysMicros observed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return {.count = static_cast<std::int32_t>(std::min(count, kMost)), .lastObservedTime = observed};
}

Result<ApiRequest> CreateRequest(const Connection& connection, const Event& event) {
  const RawResource events(connection, *Event::kTable.kind, event.metadata.namespace_);
  return events.Create({}, Encode(event), {.timeout = kRequestTimeout});
}

Result<ApiRequest> PatchRequest(const Connection& connection, const Event& event) {
  const RawResource events(connection, *Event::kTable.kind, event.metadata.namespace_);
  const std::string patch = R"({"series":)" + Encode(*event.series) + "}";
  return events.Patch(event.metadata.name, {}, MergePatch(patch), {.timeout = kRequestTimeout});
}

// Whether another try cannot help.
bool IsRefusal(Code code) noexcept {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kUnauthorized:
    case Code::kForbidden:
    case Code::kNotFound:
    case Code::kMethodNotAllowed:
    case Code::kAlreadyExists:
    case Code::kExpired:
    case Code::kRequestTooLarge:
    case Code::kUnsupportedMedia:
    case Code::kInvalid:
      return true;
    default:
      return false;
  }
}

bool NamespaceIsTerminating(const Error& error) {
  if (error.status() == nullptr) return false;
  const auto& causes = error.status()->details->causes;
  return std::ranges::any_of(causes,
                             [](const meta::v1::StatusCause& cause) { return cause.reason == "NamespaceTerminating"; });
}

std::string WhyRefused(const Error& error) {
  std::string why = "refused: " + error.ToString();
  if (error.code() == Code::kForbidden) why += "; grant create and patch on events of the API group events.k8s.io";
  return why;
}

}  // namespace

void EventWriter::Send() {
  Shared<Record> record;
  Event event;
  std::int64_t count = 0;
  bool create = false;
  After after;
  {
    const MutexLock lock(mutex_);
    if (sender_ != Sender::kPosted) return;
    if (queue_.empty()) {
      sender_ = Sender::kIdle;
      if (stopping_ && !ended_) End(after);
    } else {
      sender_ = Sender::kSending;
      record = sending_ = std::move(queue_.front());
      queue_.pop_front();
      count = record->count;
      create = !record->created;
      event = record->event;
      if (count > 1) event.series = SeriesWith(count, record->observed);
    }
  }
  if (!record) return Act(after);
  Result<ApiRequest> request = create ? CreateRequest(connection_, event) : PatchRequest(connection_, event);
  if (!request) return OnAnswer(record, count, kgen::Fail(request.error()));
  connection_.CallAsync(*std::move(request),
                        [self = Shared<EventWriter>(this), record, count](Result<ApiResponse> answer) {
                          self->OnAnswer(record, count, std::move(answer));
                        });
}

// `count`: the occurrences that the request wrote.
void EventWriter::OnAnswer(const Shared<Record>& record, std::int64_t count, Result<ApiResponse> answer) {
  After after;
  {
    const MutexLock lock(mutex_);
    if (sending_ != record) return;  // Abandon() has dropped it
    sending_ = {};
    record->queued = false;
    sender_ = Sender::kPosted;
    if (answer) {
      Succeed(record, count, after);
    } else {
      Fail(record, answer.error(), after);
    }
    after.post = sender_ == Sender::kPosted;
  }
  Act(after);
}

void EventWriter::Succeed(const Shared<Record>& record, std::int64_t count, After& after) {
  counts_.written += static_cast<std::uint64_t>(count - record->written);
  record->written = count;
  record->written_at = clock_->Now();
  record->tries = 0;
  record->created = true;
  // The second occurrence does not wait, and nothing waits once the series has ended.
  if (record->count > count && (count == 1 || !record->open)) Enqueue(record, after);
}

void EventWriter::Fail(const Shared<Record>& record, const Error& error, After& after) {
  const bool last = ++record->tries >= kMaxTries;
  if (error.code() == Code::kNotFound && record->created && !last) {  // it has expired, or somebody deleted it
    record->created = false;
    return Again(record);
  }
  if (error.code() == Code::kAlreadyExists && !record->created && !last) {
    if (record->uncertain) return Succeed(record, std::max<std::int64_t>(record->written, 1), after);
    Rename(*record);  // another process chose the same name
    return Again(record);
  }
  const bool refused = IsRefusal(error.code());
  if (!refused && !last) {
    if (!record->created) record->uncertain = true;
    queue_.push_back(record);
    record->queued = true;
    return Pause();
  }
  const std::int64_t lost = Drop(*record, refused ? &EventCounts::refused : &EventCounts::unavailable);
  if (NamespaceIsTerminating(error)) return;
  after.dropped = {
      Describe(record->event),
      refused ? WhyRefused(error) : "not written after " + std::to_string(kMaxTries) + " tries: " + error.ToString(),
      static_cast<std::size_t>(lost)};
}

// Tries again at once.
void EventWriter::Again(const Shared<Record>& record) {
  queue_.push_front(record);
  record->queued = true;
}

void EventWriter::Pause() noexcept {
  sender_ = Sender::kPausing;
  pause_.After(jitter_.Between(kPause, kPause + kPause / 4), TimerKind::kProgress,
               [self = Shared<EventWriter>(this)] { self->EndPause(); });
}

void EventWriter::EndPause() {
  After after;
  {
    const MutexLock lock(mutex_);
    if (sender_ != Sender::kPausing) return;
    pause_.Cancel();
    sender_ = Sender::kPosted;
    after.post = true;
  }
  Act(after);
}

// What was not written of the record is lost. The next occurrence of an event that the server does not have is a new
// one. Returns the number of events.
std::int64_t EventWriter::Drop(Record& record, std::uint64_t EventCounts::* cause) {
  const std::int64_t lost = record.count - record.written;
  counts_.*cause += static_cast<std::uint64_t>(lost);
  record.written = record.count;
  record.tries = 0;
  if (!record.created && record.open) {
    record.open = false;
    series_.Erase(record.series);
  }
  return lost;
}

}  // namespace kgen::controller
