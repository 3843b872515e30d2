// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/stepped_jobs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cache/store/deliberate_bugs.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

ObjectKey KeyOf(const AnyRef& object) {
  const meta::v1::ObjectMeta& meta = *object.metadata();
  return {meta.namespace_, meta.name};
}

void Spend(std::size_t& units, std::size_t spent) { units -= std::min(units, spent); }

// A change of a content costs about as much as four objects of a new one.
constexpr std::size_t kChangeCosts = 4;

// Whether servers list the first key before the second one: by "namespace/name".
bool IsListedBefore(const ObjectKey& a, const ObjectKey& b) {
  if (a.namespace_ == b.namespace_) return a.name < b.name;
  const std::string_view first = a.namespace_, second = b.namespace_;
  const auto [x, y] = std::ranges::mismatch(first, second);
  const auto next = [](auto at, std::string_view text) {
    return at == text.end() ? static_cast<unsigned char>('/') : static_cast<unsigned char>(*at);
  };
  return next(x, first) < next(y, second);
}

}  // namespace

// ----------------------------------------------------------------------------------------------- ObjectsByKey

bool ObjectsByKey::LaterFirst(const AnyRef& a, const AnyRef& b) {
  const meta::v1::ObjectMeta& first = *a.metadata();
  const meta::v1::ObjectMeta& second = *b.metadata();
  if (first.namespace_ != second.namespace_) return second.namespace_ < first.namespace_;
  return second.name < first.name;
}

void ObjectsByKey::Add(AnyRef object) {
  if (runs_.empty() || runs_.back().size() == kRun) runs_.emplace_back().reserve(kRun);
  runs_.back().push_back(std::move(object));
  if (runs_.back().size() == kRun) std::sort(runs_.back().begin(), runs_.back().end(), LaterFirst);
}

void ObjectsByKey::Sort() {
  if (runs_.empty()) return;
  if (runs_.back().size() < kRun) std::sort(runs_.back().begin(), runs_.back().end(), LaterFirst);
  std::make_heap(runs_.begin(), runs_.end(), LaterRunFirst);
}

AnyRef ObjectsByKey::Take() {
  std::pop_heap(runs_.begin(), runs_.end(), LaterRunFirst);
  AnyRef object = std::move(runs_.back().back());
  runs_.back().pop_back();
  if (runs_.back().empty()) {
    runs_.pop_back();
  } else {
    std::push_heap(runs_.begin(), runs_.end(), LaterRunFirst);
  }
  return object;
}

bool ObjectsByKey::FreeSome(std::size_t& units) {
  for (; units > 0 && !runs_.empty(); --units) {
    runs_.back().pop_back();
    if (runs_.back().empty()) runs_.pop_back();
  }
  return runs_.empty();
}

// ---------------------------------------------------------------------------------------------------- ListJob

ListJob::ListJob(JobContext context, Delta list, Reason reason, bool quiet)
    : context_(context),
      list_(std::move(list)),
      reason_(reason),
      quiet_(quiet),
      base_(context_.store.Snapshot()),
      slot_(list_.list.slots()),
      next_(context_.store) {
  if (list_.incomplete) refused_.Insert(ObjectKey());  // stands for all objects whose name could not be read
  version_ = list_.version.empty() ? base_.version() : String(list_.version);
}

ListJob::~ListJob() {
  context_.garbage.Add(std::move(list_.list));
  context_.garbage.Add(std::move(missing_));
  context_.garbage.Add(std::move(refused_));
  context_.store.Drop(std::move(base_));
}

bool ListJob::Step(std::size_t& units) {
  while (phase_ != Phase::kDone) {
    if (!StepPhase(units)) return false;
    phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  }
  return true;
}

bool ListJob::StepPhase(std::size_t& units) {
  switch (phase_) {
    case Phase::kCompare:
      return Compare(units);
    case Phase::kPut:
      return difference_ ? PutChanges(units) : PutSome(units);
    case Phase::kFindMissing:
      return FindMissing(units);
    case Phase::kPublish:
      return Publish(units);
    case Phase::kDeliverDeletions:
      return DeliverDeletions(units);
    case Phase::kDeliverRest:
      return DeliverRest(units);
    case Phase::kReportFaults:
      return next_.ReportFaults(units);
    case Phase::kDone:
      break;
  }
  return true;
}

// Finds out whether the list can be applied as a difference. A list asks an index function that threw again, so then it
// cannot.
bool ListJob::Compare(std::size_t& units) {
  if (list_.incomplete || base_.state().objects.empty() || context_.store.HasUnindexed()) return true;
  for (; units > 0 && compared_ < list_.list.slots(); --units, ++compared_) {
    if (!CompareOne(list_.list[compared_])) return true;
  }
  if (compared_ < list_.list.slots()) return false;
  if (found_ == base_.state().objects.size()) difference_.emplace(context_.store);
  return true;
}

