// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One version of a store: the objects and every index, as persistent maps.
#ifndef KGEN_SRC_CACHE_STORE_STORE_STATE_H_
#define KGEN_SRC_CACHE_STORE_STORE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/store/persistent_map.h"
#include "cache/store/text_hash.h"
#include "cache/store/version.h"
#include "kgen/cache/snapshot.h"
#include "kgen/client/selector.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {

// A key made of views, so that a look-up creates no strings.
struct KeyView {
  std::string_view namespace_;
  std::string_view name;
};

inline std::uint64_t HashKey(const KeyView& key) noexcept { return TextHash(key.name, TextHash(key.namespace_)); }

// An object in the store. Its key is the one in its metadata; Store::Apply ensures that.
class ObjectLeaf {
 public:
  using Key = KeyView;
  ObjectLeaf(AnyRef object, std::uint64_t hash, bool stale) : object_(std::move(object)), hash_(hash << 1 | stale) {}

  // 63 bits of the hash. The lowest bit of hash_ marks a stale object.
  std::uint64_t hash() const noexcept { return hash_ >> 1; }
  bool stale() const noexcept { return (hash_ & 1) != 0; }
  const AnyRef& object() const noexcept { return object_; }
  KeyView key() const noexcept {
    // Without the checks of AnyRef::metadata(): a store holds only objects with metadata.
    const auto* object = static_cast<const char*>(object_.object());
    const auto& meta = *reinterpret_cast<const meta::v1::ObjectMeta*>(object + object_.table().metadata_offset);
    return {meta.namespace_, meta.name};
  }
  bool Is(const KeyView& other) const noexcept {
    const KeyView mine = key();
    return mine.name == other.name && mine.namespace_ == other.namespace_;
  }

 private:
  AnyRef object_;
  std::uint64_t hash_;
};

using ObjectMap = PersistentMap<ObjectLeaf>;

inline std::uint64_t LeafHash(const KeyView& key) noexcept { return HashKey(key) << 1 >> 1; }
inline std::uint64_t HashValue(std::string_view value) noexcept { return TextHash(value) << 1 >> 1; }

// All objects with one value of an index. Most values have one object: a UID, an address, an owner. It is in the leaf
// itself. Several are in a map, which belongs to the same version as the leaf, see StateRemains.
//
// The value shares its text with the object that it came from.
class ValueLeaf {
 public:
  using Key = std::string_view;
  ValueLeaf(String value, std::uint64_t hash, ObjectLeaf only) noexcept
      : value_(std::move(value)), hash_(hash << 1 | 1), only_(std::move(only)) {}
  ValueLeaf(String value, std::uint64_t hash, ObjectMap objects) noexcept
      : value_(std::move(value)), hash_(hash << 1), objects_(std::move(objects)) {}
  ValueLeaf(ValueLeaf&& other) noexcept : value_(std::move(other.value_)), hash_(other.hash_) {
    if (single()) {
      std::construct_at(&only_, std::move(other.only_));
    } else {
      std::construct_at(&objects_, std::move(other.objects_));
    }
  }
  ValueLeaf& operator=(ValueLeaf&&) = delete;
  ~ValueLeaf() {
    if (single()) {
      std::destroy_at(&only_);
    } else {
      std::destroy_at(&objects_);
    }
  }

  // 63 bits of the hash. The lowest bit of hash_ marks a single object.
  std::uint64_t hash() const noexcept { return hash_ >> 1; }
  std::string_view key() const noexcept { return value_; }
  const String& value() const noexcept { return value_; }
  bool Is(std::string_view value) const noexcept { return value_ == value; }

  bool single() const noexcept { return (hash_ & 1) != 0; }
  std::size_t size() const noexcept { return single() ? 1 : objects_.size(); }
  const ObjectLeaf* Find(const KeyView& key) const noexcept {
    if (single()) return only_.Is(key) ? &only_ : nullptr;
    return objects_.Find(key, LeafHash(key));
  }
  // Any of them. Not null: there is at least one.
  const ObjectLeaf* first() const noexcept { return single() ? &only_ : ObjectMap::Cursor(objects_).Next(); }
  template <typename F>
  void ForEach(F&& f) const {
    if (single()) {
      f(only_);
    } else {
      objects_.ForEach(f);
    }
  }

  // The map, unless there is a single object.
  ObjectMap& objects() noexcept { return objects_; }
  // Takes the map, if there is one, out of a leaf that is about to be freed.
  ObjectMap TakeObjects() noexcept { return single() ? ObjectMap() : std::move(objects_); }

