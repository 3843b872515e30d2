// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SharedInformerFactory: one informer per resource and scope, started, stopped and waited for together.
//
//   k8s::SharedInformerFactory factory(clientset, {.namespace_ = "shop"});
//   auto pods = factory.Core().V1().Pods();                        // in the factory's scope, "shop"
//   auto all_web = pods.In({.label_selector = "app=web"});         // in all namespaces, an informer of its own
//
// Generated factories (k8s::SharedInformerFactory, acme::SharedInformerFactory) derive from this and add the accessors
// factory.Core().V1().Pods(). docs/caches.md says when to use a factory, and when the caches of a manager.
#ifndef KGEN_CACHE_FACTORY_H_
#define KGEN_CACHE_FACTORY_H_

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/cache/informer_options.h"
#include "kgen/cache/lister.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/cache/sync_options.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

class Connection;
class DynamicLister;
struct GroupVersionResource;
struct ResourceMapping;
struct Unstructured;

// Options of a factory and of its informers.
struct FactoryOptions {
  std::string namespace_{};  // by default all namespaces; cluster-scoped kinds have none
  InformerOptions defaults{};
  InformerOptionsOf of{};  // instead of the defaults, for some kinds
};

// The state of a factory, which its accessors share so that they may outlive it.
class FactoryState;

// The informer and the lister of one kind in one scope. L is the generated lister. A handle: copies are the same
// informer, and it may outlive the factory.
//
// Thread safety: const members from any thread; never blocks.
template <typename T, typename L>
class ScopedInformer {
 public:
  explicit ScopedInformer(Shared<cache::Informer> informer) noexcept : informer_(std::move(informer)) {}
  // Returns the informer, for handlers and indexes.
  const SharedInformer<T>& Informer() const noexcept { return informer_; }
  // Returns a lister of the informer's objects.
  L Lister() const { return L(informer_.store()); }

 private:
  SharedInformer<T> informer_;
};

template <typename T, typename L>
class InformerAccessor;

// The informer and the lister of a resource without generated code. Include kgen/cache/dynamic_informer.h to use it.
using DynamicInformer = ScopedInformer<Unstructured, DynamicLister>;

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

  // Returns the accessor of a projection, which has no generated accessor (docs/projections.md).
  //
  //   auto pods = factory.Of<agent::PodAddress>();
  template <detail::IsProjection T>
  InformerAccessor<T, Lister<T>> Of() const {
    return InformerAccessor<T, Lister<T>>(state_);
  }

  // Returns the informer of a resource without generated code. The first call creates and requests it; later calls for
  // the same resource and scope share it. Two cases get an informer of their own: a mapping of another kind, and a
  // mapping that comes after the start of an informer whose kind was not known. A generated informer of the resource is
  // separate, too. Without a scope, the factory's scope applies.
  //
  // Servers leave apiVersion and kind out of the items of lists of built-in resources. Objects have their apiVersion
  // nevertheless. With a mapping, which RestMapper returns, they have their kind too, and a factory of one namespace
  // may ask for cluster-scoped resources. SharedInformer::SetTransform() replaces the transform that adds both.
  DynamicInformer ForResource(const GroupVersionResource& resource) const;
  DynamicInformer ForResource(const GroupVersionResource& resource, const InformerScope& scope) const;
  DynamicInformer ForMapping(const ResourceMapping& mapping) const;
  DynamicInformer ForMapping(const ResourceMapping& mapping, const InformerScope& scope) const;

  // Starts every informer that was requested (Informer() or Lister() of a kind, ForResource()) and has not been
  // started. Does not block; call it again after requesting more. Each informer stops with the token of the Start()
  // that started it.
  void Start(std::stop_token stop = {});
  // Blocks until every requested informer has synced (SyncOptions::stale accepts a saved state instead). Errors:
  // kCancelled (`stop` was requested, regardless of other failures by then), kTimeout,
  // kUnauthorized/kForbidden/kNotFound/kInvalid (refused repeatedly, see SyncOptions::patient), kStopped (an informer
  // was stopped during the wait), kDecode (SyncOptions::complete), kInvalidArgument (an informer that was not started
  // or whose options are wrong; or called on a thread that runs posted work). The message names each informer that is
  // not synced, its state, attempts and last error.
  [[nodiscard]] Result<void> WaitForCacheSync(std::stop_token stop = {}) const;
  [[nodiscard]] Result<void> WaitForCacheSync(std::stop_token stop, const SyncOptions& options) const;
  // Stops every informer and blocks until no handler runs. A later Start() does nothing.
  void Shutdown();
  std::vector<cache::InformerStatus> status() const;

  // For the library's own use: status(), as a function that may outlive the factory.
  Function<std::vector<cache::InformerStatus>()> StatusReader() const;

 protected:
  const Shared<FactoryState>& state() const noexcept { return state_; }

 private:
  Shared<FactoryState> state_;
};

namespace detail {
// The informer of that table, in the factory's scope or in another one; created by the first call.
Shared<cache::Informer> InformerFor(const Shared<FactoryState>& factory, const TypeTable& table);
Shared<cache::Informer> InformerFor(const Shared<FactoryState>& factory, const TypeTable& table,
                                    const InformerScope& scope);
}  // namespace detail

// The result of a generated accessor: informer and lister of one kind. A handle. L is the generated lister.
//
//   auto pods = factory.Core().V1().Pods();        // requests no informer yet
//   pods.Informer(); pods.Lister();                // each requests the informer of the factory's scope
//   pods.In({.namespace_ = "billing"});            // requests the informer of another scope
template <typename T, typename L>
class InformerAccessor {
 public:
  explicit InformerAccessor(Shared<FactoryState> factory) noexcept : factory_(std::move(factory)) {}
  SharedInformer<T> Informer() const { return SharedInformer<T>(detail::InformerFor(factory_, T::kTable)); }
  L Lister() const { return L(Informer().store()); }
  // Returns the informer of another scope, with the options of the kind otherwise. Calls with the same namespace and
  // selectors return the same informer. Each scope has a list and a watch of its own: objects that several scopes
  // select are received and kept once for each.
  ScopedInformer<T, L> In(const InformerScope& scope) const {
    return ScopedInformer<T, L>(detail::InformerFor(factory_, T::kTable, scope));
  }

 private:
  Shared<FactoryState> factory_;
};

}  // namespace kgen

#endif  // KGEN_CACHE_FACTORY_H_
