// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KeyType, AnyWorkQueue and QueueHandle: the parts of WorkQueue<Key> that are compiled once, for keys of any type. Do
// not use this header directly; include kgen/controller/work_queue.h.
#ifndef KGEN_CONTROLLER_QUEUE_HANDLE_H_
#define KGEN_CONTROLLER_QUEUE_HANDLE_H_

#include <concepts>
#include <cstddef>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/core/function.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

struct AddOptions;
struct Requeue;
struct WorkQueueMetrics;
struct WorkQueueOptions;

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

// Calls the user's reconcile function; several threads may call it at once.
using Reconciler = UniqueFunction<Result<Requeue>(const void* key)>;

// Receives a copy of an item that is handed out. It is called with the queue's lock held; if it throws, the item stays
// in the queue.
struct ItemReceiver {
  void* to;
  void (*take)(void* to, const void* key, int priority);
};

// The queue behind WorkQueue, for keys whose type it knows only by their KeyType. Its functions do what WorkQueue says;
// in a forked child they do nothing, or fail.
class AnyWorkQueue : public SharedObject {
 public:
  virtual void Add(const void* key, const AddOptions& options) = 0;
  virtual bool TryGet(const ItemReceiver& receiver) = 0;  // false: nothing is ready
  virtual Result<void> Get(const std::stop_token& stop, const ItemReceiver& receiver) = 0;
  virtual void Done(const void* key) = 0;
  virtual void Forget(const void* key) = 0;
  virtual int NumRequeues(const void* key) = 0;
  virtual std::size_t size() = 0;
  virtual WorkQueueMetrics metrics() = 0;
  virtual Result<void> Process(int workers, const std::stop_token& stop, Reconciler reconcile, bool drain) = 0;
  // Process() without a drain, for a caller that does not block, and so without a thread while nothing is ready. If it
  // succeeds, `done` is called once, as posted work, after the function has been destroyed.
  virtual Result<void> Start(int workers, const std::stop_token& stop, Reconciler reconcile,
                             UniqueFunction<void()> done) = 0;
  // For the end of an executor, which drops posted work: shuts down, and destroys the function and `done` of Start()
  // now, or with the last running call.
  virtual void Abandon() = 0;
  virtual void ShutDown() = 0;
  virtual Result<void> ShutDownWithDrain(const std::stop_token& stop) = 0;
  virtual bool ShuttingDown() = 0;
};

// Shared by the copies of a WorkQueue; the last one shuts the queue down. Timers, workers and blocked calls hold only
// the queue.
class QueueHandle : public SharedObject {
 public:
  QueueHandle(const KeyType& type, WorkQueueOptions options);
  ~QueueHandle() override { queue_->ShutDown(); }
  AnyWorkQueue& queue() const noexcept { return *queue_; }

 private:
  const Shared<AnyWorkQueue> queue_;
};

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CONTROLLER_QUEUE_HANDLE_H_
