// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// NestingScanner: 64 bytes at a time, with three versions of one step: AVX2, SSE2 and portable. The features of the
// processor are determined once.
#include "codec/scan.h"

#ifdef KGEN_CODEC_SSE2
#include <immintrin.h>
#define KGEN_CODEC_AVX2 __attribute__((target("avx2,bmi,popcnt,pclmul")))
#endif
// Inlined into a function that is compiled for certain processor features, so that it is compiled for them as well.
#define KGEN_CODEC_INLINE __attribute__((always_inline)) inline

namespace kgen::codec {

namespace {

// The classes of 64 bytes, bit i for byte i.
struct Marks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;   // { [
  std::uint64_t closes = 0;  // } ]
};

// '{' and '[' differ in one bit only, as do '}' and ']': with it set, one comparison finds both.
constexpr char kFold = 0x20;

struct Portable {
  static KGEN_CODEC_INLINE Marks Classify(const char* p) noexcept {
    Marks marks;
#ifdef KGEN_CODEC_SSE2
    const __m128i fold = _mm_set1_epi8(kFold);
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
      const char folded = static_cast<char>(p[i] | kFold);
      if (p[i] == '"') marks.quotes |= bit;
      if (p[i] == '\\') marks.backslashes |= bit;
      if (folded == '{') marks.opens |= bit;
      if (folded == '}') marks.closes |= bit;
    }
#endif
    return marks;
  }

  // Baseline x86-64 has no instruction for this, and the compiler would emit a call.
  static KGEN_CODEC_INLINE std::size_t Count(std::uint64_t bits) noexcept {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return bits * 0x0101010101010101u >> 56;
  }

  // Bit i: whether an odd number of bits is set up to it.
  static KGEN_CODEC_INLINE std::uint64_t PrefixXor(std::uint64_t bits) noexcept {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }
};

#ifdef KGEN_CODEC_SSE2
struct Avx2 {
  KGEN_CODEC_AVX2 static inline std::uint64_t Bits(__m256i low, __m256i high) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(high))) << 32;
  }
  KGEN_CODEC_AVX2 static inline Marks Classify(const char* p) noexcept {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
    const __m256i fold = _mm256_set1_epi8(kFold);
    const __m256i folded_low = _mm256_or_si256(low, fold);
    const __m256i folded_high = _mm256_or_si256(high, fold);
    const __m256i quote = _mm256_set1_epi8('"');
    const __m256i backslash = _mm256_set1_epi8('\\');
    const __m256i open = _mm256_set1_epi8('{');
    const __m256i close = _mm256_set1_epi8('}');
    return {Bits(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote)),
            Bits(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash)),
            Bits(_mm256_cmpeq_epi8(folded_low, open), _mm256_cmpeq_epi8(folded_high, open)),
            Bits(_mm256_cmpeq_epi8(folded_low, close), _mm256_cmpeq_epi8(folded_high, close))};
  }
  KGEN_CODEC_AVX2 static inline std::size_t Count(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>(_mm_popcnt_u64(bits));
  }
  KGEN_CODEC_AVX2 static inline std::uint64_t PrefixXor(std::uint64_t bits) noexcept {
    // The carry-less product with all ones.
    const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};
#endif

}  // namespace

// The step over one block, which updates the state of the scanner.
struct NestingBlocks {
  using State = NestingScanner::State;

  template <typename Processor>
  static KGEN_CODEC_INLINE State Scan(NestingScanner& scanner, const char*& p, const char* end) noexcept {
    while (end - p >= 64) {
      if (const State state = Block<Processor>(scanner, p, p, 64); state != State::kMore) return state;
    }
    if (p == end) return State::kMore;
    char padded[64];
    const auto size = static_cast<std::size_t>(end - p);
    std::memset(padded, ' ', sizeof padded);
    std::memcpy(padded, p, size);
    return Block<Processor>(scanner, padded, p, size);
  }

  template <typename Processor>
  static KGEN_CODEC_INLINE State Block(NestingScanner& s, const char* bytes, const char*& p,
                                       std::size_t size) noexcept {
    Marks marks = Processor::Classify(bytes);
    if ((marks.backslashes | s.escaped_) != 0) marks.quotes &= ~Escaped(s, marks.backslashes, size);
    const std::uint64_t strings = Processor::PrefixXor(marks.quotes) ^ s.in_string_;
    s.in_string_ = std::uint64_t{0} - ((strings >> (size - 1)) & 1);
    marks.opens &= ~strings;
    marks.closes &= ~strings;
    const std::size_t opens = Processor::Count(marks.opens);
    const std::size_t closes = Processor::Count(marks.closes);
    if (s.depth_ - s.floor_ <= closes || s.depth_ + opens > s.max_depth_) return Step(s, marks, p, size);
    s.depth_ = s.depth_ + opens - closes;
    p += size;
    return State::kMore;
  }

  // Processes single brackets, for a block in which the value may end or exceed the depth limit.
  static State Step(NestingScanner& s, const Marks& marks, const char*& p, std::size_t size) noexcept {
    for (std::uint64_t left = marks.opens | marks.closes; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      if ((marks.opens >> i & 1) != 0) {
        if (s.depth_ == s.max_depth_) {
          p += i;
          return State::kTooDeep;
        }
        ++s.depth_;
      } else if (--s.depth_ == s.floor_) {
        p += i + 1;
        return State::kDone;
      }
    }
    p += size;
    return State::kMore;
  }

  // Returns the bytes that follow an active backslash. Remembers an active backslash at the end of the block.
  static std::uint64_t Escaped(NestingScanner& s, std::uint64_t backslashes, std::size_t size) noexcept {
    std::uint64_t escaped = s.escaped_;
    s.escaped_ = 0;
    backslashes &= ~escaped;
    while (backslashes != 0) {
      const auto i = static_cast<std::size_t>(std::countr_zero(backslashes));
      if (i + 1 >= size) {
        s.escaped_ = 1;
        break;
      }
      escaped |= std::uint64_t{2} << i;
      backslashes &= ~(std::uint64_t{3} << i);
    }
    return escaped;
  }
};

NestingScanner::State NestingScanner::ScanPortably(const char*& p, const char* end) noexcept {
  return NestingBlocks::Scan<Portable>(*this, p, end);
}

#ifdef KGEN_CODEC_SSE2
namespace {

KGEN_CODEC_AVX2 NestingScanner::State ScanWithAvx2(NestingScanner& scanner, const char*& p, const char* end) noexcept {
  return NestingBlocks::Scan<Avx2>(scanner, p, end);
}

}  // namespace

NestingScanner::State NestingScanner::Scan(const char*& p, const char* end) noexcept {
  static const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0 &&
                               __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("pclmul") != 0;
  return kHasAvx2 ? ScanWithAvx2(*this, p, end) : ScanPortably(p, end);
}
#else
NestingScanner::State NestingScanner::Scan(const char*& p, const char* end) noexcept { return ScanPortably(p, end); }
#endif

}  // namespace kgen::codec
