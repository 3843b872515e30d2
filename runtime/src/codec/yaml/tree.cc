// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/yaml/tree.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace kgen::yaml {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

constexpr std::string_view kTooDeepHint = "nest less; a server refuses such depth too";

std::string QuoteKey(std::string_view key) {
  std::string out = "\"";
  for (char c : key.substr(0, 80)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      static constexpr char kHex[] = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += key.size() > 80 ? "...\"" : "\"";
  return out;
}

std::string Position(Mark mark) { return std::to_string(mark.line) + ":" + std::to_string(mark.column); }

}  // namespace

std::string_view TreeBuilder::Keep(std::string_view text) {
  if (text.empty()) return {};
  char* const copy = static_cast<char*>(storage_->memory.allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

TreeBuilder::TreeBuilder(std::string text, const Options& options)
    : storage_(std::make_unique<Stream::Storage>()), options_(options) {
  storage_->text = std::move(text);
}

Node TreeBuilder::MakeScalar(Kind kind, std::string_view text, Mark mark, bool plain, bool value) {
  Node node;
  node.kind_ = kind;
  node.flag_ = value;
  node.plain_ = plain;
  node.mark_ = mark;
  node.size_ = static_cast<std::uint32_t>(text.size());
  node.text_ = text.data();
  return node;
}

bool TreeBuilder::Key(std::string_view text, Mark mark, bool plain, bool ambiguous) {
  if (ambiguous && options_.kubectl_keys) {
    const std::optional<std::string> read = KubectlKey({text, mark, plain, ambiguous, Node()});
    if (!read) return Fail(mark, "the key " + std::string(text) + " is not text", "quote it");
    text = Keep(*read);
  }
  Frame& frame = frames_.back();
  frame.has_key = true;
  frame.merge_key = plain && text == "<<";
  frame.key = Entry{text, mark, plain, ambiguous, Node()};
  return true;
}

bool TreeBuilder::AddValue(const Node& node, std::size_t nodes, std::size_t height) {
  node_count_ += nodes;
  if (node_count_ > options_.max_nodes) {
    return Fail(node.mark(), "more than " + std::to_string(options_.max_nodes) + " values, aliases expanded");
  }
  if (frames_.size() + height > options_.max_depth + 1) {
    return Fail(node.mark(), "nested deeper than " + std::to_string(options_.max_depth) + " levels",
                std::string(kTooDeepHint));
  }
  if (frames_.empty()) {
    root_ = node;
    has_root_ = true;
    return true;
  }
  Frame& frame = frames_.back();
  frame.nodes += nodes;
  frame.height = std::max(frame.height, height + 1);
  if (frame.merge_key) {
    merges_.push_back(node);
    frame.merge_key = false;
    frame.has_key = false;
    return true;
  }
  pending_.push_back(frame.key);
  pending_.back().value = node;
  frame.has_key = false;
  return true;
}

bool TreeBuilder::Open(bool map, Mark mark, std::string_view anchor) {
  if (frames_.size() >= options_.max_depth) {
    return Fail(mark, "nested deeper than " + std::to_string(options_.max_depth) + " levels",
                std::string(kTooDeepHint));
  }
  Frame& frame = frames_.emplace_back();
  frame.map = map;
  frame.mark = mark;
  frame.start = pending_.size();
  frame.merges_start = merges_.size();
  if (!anchor.empty()) {
    frame.anchor = anchor;
    anchors_.insert_or_assign(std::string(anchor), Anchored{});
  }
  return true;
}

bool TreeBuilder::Close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Node node;
  node.mark_ = frame.mark;
  if (frame.map) {
    if (!SealMap(frame, node)) return false;
  } else {
    const std::size_t count = pending_.size() - frame.start;
    auto* items = static_cast<Node*>(Allocate(count * sizeof(Node)));
    for (std::size_t i = 0; i < count; ++i) new (items + i) Node(pending_[frame.start + i].value);
    node.kind_ = Kind::kList;
    node.size_ = static_cast<std::uint32_t>(count);
    node.items_ = items;
  }
  pending_.resize(frame.start);
  merges_.resize(frame.merges_start);
  if (!frame.anchor.empty()) {
    anchors_.insert_or_assign(frame.anchor, Anchored{node, frame.nodes, frame.height, false});
  }
  node_count_ -= frame.nodes - 1;  // the children are already counted, and AddValue counts the whole subtree
  return AddValue(node, frame.nodes, frame.height);
}

bool TreeBuilder::SealMap(Frame& frame, Node& node) {
  if (merges_.size() != frame.merges_start && !ApplyMerges(frame)) return false;
  const std::size_t count = pending_.size() - frame.start;
  auto* block = new (Allocate(sizeof(MapBlock) + count * sizeof(Entry))) MapBlock;
  for (std::size_t i = 0; i < count; ++i) new (block->entries() + i) Entry(pending_[frame.start + i]);
  node.kind_ = Kind::kMap;
  node.size_ = static_cast<std::uint32_t>(count);
  node.map_ = block;
  return IndexKeys(*block, count);
}

bool TreeBuilder::IndexKeys(MapBlock& block, std::size_t count) {
  const Entry* entries = block.entries();
  if (count <= kLinearKeys) {
    for (std::size_t i = 1; i < count; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (entries[i].key == entries[k].key) return FailDuplicate(entries[k], entries[i]);
      }
    }
    return true;
  }
  auto* order = static_cast<std::uint32_t*>(Allocate(count * sizeof(std::uint32_t)));
  std::iota(order, order + count, 0u);
  std::sort(order, order + count, [entries](std::uint32_t a, std::uint32_t b) {
    const int compared = entries[a].key.compare(entries[b].key);
    return compared != 0 ? compared < 0 : a < b;
  });
  block.order = order;
  std::size_t repeated = count;  // the first entry whose key is a repetition
  std::size_t before = count;
  for (std::size_t i = 1; i < count; ++i) {
    if (order[i] >= repeated || entries[order[i - 1]].key != entries[order[i]].key) continue;
    repeated = order[i];
    before = order[i - 1];
  }
  return repeated == count || FailDuplicate(entries[before], entries[repeated]);
}

