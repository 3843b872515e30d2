// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ControllerBuilder: which objects a controller watches, and the function that reconciles them.
//
//   kgen::Must(manager.Control<Order>("orders")
//       .Owns<Deployment>()
//       .Watches<ConfigMap>([](const ConfigMap& map, kgen::Requests& requests) {
//         requests.Add(map.metadata.namespace_, "default-order"); })
//       .Workers(4)
//       .Reconcile([](kgen::Request& request) -> kgen::Result<kgen::Requeue> { ... }));
//
//   watched objects --predicates--> keys of Orders --WorkQueue--> the function, at most once at a time for each key
//
// A controller starts with its manager's Run(), once the caches of everything that it watches have synced and the queue
// has every object of the first lists; with leader election not before this process leads.
#ifndef KGEN_CONTROLLER_CONTROLLER_H_
#define KGEN_CONTROLLER_CONTROLLER_H_

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/controller/owners.h"
#include "kgen/controller/predicates.h"
#include "kgen/controller/rate_limiter.h"
#include "kgen/controller/request.h"
#include "kgen/controller/work_queue.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"

namespace kgen {

// Collects the keys of the objects to reconcile. Used within one call.
class Requests {
 public:
  // A key without a name stands for no object, and is ignored: that of a label that is not there, for example.
  void Add(ObjectKey key) {
    if (!key.name.empty()) keys_.push_back(std::move(key));
  }
  void Add(String in_namespace, String name) { Add(ObjectKey(std::move(in_namespace), std::move(name))); }
  const std::vector<ObjectKey>& keys() const noexcept { return keys_; }

 private:
  std::vector<ObjectKey> keys_;
};

// What each controller of a manager does unless its builder says otherwise: ManagerOptions::controllers. The functions
// of ControllerBuilder describe the settings.
struct ControllerDefaults {
  int workers = 1;
  // Replaces `workers` for controllers of some kinds, written as KIND.GROUP: {"Deployment.apps", 4}, {"Pod", 2}. An
  // entry for a kind without a controller does nothing.
  std::vector<std::pair<std::string, int>> workers_of{};
  Shared<RateLimiter> rate_limiter{};  // one for all controllers, so they share the tokens of a bucket
  bool priorities = true;
  Nanos deadline{};  // 0: none
  bool needs_leader = true;
};

namespace controller {
class ManagerCore;
class ControllerCore;
}  // namespace controller

namespace detail {

struct WatchSpec {
  enum class Role : std::uint8_t { kFor, kOwns, kWatches };
  Role role = Role::kFor;
  const TypeTable* table = nullptr;           // of the objects in the cache
  const KindInfo* kind = nullptr;             // null: `dynamic`
  std::optional<GroupVersionKind> dynamic{};  // its resource is asked from the server
  Owners owners = Owners::kController;
  std::function<bool(const AnyEvent&)> passes{};               // null: everything
  std::function<void(const AnyRef& object, Requests&)> map{};  // of kWatches; null: the user's function is empty
};

struct ControllerSpec {
  std::string name;
  std::vector<WatchSpec> watches{};
  // Absent or null: as ControllerDefaults say.
  std::optional<int> workers{};
  Shared<RateLimiter> rate_limiter{};
  std::optional<bool> priorities{};
  std::optional<Nanos> deadline{};
  std::optional<bool> needs_leader{};
  std::optional<AnyPredicate> passes{};                  // of every watch, besides its own
  std::function<Result<Requeue>(Request&)> reconcile{};  // null: the user's function is empty
};

// Whether calling `function` would throw std::bad_function_call.
template <typename F>
bool IsEmptyFunction(const F& /*function*/) {
  return false;
}
template <typename Signature>
bool IsEmptyFunction(const std::function<Signature>& function) {
  return !function;
}

Result<Shared<controller::ControllerCore>> AddController(const Shared<controller::ManagerCore>& manager,
                                                         ControllerSpec spec);

}  // namespace detail

// A controller of a manager. A handle; it may outlive the manager.
//
// Thread safety: all members from any thread. Never blocks.
class Controller {
 public:
  explicit Controller(Shared<controller::ControllerCore> core) noexcept;
  Controller(const Controller&) noexcept;
  Controller& operator=(const Controller&) noexcept;
  ~Controller();

  const std::string& name() const noexcept;
  // Reconciles that key soon, because of something that no watch tells. What is enqueued before the controller runs is
  // kept; what is enqueued after it has stopped is dropped.
  void Enqueue(const ObjectKey& key) const;

