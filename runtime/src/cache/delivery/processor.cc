// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/delivery/processor.h"

#include <utility>

namespace kgen::cache {
namespace {

// True for an update that changed nothing: a resync, or an object that a list or a watch sent unchanged. EventBatch
// decides that. Comparing resource versions here would not be enough: after the server's history was replaced, equal
// versions may stand for different states.
bool IsSync(const AnyEvent& event) noexcept { return event.reason == Reason::kResync; }

}  // namespace

Processor::Recipients Processor::ForChanges() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.listener->removed(); });
  Recipients recipients;
  recipients.reserve(entries_.size());
  for (const Entry& entry : entries_) recipients.push_back({entry.listener, entry.syncing});
  return recipients;
}

Processor::Recipients Processor::TakeDue() {
  Recipients recipients;
  for (Entry& entry : entries_) {
    if (std::exchange(entry.resync_due, false)) recipients.push_back({entry.listener, true});
  }
  return recipients;
}

void Processor::Deliver(const Recipients& recipients, std::vector<AnyEvent> events) {
  if (events.empty()) return;
  for (const Recipient& recipient : recipients) {
    const bool last = &recipient == &recipients.back();
    std::vector<AnyEvent> mine = last ? std::move(events) : events;
    if (!recipient.unchanged) std::erase_if(mine, IsSync);
    recipient.listener->Deliver(std::move(mine));
  }
}

void Processor::Add(Shared<Listener> listener, Nanos effective_resync, TimePoint now) {
  if (saved_queued_) listener->SavedQueued();
  if (initial_queued_) listener->InitialQueued();
  entries_.push_back({std::move(listener), effective_resync, Later(now, effective_resync)});
}

void Processor::SavedQueued() {
  saved_queued_ = true;
  for (const Entry& entry : entries_) entry.listener->SavedQueued();
}

void Processor::InitialQueued() {
  initial_queued_ = true;
  for (const Entry& entry : entries_) entry.listener->InitialQueued();
}

void Processor::StopAll() {
  for (const Entry& entry : entries_) entry.listener->StopDelivery();
}

bool Processor::ShouldResync(TimePoint now) {
  bool any = false;
  for (Entry& entry : entries_) {
    entry.syncing = entry.resync != kNever && now >= entry.due;
    if (entry.syncing) {
      entry.due = Later(now, entry.resync);
      entry.resync_due = true;
    }
    any = any || entry.syncing;
  }
  return any;
}

}  // namespace kgen::cache
