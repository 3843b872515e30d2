// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What an ObjectDecoder keeps between objects: the string pool and the memo of equal subtrees.
//
//   StringPool    text -> the block that already holds it; found by hash, decided by comparing the bytes
//   SubtreeMemo   raw JSON of a box, list or map -> the block that was decoded from the same bytes; decided by a keyed
//                 128-bit hash alone
//
// Both hold one reference to each block, and forget blocks that nobody else holds. They look for those in steps, a few
// slots for each object that is decoded, so that no event waits for a pass over the whole table.
//
// Thread safety: none; they belong to one strand.
#ifndef KGEN_SRC_CODEC_SHARING_H_
#define KGEN_SRC_CODEC_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "codec/stepped_table.h"
#include "core/blocks.h"
#include "kgen/core/type_table.h"

namespace kgen::codec {

// 128 bits of text: two lanes that share nothing but the input.
//
// Keyed because the memo takes equal hashes for equal bytes. With a fixed hash somebody who may write one object could
// construct two subtrees of equal hash, and the cache would show one tenant's content in another's object. With keys
// that are drawn at random per process and never leave it, there is nothing to compute a collision from; what remains
// is chance, 2^-128 for each pair. A lane is a chain of 64 x 64 -> 128 bit multiplications folded to 64 bits.
struct Hash128 {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

class KeyedHash {
 public:
  KeyedHash() noexcept;  // the keys of this process
  Hash128 operator()(std::string_view text, std::uint64_t seed) const noexcept;
  // One lane: for the pool, which compares bytes. Keyed all the same, so that nobody can make its chains long.
  std::uint64_t Short(std::string_view text) const noexcept;
  // One lane, for a comparison with one other hash (codec/member_hashes.h). Never weak.
  std::uint64_t Lane(std::string_view text, std::uint64_t seed) const noexcept;

 private:
  std::uint64_t keys_[8];
};

// Long text, each once.
class StringPool {
 public:
  StringPool() = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  ~StringPool();

  // One reference to a block with that text, owned by the caller.
  detail::TextBlock* Intern(std::string_view text);
  // Looks at so many slots, and forgets the text there that nobody else holds.
  void Sweep(std::size_t slots);
  // Looks at so many slots, and forgets all text there.
  void Free(std::size_t slots);

  std::size_t size() const noexcept { return table_.size(); }
  std::size_t bytes() const noexcept { return table_.bytes(); }
  std::uint64_t hits() const noexcept { return hits_; }

 private:
  friend struct SharedState;
  struct Slot {
    std::uint64_t key = 0;
    detail::TextBlock* text = nullptr;  // one reference of ours; null: free

    bool free() const noexcept { return text == nullptr; }
    std::uint64_t hash() const noexcept { return key; }
    const void* memory() const noexcept { return text; }
  };

  static void Release(const Slot& slot) noexcept;

  KeyedHash hash_;
  SteppedTable<Slot> table_;
  std::uint64_t hits_ = 0;
};

class SubtreeMemo {
 public:
  SubtreeMemo() = default;
  SubtreeMemo(const SubtreeMemo&) = delete;
  SubtreeMemo& operator=(const SubtreeMemo&) = delete;
  ~SubtreeMemo();

  // How a field fares. A field that hits less than once in three tries stops being tried, except every 128th time.
  struct FieldStats {
    const Field* field = nullptr;
    std::uint16_t tries = 0;
    std::uint16_t hits = 0;
    std::uint8_t skipped = 0;
    bool off = false;

    void Count(bool hit) noexcept;
  };
  // Null: decode it without looking.
  FieldStats* Try(const Field& field);

  // What a subtree is looked up by.
  struct Key {
    Hash128 hash;
    std::string_view raw;
    const Field* field;
    bool variant;  // decoded under other options, so not the same
  };
  Key MakeKey(std::string_view raw, const Field& field, bool variant) const noexcept;
  const KeyedHash& hash() const noexcept { return hash_; }

  struct Hit {
    detail::BlockHeader* block = nullptr;  // one reference, owned by the caller; null: not found
    std::size_t members = 0;
  };
  Hit Find(const Key& key) noexcept;
  // `block` is what `key.raw` decodes to; the memo takes a reference of its own.
  void Insert(const Key& key, detail::BlockHeader* block, std::size_t members);
  // Looks at so many slots, and forgets the subtrees there that nobody else holds.
  void Sweep(std::size_t slots);
  // Looks at so many slots, and forgets all subtrees there.
  void Free(std::size_t slots);

  std::size_t size() const noexcept { return table_.size(); }
  std::size_t bytes() const noexcept { return table_.bytes() + stats_.capacity() * sizeof(FieldStats); }
  std::uint64_t hits() const noexcept { return hits_; }
  std::uint64_t misses() const noexcept { return misses_; }

 private:
  friend struct SharedState;
  struct Slot {
    Hash128 key;
    detail::BlockHeader* block = nullptr;  // one reference of ours; null: free
    const Field* field = nullptr;          // any field of that type
    std::uint32_t members = 0;
    bool variant = false;
#ifdef KGEN_CODEC_WEAK_HASH
    std::string raw;  // the 8-bit hash of the fuzz target proves nothing, so the bytes decide
#endif

    bool free() const noexcept { return block == nullptr; }
    std::uint64_t hash() const noexcept { return key.a; }
    const void* memory() const noexcept { return block; }
  };
  static bool SameType(const Field& a, const Field& b) noexcept { return a.kind == b.kind && a.detail == b.detail; }
  static bool Matches(const Slot& slot, const Key& key) noexcept;
  static void Release(const Slot& slot) noexcept;
  void GrowStats();

  KeyedHash hash_;
  SteppedTable<Slot> table_;
  std::vector<FieldStats> stats_;  // a power of two; linear probing, by address
  std::size_t fields_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

// Both, as the decoder sees them.
struct SharedState {
  StringPool strings;
  SubtreeMemo subtrees;
  bool share_strings = true;
  bool share_subtrees = true;

  // After each object: looks for what nobody uses any more, in proportion to what the object added. So what is dead is
  // never more than half of what lives, plus what died since the last object.
  void SweepAfterObject();
  // A search through everything, in steps: `slots` of each table. SweepStep() returns false once a look at all of them
  // found nothing more to forget.
  void StartSweep() noexcept;
  bool SweepStep(std::size_t slots);
  // Forgets everything, whoever uses it, in steps: `slots` of a table. Returns true while there is more.
  bool FreeStep(std::size_t slots);
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SHARING_H_
