// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/sharing/sharing.h"

#include <random>
#include <utility>

namespace kgen::codec {

namespace {

using detail::BlockHeader;
using detail::TextBlock;

std::uint64_t Load64(const char* p) noexcept {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint64_t Load32(const char* p) noexcept {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Multiplies and folds, so that every bit of the result depends on every bit of both arguments.
std::uint64_t Mix(std::uint64_t x, std::uint64_t y) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

struct Words {
  std::uint64_t first;
  std::uint64_t last;
};

// Returns the last 1 to 16 bytes as two words, which overlap if there are fewer than 16. Together with the length,
// which is hashed too, they determine the text.
inline Words Tail(const char* p, std::size_t size) noexcept {
  if (size >= 8) return {Load64(p), Load64(p + size - 8)};
  if (size >= 4) return {Load32(p), Load32(p + size - 4)};
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) word = word << 8 | static_cast<unsigned char>(p[i]);
  return {word, 0};
}

const std::uint64_t* ProcessKeys() noexcept {
  struct Keys {
    std::uint64_t words[8];
    Keys() {
      std::random_device device;
      for (std::uint64_t& word : words) word = static_cast<std::uint64_t>(device()) << 32 | device();
    }
  };
  static const Keys kKeys;
  return kKeys.words;
}

// The number of slots to check after each object, and for each entry that it added. With these, an unused entry is
// found before an eighth of the table's slots has been filled, whatever is decoded.
constexpr std::size_t kSlotsForObject = 32;
constexpr std::size_t kSlotsForEntry = 8;

// True if there is no other reference to the block. Then no other thread can take one.
bool OnlyOurs(const BlockHeader* block) noexcept { return block->refs.load(std::memory_order_acquire) == 1; }

}  // namespace

KeyedHash::KeyedHash() noexcept { std::memcpy(keys_, ProcessKeys(), sizeof keys_); }

Hash128 KeyedHash::operator()(std::string_view text, std::uint64_t seed) const noexcept {
  const char* p = text.data();
  std::size_t left = text.size();
  std::uint64_t a = keys_[0] ^ seed;
  std::uint64_t b = keys_[1] ^ Mix(seed ^ keys_[2], keys_[3]);
  while (left > 16) {
    const std::uint64_t first = Load64(p);
    const std::uint64_t last = Load64(p + 8);
    a = Mix(a ^ first, last ^ keys_[4]);
    b = Mix(b ^ last, first ^ keys_[5]);
    p += 16;
    left -= 16;
  }
  const Words tail = Tail(p, left);
  a = Mix(a ^ tail.first, tail.last ^ keys_[4]);
  b = Mix(b ^ tail.last, tail.first ^ keys_[5]);
  Hash128 hash{Mix(a ^ text.size(), keys_[6]), Mix(b ^ keys_[7], text.size() ^ keys_[2])};
#ifdef KGEN_CODEC_WEAK_HASH
  hash = {(hash.a & 0xFF) << 56 | (hash.a & 0xFF), 0};
#endif
  return hash;
}

std::uint64_t KeyedHash::Lane(std::string_view text, std::uint64_t seed) const noexcept {
  const char* p = text.data();
  std::size_t left = text.size();
  std::uint64_t a = keys_[0] ^ seed;
  if (left > 128) {  // chains of multiplications that do not wait for each other
    std::uint64_t b = keys_[1] ^ seed;
    std::uint64_t c = keys_[2] ^ seed;
    std::uint64_t d = keys_[3] ^ seed;
    for (; left > 64; p += 64, left -= 64) {
      a = Mix(a ^ Load64(p), Load64(p + 8) ^ keys_[4]);
      b = Mix(b ^ Load64(p + 16), Load64(p + 24) ^ keys_[5]);
      c = Mix(c ^ Load64(p + 32), Load64(p + 40) ^ keys_[6]);
      d = Mix(d ^ Load64(p + 48), Load64(p + 56) ^ keys_[7]);
    }
    a = Mix(Mix(a ^ keys_[5], b ^ keys_[6]) ^ keys_[7], Mix(c ^ keys_[4], d ^ keys_[1]) ^ keys_[2]);
  }
  while (left > 16) {
    a = Mix(a ^ Load64(p), Load64(p + 8) ^ keys_[4]);
    p += 16;
    left -= 16;
  }
  const Words tail = Tail(p, left);
  return Mix(Mix(a ^ tail.first, tail.last ^ keys_[4]) ^ text.size(), keys_[6]);
}

std::uint64_t KeyedHash::Short(std::string_view text) const noexcept {
  const std::uint64_t hash = Lane(text, 0);
#ifdef KGEN_CODEC_WEAK_HASH
  return (hash & 0xFF) << 56 | (hash & 0xFF);
#else
  return hash;
#endif
}

// ---- StringPool. ----

StringPool::~StringPool() {
  table_.ForEach([](const Slot& slot) { Release(slot); });
}

void StringPool::Release(const Slot& slot) noexcept {
  if (detail::DropRef(slot.text)) detail::DestroyText(slot.text);
}

detail::TextBlock* StringPool::Intern(std::string_view text) {
  const std::uint64_t hash = hash_.Short(text);
  const Slot* known =
      table_.Find(hash, [&](const Slot& slot) { return slot.key == hash && slot.text->view() == text; });
  if (known != nullptr) {
    ++hits_;
    detail::AddRef(known->text);
    return known->text;
  }
  TextBlock* block = detail::NewText(text);
  detail::AddRef(block);
  table_.Insert({hash, block});
  return block;
}

void StringPool::Sweep(std::size_t slots) {
  table_.Look(slots, [](const Slot& slot) {
    if (!OnlyOurs(slot.text)) return false;
    detail::DestroyText(slot.text);
    return true;
  });
}

void StringPool::Free(std::size_t slots) {
  table_.Look(slots, [](const Slot& slot) {
    Release(slot);
    return true;
  });
}

// ---- SubtreeMemo. ----

SubtreeMemo::~SubtreeMemo() {
  table_.ForEach([](const Slot& slot) { Release(slot); });
}

void SubtreeMemo::FieldStats::Count(bool hit) noexcept {
  constexpr std::uint16_t kEnough = 16;  // tries before a decision
  constexpr std::uint16_t kWindow = 64;  // older tries count half
  ++tries;
  hits = static_cast<std::uint16_t>(hits + (hit ? 1 : 0));
  if (tries < kEnough) return;
  off = hits * 3 < tries;
  if (tries == kWindow) {
    tries /= 2;
    hits /= 2;
  }
}

SubtreeMemo::FieldStats* SubtreeMemo::Try(const Field& field) {
  if (fields_ * 2 >= stats_.size()) GrowStats();
  const std::size_t mask = stats_.size() - 1;
  std::size_t i = (reinterpret_cast<std::uintptr_t>(&field) / sizeof(Field)) & mask;
  while (stats_[i].field != &field) {
    if (stats_[i].field == nullptr) {
      stats_[i].field = &field;
      ++fields_;
      break;
    }
    i = (i + 1) & mask;
  }
  FieldStats& stats = stats_[i];
  if (!stats.off) return &stats;
  constexpr std::uint8_t kSample = 128;
  if (++stats.skipped < kSample) return nullptr;
  stats.skipped = 0;
  return &stats;
}

void SubtreeMemo::GrowStats() {
  std::vector<FieldStats> old(stats_.empty() ? 256 : stats_.size() * 2);
  old.swap(stats_);
  const std::size_t mask = stats_.size() - 1;
  for (const FieldStats& stats : old) {
    if (stats.field == nullptr) continue;
    std::size_t i = (reinterpret_cast<std::uintptr_t>(stats.field) / sizeof(Field)) & mask;
    while (stats_[i].field != nullptr) i = (i + 1) & mask;
    stats_[i] = stats;
  }
}

SubtreeMemo::Key SubtreeMemo::MakeKey(std::string_view raw, const Field& field, bool variant) const noexcept {
  // The type is part of the hash, and is also compared: equal text has different meanings for different types.
  const auto seed = reinterpret_cast<std::uintptr_t>(field.detail) * 2 + (variant ? 1 : 0);
  return {hash_(raw, seed ^ static_cast<std::uint64_t>(field.kind) << 56), raw, &field, variant};
}

bool SubtreeMemo::Matches(const Slot& slot, const Key& key) noexcept {
  if (slot.key != key.hash || slot.variant != key.variant || !SameType(*slot.field, *key.field)) return false;
#ifdef KGEN_CODEC_WEAK_HASH
  if (slot.raw != key.raw) return false;
#endif
  return true;
}

SubtreeMemo::Hit SubtreeMemo::Find(const Key& key) noexcept {
  const Slot* known = table_.Find(key.hash.a, [&](const Slot& slot) { return Matches(slot, key); });
  if (known == nullptr) {
    ++misses_;
    return {};
  }
  ++hits_;
  detail::AddRef(known->block);
  return {known->block, known->members};
}

void SubtreeMemo::Insert(const Key& key, BlockHeader* block, std::size_t members) {
  const auto matches = [&](const Slot& slot) { return Matches(slot, key); };
  if (table_.Find(key.hash.a, matches) != nullptr) return;  // a subtree inside this one had the same bytes
  Slot slot;
  slot.key = key.hash;
  slot.block = block;
  slot.field = key.field;
  slot.members = static_cast<std::uint32_t>(members);
  slot.variant = key.variant;
#ifdef KGEN_CODEC_WEAK_HASH
  slot.raw = key.raw;
#endif
  table_.Insert(std::move(slot));
  detail::AddRef(block);
}

void SubtreeMemo::Release(const Slot& slot) noexcept {
  BlockHeader* block = slot.block;
  const Field& field = *slot.field;
  switch (field.kind) {
    case ValueKind::kBox:
      return detail::ReleaseBox(static_cast<detail::BoxBlock*>(block), *field.table());
    case ValueKind::kList:
      return detail::ReleaseList(static_cast<detail::ListBlock*>(block), *field.element());
    case ValueKind::kMap:
      return detail::ReleaseMap(static_cast<detail::MapBlock*>(block), *field.element());
    default:  // kJson
      if (detail::DropRef(block)) detail::DestroyText(static_cast<TextBlock*>(block));
  }
}

void SubtreeMemo::Sweep(std::size_t slots) {
  table_.Look(slots, [](const Slot& slot) {
    if (!OnlyOurs(slot.block)) return false;
    Release(slot);
    return true;
  });
}

void SubtreeMemo::Free(std::size_t slots) {
  table_.Look(slots, [](const Slot& slot) {
    Release(slot);
    return true;
  });
}

// ---- SharedState. ----

void SharedState::SweepAfterObject() {
  subtrees.Sweep(kSlotsForObject + kSlotsForEntry * subtrees.table_.TakeInserted());
  strings.Sweep(kSlotsForObject + kSlotsForEntry * strings.table_.TakeInserted());
}

void SharedState::SkipSweep() noexcept {
  subtrees.table_.TakeInserted();
  strings.table_.TakeInserted();
}

void SharedState::StartSweep() noexcept {
  subtrees.table_.StartLooking();
  strings.table_.StartLooking();
}

// A dropped subtree may have held the last other reference to a nested subtree or to text. So the memo is searched
// until nothing changes, and then the pool.
bool SharedState::SweepStep(std::size_t slots) {
  if (!subtrees.table_.IsClean()) {
    subtrees.Sweep(slots);
    strings.table_.StartLooking();
  } else if (!strings.table_.IsClean()) {
    strings.Sweep(slots);
  }
  return !subtrees.table_.IsClean() || !strings.table_.IsClean();
}

bool SharedState::FreeStep(std::size_t slots) {
  if (!subtrees.table_.IsFreed()) {
    subtrees.Free(slots);
  } else {
    strings.Free(slots);
  }
  return !subtrees.table_.IsFreed() || !strings.table_.IsFreed();
}

}  // namespace kgen::codec
