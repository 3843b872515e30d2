// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ControllerBuilder: makes a controller from the objects that it watches and the function that reconciles them.
//
//   kgen::Must(manager.Control<Order>("orders")
//       .Owns<Deployment>()
//       .Watches<ConfigMap>([](const ConfigMap& map, kgen::Requests& requests) {
//         requests.Add(map.metadata.namespace_, "default-order"); })
//       .MaxConcurrentReconciles(4)
//       .Reconcile([](kgen::Request& request) -> kgen::Result<kgen::Requeue> { ... }));
//
//   watched objects --predicates--> keys of Orders --WorkQueue--> the function, at most once at a time for each key
//
// A controller starts with its manager's Run(), once the caches of everything that it watches have synced and the queue
// has every object of the first lists; with leader election, it does not start before this process leads.
#ifndef KGEN_CONTROLLER_CONTROLLER_H_
#define KGEN_CONTROLLER_CONTROLLER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
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
#include "kgen/core/function.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"

namespace kgen {

// Says when a key that is added becomes a request.
struct RequestOptions {
  // A delay. Absent or zero: none; kNever: until the key is added again. A negative one is reported to the observer and
  // counts as zero.
  std::optional<Nanos> after{};
  // Absent: low for the objects of the first list and for resyncs, otherwise normal.
  std::optional<int> priority{};
};

// Collects the keys of the objects to reconcile. It is valid during one call.
class Requests {
 public:
  // One key that was added.
  struct Entry {
    ObjectKey key;           // of the object to reconcile
    RequestOptions options;  // when, and how urgently
  };

  // Adds a key. A key without a name, such as one made from an absent label, names no object and is ignored. If a key
  // is added again before it is reconciled, the earlier time and the higher priority count.
  void Add(ObjectKey key, const RequestOptions& options = {}) {
    if (!key.name.empty()) entries_.push_back({std::move(key), options});
  }
  void Add(String in_namespace, String name, const RequestOptions& options = {}) {
    Add(ObjectKey(std::move(in_namespace), std::move(name)), options);
  }
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
};

namespace detail {

// A function over an event; copyable. It accepts any type, so that a function of the wrong signature fails with a clear
// message.
template <typename Event>
class WatchFunction {
 public:
  WatchFunction() noexcept = default;
  WatchFunction(std::nullptr_t) noexcept {}
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, WatchFunction>)
  WatchFunction(F&& function) {  // implicit, for designated initializers
    constexpr bool kFits = std::is_invocable_v<const std::decay_t<F>&, const Event&, Requests&>;
    static_assert(kFits,
                  "WatchFunctions<T>: a function takes `const kgen::Added<T>&` (or Updated, Deleted) and "
                  "`kgen::Requests&`, and may be called by several threads at once, so its operator() is const");
    if constexpr (kFits) function_ = std::forward<F>(function);
  }

  explicit operator bool() const noexcept { return static_cast<bool>(function_); }
  void operator()(const Event& event, Requests& requests) const {
    if (function_) function_(event, requests);
  }

 private:
  std::function<void(const Event&, Requests&)> function_;
};

}  // namespace detail

// The functions of a watch, one for each type of event. Each adds the keys to reconcile. An empty function ignores its
// events.
template <typename T>
struct WatchFunctions {
  detail::WatchFunction<Added<T>> on_add{};       // an object has come
  detail::WatchFunction<Updated<T>> on_update{};  // an object has changed
  // `before` is null if nothing is known of the deleted object but its key.
  detail::WatchFunction<Deleted<T>> on_delete{};
};

