// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The whole new content of a store, built in steps beside the current one and shown at once.
//
//   Store::Replacement next(*store);
//   next.Put(...);                                         one object each
//   while (!next.Publish(version, units)) ...              indexes what was put, then shows it
//   while (!next.ReportFaults(units)) ...
#ifndef KGEN_RUNTIME_CACHE_STORE_REPLACEMENT_H_
#define KGEN_RUNTIME_CACHE_STORE_REPLACEMENT_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "cache/store.h"

namespace kgen::cache {

// Thread safety: on the thread of Store::Apply(), which must not be called before it was published. Indexes may be
// added meanwhile.
// Lifetime: the store must outlive it. One that is destroyed unpublished leaves what it built to Store::FreeSome().
// Cost: `units` is how many objects one call may deal with; the call takes what it did from it.
class Store::Replacement {
 public:
  explicit Replacement(Store& store) noexcept : store_(store) {}
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // Puts an object that is not null; of two of one key the last one stays.
  void Put(Change change);
  const ObjectLeaf* Find(const KeyView& key) const noexcept { return objects_.Find(key, LeafHash(key)); }

  // An empty version leaves that of the store. Returns true once it is shown; then only ReportFaults() may follow.
  bool Publish(const std::string& version, std::size_t& units);
  // Reports faults to the store's `on_fault`. Returns true when all were reported.
  bool ReportFaults(std::size_t& units);

 private:
  friend class Store;
  bool IndexSome(std::size_t& units);

  Store& store_;
  ObjectMap objects_;
  std::vector<Index> indexes_;      // all complete but the last, which has the objects before cursor_
  std::vector<IdentitySet> threw_;  // for each index
  ObjectMap::Cursor cursor_;
  std::deque<StoreFault> faults_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_STORE_REPLACEMENT_H_
