// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/markers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <expected>
#include <span>
#include <utility>

#include "generator/crd/pattern.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

enum class ValueForm : std::uint8_t { kNone, kBool, kInteger, kNumber, kText, kList, kJson, kArgs, kIgnored };

// One marker: where it may stand, and its value. An argument ends in ! if it is required, and in * if it is a list.
struct Row {
  std::string_view name;
  int places;
  ValueForm form;
  std::string_view example;
  std::span<const std::string_view> args = {};
};

constexpr int kSchema = kOnStruct | kOnMember | kOnEnum;
constexpr std::string_view kResourceArgs[] = {"group",      "version",     "path", "singular",
                                              "shortName*", "categories*", "scope"};
constexpr std::string_view kScaleArgs[] = {"specpath!", "statuspath!", "selectorpath"};
constexpr std::string_view kColumnArgs[] = {"name!", "type!", "jsonPath!", "description", "format", "priority"};
constexpr std::string_view kPathArgs[] = {"jsonPath!"};
constexpr std::string_view kWarningArgs[] = {"warning"};
constexpr std::string_view kMetadataArgs[] = {"annotations*", "labels*"};
constexpr std::string_view kRuleArgs[] = {"rule!",  "message",   "messageExpression",
                                          "reason", "fieldPath", "optionalOldSelf"};
constexpr std::string_view kRbacArgs[] = {"groups*", "resources*", "verbs!*", "resourceNames*", "urls*", "namespace"};

// In byte order.
constexpr Row kRows[] = {
    {"default", kSchema, ValueForm::kJson, "+kgen:default=1"},
    {"deprecated", kOnStruct, ValueForm::kArgs, "+kgen:deprecated:warning=\"use v2\"", kWarningArgs},
    {"embeddedresource", kSchema, ValueForm::kNone, "+kgen:embeddedResource"},
    {"enum", kSchema, ValueForm::kList, "+kgen:enum=Low;High"},
    {"exclusivemaximum", kSchema, ValueForm::kBool, "+kgen:exclusiveMaximum=true"},
    {"exclusiveminimum", kSchema, ValueForm::kBool, "+kgen:exclusiveMinimum=true"},
    {"format", kSchema, ValueForm::kText, "+kgen:format=email"},
    {"genclient", kOnStruct, ValueForm::kIgnored, ""},
    {"groupname", kOnStruct, ValueForm::kText, "+groupName=shop.example.com"},
    {"inline", kOnMember, ValueForm::kNone, "+kgen:inline"},
    {"listmapkey", kOnMember, ValueForm::kText, "+listMapKey=name"},
    {"listtype", kOnMember, ValueForm::kText, "+listType=map"},
    {"maptype", kSchema, ValueForm::kText, "+mapType=atomic"},
    {"maximum", kSchema, ValueForm::kNumber, "+kgen:maximum=10"},
    {"maxitems", kSchema, ValueForm::kInteger, "+kgen:maxItems=10"},
    {"maxlength", kSchema, ValueForm::kInteger, "+kgen:maxLength=63"},
    {"maxproperties", kSchema, ValueForm::kInteger, "+kgen:maxProperties=10"},
    {"metadata", kOnStruct, ValueForm::kArgs, "+kgen:metadata:labels=\"team=shop\"", kMetadataArgs},
    {"minimum", kSchema, ValueForm::kNumber, "+kgen:minimum=1"},
    {"minitems", kSchema, ValueForm::kInteger, "+kgen:minItems=1"},
    {"minlength", kSchema, ValueForm::kInteger, "+kgen:minLength=1"},
    {"minproperties", kSchema, ValueForm::kInteger, "+kgen:minProperties=1"},
    {"multipleof", kSchema, ValueForm::kNumber, "+kgen:multipleOf=5"},
    {"name", kOnMember | kOnEnumValue, ValueForm::kText, "+kgen:name=fieldName"},
    {"nullable", kOnMember, ValueForm::kNone, "+nullable"},
    {"object:generate", kOnStruct, ValueForm::kIgnored, ""},
    {"object:root", kOnStruct, ValueForm::kIgnored, ""},
    {"optional", kOnMember, ValueForm::kNone, "+optional"},
    {"pattern", kSchema, ValueForm::kText, "+kgen:pattern=`^[a-z]+$`"},
    {"preserveunknownfields", kSchema, ValueForm::kNone, "+kgen:preserveUnknownFields"},
    {"printcolumn", kOnStruct, ValueForm::kArgs, "+kgen:printcolumn:name=Item,type=string,jsonPath=.spec.item",
     kColumnArgs},
    {"rbac", kOnStruct, ValueForm::kArgs, "+kgen:rbac:groups=apps,resources=deployments,verbs=get;list", kRbacArgs},
    {"required", kOnMember, ValueForm::kNone, "+required"},
    {"resource", kOnStruct, ValueForm::kArgs, "+kgen:resource:group=shop.example.com,version=v1,shortName=ord",
     kResourceArgs},
    {"selectablefield", kOnStruct, ValueForm::kArgs, "+kgen:selectablefield:jsonPath=.spec.item", kPathArgs},
    {"served", kOnStruct, ValueForm::kBool, "+kgen:served=false"},
    {"storage", kOnStruct, ValueForm::kNone, "+kgen:storage"},
    {"subresource:scale", kOnStruct, ValueForm::kArgs,
     "+kgen:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas", kScaleArgs},
    {"subresource:status", kOnStruct, ValueForm::kNone, "+kgen:subresource:status"},
    {"versionname", kOnStruct, ValueForm::kText, "+versionName=v1"},
    {"xvalidation", kSchema, ValueForm::kArgs, "+kgen:XValidation:rule=\"self.size() > 0\",message=\"is empty\"",
     kRuleArgs},
};