// The settings of each controller of a manager whose builder does not set them: ManagerOptions::controllers. The
// functions of ControllerBuilder describe them.
struct ControllerDefaults {
  // Default: 1. How many keys a controller reconciles at the same time.
  int max_concurrent_reconciles = 1;
  // Replaces `max_concurrent_reconciles` for controllers of some kinds, written as KIND.GROUP: {"Deployment.apps", 4},
  // {"Pod", 2}. An entry for a kind without a controller does nothing.
  std::vector<std::pair<std::string, int>> group_kind_concurrency{};
  Shared<RateLimiter> rate_limiter{};  // one for all controllers, so they share the tokens of a bucket
  bool use_priority_queue = true;
  std::optional<Nanos> reconciliation_timeout{};  // absent: kNoLimit
  bool need_leader_election = true;
  bool recover_panic = true;
  bool skip_own_writes = false;
};

namespace controller {
class ManagerState;
class ControllerRunner;
}  // namespace controller

namespace detail {

struct WatchSpec {
  enum class Role : std::uint8_t { kFor, kOwns, kWatches };
  Role role = Role::kFor;
  const TypeTable* table = nullptr;           // of the objects in the cache
  const KindInfo* kind = nullptr;             // null: `dynamic`
  std::optional<GroupVersionKind> dynamic{};  // its resource is asked from the server
  Owners owners = Owners::kController;
  std::optional<EventPredicate> passes{};  // absent: everything
  // A watch of kWatches has one of these. If both are null, the user's function is empty.
  std::function<void(const AnyRef& object, Requests&)> map{};
  std::function<void(const AnyEvent& event, Requests&)> handle{};
};

struct ControllerSpec {
  std::string name;
  std::vector<WatchSpec> watches{};
  // Absent or null: the value of ControllerDefaults.
  std::optional<int> max_concurrent_reconciles{};
  Shared<RateLimiter> rate_limiter{};
  std::optional<bool> use_priority_queue{};
  std::optional<Nanos> reconciliation_timeout{};
  std::optional<bool> need_leader_election{};
  std::optional<bool> recover_panic{};
  std::optional<bool> skip_own_writes{};
  std::optional<AnyPredicate> passes{};                  // of every watch, besides its own
  std::function<Result<Requeue>(Request&)> reconcile{};  // null: the user's function is empty
};

Result<Shared<controller::ControllerRunner>> AddController(const Shared<controller::ManagerState>& manager,
                                                           ControllerSpec spec);

}  // namespace detail

// A handle to a controller of a manager. It may outlive the manager.
//
// Thread safety: all members from any thread. Never blocks.
class Controller {
 public:
  explicit Controller(Shared<controller::ControllerRunner> runner) noexcept;
  Controller(const Controller&) noexcept;
  Controller& operator=(const Controller&) noexcept;
  ~Controller();

  // Returns the name, as logs and metrics have it.
  const std::string& name() const noexcept;
  // Schedules a key to be reconciled, now or after a delay, for a reason that no watch reports. Keys that are enqueued
  // before the controller runs are kept; keys that are enqueued after it has stopped are dropped. With
  // ManagerOptions::shards, keys on which this process does not work at the moment are dropped, too.
  void Enqueue(const ObjectKey& key, const RequestOptions& options = {}) const;

 private:
  Shared<controller::ControllerRunner> runner_;
};

// Builds a controller. T is the kind that is reconciled: a generated type, Unstructured, or void for a controller that
// has only Watches().
//
// Thread safety: one thread. Nothing blocks but Reconcile(), and only for dynamic kinds.
template <typename T>
class [[nodiscard]] ControllerBuilder {
 public:
  // Only the manager calls this constructor.
  ControllerBuilder(Shared<controller::ManagerState> manager, std::string_view name,
                    std::optional<GroupVersionKind> kind = {})  // NOLINT(performance-unnecessary-value-param): kept
      : manager_(std::move(manager)) {
    spec_.name = name;
    if constexpr (!std::is_void_v<T>) Watch<T>(detail::WatchSpec::Role::kFor, false, std::move(kind));
  }

  // Filters the events of T: only those that pass cause a request. Every object stays in the cache. If When() is called
  // twice, both predicates must let an event pass.
  ControllerBuilder&& When(Predicate<T> predicate) &&
    requires(!std::is_void_v<T>)
  {
    own_ = own_ && predicate;
    spec_.watches.front().passes = own_;
    return std::move(*this);
  }

