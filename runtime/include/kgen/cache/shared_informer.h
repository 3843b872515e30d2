// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SharedInformer<T>: a local, indexed, always current copy of one resource, shared by any number of handlers and
// listers.
//
//   auto pods = factory.Core().V1().Pods();
//   auto registration = pods.Informer().AddEventHandler({.on_add = [](const kgen::Added<Pod>& e) { ... }});
//   kgen::Must(pods.Informer().AddIndex("node", kgen::FieldPath("spec.nodeName")));
//
// A handle: copies are the same informer, and it may outlive the factory.
#ifndef KGEN_CACHE_SHARED_INFORMER_H_
#define KGEN_CACHE_SHARED_INFORMER_H_

#include <concepts>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/cache/indexer.h"
#include "kgen/cache/informer_core.h"
#include "kgen/cache/registration.h"

namespace kgen {

// Thread safety: const members from any thread. None blocks but AddIndex(), which says for how long.
template <typename T>
class SharedInformer {
 public:
  explicit SharedInformer(Shared<cache::InformerCore> core) noexcept : core_(std::move(core)) {}

  // Also while it runs: the handler first hears all that is there, as initial. Keep the result: it is the registration.
  // On a stopped informer nothing is registered, and Registration::status() says so.
  [[nodiscard]] Registration AddEventHandler(EventHandler<T> handler, HandlerOptions options = {}) const {
    return core_->AddEventHandler(detail::EraseHandler<T>(std::move(handler)), std::move(options));
  }

  // Before or while it runs; visible in snapshots taken after the return. The function must depend on the
  // object alone: when that changes or goes it is called again for the old object to find its entries, and if it then
  // gives other values (because of the time, or of something else that has changed), old entries may remain.
  // This one blocks: while the function is called for all that is there, on the calling thread, and at the end while
  // changes are being applied. Those wait for it in turn only while it takes in what has changed since it last looked;
  // see cache::Store::AddIndex(). Errors: kInvalidArgument (name taken, no such field, called from within an index
  // function of this informer), kUserCode, kStopped.
  [[nodiscard]] Result<void> AddIndex(std::string_view name, const FieldPath& path) const {
    return core_->AddIndex(name, path);
  }
  template <std::invocable<const T&, IndexSink&> F>
  [[nodiscard]] Result<void> AddIndex(std::string_view name, F function) const {
    return core_->AddIndex(
        name, cache::IndexFunction([function = std::move(function)](const AnyRef& object, IndexSink& sink) {
          if (const Ref<const T> typed = object.As<T>()) function(*typed, sink);
        }));
  }

  // Changes every object before the store sees it, once each; before the start only. Drop what you do not need to save
  // memory: what is left shares text and subtrees with other objects as before, at the price of decoding each changed
  // object twice (managedFields are dropped without that by InformerOptions::drop_managed_fields). `function` takes a
  // T& and returns nothing; one that takes a copy would change only that. Errors: kInvalidArgument (started already).
  template <std::invocable<T&> F>
    requires(std::is_void_v<std::invoke_result_t<F&, T&>> && !std::invocable<F&, T &&>)
  [[nodiscard]] Result<void> SetTransform(F function) const {
    return core_->SetTransform([function = std::move(function)](AnyRef object) -> Result<AnyRef> {
      const Ref<const T> typed = object.As<T>();
      if (!typed) return object;
      T changed = *typed;
      function(changed);
      return AnyRef(MakeRef(std::move(changed)));
    });
  }

  kgen::Indexer<T> Indexer() const { return kgen::Indexer<T>(core_->store()); }
  bool HasSynced() const noexcept { return core_->HasSynced(); }
  bool IsStopped() const noexcept { return core_->IsStopped(); }
  cache::InformerStatus status() const { return core_->status(); }
  const Shared<cache::InformerCore>& core() const noexcept { return core_; }

 private:
  Shared<cache::InformerCore> core_;
};

// Waits for any informers, of one factory or of several, by the rules of SharedInformerFactory::WaitForCacheSync.
template <typename... T>
[[nodiscard]] Result<void> WaitForCacheSync(std::stop_token stop, const SharedInformer<T>&... informers) {
  return detail::WaitForSync(std::move(stop), {informers.core()...}, {});
}

}  // namespace kgen

#endif  // KGEN_CACHE_SHARED_INFORMER_H_
