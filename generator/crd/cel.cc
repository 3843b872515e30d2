// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/cel.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "generator/diagnostic.h"

namespace kgen::generator::crd {
namespace {

constexpr std::string_view kReserved[] = {"as",       "break",   "const",  "continue", "else", "false", "for",
                                          "function", "if",      "import", "in",       "let",  "loop",  "namespace",
                                          "null",     "package", "return", "true",     "var",  "void",  "while"};

// Functions with names of their own, and those behind a value and a dot: of all libraries that servers have.
constexpr std::string_view kFunctions[] = {"bool",     "bytes",     "cidr",    "double",   "duration", "dyn",
                                           "has",      "int",       "ip",      "isCIDR",   "isIP",     "isQuantity",
                                           "isSemver", "isURL",     "matches", "quantity", "semver",   "size",
                                           "string",   "timestamp", "type",    "uint",     "url"};
constexpr std::string_view kMethods[] = {
    "abs", "add", "all", "asApproximateFloat", "asInteger", "bitAnd", "bitNot", "bitOr", "bitShiftLeft",
    "bitShiftRight", "bitXor", "ceil", "charAt", "cidr", "compareTo", "contains", "containsCIDR", "containsIP",
    "endsWith", "equivalent", "exists", "existsOne", "exists_one", "family", "filter", "find", "findAll", "first",
    "flatten", "floor", "format", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getEscapedPath",
    "getFullYear", "getHost", "getHostname", "getHours", "getMilliseconds", "getMinutes", "getMonth", "getPort",
    "getQuery", "getScheme", "getSeconds", "greatest", "hasValue", "indexOf", "intersects", "ip", "isCanonical",
    "isFinite", "isGlobalUnicast", "isGreaterThan", "isInf", "isInteger", "isLessThan", "isLinkLocalMulticast",
    "isLinkLocalUnicast", "isLoopback", "isNaN", "isSorted", "isUnspecified", "join", "last", "lastIndexOf", "least",
    "lowerAscii", "major", "map", "masked", "matches", "max", "min", "minor", "named", "none", "of", "ofNonZeroValue",
    "optFlatMap", "optMap", "or", "orValue", "patch", "prefixLength", "replace", "reverse", "round", "sign", "size",
    "sort", "split", "sqrt", "startsWith", "sub", "substring", "sum", "transformList", "transformMap",
    "transformMapEntry", "trim", "trunc", "unwrap", "upperAscii", "validate", "value",
    // Functions of the library `format`.
    "byte", "date", "datetime", "dns1035Label", "dns1035LabelPrefix", "dns1123Label", "dns1123LabelPrefix",
    "dns1123Subdomain", "dns1123SubdomainPrefix", "labelValue", "qualifiedName", "uri", "uuid"};
// Names before a dot that are no values: format.dns1123Label(), sets.contains(a, b).
constexpr std::string_view kLibraries[] = {"base64", "cel",      "cidr",  "format", "ip",     "lists",
                                           "math",   "optional", "regex", "sets",   "strings"};
constexpr std::string_view kTypeNames[] = {"bool", "bytes",     "double", "int",  "list",
                                           "map",  "null_type", "string", "type", "uint"};
// Methods that name a variable for the elements of their value.
constexpr std::string_view kMacros[] = {"all",           "exists",       "existsOne",        "exists_one",
                                        "filter",        "map",          "optFlatMap",       "optMap",
                                        "transformList", "transformMap", "transformMapEntry"};

template <class Names>
bool IsOneOf(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The type of a value, as far as it is known.
struct Known {
  const Tree* schema = nullptr;  // null: anything
  bool root = false;             // the object of a kind
  bool metadata = false;         // its metadata, of which a rule sees little
};

// Reads an expression, and stops at the first fault.
class CelReader {
 public:
  CelReader(std::string_view text, Known self) : text_(text) {
    variables_.emplace_back("self", self);
    variables_.emplace_back("oldSelf", self);
  }

  std::string Read() {
    Expression();
    Skip();
    if (fault_.empty() && at_ != text_.size()) Fail("there is no operator before " + Quote(text_.substr(at_), 30));
    return std::move(fault_);
  }

 private:
  void Fail(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
    at_ = text_.size();  // everything ends here
  }

  void Skip() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\n\r\f").contains(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool Take(std::string_view sign) {
    Skip();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  void Expect(std::string_view sign) {
    if (Take(sign) || !fault_.empty()) return;
    Fail(at_ == text_.size() ? "it ends where " + Quote(sign) + " is missing"
                             : "there is no " + Quote(sign) + " before " + Quote(text_.substr(at_), 30));
  }

  static bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view Word() {
    Skip();
    std::size_t end = at_;
    if (end < text_.size() && IsLetter(text_[end])) {
      while (end < text_.size() && (IsLetter(text_[end]) || IsDigit(text_[end]))) ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  // The lowest rank: a ? b : c.
  Known Expression() {
    if (++levels_ > 100) Fail("it has more than 100 levels");
    Known out = fault_.empty() ? Binary(0) : Known();
    if (fault_.empty() && Take("?")) {
      Binary(0);
      Expect(":");
      Expression();
      out = {};
    }
    --levels_;
    return out;
  }

  // Takes an operator of a rank.
  bool Operator(std::size_t rank) {
    static constexpr std::array<std::array<std::string_view, 6>, 5> kRanks = {{{"||", "", "", "", "", ""},
                                                                               {"&&", "", "", "", "", ""},
                                                                               {"==", "!=", "<=", ">=", "<", ">"},
                                                                               {"+", "-", "", "", "", ""},
                                                                               {"*", "/", "%", "", "", ""}}};
    for (const std::string_view sign : kRanks[rank]) {
      if (!sign.empty() && Take(sign)) return true;
    }
    const std::size_t before = at_;
    if (rank == 2 && Word() == "in") return true;
    at_ = before;
    return false;
  }

  Known Binary(std::size_t rank) {
    if (rank == 5) return Unary();
    Known out = Binary(rank + 1);
    while (fault_.empty() && Operator(rank)) {
      Binary(rank + 1);
      out = {};
    }
    return out;
  }

  Known Unary() {
    bool sign = false;
    while (Take("!") || Take("-")) sign = true;
    const Known out = Value();
    return sign ? Known() : out;
  }

  Known Value() {
    Known out = Primary();
    while (fault_.empty()) {
      if (Take("[")) {
        Take("?");
        Expression();
        Expect("]");
        out = Element(out);
      } else if (Take(".")) {
        const bool optional = Take("?");
        const std::string_view name = Word();
        if (name.empty()) {
          Fail("a name is missing behind a dot");
        } else if (Take("(")) {
          out = Method(out, name);
        } else {
          out = Member(out, name);
          if (optional) out = {};
        }
      } else {
        return out;
      }
    }
    return {};
  }

  Known Primary() {
    Skip();
    if (at_ == text_.size()) {
      Fail("it ends where a value is missing");
      return {};
    }
    const char c = text_[at_];
    if (c == '"' || c == '\'') return Literal(false);
    if (IsDigit(c) || (c == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]))) return Number();
    if (Take("(")) {
      const Known out = Expression();
      Expect(")");
      return out;
    }
    if (Take("[")) return Elements("]", false);
    if (Take("{")) return Elements("}", true);
    const std::string_view word = Word();
    if (word.empty()) {
      Fail("a value is missing before " + Quote(text_.substr(at_), 30));
      return {};
    }
    const bool prefix = word.find_first_not_of("rRbB") == std::string_view::npos && word.size() <= 2;
    if (prefix && at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''))
      return Literal(word.find_first_of("rR") != std::string_view::npos);
    return Name(word);
  }

  Known Literal(bool raw) {
    const std::string_view rest = text_.substr(at_);
    const bool three = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    const std::string_view quote = rest.substr(0, three ? 3 : 1);
    for (at_ += quote.size(); at_ < text_.size(); ++at_) {
      if (text_.substr(at_).starts_with(quote)) {
        at_ += quote.size();
        return {};
      }
      if (!three && text_[at_] == '\n') break;
      if (text_[at_] == '\\' && !raw && !Escape()) return {};
    }
    Fail("a text does not end");
    return {};
  }

  // Reads an escape: starts at a backslash, and ends at the character after it.
  bool Escape() {
    ++at_;
    if (at_ < text_.size() && std::string_view("abfnrtv\\?\"'`xXuU01234567").contains(text_[at_])) return true;
    Fail(at_ >= text_.size() ? std::string("a text does not end")
                             : "a text has the escape \\" + Visible(text_.substr(at_, 1)) +
                                   ", which CEL does not know; write a backslash twice, or the text as r'...'");
    return false;
  }

  Known Number() {
    const std::size_t begin = at_;
    const bool hex = text_.substr(at_, 2) == "0x";
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool exponent = (c == '-' || c == '+') && !hex && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!IsLetter(c) && !IsDigit(c) && c != '.' && !exponent) break;
    }
    const std::string_view number = text_.substr(begin, at_ - begin);
    const std::string_view allowed = hex ? "0123456789abcdefABCDEFxuU" : "0123456789.eE+-uU";
    if (number.find_first_not_of(allowed) != std::string_view::npos ||
        std::count(number.begin(), number.end(), '.') > 1)
      Fail(Quote(number) + " is no number");
    return {};
  }

