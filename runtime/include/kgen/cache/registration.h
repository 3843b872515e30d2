// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Registration: keeps a handler registered with an informer for as long as this object lives.
#ifndef KGEN_CACHE_REGISTRATION_H_
#define KGEN_CACHE_REGISTRATION_H_

#include <cstddef>
#include <optional>
#include <string>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace cache {
class Listener;
class Informer;
}  // namespace cache

// Options of one handler. Zero and negative values are refused: nothing is registered, Registration::status() returns
// kInvalidArgument with the name of the option, and the observer gets an OnHandlerFailed().
struct HandlerOptions {
  // Default: the period of the informer (InformerOptions::resync). How often the handler gets every object again, as an
  // Updated with reason kResync. kNever: not at all. A period below a second counts as a second.
  std::optional<Nanos> resync{};
  // Default: the name of the informer. For messages and traces.
  std::string name{};
  // Default: 1024. Notifies the observer (OnBacklogHigh) when so many events wait. kUnlimited: never.
  std::optional<std::size_t> backlog_warning{};
  // Default: 64 MiB. Bounds the memory of a handler that is slower than the changes. kUnlimited: the handler gets every
  // change. The unit is bytes that only this backlog keeps alive: waiting events, and states of objects that the cache
  // has replaced. An object that the cache still holds costs nothing. What a replaced state shares with a newer one is
  // not counted, and what two waiting states share with each other may not be, so the number is approximate.
  // Once so many bytes wait, the observer gets an OnBacklogHigh(), and a new event is merged with the newest event of
  // its key among those that came after half of the limit:
  //   Added, then Updated    one Added with the newest object
  //   Updated, then Updated  one Updated from the first `before` to the last `now`
  //   Updated, then Deleted  the Deleted
  //   Added, then Deleted    nothing
  //   Deleted, then Added    both                              (a Left is merged as a Deleted is)
  // So beyond the limit at most two events and two replaced states of each key wait; no limit can go below that. A
  // limit of 1 merges whenever it can. Only intermediate states are lost: the handler always gets the last state of
  // each object, and the deletion of each object that it knows. A merged event keeps the position of the first one and
  // has the newest `version`, so versions may decrease from one key to the next. Its reason is the newest one that is
  // not kResync; an Added stays initial.
  std::optional<std::size_t> backlog_bytes{};
  // Default: false, calls are made on a thread that may block, and delay nothing but this handler. True: the informer
  // makes the calls itself, before it goes on, which saves a switch of threads for each event when changes come one at
  // a time. For functions of a few microseconds that never block, such as those that set an atomic or add a key to a
  // queue. A longer call delays the whole informer and its other handlers (the observer gets an OnHandlerSlow() after
  // 100 ms, as always), and kgen's blocking functions fail in it with kInvalidArgument. It may remove its own handler;
  // removing a different handler there does not wait for its running call. There is no backlog, so
  // `backlog_warning` and `backlog_bytes` have no effect.
  bool short_calls = false;
  // Default: false. True: leaves out each Updated whose two states differ in nothing but metadata.resourceVersion and
  // metadata.managedFields, unless its reason is kResync. Of a projection only the members that it has count: most
  // updates of a pod change no other label, node or address.
  bool skip_unchanged = false;
};

// Keeps a handler registered. The destructor removes the handler: it waits for the running call to end, and no call
// starts afterwards. Within a call of the handler itself, it returns at once, no further call starts, and the functions
// are destroyed after the running call. In both cases whatever the functions captured by reference may be destroyed
// afterwards.
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

  // Returns an error if nothing was registered: kStopped (the informer had already been stopped), kInvalidArgument (an
  // option that HandlerOptions does not allow).
  Result<void> status() const;
  // Returns true once the informer has synced and the handler has returned from (or thrown in) every event that came
  // before: the events of the initial state and, after a warm start, what followed until the cache was current. It
  // stays true.
  bool HasSynced() const noexcept;
  std::size_t Backlog() const noexcept;  // events that wait, without the running one
  std::string name() const;

  const Shared<cache::Listener>& listener() const noexcept { return listener_; }

 private:
  friend class cache::Informer;
  explicit Registration(Shared<cache::Listener> listener) noexcept;
  Shared<cache::Listener> listener_;
};

}  // namespace kgen

#endif  // KGEN_CACHE_REGISTRATION_H_
