// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/macros.h"
#include "generator/utf8.h"

namespace kgen::generator::emit {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Keywords and alternative tokens up to C++26.
constexpr std::string_view kKeywords[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "contract_assert",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};

// Macros of other platforms and of frameworks.
constexpr std::string_view kMacros[] = {
    "BUFSIZ",  "DELETE",  "DIFFERENCE", "DOMAIN", "EOF",    "ERROR",   "FALSE",  "I",      "IN",    "INFINITY",
    "NAN",     "NULL",    "OPTIONAL",   "OUT",    "STRICT", "TRUE",    "asm",    "assert", "check", "emit",
    "errno",   "far",     "interface",  "linux",  "major",  "makedev", "max",    "min",    "minor", "near",
    "require", "signals", "slots",      "small",  "stderr", "stdin",   "stdout", "unix",   "verify"};

// Words with a special meaning at the start of a line, and names that some systems do not allow as file names.
constexpr std::string_view kBadNamespaces[] = {"aux", "con",      "final", "import", "module",
                                               "nul", "override", "prn",   "posix"};

// The namespaces that generated code uses without leading colons, so no generated name may hide them.
constexpr std::string_view kUsedNamespaces[] = {"kgen", "std"};

// Words that end like a plural and are none.
constexpr std::string_view kNoPlurals[] = {"aws", "dns", "gcs", "https", "kms", "nfs", "series", "tls"};

template <std::size_t n>
bool Contains(const std::string_view (&words)[n], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool IsReserved(std::string_view word) {
  return Contains(kKeywords, word) || Contains(kMacros, word) || Contains(kUsedNamespaces, word) || IsSystemMacro(word);
}

bool IsDevice(std::string_view word) {
  return word.size() == 4 && (word.starts_with("com") || word.starts_with("lpt")) && IsDigit(word[3]);
}

std::string WithUnderscore(std::string word) {
  if (word.empty() || word.back() != '_') word += '_';
  return word;
}

constexpr std::array<std::pair<char, std::string_view>, 33> kSymbols = {
    {{'-', "dash"},      {'_', "underscore"}, {'$', "dollar"},   {'*', "star"},       {'=', "equal"},
     {'!', "not"},       {'~', "tilde"},      {'.', "dot"},      {'/', "slash"},      {'\\', "backslash"},
     {'+', "plus"},      {'<', "less"},       {'>', "greater"},  {'&', "ampersand"},  {'|', "bar"},
     {'%', "percent"},   {'^', "caret"},      {'@', "at"},       {'#', "hash"},       {':', "colon"},
     {';', "semicolon"}, {',', "comma"},      {'?', "question"}, {'\'', "quote"},     {'"', "doublequote"},
     {'(', "open"},      {')', "close"},      {'[', "bracket"},  {']', "endbracket"}, {'{', "brace"},
     {'}', "endbrace"},  {' ', "space"},      {'`', "backtick"}}};

std::string_view SymbolWord(char c) {
  for (const auto& [symbol, word] : kSymbols) {
    if (symbol == c) return word;
  }
  return "control";
}

// The next non-ASCII character of `text` as a word of its own: its code point, "u00e9"; bytes of invalid UTF-8 one by
// one.
std::string ForeignWord(std::string_view& text) {
  const CodePoint c = DecodeUtf8(text);
  text.remove_prefix(c.size);
  std::string word = "u";
  const char* digits = "0123456789abcdef";
  for (int shift = c.value > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4) word += digits[c.value >> shift & 0xF];
  return word;
}

// Splits at every character that is neither a letter nor a digit. A name of symbols gives their words; an empty name,
// "empty".
std::vector<std::string> Words(std::string_view text) {
  if (text.empty()) return {"empty"};
  std::vector<std::string> words;
  std::vector<std::string> symbols;
  bool open = false;
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) >= 0x80) {
      words.push_back(ForeignWord(text));
      open = false;
      continue;
    }
    text.remove_prefix(1);
    if (!IsLetter(c) && !IsDigit(c)) {
      symbols.emplace_back(SymbolWord(c));
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    words.back() += c;
    open = true;
  }
  return words.empty() ? symbols : words;
}