  // Filters the events of all watches, Owns() and Watches() included: an event causes a request only if it passes both
  // this predicate and the one of its own watch. The watches are of several kinds, so the predicate judges what all
  // objects have: it is one from predicates.h, such as GenerationChanged() or MatchesMetadata(), or a combination of
  // them, and cannot be a Predicate<U>. If WithEventFilter() is called twice, both predicates must let an event pass.
  // Controller::Enqueue() is not filtered.
  //
  // GenerationChanged() also hides the status of owned objects here, and every update of owned objects that have no
  // generation: for the spec of T alone, use When().
  ControllerBuilder&& WithEventFilter(const AnyPredicate& predicate) && {
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
    CheckOwned<U>();
    AddOwned<U>(false, {}, std::move(predicate), which);
    return std::move(*this);
  }
  // Owns a kind without generated code.
  ControllerBuilder&& Owns(GroupVersionKind kind, Predicate<Unstructured> predicate = {},
                           Owners which = Owners::kController) && {
    AddOwned<Unstructured>(false, std::move(kind), std::move(predicate), which);
    return std::move(*this);
  }
  // Owns a kind whose metadata alone is cached, which costs less memory and traffic. Read the objects with
  // CachedClient::GetMetadata(): Get() would open a second cache.
  template <typename U>
  ControllerBuilder&& OwnsMetadata(Predicate<PartialObjectMetadata> predicate = {},
                                   Owners which = Owners::kController) && {
    CheckOwned<U>();
    AddOwned<U>(true, {}, std::move(predicate), which);
    return std::move(*this);
  }

  // Reconciles the keys that `map` adds for each U to which something happens. For an update, `map` is called for the
  // old and for the new object; for the deletion of an object of which nothing is known, it is not called. Several
  // threads may call it at once. It must be fast and must not block, so it should read a Cache<T>, not a CachedClient.
  // If it throws, the observer is notified, and the keys that it has added before are reconciled.
  template <typename U, typename F>
    requires(std::is_invocable_v<const F&, const U&, Requests&>)
  ControllerBuilder&& Watches(F map, Predicate<U> predicate = {}) && {
    CheckWatched<U>();
    AddWatched<U>(Watch<U>(detail::WatchSpec::Role::kWatches, false, {}), std::move(map), std::move(predicate));
    return std::move(*this);
  }
  // Reconciles the keys that the functions add for the events of each U. Unlike `map` above, they know what has
  // happened.
  //
  //   .Watches<ConfigMap>({.on_update = [](const kgen::Updated<ConfigMap>& e, kgen::Requests& requests) {
  //     requests.Add("shop", e.key.name, {.after = 5s, .priority = 10});
  //   }})
  template <typename U>
  ControllerBuilder&& Watches(WatchFunctions<U> functions, Predicate<U> predicate = {}) && {
    CheckWatched<U>();
    AddHandled<U>(Watch<U>(detail::WatchSpec::Role::kWatches, false, {}), std::move(functions), std::move(predicate));
    return std::move(*this);
  }
  ControllerBuilder&& Watches(GroupVersionKind kind, WatchFunctions<Unstructured> functions,
                              Predicate<Unstructured> predicate = {}) && {
    AddHandled<Unstructured>(Watch<Unstructured>(detail::WatchSpec::Role::kWatches, false, std::move(kind)),
                             std::move(functions), std::move(predicate));
    return std::move(*this);
  }
  // Watches a kind whose metadata alone is cached.
  template <typename U, typename F>
    requires(std::is_invocable_v<const F&, const PartialObjectMetadata&, Requests&>)
  ControllerBuilder&& WatchesMetadata(F map, Predicate<PartialObjectMetadata> predicate = {}) && {
    CheckWatched<U>();
    AddWatched<PartialObjectMetadata>(Watch<U>(detail::WatchSpec::Role::kWatches, true, {}), std::move(map),
                                      std::move(predicate));
    return std::move(*this);
  }
  // Watches a kind without generated code.
  template <typename F>
    requires(std::is_invocable_v<const F&, const Unstructured&, Requests&>)
  ControllerBuilder&& Watches(GroupVersionKind kind, F map, Predicate<Unstructured> predicate = {}) && {
    AddWatched<Unstructured>(Watch<Unstructured>(detail::WatchSpec::Role::kWatches, false, std::move(kind)),
                             std::move(map), std::move(predicate));
    return std::move(*this);
  }

