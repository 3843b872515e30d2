// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes into the decoder.
//
//   * As a JSON text: what simdjson and nlohmann_json accept we accept, and the other way round. Exceptions, all on
//   purpose:
//     we refuse a byte order mark and nesting over 256; we accept a lone surrogate escape (as U+FFFD) and numbers that
//     no double can hold (as text).
//   * As an object: decode -> encode -> decode is stable and gives an equal value with an equal hash; what goes out is
//     what came in, each number as it was spelled; sharing changes nothing; whatever is refused leaves no block behind.
//   * As opaque JSON: equality and hash go by the value, and so agree with the canonical text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/unknown_fields.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/exactly.h"
#include "tests/runtime/codec/widget.h"

namespace {

using kgen::LiveBlocks;
using kgen::widgets::Widget;
using kgen::widgets::WidgetList;

void Require(bool condition, const char* what, std::string_view detail = {}) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// Why nlohmann_json refuses a text.
struct Verdict : nlohmann::json_sax<nlohmann::json> {
  int id = 0;
  std::string message;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    id = error.id;
    message = error.what();
    return false;
  }
};

// Returns whether the text is JSON in our eyes.
bool CheckAgainstOracles(std::string_view text) {
  constexpr int kNumberOverflow = 406;
  const auto ours = kgen::ParseJson(text);
  const bool too_deep = !ours && ours.error().message().find("nested too deeply") != std::string::npos;
  const bool has_mark = text.starts_with("\xEF\xBB\xBF");

  Verdict verdict;
  // nlohmann_json treats a NUL byte between tokens as the end of the text; in JSON it is never valid.
  const bool nlohmann = nlohmann::json::sax_parse(text, &verdict) && text.find('\0') == text.npos;
  const bool lone_surrogate = verdict.message.find("surrogate") != std::string::npos;
  if (nlohmann && !too_deep && !has_mark) Require(ours.has_value(), "nlohmann accepts, we do not:", text);
  if (ours && !nlohmann) {
    Require(verdict.id == kNumberOverflow || lone_surrogate, "we accept, nlohmann does not:", verdict.message);
  }

  static simdjson::dom::parser parser;
  const simdjson::error_code error = parser.parse(text.data(), text.size()).error();
  if (error == simdjson::SUCCESS && !too_deep && !has_mark) {
    Require(ours.has_value(), "simdjson accepts, we do not:", text);
  }
  if (ours && error != simdjson::SUCCESS) {
    const bool excused = error == simdjson::NUMBER_ERROR || error == simdjson::DEPTH_ERROR ||
                         (error == simdjson::STRING_ERROR && (lone_surrogate || verdict.id == kNumberOverflow));
    Require(excused, "we accept, simdjson does not:", simdjson::error_message(error));
  }
  return ours.has_value();
}

template <typename T>
void CheckRoundTrip(std::string_view text, bool is_json) {
  const std::int64_t before = LiveBlocks();
  {
    std::vector<kgen::FieldMismatch> mismatches;
    auto value = kgen::Decode<T>(text, {.mismatches = &mismatches});
    if (value) {
      Require(is_json, "decoded what is no JSON");
      for (const kgen::FieldMismatch& mismatch : mismatches) {
        Require(!mismatch.path.empty() && mismatch.offset < text.size(), "a mismatch without a place");
      }
      const std::string once = kgen::Encode(*value);
      Require(kgen::ParseJson(once).has_value(), "encoded what is no JSON:", once);
      auto again = kgen::Decode<T>(once);
      Require(again.has_value(), "refused what was encoded:", once);
      Require(kgen::Encode(*again) == once, "encoding is not stable:", once);
      Require(kgen::CanonicalJson(kgen::CanonicalJson(once)) == kgen::CanonicalJson(once),
              "canonical text is not stable");
      const T copy = *value;
      Require(kgen::Encode(copy) == once, "a copy differs");
      if constexpr (requires { copy == *value; }) {
        Require(copy == *value && kgen::Hash(copy) == kgen::Hash(*value), "a copy is not equal");
        Require(*again == *value && kgen::Hash(*again) == kgen::Hash(*value), "what was encoded is not equal:", once);
        Require(kgen::SemanticEqual(*again, *value), "what was encoded is not semantically equal:", once);
        // A number in another spelling may be one that fits, or none: a mismatch has no value to compare.
        auto canonical = kgen::Decode<T>(kgen::CanonicalJson(once), {.mismatches = &mismatches});
        if (canonical && mismatches.empty()) {
          Require(*canonical == *value && kgen::Hash(*canonical) == kgen::Hash(*value),
                  "another spelling is not equal:", once);
        }
      }
    }
    kgen::DecodeOptions strict{.strict = true, .drop_managed_fields = true};
    if (auto checked = kgen::Decode<T>(text, strict)) Require(value.has_value(), "strict accepts more than lenient");
  }
  Require(LiveBlocks() == before, "blocks are left");
}

