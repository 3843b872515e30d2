// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The state that an ObjectDecoder keeps between objects: the string pool and the memo of equal subtrees.
//
//   StringPool    text -> the block that already holds it; found by its hash, then compared byte by byte
//   SubtreeMemo   raw JSON of a box, list or map -> the block that was decoded from the same bytes; compares only a
//                 keyed 128-bit hash
//
// Both hold one reference to each block, and drop blocks that have no other references. They search for such blocks in
// steps, a few slots for each decoded object, so that no event waits for a pass over the whole table.
//
// Thread safety: none; they belong to one strand.
#ifndef KGEN_SRC_CODEC_SHARING_SHARING_H_
#define KGEN_SRC_CODEC_SHARING_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "codec/sharing/stepped_table.h"
#include "core/blocks.h"
#include "kgen/core/type_table.h"

namespace kgen::codec {

// A 128-bit hash of text: two lanes that share only the input.
//
// Keyed, because the memo treats equal hashes as equal bytes. With a fixed hash, anybody who may write one object could
// construct two subtrees of equal hash, and the cache would show one tenant's content in another's object. The keys are
// chosen at random for each process and never leave it, so an attacker cannot compute a collision. The probability of
// an accidental one is 2^-128 for each pair. A lane is a chain of 64 x 64 -> 128 bit multiplications folded to 64 bits.
struct Hash128 {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

class KeyedHash {
 public:
  KeyedHash() noexcept;  // the keys of this process
  Hash128 operator()(std::string_view text, std::uint64_t seed) const noexcept;
  // One lane, for the pool, which also compares the bytes. Keyed as well, so that an attacker cannot make many texts
  // collide.
  std::uint64_t Short(std::string_view text) const noexcept;
  // One lane, for a comparison with one other hash (codec/sharing/member_hashes.h). Not weakened for fuzzing.
  std::uint64_t Lane(std::string_view text, std::uint64_t seed) const noexcept;

 private:
  std::uint64_t keys_[8];
};

// The long texts, each stored once.
class StringPool {
 public:
  StringPool() = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  ~StringPool();

  // Returns a reference to a block with that text. The caller owns the reference.
  detail::TextBlock* Intern(std::string_view text);
  // Checks the given number of slots, and drops text that has no other references.
  void Sweep(std::size_t slots);
  // Checks the given number of slots, and drops all text in them.
  void Free(std::size_t slots);

  std::size_t size() const noexcept { return table_.size(); }
  std::size_t bytes() const noexcept { return table_.bytes(); }
  std::uint64_t hits() const noexcept { return hits_; }

 private:
  friend struct SharedState;
  struct Slot {
    std::uint64_t key = 0;
    detail::TextBlock* text = nullptr;  // one reference is held here; null: free

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

  // The hit rate of a field. A field that hits less than once in three tries is no longer tried, except every 128th
  // time.
  struct FieldStats {
    const Field* field = nullptr;
    std::uint16_t tries = 0;
    std::uint16_t hits = 0;
    std::uint8_t skipped = 0;
    bool off = false;

    void Count(bool hit) noexcept;
  };
  // Returns null if the value should be decoded without a look-up.
  FieldStats* Try(const Field& field);

  // The key of a subtree.
  struct Key {
    Hash128 hash;
    std::string_view raw;
    const Field* field;
    bool variant;  // decoded with other options, so the result differs
  };
  Key MakeKey(std::string_view raw, const Field& field, bool variant) const noexcept;
  const KeyedHash& hash() const noexcept { return hash_; }

  struct Hit {
    detail::BlockHeader* block = nullptr;  // one reference, owned by the caller; null: not found
    std::size_t members = 0;
  };
  Hit Find(const Key& key) noexcept;
  // `block` is the result of decoding `key.raw`; the memo takes its own reference.
  void Insert(const Key& key, detail::BlockHeader* block, std::size_t members);
  // Checks the given number of slots, and drops subtrees that have no other references.
  void Sweep(std::size_t slots);
  // Checks the given number of slots, and drops all subtrees in them.
  void Free(std::size_t slots);

  std::size_t size() const noexcept { return table_.size(); }
  std::size_t bytes() const noexcept { return table_.bytes() + stats_.capacity() * sizeof(FieldStats); }
  std::uint64_t hits() const noexcept { return hits_; }
  std::uint64_t misses() const noexcept { return misses_; }

 private:
  friend struct SharedState;
  struct Slot {
    Hash128 key;
    detail::BlockHeader* block = nullptr;  // one reference is held here; null: free
    const Field* field = nullptr;          // any field of that type
    std::uint32_t members = 0;
    bool variant = false;
#ifdef KGEN_CODEC_WEAK_HASH
    std::string raw;  // the hash of the fuzz target has only 8 bits, so the bytes are compared
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

// The pool and the memo of a decoder.
struct SharedState {
  StringPool strings;
  SubtreeMemo subtrees;
  bool share_strings = true;
  bool share_subtrees = true;

  // Call this after each object. It searches for unused entries, in proportion to what the object added, so that there
  // are never more unused entries than half the number of live ones, plus those that became unused since the last
  // object.
  void SweepAfterObject();
  // Call this instead if no object has lost a reference since the last call, so that there is nothing to find.
  void SkipSweep() noexcept;
  // Searches all entries, in steps of `slots` of each table. SweepStep() returns false once a pass over all of them
  // found nothing more to drop.
  void StartSweep() noexcept;
  bool SweepStep(std::size_t slots);
  // Drops all entries, even those in use, in steps of `slots` of a table. Returns true while there are more.
  bool FreeStep(std::size_t slots);
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SHARING_SHARING_H_