  Known Elements(std::string_view end, bool pairs) {
    while (fault_.empty() && !Take(end)) {
      Take("?");
      Expression();
      if (pairs) {
        Expect(":");
        Expression();
      }
      if (Take(",")) continue;
      Expect(end);
      return {};
    }
    return {};
  }

  Known Name(std::string_view word) {
    if (word == "true" || word == "false" || word == "null") return {};
    if (IsOneOf(kReserved, word)) {
      Fail(Quote(word) + " is a word of CEL, not a name");
      return {};
    }
    if (Take("(")) {
      if (!IsOneOf(kFunctions, word)) Unknown("function", word, {std::begin(kFunctions), std::end(kFunctions)});
      return word == "has" ? Has() : Elements(")", false);
    }
    for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
      if (variable->first == word) return variable->second;
    }
    Skip();
    if (IsOneOf(kTypeNames, word) || (IsOneOf(kLibraries, word) && text_.substr(at_).starts_with('.'))) return {};
    std::vector<std::string_view> names;
    for (const auto& variable : variables_) names.push_back(variable.first);
    Unknown("variable", word, names);
    return {};
  }

  void Unknown(std::string_view what, std::string_view name, const std::vector<std::string_view>& names) {
    const std::string_view nearest = Nearest(name, names);
    Fail("there is no " + std::string(what) + " " + Quote(name) +
         (nearest.empty() ? "" : ", did you mean " + std::string(nearest) + "?"));
  }

  // has(self.a): its argument ends in a member.
  Known Has() {
    const std::size_t begin = at_;
    Expression();
    const std::string_view argument = text_.substr(begin, at_ - begin);
    const std::size_t last = argument.find_last_of(".)]");
    if (fault_.empty() && (last == std::string_view::npos || argument[last] != '.'))
      Fail("has() needs a member, as in has(self.spec)");
    Expect(")");
    return {};
  }

  // Reads a call; starts after the opening bracket.
  Known Method(const Known& of, std::string_view name) {
    if (!IsOneOf(kMethods, name)) Unknown("function", name, {std::begin(kMethods), std::end(kMethods)});
    if (!IsOneOf(kMacros, name)) return Elements(")", false);
    // all(x, ...) and all(i, x, ...): variables for what is inside of the brackets.
    const std::size_t known = variables_.size();
    const bool map = of.schema != nullptr && of.schema->Find("additionalProperties") != nullptr;
    for (int i = 0; i < 2; ++i) {
      const std::size_t before = at_;
      const std::string_view variable = Word();
      if (variable.empty() || IsOneOf(kReserved, variable) || !Take(",")) {
        at_ = before;
        break;
      }
      // The first of two is an index or a key; a single one of a map is its key.
      if (i == 1) variables_.back().second = {};
      variables_.emplace_back(variable, map && i == 0 ? Known() : Element(of));
    }
    if (variables_.size() == known)
      Fail(std::string(name) + "() needs a variable, as in " + std::string(name) + "(x, x > 0)");
    Elements(")", false);
    variables_.resize(known);
    return name == "filter" && !map ? of : Known();
  }

  static Known Element(const Known& of) {
    if (of.schema == nullptr) return {};
    const Tree* items = of.schema->Find("items");
    return {.schema = items != nullptr ? items : of.schema->Find("additionalProperties")};
  }

  Known Member(const Known& of, std::string_view name) {
    if (of.metadata) {
      if (name != "name" && name != "generateName")
        Fail("a rule sees only name and generateName of metadata, not " + Quote(name));
      return {};
    }
    if (of.schema == nullptr || of.schema->IsTrue("x-kubernetes-preserve-unknown-fields") ||
        of.schema->IsTrue("x-kubernetes-int-or-string"))
      return {};
    if (const Tree* any = of.schema->Find("additionalProperties"); any != nullptr) return {.schema = any};
    const bool object = of.root || of.schema->IsTrue("x-kubernetes-embedded-resource");
    if (object && name == "metadata") return {.schema = nullptr, .root = false, .metadata = true};
    if (object && (name == "apiVersion" || name == "kind")) return {};
    std::vector<std::string> names;
    if (const Tree* properties = of.schema->Find("properties"); properties != nullptr) {
      for (const auto& [property, schema] : properties->members()) {
        names.push_back(CelName(property));
        if (names.back() == name) return {.schema = &schema};
      }
    }
    Unknown("member", name, {names.begin(), names.end()});
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int levels_ = 0;
  std::string fault_;
  std::vector<std::pair<std::string_view, Known>> variables_;
};

}  // namespace

