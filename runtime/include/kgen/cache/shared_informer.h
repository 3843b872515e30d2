// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SharedInformer<T>: a local, indexed copy of one resource, which follows the server with a short delay. Any number of
// handlers and listers share it.
//
//   auto pods = factory.Core().V1().Pods();
//   auto registration = pods.Informer().AddEventHandler({.on_add = [](const kgen::Added<Pod>& e) { ... }});
//   kgen::Must(pods.Informer().AddIndex("node", kgen::FieldPath("spec.nodeName")));
//
// A handle, as AnyInformer.
#ifndef KGEN_CACHE_SHARED_INFORMER_H_
#define KGEN_CACHE_SHARED_INFORMER_H_

#include <concepts>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/cache/any_informer.h"
#include "kgen/cache/events.h"
#include "kgen/cache/registration.h"
#include "kgen/cache/snapshot.h"
#include "kgen/cache/transform.h"

namespace kgen {

// Thread safety: const members from any thread. None blocks but AddIndex() and WaitUntil(), which say for how long.
template <typename T>
class SharedInformer : public AnyInformer {
 public:
  using AnyInformer::AnyInformer;

  // Adds a handler, before the start or while the informer runs. The handler first receives all objects in the store,
  // as initial. Keep the result, because destroying it removes the handler. On a stopped informer nothing is
  // registered, and Registration::status() returns an error.
  [[nodiscard]] Registration AddEventHandler(EventHandler<T> handler) const {
    return AddHandler(detail::EraseHandler<T>(std::move(handler)));
  }
  [[nodiscard]] Registration AddEventHandler(EventHandler<T> handler, HandlerOptions options) const {
    return AddHandler(detail::EraseHandler<T>(std::move(handler)), std::move(options));
  }

  // Adds an index, before the start or while the informer runs. Snapshots taken after the return have the index. The
  // function must depend on the object alone: when an object changes or is deleted, the function is called again for
  // the old object to find its entries, and if it then returns other values (because they depend on the time, for
  // example), old entries may remain. Blocks while the function is called for all objects, on the calling thread, and
  // at the end while changes are being applied; changes wait for it only during its last step. If the function throws
  // later, for a new object, the observer is notified and the object has no value in that index. The function must not
  // wait for an AddIndex() of the same informer on another thread. Errors: kInvalidArgument (name taken, no such field,
  // called from an index function of this informer), kUserCode (the function threw; nothing was added), kStopped.
  [[nodiscard]] Result<void> AddIndex(std::string_view name, const FieldPath& path) const {
    return AddIndexBy(name, path);
  }
  template <std::invocable<const T&, IndexSink&> F>
  [[nodiscard]] Result<void> AddIndex(std::string_view name, F function) const {
    return AddIndexBy(name,
                      cache::IndexFunction([function = std::move(function)](const AnyRef& object, IndexSink& sink) {
                        if (const Ref<const T> typed = object.As<T>()) function(*typed, sink);
                      }));
  }

  // Sets a function that changes every object once, before the store sees it. Dropping what you do not need saves
  // memory, but each changed object is decoded twice so that it can share text and subtrees with other objects;
  // InformerOptions::drop_managed_fields drops managedFields without that cost. `function` takes a T& and returns
  // nothing; one that takes a copy would change only the copy.
  // Errors: kInvalidArgument (already started).
  template <std::invocable<T&> F>
    requires(std::is_void_v<std::invoke_result_t<F&, T&>> && !std::invocable<F&, T &&>)
  [[nodiscard]] Result<void> SetTransform(F function) const {
    return SetTransformBy([function = std::move(function)](AnyRef object) -> Result<AnyRef> {
      const Ref<const T> typed = object.As<T>();
      if (!typed) return object;
      T changed = *typed;
      function(changed);
      return AnyRef(MakeRef(std::move(changed)));
    });
  }

  // Returns the reads of the cache by index and in snapshots.
  kgen::Indexer<T> Indexer() const { return kgen::Indexer<T>(store()); }
};

// Waits for any informers, of one factory or of several, by the rules of SharedInformerFactory::WaitForCacheSync.
template <typename... T>
[[nodiscard]] Result<void> WaitForCacheSync(std::stop_token stop, const SharedInformer<T>&... informers) {
  return detail::WaitForSync(std::move(stop), {informers...});
}

}  // namespace kgen

#endif  // KGEN_CACHE_SHARED_INFORMER_H_