 private:
  Shared<controller::ControllerCore> core_;
};

// T: the kind that is reconciled. It is a generated type, Unstructured, or void for a controller that only has
// Watches().
//
// Thread safety: used by one thread. Nothing blocks but Reconcile(), and that only for dynamic kinds.
template <typename T>
class [[nodiscard]] ControllerBuilder {
 public:
  // For the manager.
  ControllerBuilder(Shared<controller::ManagerCore> manager, std::string_view name,
                    std::optional<GroupVersionKind> kind = {})  // NOLINT(performance-unnecessary-value-param): kept
      : manager_(std::move(manager)) {
    spec_.name = name;
    if constexpr (!std::is_void_v<T>) Watch<T>(detail::WatchSpec::Role::kFor, false, std::move(kind));
  }

  // Only those events of T that pass cause a request. Every object stays in the cache. Called twice, both must let an
  // event pass.
  ControllerBuilder&& When(Predicate<T> predicate) &&
    requires(!std::is_void_v<T>)
  {
    own_ = own_ && predicate;
    spec_.watches.front().passes = own_;
    return std::move(*this);
  }

  // For all watches at once, those of Owns() and Watches() included: an event causes a request only if it passes both
  // this predicate and that of its own watch. The watches are of several kinds, so it judges what all objects have: it
  // is one of the predicates in predicates.h, as GenerationChanged() or MatchesMetadata(), or a combination of them,
  // and cannot be a Predicate<U>. Called twice, both must let an event pass. Controller::Enqueue() is not filtered.
  //
  // GenerationChanged() also hides the status of owned objects here, and every update of those without generations: for
  // the spec of T alone, use When().
  ControllerBuilder&& EventFilter(const AnyPredicate& predicate) && {
    spec_.passes = spec_.passes ? *spec_.passes && predicate : predicate;
    return std::move(*this);
  }

  // Reconciles the owner, of kind T, of each U to which something happens; with Owners::kAll every owner of that kind,
  // not only the controlling one. When an object changes its owner, both are reconciled.
  template <typename U>
  ControllerBuilder&& Owns(Owners which = Owners::kController) && {
    return std::move(*this).template Owns<U>(Predicate<U>(), which);
  }
  template <typename U>
  ControllerBuilder&& Owns(Predicate<U> predicate, Owners which = Owners::kController) && {
    AddOwned<U>(false, std::move(predicate), which);
    return std::move(*this);
  }
  // The same with metadata alone, which costs less memory and traffic. Read the objects with Client::GetMetadata():
  // Get() would open a second cache.
  template <typename U>
  ControllerBuilder&& OwnsMetadata(Predicate<PartialObjectMetadata> predicate = {},
                                   Owners which = Owners::kController) && {
    AddOwned<U>(true, std::move(predicate), which);
    return std::move(*this);
  }

  // Reconciles the keys that `map` adds for each U to which something happens. For an update it is called for the old
  // and for the new object; for the deletion of an object of which nothing is known, not at all. Called on several
  // threads; must be fast and must not block, so it should read a Cache<T>, not a Client. If it throws, the observer is
  // notified, and what it has added before is reconciled.
  template <typename U, typename F>
    requires(std::is_invocable_v<const F&, const U&, Requests&>)
  ControllerBuilder&& Watches(F map, Predicate<U> predicate = {}) && {
    AddWatched<U>(Watch<U>(detail::WatchSpec::Role::kWatches, false, {}), std::move(map), std::move(predicate));
    return std::move(*this);
  }
  // The same with metadata alone.
  template <typename U, typename F>
    requires(std::is_invocable_v<const F&, const PartialObjectMetadata&, Requests&>)
  ControllerBuilder&& WatchesMetadata(F map, Predicate<PartialObjectMetadata> predicate = {}) && {
    AddWatched<PartialObjectMetadata>(Watch<U>(detail::WatchSpec::Role::kWatches, true, {}), std::move(map),
                                      std::move(predicate));
    return std::move(*this);
  }
  // The same for a kind without generated code.
  template <typename F>
    requires(std::is_invocable_v<const F&, const Unstructured&, Requests&>)
  ControllerBuilder&& Watches(GroupVersionKind kind, F map, Predicate<Unstructured> predicate = {}) && {
    AddWatched<Unstructured>(Watch<Unstructured>(detail::WatchSpec::Role::kWatches, false, std::move(kind)),
                             std::move(map), std::move(predicate));
    return std::move(*this);
  }

