// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KeyType and QueueHandle: the parts of WorkQueue<Key> that are compiled once, for keys of any type. Do not use this
// header directly; include kgen/controller/work_queue.h.
#ifndef KGEN_CONTROLLER_QUEUE_HANDLE_H_
#define KGEN_CONTROLLER_QUEUE_HANDLE_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

struct AddOptions;
struct ProcessOptions;
struct Requeue;
struct WorkQueueMetrics;
struct WorkQueueOptions;

namespace controller {
class QueueState;
}

namespace detail {

// The functions that handle keys of one type.
struct KeyType {
  std::size_t size;
  std::size_t (*hash)(const void* key) noexcept;
  bool (*equal)(const void* a, const void* b) noexcept;
  void (*copy)(void* to, const void* key);
  void (*destroy)(void* key) noexcept;
  std::string (*text)(const void* key);  // for messages
};

template <typename Key>
std::string KeyText(const Key& key) {
  if constexpr (requires { std::string(key.str()); }) {
    return std::string(key.str());
  } else if constexpr (std::convertible_to<const Key&, std::string_view>) {
    return std::string(std::string_view(key));
  } else if constexpr (requires { std::to_string(key); }) {
    return std::to_string(key);
  } else {
    return "a key";
  }
}

template <typename Key>
std::size_t KeyHash(const Key& key) noexcept {
  return std::hash<Key>()(key);
}
template <typename Key>
bool KeyEqual(const Key& a, const Key& b) noexcept {
  return a == b;
}
// Hashes and compares an ObjectKey faster than std::hash and == do.
std::size_t KeyHash(const ObjectKey& key) noexcept;
bool KeyEqual(const ObjectKey& a, const ObjectKey& b) noexcept;

template <typename Key>
inline constexpr KeyType kKeyType = {
    .size = sizeof(Key),
    .hash = [](const void* key) noexcept -> std::size_t { return KeyHash(*static_cast<const Key*>(key)); },
    .equal = [](const void* a, const void* b) noexcept -> bool {
      return KeyEqual(*static_cast<const Key*>(a), *static_cast<const Key*>(b));
    },
    .copy = [](void* to, const void* key) { ::new (to) Key(*static_cast<const Key*>(key)); },
    .destroy = [](void* key) noexcept { static_cast<Key*>(key)->~Key(); },
    .text = [](const void* key) { return KeyText(*static_cast<const Key*>(key)); },
};

// Called by several threads at once.
using Reconciler = std::move_only_function<Result<Requeue>(const void* key) const>;

// Receives a copy of an item that is handed out. It is called with the queue's lock held; if it throws, the item stays
// in the queue.
struct ItemReceiver {
  void* to;
  void (*take)(void* to, const void* key, int priority);
};

// Shared by the copies of a WorkQueue; the last one shuts the queue down. Has the members of WorkQueue, for keys
// whose type the queue knows only by their KeyType. Does nothing in a forked child.
class QueueHandle : public SharedObject {
 public:
  QueueHandle(const KeyType& type, WorkQueueOptions options);
  ~QueueHandle() override;

  void Add(const void* key, const AddOptions& options) const;
  bool TryGet(const ItemReceiver& receiver) const;  // false: nothing is ready
  Result<void> Get(const std::stop_token& stop, const ItemReceiver& receiver) const;
  void Done(const void* key) const;
  void Forget(const void* key) const;
  int NumRequeues(const void* key) const;
  std::size_t size() const;
  WorkQueueMetrics metrics() const;
  Result<void> Process(int workers, const std::stop_token& stop, Reconciler reconcile,
                       const ProcessOptions& options) const;
  void ShutDown() const;
  Result<void> ShutDownWithDrain(const std::stop_token& stop) const;
  bool ShuttingDown() const;

 private:
  const Shared<controller::QueueState> state_;  // timers and workers hold only this
};

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CONTROLLER_QUEUE_HANDLE_H_
