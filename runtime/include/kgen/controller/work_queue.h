// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RateLimitingQueue: keys to reconcile, each at most once at a time, with back-off after failures.
//
//   handlers --Enqueue--> RateLimitingQueue --Process(workers)--> the user's Sync(key)
//
// Interface of the second stage: declared so that programs/06 compiles; its sources come with the controller issue.
#ifndef KGEN_CONTROLLER_WORK_QUEUE_H_
#define KGEN_CONTROLLER_WORK_QUEUE_H_

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string_view>

#include "kgen/cache/events.h"
#include "kgen/core/object_key.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// Thread safety: all members from any thread. A handle to shared state, so that handlers may outlive it.
class RateLimitingQueue {
 public:
  using Reconcile = std::function<Result<void>(const ObjectKey&)>;

  RateLimitingQueue();
  // Queued once, however often it is added before it is taken; added while it is being processed it is processed once
  // more.
  void Add(const ObjectKey& key) const;
  std::size_t size() const noexcept;
  // Calls `reconcile` from `workers` threads until `stop`; a key whose call failed comes back after a growing delay.
  // Blocks.
  Result<void> Process(int workers, std::stop_token stop, Reconcile reconcile);

 private:
  class State;
  Shared<State> state_;
};

namespace detail {
// The controlling owner's key if it is of that kind; false if there is none.
bool ControllerKey(const AnyRef& object, const TypeTable& owner, ObjectKey& key);
meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, const TypeTable& table);
bool ControlledBy(const meta::v1::ObjectMeta& object, const meta::v1::ObjectMeta& owner) noexcept;
}  // namespace detail

// A handler that queues the key of every object that was added, changed or deleted.
template <typename T>
EventHandler<T> Enqueue(const RateLimitingQueue& queue) {
  return {.on_add = [queue](const Added<T>& e) { queue.Add(e.key); },
          .on_update = [queue](const Updated<T>& e) { queue.Add(e.key); },
          .on_delete = [queue](const Deleted<T>& e) { queue.Add(e.key); }};
}

// A handler that queues the key of the object's controller, if that is an Owner. Both owners when it changes.
template <typename T, typename Owner>
EventHandler<T> EnqueueOwner(const RateLimitingQueue& queue) {
  auto add = [queue](const AnyRef& object) {
    ObjectKey key;
    if (object && detail::ControllerKey(object, Owner::kTable, key)) queue.Add(key);
  };
  return {.on_add = [add](const Added<T>& e) { add(e.now); },
          .on_update =
              [add](const Updated<T>& e) {
                add(e.before);
                add(e.now);
              },
          .on_delete = [add](const Deleted<T>& e) { add(e.before); }};
}

// The owner reference that makes `owner` the controller of what carries it.
template <typename T>
meta::v1::OwnerReference ControllerRef(const T& owner) {
  return detail::MakeControllerRef(owner.metadata, T::kTable);
}

// By UID of the controlling owner reference.
template <typename T, typename U>
bool IsControlledBy(const T& object, const U& owner) noexcept {
  return detail::ControlledBy(object.metadata, owner.metadata);
}

}  // namespace kgen

#endif  // KGEN_CONTROLLER_WORK_QUEUE_H_
