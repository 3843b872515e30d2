// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/markers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "generator/crd/marker_table.h"
#include "generator/crd/marker_value.h"
#include "generator/crd/pattern.h"
#include "generator/utf8.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

bool TakePrefix(std::string_view& text, std::string_view lower_prefix) {
  if (AsciiLower(text.substr(0, lower_prefix.size())) != lower_prefix) return false;
  text.remove_prefix(lower_prefix.size());
  return true;
}

bool IsInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Takes the prefixes of a name, which say whose marker it is, and where inside of its place it applies.
std::vector<Step> TakePrefixes(std::string_view& text) {
  std::vector<Step> steps;
  for (;;) {
    if (TakePrefix(text, "items:")) {
      steps.push_back(Step::kItems);
    } else if (TakePrefix(text, "values:")) {
      steps.push_back(Step::kValues);
    } else if (TakePrefix(text, "k8s:eachval=+")) {
      steps.push_back(Step::kEach);
    } else if (TakePrefix(text, "k8s:eachkey=+")) {
      steps.push_back(Step::kKeys);
    } else if (!TakePrefix(text, "kgen:") && !TakePrefix(text, "kubebuilder:") && !TakePrefix(text, "validation:")) {
      return steps;
    }
  }
}

class MarkerParser {
 public:
  MarkerParser(const CommentLine& line, MarkerPlace place, Diagnostics& diagnostics)
      : line_(line), place_(place), diagnostics_(diagnostics) {}

