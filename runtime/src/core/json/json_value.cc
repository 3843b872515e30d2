// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/json/json_value.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory_resource>
#include <string>
#include <vector>

#include "core/json/lexer.h"
#include "core/json/number.h"
#include "core/json/utf8.h"

namespace kgen::detail {
namespace {

constexpr std::size_t kMaxDepth = 1024;
constexpr std::uint32_t kNone = 0xFFFFFFFF;

using Memory = std::pmr::monotonic_buffer_resource;

// One value, or the name of a member. `text` is canonical (a string without quotes and escapes, a number in its
// canonical spelling), so two scalars are equal if their kinds and texts are.
struct Node {
  std::string_view text;
  std::uint32_t next = kNone;  // the node after this value; of an open container, the container around it
  char kind = 0;               // '{', '[', '"', '0' for a number, 't', 'f' or 'n'
};

// A JSON text as a flat tree, in the order of the text. Views point into the text or into `memory`.
class Tree {
 public:
  explicit Tree(Memory& memory) : memory_(memory), nodes_(&memory) {}

  // Returns false if the text is not JSON.
  bool Read(std::string_view text) {
    p_ = text.data();
    end_ = p_ + text.size();
    for (;;) {
      if (!Value()) return false;
      for (;;) {  // after a value, or after the opening bracket of an empty container
        SkipSpace();
        if (open_ == kNone) return p_ == end_;
        if (p_ == end_) return false;
        const bool object = nodes_[open_].kind == '{';
        const bool first = open_ + 1 == nodes_.size();
        if (*p_ == (object ? '}' : ']')) {
          ++p_;
          Close();
          continue;
        }
        if (!first && *p_++ != ',') return false;
        if (object && !Name()) return false;
        break;
      }
    }
  }

  static bool Same(const Tree& a, std::uint32_t i, const Tree& b, std::uint32_t j) {
    const Node& x = a.nodes_[i];
    const Node& y = b.nodes_[j];
    if (x.kind != y.kind) return false;
    if (x.kind == '{') return SameMembers(a.Members(i), a, b.Members(j), b);
    if (x.kind != '[') return x.text == y.text;
    for (++i, ++j; i != x.next && j != y.next; i = a.nodes_[i].next, j = b.nodes_[j].next) {
      if (!Same(a, i, b, j)) return false;
    }
    return i == x.next && j == y.next;
  }

  std::uint64_t Hash(std::uint32_t i) const {
    const Node& node = nodes_[i];
    auto hash = static_cast<std::uint64_t>(node.kind);
    if (node.kind == '{') {
      for (const std::uint32_t name : Members(i)) hash = Mix(Mix(hash, HashOf(nodes_[name].text)), Hash(name + 1));
    } else if (node.kind == '[') {
      for (std::uint32_t j = i + 1; j != node.next; j = nodes_[j].next) hash = Mix(hash, Hash(j));
    } else {
      hash = Mix(hash, HashOf(node.text));
    }
    return Mix(hash, 1);
  }

 private:
  using Names = std::pmr::vector<std::uint32_t>;

  static std::uint64_t HashOf(std::string_view text) noexcept { return std::hash<std::string_view>()(text); }
  static std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) noexcept {
    hash = (hash ^ value) * 0x9FB21C651E98DF25u;
    return hash ^ (hash >> 32);
  }

  void SkipSpace() noexcept {
    while (p_ != end_ && IsJsonSpace(*p_)) ++p_;
  }

  void Add(char kind, std::string_view text) {
    nodes_.push_back({text, static_cast<std::uint32_t>(nodes_.size() + 1), kind});
  }

  void Close() noexcept {
    Node& node = nodes_[open_];
    open_ = node.next;
    node.next = static_cast<std::uint32_t>(nodes_.size());
    --depth_;
  }

  // Reads a scalar, or the opening bracket of a container.
  bool Value() {
    SkipSpace();
    if (p_ == end_) return false;
    const char c = *p_;
    if (c == '"') return String();
    if (c != '{' && c != '[') return Word();
    if (++depth_ > kMaxDepth) return false;
    Add(c, {});
    nodes_.back().next = open_;
    open_ = static_cast<std::uint32_t>(nodes_.size() - 1);
    ++p_;
    return true;
  }

  // Reads the name of a member and its colon.
  bool Name() {
    SkipSpace();
    if (p_ == end_ || *p_ != '"' || !String()) return false;
    SkipSpace();
    return p_ != end_ && *p_++ == ':';
  }