// Other spellings.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"deprecatedversion", "deprecated"},
    {"k8s:optional", "optional"},
    {"k8s:required", "required"},
    {"pruning:preserveunknownfields", "preserveunknownfields"},
    {"storageversion", "storage"},
    {"structtype", "maptype"},
    {"unservedversion", "served"},
    {"xembeddedresource", "embeddedresource"},
    {"xpreserveunknownfields", "preserveunknownfields"},
};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

const Row* FindRow(std::string_view name) {
  for (const auto& [other, real] : kSynonyms) {
    if (other == name) name = real;
  }
  for (const Row& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool TakePrefix(std::string_view& text, std::string_view lower_prefix) {
  if (Lower(text.substr(0, lower_prefix.size())) != lower_prefix) return false;
  text.remove_prefix(lower_prefix.size());
  return true;
}

// Reads a value at the start of `text`, up to one of `ends` outside of quotes and braces, and removes it.
struct ReadValue {
  std::string text;
  bool quoted = false;
};
std::expected<ReadValue, std::string> TakeValue(std::string_view& text, std::string_view ends) {
  ReadValue out;
  text = Trim(text);
  if (!text.empty() && text[0] == '`') {
    const std::size_t end = text.find('`', 1);
    if (end == std::string_view::npos)
      return std::unexpected("the value begins with a back quote and does not end on this line");
    out = {std::string(text.substr(1, end - 1)), true};
    text = Trim(text.substr(end + 1));
  } else if (!text.empty() && text[0] == '"') {
    std::size_t at = 1;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        out.text += text[at];
        continue;
      }
      if (++at == text.size()) break;
      const char c = text[at];
      if (c != '"' && c != '\\' && c != 'n' && c != 't')
        return std::unexpected("the escape \\" + std::string(1, c) + " is unknown; write the value in back quotes");
      out.text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    if (at >= text.size()) return std::unexpected("the value begins with a quote and does not end on this line");
    out.quoted = true;
    text = Trim(text.substr(at + 1));
  } else {
    std::size_t at = 0;
    for (int depth = 0; at < text.size(); ++at) {
      if (text[at] == '{' || text[at] == '[') ++depth;
      if (text[at] == '}' || text[at] == ']') --depth;
      if (depth <= 0 && ends.find(text[at]) != std::string_view::npos) break;
    }
    out.text = Trim(text.substr(0, at));
    text.remove_prefix(at);
  }
  if (!text.empty() && ends.find(text[0]) == std::string_view::npos)
    return std::unexpected("there is text behind the quotes: " + Quote(text, 40));
  return out;
}

std::expected<std::vector<std::string>, std::string> SplitList(std::string_view text) {
  char separator = ';';
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
    separator = ',';
  }
  std::vector<std::string> out;
  for (;;) {
    auto value = TakeValue(text, std::string_view(&separator, 1));
    if (!value) return std::unexpected(value.error());
    if (value->text.empty() && !value->quoted) return std::unexpected("the list has an empty element");
    out.push_back(std::move(value->text));
    if (text.empty()) return out;
    text.remove_prefix(1);
  }
}

