// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of a record of a saved file, see saved_file.h.
//
//   header     format (4 bytes) | binding, as JSON
//   objects    (encoding (1 byte: 0 JSON, 1 protobuf) | text)*
//   deletions  (text namespace | text name)*
//   commit     text version | text cluster | resumable (1 byte) | saved_at (8 bytes) | objects (8 bytes)
//   text       size (4 bytes) | bytes
#ifndef KGEN_SRC_CACHE_SAVED_RECORD_H_
#define KGEN_SRC_CACHE_SAVED_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/store/text_hash.h"

namespace kgen::cache {

inline constexpr std::string_view kSavedMagic = "kgencach";
inline constexpr std::uint32_t kSavedFormat = 3;

enum class RecordKind : std::uint8_t { kNone = 0, kHeader = 1, kObjects = 2, kDeletions = 3, kCommit = 4 };

inline constexpr std::size_t kRecordHead = 5;
inline constexpr std::size_t kRecordCheck = 8;
// A payload ends with the element that makes it this large.
inline constexpr std::size_t kUsualPayload = 256u << 10;
// The limit for readers, with room for the largest object that the decoder accepts.
inline constexpr std::size_t kLargestPayload = 17u << 20;

// The check of a record: `record` is all of it but the check. `before` is the check of the record before, or
// kFirstCheck.
//
// Four chains of multiplications do not wait for each other, which makes it three times as fast as TextHash().
inline std::uint64_t RecordCheck(std::string_view record, std::uint64_t before) noexcept {
  using text_hash::Load;
  using text_hash::Multiply;
  constexpr std::size_t kLanes = 4, kStep = 16 * kLanes;
  const char* p = record.data();
  std::uint64_t lanes[kLanes] = {before, before ^ text_hash::kFirst, before ^ text_hash::kSecond, ~before};
  std::size_t left = record.size();
  for (; left >= kStep; left -= kStep) {
    for (std::uint64_t& lane : lanes) {
      lane = Multiply(Load<std::uint64_t>(p) ^ text_hash::kFirst, Load<std::uint64_t>(p + 8) ^ lane);
      p += 16;
    }
  }
  std::uint64_t check = record.size();
  for (const std::uint64_t lane : lanes) check = Multiply(check ^ text_hash::kFirst, lane ^ text_hash::kSecond);
  return TextHash({p, left}, check);
}
inline constexpr std::uint64_t kFirstCheck = 0;

// Writes a number of `bytes` bytes.
inline void PutNumber(std::uint64_t number, std::size_t bytes, char* to) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<char>(number >> (8 * i) & 0xFF);
}
inline void AppendNumber(std::uint64_t number, std::size_t bytes, std::string& out) {
  out.resize(out.size() + bytes);
  PutNumber(number, bytes, out.data() + out.size() - bytes);
}
inline void AppendText(std::string_view text, std::string& out) {
  AppendNumber(text.size(), 4, out);
  out.append(text);
}

// Takes a payload apart. After an error, everything that it returns is empty or zero.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) noexcept : left_(payload) {}

  std::uint64_t Number(std::size_t bytes) noexcept {
    const std::string_view taken = Take(bytes);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      number |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    }
    return number;
  }
  std::string_view Text() noexcept { return Take(Number(4)); }
  std::string_view Rest() noexcept { return Take(left_.size()); }

  bool AtEnd() const noexcept { return failed_ || left_.empty(); }
  // Returns whether more was asked for than the payload has.
  bool failed() const noexcept { return failed_; }

 private:
  std::string_view Take(std::uint64_t size) noexcept {
    failed_ = failed_ || size > left_.size();
    if (failed_) return {};
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_SAVED_RECORD_H_