  std::optional<Marker> Parse() {
    std::string_view text = TrimSpaces(line_.text);
    text.remove_prefix(1);
    Marker marker{.name = {}, .steps = TakePrefixes(text), .value = {}, .origin = line_.origin};
    std::string_view rest;
    const MarkerRow* row = Find(text, rest);
    if (row == nullptr) return Unknown(text);
    if (row->form == ValueForm::kIgnored) return std::nullopt;
    // Go's names of enums: an enum class says the same by itself.
    if (row->name == "enum" && TrimSpaces(rest).empty() && marker.steps.empty()) return std::nullopt;
    if ((row->places & place_) == 0 || (place_ == kOnNamespace && !marker.steps.empty())) {
      Fail("marker-place", *row, "does not belong on " + std::string(PlaceName()));
      return std::nullopt;
    }
    const auto keys = std::find(marker.steps.begin(), marker.steps.end(), Step::kKeys);
    if (keys != marker.steps.end() && keys + 1 != marker.steps.end()) {
      Fail("marker-place", *row, "keys have no elements");
      return std::nullopt;
    }
    if (!marker.steps.empty() && !FitsElements(*row)) {
      Fail("marker-place", *row, "does not belong on elements of a list or map");
      return std::nullopt;
    }
    marker.name = row->name;
    const std::string_view whole = TrimSpaces(line_.text);
    marker.written = Visible(TrimSpaces(whole.substr(0, whole.size() - rest.size())));
    const std::string fault = Fill(*row, rest, marker);
    if (!fault.empty()) {
      Fail("marker-value", *row, fault);
      return std::nullopt;
    }
    if (AsciiLower(text) == "k8s:unique=atomic") {
      Fail("marker-value", *row, "a list is unique as a set or as a map");
      return std::nullopt;
    }
    if (AsciiLower(text) == "unservedversion") marker.value = "false";
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
      case kOnAlias:
        return "a named type";
      case kOnNamespace:
        return "a namespace";
    }
    return "this";
  }

  // `rest` becomes what follows the name: "=value" or ":arguments" or nothing.
  static const MarkerRow* Find(std::string_view text, std::string_view& rest) {
    const std::string_view head = text.substr(0, text.find('='));
    for (std::size_t end = head.size();;) {
      if (const MarkerRow* row = FindMarkerRow(AsciiLower(TrimSpaces(head.substr(0, end)))); row != nullptr) {
        rest = text.substr(end);
        return row;
      }
      if (end == 0) return nullptr;
      end = head.rfind(':', end - 1);
      if (end == std::string_view::npos) return nullptr;
    }
  }

  static bool BeginsWithMisspelledPrefix(std::string_view head, std::vector<std::string_view> names) {
    static constexpr std::string_view kPrefixes[] = {"items", "kgen", "kubebuilder", "validation", "values"};
    names.insert(names.end(), std::begin(kPrefixes), std::end(kPrefixes));
    const std::size_t colon = head.find(':');
    const std::string_view nearest =
        colon == std::string_view::npos ? std::string_view() : Nearest(head.substr(0, colon), names);
    return std::find(std::begin(kPrefixes), std::end(kPrefixes), nearest) != std::end(kPrefixes);
  }

  std::optional<Marker> Unknown(std::string_view text) {
    const std::string_view whole = TrimSpaces(line_.text);
    const std::string lower = AsciiLower(TrimSpaces(text.substr(0, text.find('='))));
    if (const std::string_view instead = InsteadOfK8s(lower); !instead.empty()) {
      diagnostics_.Error("marker-unknown", line_.origin,
                         "a CRD cannot say the marker " + Quote(whole.substr(0, whole.find('='))), {},
                         std::string(instead));
      return std::nullopt;
    }
    std::vector<std::string_view> names;
    for (const MarkerRow& row : MarkerTable()) names.push_back(row.name);
    std::string_view head = lower;
    while (BeginsWithMisspelledPrefix(head, names)) head.remove_prefix(head.find(':') + 1);
    std::string_view nearest = Nearest(head, names);
    if (nearest.empty()) nearest = Nearest(head.substr(0, head.find(':')), names);
    const MarkerRow* row = nearest.empty() ? nullptr : FindMarkerRow(nearest);
    diagnostics_.Error("marker-unknown", line_.origin, "no marker is called " + Quote(whole.substr(0, whole.find('='))),
                       {},
                       row != nullptr && !row->example.empty()
                           ? "did you mean, as an example, " + std::string(row->example) + "?"
                           : "docs/cpp-first.md lists the markers; a line of text must not begin with +");
    return std::nullopt;
  }

  void Fail(std::string_view id, const MarkerRow& row, const std::string& fault) {
    diagnostics_.Error(id, line_.origin, "the marker " + Quote(TrimSpaces(line_.text), 80) + ": " + fault, {},
                       "an example: " + std::string(row.example));
  }

  // Returns what is wrong, or nothing.
  static std::string Fill(const MarkerRow& row, std::string_view rest, Marker& marker) {
    if (row.form == ValueForm::kArgs) return FillArgs(row, rest, marker);
    if (row.form == ValueForm::kNone) {
      if (rest.empty() || AsciiLower(TrimSpaces(rest)) == "=true") return {};
      return "it takes no value";
    }
    if (row.name == "served" && rest.empty()) return {};  // +kubebuilder:unservedversion
    if (rest.empty() && row.form == ValueForm::kBool) {
      marker.value = "true";
      return {};
    }
    if (rest.starts_with(":=")) rest.remove_prefix(1);  // as in Kubernetes' own sources
    if (rest.empty() || rest[0] != '=') return "it needs a value";
    rest.remove_prefix(1);
    if (row.form == ValueForm::kJson) return FillJson(rest, marker);
    if (row.form == ValueForm::kList) {
      auto list = TakeList(rest, "");
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
    if (form == ValueForm::kNumber && !IsJsonNumber(marker.value)) return Quote(marker.value) + " is not a number";
    if (form == ValueForm::kBool && marker.value != "true" && marker.value != "false")
      return Quote(marker.value) + " is neither true nor false";
    // A value of an enum may be the empty text, and a format may be none.
    const bool may_be_empty = marker.quoted && (marker.name == "name" || marker.name == "format");
    if (form == ValueForm::kText && marker.value.empty() && !may_be_empty) return "its value is empty";
    return marker.name == "pattern" ? FaultOfPattern(marker.value) : std::string();
  }

  static std::string FillJson(std::string_view rest, Marker& marker) {
    rest = TrimSpaces(rest);
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

  static std::string FillArgs(const MarkerRow& row, std::string_view rest, Marker& marker) {
    std::string_view text = rest;
    if (!text.empty() && text[0] != ':') return "its arguments begin with a colon";
    if (!text.empty()) text.remove_prefix(1);
    while (!(text = TrimSpaces(text)).empty()) {
      const std::size_t equals = text.find('=');
      const std::string name(TrimSpaces(text.substr(0, equals)));
      if (equals == std::string_view::npos) return "the argument " + Quote(name) + " has no value";
      text.remove_prefix(equals + 1);
      if (std::string fault = AddArg(row, name, text, marker); !fault.empty()) return fault;
      if (text.empty()) break;
      text.remove_prefix(1);
      if (TrimSpaces(text).empty()) return "it ends with a comma; a marker is one line, however long";
    }
    for (const MarkerArgument& arg : row.args) {
      if (arg.need != MarkerArgument::kRequired) continue;
      const auto text = marker.args.find(arg.name);
      if (text == marker.args.end() && !marker.list_args.contains(arg.name))
        return "the argument " + Quote(arg.name) + " is missing";
      if (text != marker.args.end() && text->second.empty()) return "the argument " + Quote(arg.name) + " is empty";
    }
    return {};
  }

  // Takes the value from the front of `text`, up to a comma.
  static std::string AddArg(const MarkerRow& row, const std::string& name, std::string_view& text, Marker& marker) {
    std::vector<std::string_view> names;
    for (const MarkerArgument& arg : row.args) {
      names.push_back(arg.name);
      if (AsciiLower(arg.name) != AsciiLower(name)) continue;
      if (arg.shape == MarkerArgument::kMany) {
        const auto list = TakeList(text, ",");
        if (!list) return "the argument " + Quote(name) + ": " + list.error();
        std::vector<std::string>& all = marker.list_args[std::string(arg.name)];
        all.insert(all.end(), list->begin(), list->end());
        return {};
      }
      auto value = TakeValue(text, ",");
      if (!value) return "the argument " + Quote(name) + ": " + value.error();
      const auto [known, added] = marker.args.emplace(arg.name, value->text);
      // Real projects repeat themselves, which does no harm.
      if (!added && known->second != value->text) {
        return "the argument " + Quote(name) + " is given twice, as " + Quote(known->second) + " and as " +
               Quote(value->text);
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
  line = TrimSpaces(line);
  if (line.size() < 2 || line[0] != '+') return false;
  const char c = line[1];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsAboutProgram(const CommentLine& line) {
  if (!IsMarker(line.text)) return false;
  std::string_view text = TrimSpaces(line.text).substr(1);
  TakePrefixes(text);
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && IsOfTheProgram(AsciiLower(text.substr(0, colon)));
}

std::optional<Marker> ParseMarker(const CommentLine& line, MarkerPlace place, Diagnostics& diagnostics) {
  if (!IsMarker(line.text)) return std::nullopt;
  if (!IsUtf8(line.text)) {  // manifests are, and cannot contain it
    diagnostics.Error("marker-value", line.origin, "the marker " + Visible(TrimSpaces(line.text)) + " is not UTF-8", {},
                      "save the header as UTF-8");
    return std::nullopt;
  }
  return MarkerParser(line, place, diagnostics).Parse();
}

const Marker* FindMarker(const std::vector<Marker>& markers, std::string_view name) {
  const auto found =
      std::find_if(markers.begin(), markers.end(), [&](const Marker& m) { return m.name == name && m.steps.empty(); });
  return found == markers.end() ? nullptr : &*found;
}

}  // namespace kgen::generator::crd
