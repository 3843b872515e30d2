// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/change_set.h"

#include <utility>

#include "kgen/core/object_meta.h"

namespace kgen::cache {

ChangeSet::ChangeSet(AnySnapshot base, bool wants_events, KeySet& refused)
    : base_(std::move(base)), wants_events_(wants_events), refused_(refused), version_(base_.version()) {}

void ChangeSet::Apply(Delta delta) {
  if (!delta.version.empty()) {
    version_ = delta.version;
    transaction_.version = std::move(delta.version);
  }
  switch (delta.type) {
    case DeltaType::kAdded:
    case DeltaType::kUpdated:
      return Upsert(delta.key, std::move(delta.object));
    case DeltaType::kDeleted:
      return Delete(delta.key, std::move(delta.object));
    case DeltaType::kRefused:
      return Refuse(delta.key);
    case DeltaType::kReplaced:
    case DeltaType::kSync:
    case DeltaType::kBookmark:
    case DeltaType::kLeft:
      return;
  }
}

AnyRef ChangeSet::Now(const ObjectKey& key) const {
  if (const auto changed = overlay_.find(key); changed != overlay_.end()) return changed->second;
  return base_.Get(key);
}

void ChangeSet::Put(const ObjectKey& key, AnyRef object) {
  transaction_.changes.push_back({key, object});
  overlay_[key] = std::move(object);
}

void ChangeSet::Upsert(const ObjectKey& key, AnyRef object) {
  if (wants_events_) {
    // What was refused came after the state that is here, so equal versions do not imply equal objects: the history of
    // the server may have been replaced in between.
    events_.Upsert(key, Now(key), object, Reason::kWatch, version_, refused_.Contains(key));
  }
  refused_.Erase(key);
  Put(key, std::move(object));
}

void ChangeSet::Delete(const ObjectKey& key, AnyRef final_state) {
  AnyRef before = Now(key);
  refused_.Erase(key);
  if (before) Put(key, {});
  // The final state is known if it belongs to the incarnation that handlers have seen. Otherwise the watch missed the
  // end of that incarnation.
  const bool known = final_state && (!before || !IsAnotherIncarnation(before, final_state));
  if (known || !before) before = std::move(final_state);
  if (wants_events_) events_.Delete(key, std::move(before), Reason::kWatch, version_, !known);
}

// The last good state stays.
void ChangeSet::Refuse(const ObjectKey& key) {
  refused_.Insert(key);
  if (Now(key)) transaction_.changes.push_back({key, {}, true});
}

}  // namespace kgen::cache