 private:
  String value_;
  std::uint64_t hash_;
  union {
    ObjectLeaf only_;
    ObjectMap objects_;
  };
};
static_assert(sizeof(ValueLeaf) == sizeof(String) + sizeof(std::uint64_t) + sizeof(ObjectMap));

using ValueMap = PersistentMap<ValueLeaf>;

// An element of a set of objects that are compared by identity. Does not keep the object alive.
class IdentityLeaf {
 public:
  using Key = const void*;
  explicit IdentityLeaf(const void* object) noexcept : object_(object) {}
  static std::uint64_t HashOf(const void* object) noexcept {
    return reinterpret_cast<std::uintptr_t>(object) * 0x9E3779B97F4A7C15u >> 4;
  }
  std::uint64_t hash() const noexcept { return HashOf(object_); }
  const void* key() const noexcept { return object_; }
  bool Is(const void* other) const noexcept { return object_ == other; }

 private:
  const void* object_;
};
using IdentitySet = PersistentMap<IdentityLeaf>;

struct IndexDefinition : SharedObject {
  std::string name;
  IndexFunction function;
};

struct Index {
  Shared<const IndexDefinition> definition;
  ValueMap values;
};

// The index of objects by namespace. Every store has it, because most reads of listers are lists of one namespace.
inline constexpr std::string_view kNamespaceIndex = "namespace";

// The Remains of all maps of one version of a store.
struct StateRemains {
  bool empty() const noexcept { return objects.empty() && values.empty(); }
  void Add(ObjectMap map) noexcept { objects.Add(std::move(map)); }
  void Add(ValueMap map) noexcept { values.Add(std::move(map)); }
  void Append(StateRemains other) noexcept {
    objects.Append(std::move(other.objects));
    values.Append(std::move(other.values));
  }
  bool Free(std::size_t& units, std::uint64_t heir, StateRemains& inherited) noexcept {
    if (!objects.Free(units, heir, inherited.objects, [](ObjectLeaf&) {})) return false;
    // The nodes of the set of a value have their own births, so they are sorted separately.
    const bool done =
        values.Free(units, heir, inherited.values, [&](ValueLeaf& leaf) { objects.Add(leaf.TakeObjects()); });
    return objects.Free(units, heir, inherited.objects, [](ObjectLeaf&) {}) && done;
  }
  bool Free(std::size_t& units) noexcept {
    StateRemains none;
    return Free(units, 0, none);
  }
  void Forget(std::uint64_t version) noexcept {
    objects.Forget(version);
    values.Forget(version);
  }

  ObjectMap::Remains objects;
  ValueMap::Remains values;
};

// The context of a change to the maps of a store.
struct StateEdit {
  ObjectMap::Edit objects;
  ValueMap::Edit values;
};

class AnySnapshot::State final : public Version<StateRemains> {
 public:
  explicit State(std::uint64_t number) noexcept : Version(number) {}
  ~State() override { FreeAll(); }

  // Returns an edit for changes before the state is published.
  StateEdit Edit() noexcept { return {{number(), &left_behind().objects}, {number(), &left_behind().values}}; }

  const Index* FindIndex(std::string_view name) const noexcept {
    for (const Index& index : indexes) {
      if (index.definition->name == name) return &index;
    }
    return nullptr;
  }
  const ObjectLeaf* Find(const KeyView& key) const noexcept { return objects.Find(key, LeafHash(key)); }

  ObjectMap objects;
  std::vector<Index> indexes;  // the namespace index first
  std::string version;
  // The version of the last list, or of the last transaction with a change: bookmarks do not count. A store with the
  // same objects whose version is at least this shows nothing older.
  std::string changed;
  std::uint64_t changes = 0;  // about how many objects were put or removed since the first version

 private:
  void TakeMaps(StateRemains* to) noexcept override {
    if (to != nullptr) to->Add(std::move(objects));
    objects.Forget();
    for (Index& index : indexes) {
      if (to != nullptr) to->Add(std::move(index.values));
      index.values.Forget();
    }
  }
};

// For listers: one read of a version that the caller protects, without a reference to it.
AnyRef GetFrom(const AnySnapshot::State& state, const KeyView& key);
AnyRef OneFrom(const AnySnapshot::State& state, std::string_view index, std::string_view value) noexcept;
std::vector<AnyRef> ListFrom(const AnySnapshot::State& state, std::string_view namespace_, const Selector* selector);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_STORE_STATE_H_
