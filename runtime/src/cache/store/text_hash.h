// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TextHash(): the hash of the keys of a store, and of the values of its indexes.
//
// The hash does not vary between processes, so a simulation with the same seed visits objects in the same order. For
// names of up to 32 bytes it takes a quarter of the instructions of std::hash, which is a function call that reads
// eight bytes at a time. It chains 64 x 64 -> 128 bit multiplications, each folded to 64 bits.
#ifndef KGEN_SRC_CACHE_STORE_TEXT_HASH_H_
#define KGEN_SRC_CACHE_STORE_TEXT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kgen::cache {

namespace text_hash {

inline constexpr std::uint64_t kFirst = 0xA0761D6478BD642Fu;
inline constexpr std::uint64_t kSecond = 0xE7037ED1A0B428DBu;

inline std::uint64_t Multiply(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <typename Word>
std::uint64_t Load(const char* p) noexcept {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

}  // namespace text_hash

// `seed` may be the hash of what comes before the text.
inline std::uint64_t TextHash(std::string_view text, std::uint64_t seed = 0) noexcept {
  using text_hash::Load;
  using text_hash::Multiply;
  const char* p = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = Multiply(seed ^ text_hash::kFirst, text.size() ^ text_hash::kSecond);
  for (; left > 16; p += 16, left -= 16) {
    hash = Multiply(Load<std::uint64_t>(p) ^ text_hash::kFirst, Load<std::uint64_t>(p + 8) ^ hash);
  }
  // The first and the last bytes of what is left may overlap.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (left >= 8) {
    first = Load<std::uint64_t>(p);
    last = Load<std::uint64_t>(p + left - 8);
  } else if (left >= 4) {
    first = Load<std::uint32_t>(p);
    last = Load<std::uint32_t>(p + left - 4);
  } else if (left > 0) {
    first = Load<std::uint8_t>(p) << 16 | Load<std::uint8_t>(p + left / 2) << 8 | Load<std::uint8_t>(p + left - 1);
  }
  return Multiply(text_hash::kSecond ^ hash, Multiply(first ^ text_hash::kSecond, last ^ hash));
}

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_TEXT_HASH_H_
