// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What an informer no longer needs and must not free at once, because that would take as long as it is large.
#ifndef KGEN_RUNTIME_CACHE_GARBAGE_H_
#define KGEN_RUNTIME_CACHE_GARBAGE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace kgen::cache {

// Thread safety: on the informer's strand. Frees the rest when it is destroyed.
class Garbage {
 public:
  // `pile` has `bool FreeSome(std::size_t& units)`: frees about so many objects, takes what it did from `units`, and
  // returns true when nothing is left.
  template <typename Pile>
  void Add(Pile pile) {
    piles_.push_back([pile = std::move(pile)](std::size_t& units) mutable { return pile.FreeSome(units); });
  }
  // The same over all piles.
  bool FreeSome(std::size_t& units) {
    while (!piles_.empty()) {
      if (!piles_.front()(units)) return false;
      piles_.pop_front();
    }
    return true;
  }

 private:
  std::deque<std::move_only_function<bool(std::size_t&)>> piles_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_GARBAGE_H_