  // The next seven functions override ManagerOptions::controllers, whose defaults they state.
  //
  // Sets how many keys are reconciled at the same time; by default one.
  ControllerBuilder&& MaxConcurrentReconciles(int calls) && {
    return spec_.max_concurrent_reconciles = calls, std::move(*this);
  }
  // Sets the delays after failed calls; by default 5 ms to 1000 s, doubling for each key.
  ControllerBuilder&& RateLimiter(Shared<kgen::RateLimiter> limiter) && {
    return spec_.rate_limiter = std::move(limiter), std::move(*this);
  }
  // Sets whether changes overtake the objects of the first list and resyncs, as they do by default. false: first in,
  // first out.
  ControllerBuilder&& UsePriorityQueue(bool use) && { return spec_.use_priority_queue = use, std::move(*this); }
  // Sets the time after which the stop token of a call is requested, so that its calls of the API end; by default
  // kNoLimit. A function that goes on without looking at the token is not interrupted.
  ControllerBuilder&& ReconciliationTimeout(Nanos timeout) && {
    return spec_.reconciliation_timeout = timeout, std::move(*this);
  }
  // Sets whether the controller runs only in the leader, as it does by default. false: it runs in every replica. With
  // ManagerOptions::shards every replica runs it for its part of the keys, whatever is set here.
  ControllerBuilder&& NeedLeaderElection(bool needs) && { return spec_.need_leader_election = needs, std::move(*this); }

  // Sets whether an exception of the function is an error of its call, as it is by default. false: it ends the process,
  // with std::terminate() where it was thrown, so that a core dump shows the cause. A kgen::Exception, as Must() throws
  // it, is an error of the call even then.
  ControllerBuilder&& RecoverPanic(bool recover) && { return spec_.recover_panic = recover, std::move(*this); }

  // Sets whether the function is not called again for what it has written itself; by default all events call it. With
  // true, an event of T or of an owned object is skipped if its UID and resourceVersion equal those in the answer to a
  // write that the key's last call made through Request::client(). Only writes that the server accepts for a single
  // known state count: Create, and Update, UpdateStatus and Apply with a resourceVersion. Everything else still calls
  // the function: any other event of the key meanwhile, a newer version, a relist, a resync, a write whose outcome is
  // unknown, a call that failed.
  ControllerBuilder&& SkipOwnWrites(bool skip) && { return spec_.skip_own_writes = skip, std::move(*this); }

