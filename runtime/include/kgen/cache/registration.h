// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Registration: a handler that is registered with an informer, for as long as this object lives. [D11]
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
  // How often every object is told again as an Updated with reason kResync; 0: never. Negative: the informer's default,
  // which is the factory's. At least a second. Works without a default too: the informer checks as often as its most
  // frequent handler at the start asks for, or, if none did, the first one added later. A handler added after that is
  // told at least one such period apart, and in multiples of it.
  Nanos resync = Nanos(-1);
  std::string name{};  // for messages and traces
  // Told to the observer when so many events wait; 0: never.
  std::size_t backlog_warning = 1024;
  // Bounds the memory of a handler that is slower than the changes; 0: no limit, and every change is told. Once so many
  // events wait, a new one is merged with the newest that waits for the same key, so that about `backlog_limit` events
  // wait at most and two for each key:
  //   Added, then Updated    one Added with the newest object
  //   Updated, then Updated  one Updated from the first `before` to the last `now`
  //   Updated, then Deleted  the Deleted
  //   Added, then Deleted    nothing
  //   Deleted, then Added    both
  // What is lost are states in between; the last state of each object is always told. A merged event stands where the
  // first one stood and has the newest `version`, so versions may go back from one key to the next. Of the reasons the
  // newest one that is not kResync counts; an Added stays initial.
  std::size_t backlog_limit = 0;
};

// Destroying it removes the handler. Called from elsewhere: no call of the functions starts afterwards, and it returns
// when the running one has ended. Called from the handler itself: it returns at once, no further call starts, and the
// functions are destroyed after that call. Either way what the functions captured may go afterwards, or with them.
//
// Where waiting would hang it does not wait, and the running call ends by itself as in the second case: on a thread
// that must not block (posted work, a timer, an observer), where two handlers remove each other, and after the executor
// was shut down. What the functions captured by reference has to outlive them there.
//
// Thread safety: const members from any thread; moving and destroying as any value.
// Lifetime: may outlive informer and factory.
class [[nodiscard]] Registration {
 public:
  Registration() noexcept = default;  // registered nowhere
  Registration(Registration&&) noexcept = default;
  Registration& operator=(Registration&& other) noexcept;
  ~Registration();

  // Removes the handler now, as the destructor does. Idempotent.
  void Remove();

  // Why nothing was registered: kStopped if the informer had already been stopped [INF SI-12]. A value otherwise.
  Result<void> status() const;
  // The informer has synced, and every event of the initial state has returned from the handler, an exception included.
  // One-way.
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