// Returns false if the list is no small difference.
bool ListJob::CompareOne(const ListedObject& item) {
  if (!item.object || item.stale || item.key.name.empty()) return false;
  // What comes twice is never in order.
  if (compared_ > 0 && !IsListedBefore(list_.list[compared_ - 1].key, item.key)) return false;
  const ObjectLeaf* const leaf = base_.state().Find({item.key.namespace_, item.key.name});
  if (leaf != nullptr) ++found_;
  if (leaf != nullptr && !leaf->stale() && leaf->object().object() == item.object.object()) return true;
  changed_.push_back(compared_);
  return changed_.size() * kChangeCosts <= list_.list.slots();
}

bool ListJob::PutChanges(std::size_t& units) {
  while (units > 0 && !changed_.empty()) {
    const ListedObject& item = list_.list[changed_.back()];
    difference_->Put({item.key, item.object, false});
    changed_.pop_back();
    Spend(units, kChangeCosts);
  }
  slot_ = 0;
  return changed_.empty();
}

// Goes backwards, because the last item of a key wins.
bool ListJob::PutSome(std::size_t& units) {
  for (; units > 0 && slot_ > 0; --units) PutOne(list_.list[--slot_]);
  if (slot_ > 0) return false;
  cursor_ = ObjectMap::Cursor(base_.state().objects);
  return true;
}

void ListJob::PutOne(ListedObject& item) {
  if (item.key.name.empty()) return;
  if (next_.Find({item.key.namespace_, item.key.name}) != nullptr || refused_.Contains(item.key)) {
    item = {};
    return;
  }
  if (!item.object || item.stale) refused_.Insert(item.key);
  if (item.object) return next_.Put({item.key, item.object, item.stale});
  if (AnyRef before = base_.Get(item.key)) next_.Put({item.key, std::move(before), true});
}

bool ListJob::FindMissing(std::size_t& units) {
  if (difference_) return true;  // nothing is missing
  const bool wants_events = context_.processor.size() > 0;
  for (; units > 0; --units) {
    const ObjectLeaf* leaf = cursor_.Next();
    if (leaf == nullptr) {
      missing_.Sort();
      return true;
    }
    if (next_.Find(leaf->key()) != nullptr) continue;
    if (list_.incomplete) {
      refused_.Insert(KeyOf(leaf->object()));
      next_.Put({KeyOf(leaf->object()), leaf->object(), true});
    } else if (wants_events) {
      missing_.Add(leaf->object());
    }
  }
  return false;
}

bool ListJob::Publish(std::size_t& units) {
  if (difference_ && !difference_->Publish(list_.version)) {
    difference_.reset();
    slot_ = list_.list.slots();
    phase_ = Phase::kPut;
    return false;
  }
  if (!difference_ && !next_.Publish(list_.version, units)) return false;
  std::swap(context_.refused, refused_);
  recipients_ = context_.processor.ForChanges();
  return true;
}

bool ListJob::DeliverDeletions(std::size_t& units) {
  while (units > 0 && !missing_.empty()) {
    AnyRef object = missing_.Take();
    const ObjectKey key = KeyOf(object);
    events_.Delete(key, std::move(object), reason_, version_, true);
    Spend(units, 1 + recipients_.size());
  }
  Processor::Deliver(recipients_, events_.Take());
  return missing_.empty();
}

bool ListJob::DeliverRest(std::size_t& units) {
  if (recipients_.empty()) return true;
  for (; units > 0 && slot_ < list_.list.slots(); ++slot_) {
    const ListedObject& item = list_.list[slot_];
    if (item.object) {
      const bool other = list_.other_history || refused_.Contains(item.key);  // refused before the list; see ChangeSet
      events_.Upsert(item.key, base_.Get(item.key), item.object, reason_, version_, other);
      if (quiet_) events_.DropResync();
    }
    Spend(units, 1 + recipients_.size());
  }
  Processor::Deliver(recipients_, events_.Take());
  return slot_ == list_.list.slots();
}

// ---------------------------------------------------------------------------------------------------- LeaveJob

LeaveJob::LeaveJob(JobContext context, ShardBy by, const Delta& delta, Task on_unknown)
    : context_(context),
      by_(by),
      nothing_stays_(delta.ranges->empty()),
      filter_(by, *delta.ranges),
      on_unknown_(std::move(on_unknown)) {
  Begin();
}

LeaveJob::~LeaveJob() {
  context_.garbage.Add(std::move(leaving_));
  context_.garbage.Add(std::move(refused_));
  context_.store.Drop(std::move(base_));
}

