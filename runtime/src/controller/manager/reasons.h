// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Why the keys in a controller's queue are there, until each of them is handed out.
#ifndef KGEN_SRC_CONTROLLER_MANAGER_REASONS_H_
#define KGEN_SRC_CONTROLLER_MANAGER_REASONS_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/caches/client_state.h"
#include "core/memory/mutex.h"
#include "kgen/controller/request.h"
#include "kgen/core/object_key.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

inline constexpr std::size_t kMostReasons = 10;

// What became one request.
struct Reasons {
  std::vector<RequestReason> first;  // at most kMostReasons, all different
  std::size_t count = 0;             // of all, those included that are not listed
  std::optional<RequestReason> fallback{};
  // The states of objects that were the reasons, unless there was another reason.
  std::vector<WriteLog::Entry> states{};
  bool other = false;
};

// Thread safety: all members from any thread. Never blocks.
class ReasonLog final : public SharedObject {
 public:
  // Call this before the key is added to the queue, so that whoever is handed the key finds the reason.
  // `state` is null unless the reason is that an object has that state now.
  void Add(const ObjectKey& key, Cause cause, std::string_view kind, const ObjectKey& object,
           const WriteLog::Entry* state = nullptr);
  // The reason of a key that comes back without any other: it was requeued or is retried.
  void SetFallback(const ObjectKey& key, Cause cause, std::string_view kind);
  // Empty if there are none.
  Reasons Take(const ObjectKey& key);
  std::size_t size() const;
  // Some keys that wait, with the first reason of each: at most `most`, in no particular order.
  std::vector<std::pair<ObjectKey, RequestReason>> Some(std::size_t most) const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, Reasons> reasons_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_REASONS_H_
