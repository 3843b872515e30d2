// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Parses YAML and JSON text into trees of nodes that know their position, and writes trees back as text.
//
// It is for files that people write: CRDs and API documents (the generator), kubeconfigs and the files of ApplyFile.
// Error messages must name the line that is wrong, so each node carries its line and column. API objects use the table
// codec instead.
//
//   text --Parse()--> Stream (owns everything) --documents()--> Node --Find()/items()--> Node ...
//
//   auto stream = kgen::yaml::Parse(std::move(text));
//   if (!stream) return Report(stream.error());                       // file:line:column is known
//   for (const yaml::Node& document : stream->documents()) {
//     const yaml::Node* kind = document.Find("kind");                 // null when absent
//     if (kind != nullptr && kind->is_string()) Use(kind->text());
//   }
//
// Plain scalars mean what they mean to the Kubernetes command line: YAML 1.1 booleans (yes, no, on, off, y, n in three
// cases), 0755 is octal, dates are text, 1:30 is text. Quoted text is always text. Keys keep their source text: `on:`
// is the key "on", unless Options::kubectl_keys is set. Text that begins like JSON is read by a strict JSON reader
// first, which is several times faster.
//
// The parser refuses the following, with the position: duplicate keys, keys that are not scalars, unknown or cyclic
// aliases, invalid UTF-8, UTF-16, `.inf` and `.nan` (JSON has no such numbers), and anything beyond a limit of Options.
// Merge keys (`<<`) and aliases are expanded.
//
// Errors are values; nothing here throws for bad input, prints or blocks.
#ifndef KGEN_CODEC_YAML_H_
#define KGEN_CODEC_YAML_H_

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kgen::yaml {

// A position in the text. Both count from 1; columns count code points, not bytes, and a byte order mark is not
// counted.
struct Mark {
  std::uint32_t line = 1;    // from 1
  std::uint32_t column = 1;  // from 1

  friend bool operator==(const Mark&, const Mark&) = default;
};

// What a node is. Scalars stand before kList.
enum class Kind : std::uint8_t { kNull, kBool, kInt, kFloat, kString, kList, kMap };

// "a string", "a list", ...: for messages of the form "expected a map, found a string".
std::string_view Describe(Kind kind) noexcept;
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, Kind kind) {
  return os << Describe(kind);
}

struct Entry;

// A value in a Stream. It is valid as long as the Stream lives; copying a Node copies the view, not the tree. Thread
// safety: immutable, so any number of threads may read.
class Node {
 public:
  // Makes a null outside any document, so that arrays of nodes are possible.
  Node() = default;

  // Return what the node is, and where it begins.
  Kind kind() const noexcept { return kind_; }
  Mark mark() const noexcept { return mark_; }
  // Say whether the node is of that kind; is_number() is true of integers too, and is_scalar() of all but lists and
  // maps.
  bool is_null() const noexcept { return kind_ == Kind::kNull; }
  bool is_bool() const noexcept { return kind_ == Kind::kBool; }
  bool is_int() const noexcept { return kind_ == Kind::kInt; }
  bool is_number() const noexcept { return kind_ == Kind::kInt || kind_ == Kind::kFloat; }
  bool is_string() const noexcept { return kind_ == Kind::kString; }
  bool is_list() const noexcept { return kind_ == Kind::kList; }
  bool is_map() const noexcept { return kind_ == Kind::kMap; }
  bool is_scalar() const noexcept { return kind_ < Kind::kList; }

  // Returns a string's value (escapes resolved), or the source text of any other scalar: `1.0`, `0x1F`, `yes`. Empty
  // for lists and maps.
  std::string_view text() const noexcept { return is_scalar() ? std::string_view(text_, size_) : std::string_view(); }

  // Returns false for anything but a true boolean.
  bool as_bool() const noexcept { return kind_ == Kind::kBool && flag_; }

  // Returns the integer, if the node is an integer and fits.
  std::optional<std::int64_t> AsInt64() const noexcept;

  // Returns a number in JSON spelling. JSON numbers keep their spelling (`1.0` stays `1.0`); YAML's own spellings are
  // translated (`0x1F` gives `31`, `.5` gives `0.5`). Empty unless is_number().
  std::string NumberText() const;

  // Returns the elements in order. Empty unless is_list().
  std::span<const Node> items() const noexcept {
    return is_list() ? std::span(items_, size_) : std::span<const Node>();
  }

