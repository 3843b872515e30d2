// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes into the list splitter, cut anywhere. The first 16 bytes say where the rest is cut.
//
//   * However it is cut, the outcome is the same: items, envelope, version, or an error.
//   * A valid list gives its items with exactly the bytes of the text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "codec/list_splitter.h"
#include "kgen/codec/decode.h"

namespace {

void Require(bool condition, const char* what, std::string_view detail = {}) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

struct Outcome {
  std::vector<std::string> items;
  std::string envelope;
  std::string version;
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

constexpr std::size_t kLimit = 2000;

// `steps` gives the sizes of the parts, repeatedly; each part is in a block of its exact size.
Outcome Split(std::string_view text, std::string_view steps) {
  Outcome outcome;
  kgen::ListSplitter splitter(
      [&](std::string_view item) -> kgen::Result<void> {
        outcome.items.emplace_back(item);
        return {};
      },
      kLimit);
  std::size_t step = 0;
  while (!text.empty()) {
    std::size_t size = steps.empty() ? text.size() : static_cast<unsigned char>(steps[step++ % steps.size()]) % 64;
    if (size == 0) size = 1;
    if (size > text.size()) size = text.size();
    const std::unique_ptr<char[]> part(new char[size]);
    std::memcpy(part.get(), text.data(), size);
    text.remove_prefix(size);
    if (auto fed = splitter.Feed({part.get(), size}); !fed) {
      outcome.error = fed.error().message();
      return outcome;
    }
  }
  if (auto metadata = splitter.Finish()) {
    outcome.version = metadata->resourceVersion.str();
    outcome.envelope = splitter.envelope();
  } else {
    outcome.error = metadata.error().message();
  }
  return outcome;
}

// nlohmann takes the last of duplicate members where the splitter passes on every array, so only without duplicates.
void CheckAgainstOracle(std::string_view text, const Outcome& outcome) {
  std::size_t arrays = 0;
  const auto list = nlohmann::json::parse(
      text,
      [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
        if (depth == 1 && event == nlohmann::json::parse_event_t::key && parsed == "items") ++arrays;
        return true;
      },
      false);
  if (list.is_discarded() || !list.is_object() || text.starts_with("\xEF\xBB\xBF") || text.contains('\0')) return;
  const bool no_list = list.contains("items") && !list["items"].is_array() && !list["items"].is_null();
  if (!outcome.error.empty()) {  // its depth, metadata that are none, or items that are no list
    Require(no_list || arrays > 1 || list.contains("metadata") || !kgen::ParseJson(text) || text.size() > kLimit,
            "a list is refused:", outcome.error);
    return;
  }
  Require(kgen::ParseJson(outcome.envelope).has_value(), "the envelope is no JSON:", outcome.envelope);
  if (arrays > 1) return;
  Require(!no_list, "an answer without a list of items is taken for a list");
  const std::size_t expected = list.contains("items") && list["items"].is_array() ? list["items"].size() : 0;
  Require(outcome.items.size() == expected, "another number of items");
  for (std::size_t i = 0; i < expected; ++i) {
    if (outcome.items[i].size() > kLimit) continue;
    Require(nlohmann::json::parse(outcome.items[i], nullptr, false) == list["items"][i],
            "another item:", outcome.items[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSteps = 16;
  if (size < kSteps) return 0;
  const char* bytes = reinterpret_cast<const char*>(data);
  const std::string_view steps(bytes, kSteps);
  const std::string_view text(bytes + kSteps, size - kSteps);
  const Outcome whole = Split(text, {});
  const Outcome parts = Split(text, steps);
  if (whole.error.empty() || parts.error.empty() || whole.items != parts.items) {
    Require(whole == parts, "cuts change the outcome:", whole.error.empty() ? parts.error : whole.error);
  }
  CheckAgainstOracle(text, whole);
  return 0;
}
