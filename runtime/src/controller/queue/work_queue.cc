// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/work_queue.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "controller/queue/queue_state.h"

namespace kgen::detail {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
constexpr std::uint64_t kSecondMultiplier = 0xD6E8FEB86659FD93u;

template <typename Word>
std::uint64_t Load(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Mixes all bits of both words by a product of 128 bits.
std::uint64_t Mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ kMultiplier) * (b ^ kSecondMultiplier);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Reads 16 bytes in each step. The last loads of longer text, and both of shorter text, overlap, because a copy of a
// variable size would be a call.
inline std::uint64_t Hash(std::uint64_t hash, std::string_view text) noexcept {
  const char* from = text.data();
  const std::size_t size = text.size();
  hash += size;
  if (size > 16) {
    const char* const last = from + size - 16;
    for (; from < last; from += 16) hash = Mix(Load<std::uint64_t>(from) ^ hash, Load<std::uint64_t>(from + 8));
    return Mix(Load<std::uint64_t>(last) ^ hash, Load<std::uint64_t>(last + 8));
  }
  if (size >= 8) return Mix(Load<std::uint64_t>(from) ^ hash, Load<std::uint64_t>(from + size - 8));
  if (size >= 4) return Mix(Load<std::uint32_t>(from) ^ hash, Load<std::uint32_t>(from + size - 4));
  if (size == 0) return hash;
  return Mix(Load<std::uint8_t>(from) ^ hash,
             Load<std::uint8_t>(from + size / 2) << 8 | Load<std::uint8_t>(from + size - 1));
}

// Copies of a key share its text or contain the same bytes, and comparing them is faster than comparing the texts.
// A String has no padding: all of its bytes are its value, or where that is.
bool SameBytes(const String& a, const String& b) noexcept {
  return std::memcmp(&a, &b, sizeof(String)) == 0;  // NOLINT(bugprone-suspicious-memory-comparison): see above
}

}  // namespace

std::size_t KeyHash(const ObjectKey& key) noexcept { return Hash(Hash(0, key.namespace_), key.name); }

bool KeyEqual(const ObjectKey& a, const ObjectKey& b) noexcept {
  return (SameBytes(a.name, b.name) && SameBytes(a.namespace_, b.namespace_)) || a == b;
}

QueueHandle::QueueHandle(const KeyType& type, WorkQueueOptions options)
    : queue_(MakeShared<controller::QueueState>(type, std::move(options))) {}

}  // namespace kgen::detail
