// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Writes a tree of kgen/codec/yaml.h with libyaml's emitter. The emitter knows which styles the syntax allows for a
// text; this file chooses one that preserves its meaning.
#include <yaml.h>

#include <new>
#include <string>

#include "codec/yaml/tree.h"
#include "core/json/lexer.h"

namespace kgen::yaml {
namespace {

// True for text such as 1:30 or -12:30:45.5, which readers of YAML 1.1 take for a number in base 60.
bool LooksLikeBase60(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && detail::IsDigit(text[0]) && text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789_:.") == std::string_view::npos;
}

// True for integers such as 0x1F, 0o17 and 0b11 of any length. ResolvePlain() recognises only those that fit into 64
// bits.
bool LooksLikeLongInteger(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() < 3 || text[0] != '0' || std::string_view("xXoObB").find(text[1]) == std::string_view::npos) {
    return false;
  }
  return text.find_first_not_of("0123456789abcdefABCDEF_", 2) == std::string_view::npos;
}

// True if a parser of YAML 1.1 or 1.2 would read this text as something else if it is not quoted.
bool NeedsQuotes(std::string_view text) {
  bool value = false;
  return ResolvePlain(text, value) != Kind::kString || LooksLikeTimestamp(text) || LooksLikeBase60(text) ||
         LooksLikeLongInteger(text) || text == "<<" || text == "=";
}

// True if the text has line ends that the emitter writes unchanged but that are read back as different ones.
bool HasUnicodeLineEnd(std::string_view text) {
  return text.find("\xE2\x80\xA8") != std::string_view::npos || text.find("\xE2\x80\xA9") != std::string_view::npos;
}

yaml_scalar_style_t StyleOf(std::string_view text) {
  if (NeedsQuotes(text) || text.starts_with('\n') || HasUnicodeLineEnd(text)) return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  if (text.find('\n') != std::string_view::npos) return YAML_LITERAL_SCALAR_STYLE;
  return YAML_PLAIN_SCALAR_STYLE;
}

class Writer {
 public:
  explicit Writer(std::string& out) {
    if (yaml_emitter_initialize(&emitter_) == 0) throw std::bad_alloc();
    yaml_emitter_set_output(&emitter_, &Append, &out);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_width(&emitter_, -1);  // never folds a line
  }
  ~Writer() { yaml_emitter_delete(&emitter_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void Document(const Node& root) {
    yaml_event_t event;
    Emit(yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), event);
    Emit(yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1), event);
    Value(root);
    Emit(yaml_document_end_event_initialize(&event, 1), event);
    Emit(yaml_stream_end_event_initialize(&event), event);
  }

 private:
  static int Append(void* out, unsigned char* data, std::size_t size) {
    try {
      static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), size);
      return 1;
    } catch (...) {  // no exception crosses C code
      return 0;
    }
  }

  // Takes over the event. The tree is well-formed, so the only possible error is a lack of memory.
  void Emit(int initialized, yaml_event_t& event) {
    if (initialized == 0 || yaml_emitter_emit(&emitter_, &event) == 0) throw std::bad_alloc();
  }

  void Value(const Node& node) {
    yaml_event_t event;
    switch (node.kind()) {
      case Kind::kMap:
        Emit(yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE), event);
        for (const Entry& entry : node.entries()) {
          Scalar(entry.key, StyleOf(entry.key));
          Value(entry.value);
        }
        return Emit(yaml_mapping_end_event_initialize(&event), event);
      case Kind::kList:
        Emit(yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE), event);
        for (const Node& item : node.items()) Value(item);
        return Emit(yaml_sequence_end_event_initialize(&event), event);
      case Kind::kString:
        return Scalar(node.text(), StyleOf(node.text()));
      case Kind::kNull:
        return Scalar("null", YAML_PLAIN_SCALAR_STYLE);
      case Kind::kBool:
        return Scalar(node.as_bool() ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
      default:
        return Scalar(node.NumberText(), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void Scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    const auto* data = reinterpret_cast<const yaml_char_t*>(text.empty() ? "" : text.data());
    Emit(yaml_scalar_event_initialize(&event, nullptr, nullptr, data, static_cast<int>(text.size()), 1, 1, style),
         event);
  }

  yaml_emitter_t emitter_;
};

}  // namespace

std::string ToYaml(const Node& node) {
  std::string out;
  Writer(out).Document(node);
  // The emitter writes this mark after a text that ends with empty lines. It is not needed, because the document ends
  // here.
  if (out.ends_with("\n...\n")) out.resize(out.size() - 4);
  return out;
}

}  // namespace kgen::yaml
