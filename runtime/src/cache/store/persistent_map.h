// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PersistentMap: a hash trie whose versions share what they have in common.
//
// The store's next version is the current one with a few paths copied: a transaction of one change to a cache of
// 100,000 objects copies a few hundred pointers. A live snapshot costs nothing.
//
// A node of the trie takes five bits of the hash: up to 32 places, each empty, a leaf, or a child. Two bit maps tell
// which are which. Where the hash is used up, leaves of equal hash are kept in a list. A node is one block of the
// process heap: a header, then the leaves growing from the front, and the pointers to the children growing from the
// end.
//
// Ownership. There is one writer, and each version is derived from the one before. So no node is reference-counted:
// copying a node copies its bits and touches neither its children nor what its leaves refer to. Instead:
//
//   1. Each node and each leaf carries the number of the version that made it, its birth. A child is never younger than
//      its parent, and a leaf never younger than its node.
//   2. The writer changes in place only nodes born in the version that it is writing, which nobody else can see. It
//      copies any other node, and the original dies: the version before is the last one that has it.
//   3. A node or leaf belongs to all versions from its birth to the one after which it died, without a gap. When it
//      dies, it is added to the Remains of that last version, exactly once. A node or leaf that was born in the version
//      being written is freed at once.
//   4. When a version is destroyed, the next older live version inherits from its Remains what was born no later than
//      that version itself. Nothing else can reach the rest, which is freed. cache/store/version.h does this;
//      Remains::Free() separates the two.
//   5. A recorded birth may be too early, never too late. If it is too early, something is freed later than
//      necessary.
//   6. Readers never read births or the links of Remains, because those are written while old versions are being read.
//
// Remains contain two kinds of nodes: nodes of which only the block died, while the children and leaves live on in a
// copy; and nodes that died with everything below them, such as the root of a map that was replaced as a whole. A leaf
// that dies alone is put into a new node of the second kind.
//
// Thread safety: const members from any thread, also while a later version is being written.
#ifndef KGEN_SRC_CACHE_STORE_PERSISTENT_MAP_H_
#define KGEN_SRC_CACHE_STORE_PERSISTENT_MAP_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "kgen/core/memory.h"

namespace kgen::cache {

// Leaf: movable by copying its bits, with `using Key`, `std::uint64_t hash() const`, `bool Is(const Key&) const` and
// `Key key() const`; hash() of equal keys is equal and is what callers pass as `hash`.
//
// A map owns its nodes and frees them all when it is destroyed. Maps that are part of a version use Alias() and
// Forget() instead, see cache/store/version.h.
template <typename Leaf>
class PersistentMap {
  static constexpr unsigned kBits = 5;
  static constexpr unsigned kHashBits = 60;
  // A smaller node gets no room for leaves that may follow: most nodes of a large map stay this small.
  static constexpr std::size_t kManyWords = 40;
  struct Node;
  struct Slot;

 public:
  using Key = typename Leaf::Key;
  class Remains;

  // The birth of the nodes of a map that has no versions.
  static constexpr std::uint64_t kNoVersion = 1;

  // The context of a change: the version that is being written, and the Remains that receive what it replaces. The
  // default is for a map without versions, where everything that dies is freed at once.
  struct Edit {
    std::uint64_t version = kNoVersion;
    Remains* remains = nullptr;
  };