// Everything that is decoded is encoded again.
void CheckNothingIsLost(std::string_view text) {
  if (const auto object = kgen::Decode<kgen::Unstructured>(text)) {
    Require(kgen::Exactly(kgen::Encode(*object)) == kgen::Exactly(text), "lost of an Unstructured:", text);
  }
  // A Widget always writes its identity, so skip texts that may have one.
  for (const char* said : {"apiVersion", "kind", "\\"}) {
    if (text.find(said) != text.npos) return;
  }
  if (const auto widget = kgen::Decode<Widget>(text)) {
    const std::size_t inside = text.find('{') + 1;
    const bool empty = text[text.find_first_not_of(" \t\r\n", inside)] == '}';
    std::string whole = R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget")";
    whole.append(empty ? "" : ",").append(text.substr(inside));
    Require(kgen::Exactly(kgen::Encode(*widget)) == kgen::Exactly(whole), "lost of a Widget:", text);
  }
}

// Opaque JSON beside the same value in another spelling.
void CheckEquality(std::string_view text) {
  const auto with = [](std::string_view json) {
    kgen::UnknownFields fields;
    fields.Append("a", kgen::Json(json));
    return Widget{.unknown_fields = fields};
  };
  const std::string canonical = kgen::CanonicalJson(text);
  const Widget a = with(text);
  const Widget b = with(canonical);
  Require(a == b && b == a && kgen::Hash(a) == kgen::Hash(b), "not equal to its canonical text:", text);
  // Half of it and the rest, as two values: equal exactly if the canonical texts are.
  const std::string_view first = text.substr(0, text.size() / 2);
  const std::string_view second = text.substr(text.size() / 2);
  if (!kgen::ParseJson(first) || !kgen::ParseJson(second)) return;
  const bool same = kgen::CanonicalJson(first) == kgen::CanonicalJson(second);
  Require((kgen::Json(first) == kgen::Json(second)) == same, "equality and canonical text disagree:", text);
  Require(!same || kgen::Hash(with(first)) == kgen::Hash(with(second)), "equal values of different hashes:", text);
}

// One decoder over all inputs, with some objects alive, so that inputs share with each other.
class SharedDecoder {
 public:
  void Check(std::string_view text) {
    auto plain = kgen::Decode<Widget>(text);
    for (int i = 0; i < 2; ++i) {
      // First beside any object, then beside one of the very same bytes.
      const std::size_t before = i == 0 ? next_ * 7 : next_ + kAlive - 1;
      auto shared = decoder_.Decode(text, {}, alive_[before % kAlive]);
      Require(shared.has_value() == plain.has_value(), "sharing changes what is accepted");
      if (!plain) continue;
      Require(*shared->As<Widget>() == *plain, "sharing changes the value");
      Require(kgen::Encode(*shared) == kgen::Encode(*plain), "sharing changes the text");
      alive_[next_++ % kAlive] = std::move(*shared);
    }
    if (++runs_ % 64 != 0) return;
    for (kgen::AnyRef& object : alive_) object = {};
    decoder_.Sweep();
    plain = kgen::Fail(kgen::Code::kCancelled, "");
    Require(decoder_.stats().strings == 0 && decoder_.stats().subtrees == 0, "the sweep left something");
    Require(LiveBlocks() == before_, "blocks are left after the sweep");
  }

 private:
  static constexpr std::size_t kAlive = 16;
  std::int64_t before_ = LiveBlocks();
  kgen::ObjectDecoder decoder_{Widget::kTable};
  kgen::AnyRef alive_[kAlive];
  std::size_t next_ = 0;
  std::size_t runs_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_json = CheckAgainstOracles(text);
  CheckRoundTrip<Widget>(text, is_json);
  CheckRoundTrip<WidgetList>(text, is_json);
  CheckRoundTrip<kgen::Unstructured>(text, is_json);
  CheckNothingIsLost(text);
  CheckEquality(text);
  (void)kgen::PeekIdentity(text);
  static auto* shared = new SharedDecoder;
  shared->Check(text);
  return 0;
}