  // ManagerOptions::controllers can change the defaults of the next five.
  //
  // How many keys are reconciled at the same time; by default one.
  ControllerBuilder&& Workers(int workers) && { return spec_.workers = workers, std::move(*this); }
  // Of failed calls; by default 5 ms to 1000 s, doubling for each key.
  ControllerBuilder&& RateLimit(Shared<RateLimiter> limiter) && {
    return spec_.rate_limiter = std::move(limiter), std::move(*this);
  }
  // false: first in, first out. By default changes overtake the objects of the first list and resyncs.
  ControllerBuilder&& Priorities(bool priorities) && { return spec_.priorities = priorities, std::move(*this); }
  // After so long the stop token of a call is requested, so its calls of the API end. A function that goes on without
  // looking at the token is not interrupted. 0: never, as by default.
  ControllerBuilder&& Deadline(Nanos deadline) && { return spec_.deadline = deadline, std::move(*this); }
  // false: runs in every replica, whether it leads or not. By default only in the leader.
  ControllerBuilder&& NeedsLeader(bool needs) && { return spec_.needs_leader = needs, std::move(*this); }

  // Adds the controller to its manager. `function` takes a kgen::Request& and returns Result<void> or Result<Requeue>;
  // with several workers it is called by several threads at once, but never twice at once for a key.
  //
  // What it returns:
  //   success            forgets the key's failures; Requeue::After() and BackOff() say when to call again
  //   an error           is reported to the observer; the key comes back after a delay that grows with each failure
  //   kConflict          the same, but without a report: somebody else wrote first, and the cache will soon know
  //   a terminal error   (Error::AsTerminal()) is reported; the key comes back only when something happens to it
  //   an exception       is an error of this call and of nothing else
  //
  // Errors: kInvalidArgument  no watch, an empty or taken name, fewer than one worker, an empty std::function, Owns()
  //                           or Watches() of a kind without identity
  //         kNotFound         a dynamic kind that the server does not have
  //         kStopped          the manager has stopped
  //         those of discovery, for dynamic kinds
  template <typename F>
  [[nodiscard]] Result<Controller> Reconcile(F function) && {
    static_assert(std::is_invocable_v<const F&, Request&>,
                  "Reconcile: the function takes `kgen::Request&`, and several threads may call it at once, so its "
                  "operator() is const");
    using Returned = std::invoke_result_t<const F&, Request&>;
    static_assert(std::is_same_v<Returned, Result<void>> || std::is_same_v<Returned, Result<Requeue>>,
                  "Reconcile: the function returns kgen::Result<void> or kgen::Result<kgen::Requeue>");
    static_assert(std::is_copy_constructible_v<F>, "Reconcile: the function is copyable");
    const bool empty = detail::IsEmptyFunction(function);
    spec_.reconcile = [function = std::move(function)](Request& request) -> Result<Requeue> {
      if constexpr (std::is_same_v<Returned, Result<void>>) {
        if (Result<void> done = function(request); !done) return Fail(std::move(done).error());
        return Requeue{};
      } else {
        return function(request);
      }
    };
    if (empty) spec_.reconcile = nullptr;
    auto added = detail::AddController(manager_, std::move(spec_));
    if (!added) return Fail(std::move(added).error());
    return Controller(*std::move(added));
  }

 private:
  template <typename U>
  detail::WatchSpec& Watch(detail::WatchSpec::Role role, bool metadata_only, std::optional<GroupVersionKind> dynamic) {
    static_assert(detail::HasTable<U>, "the kind of a controller or watch is a generated type or kgen::Unstructured");
    detail::WatchSpec& watch = spec_.watches.emplace_back();
    watch.role = role;
    watch.table = metadata_only ? &PartialObjectMetadata::kTable : &U::kTable;
    watch.kind = U::kTable.kind;
    watch.dynamic = std::move(dynamic);
    return watch;
  }
  template <typename U, typename Seen>
  void AddOwned(bool metadata_only, Predicate<Seen> predicate, Owners which) {
    static_assert(!std::is_void_v<T>, "Owns: Control<T>() names the kind of the owners");
    detail::WatchSpec& watch = Watch<U>(detail::WatchSpec::Role::kOwns, metadata_only, {});
    watch.owners = which;
    watch.passes = std::move(predicate);
  }
  template <typename Seen, typename F>
  static void AddWatched(detail::WatchSpec& watch, F map, Predicate<Seen> predicate) {
    watch.passes = std::move(predicate);
    if (detail::IsEmptyFunction(map)) return;
    watch.map = [map = std::move(map)](const AnyRef& object, Requests& requests) {
      if (const Ref<const Seen> typed = object.As<Seen>()) map(*typed, requests);
    };
  }
  struct None {};

  Shared<controller::ManagerCore> manager_;
  detail::ControllerSpec spec_;
  std::conditional_t<std::is_void_v<T>, None, Predicate<T>> own_{};  // of When()
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CONTROLLER_H_
