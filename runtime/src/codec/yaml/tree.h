// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: TreeBuilder, which both readers (JSON, libyaml events) use to build the tree of kgen/codec/yaml.h.
//
// The reader adds values in document order: Open() and Close() around the children of a list or map, Key() before each
// value of a map, and Scalar(). The builder keeps the children of open containers on one stack and moves them into
// adjacent memory when the container is closed. A finished tree therefore consists of a few blocks and never changes.
#ifndef KGEN_SRC_CODEC_YAML_TREE_H_
#define KGEN_SRC_CODEC_YAML_TREE_H_

#include <cstring>
#include <expected>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/yaml.h"

namespace kgen::yaml {

// The header before the entries of a map. A map of more than kLinearKeys keys also has the indexes of its
// entries in the order of the keys, for a binary search. A hash table would need a secret seed, because the author of
// the text chooses the keys.
struct MapBlock {
  const std::uint32_t* order = nullptr;

  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }
};
inline constexpr std::size_t kLinearKeys = 16;

struct Stream::Storage {
  std::string text;
  std::pmr::monotonic_buffer_resource memory{4096};  // of the nodes, and of text that is not in `text`
  std::vector<Node> documents;
  std::vector<std::uint32_t> numbers;
  bool json = false;
};

// Does not throw: functions that can fail return false and store the error here.
class TreeBuilder {
 public:
  TreeBuilder(std::string text, const Options& options);

  std::string_view text() const { return storage_->text; }
  const Options& options() const { return options_; }
  // Memory, and a copy of text, that live as long as the tree.
  void* Allocate(std::size_t bytes) { return storage_->memory.allocate(bytes); }
  std::string_view Keep(std::string_view text);

  // `text` must be in the source text, or have been kept.
  static Node MakeScalar(Kind kind, std::string_view text, Mark mark, bool plain, bool value = false);

  [[nodiscard]] bool Scalar(const Node& node) { return AddValue(node, 1, 1); }
  // Adds the key of a map. Only while WantsKey().
  [[nodiscard]] bool Key(std::string_view text, Mark mark, bool plain, bool ambiguous);
  [[nodiscard]] bool WantsKey() const { return !frames_.empty() && frames_.back().map && !frames_.back().has_key; }
  [[nodiscard]] bool Open(bool map, Mark mark, std::string_view anchor = {});
  [[nodiscard]] bool Close();
  [[nodiscard]] bool Alias(std::string_view name, Mark mark);
  void Anchor(std::string_view name, const Node& scalar);

  // Counts an empty document (null), but drops it. Anchors end with their document.
  void FinishDocument();
  void Reset();  // forgets all documents; for a second reader over the same text

  bool failed() const { return failed_; }
  const SyntaxError& error() const { return error_; }
  // These note the error and return false.
  bool Fail(Mark mark, std::string message, std::string hint = {});
  bool FailAtByte(std::size_t offset, std::string message, std::string hint = {});

  Stream Finish(bool json);

 private:
  struct Frame {
    bool map = false;
    bool has_key = false;
    bool merge_key = false;  // the key is `<<`
    Mark mark;
    std::size_t start = 0;         // first child in pending_
    std::size_t merges_start = 0;  // first merge source in merges_
    std::size_t nodes = 1;         // in this subtree, aliases expanded
    std::size_t height = 1;
    Entry key;
    std::string anchor;
  };
  struct Anchored {
    Node node;
    std::size_t nodes = 0, height = 0;
    bool open = true;  // its container is not closed yet, so an alias here would be a cycle
  };

  bool AddValue(const Node& node, std::size_t nodes, std::size_t height);
  bool ApplyMerges(Frame& frame);
  bool MergeOne(const Node& source, std::size_t first);
  bool SealMap(Frame& frame, Node& node);
  bool IndexKeys(MapBlock& block, std::size_t count);
  bool FailDuplicate(const Entry& first, const Entry& second);

  std::unique_ptr<Stream::Storage> storage_;
  Options options_;
  std::vector<Frame> frames_;
  std::vector<Entry> pending_;
  std::vector<Node> merges_;
  std::map<std::string, Anchored, std::less<>> anchors_;
  std::size_t node_count_ = 0;
  std::size_t aliased_count_ = 0;
  std::uint32_t document_count_ = 0;
  Node root_;
  bool has_root_ = false;
  bool failed_ = false;
  SyntaxError error_;
};

// The readers. They return false on failure; builder.error() is the reason.
bool ReadJson(TreeBuilder& builder, bool& is_yaml_stream);
bool ReadYaml(TreeBuilder& builder);

// Returns the kind that a plain scalar has for kubectl, and sets `value` if it is a boolean. `.inf` and `.nan` give
// kFloat.
Kind ResolvePlain(std::string_view text, bool& value);
bool LooksLikeTimestamp(std::string_view text);
bool IsInfinityOrNan(std::string_view text);

Mark MarkOfByte(std::string_view text, std::size_t offset);
std::size_t ByteOfMark(std::string_view text, Mark mark);

}  // namespace kgen::yaml

#endif  // KGEN_SRC_CODEC_YAML_TREE_H_
