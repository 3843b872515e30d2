// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HTTP/2 frames as bytes, valid and invalid ones, and the frames that a client has sent.
#ifndef KGEN_TESTS_SUPPORT_HTTP2_FRAMES_H_
#define KGEN_TESTS_SUPPORT_HTTP2_FRAMES_H_

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kgen::testing {

struct Frame {
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload{};
};

inline std::string BigEndian(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

inline std::string Bytes(const Frame& frame) {
  return BigEndian(static_cast<std::uint32_t>(frame.payload.size()), 3) + static_cast<char>(frame.type) +
         static_cast<char>(frame.flags) + BigEndian(frame.stream, 4) + frame.payload;
}

// A server's first frames: its settings, and that it took ours.
inline std::string Settings() {
  return Bytes({.type = NGHTTP2_SETTINGS}) + Bytes({.type = NGHTTP2_SETTINGS, .flags = NGHTTP2_FLAG_ACK});
}
// The headers of a response with status 200; `block` has further header fields.
inline std::string Head(std::uint32_t stream, std::string_view block = {}) {
  return Bytes({.type = NGHTTP2_HEADERS,
                .flags = NGHTTP2_FLAG_END_HEADERS,
                .stream = stream,
                .payload = '\x88' + std::string(block)});
}
inline std::string Data(std::uint32_t stream, std::string payload, std::uint8_t flags = NGHTTP2_FLAG_NONE) {
  return Bytes({.type = NGHTTP2_DATA, .flags = flags, .stream = stream, .payload = std::move(payload)});
}
inline std::string Reset(std::uint32_t stream, std::uint32_t error) {
  return Bytes({.type = NGHTTP2_RST_STREAM, .stream = stream, .payload = BigEndian(error, 4)});
}
inline std::string GoAway(std::uint32_t last_stream, std::uint32_t error, std::string_view debug_data = {}) {
  return Bytes(
      {.type = NGHTTP2_GOAWAY, .payload = BigEndian(last_stream, 4) + BigEndian(error, 4) + std::string(debug_data)});
}

// The frames of type `type` in what a client has sent, preface included.
inline std::vector<Frame> FramesOf(std::string_view sent, std::uint8_t type) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(sent[at + i]);
    return value;
  };
  std::vector<Frame> frames;
  std::size_t at = std::min<std::size_t>(sent.size(), NGHTTP2_CLIENT_MAGIC_LEN);
  while (at + 9 <= sent.size()) {
    const std::uint32_t size = number(at, 3);
    Frame frame{.type = static_cast<std::uint8_t>(sent[at + 3]),
                .flags = static_cast<std::uint8_t>(sent[at + 4]),
                .stream = number(at + 5, 4),
                .payload = std::string(sent.substr(at + 9, size))};
    if (frame.type == type) frames.push_back(std::move(frame));
    at += 9 + size;
  }
  return frames;
}

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_HTTP2_FRAMES_H_
