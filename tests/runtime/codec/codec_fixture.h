// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Helpers of the codec's tests: counting blocks, objects from the text of a spec, texts in buffers of their exact size.
#ifndef KGEN_TESTS_RUNTIME_CODEC_CODEC_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CODEC_CODEC_FIXTURE_H_

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "tests/runtime/codec/widget.h"

namespace kgen {

// Every block that a test allocates must be freed when it ends, even after errors.
class CodecTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(LiveBlocks(), before_) << "blocks leaked or freed twice"; }

 private:
  std::int64_t before_ = LiveBlocks();
};

// The text in a block of exactly its size, so that the sanitizers see a read past its end.
class Exact {
 public:
  explicit Exact(std::string_view text) : size_(text.size()), bytes_(new char[text.size()]) {
    if (size_ != 0) std::memcpy(bytes_.get(), text.data(), size_);
  }
  operator std::string_view() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

inline std::string WithSpec(std::string_view spec) {
  return R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":)" + std::string(spec) +
         "}";
}

// What is left of a spec after decoding and encoding.
inline std::string Back(std::string_view spec) {
  auto widget = Decode<widgets::Widget>(Exact(WithSpec(spec)));
  if (!widget) return widget.error().ToString();
  std::string text = Encode(*widget);
  const std::string head = WithSpec("");
  if (!text.starts_with(head.substr(0, head.size() - 1))) return "not as expected: " + text;
  return text.substr(head.size() - 1, text.size() - head.size());
}

// The error of decoding, or "".
inline std::string ErrorOf(std::string_view json, const DecodeOptions& options = {}) {
  auto widget = Decode<widgets::Widget>(Exact(json), options);
  return widget ? "" : widget.error().message();
}

}  // namespace kgen

#endif  // KGEN_TESTS_RUNTIME_CODEC_CODEC_FIXTURE_H_