bool IsIdentifier(std::string_view text) {
  if (text.empty() || IsDigit(text[0]) || text.find("__") != std::string_view::npos) return false;
  if (text[0] == '_' && (text.size() == 1 || !IsLower(text[1]))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
}

// Joins words, each with a capital. Digits that would run together are kept apart.
std::string Camel(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty() && IsDigit(out.back()) && IsDigit(word[0])) out += '_';
    out += Upper(word[0]);
    out.append(word, 1);
  }
  return out;
}

std::string Join(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

bool IsPlain(char c) { return IsLetter(c) || IsDigit(c); }

// Returns whether a value can be a part of an identifier as it is: letters, digits, and single underscores inside.
bool IsVerbatim(std::string_view value) {
  return !value.empty() && IsPlain(value.front()) && IsPlain(value.back()) &&
         value.find("__") == std::string_view::npos &&
         std::all_of(value.begin(), value.end(), [](char c) { return IsPlain(c) || c == '_'; });
}

// The name of the next character of `text`, which is neither a letter nor a digit, with a capital. No name is the
// beginning of another one followed by a name.
std::string SymbolName(std::string_view& text) {
  std::string name;
  if (static_cast<unsigned char>(text.front()) >= 0x80) {
    name = ForeignWord(text);
  } else {
    const char c = text.front();
    const bool control = c < 0x20 || c == 0x7F;
    name = control ? ForeignWord(text) : std::string(SymbolWord(c));
    if (!control) text.remove_prefix(1);
  }
  name[0] = Upper(name[0]);
  return name;
}

// "_cloud_Dash_config", "EqualTilde_5": parts that are letters and digits alternate with the names of the symbols
// between them. The first part has an underscore before it if it is of letters and digits, so that the value can be
// told from the result.
std::string Spelled(std::string_view value) {
  std::string out;
  while (!value.empty()) {
    const bool plain = IsPlain(value.front());
    if (plain || !out.empty()) out += '_';
    while (!value.empty() && IsPlain(value.front()) == plain) {
      if (plain) {
        out += value.front();
        value.remove_prefix(1);
      } else {
        out += SymbolName(value);
      }
    }
  }
  return out.empty() ? "Empty" : out;
}

}  // namespace

std::string MemberIdentifier(std::string_view wire_name) {
  std::string name(wire_name);
  if (!IsIdentifier(name)) name = Join(Words(wire_name), "_");
  if (IsDigit(name[0])) name.insert(0, "n");
  return IsReserved(name) ? WithUnderscore(std::move(name)) : name;
}

std::string TypeIdentifier(std::string_view name) {
  std::string type(name);
  if (!IsIdentifier(type) || !IsLetter(type[0])) type = Camel(Words(name));
  type[0] = Upper(type[0]);
  if (IsDigit(type[0])) type.insert(0, "N");
  return IsReserved(type) ? WithUnderscore(std::move(type)) : type;
}

std::string Singular(std::string_view plural) {
  // The last word, which a capital or a symbol begins.
  std::string word;
  for (char c : plural) {
    if (!IsLetter(c) || (IsUpper(c) && !word.empty() && IsLower(word.back()))) word.clear();
    if (IsLetter(c)) word += c;
  }
  const bool plain = word.size() > 2 && word.back() == 's';
  if (!word.empty()) word[0] = Lower(word[0]);
  const auto ends = [&](std::string_view ending) { return plural.ends_with(ending); };
  if (!plain || Contains(kNoPlurals, word) || ends("ss") || ends("us") || ends("is")) return std::string(plural);
  if (ends("ies")) return std::string(plural.substr(0, plural.size() - 3)) + "y";
  if (word == "caches") return std::string(plural.substr(0, plural.size() - 1));
  const bool drops_es = ends("sses") || ends("xes") || ends("ches") || ends("shes") || ends("tuses") || ends("iases");
  return std::string(plural.substr(0, plural.size() - (drops_es ? 2 : 1)));
}

