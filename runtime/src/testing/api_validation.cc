// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/api_validation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

bool IsWhole(const json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
}

std::string_view TypeOf(const json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (IsWhole(value)) return "integer";
  if (value.is_number()) return "number";
  return "null";
}

bool IsInt64(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  return value.is_number_integer() || (IsWhole(value) && std::abs(value.get<double>()) < 9223372036854775808.0);
}

std::string Dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string Shown(const json& value) {
  return value.is_structured() ? '"' + std::string(TypeOf(value)) + '"' : Dumped(value);
}

bool Says(const json& schema, const char* key) {
  const auto said = schema.find(key);
  return said != schema.end() && *said == true;
}

// Returns a number of the schema, or null if it is absent.
const json* NumberOf(const json& schema, const char* key) {
  const auto found = schema.find(key);
  return found != schema.end() && found->is_number() ? &*found : nullptr;
}

// Returns the schemas in allOf, anyOf or oneOf, or null if there are none.
const json* ListOf(const json& schema, const char* key) {
  const auto found = schema.find(key);
  return found != schema.end() && found->is_array() && !found->empty() ? &*found : nullptr;
}

std::size_t Runes(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

class Checker {
 public:
  std::vector<FieldFault> faults;

  // Performs the checks in the order of a real server.
  void Check(const json& value, const json& schema, const std::string& path) {
    if (!schema.is_object()) return;
    if (value.is_null()) {  // SetDefaults() has dropped the disallowed nulls of members
      const std::string type = TextAt(schema, "type");
      if (path.ends_with(']') && !type.empty() && !Says(schema, "nullable")) WrongType("\"null\"", type, path);
      return;
    }
    CheckType(value, schema, path);
    CheckCombinations(value, schema, path);
    if (value.is_string()) CheckString(value.get_ref<const std::string&>(), schema, path);
    if (value.is_number()) CheckNumber(value, schema, path);
    if (value.is_array()) CheckArray(value, schema, path);
    CheckEnum(value, schema, path);
    if (value.is_object()) CheckObject(value, schema, path);
  }

 private:
  void Invalid(const json& value, const std::string& path, const std::string& why) {
    faults.push_back({"FieldValueInvalid", path, "Invalid value: " + Shown(value) + ": " + path + " in body " + why});
  }
  // The message of a real server for an error without a field.
  void InvalidSomewhere(const std::string& why) {
    faults.push_back({"FieldValueInvalid", "<nil>", "Invalid value: \"\": " + why});
  }
  void TooMany(std::size_t count, std::size_t most, const std::string& path) {
    faults.push_back({"FieldValueTooMany", path,
                      "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(most) + " items"});
  }
  void WrongType(const std::string& shown, const std::string& type, const std::string& path) {
    faults.push_back({"FieldValueTypeInvalid", path,
                      "Invalid value: " + shown + ": " + path + " in body must be of type " + type + ": " + shown});
  }

  void CheckType(const json& value, const json& schema, const std::string& path) {
    const std::string actual(TypeOf(value)), shown = '"' + actual + '"';
    if (Says(schema, "x-kubernetes-int-or-string")) {
      if (actual != "string" && actual != "integer") WrongType(shown, "integer,string", path);
      return;
    }
    const std::string type = TextAt(schema, "type");
    if (type.empty() || actual == type || (type == "number" && value.is_number())) return;
    WrongType(shown, type, path);
  }

  static std::vector<FieldFault> FaultsOf(const json& value, const json& schema, const std::string& path) {
    Checker checker;
    checker.Check(value, schema, path);
    return std::move(checker.faults);
  }

  void Append(std::vector<FieldFault> more) { std::move(more.begin(), more.end(), std::back_inserter(faults)); }

  void CheckCombinations(const json& value, const json& schema, const std::string& path) {
    const std::string field = '"' + path + '"';
    for (const bool exactly_one : {false, true}) {
      const json* list = ListOf(schema, exactly_one ? "oneOf" : "anyOf");
      if (list == nullptr) continue;
      const auto valid = std::count_if(list->begin(), list->end(),
                                       [&](const json& each) { return FaultsOf(value, each, path).empty(); });
      if (valid == 1 || (valid > 0 && !exactly_one)) continue;
      if (!exactly_one) InvalidSomewhere(field + " must validate at least one schema (anyOf)");
      if (exactly_one) {
        InvalidSomewhere(field + " must validate one and only one schema (oneOf). Found " +
                         (valid == 0 ? "none valid" : std::to_string(valid) + " valid alternatives"));
      }
      if (valid == 0) Append(FaultsOf(value, list->front(), path));
    }
    if (const json* list = ListOf(schema, "allOf"); list != nullptr) {
      const std::size_t before = faults.size();
      for (const json& each : *list) Append(FaultsOf(value, each, path));
      if (faults.size() > before) InvalidSomewhere(field + " must validate all the schemas (allOf)");
    }
    if (const auto banned = schema.find("not"); banned != schema.end() && FaultsOf(value, *banned, path).empty()) {
      InvalidSomewhere(field + " must not validate the schema (not)");
    }
  }

  void CheckString(const std::string& text, const json& schema, const std::string& path) {
    const json *least = NumberOf(schema, "minLength"), *most = NumberOf(schema, "maxLength");
    const std::string pattern = TextAt(schema, "pattern"), format = TextAt(schema, "format");
    if (most != nullptr && Runes(text) > *most) {
      faults.push_back({"FieldValueTooLong", path, "Too long: may not be more than " + most->dump() + " bytes"});
    } else if (least != nullptr && Runes(text) < *least) {
      Invalid(text, path, "should be at least " + least->dump() + " chars long");
    } else if (!pattern.empty() && !MatchesPattern(text, pattern)) {
      Invalid(text, path, "should match '" + pattern + "'");
    }
    if (!format.empty() && !IsOfFormat(text, format)) WrongType(Dumped(text), format, path);
  }

  void CheckNumber(const json& value, const json& schema, const std::string& path) {
    const std::string format = TextAt(schema, "format");
    const bool is_int32 = IsWhole(value) && value >= std::numeric_limits<std::int32_t>::min() &&
                          value <= std::numeric_limits<std::int32_t>::max();
    const bool is_int64 = IsInt64(value);
    if ((format == "int32" && !is_int32) || (format == "int64" && !is_int64)) {
      InvalidSomewhere("Checked value must be of type integer with format " + format + " in " + path);
    }
    const json* step = NumberOf(schema, "multipleOf");
    if (step != nullptr && step->get<double>() > 0) {
      const double ratio = value.get<double>() / step->get<double>();
      if (std::trunc(ratio) != ratio) Invalid(value, path, "should be a multiple of " + step->dump());
    }
    if (const json* most = NumberOf(schema, "maximum"); most != nullptr) {
      const bool exclusive = Says(schema, "exclusiveMaximum");
      if (value > *most || (exclusive && value == *most))
        Invalid(value, path, std::string("should be less than ") + (exclusive ? "" : "or equal to ") + most->dump());
    }
    if (const json* least = NumberOf(schema, "minimum"); least != nullptr) {
      const bool exclusive = Says(schema, "exclusiveMinimum");
      if (value < *least || (exclusive && value == *least))
        Invalid(value, path,
                std::string("should be greater than ") + (exclusive ? "" : "or equal to ") + least->dump());
    }
  }

  void CheckArray(const json& value, const json& schema, const std::string& path) {
    const json *least = NumberOf(schema, "minItems"), *most = NumberOf(schema, "maxItems");
    if (least != nullptr && value.size() < *least) {
      Invalid(value.size(), path, "should have at least " + least->dump() + " items");
    }
    if (most != nullptr && value.size() > *most) TooMany(value.size(), most->get<std::size_t>(), path);
    const std::string type = TextAt(schema, "x-kubernetes-list-type");
    std::set<json> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string place = path + "[" + std::to_string(i) + "]";
      if (schema.contains("items")) Check(value[i], schema["items"], place);
      json key = value[i];
      if (type == "map") key = KeysOf(value[i], schema);
      if ((type == "set" || (type == "map" && !key.empty())) && !seen.insert(key).second) {
        faults.push_back({"FieldValueDuplicate", place, "Duplicate value: " + Dumped(key)});
      }
    }
  }

  // Returns the members that identify an entry of a keyed list.
  static json KeysOf(const json& entry, const json& schema) {
    json keys = json::object();
    const auto names = schema.find("x-kubernetes-list-map-keys");
    if (!entry.is_object() || names == schema.end() || !names->is_array()) return keys;
    for (const json& name : *names) {
      if (name.is_string() && entry.contains(name.get<std::string>()))
        keys[name.get<std::string>()] = entry[name.get<std::string>()];
    }
    return keys;
  }

  void CheckEnum(const json& value, const json& schema, const std::string& path) {
    const auto allowed = schema.find("enum");
    if (allowed == schema.end() || !allowed->is_array()) return;
    if (std::find(allowed->begin(), allowed->end(), value) != allowed->end()) return;
    std::string list;
    for (const json& each : *allowed) list += (list.empty() ? "" : ", ") + Shown(each);
    faults.push_back(
        {"FieldValueNotSupported", path, "Unsupported value: " + Shown(value) + ": supported values: " + list});
  }

  void Require(const json& value, const std::string& name, const std::string& prefix) {
    if (!value.contains(name)) faults.push_back({"FieldValueRequired", prefix + name, "Required value"});
  }

  void CheckObject(const json& value, const json& schema, const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + ".";
    const json *least = NumberOf(schema, "minProperties"), *most = NumberOf(schema, "maxProperties");
    if (least != nullptr && value.size() < *least) {
      Invalid(value.size(), path, "should have at least " + least->dump() + " properties");
    }
    if (most != nullptr && value.size() > *most) TooMany(value.size(), most->get<std::size_t>(), path);
    const bool embedded = Says(schema, "x-kubernetes-embedded-resource");
    for (const char* name : {"apiVersion", "kind"}) {
      if (embedded) Require(value, name, prefix);
    }
    if (const auto required = schema.find("required"); required != schema.end() && required->is_array()) {
      for (const json& name : *required) {
        if (name.is_string()) Require(value, name.get<std::string>(), prefix);
      }
    }
    const auto properties = schema.find("properties");
    const auto additional = schema.find("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      if ((path.empty() || embedded) && (key == "metadata" || key == "apiVersion" || key == "kind")) continue;
      if (properties != schema.end() && properties->contains(key)) {
        Check(member, (*properties)[key], prefix + key);
      } else if (additional != schema.end()) {
        Check(member, *additional, prefix + key);
      }
    }
  }
};

}  // namespace

std::vector<FieldFault> ValidateObject(const json& object, const json& schema) {
  Checker checker;
  checker.Check(object, schema, "");
  return std::move(checker.faults);
}

}  // namespace kgen::testing