  bool String() {
    const char* const start = ++p_;
    bool escaped = false;
    for (; p_ != end_ && *p_ != '"'; ++p_) {
      if (static_cast<unsigned char>(*p_) < 0x20) return false;
      if (*p_ != '\\') continue;
      escaped = true;
      if (++p_ == end_) return false;
    }
    if (p_ == end_) return false;
    std::string_view text(start, static_cast<std::size_t>(p_ - start));
    ++p_;
    if (escaped && !Unescaped(text)) return false;
    Add('"', text);
    return true;
  }

  // The result is never longer than the text.
  bool Unescaped(std::string_view& text) {
    char* const first = static_cast<char*>(memory_.allocate(text.size(), 1));
    char* to = first;
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p != end) {
      if (*p != '\\') {
        *to++ = *p++;
        continue;
      }
      const EscapeToken escape = ScanEscape(p, end);
      if (escape.problem != EscapeToken::Problem::kNone) return false;
      to = WriteUtf8(escape.code_point, to);
    }
    text = {first, static_cast<std::size_t>(to - first)};
    return true;
  }

  // Reads a number, true, false or null.
  bool Word() {
    const char* const start = p_;
    while (p_ != end_ && !IsJsonSpace(*p_) && *p_ != ',' && *p_ != ']' && *p_ != '}') ++p_;
    const std::string_view text(start, static_cast<std::size_t>(p_ - start));
    if (text == "true" || text == "false" || text == "null") {
      Add(text[0], {});
      return true;
    }
    if (!IsJsonNumber(text)) return false;
    constexpr std::size_t kDigits = 20;  // CanonicalNumber does not change such integers
    if (text.size() <= kDigits && text.find_first_of(".eE") == text.npos && text != "-0") {
      Add('0', text);
      return true;
    }
    const std::string canonical = CanonicalNumber(text);
    char* const kept = static_cast<char*>(memory_.allocate(canonical.size(), 1));
    canonical.copy(kept, canonical.size());
    Add('0', {kept, canonical.size()});
    return true;
  }

  // Returns the nodes of the names of an object's members, sorted by name; of equal names the last one.
  Names Members(std::uint32_t object) const {
    Names names(&memory_);
    bool sorted = true;
    for (std::uint32_t i = object + 1; i != nodes_[object].next; i = nodes_[i + 1].next) {
      sorted = sorted && (names.empty() || nodes_[names.back()].text < nodes_[i].text);
      names.push_back(i);
    }
    if (sorted) return names;
    std::sort(names.begin(), names.end(), [this](std::uint32_t a, std::uint32_t b) {
      const int order = nodes_[a].text.compare(nodes_[b].text);
      return order != 0 ? order < 0 : a > b;
    });
    const auto same = [this](std::uint32_t a, std::uint32_t b) { return nodes_[a].text == nodes_[b].text; };
    names.erase(std::unique(names.begin(), names.end(), same), names.end());
    return names;
  }

  static bool SameMembers(const Names& a, const Tree& x, const Names& b, const Tree& y) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](std::uint32_t i, std::uint32_t j) {
      return x.nodes_[i].text == y.nodes_[j].text && Same(x, i + 1, y, j + 1);
    });
  }

  Memory& memory_;
  std::pmr::vector<Node> nodes_;
  std::uint32_t open_ = kNone;  // the innermost container that is not complete
  std::size_t depth_ = 0;
  const char* p_ = nullptr;
  const char* end_ = nullptr;
};

// Enough for values of a few dozen members.
struct Stack {
  alignas(std::max_align_t) char bytes[4096];
};

}  // namespace

bool SameJson(std::string_view a, std::string_view b) noexcept {
  if (a.size() == b.size() && (a.data() == b.data() || a == b)) return true;  // shared text is equal without being read
  if (a.empty() || b.empty()) return false;
  try {
    Stack stack;
    Memory memory(stack.bytes, sizeof stack.bytes);
    Tree first(memory);
    Tree second(memory);
    return first.Read(a) && second.Read(b) && Tree::Same(first, 0, second, 0);
  } catch (...) {
    return false;
  }
}

std::uint64_t HashJson(std::string_view text) noexcept {
  try {
    Stack stack;
    Memory memory(stack.bytes, sizeof stack.bytes);
    Tree tree(memory);
    if (tree.Read(text)) return tree.Hash(0);
  } catch (...) {  // out of memory: compare as text
  }
  return std::hash<std::string_view>()(text);
}

}  // namespace kgen::detail
