// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Registration: keeps a handler registered with an informer for as long as this object lives.
#ifndef KGEN_CACHE_REGISTRATION_H_
#define KGEN_CACHE_REGISTRATION_H_

#include <cstddef>
#include <string>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace cache {
class Listener;
class InformerCore;
}  // namespace cache

struct HandlerOptions {
  // How often the handler gets every object again, as an Updated with reason kResync; 0: never. Negative: the
  // informer's default, which is the factory's. At least a second. It also works without a default: the informer's
  // check period is the shortest period of the handlers at its start, or, if none has one, that of the first handler
  // with one added later. A handler added after that is resynced in multiples of the check period.
  Nanos resync = Nanos(-1);
  std::string name{};  // for messages and traces
  // Notifies the observer when so many events wait; 0: never.
  std::size_t backlog_warning = 1024;
  // Bounds the memory of a handler that is slower than the changes; 0: no limit, and the handler gets every change.
  // Once so many events wait, a new one is merged with the newest waiting event of the same key, so that at most about
  // `backlog_limit` events wait, and at most two for each key:
  //   Added, then Updated    one Added with the newest object
  //   Updated, then Updated  one Updated from the first `before` to the last `now`
  //   Updated, then Deleted  the Deleted
  //   Added, then Deleted    nothing
  //   Deleted, then Added    both
  // Only intermediate states are lost; the handler always gets the last state of each object. A merged event keeps the
  // position of the first one and has the newest `version`, so versions may decrease from one key to the next. Its
  // reason is the newest one that is not kResync; an Added stays initial.
  std::size_t backlog_limit = 0;
};

// Destroying it removes the handler. The destructor waits for the running call to end, and no call starts afterwards.
// Within a call of the handler itself, it returns at once, no further call starts, and the functions are destroyed
// after the running call. In both cases whatever the functions captured by reference may be destroyed afterwards.
//
// Where waiting would hang, it does not wait, and the running call ends by itself: on a thread that must not block
// (posted work, a timer, an observer), when two handlers remove each other, and after the executor was shut down.
// Whatever the functions captured by reference must then outlive them.
//
// Thread safety: const members from any thread; moving and destroying as any value.
// Lifetime: may outlive informer and factory.
class [[nodiscard]] Registration {
 public:
  Registration() noexcept = default;  // of no handler
  Registration(Registration&&) noexcept = default;
  Registration& operator=(Registration&& other) noexcept;
  ~Registration();

  // Removes the handler now, as the destructor does. Idempotent.
  void Remove();

  // kStopped if the informer had already been stopped, so that nothing was registered.
  Result<void> status() const;
  // The informer has synced, and the handler has returned from (or thrown in) every event of the initial state. Stays
  // true.
  bool HasSynced() const noexcept;
  std::size_t Backlog() const noexcept;  // events that wait, without the running one
  std::string name() const;

  const Shared<cache::Listener>& listener() const noexcept { return listener_; }

 private:
  friend class cache::InformerCore;
  explicit Registration(Shared<cache::Listener> listener) noexcept;
  Shared<cache::Listener> listener_;
};

}  // namespace kgen

#endif  // KGEN_CACHE_REGISTRATION_H_
