// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informer::Retire(): an informer whose objects leave, because nobody is interested in its scope any more.
#include <algorithm>
#include <optional>
#include <utility>

#include "cache/informer.h"
#include "core/memory/fork.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

// The last event of a handler.
AnyEvent LastEvent() { return {.type = AnyEvent::Type::kLeft, .reason = Reason::kRelist}; }

// Tells every handler that each object has left, and then its last event. The store stays as it is: whoever still reads
// it gets its last state, and not that there are no objects.
class RetireJob final : public SteppedJob {
 public:
  explicit RetireJob(JobContext context) : context_(context) {}

  bool Step(std::size_t& units) override {
    if (!snapshot_) {  // not before, since other jobs may have run until now
      snapshot_.emplace(context_.store.Snapshot());
      cursor_ = ObjectMap::Cursor(snapshot_->state().objects);
      recipients_ = context_.processor.ForChanges();
    }
    if (recipients_.empty()) return true;
    std::vector<AnyEvent> events;
    bool done = false;
    while (units > 0 && !done) {
      const ObjectLeaf* const leaf = cursor_.Next();
      done = leaf == nullptr;
      events.push_back(done ? LastEvent() : Left(leaf->object()));
      units -= std::min(units, 1 + recipients_.size());
    }
    Processor::Deliver(recipients_, std::move(events));
    return done;
  }

 private:
  AnyEvent Left(const AnyRef& object) const {
    const meta::v1::ObjectMeta& meta = *object.metadata();
    return {.type = AnyEvent::Type::kLeft,
            .reason = Reason::kRelist,
            .key = {meta.namespace_, meta.name},
            .before = object,
            .version = snapshot_->version()};
  }

  const JobContext context_;
  std::optional<AnySnapshot> snapshot_;
  Processor::Recipients recipients_;
  ObjectMap::Cursor cursor_;
};

}  // namespace

void Informer::Retire() {
  if (detail::ForkedChild()) return;
  executor_->Post(strand_, [self = Shared<Informer>(this)] { self->RetireOnStrand(); });
}

// What the reflector has queued and nobody was told of is never told.
void Informer::RetireOnStrand() {
  if (IsStopped() || IsRetired()) return;
  if (reflector_) reflector_->Stop();
  retired_.store(true, std::memory_order_release);
  for (const PendingListener& pending : std::exchange(pending_, {})) TellLast(*pending.listener);
  jobs_.push_back({std::make_unique<RetireJob>(Context())});
  ScheduleWork();
  Publish();
}

void Informer::TellLast(Listener& listener) { listener.Deliver({LastEvent()}); }

}  // namespace kgen::cache
