// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/codec/yaml.h"

#include <algorithm>
#include <utility>

#include "codec/yaml/tree.h"
#include "core/json/utf8.h"

namespace kgen::yaml {
namespace {

bool LooksLikeUtf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  return text.size() >= 4 && ((text[0] == '\0' && text[1] != '\0' && text[2] == '\0') ||
                              (text[0] != '\0' && text[1] == '\0' && text[2] != '\0' && text[3] == '\0'));
}

// True if the text begins like a JSON object or list. YAML flow collections may begin like that as well, so Parse() may
// make a second attempt.
bool LooksLikeJson(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return false;
  if (text[first] == '[') return true;
  if (text[first] != '{') return false;
  const std::size_t second = text.find_first_not_of(kSpace, first + 1);
  return second == std::string_view::npos || text[second] == '"' || text[second] == '}';
}

}  // namespace

std::string_view Describe(Kind kind) noexcept {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt:
      return "an integer";
    case Kind::kFloat:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "a value";
}

std::span<const Entry> Node::entries() const noexcept {
  return is_map() ? std::span<const Entry>(map_->entries(), size_) : std::span<const Entry>();
}

const Entry* Node::FindEntry(std::string_view key) const noexcept {
  if (!is_map()) return nullptr;
  const Entry* entries = map_->entries();
  if (map_->order == nullptr) {
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (entries[i].key == key) return entries + i;
    }
    return nullptr;
  }
  const std::uint32_t* const end = map_->order + size_;
  const std::uint32_t* const found =
      std::lower_bound(map_->order, end, key,
                       [entries](std::uint32_t entry, std::string_view text) { return entries[entry].key < text; });
  return found != end && entries[*found].key == key ? entries + *found : nullptr;
}

const Node* Node::Find(std::string_view key) const noexcept {
  const Entry* entry = FindEntry(key);
  return entry == nullptr ? nullptr : &entry->value;
}

Stream::Stream(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

std::span<const Node> Stream::documents() const noexcept { return storage_->documents; }
std::uint32_t Stream::number(std::size_t document) const noexcept { return storage_->numbers[document]; }
bool Stream::json() const noexcept { return storage_->json; }

std::expected<Stream, SyntaxError> Parse(std::string text, const Options& options) {
  TreeBuilder builder(std::move(text), options);
  const std::string_view view = builder.text();
  if (view.size() > options.max_bytes || view.size() > 0xFFFFFFFF) {
    builder.Fail(Mark{}, "the text has " + std::to_string(view.size()) + " bytes, more than the limit of " +
                             std::to_string(options.max_bytes));
    return std::unexpected(builder.error());
  }
  if (LooksLikeUtf16(view)) {
    builder.Fail(Mark{}, "the text is UTF-16 or UTF-32, not UTF-8", "save the file as UTF-8");
    return std::unexpected(builder.error());
  }
  const char* const end = view.data() + view.size();
  if (const char* const invalid = detail::FindInvalidUtf8(view.data(), end); invalid != end) {
    const auto bad = static_cast<std::size_t>(invalid - view.data());
    builder.FailAtByte(bad, "invalid UTF-8 at byte " + std::to_string(bad), "save the file as UTF-8");
    return std::unexpected(builder.error());
  }
  if (LooksLikeJson(view)) {
    bool is_yaml_stream = false;
    if (ReadJson(builder, is_yaml_stream)) return builder.Finish(true);
    const SyntaxError json_error = builder.error();
    builder.Reset();
    if (ReadYaml(builder)) return builder.Finish(false);
    return std::unexpected(is_yaml_stream ? builder.error() : json_error);
  }
  if (!ReadYaml(builder)) return std::unexpected(builder.error());
  return builder.Finish(false);
}

}  // namespace kgen::yaml
