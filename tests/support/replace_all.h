// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ReplaceAll: gives a store new content as a whole, in one go.
#ifndef KGEN_TESTS_SUPPORT_REPLACE_ALL_H_
#define KGEN_TESTS_SUPPORT_REPLACE_ALL_H_

#include <cstddef>
#include <limits>
#include <utility>

#include "cache/store/store.h"
#include "cache/store/store_replacement.h"

namespace kgen::cache {

// The changes are the new content, each with its object.
inline void ReplaceAll(Store& store, Transaction content) {
  std::size_t units = std::numeric_limits<std::size_t>::max();
  {
    Store::Replacement next(store);
    for (Change& change : content.changes) next.Put(std::move(change));
    next.Publish(content.version, units);
    next.ReportFaults(units);
  }
  store.FreeSome(units);
}

}  // namespace kgen::cache

#endif  // KGEN_TESTS_SUPPORT_REPLACE_ALL_H_
