// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SharedInformerFactory: one informer per resource and scope, started, stopped and waited for together.
//
// Generated factories (k8s::SharedInformerFactory, acme::SharedInformerFactory) derive from this and add the accessors
// factory.Core().V1().Pods().
#ifndef KGEN_CACHE_FACTORY_H_
#define KGEN_CACHE_FACTORY_H_

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/cache/informer_core.h"
#include "kgen/cache/lister.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

class Connection;
class DynamicInformer;
struct GroupVersionResource;
struct ListOptions;
struct ResourceMapping;

// Options of all informers of a factory.
struct FactoryOptions {
  Nanos resync = Nanos(0);                                 // default of every informer; 0: no resync
  std::string namespace_{};                                // "" for all namespaces
  std::function<void(ListOptions&)> tweak_list_options{};  // runs for each list and watch, last; may set selectors
  bool drop_managed_fields = false;
  // Overrides `resync` for some kinds: {&Pod::kTable, 10min}.
  std::vector<std::pair<const TypeTable*, Nanos>> resync_of{};
  TransformFunction transform{};  // of every informer; see SharedInformer::SetTransform, which replaces it
  std::int64_t page_size = 0;     // 0: the reflector decides
  bool streaming_list = true;     // false: always list first
  Nanos apply_delay = Nanos(0);   // how long changes wait for others to be applied with them; 0: not at all
};

// Shared between a factory and its accessors, so that these may outlive it.
class FactoryState;

// Owns its informers: destroying it stops them and waits until no handler runs (from a handler: without waiting for
// that one; on a thread that must not block: without waiting at all). Listers, informers and registrations may outlive
// it and answer from the last state.
//
// Thread safety: all members from any thread.
class SharedInformerFactory {
 public:
  // No default arguments here and below: every user's file would compile the options' members.
  explicit SharedInformerFactory(const Connection& connection);
  SharedInformerFactory(const Connection& connection, FactoryOptions options);
  // Takes the connection of any clientset.
  template <typename Clientset>
    requires requires(const Clientset& c) { c.connection(); }
  explicit SharedInformerFactory(const Clientset& clientset) : SharedInformerFactory(clientset.connection()) {}
  template <typename Clientset>
    requires requires(const Clientset& c) { c.connection(); }
  SharedInformerFactory(const Clientset& clientset, FactoryOptions options)
      : SharedInformerFactory(clientset.connection(), std::move(options)) {}
  SharedInformerFactory(const SharedInformerFactory&) = delete;
  SharedInformerFactory& operator=(const SharedInformerFactory&) = delete;
  ~SharedInformerFactory();

  // The informer of a resource without generated code, in the factory's scope; created, and so requested, by the first
  // call. All calls for one resource share it, but for a mapping of another kind or scope, or one that comes after the
  // start of an informer whose kind was not known: these get an informer of their own. A generated informer of the same
  // resource is another one too. Include kgen/cache/dynamic_informer.h to use the result.
  //
  // Servers leave apiVersion and kind out of the items of lists of built-in resources. Objects have their apiVersion
  // nevertheless. With a mapping, which RestMapper returns, they have their kind too, and a factory of one namespace
  // may ask for cluster-scoped resources. SharedInformer::SetTransform() replaces the transform that adds both.
  DynamicInformer ForResource(const GroupVersionResource& resource) const;
  DynamicInformer ForMapping(const ResourceMapping& mapping) const;

  // Starts every informer that was requested (Informer() or Lister() of a kind, ForResource()) and has not been
  // started. Does not block; call it again after requesting more. Each informer stops with the token of the Start()
  // that started it.
  void Start(std::stop_token stop = {});
  // Blocks until every requested informer has synced. Errors: kCancelled (`stop` was requested, regardless of other
  // failures by then), kTimeout, kUnauthorized/kForbidden/kNotFound (refused repeatedly, see SyncOptions::patient),
  // kStopped (an informer was stopped during the wait), kDecode (SyncOptions::complete), kInvalidArgument (an informer
  // that was not started; or called on a thread that runs posted work). The message names each informer that is not
  // synced, its state, attempts and last error.
  [[nodiscard]] Result<void> WaitForCacheSync(std::stop_token stop = {}) const;
  [[nodiscard]] Result<void> WaitForCacheSync(std::stop_token stop, const SyncOptions& options) const;
  // Stops every informer and blocks until no handler runs. A later Start() does nothing.
  void Shutdown();
  std::vector<cache::InformerStatus> status() const;

 protected:
  const Shared<FactoryState>& state() const noexcept { return state_; }

 private:
  Shared<FactoryState> state_;
};

namespace detail {
// The informer of that table in the factory's scope, created by the first call. A factory has one scope (namespace and
// tweak): informers with different scopes need different factories, which may share a connection.
Shared<cache::InformerCore> InformerFor(const Shared<FactoryState>& factory, const TypeTable& table);
}  // namespace detail

// The result of a generated accessor: informer and lister of one kind. A handle. L is the generated lister.
//
//   auto pods = factory.Core().V1().Pods();        // requests no informer yet
//   pods.Informer(); pods.Lister();                // each of these requests it
template <typename T, typename L>
class InformerAccessor {
 public:
  explicit InformerAccessor(Shared<FactoryState> factory) noexcept : factory_(std::move(factory)) {}
  SharedInformer<T> Informer() const { return SharedInformer<T>(detail::InformerFor(factory_, T::kTable)); }
  L Lister() const { return L(detail::InformerFor(factory_, T::kTable)->store()); }

 private:
  Shared<FactoryState> factory_;
};

}  // namespace kgen

#endif  // KGEN_CACHE_FACTORY_H_