bool TreeBuilder::FailDuplicate(const Entry& first, const Entry& second) {
  return Fail(second.mark, "duplicate key " + QuoteKey(second.key) + ", first at " + Position(first.mark),
              "remove one of the two");
}

// Keys written in the map win over merged ones, and earlier sources over later ones.
bool TreeBuilder::ApplyMerges(Frame& frame) {
  for (std::size_t i = frame.merges_start; i < merges_.size(); ++i) {
    const Node source = merges_[i];
    if (source.is_map()) {
      if (!MergeOne(source, frame.start)) return false;
    } else if (source.is_list()) {
      for (const Node& item : source.items()) {
        if (!item.is_map()) return Fail(item.mark(), "a merge key (<<) takes maps only");
        if (!MergeOne(item, frame.start)) return false;
      }
    } else {
      return Fail(source.mark(), "a merge key (<<) takes a map or a list of maps");
    }
  }
  return true;
}

bool TreeBuilder::MergeOne(const Node& source, std::size_t first) {
  // The search is linear in the keys of the map, since merge keys occur in hand-written files only. So the product of
  // both sizes is counted against the limit.
  node_count_ += source.entries().size() * ((pending_.size() - first) / 64 + 1);
  if (node_count_ > options_.max_nodes) return Fail(source.mark(), "merge keys expand to too many values");
  for (const Entry& entry : source.entries()) {
    const auto begin = pending_.begin() + static_cast<std::ptrdiff_t>(first);
    const bool known = std::any_of(begin, pending_.end(), [&](const Entry& own) { return own.key == entry.key; });
    if (!known) pending_.push_back(entry);
  }
  return true;
}

void TreeBuilder::Anchor(std::string_view name, const Node& scalar) {
  anchors_.insert_or_assign(std::string(name), Anchored{scalar, 1, 1, false});
}

bool TreeBuilder::Alias(std::string_view name, Mark mark) {
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    return Fail(mark, "alias *" + std::string(name.substr(0, 60)) + " has no anchor in this document");
  }
  const Anchored& anchored = found->second;
  if (anchored.open) {
    return Fail(mark, "alias *" + std::string(name.substr(0, 60)) + " refers to a value that contains it");
  }
  if (WantsKey()) {
    if (!anchored.node.is_scalar())
      return Fail(mark, "a key must be text, not " + std::string(Describe(anchored.node.kind())));
    return Key(anchored.node.text(), mark, false, anchored.node.kind() != Kind::kString);
  }
  aliased_count_ += anchored.nodes;
  if (aliased_count_ > options_.max_aliased) {
    return Fail(mark, "aliases expand to more than " + std::to_string(options_.max_aliased) + " values",
                "write fewer aliases of aliases; text of a few lines that expands to this is no sensible input");
  }
  Node node = anchored.node;
  node.mark_ = mark;
  return AddValue(node, anchored.nodes, anchored.height);
}

void TreeBuilder::FinishDocument() {
  ++document_count_;
  if (has_root_ && !root_.is_null()) {
    storage_->documents.push_back(root_);
    storage_->numbers.push_back(document_count_);
  }
  has_root_ = false;
  anchors_.clear();
}

void TreeBuilder::Reset() {
  frames_.clear();
  pending_.clear();
  merges_.clear();
  anchors_.clear();
  storage_->documents.clear();
  storage_->numbers.clear();
  node_count_ = 0;
  aliased_count_ = 0;
  document_count_ = 0;
  has_root_ = false;
  failed_ = false;
}

bool TreeBuilder::Fail(Mark mark, std::string message, std::string hint) {
  failed_ = true;
  error_ = SyntaxError{std::move(message), std::move(hint), mark, ByteOfMark(storage_->text, mark)};
  return false;
}

bool TreeBuilder::FailAtByte(std::size_t offset, std::string message, std::string hint) {
  failed_ = true;
  error_ = SyntaxError{std::move(message), std::move(hint), MarkOfByte(storage_->text, offset), offset};
  return false;
}

Stream TreeBuilder::Finish(bool json) {
  storage_->json = json;
  return Stream(std::move(storage_));
}

Mark MarkOfByte(std::string_view text, std::size_t offset) {
  std::size_t i = text.starts_with(kByteOrderMark) && offset >= kByteOrderMark.size() ? kByteOrderMark.size() : 0;
  Mark mark;
  for (; i < offset && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      ++mark.line;
      mark.column = 1;
    } else if ((byte & 0xC0) != 0x80) {
      ++mark.column;
    }
  }
  return mark;
}

std::size_t ByteOfMark(std::string_view text, Mark mark) {
  std::size_t i = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  for (std::uint32_t line = 1; line < mark.line && i < text.size(); ++line) {
    const std::size_t end = text.find('\n', i);
    i = end == std::string_view::npos ? text.size() : end + 1;
  }
  for (std::uint32_t column = 1; column < mark.column && i < text.size(); ++column) {
    ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) ++i;
  }
  return i;
}

}  // namespace kgen::yaml
