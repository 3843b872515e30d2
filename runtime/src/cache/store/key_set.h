// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KeySet: a set of object keys that grows without rehashing everything and can be freed in steps.
#ifndef KGEN_SRC_CACHE_STORE_KEY_SET_H_
#define KGEN_SRC_CACHE_STORE_KEY_SET_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cache/store/persistent_map.h"
#include "cache/store/store_state.h"
#include "kgen/core/object_key.h"

namespace kgen::cache {

// Thread safety: as a standard container.
class KeySet {
 public:
  void Insert(const ObjectKey& key) { keys_.Set(Leaf(key)); }
  void Erase(const ObjectKey& key) {
    if (!keys_.empty()) keys_.Erase(View(key), LeafHash(View(key)));
  }
  bool Contains(const ObjectKey& key) const noexcept { return keys_.Find(View(key), LeafHash(View(key))) != nullptr; }
  std::size_t size() const noexcept { return keys_.size(); }

  // Walks over all keys, as many at a time as the caller likes. The set must not be changed or destroyed meanwhile.
  class Cursor;

  // Frees about `units` keys, see ListedObjects::FreeSome(). Nothing else may be called afterwards.
  bool FreeSome(std::size_t& units) {
    if (!keys_.empty()) remains_.Add(std::exchange(keys_, {}));
    return remains_.Free(units);
  }

 private:
  static KeyView View(const ObjectKey& key) noexcept { return {key.namespace_, key.name}; }

  class Leaf {
   public:
    using Key = KeyView;
    explicit Leaf(const ObjectKey& key) : key_(key) {}
    std::uint64_t hash() const noexcept { return LeafHash(View(key_)); }
    KeyView key() const noexcept { return View(key_); }
    const ObjectKey& object_key() const noexcept { return key_; }
    bool Is(const KeyView& other) const noexcept {
      return key_.name == other.name && key_.namespace_ == other.namespace_;
    }

   private:
    ObjectKey key_;
  };

  PersistentMap<Leaf> keys_;
  PersistentMap<Leaf>::Remains remains_;
};

class KeySet::Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const KeySet& set) : cursor_(set.keys_) {}
  // The next key, or null at the end.
  const ObjectKey* Next() noexcept {
    const Leaf* leaf = cursor_.Next();
    return leaf != nullptr ? &leaf->object_key() : nullptr;
  }

 private:
  PersistentMap<Leaf>::Cursor cursor_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_KEY_SET_H_
