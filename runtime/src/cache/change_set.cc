// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/change_set.h"

#include <algorithm>
#include <utility>

#include "cache/deliberate_bugs.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

ObjectKey KeyOf(const AnyRef& object) {
  const meta::v1::ObjectMeta& meta = *object.metadata();
  return {meta.namespace_, meta.name};
}

// Deleted and made again under the same name. Objects without a UID say nothing.
bool AnotherIncarnation(const AnyRef& a, const AnyRef& b) {
  const String& first = a.metadata()->uid;
  const String& second = b.metadata()->uid;
  return !first.empty() && !second.empty() && first != second;
}

// [INF SI-10]
bool Unchanged(const AnyRef& a, const AnyRef& b) {
  const String& version = a.metadata()->resourceVersion;
  return !version.empty() && version == b.metadata()->resourceVersion;
}

}  // namespace

ChangeSet::ChangeSet(AnySnapshot base, bool initial, bool wants_events, KeySet& refused)
    : base_(std::move(base)),
      initial_(initial),
      wants_events_(wants_events),
      refused_(refused),
      version_(base_.version()) {}

void ChangeSet::Apply(Delta delta) {
  if (!delta.version.empty()) {
    version_ = delta.version;
    transaction_.version = std::move(delta.version);
  }
  switch (delta.type) {
    case DeltaType::kAdded:
    case DeltaType::kUpdated:
      return Upsert(delta.key, std::move(delta.object), Reason::kWatch);
    case DeltaType::kDeleted:
      return Delete(delta.key, std::move(delta.object));
    case DeltaType::kRefused:
      return Refuse(delta.key);
    case DeltaType::kReplaced:
      other_history_ = delta.other_history;
      return Replace(std::move(delta.list), delta.incomplete);
    case DeltaType::kSync:
      return Sync();
    case DeltaType::kBookmark:
      return;
  }
}

AnyRef ChangeSet::Now(const ObjectKey& key) const {
  if (const auto changed = overlay_.find(key); changed != overlay_.end()) return changed->second;
  return base_.Get(key);
}

std::vector<AnyRef> ChangeSet::All() const {
  std::vector<AnyRef> all = base_.List();
  if (overlay_.empty()) return all;
  std::erase_if(all, [&](const AnyRef& object) { return overlay_.contains(KeyOf(object)); });
  for (const auto& [key, object] : overlay_) {
    if (object) all.push_back(object);
  }
  return all;
}

void ChangeSet::Put(const ObjectKey& key, AnyRef object) {
  transaction_.changes.push_back({key, object});
  overlay_[key] = std::move(object);
}

void ChangeSet::Upsert(const ObjectKey& key, AnyRef object, Reason reason) {
  const AnyRef before = Now(key);
  refused_.erase(key);
  TellUpsert(key, before, object, reason);
  Put(key, std::move(object));
}

void ChangeSet::Delete(const ObjectKey& key, AnyRef final_state) {
  AnyRef before = Now(key);
  refused_.erase(key);
  if (before) Put(key, {});
  // The final state of the incarnation that was told of; if that is another one, its own end was missed. [INF KT-06]
  const bool known = final_state && (!before || !AnotherIncarnation(before, final_state));
  if (known || !before) before = std::move(final_state);
  Tell(AnyEvent::Type::kDeleted, Reason::kWatch, key, std::move(before), {}, !known);
}

// The last good state stays. [D6]
void ChangeSet::Refuse(const ObjectKey& key) {
  refused_.insert(key);
  if (Now(key)) transaction_.changes.push_back({key, {}, true});
}

void ChangeSet::Replace(ListedObjects list, bool incomplete) {
  const Reason reason = initial_ ? Reason::kInitial : Reason::kRelist;
  std::unordered_map<ObjectKey, std::size_t> listed;
  listed.reserve(list.size());
  for (std::size_t i = 0; i < list.slots(); ++i) listed[list[i].key] = i;  // the last one of a key counts [INF ST-05]
  refused_.clear();
  if (incomplete) refused_.insert(ObjectKey());  // whoever has no name counts as well
  std::vector<Change> content;
  content.reserve(list.size());
  FindMissing(listed, incomplete, reason, content);  // deletions are told first [INF CT-08]
  for (std::size_t i = 0; i < list.slots(); ++i) {
    ListedObject& item = list[i];
    if (item.key.name.empty()) continue;
    if (listed.at(item.key) != i) continue;
    AnyRef before = Now(item.key);
    if (!item.object) {
      refused_.insert(item.key);
      if (before) content.push_back({item.key, std::move(before), true});
      continue;
    }
    if (item.stale) refused_.insert(item.key);
    TellUpsert(item.key, before, item.object, reason);
    content.push_back({std::move(item.key), std::move(item.object), item.stale});
  }
  transaction_.changes = std::move(content);  // what was changed before is in it, or gone
  transaction_.replace = true;
  base_ = {};
  overlay_.clear();
  other_history_ = false;
  initial_ = false;
}

void ChangeSet::FindMissing(const std::unordered_map<ObjectKey, std::size_t>& listed, bool incomplete, Reason reason,
                            std::vector<Change>& content) {
  std::vector<AnyRef> missing = All();
  std::erase_if(missing, [&](const AnyRef& object) { return listed.contains(KeyOf(object)); });
  if (Injected(Bug::kReplaceForgetsQueued))
    std::erase_if(missing, [&](const AnyRef& o) { return !base_.Get(KeyOf(o)); });
  std::sort(missing.begin(), missing.end(), [](const AnyRef& a, const AnyRef& b) { return KeyOf(a) < KeyOf(b); });
  for (AnyRef& object : missing) {
    const ObjectKey key = KeyOf(object);
    if (incomplete) {
      refused_.insert(key);
      content.push_back({key, std::move(object), true});
    } else {
      Tell(AnyEvent::Type::kDeleted, reason, key, std::move(object), {}, true);
    }
  }
}

// [INF CT-10]
void ChangeSet::Sync() {
  if (!wants_events_) return;
  for (const AnyRef& object : All()) {
    Tell(AnyEvent::Type::kUpdated, Reason::kResync, KeyOf(object), object, object);
    events_.back().periodic = true;
  }
}

void ChangeSet::TellUpsert(const ObjectKey& key, const AnyRef& before, const AnyRef& now, Reason reason) {
  if (before && !AnotherIncarnation(before, now)) {
    const bool unchanged = before == now || (Unchanged(before, now) && !other_history_);
    return Tell(AnyEvent::Type::kUpdated, unchanged ? Reason::kResync : reason, key, before, now);
  }
  if (before) Tell(AnyEvent::Type::kDeleted, reason, key, before, {}, true);
  Tell(AnyEvent::Type::kAdded, reason, key, {}, now);
}

void ChangeSet::Tell(AnyEvent::Type type, Reason reason, const ObjectKey& key, AnyRef before, AnyRef now,
                     bool final_state_unknown) {
  if (!wants_events_) return;
  const bool initial = reason == Reason::kInitial;
  events_.push_back({.type = type,
                     .reason = reason,
                     .final_state_unknown = final_state_unknown,
                     .initial = initial,
                     .key = key,
                     .before = std::move(before),
                     .now = std::move(now),
                     .version = version_});
}

}  // namespace kgen::cache
