// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Looking for bytes that matter, 16 or 64 at a time: SSE2 where there is, plain code elsewhere.
//
//   FindSpecial      the end of plain text inside a string           (Reader)
//   NestingScanner   the end of a bracketed value, strings respected  (memo, list splitter)
//
// Nothing here reads outside the range it was given: tails are copied into a padded block first.
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

// The first quote, backslash or control character in [p, end), or end. `high` becomes true if a byte >= 0x80 stands
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

// Which of 64 bytes are what, bit i for byte i.
struct Marks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;   // { [
  std::uint64_t closes = 0;  // } ]
};

inline Marks Classify(const char* p) noexcept {  // 64 bytes
  Marks marks;
#ifdef KGEN_CODEC_SSE2
  // '{' and '[' differ in one bit only, as do '}' and ']': with it set, one comparison finds both.
  const __m128i fold = _mm_set1_epi8(0x20);
  for (int i = 0; i < 4; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
    const __m128i folded = _mm_or_si128(v, fold);
    const auto bits = [i](__m128i mask) {
      return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(mask))) << (16 * i);
    };
    marks.quotes |= bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    marks.backslashes |= bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    marks.opens |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    marks.closes |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
#else
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char folded = static_cast<char>(p[i] | 0x20);
    if (p[i] == '"') marks.quotes |= bit;
    if (p[i] == '\\') marks.backslashes |= bit;
    if (folded == '{') marks.opens |= bit;
    if (folded == '}') marks.closes |= bit;
  }
#endif
  return marks;
}

// Follows nesting through text that arrives in any pieces, until it is back at depth 0. Brackets inside strings do not
// count. Whether brackets match in kind, and everything else about the text, is not looked at: whoever uses the value
// parses it, or has parsed the same bytes before.
class NestingScanner {
 public:
  NestingScanner() noexcept = default;
  // `depth`: of what lies around the value, which counts for the limit only.
  NestingScanner(std::size_t depth, std::size_t max_depth) noexcept
      : floor_(depth), depth_(depth), max_depth_(max_depth) {}

  enum class State : unsigned char { kMore, kDone, kTooDeep };

  // Consumes from `p`, which at the very first call stands at the opening bracket. kDone: `p` is behind the closing
  // one; kTooDeep: `p` is at the bracket that is one too many; kMore: `p` is `end`.
  State Scan(const char*& p, const char* end) noexcept {
    while (end - p >= 64) {
      if (const State state = Block(p, p, 64); state != State::kMore) return state;
    }
    if (p == end) return State::kMore;
    char padded[64];
    const auto size = static_cast<std::size_t>(end - p);
    std::memset(padded, ' ', sizeof padded);
    std::memcpy(padded, p, size);
    return Block(padded, p, size);
  }

 private:
  State Block(const char* bytes, const char*& p, std::size_t size) noexcept {
    Marks marks = Classify(bytes);
    if ((marks.backslashes | escaped_) != 0) marks.quotes &= ~Escaped(marks.backslashes, size);
    const std::uint64_t strings = PrefixXor(marks.quotes) ^ in_string_;
    in_string_ = std::uint64_t{0} - ((strings >> (size - 1)) & 1);
    marks.opens &= ~strings;
    marks.closes &= ~strings;
    const std::size_t opens = Count(marks.opens);
    const std::size_t closes = Count(marks.closes);
    if (depth_ - floor_ <= closes || depth_ + opens > max_depth_) return Step(marks, p, size);
    depth_ = depth_ + opens - closes;
    p += size;
    return State::kMore;
  }

  // Bracket by bracket, when the value may end in this block or come too deep.
  State Step(const Marks& marks, const char*& p, std::size_t size) noexcept {
    for (std::uint64_t left = marks.opens | marks.closes; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      if ((marks.opens >> i & 1) != 0) {
        if (depth_ == max_depth_) {
          p += i;
          return State::kTooDeep;
        }
        ++depth_;
      } else if (--depth_ == floor_) {
        p += i + 1;
        return State::kDone;
      }
    }
    p += size;
    return State::kMore;
  }

  // The bytes that follow an active backslash; remembers one that ends the block.
  std::uint64_t Escaped(std::uint64_t backslashes, std::size_t size) noexcept {
    std::uint64_t escaped = escaped_;
    escaped_ = 0;
    backslashes &= ~escaped;
    while (backslashes != 0) {
      const auto i = static_cast<std::size_t>(std::countr_zero(backslashes));
      if (i + 1 >= size) {
        escaped_ = 1;
        break;
      }
      escaped |= std::uint64_t{2} << i;
      backslashes &= ~(std::uint64_t{3} << i);
    }
    return escaped;
  }

  static std::uint64_t PrefixXor(std::uint64_t bits) noexcept {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }

  // Baseline x86-64 has no instruction for it, and the compiler's replacement is a call.
  static std::size_t Count(std::uint64_t bits) noexcept {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return bits * 0x0101010101010101u >> 56;
  }

  std::size_t floor_ = 0;
  std::size_t depth_ = 0;
  std::size_t max_depth_ = 256;
  std::uint64_t in_string_ = 0;  // all ones while inside a string
  std::uint64_t escaped_ = 0;    // 1 if the last byte was an active backslash
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SCAN_H_