void LeaveJob::Begin() {
  context_.store.Drop(std::exchange(base_, context_.store.Snapshot()));
  next_.emplace(context_.store);
  cursor_ = ObjectMap::Cursor(base_.state().objects);
  refused_cursor_ = KeySet::Cursor(context_.refused);
}

bool LeaveJob::Step(std::size_t& units) {
  if (!published_) {
    if (!FindLeaving(units) || !ForgetRefused(units)) return false;
    if (!Publish()) return false;
  }
  if (!Deliver(units)) return false;
  if (unknown_) on_unknown_();
  return true;
}

bool LeaveJob::FindLeaving(std::size_t& units) {
  while (!found_ && units > 0) {
    const ObjectLeaf* const leaf = cursor_.Next();
    found_ = leaf == nullptr;
    if (found_) leaving_.Sort();
    if (found_ || filter_.Holds(*leaf->object().metadata())) {
      Spend(units, 1);
      continue;
    }
    next_->Put({KeyOf(leaf->object()), {}, false});
    leaving_.Add(leaf->object());
    Spend(units, kChangeCosts);
  }
  return found_;
}

// The empty key stands for objects whose name could not be read.
bool LeaveJob::ForgetRefused(std::size_t& units) {
  for (; units > 0; --units) {
    const ObjectKey* const key = refused_cursor_.Next();
    if (key == nullptr) return true;
    if (nothing_stays_) continue;
    bool stays = true;
    if (by_ == ShardBy::kNamespace) {
      stays = key->name.empty() || filter_.Holds(key->namespace_);
    } else {
      unknown_ = true;  // also with a last good state: that may be of another incarnation
      const AnyRef last_good = base_.Get(*key);
      stays = !last_good || filter_.Holds(*last_good.metadata());
    }
    if (stays) refused_.Insert(*key);
  }
  return false;
}

// Starts anew if an index was added meanwhile.
bool LeaveJob::Publish() {
  if (!next_->Publish("")) {
    context_.garbage.Add(std::exchange(leaving_, {}));
    context_.garbage.Add(std::exchange(refused_, {}));
    found_ = unknown_ = false;
    Begin();
    return false;
  }
  std::swap(context_.refused, refused_);
  recipients_ = context_.processor.ForChanges();
  return published_ = true;
}

bool LeaveJob::Deliver(std::size_t& units) {
  EventBatch events;
  for (; units > 0 && !leaving_.empty() && !recipients_.empty(); Spend(units, 1 + recipients_.size())) {
    AnyRef object = leaving_.Take();
    const ObjectKey key = KeyOf(object);
    if (Injected(Bug::kTellsLeftAsDeleted)) {
      events.Delete(key, std::move(object), Reason::kRelist, base_.version(), true);
    } else {
      events.Leave(key, std::move(object), base_.version());
    }
  }
  Processor::Deliver(recipients_, events.Take());
  return leaving_.empty() || recipients_.empty();
}

// -------------------------------------------------------------------------------------- ResyncJob and ReplayJob

ResyncJob::ResyncJob(JobContext context)
    : snapshot_(context.store.Snapshot()),
      version_(snapshot_.version()),
      recipients_(context.processor.TakeDue()),
      cursor_(snapshot_.state().objects) {}

bool ResyncJob::Step(std::size_t& units) {
  if (recipients_.empty()) return true;
  EventBatch events;
  bool done = false;
  for (; units > 0; Spend(units, 1 + recipients_.size())) {
    const ObjectLeaf* leaf = cursor_.Next();
    done = leaf == nullptr;
    if (done) break;
    events.Resync(KeyOf(leaf->object()), leaf->object(), version_);
  }
  Processor::Deliver(recipients_, events.Take());
  return done;
}

ReplayJob::ReplayJob(JobContext context, Shared<Listener> listener, Nanos effective_resync, TimePoint registered)
    : context_(context), listener_(std::move(listener)), effective_resync_(effective_resync), registered_(registered) {}

ReplayJob::~ReplayJob() {
  if (!done_) listener_->StopDelivery();
}

bool ReplayJob::Step(std::size_t& units) {
  if (listener_->removed()) return done_ = true;
  if (!snapshot_) {
    snapshot_.emplace(context_.store.Snapshot());
    cursor_ = ObjectMap::Cursor(snapshot_->state().objects);
  }
  const String version = snapshot_->version();
  const Reason reason = context_.stale ? Reason::kSaved : Reason::kInitial;
  EventBatch events;
  for (; units > 0; Spend(units, 2)) {
    const ObjectLeaf* leaf = cursor_.Next();
    if (leaf == nullptr) {
      listener_->Deliver(events.Take());
      context_.processor.Add(listener_, effective_resync_, registered_);
      return done_ = true;
    }
    events.Upsert(KeyOf(leaf->object()), {}, leaf->object(), reason, version);
  }
  listener_->Deliver(events.Take());
  return false;
}

}  // namespace kgen::cache
