// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/json_patch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "codec/reader.h"
#include "core/json/json_value.h"
#include "core/json/quote.h"

namespace kgen::codec {
namespace {

// A value of a PatchTree. `text` is how it is spelled, and for a member `name` is its name without quotes and escapes.
struct PatchNode {
  std::string_view name{};
  std::string_view text{};
  std::uint32_t end = 0;       // the node after this value and all in it
  std::uint32_t children = 0;  // the position of the first child among the children of the tree
  std::uint32_t count = 0;     // children
  bool is_object() const noexcept { return text[0] == '{'; }
  bool is_list() const noexcept { return text[0] == '['; }
  bool is_container() const noexcept { return is_object() || is_list(); }
};

// A JSON text as a flat tree in the order of the text. Refers to the text.
class PatchTree {
 public:
  Result<void> Read(std::string_view json, std::string_view which) {
    std::string scratch;
    Reader reader(json, kDepthCeiling, std::numeric_limits<std::size_t>::max(), scratch);
    nodes_.reserve(json.size() / 24 + 1);  // what objects of Kubernetes have
    if (Value(reader, {}) && reader.AtEnd()) return {};
    return Fail(Code::kDecode, std::string(which) + " is not JSON: " + reader.error() + ", at byte " +
                                   std::to_string(reader.error_offset()));
  }

  const PatchNode& operator[](std::uint32_t i) const noexcept { return nodes_[i]; }
  // Returns the members of an object by name, each name once; or the elements of a list.
  std::span<const std::uint32_t> ChildrenOf(std::uint32_t i) const noexcept {
    return std::span(children_).subspan(nodes_[i].children, nodes_[i].count);
  }

 private:
  // Recursion is bounded by the reader's limit of the depth.
  bool Value(Reader& reader, std::string_view name) {
    const auto self = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.name = name});
    const char first = reader.Peek();
    const char* const start = reader.position();
    if (first == '{' || first == '[') {
      if (!reader.Enter() || !Children(reader, first == '{')) return false;
      reader.Leave();
      nodes_[self].text = {start, static_cast<std::size_t>(reader.position() - start)};
      KeepChildren(self);
    } else if (!reader.SkipValue(nodes_[self].text)) {
      return false;
    }
    nodes_[self].end = static_cast<std::uint32_t>(nodes_.size());
    return true;
  }

  // Reads up to the closing bracket, which is read too.
  bool Children(Reader& reader, bool object) {
    const char close = object ? '}' : ']';
    if (reader.Take(close)) return true;
    do {
      std::string_view name;
      if (object && !Name(reader, name)) return false;
      if (!Value(reader, name)) return false;
    } while (reader.Take(','));
    return reader.Take(close) || reader.Fail(object ? "expected ',' or '}'" : "expected ',' or ']'", reader.position());
  }

  bool Name(Reader& reader, std::string_view& name) {
    if (reader.Peek() != '"') return reader.Fail("expected a member name in quotes", reader.position());
    const char* const start = reader.position();
    if (!reader.Key(name)) return false;
    const bool in_text = name.data() > start && name.data() <= reader.position();
    if (!in_text) name = unescaped_.emplace_back(name);
    return true;
  }

  void KeepChildren(std::uint32_t self) {
    const std::size_t first = children_.size();
    bool sorted = true;
    for (auto i = self + 1; i < nodes_.size(); i = nodes_[i].end) {
      if (children_.size() > first) sorted = sorted && nodes_[children_.back()].name < nodes_[i].name;
      children_.push_back(i);
    }
    if (nodes_[self].is_object() && !sorted) SortMembers(children_.begin() + static_cast<std::ptrdiff_t>(first));
    nodes_[self].children = static_cast<std::uint32_t>(first);
    nodes_[self].count = static_cast<std::uint32_t>(children_.size() - first);
  }

  // The last one of several members of one name stays.
  void SortMembers(std::vector<std::uint32_t>::iterator first) {
    std::sort(first, children_.end(), [this](std::uint32_t a, std::uint32_t b) {
      const int order = nodes_[a].name.compare(nodes_[b].name);
      return order != 0 ? order < 0 : a > b;
    });
    const auto same = [this](std::uint32_t a, std::uint32_t b) { return nodes_[a].name == nodes_[b].name; };
    children_.erase(std::unique(first, children_.end(), same), children_.end());
  }

  std::vector<PatchNode> nodes_;
  std::vector<std::uint32_t> children_;  // of one value after the other
  std::deque<std::string> unescaped_;    // names that are written with escapes
};

// Writes the patch. `path_` is the JSON pointer of the value that is compared.
class PatchWriter {
 public:
  PatchWriter(const PatchTree& before, const PatchTree& after) noexcept : was_(before), is_(after) {}

