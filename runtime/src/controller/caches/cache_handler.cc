// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/cache_handler.h"

#include <algorithm>
#include <utility>

#include "core/memory/fork.h"

namespace kgen::controller {
namespace {

thread_local int calls_here = 0;  // of handlers that run on this thread

}  // namespace

bool CacheHandler::IsCalling() noexcept { return calls_here > 0; }

void CacheHandler::AttachToOnly(const Shared<Part>& part) {
  if (!part->Use()) return;
  {
    const MutexLock lock(mutex_);
    slots_[part->namespace_name()].part = part;
    ++attaching_;
  }
  Register(part, std::move(handler_));
}

void CacheHandler::Attach(const Shared<Part>& part) {
  if (!part->Use()) return;
  Shared<Part> unneeded = part;
  bool now = false;
  {
    const MutexLock lock(mutex_);
    const auto found = slots_.find(part->namespace_name());
    const bool is_new = found == slots_.end();
    const auto newer = [&](const Shared<Part>& known) { return !known || known->order < part->order; };
    if (!removed_ && is_new) {
      slots_[part->namespace_name()].part = std::move(unneeded);
      ++attaching_;
      now = true;
    } else if (!removed_ && newer(found->second.part) && newer(found->second.next)) {
      std::swap(found->second.next, unneeded);  // the handler was never told of the other one
    }
  }
  if (now) return Register(part, [self = Shared<CacheHandler>(this), part](const AnyEvent& e) { self->Call(part, e); });
  if (unneeded) unneeded->EndUse();
}

void CacheHandler::Register(const Shared<Part>& part, AnyHandler handler) {
  Shared<Held> held = MakeShared<Held>(part->informer->AddEventHandler(std::move(handler), options_));
  const Result<void> status = held->registration.status();
  bool last = false;
  {
    const MutexLock lock(mutex_);
    if (!status && !failure_) failure_ = status.error();
    last = --attaching_ == 0;
    const auto slot = slots_.find(part->namespace_name());
    // If it is gone, the handler has been told already that everything has left, or was removed.
    if (slot != slots_.end() && slot->second.part == part) slot->second.held = std::move(held);
  }
  if (last) attached_->Notify();
  if (held) held->registration.Remove();
}

void CacheHandler::Call(const Shared<Part>& part, const AnyEvent& event) {
  if (event.type == AnyEvent::Type::kLeft && event.key.name.empty()) return Told(part);
  struct Scope {
    Scope() { ++calls_here; }
    ~Scope() { --calls_here; }
  } const scope;
  handler_(event);
}

// Called as the handler of the part, as its last call.
void CacheHandler::Told(const Shared<Part>& part) {
  Shared<Held> ended;
  Shared<Part> next;
  {
    const MutexLock lock(mutex_);
    const auto slot = slots_.find(part->namespace_name());
    if (slot == slots_.end() || slot->second.part != part) return;
    ended = std::move(slot->second.held);
    next = std::move(slot->second.next);
    if (next) {
      slot->second = {.part = next};
      ++attaching_;
    } else {
      slots_.erase(slot);
    }
  }
  if (ended) ended->registration.Remove();  // returns at once, because it is called from a call of the handler
  part->EndUse();
  if (next) Register(next, [self = Shared<CacheHandler>(this), next](const AnyEvent& e) { self->Call(next, e); });
}

// A registration that is just being made is waited for, so that its calls are waited for, too.
void CacheHandler::Remove() {
  if (detail::ForkedChild()) return;
  std::map<std::string, Slot, std::less<>> slots;
  for (bool waits = true; waits;) {
    {
      const MutexLock lock(mutex_);
      removed_ = true;
      waits = attaching_ > 0;
      if (!waits) slots.swap(slots_);
    }
    if (waits && !attached_->Wait()) break;  // a thread that must not block: Register() removes it
  }
  {
    const MutexLock lock(mutex_);
    slots.merge(slots_);
    slots_.clear();
  }
  for (auto& [name, slot] : slots) {
    if (slot.held) slot.held->registration.Remove();
    slot.part->EndUse();
    if (slot.next) slot.next->EndUse();
  }
}

Result<void> CacheHandler::status() const {
  const MutexLock lock(mutex_);
  if (failure_) return Fail(*failure_);
  return {};
}

bool CacheHandler::HasSynced() const noexcept {
  const MutexLock lock(mutex_);
  return std::ranges::all_of(slots_, [](const auto& each) {
    const Slot& slot = each.second;
    const Part& part = slot.next ? *slot.next : *slot.part;
    if (part.removed() || !part.informer->HasSynced()) return true;
    return !slot.next && slot.held && slot.held->registration.HasSynced();
  });
}

std::size_t CacheHandler::Backlog() const noexcept {
  const MutexLock lock(mutex_);
  std::size_t backlog = 0;
  for (const auto& [name, slot] : slots_) backlog += slot.held ? slot.held->registration.Backlog() : 0;
  return backlog;
}

std::vector<CacheHandler::Of> CacheHandler::all() const {
  const MutexLock lock(mutex_);
  std::vector<Of> all;
  for (const auto& [name, slot] : slots_) {
    if (slot.held) all.push_back({slot.part, slot.held});
  }
  return all;
}

}  // namespace kgen::controller
