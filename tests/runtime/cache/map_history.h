// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A persistent map and its versions, as in the store, for tests with leaves of their own.
#ifndef KGEN_TESTS_RUNTIME_CACHE_MAP_HISTORY_H_
#define KGEN_TESTS_RUNTIME_CACHE_MAP_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cache/store/persistent_map.h"
#include "cache/store/version.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

template <typename Leaf>
class MapHistory {
 public:
  using Map = PersistentMap<Leaf>;

  struct Dead {
    void Append(Dead other) noexcept { remains.Append(std::move(other.remains)); }
    bool Free(std::size_t& units, std::uint64_t heir, Dead& inherited) noexcept {
      return remains.Free(units, heir, inherited.remains, [](Leaf&) {});
    }
    void Forget(std::uint64_t version) noexcept { remains.Forget(version); }
    typename Map::Remains remains;
  };

  class MapVersion final : public Version<Dead> {
   public:
    explicit MapVersion(std::uint64_t number) noexcept : Version<Dead>(number) {}
    ~MapVersion() override { this->FreeAll(); }
    Map map;

   private:
    void TakeMaps(Dead* to) noexcept override {
      if (to != nullptr) to->remains.Add(std::move(map));
      map.Forget();
    }
  };
  using Held = Shared<MapVersion>;

  MapHistory() { Start(); }

  // What the next version will be.
  Map& map() noexcept { return next_->map; }
  typename Map::Edit edit() noexcept { return {next_->number(), &next_->left_behind().remains}; }
  void Set(Leaf leaf) { map().Set(std::move(leaf), edit()); }
  bool Erase(const typename Leaf::Key& key, std::uint64_t hash) { return map().Erase(key, hash, edit()); }

  // Publishes it. The history itself holds the newest version only.
  Held Commit() {
    if (newest_) {
      next_->Follow(*newest_);
    } else {
      next_->Begin();
    }
    newest_ = std::move(next_);
    Start();
    return newest_;
  }
  // Gives it up, and starts again from the newest version.
  void Abandon() {
    next_ = nullptr;
    Start();
  }
  // What comes shares nothing with what was.
  void Replace() {
    Abandon();
    next_->map.Forget();
    newest_ = nullptr;
  }

 private:
  void Start() {
    next_ = MakeShared<MapVersion>(++number_);
    if (newest_) next_->map = newest_->map.Alias();
  }

  std::uint64_t number_ = Map::kNoVersion;
  Held newest_;
  Held next_;
};

}  // namespace kgen::cache

#endif  // KGEN_TESTS_RUNTIME_CACHE_MAP_HISTORY_H_
