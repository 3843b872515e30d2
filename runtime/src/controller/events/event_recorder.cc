// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/event_recorder.h"

#include <utility>

#include "controller/events/event_writer.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "net/duration_text.h"

namespace kgen {

// Shared by all handles; the last one stops the recorder. Timers and requests hold only the writer.
class EventRecorder::Handle : public SharedObject {
 public:
  Handle(const Connection& connection, EventRecorderOptions options)
      : writer(MakeShared<controller::EventWriter>(connection, std::move(options))) {}
  ~Handle() override {
    try {
      writer->BeginStop(std::chrono::seconds(30));
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory the rest is written without a limit
    }
  }
  const Shared<controller::EventWriter> writer;
};

EventRecorder::EventRecorder(const Connection& connection, EventRecorderOptions options)
    : handle_(MakeShared<Handle>(connection, std::move(options))) {}

void EventRecorder::Record(const detail::EventObject& regarding, const detail::EventObject* related,
                           const EventDetails& details) const {
  if (!detail::ForkedChild()) handle_->writer->Add(regarding, related, details);
}

EventCounts EventRecorder::counts() const { return handle_->writer->counts(); }

Result<void> EventRecorder::Stop(Nanos limit) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  // Held, because the handle may be destroyed meanwhile.
  if (limit < Nanos::zero()) {
    return Fail(Code::kInvalidArgument,
                "stop the event recorder: `limit` is " + net::DurationText(limit) + ", but it must not be negative");
  }
  const Shared<controller::EventWriter> writer = handle_->writer;
  return writer->Stop(limit);
}

}  // namespace kgen
