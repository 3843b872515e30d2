// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Searches for significant bytes, 16 or 64 at a time, with SSE2 where available and with portable code elsewhere.
//
//   FindSpecial      the end of plain text inside a string           (Reader)
//   NestingScanner   the end of a bracketed value, aware of strings  (memo, list splitter)
//
// Nothing here reads outside of the given range: the tail is copied into a padded block first.
#ifndef KGEN_SRC_CODEC_SCAN_H_
#define KGEN_SRC_CODEC_SCAN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) && !defined(KGEN_CODEC_SCALAR)
#include <emmintrin.h>
#define KGEN_CODEC_SSE2 1
#endif

namespace kgen::codec {

inline bool IsSpecial(char c) noexcept { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

// Returns the first quote, backslash or control character in [p, end), or end. Sets `high` if there is a byte >= 0x80
// before it.
inline const char* FindSpecial(const char* p, const char* end, bool& high) noexcept {
#ifdef KGEN_CODEC_SSE2
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x1f);
  while (end - p >= 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                         _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(special));
    const auto highs = static_cast<unsigned>(_mm_movemask_epi8(v));
    if (found != 0) {
      const int n = std::countr_zero(found);
      high |= (highs & ((1u << n) - 1)) != 0;
      return p + n;
    }
    high |= highs != 0;
    p += 16;
  }
#endif
  unsigned char seen = 0;
  while (p != end && !IsSpecial(*p)) seen |= static_cast<unsigned char>(*p++);
  high |= (seen & 0x80) != 0;
  return p;
}

#ifdef KGEN_CODEC_SSE2
// Bit i: byte i ends plain ASCII text. It is a quote, a backslash, a control character or at least 0x80.
inline unsigned StopsOf(__m128i v) noexcept {
  // Signed comparison: bytes >= 0x80 are less than a space too.
  const __m128i stops =
      _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
                   _mm_cmplt_epi8(v, _mm_set1_epi8(' ')));
  return static_cast<unsigned>(_mm_movemask_epi8(stops));
}
#endif

// Returns the first byte of [p, end) that is not plain ASCII text. Most strings end there.
inline const char* FindStop(const char* p, const char* end) noexcept {
#ifdef KGEN_CODEC_SSE2
  for (; end - p >= 16; p += 16) {
    const unsigned stops = StopsOf(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    if (stops != 0) return p + std::countr_zero(stops);
  }
#endif
  while (p != end && !IsSpecial(*p) && static_cast<unsigned char>(*p) < 0x80) ++p;
  return p;
}

// Tracks nesting through text that arrives in pieces, until the value ends. Ignores brackets inside strings. Validates
// nothing else, not even whether brackets match in kind: the caller parses the value, or has parsed the same bytes
// before.
class NestingScanner {
 public:
  NestingScanner() noexcept = default;
  // `depth` is the nesting around the value, which matters only for the limit.
  NestingScanner(std::size_t depth, std::size_t max_depth) noexcept
      : floor_(depth), depth_(depth), max_depth_(max_depth) {}

  enum class State : unsigned char { kMore, kDone, kTooDeep };

  // Consumes from `p`, which at the first call is at the opening bracket. kDone: `p` is after the closing bracket;
  // kTooDeep: `p` is at the bracket that exceeds the limit; kMore: `p` is `end`.
  State Scan(const char*& p, const char* end) noexcept;
  // Does the same without instructions that some processors lack. For tests.
  State ScanPortably(const char*& p, const char* end) noexcept;

 private:
  friend struct NestingBlocks;

  std::size_t floor_ = 0;
  std::size_t depth_ = 0;
  std::size_t max_depth_ = 256;
  std::uint64_t in_string_ = 0;  // all ones while inside a string
  std::uint64_t escaped_ = 0;    // 1 if the last byte was an active backslash
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SCAN_H_
