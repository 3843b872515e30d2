// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PersistentMap: a hash trie whose versions share what they have in common.
//
// The store's next version is the current one with a few paths made anew, so a transaction of one change to a cache of
// 100,000 objects copies some hundred pointers, and a snapshot costs nothing while it lives. [D14]
//
// A node of the trie takes five bits of the hash: up to 32 places, each empty, a leaf, or a child. Places are packed;
// two bit maps tell which are which. Where the hash is used up, leaves of equal hash stand in a list.
//
// Thread safety: const members from any thread, also while a copy is being changed: a node that is reachable from two
// versions is never written. Memory: one node for about ten leaves.
#ifndef KGEN_RUNTIME_CACHE_PERSISTENT_MAP_H_
#define KGEN_RUNTIME_CACHE_PERSISTENT_MAP_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kgen::cache {

// Leaf: copyable, with `using Key`, `std::uint64_t hash() const`, `bool Is(const Key&) const` and `Key key() const`;
// hash() of equal keys is equal and is what callers pass as `hash`.
template <typename Leaf>
class PersistentMap {
  static constexpr unsigned kBits = 5;
  static constexpr unsigned kHashBits = 60;
  struct Node;
  class NodeRef;

 public:
  using Key = typename Leaf::Key;

  PersistentMap() = default;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // The leaf of that key, or null. Valid as long as some version holds it unchanged.
  const Leaf* Find(const Key& key, std::uint64_t hash) const noexcept {
    const Node* node = root_.get();
    for (unsigned shift = 0; node != nullptr; shift += kBits) {
      if (shift >= kHashBits) {
        for (const Leaf& leaf : node->leaves) {
          if (leaf.Is(key)) return &leaf;
        }
        return nullptr;
      }
      const std::uint32_t bit = Bit(hash, shift);
      if ((node->leaf_map & bit) != 0) {
        const Leaf& leaf = node->leaves[Place(node->leaf_map, bit)];
        return leaf.hash() == hash && leaf.Is(key) ? &leaf : nullptr;
      }
      if ((node->child_map & bit) == 0) return nullptr;
      node = node->children[Place(node->child_map, bit)].get();
    }
    return nullptr;
  }

  // The same, to be written in place, but its key: no other version sees it. Valid until this map changes.
  Leaf* FindToWrite(const Key& key, std::uint64_t hash) {
    NodeRef* ref = &root_;
    bool sole = true;
    for (unsigned shift = 0; ref->get() != nullptr; shift += kBits) {
      Node& node = Own(*ref, sole);
      if (shift >= kHashBits) {
        for (Leaf& leaf : node.leaves) {
          if (leaf.Is(key)) return &leaf;
        }
        return nullptr;
      }
      const std::uint32_t bit = Bit(hash, shift);
      if ((node.leaf_map & bit) != 0) {
        Leaf& leaf = node.leaves[Place(node.leaf_map, bit)];
        return leaf.hash() == hash && leaf.Is(key) ? &leaf : nullptr;
      }
      if ((node.child_map & bit) == 0) return nullptr;
      ref = &node.children[Place(node.child_map, bit)];
    }
    return nullptr;
  }

  // Adds or replaces.
  void Set(Leaf leaf) {
    const std::uint64_t hash = leaf.hash();
    if (SetIn(root_, hash, 0, std::move(leaf), true)) ++size_;
  }

  // True if there was one.
  bool Erase(const Key& key, std::uint64_t hash) {
    if (Find(key, hash) == nullptr) return false;
    EraseIn(root_, key, hash, 0, true);
    --size_;
    return true;
  }

  template <typename F>
  void ForEach(F&& f) const {
    if (root_.get() != nullptr) Visit(*root_.get(), f);
  }

