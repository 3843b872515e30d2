// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "validation/value_check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "validation/number_check.h"
#include "validation/report.h"

namespace kgen::validation {
namespace {

using nlohmann::json;

// What a server calls a value: its type in JSON, and the format of the type in Go that holds it.
struct Described {
  std::string_view type;
  std::string_view format;
};

Described Describe(const json& value) {
  if (value.is_object()) return {"object", ""};
  if (value.is_array()) return {"array", ""};
  if (value.is_string()) return {"string", ""};
  if (value.is_boolean()) return {"boolean", ""};
  return IsInt64(value) ? Described{"integer", "int64"} : Described{"number", "float64"};
}

std::string Joined(const std::vector<std::string>& types) {
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : ",") + type;
  return text;
}

std::size_t Runes(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Whether a value of the object equals a value of an enum, after the server has converted it to the type of the latter.
bool IsSame(const json& value, const json& allowed) {
  if (IsInt64(value) && allowed.is_number_float()) return value.get<double>() == allowed.get<double>();
  if (value.is_number_float() && IsInt64(allowed))
    return static_cast<double>(allowed.get<std::int64_t>()) == std::trunc(value.get<double>());
  return !allowed.is_null() && value == allowed;
}

// Checks one value and what is in it. Each function returns how many of its checks applied and passed, as a server
// counts them: of the schemas in anyOf or oneOf, it reports the errors of the one that has come furthest.
class ValueChecker {
 public:
  explicit ValueChecker(std::string path) : path_(std::move(path)) {}

  int Check(const json& value, const Node& node) {
    if (value.is_null()) return CheckNull(node);
    int matches = 1;
    if (!node.types.empty() || !node.format.empty()) matches += CheckType(value, node) + 1;
    matches += CheckCombinations(value, node) + 2;
    if (value.is_string()) {
      CheckString(value.get_ref<const std::string&>(), node);
      matches += node.check_format != nullptr ? 2 : 1;
    }
    if (value.is_number()) {
      CheckNumber(value, node, path_, errors_);
      matches += 2;
    }
    if (value.is_array()) matches += CheckArray(value, node) + 2;
    CheckEnum(value, node);
    ++matches;
    if (value.is_object()) matches += CheckObject(value, node) + 1;
    return matches;
  }

  FieldErrors& errors() noexcept { return errors_; }

 private:
  // Another path in the meantime.
  class Place {
   public:
    Place(std::string& path, std::string_view more) : path_(path), size_(path.size()) { path_ += more; }
    ~Place() { path_.resize(size_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    std::string& path_;
    const std::size_t size_;
  };

  std::string_view Field() const { return path_.empty() ? kNowhere : std::string_view(path_); }
  void Invalid(const json& value, const std::string& why) {
    AddInvalid(errors_, Field(), value, path_ + " in body " + why);
  }
  void InvalidSomewhere(const std::string& why) { errors_.Invalid(kNowhere, "", why); }
  void WrongType(std::string_view shown, const std::string& type) {
    FieldErrors quoted;
    quoted.Invalid("", shown, "");
    const std::string text = quoted.begin()->message.substr(sizeof("Invalid value: ") - 1);
    errors_.TypeInvalid(Field(), shown, path_ + " in body must be of type " + type + ": " + text);
  }
  void NotInEnum(const json& value, const Node& node) { AddNotSupported(errors_, Field(), value, node.allowed); }

  int CheckNull(const Node& node) {
    const bool fits = node.types.empty() || node.nullable;
    if (!fits) WrongType("null", Joined(node.types));
    if (!node.allowed.empty()) NotInEnum(nullptr, node);  // even if the enum has null
    return fits ? 1 : 0;
  }

  int CheckType(const json& value, const Node& node) {
    const Described found = Describe(value);
    const bool whole = value.is_number() && IsWhole(value) && node.HasType("integer");
    const bool fits = node.HasType(found.type) || whole || (found.type == "integer" && node.HasType("number"));
    const bool has_format = !node.format.empty(), list_or_text = value.is_string() || value.is_array();
    if (has_format && !list_or_text && !fits && found.format != node.format) {
      WrongType(found.format, node.format);
      return 0;
    }
    if (has_format && list_or_text && !node.HasType("number") && !node.HasType("integer")) return 1;
    if (fits) return 1;
    WrongType(found.type, Joined(node.types));
    return 0;
  }

  // The errors of `value` against another schema, and the matches.
  std::pair<FieldErrors, int> Try(const json& value, const Node& node) const {
    ValueChecker checker(path_);
    const int matches = checker.Check(value, node);
    return {std::move(checker.errors_), matches};
  }
  void Append(const FieldErrors& more) { errors_.Add("", more); }

  int CheckCombinations(const json& value, const Node& node) {
    int matches = 0;
    if (!node.any_of.empty()) matches += CheckAnyOf(value, node);
    if (!node.one_of.empty()) matches += CheckOneOf(value, node);
    std::size_t valid = 0;
    for (const auto& each : node.all_of) {
      auto [errors, count] = Try(value, *each);
      valid += errors.empty() ? 1 : 0;
      matches += count;
      Append(errors);
    }
    const std::string field = '"' + path_ + '"';
    if (valid < node.all_of.size())
      InvalidSomewhere(field + " must validate all the schemas (allOf)" + (valid == 0 ? ". None validated" : ""));
    if (node.banned != nullptr && Try(value, *node.banned).first.empty())
      InvalidSomewhere(field + " must not validate the schema (not)");
    return matches;
  }

  int CheckAnyOf(const json& value, const Node& node) {
    std::pair<FieldErrors, int> best{{}, -1};
    for (const auto& each : node.any_of) {
      auto tried = Try(value, *each);
      if (tried.first.empty()) return tried.second;
      if (tried.second > best.second) best = std::move(tried);
    }
    InvalidSomewhere('"' + path_ + "\" must validate at least one schema (anyOf)");
    Append(best.first);
    return best.second;
  }

  int CheckOneOf(const json& value, const Node& node) {
    std::pair<FieldErrors, int> best{{}, -1};
    int valid = 0, matches = 0;
    for (const auto& each : node.one_of) {
      auto tried = Try(value, *each);
      if (tried.first.empty()) {
        if (valid++ == 0) matches = tried.second;
      } else if (tried.second > best.second) {
        best = std::move(tried);
      }
    }
    if (valid == 1) return matches;
    InvalidSomewhere('"' + path_ + "\" must validate one and only one schema (oneOf). Found " +
                     (valid == 0 ? "none valid" : std::to_string(valid) + " valid alternatives"));
    if (valid > 0) return 0;
    Append(best.first);
    return best.second;
  }

  void CheckString(const std::string& text, const Node& node) {
    const auto length = static_cast<std::int64_t>(Runes(text));
    if (node.max_length && length > *node.max_length) {
      errors_.TooLong(Field(), static_cast<std::size_t>(*node.max_length));
    } else if (node.min_length && length < *node.min_length) {
      Invalid(text, "should be at least " + std::to_string(*node.min_length) + " chars long");
    } else if (node.pattern && !node.pattern->Matches(text)) {
      Invalid(text, "should match '" + node.pattern->text() + "'");
    }
    if (node.check_format != nullptr && !node.check_format(text)) WrongType(text, node.format);
  }

  int CheckArray(const json& value, const Node& node) {
    int matches = 0;
    if (node.items != nullptr) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        const Place place(path_, "[" + std::to_string(i) + "]");
        matches += Check(value[i], *node.items);
      }
    }
    const auto size = static_cast<std::int64_t>(value.size());
    if (node.min_items && size < *node.min_items)
      Invalid(size, "should have at least " + std::to_string(*node.min_items) + " items");
    if (node.max_items && size > *node.max_items)
      errors_.TooMany(Field(), value.size(), static_cast<std::size_t>(*node.max_items));
    return matches;
  }

  void CheckEnum(const json& value, const Node& node) {
    const auto same = [&](const json& allowed) { return IsSame(value, allowed); };
    if (!node.allowed.empty() && std::ranges::none_of(node.allowed, same)) NotInEnum(value, node);
  }

  int CheckObject(const json& value, const Node& node) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (node.min_properties && size < *node.min_properties)
      Invalid(size, "should have at least " + std::to_string(*node.min_properties) + " properties");
    if (node.max_properties && size > *node.max_properties)
      errors_.TooMany(Field(), value.size(), static_cast<std::size_t>(*node.max_properties));
    int matches = 0;
    const std::string dot = path_.empty() ? "" : ".";
    for (const auto& [name, member] : value.items()) {
      const Node* inner = node.FindMember(name);
      if (inner == nullptr) continue;
      const Place place(path_, dot + name);
      matches += Check(member, *inner);
    }
    for (const std::string& name : node.required) {
      if (!value.contains(name)) errors_.Required(path_ + dot + name);
    }
    return matches;
  }

  std::string path_;
  FieldErrors errors_{};
};

}  // namespace

void CheckValue(const json& value, const Node& node, const std::string& path, FieldErrors& errors) {
  ValueChecker checker(path);
  checker.Check(value, node);
  // One check may be made twice, in an allOf for instance. A server reports each text once.
  std::set<std::pair<std::string, std::string>> seen;
  for (const FieldError& error : checker.errors()) {
    if (seen.emplace(error.field, error.message).second) errors.Add(error);
  }
}

}  // namespace kgen::validation
