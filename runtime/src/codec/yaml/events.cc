// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Builds the tree of kgen/codec/yaml.h from the events of libyaml.
#include <yaml.h>

#include <algorithm>

#include "codec/yaml/tree.h"

namespace kgen::yaml {
namespace {

constexpr std::string_view kHelmHint =
    "this looks like the source of a template (\"{{\"); render it first, for example with `helm template`";

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// True if a line, or a value in a line, begins with a template action.
bool LooksLikeTemplate(std::string_view text) {
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at + 2)) {
    const std::size_t before = text.find_last_not_of(" \"'", at == 0 ? std::string_view::npos : at - 1);
    if (at == 0 || before == std::string_view::npos || text[before] == '\n' || text[before] == ':' ||
        text[before] == '-')
      return true;
  }
  return false;
}

// True if a line has the mark that git leaves where it could not merge.
bool HasConflictMarks(std::string_view text) { return text.starts_with("<<<<<<< ") || text.contains("\n<<<<<<< "); }

// True if a line of JSON begins with a comment as JavaScript has them, or ends with one.
bool HasJsonComment(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  if (text.substr(start).starts_with("//") || text.substr(start).starts_with("/*")) return true;
  if (text[start] != '{' && text[start] != '[') return false;
  for (const char* mark : {" //", "\t//", "\n//", "*/"}) {
    if (text.contains(mark)) return true;
  }
  return false;
}

// True if the indentation of this line, or of the one before, contains a tab.
bool HasTabIndent(std::string_view text, Mark mark) {
  for (std::uint32_t line = mark.line > 1 ? mark.line - 1 : 1; line <= mark.line; ++line) {
    std::size_t at = ByteOfMark(text, Mark{line, 1});
    for (; at < text.size() && (text[at] == ' ' || text[at] == '\t'); ++at) {
      if (text[at] == '\t') return true;
    }
  }
  return false;
}

