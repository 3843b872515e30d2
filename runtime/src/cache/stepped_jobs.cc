// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/stepped_jobs.h"

#include <algorithm>
#include <string_view>
#include <utility>

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

ListJob::ListJob(JobContext context, Delta list, Reason reason)
    : context_(context),
      list_(std::move(list)),
      reason_(reason),
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
  if (!item.object || item.key.name.empty()) return false;
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
      events_.Upsert(item.key, base_.Get(item.key), item.object, reason_, version_, list_.other_history);
    }
    Spend(units, 1 + recipients_.size());
  }
  Processor::Deliver(recipients_, events_.Take());
  return slot_ == list_.list.slots();
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
