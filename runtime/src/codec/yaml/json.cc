// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A strict JSON reader (RFC 8259) that fills the tree of kgen/codec/yaml.h with exact positions, and the JSON writer.
#include <algorithm>
#include <charconv>

#include "codec/yaml/tree.h"
#include "core/json/lexer.h"
#include "core/json/quote.h"
#include "core/json/utf8.h"

namespace kgen::yaml {
namespace {

// Bytes that end the fast scan inside a string: quote, backslash, control characters, non-ASCII (for the column count).
constexpr auto MakeStringStops() {
  struct Table {
    bool stop[256] = {};
  } table;
  for (int c = 0; c < 0x20; ++c) table.stop[c] = true;
  for (int c = 0x80; c < 0x100; ++c) table.stop[c] = true;
  table.stop[static_cast<unsigned char>('"')] = table.stop[static_cast<unsigned char>('\\')] = true;
  return table;
}
constexpr auto kStringStops = MakeStringStops();

using detail::EscapeToken;
using detail::NumberToken;

class JsonReader {
 public:
  explicit JsonReader(TreeBuilder& builder)
      : builder_(builder), begin_(builder.text().data()), end_(begin_ + builder.text().size()), at_(begin_) {
    if (builder.text().starts_with("\xEF\xBB\xBF")) at_ += 3;
    line_base_ = at_;
  }

  bool ReadStream(bool& is_yaml_stream) {
    SkipSpace();
    while (at_ != end_) {
      if (!ReadValue()) return false;
      builder_.FinishDocument();
      SkipSpace();
      const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
      if (rest.starts_with("---") || rest.starts_with("...") || rest.starts_with("#")) {
        is_yaml_stream = true;
        return builder_.Fail(Here(), "a YAML stream");
      }
    }
    return true;
  }

 private:
  Mark Here() const { return Mark{line_, static_cast<std::uint32_t>(at_ - line_base_) + 1}; }

  void SkipSpace() {
    for (; at_ != end_; ++at_) {
      if (*at_ == '\n') {
        ++line_;
        line_base_ = at_ + 1;
      } else if (!detail::IsJsonSpace(*at_)) {
        return;
      }
    }
  }

  std::string Found() const {
    if (at_ == end_) return "the end of the text";
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte <= 0x20 || byte >= 0x7F) return "byte 0x" + Hex(byte);
    return std::string("'") + *at_ + "'";
  }

  static std::string Hex(unsigned char byte) {
    static constexpr char kHex[] = "0123456789abcdef";
    return {kHex[byte >> 4], kHex[byte & 15]};
  }

  bool Expected(const char* what) {
    return builder_.Fail(Here(), std::string("expected ") + what + ", found " + Found());
  }

  bool ReadValue() {
    switch (at_ == end_ ? '\0' : *at_) {
      case '{':
        return ReadMap();
      case '[':
        return ReadList();
      case '"': {
        const Mark mark = Here();
        std::string_view text;
        return ReadString(text) && builder_.Scalar(TreeBuilder::MakeScalar(Kind::kString, text, mark, false));
      }
      case 't':
        return ReadWord("true", Kind::kBool, true);
      case 'f':
        return ReadWord("false", Kind::kBool, false);
      case 'n':
        return ReadWord("null", Kind::kNull, false);
      default:
        return ReadNumber();
    }
  }

  bool ReadWord(std::string_view word, Kind kind, bool value) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return Expected("a value");
    const Mark mark = Here();
    const std::string_view text(at_, word.size());
    at_ += word.size();
    return builder_.Scalar(TreeBuilder::MakeScalar(kind, text, mark, true, value));
  }

  bool ReadNumber() {
    const Mark mark = Here();
    const NumberToken number = detail::ScanNumber(at_, end_);
    if (number.problem == NumberToken::Problem::kNoNumber) return Expected("a value");
    if (number.problem != NumberToken::Problem::kNone) {
      at_ = number.end;
      return Expected("a digit");
    }
    if (number.end != end_ && detail::IsDigit(*number.end)) {
      return builder_.Fail(mark, "a number must not begin with 0");
    }
    const std::string_view text(at_, static_cast<std::size_t>(number.end - at_));
    at_ = number.end;
    return builder_.Scalar(TreeBuilder::MakeScalar(number.plain ? Kind::kInt : Kind::kFloat, text, mark, true));
  }

  bool ReadList() {
    if (!builder_.Open(false, Here())) return false;
    ++at_;
    SkipSpace();
    if (at_ != end_ && *at_ == ']') {
      ++at_;
      return builder_.Close();
    }
    for (;;) {
      if (!ReadValue()) return false;
      SkipSpace();
      if (at_ == end_ || (*at_ != ',' && *at_ != ']')) return Expected("',' or ']'");
      if (*at_++ == ']') return builder_.Close();
      SkipSpace();
    }
  }

