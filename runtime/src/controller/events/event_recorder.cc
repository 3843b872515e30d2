// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/event_recorder.h"

#include <utility>

#include "controller/events/event_core.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"

namespace kgen {

// Shared by all handles; the last one stops the recorder. Timers and requests hold only the core.
class EventRecorder::Handle : public SharedObject {
 public:
  Handle(const Connection& connection, EventRecorderOptions options)
      : core(MakeShared<controller::EventCore>(connection, std::move(options))) {}
  ~Handle() override {
    try {
      core->BeginStop(std::chrono::seconds(30));
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory the rest is written without a limit
    }
  }
  const Shared<controller::EventCore> core;
};

EventRecorder::EventRecorder(const Connection& connection, EventRecorderOptions options)
    : handle_(MakeShared<Handle>(connection, std::move(options))) {}

void EventRecorder::Record(const detail::EventObject& regarding, const detail::EventObject* related,
                           const EventDetails& details) const {
  if (!detail::ForkedChild()) handle_->core->Add(regarding, related, details);
}

EventCounts EventRecorder::counts() const { return handle_->core->counts(); }

Result<void> EventRecorder::Stop(Nanos limit) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  // Held, because the handle may be destroyed meanwhile.
  const Shared<controller::EventCore> core = handle_->core;
  return core->Stop(limit);
}

}  // namespace kgen