  PersistentMap() = default;
  PersistentMap(PersistentMap&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PersistentMap& operator=(PersistentMap&& other) noexcept {
    PersistentMap taken(std::move(other));
    std::swap(root_, taken.root_);
    std::swap(size_, taken.size_);
    return *this;
  }
  ~PersistentMap() {
    if (root_ != nullptr) Remains().Add(std::move(*this));
  }

  // Returns a second map with the same nodes, from which the next version starts. Forget() must eventually be called on
  // one of the two.
  PersistentMap Alias() const noexcept {
    PersistentMap alias;
    alias.root_ = root_;
    alias.size_ = size_;
    return alias;
  }
  // Releases the nodes without freeing them, because another version has them or they are in some Remains.
  void Forget() noexcept {
    root_ = nullptr;
    size_ = 0;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // The leaf of that key, or null. Valid as long as some version holds it unchanged.
  const Leaf* Find(const Key& key, std::uint64_t hash) const noexcept {
    const Node* node = root_;
    for (unsigned shift = 0; node != nullptr; shift += kBits) {
      if (shift >= kHashBits) {
        const std::size_t place = node->PlaceOf(key);
        return place < node->leaf_count ? &node->slots()[place].leaf : nullptr;
      }
      const std::uint32_t bit = Bit(hash, shift);
      if ((node->leaf_map & bit) != 0) {
        const Leaf& leaf = node->slots()[Place(node->leaf_map, bit)].leaf;
        return leaf.hash() == hash && leaf.Is(key) ? &leaf : nullptr;
      }
      if ((node->child_map & bit) == 0) return nullptr;
      node = node->child(Place(node->child_map, bit));
    }
    return nullptr;
  }

  // Like Find(), but first copies the nodes that other versions share, so that the leaf may be changed in place. Valid
  // until this map changes. The leaf keeps its birth, so the caller must not change its key or anything that its
  // destructor releases, except a map in it, which has its own births.
  Leaf* FindToWrite(const Key& key, std::uint64_t hash, const Edit& edit = {}) {
    Node** at = &root_;
    for (unsigned shift = 0; *at != nullptr; shift += kBits) {
      Node& node = Own(*at, edit);
      if (shift >= kHashBits) {
        const std::size_t place = node.PlaceOf(key);
        return place < node.leaf_count ? &node.slots()[place].leaf : nullptr;
      }
      const std::uint32_t bit = Bit(hash, shift);
      if ((node.leaf_map & bit) != 0) {
        Leaf& leaf = node.slots()[Place(node.leaf_map, bit)].leaf;
        return leaf.hash() == hash && leaf.Is(key) ? &leaf : nullptr;
      }
      if ((node.child_map & bit) == 0) return nullptr;
      at = &node.child(Place(node.child_map, bit));
    }
    return nullptr;
  }

  // Adds the leaf, or replaces the one of the same key.
  void Set(Leaf leaf, const Edit& edit = {}) {
    const std::uint64_t hash = leaf.hash();
    Node** at = &root_;
    if (root_ == nullptr) {
      root_ = NewNode(edit.version, 1, 0);
      AddLeaf(*root_, 0, Bit(hash, 0), std::move(leaf), edit);
      return;
    }
    unsigned shift = 0;
    for (; shift < kHashBits && ((*at)->child_map & Bit(hash, shift)) != 0; shift += kBits) {
      at = &Own(*at, edit).child(Place((*at)->child_map, Bit(hash, shift)));
    }
    SetIn(*at, shift, hash, std::move(leaf), edit);
  }

  // Removes the leaf of that key. Returns true if there was one.
  bool Erase(const Key& key, std::uint64_t hash, const Edit& edit = {}) {
    if (Find(key, hash) == nullptr) return false;
    EraseIn(root_, key, hash, 0, edit);
    return true;
  }

  template <typename F>
  void ForEach(F&& f) const {
    if (root_ != nullptr) Visit(*root_, f);
  }

  // Iterates over all leaves, as many at a time as the caller likes. The map must not be changed or destroyed
  // meanwhile.
  class Cursor {
   public:
    Cursor() = default;
    explicit Cursor(const PersistentMap& map) {
      if (map.root_ != nullptr) path_[depth_++] = {map.root_};
    }
    // The next leaf, or null at the end.
    const Leaf* Next() noexcept {
      while (depth_ > 0) {
        Position& at = path_[depth_ - 1];
        if (at.leaf < at.node->leaf_count) return &at.node->slots()[at.leaf++].leaf;
        if (at.child < at.node->children()) {
          path_[depth_++] = {at.node->child(at.child++)};
        } else {
          --depth_;
        }
      }
      return nullptr;
    }

   private:
    struct Position {
      const Node* node = nullptr;
      std::size_t leaf = 0;
      std::size_t child = 0;
    };
    std::array<Position, kHashBits / kBits + 1> path_{};
    std::size_t depth_ = 0;
  };

  // The nodes and leaves that some version is the last to have, or that no version has any more and that are being
  // freed in steps. Neither adding nor freeing allocates memory. The destructor frees what is left.
  //
  // Thread safety: as a standard container.
  class Remains {
   public:
    Remains() = default;
    Remains(Remains&& other) noexcept
        : blocks_(std::exchange(other.blocks_, {})), wholes_(std::exchange(other.wholes_, {})) {}
    Remains& operator=(Remains&& other) noexcept {
      std::swap(blocks_, other.blocks_);
      std::swap(wholes_, other.wholes_);
      return *this;
    }
    ~Remains() {
      std::size_t all = std::numeric_limits<std::size_t>::max();
      if (!empty()) Free(all);
    }

    bool empty() const noexcept { return blocks_.first == nullptr && wholes_.first == nullptr; }

    // Adds a whole map, which no other version has unless it has inherited it, see Free().
    void Add(PersistentMap map) noexcept {
      if (map.root_ != nullptr) wholes_.Push(map.root_);
      map.Forget();
    }
    void Append(Remains other) noexcept {
      blocks_.Append(std::exchange(other.blocks_, {}));
      wholes_.Append(std::exchange(other.wholes_, {}));
    }

    // Frees what was born after version `heir` and moves the rest to `inherited`, until about `units` nodes and leaves
    // were processed. Before a leaf is destroyed, `f` may take from it what should not be freed with it. Returns true
    // when nothing is left.
    template <typename F>
    bool Free(std::size_t& units, std::uint64_t heir, Remains& inherited, F&& f) {
      for (; units > 0 && blocks_.first != nullptr; --units) {
        Node* const node = blocks_.Pop();
        if (node->born <= heir) {
          inherited.blocks_.Push(node);
        } else {
          detail::Free(node);
        }
      }
      while (units > 0 && wholes_.first != nullptr) {
        Node* const node = wholes_.Pop();
        --units;
        if (node->born <= heir) {
          inherited.wholes_.Push(node);  // with everything below it, which is no younger
        } else {
          units -= std::min<std::size_t>(units, node->leaf_count);
          TakeApart(node, heir, inherited, f);
        }
      }
      return empty();
    }
    // Frees everything.
    template <typename F>
    bool Free(std::size_t& units, F&& f) {
      Remains none;
      return Free(units, 0, none, f);
    }
    bool Free(std::size_t& units) {
      return Free(units, [](Leaf&) {});
    }

    // For a version that is abandoned unpublished: nothing in these Remains has died after all. Frees the blocks that
    // were allocated for leaves that died alone.
    void Forget(std::uint64_t version) noexcept {
      while (blocks_.first != nullptr) blocks_.Pop();
      while (wholes_.first != nullptr) {
        Node* const node = wholes_.Pop();
        if (node->born == version) detail::Free(node);
      }
    }

   private:
    friend class PersistentMap;

    // A list linked through its nodes.
    struct List {
      void Push(Node* node) noexcept {
        node->next = first;
        if (first == nullptr) last = node;
        first = node;
      }
      Node* Pop() noexcept { return std::exchange(first, first->next); }
      void Append(List other) noexcept {
        if (other.first == nullptr) return;
        other.last->next = first;
        if (first == nullptr) last = other.last;
        first = other.first;
      }
      Node* first = nullptr;
      Node* last = nullptr;  // only when there is a first
    };

    // Frees `node`, which no version can reach. Leaves that are inherited stay in its block.
    template <typename F>
    void TakeApart(Node* node, std::uint64_t heir, Remains& inherited, F& f) noexcept {
      for (std::size_t i = node->children(); i > 0; --i) wholes_.Push(node->child(i - 1));
      node->child_map = 0;
      std::uint32_t kept = 0;
      for (std::size_t i = 0; i < node->leaf_count; ++i) {
        Slot& slot = node->slots()[i];
        f(slot.leaf);
        if (slot.born > heir) {
          slot.leaf.~Leaf();
        } else {
          CopySlots(node->slots() + kept++, &slot, 1);
        }
      }
      node->leaf_count = kept;
      if (kept == 0) {
        detail::Free(node);
      } else {
        inherited.wholes_.Push(node);
      }
    }

    List blocks_;  // nodes whose block alone died
    List wholes_;  // nodes that died with everything below them
  };

  // Calls `f` with every leaf that `other` does not have in the same state, and with some leaves that both have: those
  // in the same node as a differing one. Shared nodes are skipped, so if the versions are a few changes apart, this
  // visits a few nodes.
  template <typename F>
  void ForEachNotShared(const PersistentMap& other, F&& f) const {
    if (root_ != nullptr) VisitNotShared(*root_, other.root_, f);
  }

 private:
  struct Slot {
    Leaf leaf;
    std::uint64_t born;
  };

  struct Node {
    std::uint64_t born;
    Node* next;  // in a list of Remains
    std::uint32_t leaf_map;
    std::uint32_t child_map;
    std::uint32_t leaf_count;  // where the hash is used up, leaf_map does not contain it
    std::uint32_t words;       // the size of the block, in units of 8 bytes

    Slot* slots() noexcept { return reinterpret_cast<Slot*>(this + 1); }
    const Slot* slots() const noexcept { return reinterpret_cast<const Slot*>(this + 1); }
    std::size_t children() const noexcept { return CountBits(child_map); }
    Node** end() noexcept { return reinterpret_cast<Node**>(this) + words; }
    Node*& child(std::size_t place) noexcept { return *(end() - 1 - place); }
    const Node* child(std::size_t place) const noexcept { return const_cast<Node*>(this)->child(place); }
    // Where the hash is used up: the index of the leaf with that key, or leaf_count.
    std::size_t PlaceOf(const Key& key) const noexcept {
      std::size_t place = 0;
      while (place < leaf_count && !slots()[place].leaf.Is(key)) ++place;
      return place;
    }
  };
  static_assert(std::is_nothrow_move_constructible_v<Leaf>);
  static_assert(sizeof(Node) % 8 == 0 && sizeof(Slot) % 8 == 0 && alignof(Slot) <= 8 && sizeof(Node*) == 8);

  // Like std::popcount(), which is a call of a function for processors that may lack the instruction.
  static std::size_t CountBits(std::uint32_t bits) noexcept {
    bits -= (bits >> 1) & 0x55555555u;
    bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
    return ((bits + (bits >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
  }

  static std::uint32_t Bit(std::uint64_t hash, unsigned shift) noexcept { return 1u << ((hash >> shift) & 31u); }
  static std::size_t Place(std::uint32_t map, std::uint32_t bit) noexcept { return CountBits(map & (bit - 1)); }

  static std::size_t Words(std::size_t leaves, std::size_t children) noexcept {
    return (sizeof(Node) + leaves * sizeof(Slot)) / 8 + children;
  }
  static Node* NewNode(std::uint64_t born, std::size_t leaves, std::size_t children) {
    return NewNode(born, Words(leaves, children));
  }
  static Node* NewNode(std::uint64_t born, std::size_t words) {
    return ::new (detail::Allocate(words * 8)) Node{born, nullptr, 0, 0, 0, static_cast<std::uint32_t>(words)};
  }
  static void CopySlots(Slot* to, const Slot* from, std::size_t count) noexcept {
    if (count > 0) std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(Slot));
  }

  // Returns the node ready to be written, with room for the given number of additional leaves and children.
  static Node& Own(Node*& at, const Edit& edit, std::size_t more_leaves = 0, std::size_t more_children = 0) {
    Node* const old = at;
    const bool in_place = old->born == edit.version;
    const std::size_t children = old->children();
    std::size_t words = Words(old->leaf_count + more_leaves, children + more_children);
    if (in_place) {
      if (words <= old->words) return *old;
      if (words >= kManyWords) words += words / 4;  // many leaves will follow
    }
    Node* const node = NewNode(edit.version, words);
    node->leaf_map = old->leaf_map;
    node->child_map = old->child_map;
    node->leaf_count = old->leaf_count;
    CopySlots(node->slots(), old->slots(), old->leaf_count);
    std::copy(old->end() - children, old->end(), node->end() - children);
    at = node;
    GiveBlock(old, edit);
    return *node;
  }

  // Drops the block of the node; its leaves and children stay.
  static void GiveBlock(Node* node, const Edit& edit) noexcept {
    if (node->born == edit.version) {
      detail::Free(node);
    } else {
      edit.remains->blocks_.Push(node);
    }
  }

  // Drops the leaf; the slot becomes raw memory.
  static void GiveLeaf(Slot& slot, const Edit& edit) {
    if (slot.born == edit.version) {
      slot.leaf.~Leaf();
      return;
    }
    Node* const alone = NewNode(edit.version, 1, 0);
    CopySlots(alone->slots(), &slot, 1);
    alone->leaf_count = 1;
    edit.remains->wholes_.Push(alone);
  }

  // Adds a leaf to a node that has room. `bit` is 0 where the hash is used up.
  void AddLeaf(Node& node, std::size_t place, std::uint32_t bit, Leaf leaf, const Edit& edit) noexcept {
    Slot* const slot = node.slots() + place;
    CopySlots(slot + 1, slot, node.leaf_count - place);
    ::new (static_cast<void*>(slot)) Slot{std::move(leaf), edit.version};
    ++node.leaf_count;
    node.leaf_map |= bit;
    ++size_;
  }
  static void ReplaceLeaf(Node*& at, std::size_t place, Leaf leaf, const Edit& edit) {
    Slot& slot = Own(at, edit).slots()[place];
    GiveLeaf(slot, edit);
    ::new (static_cast<void*>(&slot)) Slot{std::move(leaf), edit.version};
  }
  // Closes the gap where a leaf was.
  static void CloseLeaf(Node& node, std::size_t place, std::uint32_t bit) noexcept {
    --node.leaf_count;
    CopySlots(node.slots() + place, node.slots() + place + 1, node.leaf_count - place);
    node.leaf_map &= ~bit;
  }
  static void AddChild(Node& node, std::uint32_t bit, Node* child) noexcept {
    Node** const first = node.end() - node.children();
    node.child_map |= bit;
    const std::size_t place = Place(node.child_map, bit);
    std::copy(first, node.end() - place, first - 1);
    node.child(place) = child;
  }
  static void CloseChild(Node& node, std::uint32_t bit) noexcept {
    Node** const first = node.end() - node.children();
    const std::size_t place = Place(node.child_map, bit);
    std::copy_backward(first, node.end() - 1 - place, node.end() - place);
    node.child_map &= ~bit;
  }

  // Called at the node where the leaf belongs or where another leaf has its place.
  void SetIn(Node*& at, unsigned shift, std::uint64_t hash, Leaf leaf, const Edit& edit) {
    if (shift >= kHashBits) {
      const std::size_t place = at->PlaceOf(leaf.key());
      if (place < at->leaf_count) return ReplaceLeaf(at, place, std::move(leaf), edit);
      return AddLeaf(Own(at, edit, 1), place, 0, std::move(leaf), edit);
    }
    const std::uint32_t bit = Bit(hash, shift);
    const std::size_t place = Place(at->leaf_map, bit);
    if ((at->leaf_map & bit) == 0) return AddLeaf(Own(at, edit, 1), place, bit, std::move(leaf), edit);
    const Leaf& present = at->slots()[place].leaf;
    if (present.hash() == hash && present.Is(leaf.key())) return ReplaceLeaf(at, place, std::move(leaf), edit);
    // Two leaves for one place: move both down to where their hashes differ.
    Node& node = Own(at, edit, 0, 1);
    Node* const child = Pair(node.slots()[place], std::move(leaf), shift + kBits, edit);
    CloseLeaf(node, place, bit);
    AddChild(node, bit, child);
  }

  // Returns a node with both leaves; `present` becomes raw memory.
  Node* Pair(Slot& present, Leaf leaf, unsigned shift, const Edit& edit) {
    const std::uint64_t hash = leaf.hash(), present_hash = present.leaf.hash();
    const bool collide = shift >= kHashBits;
    const std::uint32_t bit = collide ? 0 : Bit(hash, shift), present_bit = collide ? 0 : Bit(present_hash, shift);
    if (!collide && bit == present_bit) {
      Node* const node = NewNode(edit.version, 0, 1);
      try {
        AddChild(*node, bit, Pair(present, std::move(leaf), shift + kBits, edit));
      } catch (...) {
        detail::Free(node);
        throw;
      }
      return node;
    }
    Node* const node = NewNode(edit.version, 2, 0);
    CopySlots(node->slots(), &present, 1);
    node->leaf_count = 1;
    node->leaf_map = present_bit;
    AddLeaf(*node, bit < present_bit ? 0 : 1, bit, std::move(leaf), edit);
    return node;
  }

  // Removes the leaf of a key, which must be in the map.
  void EraseIn(Node*& at, const Key& key, std::uint64_t hash, unsigned shift, const Edit& edit) {
    const std::uint32_t bit = shift < kHashBits ? Bit(hash, shift) : 0;
    if ((at->child_map & bit) != 0) {
      Node*& child = Own(at, edit).child(Place(at->child_map, bit));
      EraseIn(child, key, hash, shift + kBits, edit);
      return Fold(at, bit, child, edit);
    }
    const std::size_t place = bit != 0 ? Place(at->leaf_map, bit) : at->PlaceOf(key);
    if (at->leaf_count == 1 && at->child_map == 0) {
      GiveLast(std::exchange(at, nullptr), edit);
    } else {
      Node& node = Own(at, edit);
      GiveLeaf(node.slots()[place], edit);
      CloseLeaf(node, place, bit);
    }
    --size_;
  }

  // Drops a node with its only leaf.
  static void GiveLast(Node* node, const Edit& edit) noexcept {
    Slot& slot = node->slots()[0];
    if (slot.born == edit.version) {
      slot.leaf.~Leaf();
      detail::Free(node);
    } else {
      edit.remains->wholes_.Push(node);
    }
  }

  // Removes a child that became empty; the parent takes the leaf of a child with a single leaf.
  static void Fold(Node*& at, std::uint32_t bit, Node* child, const Edit& edit) {
    if (child != nullptr && (child->child_map != 0 || child->leaf_count > 1)) return;
    Node& node = child != nullptr ? Own(at, edit, 1) : *at;
    CloseChild(node, bit);
    if (child != nullptr) {
      Slot* const slot = node.slots() + Place(node.leaf_map, bit);
      CopySlots(slot + 1, slot, static_cast<std::size_t>(node.slots() + node.leaf_count - slot));
      CopySlots(slot, child->slots(), 1);
      ++node.leaf_count;
      node.leaf_map |= bit;
      GiveBlock(child, edit);
    } else if (node.leaf_count == 0 && node.child_map == 0) {
      detail::Free(std::exchange(at, nullptr));  // it was created in this version
    }
  }

  template <typename F>
  static void Visit(const Node& node, F& f) {
    for (std::size_t i = 0; i < node.leaf_count; ++i) f(node.slots()[i].leaf);
    for (std::size_t i = 0; i < node.children(); ++i) Visit(*node.child(i), f);
  }

  // `other`: the node at the same place of the other map, or null.
  template <typename F>
  static void VisitNotShared(const Node& node, const Node* other, F& f) {
    if (&node == other) return;
    for (std::size_t i = 0; i < node.leaf_count; ++i) f(node.slots()[i].leaf);
    std::uint32_t bits = node.child_map;
    for (std::size_t i = 0; bits != 0; ++i, bits &= bits - 1) {
      const std::uint32_t bit = bits & (~bits + 1);
      const bool both = other != nullptr && (other->child_map & bit) != 0;
      VisitNotShared(*node.child(i), both ? other->child(Place(other->child_map, bit)) : nullptr, f);
    }
  }

  Node* root_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_PERSISTENT_MAP_H_