// Owns one event.
struct Event {
  yaml_event_t event;
  Event() { event.type = YAML_NO_EVENT; }
  ~Event() { yaml_event_delete(&event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

class EventReader {
 public:
  explicit EventReader(TreeBuilder& builder) : builder_(builder) {
    valid_ = yaml_parser_initialize(&parser_) != 0;
    if (!valid_) return;
    std::string_view text = builder.text();
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(skipped_ = 3);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~EventReader() {
    if (valid_) yaml_parser_delete(&parser_);
  }
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  bool Read() {
    if (!valid_) return builder_.Fail(Mark{}, "out of memory");
    for (;;) {
      Event current;
      if (yaml_parser_parse(&parser_, &current.event) == 0) return FailSyntax();
      if (current.event.type == YAML_STREAM_END_EVENT) return true;
      if (!Handle(current.event)) return false;
    }
  }

 private:
  // libyaml treats U+0085, U+2028 and U+2029 as line ends, but editors do not, so such characters shift the positions
  // after them. They are too rare to matter.
  static Mark ToMark(const yaml_mark_t& mark) {
    return Mark{static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
  }

  bool Handle(const yaml_event_t& event) {
    const Mark mark = ToMark(event.start_mark);
    switch (event.type) {
      case YAML_DOCUMENT_END_EVENT:
        builder_.FinishDocument();
        return true;
      case YAML_ALIAS_EVENT:
        return builder_.Alias(View(event.data.alias.anchor), mark);
      case YAML_SCALAR_EVENT:
        return HandleScalar(event, mark);
      case YAML_SEQUENCE_START_EVENT:
        return CheckKey(mark, "a list") && builder_.Open(false, mark, View(event.data.sequence_start.anchor));
      case YAML_MAPPING_START_EVENT:
        return CheckKey(mark, "a map") && builder_.Open(true, mark, View(event.data.mapping_start.anchor));
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return builder_.Close();
      default:
        return true;
    }
  }

  bool CheckKey(Mark mark, const char* what) {
    if (!builder_.WantsKey()) return true;
    return builder_.Fail(mark, std::string("a key must be text, not ") + what, Hint(mark));
  }

  bool HandleScalar(const yaml_event_t& event, Mark mark) {
    const auto& scalar = event.data.scalar;
    const std::string_view source(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const std::string_view tag = View(scalar.tag);
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const std::string_view text = builder_.Keep(source);
    if (builder_.WantsKey()) return HandleKey(event, mark, text, plain);
    bool value = false;
    Kind kind = plain && tag != "!" ? ResolvePlain(text, value) : Kind::kString;
    if (!tag.empty() && !ApplyTag(tag, text, plain, mark, kind, value)) return false;
    if (kind == Kind::kFloat && IsInfinityOrNan(text)) {
      return builder_.Fail(mark, std::string(text) + " has no equivalent in JSON", "quote it if text is meant");
    }
    const Node node = TreeBuilder::MakeScalar(kind, text, mark, plain, value);
    if (scalar.anchor != nullptr) builder_.Anchor(View(scalar.anchor), node);
    return builder_.Scalar(node);
  }

  bool HandleKey(const yaml_event_t& event, Mark mark, std::string_view text, bool plain) {
    if (plain && text.empty()) return builder_.Fail(mark, "there is no key before ':'", Hint(mark));
    const auto& scalar = event.data.scalar;
    if (scalar.anchor != nullptr) {
      builder_.Anchor(View(scalar.anchor), TreeBuilder::MakeScalar(Kind::kString, text, mark, plain));
    }
    // A tag decides in place of the style; one of another type than these makes the key text.
    const std::string_view tag = View(scalar.tag);
    bool typed = plain && tag.empty();
    for (const char* type : {"bool", "float", "int", "null"})
      typed = typed || tag == "tag:yaml.org,2002:" + std::string(type);
    bool value = false;
    const bool other = typed && (ResolvePlain(text, value) != Kind::kString || LooksLikeTimestamp(text));
    return builder_.Key(text, mark, plain, other);
  }

  // Handles explicit tags. Core tags are checked; a scalar with any other tag is text, as for kubectl.
  bool ApplyTag(std::string_view tag, std::string_view text, bool plain, Mark mark, Kind& kind, bool& value) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (!tag.starts_with(kCore)) {
      kind = Kind::kString;
      return true;
    }
    tag.remove_prefix(kCore.size());
    if (tag == "str" || tag == "binary" || tag == "timestamp") {
      kind = Kind::kString;
      return true;
    }
    const Kind resolved = plain ? kind : ResolvePlain(text, value);
    const bool fits = (tag == "int" && resolved == Kind::kInt) || (tag == "bool" && resolved == Kind::kBool) ||
                      (tag == "float" && (resolved == Kind::kInt || resolved == Kind::kFloat)) ||
                      (tag == "null" && resolved == Kind::kNull);
    if (!fits) return builder_.Fail(mark, "the value does not match its tag !!" + std::string(tag.substr(0, 40)));
    kind = resolved;
    return true;
  }

  std::string Hint(Mark mark) const {
    if (LooksLikeTemplate(builder_.text())) return std::string(kHelmHint);
    if (HasTabIndent(builder_.text(), mark)) return "indent with spaces; YAML does not allow tabs there";
    if (HasConflictMarks(builder_.text())) return "resolve the conflict of the merge, whose marks are in the file";
    if (HasJsonComment(builder_.text())) return "remove the comments; JSON has none, and those of YAML begin with #";
    return {};
  }

  bool FailSyntax() {
    const std::string problem = parser_.problem != nullptr ? parser_.problem : "the text is not YAML";
    if (parser_.error == YAML_READER_ERROR) {  // has a byte offset and no mark
      std::string message = problem;
      if (problem == "control characters are not allowed") message = "a control character, which YAML does not allow";
      return builder_.FailAtByte(parser_.problem_offset + skipped_, message);
    }
    if (parser_.error == YAML_MEMORY_ERROR) return builder_.Fail(Mark{}, "out of memory");
    const Mark mark = ToMark(parser_.problem_mark);
    std::string message = problem;
    if (parser_.context != nullptr) {
      const Mark start = ToMark(parser_.context_mark);
      message += std::string(", ") + parser_.context;
      if (!(start == mark))
        message += " that begins at " + std::to_string(start.line) + ":" + std::to_string(start.column);
    }
    return builder_.Fail(mark, message, Hint(mark));
  }

  TreeBuilder& builder_;
  yaml_parser_t parser_;
  bool valid_ = false;
  std::size_t skipped_ = 0;
};

}  // namespace

bool ReadYaml(TreeBuilder& builder) { return EventReader(builder).Read(); }

}  // namespace kgen::yaml
