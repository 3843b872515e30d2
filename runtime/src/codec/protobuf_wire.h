// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WireReader: the fields of one protobuf message, one after the other.
#ifndef KGEN_SRC_CODEC_PROTOBUF_WIRE_H_
#define KGEN_SRC_CODEC_PROTOBUF_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kgen::codec {

// How a value is written. Kubernetes uses no other types.
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads within the bounds of the message whatever it contains. Thread safety: none.
class WireReader {
 public:
  explicit WireReader(std::string_view message) noexcept : p_(message.data()), end_(message.data() + message.size()) {}

  bool AtEnd() const noexcept { return p_ == end_; }
  const char* position() const noexcept { return p_; }

  // Reads the number and the type of the next field. False if they are malformed.
  [[gnu::always_inline]] bool Tag(std::uint32_t& number, WireType& type) noexcept {
    std::uint64_t tag;
    if (!Varint(tag) || tag > 0xFFFFFFFF) return false;
    number = static_cast<std::uint32_t>(tag >> 3);
    type = static_cast<WireType>(tag & 7);
    return number != 0;
  }

  [[gnu::always_inline]] bool Varint(std::uint64_t& value) noexcept {
    if (p_ != end_ && (*p_ & 0x80) == 0) [[likely]] {
      value = static_cast<unsigned char>(*p_++);
      return true;
    }
    return LongVarint(value);
  }

  // Reads a length and so many bytes.
  [[gnu::always_inline]] bool Bytes(std::string_view& bytes) noexcept {
    std::uint64_t size;
    if (!Varint(size) || size > static_cast<std::uint64_t>(end_ - p_)) return false;
    bytes = {p_, static_cast<std::size_t>(size)};
    p_ += size;
    return true;
  }

  bool Fixed64(std::uint64_t& value) noexcept {
    if (end_ - p_ < 8) return false;
    value = 0;
    for (int i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(p_[i])} << (8 * i);
    p_ += 8;
    return true;
  }

  // Skips a value. False if it is malformed, or a group, which nothing that is written today has.
  bool Skip(WireType type) noexcept {
    std::uint64_t number;
    std::string_view bytes;
    switch (type) {
      case WireType::kVarint:
        return Varint(number);
      case WireType::kFixed64:
        return Fixed64(number);
      case WireType::kBytes:
        return Bytes(bytes);
      case WireType::kFixed32:
        if (end_ - p_ < 4) return false;
        p_ += 4;
        return true;
    }
    return false;
  }

  // Reads the next tag if it has this number and type; else does not move.
  bool TakeAnother(std::uint32_t number, WireType wanted) noexcept {
    const char* const start = p_;
    std::uint32_t next = 0;
    WireType type{};
    if (!AtEnd() && Tag(next, type) && next == number && type == wanted) return true;
    p_ = start;
    return false;
  }

 private:
  bool LongVarint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (p_ == end_) return false;
      const auto byte = static_cast<unsigned char>(*p_++);
      if (shift == 63 && byte > 1) return false;  // beyond 64 bits
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  const char* p_;
  const char* end_;
};

// The values of a message whose fields 1 and 2 are text, such as a TypeMeta.
inline bool ReadTwoTexts(std::string_view message, std::string_view& first, std::string_view& second) noexcept {
  WireReader reader(message);
  std::uint32_t number = 0;
  WireType type{};
  while (!reader.AtEnd()) {
    if (!reader.Tag(number, type)) return false;
    const bool wanted = type == WireType::kBytes && (number == 1 || number == 2);
    if (!(wanted ? reader.Bytes(number == 1 ? first : second) : reader.Skip(type))) return false;
  }
  return true;
}

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_PROTOBUF_WIRE_H_