  // Adds the controller to its manager. `function` takes a kgen::Request& and returns Result<void> or Result<Requeue>;
  // with several workers it is called by several threads at once, but never twice at once for a key.
  //
  // The results of the function:
  //   success            forgets the key's failures; Requeue::After() and BackOff() say when to call again
  //   an error           is reported to the observer; the key comes back after a delay that grows with each failure
  //   kConflict          the same, but without a report: somebody else wrote first, and the cache will soon know
  //   a terminal error   (TerminalError()) is reported; the key comes back only when something happens to it
  //   an exception       is an error of this call and of nothing else: the error of a kgen::Exception, as
  //                      Must() throws it, otherwise kUserCode
  //
  // Errors: kInvalidArgument  no watch, an empty or taken name, MaxConcurrentReconciles() of less than one, a
  //                           ReconciliationTimeout() that is not positive, an empty std::function, or a type that is
  //                           no kind, such as PodSpec
  //         kNotFound         a dynamic kind that the server does not have
  //         kStopped          the manager has stopped
  //         as Discover(), for dynamic kinds
  template <typename F>
  [[nodiscard]] Result<Controller> Reconcile(F function) && {
    static_assert(std::is_invocable_v<const F&, Request&>,
                  "Reconcile: the function takes `kgen::Request&`, and several threads may call it at once, so its "
                  "operator() is const");
    using Returned = std::invoke_result_t<const F&, Request&>;
    static_assert(std::is_same_v<Returned, Result<void>> || std::is_same_v<Returned, Result<Requeue>>,
                  "Reconcile: the function returns kgen::Result<void> or kgen::Result<kgen::Requeue>");
    static_assert(std::is_copy_constructible_v<F>, "Reconcile: the function is copyable");
    const bool empty = detail::IsNullFunction(function);
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
  static constexpr void CheckOwned() {
    static_assert(!std::is_same_v<U, Unstructured>,
                  "Owns: Unstructured names no kind; write Owns(kgen::GroupVersionKind{group, version, kind})");
    static_assert(!std::is_same_v<U, PartialObjectMetadata>,
                  "Owns: PartialObjectMetadata names no kind; write OwnsMetadata<T>() with the type of the kind");
  }
  template <typename U>
  static constexpr void CheckWatched() {
    static_assert(
        !std::is_same_v<U, Unstructured>,
        "Watches: Unstructured names no kind; write Watches(kgen::GroupVersionKind{group, version, kind}, f)");
    static_assert(
        !std::is_same_v<U, PartialObjectMetadata>,
        "Watches: PartialObjectMetadata names no kind; write WatchesMetadata<T>(f) with the type of the kind");
  }
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
  void AddOwned(bool metadata_only, std::optional<GroupVersionKind> dynamic, Predicate<Seen> predicate, Owners which) {
    static_assert(!std::is_void_v<T>, "Owns: Control<T>() names the kind of the owners");
    detail::WatchSpec& watch = Watch<U>(detail::WatchSpec::Role::kOwns, metadata_only, std::move(dynamic));
    watch.owners = which;
    watch.passes = std::move(predicate);
  }
  template <typename Seen, typename F>
  static void AddWatched(detail::WatchSpec& watch, F map, Predicate<Seen> predicate) {
    watch.passes = std::move(predicate);
    if (detail::IsNullFunction(map)) return;
    watch.map = [map = std::move(map)](const AnyRef& object, Requests& requests) {
      if (const Ref<const Seen> typed = object.As<Seen>()) map(*typed, requests);
    };
  }
  template <typename Seen>
  static void AddHandled(detail::WatchSpec& watch, WatchFunctions<Seen> functions, Predicate<Seen> predicate) {
    watch.passes = std::move(predicate);
    if (!functions.on_add && !functions.on_update && !functions.on_delete) return;
    watch.handle = [functions = std::move(functions)](const AnyEvent& e, Requests& requests) {
      switch (e.type) {
        case AnyEvent::Type::kAdded:
          return functions.on_add({e.key, e.now.As<Seen>(), e.reason, e.version}, requests);
        case AnyEvent::Type::kUpdated:
          return functions.on_update({e.key, e.before.As<Seen>(), e.now.As<Seen>(), e.reason, e.version}, requests);
        case AnyEvent::Type::kDeleted:
          return functions.on_delete({e.key, e.before.As<Seen>(), e.final_state_unknown, e.reason, e.version},
                                     requests);
        case AnyEvent::Type::kLeft:
          return;  // controllers do not get it
      }
    };
  }
  struct None {};

  Shared<controller::ManagerState> manager_;
  detail::ControllerSpec spec_;
  std::conditional_t<std::is_void_v<T>, None, Predicate<T>> own_{};  // of When()
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CONTROLLER_H_
