// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Garbage: holds what an informer no longer needs, to free it in steps. Freeing it at once would take too long if it is
// large.
#ifndef KGEN_SRC_CACHE_GARBAGE_H_
#define KGEN_SRC_CACHE_GARBAGE_H_

#include <cstddef>
#include <deque>
#include <utility>

#include "kgen/core/function.h"

namespace kgen::cache {

// Thread safety: on the informer's strand. Frees the rest when it is destroyed.
class Garbage {
 public:
  // `pile` has a member `bool FreeSome(std::size_t& units)`, which frees about `units` objects, subtracts the number
  // freed from `units`, and returns true when nothing is left.
  template <typename Pile>
  void Add(Pile pile) {
    piles_.push_back([pile = std::move(pile)](std::size_t& units) mutable { return pile.FreeSome(units); });
  }
  // Does the same for all piles.
  bool FreeSome(std::size_t& units) {
    while (!piles_.empty()) {
      if (!piles_.front()(units)) return false;
      piles_.pop_front();
    }
    return true;
  }

 private:
  std::deque<UniqueFunction<bool(std::size_t&)>> piles_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_GARBAGE_H_