  bool ReadMap() {
    if (!builder_.Open(true, Here())) return false;
    ++at_;
    SkipSpace();
    if (at_ != end_ && *at_ == '}') {
      ++at_;
      return builder_.Close();
    }
    for (;;) {
      if (at_ == end_ || *at_ != '"') return Expected("a key in double quotes");
      const Mark mark = Here();
      std::string_view key;
      if (!ReadString(key) || !builder_.Key(key, mark, false, false)) return false;
      SkipSpace();
      if (at_ == end_ || *at_ != ':') return Expected("':'");
      ++at_;
      SkipSpace();
      if (!ReadValue()) return false;
      SkipSpace();
      if (at_ == end_ || (*at_ != ',' && *at_ != '}')) return Expected("',' or '}'");
      if (*at_++ == '}') return builder_.Close();
      SkipSpace();
    }
  }

  // Skips bytes that need no unescaping.
  void ScanPlain() {
    for (; at_ != end_; ++at_) {
      const auto byte = static_cast<unsigned char>(*at_);
      if (!kStringStops.stop[byte]) continue;
      if (byte < 0x80) return;
      if ((byte & 0xC0) == 0x80) ++line_base_;  // continuation bytes do not count as columns
    }
  }

  bool ReadString(std::string_view& text) {
    const char* start = ++at_;
    ScanPlain();
    if (at_ != end_ && *at_ == '"') {
      text = {start, static_cast<std::size_t>(at_ - start)};
      ++at_;
      return true;
    }
    return ReadEscapedString(start, text);
  }

  bool ReadEscapedString(const char* start, std::string_view& text) {
    // The text may have escapes, so it is unescaped into a scratch string.
    scratch_.assign(start, at_);
    for (;;) {
      if (at_ == end_) return builder_.Fail(Here(), "the text ends inside a string");
      if (*at_ == '"') {
        ++at_;
        text = builder_.Keep(scratch_);
        return true;
      }
      if (*at_ != '\\') {
        return builder_.Fail(Here(),
                             "control character 0x" + Hex(static_cast<unsigned char>(*at_)) + " inside a string",
                             "write it as an escape, such as \\n or \\t");
      }
      if (!ReadEscape()) return false;
      const char* plain = at_;
      ScanPlain();
      scratch_.append(plain, at_);
    }
  }

  bool ReadEscape() {
    const Mark mark = Here();
    const bool cut = end_ - at_ < 6;
    const EscapeToken escape = detail::ScanEscape(at_, end_);
    switch (escape.problem) {
      case EscapeToken::Problem::kNone:
        break;
      case EscapeToken::Problem::kEnds:
      case EscapeToken::Problem::kUnknown:
        return builder_.Fail(mark, "unknown escape in a string");
      case EscapeToken::Problem::kHex:
        return builder_.Fail(mark, cut ? "the text ends inside an escape" : "\\u takes four hexadecimal digits");
    }
    if (escape.half_of_pair) return builder_.Fail(mark, "half of a surrogate pair in a string");
    char character[4];
    scratch_.append(character, detail::WriteUtf8(escape.code_point, character));
    return true;
  }

  TreeBuilder& builder_;
  const char* begin_;
  const char* end_;
  const char* at_;
  const char* line_base_;  // start of the line, moved on by one for each continuation byte passed
  std::uint32_t line_ = 1;
  std::string scratch_;
};

void Write(const Node& node, const JsonOptions& options, std::string& out);

void WriteMap(const Node& node, const JsonOptions& options, std::string& out) {
  std::vector<const Entry*> order;
  order.reserve(node.entries().size());
  for (const Entry& entry : node.entries()) order.push_back(&entry);
  if (options.sort_keys) {
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->key < b->key; });
  }
  out += '{';
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i != 0) out += ',';
    AppendJsonString(order[i]->key, out);
    out += ':';
    Write(order[i]->value, options, out);
  }
  out += '}';
}

void Write(const Node& node, const JsonOptions& options, std::string& out) {
  switch (node.kind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += node.as_bool() ? "true" : "false";
      return;
    case Kind::kInt:
    case Kind::kFloat:
      out += node.NumberText();
      return;
    case Kind::kString:
      AppendJsonString(node.text(), out);
      return;
    case Kind::kMap:
      WriteMap(node, options, out);
      return;
    case Kind::kList:
      out += '[';
      for (const Node& item : node.items()) {
        if (&item != node.items().data()) out += ',';
        Write(item, options, out);
      }
      out += ']';
      return;
  }
}

}  // namespace

bool ReadJson(TreeBuilder& builder, bool& is_yaml_stream) { return JsonReader(builder).ReadStream(is_yaml_stream); }

std::string ToJson(const Node& node, const JsonOptions& options) {
  std::string out;
  Write(node, options, out);
  return out;
}

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    } else {
      char escape[detail::kEscapeRoom];
      out.append(escape, detail::WriteEscape(c, escape));
    }
  }
  out += '"';
}

}  // namespace kgen::yaml
