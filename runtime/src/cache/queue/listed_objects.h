// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ListedObjects: the objects of one list. The reflector collects them, and the controller loop applies them.
//
// The cost of each operation is independent of the number of objects: growing moves no items, finding a key does not
// rehash, and FreeSome() frees a list of a million objects a few hundred at a time.
#ifndef KGEN_SRC_CACHE_QUEUE_LISTED_OBJECTS_H_
#define KGEN_SRC_CACHE_QUEUE_LISTED_OBJECTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "core/memory/heap_allocator.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

struct ListedObject {
  ObjectKey key;
  AnyRef object;       // null: refused; the cache keeps the last good state
  bool stale = false;  // a newer state was refused; `object` is the last good state in the same list
};

// A paged list calls Append(); a streaming list, whose objects may change before its end, calls Upsert() and Remove().
// One list does not use both.
//
// Thread safety: as a standard container. Move-only; objects are shared.
class ListedObjects {
 public:
  ListedObjects() = default;
  ListedObjects(ListedObjects&& other) noexcept { *this = std::move(other); }
  ListedObjects& operator=(ListedObjects&& other) noexcept;
  ~ListedObjects();

  // Adds an item after the others, even if its key is there already. The key must have a name.
  void Append(ListedObject item);
  // Adds the object, or replaces the one of that key in its place. A null object stands for a refused one and marks the
  // present one as stale.
  void Upsert(ObjectKey key, AnyRef object);
  // Removes the object of that key, if it is there. Its slot stays, with an empty key.
  void Remove(const ObjectKey& key);

  // The number of objects, not counting removed ones.
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // Access by position, in the order in which objects were added. A slot whose key has no name was removed.
  std::size_t slots() const noexcept { return slots_; }
  ListedObject& operator[](std::size_t slot) noexcept { return chunks_[slot / kChunk][slot % kChunk]; }
  const ListedObject& operator[](std::size_t slot) const noexcept { return chunks_[slot / kChunk][slot % kChunk]; }

  // Destroys up to `units` items and subtracts their number from `units`. Nothing else may be called afterwards.
  // Returns true when nothing is left.
  bool FreeSome(std::size_t& units);

 private:
  static constexpr std::size_t kChunk = 256;
  using Chunk = std::vector<ListedObject, detail::HeapAllocator<ListedObject>>;
  class Places;

  std::vector<Chunk> chunks_;  // all but the last are full; items never move
  Shared<Places> places_;      // created by the first Upsert() or Remove()
  std::size_t slots_ = 0;
  std::size_t size_ = 0;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_QUEUE_LISTED_OBJECTS_H_
