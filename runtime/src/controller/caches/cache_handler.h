// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CacheHandler: the handler of one CacheRegistration, registered with each part of its cache, and with those that come
// while it is registered.
//
//   KindCache --Attach(part)--> CacheHandler --one Registration for each part--> Informer
#ifndef KGEN_SRC_CONTROLLER_CACHES_CACHE_HANDLER_H_
#define KGEN_SRC_CONTROLLER_CACHES_CACHE_HANDLER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/caches/parts.h"
#include "core/memory/mutex.h"
#include "kgen/cache/events.h"
#include "kgen/cache/registration.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// The handler gets the events of a namespace from one part after the other: a part that was added again is registered
// with when the handler was told that everything of the earlier one has left.
//
// Thread safety: all members from any thread. No lock is held while an informer or the handler is called.
class CacheHandler final : public SharedObject {
 public:
  CacheHandler(AnyHandler handler, HandlerOptions options, Executor& executor)
      : handler_(std::move(handler)),
        options_(std::move(options)),
        attached_(executor.MakeWaiter("a handler that is being registered")) {}

  // Registers the handler with the only part that there will ever be.
  void AttachToOnly(const Shared<Part>& part);
  // Registers the handler with a part, unless it was registered with that one, or with a later one of the namespace.
  void Attach(const Shared<Part>& part);
  // Removes the handler, as ~Registration() does: afterwards no call runs, and none will start.
  void Remove();

  Result<void> status() const;
  // Whether it has handled the initial events of each part that has synced.
  bool HasSynced() const noexcept;
  std::size_t Backlog() const noexcept;

  // One registration. `registration` does not change while this object is in use.
  struct Held final : SharedObject {
    explicit Held(Registration of) : registration(std::move(of)) {}
    Registration registration;
  };
  struct Of {
    Shared<Part> part;
    Shared<Held> held;
  };
  std::vector<Of> all() const;

  // Whether the calling thread runs a handler of a cache whose namespaces may change.
  static bool IsCalling() noexcept;

 private:
  // What there is of one namespace.
  struct Slot {
    Shared<Part> part{};
    Shared<Held> held{};  // null while it is being registered
    Shared<Part> next{};  // when the handler was told that everything of `part` has left
  };

  void Register(const Shared<Part>& part, AnyHandler handler);
  void Call(const Shared<Part>& part, const AnyEvent& event);
  void Told(const Shared<Part>& part);

  AnyHandler handler_;
  const HandlerOptions options_;
  const Shared<Waiter> attached_;  // notified when attaching_ is 0
  mutable Mutex mutex_;
  std::map<std::string, Slot, std::less<>> slots_ KGEN_GUARDED_BY(mutex_);
  std::optional<Error> failure_ KGEN_GUARDED_BY(mutex_);
  int attaching_ KGEN_GUARDED_BY(mutex_) = 0;  // calls of Register()
  bool removed_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_CACHE_HANDLER_H_
