// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes as protobuf. The first byte says what they are: the message of an object, or a list that is cut anywhere.
//
//   * What is decoded is the same with and without shared subtrees, and beside an earlier object.
//   * It can be written as protobuf again, which decodes to an equal object, and as JSON.
//   * However a list is cut, the outcome is the same: items, version, envelope, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "codec/list_splitter.h"
#include "codec/protobuf_encoder.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "tests/runtime/core/sample.h"

namespace {

using kgen::sample::Sample;

constexpr kgen::DecodeOptions kOptions = {.encoding = kgen::Encoding::kProtobuf, .max_fields = 10'000};

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void DecodeObject(std::string_view message) {
  static kgen::AnyRef before;
  const auto plain = kgen::Decode<Sample>(message, kOptions);
  kgen::ObjectDecoder decoder(Sample::kTable);
  const auto shared = decoder.Decode(message, kOptions);
  const auto beside = decoder.Decode(message, kOptions, before);
  Require(plain.has_value() == shared.has_value() && plain.has_value() == beside.has_value(), "the same outcome");
  if (!plain) return;
  Require(*shared->As<Sample>() == *plain && *beside->As<Sample>() == *plain, "the same object");
  Require(decoder.IsUnchanged(message, kOptions, *shared), "its own bytes are unchanged");
  before = *beside;
  Require(kgen::ParseJson(kgen::Encode(*plain)).has_value(), "JSON that can be read");
  const auto again = kgen::codec::EncodeProtobuf(&*plain, Sample::kTable);
  if (!again) return;  // a duration or a quantity that JSON spells otherwise
  const auto decoded = kgen::Decode<Sample>(*again, kOptions);
  Require(decoded && *decoded == *plain, "an equal object after encoding");
  Require(kgen::Encode(*decoded) == kgen::Encode(*plain), "the same JSON after encoding");
}

struct Outcome {
  std::vector<std::string> items;
  std::string envelope, version;
  bool failed = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome Split(std::string_view list, std::size_t step) {
  Outcome outcome;
  kgen::ListSplitter splitter(
      [&](std::string_view item) -> kgen::Result<void> {
        outcome.items.emplace_back(item);
        return {};
      },
      2000, kgen::Encoding::kProtobuf);
  for (std::size_t at = 0; at < list.size() && !outcome.failed; at += step) {
    const std::string part(list.substr(at, step));
    outcome.failed = !splitter.Feed(part);
  }
  if (!outcome.failed) {
    const auto metadata = splitter.Finish();
    outcome.failed = !metadata;
    if (metadata) outcome.version = metadata->resourceVersion.str();
    if (metadata) outcome.envelope = splitter.envelope();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    DecodeObject(rest);
  } else {
    const Outcome whole = Split(rest, rest.size() + 1);
    Require(Split(rest, 1 + data[0] / 2) == whole && Split(rest, 1) == whole, "the same outcome wherever it is cut");
  }
  return 0;
}