  // Returns the keys and values in the order of the source, with keys of merged maps last. Empty unless is_map().
  std::span<const Entry> entries() const noexcept;

  // Returns the value of `key`, or null if this is not a map or has no such key. Searches linearly up to 16 keys, and
  // by bisection above.
  const Node* Find(std::string_view key) const noexcept;
  const Entry* FindEntry(std::string_view key) const noexcept;

  // Returns whether this scalar was written in plain style (neither quoted nor as a block). Always false for JSON
  // strings.
  bool plain() const noexcept { return plain_; }

 private:
  friend class TreeBuilder;

  Kind kind_ = Kind::kNull;
  bool flag_ = false;  // the value of a boolean
  bool plain_ = false;
  Mark mark_;
  std::uint32_t size_ = 0;  // bytes of text, or children
  union {
    const char* text_ = nullptr;
    const Node* items_;
    const struct MapBlock* map_;
  };
};

// A key of a map with its value. The position of a property is where its key begins.
struct Entry {
  std::string_view key;    // source text of the key, escapes resolved
  Mark mark;               // of the key
  bool plain = false;      // the key was written without quotes
  bool ambiguous = false;  // plain, and not a string for other parsers: `on`, `1`, `null`, a date
  Node value;
};

// Says why a text could not be read. `message` is one line without position: "duplicate key \"name\", first at 3:5".
struct SyntaxError {
  std::string message;
  std::string hint;  // what to do about it; may be empty: "this looks like a Helm template; render it first"
  Mark mark;
  std::size_t byte_offset = 0;  // of the same position
};

// Options of Parse(). A text that exceeds a limit is a SyntaxError.
struct Options {
  std::size_t max_bytes = 256u << 20;  // Default: 256 MiB.
  std::size_t max_nodes = 8'000'000;   // Default: 8 million. After expansion of aliases and merge keys.
  // Default: 100,000. Values that exist only in the expansion of an alias: without this limit, a kilobyte of text could
  // expand to gigabytes in code that walks the tree.
  std::size_t max_aliased = 100'000;
  std::size_t max_depth = 256;  // Default: 256.
  // Default: false. Whether each key is what KubectlKey() returns, in place of its source text. Keys that kubectl
  // refuses are errors, and so are keys that become equal.
  bool kubectl_keys = false;
};

// Returns the text that kubectl makes of a key: "true" of `yes`, "16" of `0x10`, "1.5" of `1.50`, "1e+06" of `1e6`.
// Numbers with a fraction or an exponent have the precision of 32 bits there. Nothing for null and for integers from
// 2^63 to 2^64-1, which kubectl refuses.
std::optional<std::string> KubectlKey(const Entry& entry);

// A parsed text: any number of documents and the memory behind them. It is move-only; moving keeps every Node valid.
class Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Returns the documents in order, without those that are empty or contain only comments.
  std::span<const Node> documents() const noexcept;

  // Returns the number of the document in the text, from 1 and counting empty ones, as users count `---`.
  std::uint32_t number(std::size_t document) const noexcept;

  bool json() const noexcept;  // read by the JSON reader

 private:
  friend class TreeBuilder;
  struct Storage;
  explicit Stream(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

// Reads YAML (one or more documents) or JSON (one or more values). Text of JSON strings is not copied: the Stream keeps
// the text. An empty text gives a Stream without documents.
std::expected<Stream, SyntaxError> Parse(std::string text, const Options& options = {});

// Compact JSON of a tree: keys in source order, or sorted by bytes, at every level. Strings are valid UTF-8 by
// construction.
struct JsonOptions {
  bool sort_keys = false;  // Default: false, in the order of the source.
};
std::string ToJson(const Node& node, const JsonOptions& options = {});

// Block-style YAML of a tree, as kubectl prints it: keys in source order, text of several lines as a literal block, and
// quotes around text that would be read as something else without them (`"yes"`, `"1.0"`, `"0x1F"`, `"null"`, dates).
// Reading it gives an equal tree. Ends with a newline. For a Node of Parse(). Fails only if memory runs out.
std::string ToYaml(const Node& node);

// Appends `text` as a JSON string literal with quotes, escaping only what JSON requires.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace kgen::yaml

#endif  // KGEN_CODEC_YAML_H_
