// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Snapshot<T>: one consistent state of an informer's store, with objects by key and by index.
//
//   auto view = pods.Informer().Indexer().Snapshot();
//   if (auto pod = view.Get({"default", "web-0"})) ...
//   for (const auto& pod : view.ByIndex("node", "n1")) ...          // agrees with Get() of the same view
//
// A snapshot shows all of a transaction or nothing of it; a whole relist is one transaction. Taking one never waits for
// the writer.
#ifndef KGEN_CACHE_SNAPSHOT_H_
#define KGEN_CACHE_SNAPSHOT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/function.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/shared.h"
#include "kgen/core/string.h"

namespace kgen {

// Collects the values of one object for one index; an index function calls Add() for each. Equal values count once.
// Takes anything that converts to a string_view. The index shares the text of a member of the object that is a String,
// and keeps a copy of other text.
class IndexSink {
 public:
  virtual void Add(String value) = 0;

 protected:
  ~IndexSink() = default;
};

namespace cache {

// An index: calls IndexSink::Add() for each value of the object.
using IndexFunction = Function<void(const AnyRef& object, IndexSink& sink)>;

class Store;

// One state of a store. Immutable; cheap to copy; keeps every object in it alive.
//
// Thread safety: immutable. Never blocks.
class AnySnapshot {
 public:
  AnySnapshot() noexcept = default;  // empty

  // Returns the object, or null if there is none.
  AnyRef Get(const ObjectKey& key) const;
  std::vector<AnyRef> List() const;                                    // in no particular order
  std::vector<AnyRef> InNamespace(std::string_view namespace_) const;  // "" for all
  // Returns the objects with that value. Empty, too, if there is no such index; HasIndex() tells the difference.
  std::vector<AnyRef> ByIndex(std::string_view index, std::string_view value) const;
  std::vector<String> IndexValues(std::string_view index) const;  // sorted
  bool HasIndex(std::string_view index) const noexcept;
  std::vector<ObjectKey> Keys() const;
  std::size_t size() const noexcept;
  // Returns the resource version up to which the snapshot includes all changes; "" before the first list. After a warm
  // start it is the version of the saved state at first, which may be of another cluster while the informer is stale.
  String version() const;
  // Returns whether a newer state of the object could not be decoded; Get() returns the last good one.
  bool IsStale(const ObjectKey& key) const noexcept;

  class State;
  // Stores make snapshots with this.
  explicit AnySnapshot(Shared<const State> state) noexcept;
  const State& state() const noexcept;  // inside of the library
  ~AnySnapshot();
  AnySnapshot(const AnySnapshot&) noexcept;
  AnySnapshot(AnySnapshot&&) noexcept;
  AnySnapshot& operator=(AnySnapshot) noexcept;

 private:
  friend class Store;
  Shared<const State> state_;
};

}  // namespace cache

namespace detail {
cache::AnySnapshot TakeSnapshot(const Shared<cache::Store>& store) noexcept;
AnyRef GetByIndex(const Shared<cache::Store>& store, std::string_view index, std::string_view value) noexcept;

template <typename T>
std::vector<Ref<const T>> TypedRefs(const std::vector<AnyRef>& objects) {
  std::vector<Ref<const T>> typed;
  typed.reserve(objects.size());
  for (const AnyRef& object : objects) typed.push_back(object.As<T>());
  return typed;
}
}  // namespace detail

// Snapshot<T>: an AnySnapshot whose objects are of one type.
template <typename T>
class Snapshot {
 public:
  // Takes a snapshot whose objects are of type T.
  explicit Snapshot(cache::AnySnapshot any) noexcept : any_(std::move(any)) {}

  // Each is as in AnySnapshot, with typed objects.
  Ref<const T> Get(const ObjectKey& key) const { return any_.Get(key).template As<T>(); }
  std::vector<Ref<const T>> List() const { return detail::TypedRefs<T>(any_.List()); }
  std::vector<Ref<const T>> InNamespace(std::string_view namespace_) const {
    return detail::TypedRefs<T>(any_.InNamespace(namespace_));
  }
  std::vector<Ref<const T>> ByIndex(std::string_view index, std::string_view value) const {
    return detail::TypedRefs<T>(any_.ByIndex(index, value));
  }
  std::vector<String> IndexValues(std::string_view index) const { return any_.IndexValues(index); }
  bool HasIndex(std::string_view index) const noexcept { return any_.HasIndex(index); }
  std::vector<ObjectKey> Keys() const { return any_.Keys(); }
  std::size_t size() const noexcept { return any_.size(); }
  String version() const { return any_.version(); }
  bool IsStale(const ObjectKey& key) const noexcept { return any_.IsStale(key); }
  const cache::AnySnapshot& any() const noexcept { return any_; }

 private:
  cache::AnySnapshot any_;
};

// A reader's handle to the store of an informer. A value; it may outlive the informer and then shows its last state.
//
// Thread safety: const members from any thread. Never blocks.
template <typename T>
class Indexer {
 public:
  explicit Indexer(Shared<cache::Store> store) noexcept : store_(std::move(store)) {}
  // Returns the present state.
  kgen::Snapshot<T> Snapshot() const { return kgen::Snapshot<T>(detail::TakeSnapshot(store_)); }
  // Returns an object with that value now: the only one, or any if there are several. Null if there is none, or no such
  // index. Cheaper than a snapshot for a single look-up, because it allocates nothing.
  Ref<const T> OneByIndex(std::string_view index, std::string_view value) const noexcept {
    return detail::GetByIndex(store_, index, value).template As<T>();
  }

 private:
  Shared<cache::Store> store_;
};

}  // namespace kgen

#endif  // KGEN_CACHE_SNAPSHOT_H_