std::string CelName(std::string_view member) {
  if (IsOneOf(kReserved, member)) return "__" + std::string(member) + "__";
  std::string out;
  for (std::size_t i = 0; i < member.size(); ++i) {
    const char c = member[i];
    if (member.substr(i, 2) == "__") {
      out += "__underscores__";
      ++i;
    } else {
      out += c == '.' ? "__dot__" : c == '-' ? "__dash__" : c == '/' ? "__slash__" : std::string(1, c);
    }
  }
  return out;
}

std::string FaultOfCel(std::string_view expression, const Tree& self, bool root) {
  return CelReader(expression, {.schema = &self, .root = root}).Read();
}

std::string FaultOfFieldPath(std::string_view path, const Tree& self) {
  const Tree* at = &self;
  if (path.empty()) return "it is empty";
  while (!path.empty()) {
    std::string name;
    if (path.starts_with("['")) {
      const std::size_t end = path.find("']");
      if (end == std::string_view::npos) return "['...'] does not end";
      name = path.substr(2, end - 2);
      path.remove_prefix(end + 2);
    } else if (path.starts_with('.')) {
      const std::size_t end = std::min(path.find_first_of(".[", 1), path.size());
      name = path.substr(1, end - 1);
      path.remove_prefix(end);
    } else {
      return "it is written as in .spec.item or .labels['a b']";
    }
    const Tree* properties = at->Find("properties");
    const Tree* inner = properties == nullptr ? nullptr : properties->Find(name);
    if (inner == nullptr) inner = at->Find("additionalProperties");
    if (inner == nullptr) return "it names no member: there is no " + Quote(name);
    at = inner;
  }
  return {};
}

}  // namespace kgen::generator::crd
