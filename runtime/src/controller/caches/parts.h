// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Part, Parts and PublishedParts: the informers of a KindCache, one for each scope, as a list that may change while
// threads read it.
//
//   who changes the namespaces --Publish(a new list)--> PublishedParts --Read()--> readers: each sees one whole list
#ifndef KGEN_SRC_CONTROLLER_CACHES_PARTS_H_
#define KGEN_SRC_CONTROLLER_CACHES_PARTS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/field_selector.h"
#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "cache/store/hazard.h"
#include "controller/caches/held_ranges.h"
#include "controller/caches/own_writes.h"
#include "core/memory/mutex.h"
#include "kgen/cache/informer_options.h"
#include "kgen/client/selector.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen::controller {

// What one informer selects.
struct PartScope {
  cache::Selection selection;  // the namespace: "" for all, or for all that no other scope names
  Selector labels;
  cache::FieldSelector fields;
};

// What the informers of a kind select, in the order of their namespaces. One without a namespace selects from those
// that no other names. Errors: kInvalidArgument (two scopes for one namespace, and what CheckSelection() refuses)
Result<std::vector<PartScope>> ResolveScopes(const KindInfo& kind, const std::vector<InformerScope>& scopes,
                                             const InformerOptions& options);

struct Part;

// The parts that are in no list any more, and of which not every handler knows that yet.
//
// Thread safety: all members from any thread.
class LeavingParts final : public SharedObject {
 public:
  void Add(Shared<Part> part) {
    const MutexLock lock(mutex_);
    parts_.push_back(std::move(part));
  }
  void Remove(const Part& part);
  std::vector<Shared<Part>> all() const {
    const MutexLock lock(mutex_);
    return parts_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<Shared<Part>> parts_ KGEN_GUARDED_BY(mutex_);
};

// One informer, and its users: the list of the cache, and each handler until it was told that everything has left. The
// informer stops with the last one.
//
// Thread safety: all members from any thread.
struct Part final : SharedObject {
  // `order` grows with each part of the namespace. The list of the cache is the first user.
  Part(PartScope in, Shared<cache::Informer> follows, std::size_t max_writes, std::uint64_t order,
       Shared<LeavingParts> leaving)
      : scope(std::move(in)),
        informer(std::move(follows)),
        order(order),
        writes(informer->store(), max_writes),
        leaving_(std::move(leaving)) {}
  const std::string& namespace_name() const noexcept { return scope.selection.namespace_; }
  static std::string_view Name(const Shared<Part>& part) noexcept { return part->namespace_name(); }

  // Returns false if nobody uses the part any more.
  bool Use() noexcept {
    int users = users_.load(std::memory_order_relaxed);
    while (users != 0 && !users_.compare_exchange_weak(users, users + 1, std::memory_order_acq_rel)) {
    }
    return users != 0;
  }
  // The caller holds a reference.
  void EndUse() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    informer->Stop();
    leaving_->Remove(*this);
  }
  bool unused() const noexcept { return users_.load(std::memory_order_acquire) == 0; }

  // Whether the namespace was taken out of the cache.
  bool removed() const noexcept { return removed_.load(std::memory_order_acquire); }
  // First BeginRemoval(), then a list without the part, and then EndRemoval(). Each once.
  void BeginRemoval() {
    leaving_->Add(Shared<Part>(this));
    removed_.store(true, std::memory_order_release);
  }
  void EndRemoval() {
    informer->Retire();
    EndUse();
  }

  const PartScope scope;
  const Shared<cache::Informer> informer;
  const std::uint64_t order;
  OwnWrites writes;
  HeldRanges holds{};  // of a divided cache

 private:
  const Shared<LeavingParts> leaving_;
  std::atomic<int> users_{1};
  std::atomic<bool> removed_{false};
};

// The parts of a cache at one moment. Never changes.
class Parts final : public SharedObject {
 public:
  // `parts` are in the order of their namespaces.
  explicit Parts(std::vector<Shared<Part>> parts) noexcept : parts_(std::move(parts)) {}
  auto begin() const noexcept { return parts_.begin(); }
  auto end() const noexcept { return parts_.end(); }
  std::size_t size() const noexcept { return parts_.size(); }
  bool empty() const noexcept { return parts_.empty(); }
  std::span<const Shared<Part>> all() const noexcept { return parts_; }
  // The part that has the objects of a namespace, alone, or none.
  std::span<const Shared<Part>> Of(std::string_view in_namespace) const noexcept {
    const auto found = std::ranges::lower_bound(parts_, in_namespace, {}, &Part::Name);
    if (found != parts_.end() && Part::Name(*found) == in_namespace) return {&*found, 1};
    if (!parts_.empty() && Part::Name(parts_.front()).empty()) return {&parts_.front(), 1};
    return {};
  }
  Part* Find(std::string_view in_namespace) const noexcept {
    const auto found = Of(in_namespace);
    return found.empty() ? nullptr : found.front().get();
  }

 private:
  const std::vector<Shared<Part>> parts_;
};

// Keeps a list for as long as it is read.
class PartsView {
 public:
  explicit PartsView(const Parts& stays) noexcept : parts_(&stays) {}
  explicit PartsView(Shared<const Parts> held) noexcept : parts_(held.get()), held_(std::move(held)) {}
  const Parts& operator*() const noexcept { return *parts_; }
  const Parts* operator->() const noexcept { return parts_; }

 private:
  const Parts* parts_;
  Shared<const Parts> held_;
};

// The current list. One that never changes costs its readers nothing, and one that may change a count; nobody waits.
//
// Thread safety: Read() from any thread at any time; the others from one thread at a time.
class PublishedParts {
 public:
  PublishedParts(Shared<const Parts> first, bool may_change) noexcept
      : current_owner_(std::move(first)), current_(current_owner_.get()), may_change_(may_change) {}

  PartsView Read() const noexcept {
    if (!may_change_) return PartsView(*current_owner_);
    const cache::HazardGuard<Parts> guard(current_);
    return PartsView(Shared<const Parts>(&*guard));
  }
  // Only if it may change.
  void Publish(Shared<const Parts> next) {
    retired_.reserve(retired_.size() + 1);
    current_.store(next.get(), std::memory_order_seq_cst);
    retired_.push_back(std::exchange(current_owner_, std::move(next)));
  }
  // Returns the lists that were replaced, but for those that a reader is about to take. Drop them without a lock.
  [[nodiscard]] std::vector<Shared<const Parts>> TakeRetired() {
    if (retired_.empty()) return {};
    const std::vector<const void*> announced = cache::AnnouncedPointers();
    const auto read = std::ranges::partition(retired_, [&](const Shared<const Parts>& old) {
      return std::ranges::find(announced, static_cast<const void*>(old.get())) != announced.end();
    });
    std::vector<Shared<const Parts>> unread(std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
    retired_.erase(read.begin(), read.end());
    return unread;
  }

 private:
  Shared<const Parts> current_owner_;
  std::atomic<const Parts*> current_;
  const bool may_change_;
  std::vector<Shared<const Parts>> retired_;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_PARTS_H_