std::string ElementTypeIdentifier(std::string_view name, const std::vector<std::string>& siblings,
                                  const std::set<std::string, std::less<>>& taken) {
  const std::string singular = TypeIdentifier(Singular(name));
  const bool shared = std::any_of(siblings.begin(), siblings.end(), [&](const std::string& sibling) {
    return sibling != name && (TypeIdentifier(sibling) == singular || TypeIdentifier(Singular(sibling)) == singular);
  });
  return shared || taken.contains(singular) ? TypeIdentifier(name) : singular;
}

std::string ConstantIdentifier(std::string_view value) {
  if (!IsVerbatim(value)) return "ks" + Spelled(value);
  const bool pascal = IsUpper(value[0]) && value.find('_') == std::string_view::npos;
  std::string name = (pascal ? "k" : "k_") + std::string(value);
  if (name == "kTable") name += '_';  // only types with fields have a kTable
  return name;
}

std::vector<std::string> FieldConstants(const std::vector<std::string>& paths) {
  std::map<std::string, std::size_t> wanted;
  std::vector<std::string> result;
  result.reserve(paths.size());
  for (const std::string& path : paths) {
    result.push_back("k" + Camel(Words(path)));
    ++wanted[result.back()];
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool usable = wanted[result[i]] == 1 && !IsDigit(result[i][1]) && result[i] != "kTable";
    if (!usable) result[i] = ConstantIdentifier(paths[i]);
  }
  return result;
}

std::string NamespaceIdentifier(std::string_view name) {
  std::string out = Join(Words(name), "_");
  std::transform(out.begin(), out.end(), out.begin(), Lower);
  if (IsDigit(out[0])) out.insert(0, "n");
  if (IsReserved(out) || Contains(kBadNamespaces, out) || IsDevice(out)) return WithUnderscore(std::move(out));
  return out;
}

bool IsNamespace(const std::string& text) {
  std::string_view rest = text;
  bool first = true;
  for (;;) {
    const std::size_t end = rest.find("::");
    const std::string part(rest.substr(0, end));
    if (part.empty() || part.size() > 60 || part[0] == '_' || NamespaceIdentifier(part) != part) return false;
    if (first && part == "main") return false;
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 2);
    first = false;
  }
}

std::string VersionAccessor(std::string_view version) {
  std::string name = Join(Words(version), "_");
  name[0] = Upper(name[0]);
  return IsReserved(name) ? WithUnderscore(std::move(name)) : name;
}

std::string ResourceAccessor(std::string_view plural, std::string_view kind) {
  std::string cased(plural);
  for (std::size_t i = 0; i < cased.size() && i < kind.size() && cased[i] == Lower(kind[i]); ++i) cased[i] = kind[i];
  return TypeIdentifier(cased);
}

std::vector<std::string> DistinctIdentifiers(const std::vector<std::string>& names,
                                             const std::function<std::string(std::string_view)>& identifier,
                                             const std::set<std::string, std::less<>>& taken) {
  // Identifier -> the names that map to it: the one that is spelled exactly like it first, then in byte order.
  std::map<std::string, std::vector<std::size_t>> wanted;
  for (std::size_t i = 0; i < names.size(); ++i) wanted[identifier(names[i])].push_back(i);
  std::vector<std::string> result(names.size());
  std::set<std::string, std::less<>> used(taken.begin(), taken.end());
  for (auto& [name, indices] : wanted) {
    std::sort(indices.begin(), indices.end(), [&, &name = name](std::size_t a, std::size_t b) {
      return std::pair(names[a] != name, names[a]) < std::pair(names[b] != name, names[b]);
    });
    std::string first = name;
    while (used.contains(first) || (first != name && wanted.contains(first))) first += first.back() == '_' ? "2_" : "_";
    used.insert(first);
    result[indices[0]] = std::move(first);
  }
  for (const auto& [name, indices] : wanted) {
    std::size_t number = 2;
    for (std::size_t k = 1; k < indices.size(); ++k) {
      const auto numbered = [&] { return (name.back() == '_' ? name : name + "_") + std::to_string(number); };
      while (used.contains(numbered())) ++number;
      result[indices[k]] = numbered();
      used.insert(result[indices[k]]);
    }
  }
  return result;
}

}  // namespace kgen::generator::emit
