// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/manager/reasons.h"

#include <algorithm>
#include <utility>

namespace kgen {

std::string_view ToString(Cause cause) noexcept {
  switch (cause) {
    case Cause::kInitial:
      return "initial";
    case Cause::kChanged:
      return "changed";
    case Cause::kDeleted:
      return "deleted";
    case Cause::kOwned:
      return "owned";
    case Cause::kWatched:
      return "watched";
    case Cause::kRequested:
      return "requested";
    case Cause::kRequeued:
      return "requeued";
    case Cause::kRetried:
      return "retried";
    case Cause::kResync:
      return "resync";
  }
  return "unknown";
}

namespace controller {

void ReasonLog::Add(const ObjectKey& key, Cause cause, std::string_view kind, const ObjectKey& object,
                    const WriteLog::Entry* state) {
  const MutexLock lock(mutex_);
  Reasons& reasons = reasons_[key];
  ++reasons.count;
  reasons.other = reasons.other || state == nullptr || reasons.states.size() >= kMostReasons;
  if (!reasons.other) reasons.states.push_back(*state);
  const bool known = std::any_of(reasons.first.begin(), reasons.first.end(), [&](const RequestReason& each) {
    return each.cause == cause && each.kind == kind && each.object == object;
  });
  if (!known && reasons.first.size() < kMostReasons) reasons.first.push_back({cause, kind, object});
}

void ReasonLog::SetFallback(const ObjectKey& key, Cause cause, std::string_view kind) {
  const MutexLock lock(mutex_);
  reasons_[key].fallback = RequestReason{cause, kind, key};
}

Reasons ReasonLog::Take(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  const auto found = reasons_.find(key);
  if (found == reasons_.end()) return {};
  Reasons reasons = std::move(found->second);
  reasons_.erase(found);
  if (reasons.count == 0 && reasons.fallback) {
    reasons.first.push_back(*std::move(reasons.fallback));
    reasons.count = 1;
  }
  return reasons;
}

std::size_t ReasonLog::size() const {
  const MutexLock lock(mutex_);
  return reasons_.size();
}

std::vector<std::pair<ObjectKey, RequestReason>> ReasonLog::Some(std::size_t most) const {
  std::vector<std::pair<ObjectKey, RequestReason>> some;
  const MutexLock lock(mutex_);
  for (const auto& [key, reasons] : reasons_) {
    if (some.size() == most) break;
    if (!reasons.first.empty()) {
      some.emplace_back(key, reasons.first.front());
    } else if (reasons.fallback) {
      some.emplace_back(key, *reasons.fallback);
    }
  }
  return some;
}

}  // namespace controller
}  // namespace kgen
