// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/queue/listed_objects.h"

#include <utility>

#include "cache/store/persistent_map.h"
#include "cache/store/store_state.h"

namespace kgen::cache {
namespace {

KeyView View(const ObjectKey& key) noexcept { return {key.namespace_, key.name}; }

// Points to an item. The item contains the key and never moves.
class ItemLeaf {
 public:
  using Key = KeyView;
  ItemLeaf(ListedObject* item, std::uint64_t hash) noexcept : item_(item), hash_(hash) {}
  std::uint64_t hash() const noexcept { return hash_; }
  KeyView key() const noexcept { return View(item_->key); }
  bool Is(const KeyView& other) const noexcept {
    return item_->key.name == other.name && item_->key.namespace_ == other.namespace_;
  }
  ListedObject& item() const noexcept { return *item_; }

 private:
  ListedObject* item_;
  std::uint64_t hash_;
};

}  // namespace

// Maps each key to its item.
class ListedObjects::Places : public SharedObject {
 public:
  PersistentMap<ItemLeaf> map;
  PersistentMap<ItemLeaf>::Remains remains;
};

ListedObjects::~ListedObjects() = default;

ListedObjects& ListedObjects::operator=(ListedObjects&& other) noexcept {
  chunks_ = std::exchange(other.chunks_, {});
  places_ = std::exchange(other.places_, {});
  slots_ = std::exchange(other.slots_, 0);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void ListedObjects::Append(ListedObject item) {
  if (slots_ % kChunk == 0) chunks_.emplace_back().reserve(kChunk);
  chunks_.back().push_back(std::move(item));
  ++slots_;
  ++size_;
}

void ListedObjects::Upsert(ObjectKey key, AnyRef object) {
  if (!places_) places_ = MakeShared<Places>();
  const std::uint64_t hash = LeafHash(View(key));
  if (const ItemLeaf* place = places_->map.Find(View(key), hash)) {
    ListedObject& item = place->item();
    item.stale = !object;
    if (object) item.object = std::move(object);
    return;
  }
  Append({std::move(key), std::move(object)});
  places_->map.Set(ItemLeaf(&(*this)[slots_ - 1], hash));
}

void ListedObjects::Remove(const ObjectKey& key) {
  const std::uint64_t hash = LeafHash(View(key));
  const ItemLeaf* place = places_ ? places_->map.Find(View(key), hash) : nullptr;
  if (place == nullptr) return;
  ListedObject& item = place->item();
  places_->map.Erase(View(key), hash);
  item = {};
  --size_;
}

bool ListedObjects::FreeSome(std::size_t& units) {
  if (places_) {
    if (!places_->map.empty()) places_->remains.Add(std::exchange(places_->map, {}));
    if (!places_->remains.Free(units)) return false;
    places_ = {};
  }
  for (; units > 0 && !chunks_.empty(); --units) {
    if (!chunks_.back().empty()) chunks_.back().pop_back();
    if (chunks_.back().empty()) chunks_.pop_back();
  }
  slots_ = size_ = 0;
  return chunks_.empty();
}

}  // namespace kgen::cache