  // Walks over all leaves, as many at a time as the caller likes. The map must neither change nor go meanwhile.
  class Cursor {
   public:
    Cursor() = default;
    explicit Cursor(const PersistentMap& map) {
      if (map.root_.get() != nullptr) path_[depth_++] = {map.root_.get()};
    }
    // The next leaf, or null at the end.
    const Leaf* Next() noexcept {
      while (depth_ > 0) {
        Position& at = path_[depth_ - 1];
        if (at.leaf < at.node->leaves.size()) return &at.node->leaves[at.leaf++];
        if (at.child < at.node->children.size()) {
          path_[depth_++] = {at.node->children[at.child++].get()};
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

  // Maps that are being freed in pieces: what no other version holds.
  class Remains {
   public:
    void Add(PersistentMap map) {
      if (map.root_.get() != nullptr) waiting_.push_back(std::move(map.root_));
    }
    // Frees nodes until `units` of them and their leaves have gone, or all. Before a leaf goes, `f` may take from it
    // what should not be freed with it. Returns true when nothing is left.
    template <typename F>
    bool Free(std::size_t& units, F&& f) {
      while (units > 0 && !waiting_.empty()) {
        const NodeRef ref = std::move(waiting_.back());
        waiting_.pop_back();
        --units;
        if (!ref.Sole()) continue;
        Node& node = *ref.get();
        for (Leaf& leaf : node.leaves) f(leaf);
        units -= std::min(units, node.leaves.size());
        for (NodeRef& child : node.children) waiting_.push_back(std::move(child));
      }
      return waiting_.empty();
    }
    bool Free(std::size_t& units) {
      return Free(units, [](Leaf&) {});
    }

   private:
    std::vector<NodeRef> waiting_;
  };

  // Calls `f` with every leaf that `other` does not have just so, and with some that both have: those that stand beside
  // one. What both share is not looked at, so between two versions a few changes apart that is a few nodes.
  template <typename F>
  void ForEachNotShared(const PersistentMap& other, F&& f) const {
    if (root_.get() != nullptr) VisitNotShared(*root_.get(), other.root_.get(), f);
  }

 private:
  // A counted pointer: the count is what tells whether a node may be written.
  class NodeRef {
   public:
    NodeRef() = default;
    explicit NodeRef(Node* node) : node_(node) {}
    NodeRef(const NodeRef& other) noexcept : node_(other.node_) {
      if (node_ != nullptr) node_->refs.fetch_add(1, std::memory_order_relaxed);
    }
    NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    NodeRef& operator=(NodeRef other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~NodeRef() {
      if (node_ != nullptr && node_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
    }
    Node* get() const noexcept { return node_; }
    bool Sole() const noexcept { return node_->refs.load(std::memory_order_acquire) == 1; }

   private:
    Node* node_ = nullptr;
  };

  struct Node {
    std::atomic<std::uint32_t> refs{1};
    std::uint32_t leaf_map = 0;
    std::uint32_t child_map = 0;
    std::vector<Leaf> leaves;
    std::vector<NodeRef> children;

    Node() = default;
    Node(const Node& other)
        : leaf_map(other.leaf_map), child_map(other.child_map), leaves(other.leaves), children(other.children) {}
  };

  static std::uint32_t Bit(std::uint64_t hash, unsigned shift) noexcept { return 1u << ((hash >> shift) & 31u); }
  static std::size_t Place(std::uint32_t map, std::uint32_t bit) noexcept {
    return static_cast<std::size_t>(std::popcount(map & (bit - 1)));
  }

  // The node, ready to be written: itself if only this version reaches it, else a copy.
  static Node& Own(NodeRef& ref, bool& sole) {
    sole = sole && ref.Sole();
    if (!sole) {
      ref = NodeRef(new Node(*ref.get()));
      sole = true;  // from here on down the children's own counts decide
    }
    return *ref.get();
  }

  static bool SetIn(NodeRef& ref, std::uint64_t hash, unsigned shift, Leaf leaf, bool sole) {
    if (ref.get() == nullptr) ref = NodeRef(new Node());
    Node& node = Own(ref, sole);
    if (shift >= kHashBits) {
      for (Leaf& present : node.leaves) {
        if (present.Is(leaf.key())) {
          present = std::move(leaf);
          return false;
        }
      }
      node.leaves.push_back(std::move(leaf));
      return true;
    }
    const std::uint32_t bit = Bit(hash, shift);
    if ((node.child_map & bit) != 0) {
      return SetIn(node.children[Place(node.child_map, bit)], hash, shift + kBits, std::move(leaf), sole);
    }
    const std::size_t place = Place(node.leaf_map, bit);
    if ((node.leaf_map & bit) == 0) {
      node.leaves.insert(node.leaves.begin() + static_cast<std::ptrdiff_t>(place), std::move(leaf));
      node.leaf_map |= bit;
      return true;
    }
    Leaf& present = node.leaves[place];
    if (present.hash() == hash && present.Is(leaf.key())) {
      present = std::move(leaf);
      return false;
    }
    // Two leaves for one place: both go one level down.
    NodeRef child;
    const std::uint64_t present_hash = present.hash();
    SetIn(child, present_hash, shift + kBits, std::move(present), true);
    SetIn(child, hash, shift + kBits, std::move(leaf), true);
    RemoveLeaf(node, bit);
    node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(Place(node.child_map, bit)),
                         std::move(child));
    node.child_map |= bit;
    return true;
  }

  // Only for a key that is there.
  static void EraseIn(NodeRef& ref, const Key& key, std::uint64_t hash, unsigned shift, bool sole) {
    Node& node = Own(ref, sole);
    if (shift >= kHashBits) {
      std::erase_if(node.leaves, [&](const Leaf& leaf) { return leaf.Is(key); });
    } else if (const std::uint32_t bit = Bit(hash, shift); (node.leaf_map & bit) != 0) {
      RemoveLeaf(node, bit);
    } else {
      const std::size_t place = Place(node.child_map, bit);
      EraseIn(node.children[place], key, hash, shift + kBits, sole);
      Fold(node, bit, place);
    }
    if (node.leaves.empty() && node.children.empty()) ref = NodeRef();
  }

  // A child that became empty goes; one that holds a single leaf gives it to its parent.
  static void Fold(Node& node, std::uint32_t bit, std::size_t place) {
    Node* const child = node.children[place].get();
    if (child != nullptr && (!child->children.empty() || child->leaves.size() > 1)) return;
    if (child != nullptr) {
      node.leaves.insert(node.leaves.begin() + static_cast<std::ptrdiff_t>(Place(node.leaf_map, bit)),
                         child->leaves.front());
      node.leaf_map |= bit;
    }
    node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(place));
    node.child_map &= ~bit;
  }

  static void RemoveLeaf(Node& node, std::uint32_t bit) {
    node.leaves.erase(node.leaves.begin() + static_cast<std::ptrdiff_t>(Place(node.leaf_map, bit)));
    node.leaf_map &= ~bit;
  }

  template <typename F>
  static void Visit(const Node& node, F& f) {
    for (const Leaf& leaf : node.leaves) f(leaf);
    for (const NodeRef& child : node.children) Visit(*child.get(), f);
  }

  // `other`: the node at the same place of the other map, or null.
  template <typename F>
  static void VisitNotShared(const Node& node, const Node* other, F& f) {
    if (&node == other) return;
    for (const Leaf& leaf : node.leaves) f(leaf);
    std::uint32_t bits = node.child_map;
    for (const NodeRef& child : node.children) {
      const std::uint32_t bit = bits & (~bits + 1);
      bits &= bits - 1;
      const bool both = other != nullptr && (other->child_map & bit) != 0;
      VisitNotShared(*child.get(), both ? other->children[Place(other->child_map, bit)].get() : nullptr, f);
    }
  }

  NodeRef root_;
  std::size_t size_ = 0;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_PERSISTENT_MAP_H_
