// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/delivery/event_batch.h"

#include <utility>

#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

bool IsUnchanged(const AnyRef& a, const AnyRef& b) {
  const String& version = a.metadata()->resourceVersion;
  return !version.empty() && version == b.metadata()->resourceVersion;
}

}  // namespace

bool IsAnotherIncarnation(const AnyRef& a, const AnyRef& b) {
  const String& first = a.metadata()->uid;
  const String& second = b.metadata()->uid;
  return !first.empty() && !second.empty() && first != second;
}

void EventBatch::Upsert(const ObjectKey& key, const AnyRef& before, const AnyRef& now, Reason reason,
                        const String& version, bool other_history) {
  if (before && !IsAnotherIncarnation(before, now)) {
    const bool unchanged = before == now || (IsUnchanged(before, now) && !other_history);
    events_.push_back({.type = AnyEvent::Type::kUpdated,
                       .reason = unchanged ? Reason::kResync : reason,
                       .key = key,
                       .before = before,
                       .now = now,
                       .version = version});
    return;
  }
  if (before) Delete(key, before, reason, version, true);
  events_.push_back({.type = AnyEvent::Type::kAdded, .reason = reason, .key = key, .now = now, .version = version});
}

void EventBatch::Delete(const ObjectKey& key, AnyRef before, Reason reason, const String& version,
                        bool final_state_unknown) {
  events_.push_back({.type = AnyEvent::Type::kDeleted,
                     .reason = reason,
                     .final_state_unknown = final_state_unknown,
                     .key = key,
                     .before = std::move(before),
                     .version = version});
}

void EventBatch::Leave(const ObjectKey& key, AnyRef before, const String& version) {
  events_.push_back({.type = AnyEvent::Type::kLeft,
                     .reason = Reason::kRelist,
                     .key = key,
                     .before = std::move(before),
                     .version = version});
}

void EventBatch::Resync(const ObjectKey& key, const AnyRef& object, const String& version) {
  events_.push_back({.type = AnyEvent::Type::kUpdated,
                     .reason = Reason::kResync,
                     .key = key,
                     .before = object,
                     .now = object,
                     .version = version});
}

}  // namespace kgen::cache