  void Value(std::uint32_t was, std::uint32_t is) {
    const PatchNode& a = was_[was];
    const PatchNode& b = is_[is];
    if (a.text == b.text) return;
    if (a.is_object() && b.is_object()) {
      Members(was, is);
    } else if (a.is_list() && b.is_list()) {
      Elements(was_.ChildrenOf(was), is_.ChildrenOf(is));
    } else if (!Same(was, is)) {
      Write("replace", &b);
    }
  }

  // Returns "" if there is no operation.
  std::string Take() {
    if (!out_.empty()) out_ += ']';
    return std::move(out_);
  }

 private:
  bool Same(std::uint32_t was, std::uint32_t is) const {
    const PatchNode& a = was_[was];
    const PatchNode& b = is_[is];
    if (a.text == b.text) return true;
    if (!a.is_container() && !b.is_container()) return detail::SameJson(a.text, b.text);
    if (a.text[0] != b.text[0]) return false;
    const auto before = was_.ChildrenOf(was);
    const auto after = is_.ChildrenOf(is);
    return std::ranges::equal(
        before, after, [this](std::uint32_t i, std::uint32_t j) { return was_[i].name == is_[j].name && Same(i, j); });
  }

  // Both lists of members are in the order of their names.
  void Members(std::uint32_t was, std::uint32_t is) {
    const auto before = was_.ChildrenOf(was);
    const auto after = is_.ChildrenOf(is);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() || j < after.size()) {
      const int order = i == before.size()  ? 1
                        : j == after.size() ? -1
                                            : was_[before[i]].name.compare(is_[after[j]].name);
      const std::size_t size = path_.size();
      Enter(order <= 0 ? was_[before[i]].name : is_[after[j]].name);
      if (order < 0) {
        Write("remove", nullptr);
      } else if (order > 0) {
        Write("add", &is_[after[j]]);
      } else {
        Value(before[i], after[j]);
      }
      path_.resize(size);
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
  }

  void Elements(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after) {
    const std::size_t most = std::min(before.size(), after.size());
    std::size_t front = 0;
    while (front < most && Same(before[front], after[front])) ++front;
    std::size_t back = 0;
    while (back < most - front && Same(before[before.size() - 1 - back], after[after.size() - 1 - back])) ++back;
    for (std::size_t i = front; i < most - back; ++i) {
      At(i, [&] { Element(before[i], after[i]); });
    }
    for (std::size_t i = most - back; i < after.size() - back; ++i) {
      At(i, [&] { Write("add", &is_[after[i]]); });
    }
    for (std::size_t i = before.size() - back; i > most - back; --i) {  // from the end, so that no position moves
      At(i - 1, [&] { Write("remove", nullptr); });
    }
  }

  // Writes the difference of two elements in the same place. Elements with different names are different things, which
  // share a few values by chance, so the whole is often smaller.
  void Element(std::uint32_t was, std::uint32_t is) {
    const std::size_t size = out_.size();
    Value(was, is);
    if (NameOf(was_, was) == NameOf(is_, is)) return;
    const std::string parts = out_.substr(size);
    out_.resize(size);
    Write("replace", &is_[is]);
    if (out_.size() - size < parts.size()) return;
    out_.resize(size);
    out_ += parts;
  }

  static std::string_view NameOf(const PatchTree& tree, std::uint32_t element) noexcept {
    if (!tree[element].is_object()) return {};
    const auto members = tree.ChildrenOf(element);
    const auto found =
        std::ranges::find(members, std::string_view("name"), [&](std::uint32_t i) { return tree[i].name; });
    return found == members.end() ? std::string_view() : tree[*found].text;
  }

  template <typename F>
  void At(std::size_t index, F write) {
    const std::size_t size = path_.size();
    path_.append("/").append(std::to_string(index));
    write();
    path_.resize(size);
  }

  void Enter(std::string_view name) {
    path_ += '/';
    for (const char c : name) {
      if (c == '~') {
        path_ += "~0";
      } else if (c == '/') {
        path_ += "~1";
      } else {
        path_ += c;
      }
    }
  }

  void Write(std::string_view operation, const PatchNode* value) {
    out_ += out_.empty() ? '[' : ',';
    out_.append(R"({"op":")").append(operation).append(R"(","path":)").append(detail::QuoteJson(path_));
    if (value != nullptr) out_.append(R"(,"value":)").append(value->text);
    out_ += '}';
  }

  const PatchTree& was_;
  const PatchTree& is_;
  std::string path_;
  std::string out_;
};

}  // namespace

Result<std::string> DiffJson(std::string_view before, std::string_view after) {
  PatchTree was;
  if (Result<void> read = was.Read(before, "the text before"); !read) return Fail(std::move(read).error());
  PatchTree is;
  if (Result<void> read = is.Read(after, "the text after"); !read) return Fail(std::move(read).error());
  PatchWriter writer(was, is);
  writer.Value(0, 0);
  return writer.Take();
}

}  // namespace kgen::codec
