// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/reader.h"
#include "codec/text_writer.h"
#include "core/json/number.h"
#include "kgen/codec/encode.h"

namespace kgen {

namespace {

class Canonical {
 public:
  explicit Canonical(std::string_view json) : reader_(json, 256, static_cast<std::size_t>(-1), scratch_) {}

  bool Whole(std::string& out) { return Value(out) && reader_.AtEnd(); }

 private:
  bool Value(std::string& out) {
    switch (reader_.Peek()) {
      case '{':
        return Object(out);
      case '[':
        return Array(out);
      case '"': {
        std::string_view text;
        if (!reader_.String(text)) return false;
        Quote(text, out);
        return true;
      }
      case 't':
        return Literal("true", out);
      case 'f':
        return Literal("false", out);
      case 'n':
        return Literal("null", out);
      default: {
        std::string_view number;
        bool plain;
        if (!reader_.Number(number, plain)) return false;
        out += detail::CanonicalNumber(number);
        return true;
      }
    }
  }

  bool Literal(std::string_view word, std::string& out) {
    out += word;
    return reader_.Literal(word);
  }

  bool Array(std::string& out) {
    if (!reader_.Enter()) return false;
    out += '[';
    if (!reader_.Take(']')) {
      do {
        if (out.back() != '[') out += ',';
        if (!Value(out)) return false;
      } while (reader_.Take(','));
      if (!reader_.Take(']')) return false;
    }
    reader_.Leave();
    out += ']';
    return true;
  }

  bool Object(std::string& out) {
    if (!reader_.Enter()) return false;
    struct Member {
      std::string name;
      std::string value;
      std::size_t order;
    };
    std::vector<Member> members;
    if (!reader_.Take('}')) {
      do {
        std::string_view name;
        if (!reader_.Key(name)) return false;
        members.push_back({std::string(name), std::string(), members.size()});
        if (std::string value; Value(value)) {
          members.back().value = std::move(value);
        } else {
          return false;
        }
      } while (reader_.Take(','));
      if (!reader_.Take('}')) return false;
    }
    reader_.Leave();
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.name != b.name ? a.name < b.name : a.order < b.order; });
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i + 1 < members.size() && members[i].name == members[i + 1].name) continue;  // the last one wins
      if (out.back() != '{') out += ',';
      Quote(members[i].name, out);
      out += ':';
      out += members[i].value;
    }
    out += '}';
    return true;
  }

  static void Quote(std::string_view text, std::string& out) {
    codec::TextWriter writer;
    writer.Quoted(text);
    writer.AppendTo(out);
  }

  std::string scratch_;
  codec::Reader reader_;
};

}  // namespace

std::string CanonicalJson(std::string_view json) {
  std::string out;
  return Canonical(json).Whole(out) ? out : std::string(json);
}

}  // namespace kgen
