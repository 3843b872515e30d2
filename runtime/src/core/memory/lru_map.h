// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LruMap: a map by text whose owner removes what was not used for the longest time.
#ifndef KGEN_SRC_CORE_MEMORY_LRU_MAP_H_
#define KGEN_SRC_CORE_MEMORY_LRU_MAP_H_

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace kgen::detail {

// Thread safety: one thread at a time.
template <typename Value>
class LruMap {
 public:
  // Null if there is none. The value counts as used.
  Value* Find(std::string_view key) noexcept {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }
  // The key must not be in the map.
  Value& Insert(std::string key, Value value) {
    entries_.emplace_front(std::move(key), std::move(value));
    index_.emplace(entries_.front().first, entries_.begin());
    return entries_.front().second;
  }
  Value& least_recently_used() noexcept { return entries_.back().second; }
  void EraseLeastRecentlyUsed() noexcept {
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }
  void Erase(std::string_view key) noexcept {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    const auto entry = found->second;
    index_.erase(found);
    entries_.erase(entry);
  }

  std::size_t size() const noexcept { return index_.size(); }
  // The values, the last used one first.
  template <typename F>
  void ForEach(F function) {
    for (auto& [key, value] : entries_) function(value);
  }

 private:
  using Entries = std::list<std::pair<const std::string, Value>>;
  Entries entries_;                                                         // the last used one first
  std::unordered_map<std::string_view, typename Entries::iterator> index_;  // keys are views of the entries
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_MEMORY_LRU_MAP_H_
