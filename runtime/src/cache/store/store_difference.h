// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Store::Difference: the next content of a store, made from the current one by changes in several steps and published
// at once. For a list that repeats most of what the store has.
//
//   Store::Difference next(*store);
//   next.Put(...);                       one change each
//   if (!next.Publish(version)) ...      an index was added meanwhile: use a Replacement
#ifndef KGEN_SRC_CACHE_STORE_STORE_DIFFERENCE_H_
#define KGEN_SRC_CACHE_STORE_STORE_DIFFERENCE_H_

#include <cstdint>
#include <string>

#include "cache/store/store.h"

namespace kgen::cache {

// Thread safety: on the thread of Store::Apply(), which must not be called before Publish() or the destructor. Indexes
// may be added meanwhile.
// Lifetime: the store must outlive it. The destructor frees what was not published.
class Store::Difference {
 public:
  // The caller holds a snapshot of the store's current content until Publish() or the destructor.
  explicit Difference(Store& store);
  ~Difference();
  Difference(const Difference&) = delete;
  Difference& operator=(const Difference&) = delete;

  // Makes a change, as Apply() does.
  void Put(Change change);
  // Publishes the content and reports its faults. An empty version keeps the store's. Returns false without effect if
  // an index was added meanwhile; this object is then of no use, and the store needs a Replacement.
  bool Publish(const std::string& version);

 private:
  Store& store_;
  Shared<State> next_;
  std::uint64_t base_;  // the number of the version that it is made from
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_STORE_DIFFERENCE_H_
