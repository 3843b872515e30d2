// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Lister<T>: reads from an informer's store. Each call reads from one snapshot.
//
//   if (auto pod = pods.Lister().Pods("default").Get("web-0")) ...      null if there is none
//   for (const kgen::Ref<const Pod>& pod : pods.Lister().Pods("kube-system").List()) ...
//
// Generated listers add the method named after the resource (Pods(namespace)). A lister works before the sync and after
// the stop too: it only reads.
#ifndef KGEN_CACHE_LISTER_H_
#define KGEN_CACHE_LISTER_H_

#include <string_view>
#include <utility>
#include <vector>

#include "kgen/cache/snapshot.h"
#include "kgen/core/ref.h"
#include "kgen/core/string.h"
#include "kgen/core/type_table.h"

namespace kgen {

class Selector;

namespace detail {
// All kinds but projections without metadata.labels. Types that are only declared so far count as having labels.
template <typename T>
concept HasLabels = !IsProjection<T> || requires(const T& object) { object.metadata.labels; };

// A null `selector` selects everything, an empty namespace all namespaces.
std::vector<AnyRef> ListFromStore(const Shared<cache::Store>& store, std::string_view namespace_,
                                  const Selector* selector);
AnyRef GetFromStore(const Shared<cache::Store>& store, std::string_view namespace_, std::string_view name);
}  // namespace detail

// NamespaceLister<T>: reads the objects of one namespace. A handle to shared state.
template <typename T>
class NamespaceLister {
 public:
  NamespaceLister(Shared<cache::Store> store, std::string_view in_namespace)
      : store_(std::move(store)), namespace_(in_namespace) {}

  // Returns the object of that name, or null.
  Ref<const T> Get(std::string_view name) const {
    return detail::GetFromStore(store_, namespace_, name).template As<T>();
  }
  // Returns the objects of the namespace, in no particular order; with a selector, those whose labels match.
  std::vector<Ref<const T>> List() const {
    return detail::TypedRefs<T>(detail::ListFromStore(store_, namespace_, nullptr));
  }
  std::vector<Ref<const T>> List(const Selector& selector) const
    requires detail::HasLabels<T>
  {
    return detail::TypedRefs<T>(detail::ListFromStore(store_, namespace_, &selector));
  }

 private:
  Shared<cache::Store> store_;
  String namespace_;
};

// Lister<T>: reads the objects of all namespaces. A handle to shared state.
// Thread safety: const members from any thread; never blocks.
template <typename T>
class Lister {
 public:
  explicit Lister(Shared<cache::Store> store) noexcept : store_(std::move(store)) {}

  // Returns all objects, of every namespace.
  std::vector<Ref<const T>> List() const { return detail::TypedRefs<T>(detail::ListFromStore(store_, "", nullptr)); }
  std::vector<Ref<const T>> List(const Selector& selector) const
    requires detail::HasLabels<T>
  {
    return detail::TypedRefs<T>(detail::ListFromStore(store_, "", &selector));
  }
  // Returns the object, or null if there is none. The namespace of the key is empty for a cluster-scoped kind.
  Ref<const T> Get(const ObjectKey& key) const {
    return detail::GetFromStore(store_, key.namespace_, key.name).template As<T>();
  }

 protected:
  NamespaceLister<T> In(std::string_view namespace_) const { return NamespaceLister<T>(store_, namespace_); }
  Ref<const T> GetByName(std::string_view name) const {
    return detail::GetFromStore(store_, "", name).template As<T>();
  }

 private:
  Shared<cache::Store> store_;
};

// ClusterLister<T>: the lister of a cluster-scoped kind, whose objects are found by name. Generated listers of such
// kinds derive from this.
template <typename T>
class ClusterLister : public Lister<T> {
 public:
  using Lister<T>::Lister;
  using Lister<T>::Get;
  // Returns the object of that name, or null.
  Ref<const T> Get(std::string_view name) const { return this->GetByName(name); }
};

}  // namespace kgen

#endif  // KGEN_CACHE_LISTER_H_
