// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Store::Replacement: the whole new content of a store, built in steps beside the current one and published at once.
//
//   Store::Replacement next(*store);
//   next.Put(...);                                         one object each
//   while (!next.Publish(version, units)) ...              indexes the objects, then publishes them
//   while (!next.ReportFaults(units)) ...
#ifndef KGEN_SRC_CACHE_STORE_STORE_REPLACEMENT_H_
#define KGEN_SRC_CACHE_STORE_STORE_REPLACEMENT_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "cache/store/store.h"

namespace kgen::cache {

// Thread safety: on the thread of Store::Apply(), which must not be called between the first Put() and the end of
// Publish(). Indexes may be added meanwhile.
// Lifetime: the store must outlive it. One that is destroyed unpublished leaves what it built to Store::FreeSome().
// Cost: `units` is the number of objects that one call may process; the call subtracts the number processed.
class Store::Replacement {
 public:
  explicit Replacement(Store& store) noexcept : store_(store) {}
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // Puts an object, which must not be null. If a key is put twice, the last object wins.
  void Put(Change change);
  const ObjectLeaf* Find(const KeyView& key) const noexcept { return objects_.Find(key, LeafHash(key)); }

  // An empty version keeps the store's. Returns true once the content is published; after that only
  // ReportFaults() may be called.
  bool Publish(const std::string& version, std::size_t& units);
  // Reports faults to the store's `on_fault`. Returns true when all were reported.
  bool ReportFaults(std::size_t& units);

 private:
  friend class Store;
  bool IndexSome(std::size_t& units);

  Store& store_;
  ObjectMap objects_;
  std::vector<Index> indexes_;      // all complete but the last, which contains the objects before cursor_
  std::vector<IdentitySet> threw_;  // for each index
  ObjectMap::Cursor cursor_;
  std::deque<StoreFault> faults_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_STORE_REPLACEMENT_H_