bool IsInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digit = !text.empty() && text.back() >= '0' && text.back() <= '9';
  return error == std::errc() && end == text.data() + text.size() && digit && std::isfinite(value);
}

// A value as compact JSON: JSON, the flow style of YAML, or kubebuilder's {a,b} for a list.
std::expected<std::string, std::string> ToJson(std::string_view text) {
  if (text == "null") return std::unexpected("null says the same as no value");
  const auto stream = yaml::Parse(std::string(text), {.max_bytes = 1u << 20, .max_nodes = 100'000, .max_depth = 64});
  if (!stream) return std::unexpected("the value is neither JSON nor text: " + stream.error().message);
  if (stream->documents().size() != 1) return std::unexpected("the value is not one JSON value");
  const yaml::Node& node = stream->documents()[0];
  const std::span<const yaml::Entry> entries = node.entries();
  // {"a": null} has a null that is written.
  const bool list = !entries.empty() && std::all_of(entries.begin(), entries.end(), [](const auto& e) {
    return e.value.is_null() && e.value.text().empty();
  });
  if (!list) return yaml::ToJson(node, {.sort_keys = true});
  std::string out = "[";
  for (const yaml::Entry& entry : entries) {
    if (out.size() > 1) out += ',';
    if (IsInteger(entry.key)) {
      out += entry.key;
    } else {
      yaml::AppendJsonString(entry.key, out);
    }
  }
  return out + "]";
}

class MarkerParser {
 public:
  MarkerParser(const CommentLine& line, MarkerPlace place, Diagnostics& diagnostics)
      : line_(line), place_(place), diagnostics_(diagnostics) {}

  std::optional<Marker> Parse() {
    std::string_view text = Trim(line_.text);
    text.remove_prefix(1);
    if (!TakePrefix(text, "kgen:")) TakePrefix(text, "kubebuilder:");
    TakePrefix(text, "validation:");
    Marker marker{.name = {}, .items = TakePrefix(text, "items:"), .value = {}, .origin = line_.origin};
    std::string_view rest;
    const Row* row = Find(text, rest);
    if (row == nullptr) return Unknown(text);
    if (row->form == ValueForm::kIgnored) return std::nullopt;
    if ((row->places & place_) == 0) {
      Fail("marker-place", *row, "does not belong on " + std::string(PlaceName()));
      return std::nullopt;
    }
    marker.name = row->name;
    const std::string_view whole = Trim(line_.text);
    marker.written = Visible(Trim(whole.substr(0, whole.size() - rest.size())));
    const std::string fault = Fill(*row, rest, marker);
    if (!fault.empty()) {
      Fail("marker-value", *row, fault);
      return std::nullopt;
    }
    if (Lower(text) == "unservedversion") marker.value = "false";
    return marker;
  }

 private:
  std::string_view PlaceName() const {
    switch (place_) {
      case kOnStruct:
        return "a struct";
      case kOnMember:
        return "a member";
      case kOnEnum:
        return "an enum";
      case kOnEnumValue:
        return "a value of an enum";
    }
    return "this";
  }

  // `rest` becomes what follows the name: "=value" or ":arguments" or nothing.
  static const Row* Find(std::string_view text, std::string_view& rest) {
    const std::string_view head = text.substr(0, text.find('='));
    for (std::size_t end = head.size();;) {
      if (const Row* row = FindRow(Lower(Trim(head.substr(0, end)))); row != nullptr) {
        rest = text.substr(end);
        return row;
      }
      if (end == 0) return nullptr;
      end = head.rfind(':', end - 1);
      if (end == std::string_view::npos) return nullptr;
    }
  }

  static bool BeginsWithMisspelledPrefix(std::string_view head, std::vector<std::string_view> names) {
    static constexpr std::string_view kPrefixes[] = {"items", "kgen", "kubebuilder", "validation"};
    names.insert(names.end(), std::begin(kPrefixes), std::end(kPrefixes));
    const std::size_t colon = head.find(':');
    const std::string_view nearest =
        colon == std::string_view::npos ? std::string_view() : Nearest(head.substr(0, colon), names);
    return std::find(std::begin(kPrefixes), std::end(kPrefixes), nearest) != std::end(kPrefixes);
  }

  std::optional<Marker> Unknown(std::string_view text) {
    const std::string_view whole = Trim(line_.text);
    const std::string lower = Lower(Trim(text.substr(0, text.find('='))));
    std::vector<std::string_view> names;
    for (const Row& row : kRows) names.push_back(row.name);
    std::string_view head = lower;
    while (BeginsWithMisspelledPrefix(head, names)) head.remove_prefix(head.find(':') + 1);
    std::string_view nearest = Nearest(head, names);
    if (nearest.empty()) nearest = Nearest(head.substr(0, head.find(':')), names);
    const Row* row = nearest.empty() ? nullptr : FindRow(nearest);
    diagnostics_.Error("marker-unknown", line_.origin, "no marker is called " + Quote(whole.substr(0, whole.find('='))),
                       {},
                       row != nullptr && !row->example.empty()
                           ? "did you mean, as an example, " + std::string(row->example) + "?"
                           : "docs/cpp-first.md lists the markers; a line of text must not begin with +");
    return std::nullopt;
  }

  void Fail(std::string_view id, const Row& row, const std::string& fault) {
    diagnostics_.Error(id, line_.origin, "the marker " + Quote(Trim(line_.text), 80) + ": " + fault, {},
                       "an example: " + std::string(row.example));
  }

  // Returns what is wrong, or nothing.
  static std::string Fill(const Row& row, std::string_view rest, Marker& marker) {
    if (row.form == ValueForm::kArgs) return FillArgs(row, rest, marker);
    if (row.form == ValueForm::kNone) {
      if (rest.empty() || Lower(Trim(rest)) == "=true") return {};
      return "it takes no value";
    }
    if (row.name == "served" && rest.empty()) return {};  // +kubebuilder:unservedversion
    if (rest.empty() && row.form == ValueForm::kBool) {
      marker.value = "true";
      return {};
    }
    if (rest.empty() || rest[0] != '=') return "it needs a value";
    rest.remove_prefix(1);
    if (row.form == ValueForm::kJson) return FillJson(rest, marker);
    if (row.form == ValueForm::kList) {
      auto list = SplitList(Trim(rest));
      if (!list) return list.error();
      marker.list = std::move(*list);
      return {};
    }
    auto value = TakeValue(rest, "");
    if (!value) return value.error();
    marker.value = std::move(value->text);
    marker.quoted = value->quoted;
    return Check(row.form, marker);
  }

  static std::string Check(ValueForm form, const Marker& marker) {
    if (form == ValueForm::kInteger && (!IsInteger(marker.value) || marker.value[0] == '-'))
      return Quote(marker.value) + " is not a number from 0 on";
    if (form == ValueForm::kNumber && !IsNumber(marker.value)) return Quote(marker.value) + " is not a number";
    if (form == ValueForm::kBool && marker.value != "true" && marker.value != "false")
      return Quote(marker.value) + " is neither true nor false";
    if (form == ValueForm::kText && marker.value.empty()) return "its value is empty";
    return marker.name == "pattern" ? FaultOfPattern(marker.value) : std::string();
  }

  static std::string FillJson(std::string_view rest, Marker& marker) {
    rest = Trim(rest);
    if (!rest.empty() && (rest[0] == '`' || rest[0] == '"')) {
      auto value = TakeValue(rest, "");
      if (!value) return value.error();
      yaml::AppendJsonString(value->text, marker.value);
      marker.quoted = true;
      return {};
    }
    if (rest.empty()) return "its value is empty";
    auto json = ToJson(rest);
    if (!json) return json.error();
    marker.list = {std::string(rest)};  // as written, for a text such as 1.0
    marker.value = std::move(*json);
    return {};
  }

  static std::string FillArgs(const Row& row, std::string_view rest, Marker& marker) {
    std::string_view text = rest;
    if (!text.empty() && text[0] != ':') return "its arguments begin with a colon";
    if (!text.empty()) text.remove_prefix(1);
    while (!(text = Trim(text)).empty()) {
      const std::size_t equals = text.find('=');
      const std::string name(Trim(text.substr(0, equals)));
      if (equals == std::string_view::npos) return "the argument " + Quote(name) + " has no value";
      text.remove_prefix(equals + 1);
      auto value = TakeValue(text, ",");
      if (!value) return "the argument " + Quote(name) + ": " + value.error();
      if (std::string fault = AddArg(row, name, std::move(value->text), marker); !fault.empty()) return fault;
      if (text.empty()) break;
      text.remove_prefix(1);
      if (Trim(text).empty()) return "it ends with a comma; a marker is one line, however long";
    }
    for (std::string_view arg : row.args) {
      const std::string_view name = arg.substr(0, arg.find_first_of("!*"));
      const bool given = marker.args.contains(name) || marker.list_args.contains(name);
      if (arg.contains('!') && !given) return "the argument " + Quote(name) + " is missing";
      if (const auto text = marker.args.find(name);
          arg.contains('!') && text != marker.args.end() && text->second.empty())
        return "the argument " + Quote(name) + " is empty";
    }
    return {};
  }

  static std::string AddArg(const Row& row, const std::string& name, std::string value, Marker& marker) {
    std::vector<std::string_view> names;
    for (std::string_view arg : row.args) {
      const std::string_view known = arg.substr(0, arg.find_first_of("!*"));
      names.push_back(known);
      if (Lower(known) != Lower(name)) continue;
      if (arg.contains('*')) {
        auto list = SplitList(value);
        if (!list) return "the argument " + Quote(name) + ": " + list.error();
        std::vector<std::string>& all = marker.list_args[std::string(known)];
        all.insert(all.end(), list->begin(), list->end());
      } else if (!marker.args.emplace(known, std::move(value)).second) {
        return "the argument " + Quote(name) + " is given twice";
      }
      return {};
    }
    const std::string_view nearest = Nearest(name, names);
    std::string fault = "it has no argument " + Quote(name);
    if (!nearest.empty()) fault += ", did you mean " + std::string(nearest) + "?";
    return fault;
  }

  const CommentLine& line_;
  const MarkerPlace place_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool IsMarker(std::string_view line) {
  line = Trim(line);
  if (line.size() < 2 || line[0] != '+') return false;
  const char c = line[1];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::optional<Marker> ParseMarker(const CommentLine& line, MarkerPlace place, Diagnostics& diagnostics) {
  if (!IsMarker(line.text)) return std::nullopt;
  return MarkerParser(line, place, diagnostics).Parse();
}

const Marker* FindMarker(const std::vector<Marker>& markers, std::string_view name) {
  const auto found =
      std::find_if(markers.begin(), markers.end(), [&](const Marker& m) { return m.name == name && !m.items; });
  return found == markers.end() ? nullptr : &*found;
}

}  // namespace kgen::generator::crd
