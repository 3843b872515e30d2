// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/schema.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generator/crd/cel.h"
#include "generator/crd/default_value.h"
#include "generator/crd/document_schema.h"
#include "generator/crd/marker_value.h"
#include "generator/crd/member_rules.h"
#include "generator/crd/structural.h"
#include "generator/crd/used_apis.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

// A schema with more nodes would be refused by a server anyway: objects of etcd have at most 1.5 MB.
constexpr std::size_t kMostNodes = 50'000;

// Lists, maps and structs inside each other. Objects may have 256 levels, and a level takes two or three in a CRD.
constexpr std::size_t kMostLevels = 64;

bool IsNumber(TypeKind kind) {
  return kind == TypeKind::kInt32 || kind == TypeKind::kInt64 || kind == TypeKind::kDouble;
}
bool IsInteger(TypeKind kind) { return kind == TypeKind::kInt32 || kind == TypeKind::kInt64; }
bool IsText(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kEnum || kind == TypeKind::kBytes || kind == TypeKind::kTime ||
         kind == TypeKind::kMicroTime || kind == TypeKind::kDuration;
}
bool IsIntOrText(TypeKind kind) { return kind == TypeKind::kIntOrString || kind == TypeKind::kQuantity; }
bool IsObject(TypeKind kind) {
  return kind == TypeKind::kStruct || kind == TypeKind::kMap || kind == TypeKind::kObjectMeta;
}

std::string_view Describe(TypeKind kind) {
  if (IsInteger(kind)) return "an integer";
  if (IsText(kind)) return "a text";
  if (IsIntOrText(kind)) return "a number or text";
  switch (kind) {
    case TypeKind::kBool:
      return "a bool";
    case TypeKind::kDouble:
      return "a number";
    case TypeKind::kList:
      return "a list";
    case TypeKind::kMap:
      return "a map";
    case TypeKind::kJson:
      return "any JSON";
    default:
      return "an object";
  }
}

// A marker that becomes one keyword of the schema.
struct Keyword {
  std::string_view marker, keyword;
  enum Form { kNumber, kText, kFlag } form;
  bool (*fits)(TypeKind kind);
  std::string_view of;  // what it belongs on
};

bool FitsLength(TypeKind kind) { return IsText(kind) || IsIntOrText(kind); }
bool FitsFormat(TypeKind kind) { return kind == TypeKind::kString || IsNumber(kind); }
bool FitsItems(TypeKind kind) { return kind == TypeKind::kList; }
bool FitsProperties(TypeKind kind) { return IsObject(kind) || kind == TypeKind::kJson; }
bool FitsOpen(TypeKind kind) { return FitsProperties(kind) || kind == TypeKind::kList; }
bool FitsEmbedded(TypeKind kind) { return kind == TypeKind::kStruct || kind == TypeKind::kJson; }
bool FitsMapType(TypeKind kind) { return kind == TypeKind::kStruct || kind == TypeKind::kMap; }

constexpr Keyword kKeywords[] = {
    {"minimum", "minimum", Keyword::kNumber, IsNumber, "a number"},
    {"maximum", "maximum", Keyword::kNumber, IsNumber, "a number"},
    {"multipleof", "multipleOf", Keyword::kNumber, IsNumber, "a number"},
    {"exclusiveminimum", "exclusiveMinimum", Keyword::kFlag, IsNumber, "a number"},
    {"exclusivemaximum", "exclusiveMaximum", Keyword::kFlag, IsNumber, "a number"},
    {"minlength", "minLength", Keyword::kNumber, FitsLength, "a text"},
    {"maxlength", "maxLength", Keyword::kNumber, FitsLength, "a text"},
    {"pattern", "pattern", Keyword::kText, FitsLength, "a text"},
    {"format", "format", Keyword::kText, FitsFormat, "a kgen::String or a number"},
    {"minitems", "minItems", Keyword::kNumber, FitsItems, "a list"},
    {"maxitems", "maxItems", Keyword::kNumber, FitsItems, "a list"},
    {"minproperties", "minProperties", Keyword::kNumber, FitsProperties, "an object"},
    {"maxproperties", "maxProperties", Keyword::kNumber, FitsProperties, "an object"},
    {"listtype", "x-kubernetes-list-type", Keyword::kText, FitsItems, "a list"},
    {"maptype", "x-kubernetes-map-type", Keyword::kText, FitsMapType, "an object"},
    {"preserveunknownfields", "x-kubernetes-preserve-unknown-fields", Keyword::kFlag, FitsOpen, "an object or a list"},
    {"embeddedresource", "x-kubernetes-embedded-resource", Keyword::kFlag, FitsEmbedded, "a struct or any JSON"},
    {"nullable", "nullable", Keyword::kFlag, [](TypeKind) { return true; }, "anything"},
};

class SchemaBuilder {
 public:
  SchemaBuilder(const Description& description, const SchemaOptions& options, Diagnostics& diagnostics)
      : description_(description), options_(options), diagnostics_(diagnostics) {}

  Tree Root(const Struct& kind) {
    Tree schema = OfStruct(kind);
    Tree& properties = schema["properties"];
    properties["apiVersion"]["type"] = Tree::Text("string");
    properties["kind"]["type"] = Tree::Text("string");
    Describe(kind.comment, schema);
    for (const Marker& marker : kind.markers) {
      if (marker.name == "default")
        Fail(marker, "the object of a kind is always there", "write defaults on its members");
    }
    at_root_ = true;
    Apply(kind.markers, {.kind = TypeKind::kStruct, .name = kind.Name()}, schema, false);
    if (nodes_ > kMostNodes) {
      diagnostics_.Error(
          "too-large", kind.origin,
          "the schema of " + Quote(kind.path) + " has more than " + std::to_string(kMostNodes) + " nodes", {},
          "structs are written out at each place of a CRD; make some of the members kgen::Json");
    }
    if (too_deep_) {
      diagnostics_.Error("too-deep", kind.origin,
                         "the members of " + Quote(kind.path) + " have more than " + std::to_string(kMostLevels) +
                             " levels of lists, maps and structs",
                         {}, "make an inner one kgen::Json");
    }
    return schema;
  }

 private:
  Tree OfStruct(const Struct& described) {
    Tree schema;
    schema["type"] = Tree::Text("object");
    if (nodes_ > kMostNodes) return schema;
    if (!open_.insert(&described).second) {
      schema["x-kubernetes-preserve-unknown-fields"] = Tree::Bool(true);
      diagnostics_.Info("recursive", described.origin,
                        Quote(described.path) +
                            " contains itself; a CRD cannot say that, so the inner one may have any "
                            "members and is not validated");
      return schema;
    }
    std::vector<std::string> required;
    for (const Member& member : described.members) {
      schema["properties"][member.wire_name] = OfMember(member);
      const Marker* must = FindMarker(member.markers, "required");
      if (must != nullptr) required.push_back(member.wire_name);
      if (must != nullptr && FindMarker(member.markers, "optional") != nullptr) {
        diagnostics_.Error("marker-clash", must->origin, Quote(member.name) + " is both required and optional", {},
                           "remove one of the two markers");
      }
    }
    std::sort(required.begin(), required.end());
    if (!required.empty()) schema["required"] = Tree::Texts(required);
    for (const MemberRule& rule : MemberRules(described, diagnostics_)) AddRule(rule.rule, rule.message, schema);
    open_.erase(&described);
    return schema;
  }

  static void AddRule(const std::string& rule, const std::string& message, Tree& schema) {
    Tree out;
    out["rule"] = Tree::Text(rule);
    out["message"] = Tree::Text(message);
    AddTo(schema["x-kubernetes-validations"], std::move(out));
  }

  static void AddTo(Tree& list, Tree element) {
    if (list.empty()) list = Tree::List();
    list.Add(std::move(element));
  }

  Tree OfMember(const Member& member) {
    member_ = member.origin;
    Tree schema = OfType(member.type);
    if (levels_ == 0 && member.type.kind == TypeKind::kObjectMeta && !member.type.boxed) {
      CheckMetadata(member);
      return schema;
    }
    Describe(member.comment, schema);
    Apply(member.markers, member.type, schema, IsNamed(member.type));
    CheckListKeys(member.markers, member.type);
    RequireForeignKeys(member.markers, member.type, schema);
    return schema;
  }

  // A server refuses a CRD that says more about the metadata of a kind than its type, even a description.
  void CheckMetadata(const Member& member) {
    for (const Marker& marker : member.markers) {
      if (marker.name != "required" && marker.name != "optional" && marker.name != "name")
        Fail(marker, "a CRD cannot say anything about the metadata of a kind", "remove the marker");
    }
  }

  Tree OfType(const Type& type) {
    ++nodes_;
    if (levels_ > kMostLevels) {
      too_deep_ = true;
      return {};
    }
    ++levels_;
    Tree schema = OfAnyType(type);
    --levels_;
    bool named = type.kind == TypeKind::kStruct || type.kind == TypeKind::kEnum;
    for (const std::string& name : type.aliases) {
      const auto alias = description_.aliases.find(name);
      if (alias == description_.aliases.end()) continue;
      Describe(alias->second.comment, schema);
      Apply(alias->second.markers, type, schema, std::exchange(named, true));
      CheckListKeys(alias->second.markers, type);
      RequireForeignKeys(alias->second.markers, type, schema);
    }
    return schema;
  }

  // Whether the type has markers of its own, which hold beside the markers of the place that names it.
  static bool IsNamed(const Type& type) {
    return type.kind == TypeKind::kStruct || type.kind == TypeKind::kEnum || !type.aliases.empty();
  }

  Tree OfAnyType(const Type& type) {
    if (type.kind == TypeKind::kStruct) return OfNamedStruct(type);
    if (type.kind == TypeKind::kEnum) return OfEnum(type);
    const bool embedded = type.kind == TypeKind::kObjectMeta && (levels_ > 1 || type.boxed);
    if (embedded) return EmbeddedMetadata(options_);
    if (type.kind != TypeKind::kList && type.kind != TypeKind::kMap) return LeafSchema(type.kind);
    const bool list = type.kind == TypeKind::kList;
    Tree schema;
    schema["type"] = Tree::Text(list ? "array" : "object");
    schema[list ? "items" : "additionalProperties"] = OfType(type.element.at(0));
    return schema;
  }

  Tree OfNamedStruct(const Type& type) {
    const auto found = description_.structs.find(type.name);
    if (found == description_.structs.end()) return {};  // an error was reported for it
    if (found->second.documented) return OfDocument(found->second);
    Tree schema = OfStruct(found->second);
    Describe(found->second.comment, schema);
    Apply(found->second.markers, type, schema, false);
    return schema;
  }

  // A struct that was generated from documents; they have its schema.
  Tree OfDocument(const Struct& described) {
    std::optional<Tree> schema;
    if (options_.apis != nullptr) schema = options_.apis->SchemaOf(described.Name(), options_, nodes_);
    if (schema) return std::move(*schema);
    diagnostics_.Error("no-schema", member_, "no document has the schema of " + Quote(described.Name(), 200), {},
                       "name what it was generated from, as in --use k8s=DIR or USES kgen::kubernetes; or make the "
                       "member kgen::Json");
    return {};
  }

  Tree OfEnum(const Type& type) {
    Tree schema;
    schema["type"] = Tree::Text("string");
    const auto found = description_.enums.find(type.name);
    if (found == description_.enums.end()) return schema;
    std::vector<std::string> values;
    for (const Enum::Value& value : found->second.values) values.push_back(value.text);
    schema["enum"] = Tree::Texts(values);
    Describe(found->second.comment, schema);
    Apply(found->second.markers, type, schema, false);
    return schema;
  }

  void Describe(const Comment& comment, Tree& schema) const {
    std::vector<std::string> lines;
    for (const CommentLine& line : comment.text) lines.push_back(line.text);
    AddDescription(lines, DescriptionOf::kOwnType, options_, schema);
  }

  void Fail(const Marker& marker, const std::string& fault, const std::string& hint) {
    diagnostics_.Error("marker-type", marker.origin, marker.written + ": " + fault, {}, hint);
  }

  // What a marker is about: its place, or something inside of it.
  struct Spot {
    const Type* type;
    Tree* schema;
    bool named;  // the schema has the constraints of a named type, which the marker must not replace
  };

  std::optional<Spot> Find(const Marker& marker, Spot at) {
    for (const Step step : marker.steps) {
      if (step == Step::kKeys && at.type->kind == TypeKind::kMap) return at;
      const bool list = at.type->kind == TypeKind::kList, map = at.type->kind == TypeKind::kMap;
      if ((step == Step::kItems && !list) || ((step == Step::kValues || step == Step::kKeys) && !map) ||
          !(list || map)) {
        const char* name = step == Step::kItems    ? "items: is for the elements of lists"
                           : step == Step::kValues ? "values: is for the values of maps"
                           : step == Step::kKeys   ? "eachKey is for maps"
                                                   : "eachVal is for lists and maps";
        Fail(marker, std::string(name) + ", and this is " + std::string(crd::Describe(at.type->kind)),
             step == Step::kEach ? "write the inner marker alone" : "leave it out");
        return std::nullopt;
      }
      at.type = &at.type->element.at(0);
      at = {at.type, &(*at.schema)[list ? "items" : "additionalProperties"], IsNamed(*at.type)};
    }
    return at;
  }

  // Applies markers to the schema of their place. `named`: see Spot.
  void Apply(const std::vector<Marker>& markers, const Type& of, Tree& target, bool named) {
    std::vector<std::pair<const Marker*, Spot>> spots;
    for (const Marker& marker : markers) {
      if (const auto spot = Find(marker, {&of, &target, named})) spots.emplace_back(&marker, *spot);
    }
    for (const auto& [marker, spot] : spots) {
      if (marker->name == "schema") ReplaceSchema(*marker, *spot.type, *spot.schema);
    }
    for (const auto& [marker, spot] : spots) ApplyOne(*marker, spot);
    for (const std::string_view name : {"atmostoneof", "exactlyoneof", "atleastoneof"}) {
      for (const auto& [marker, spot] : spots) {
        if (marker->name == name) ApplyOneOf(*marker, *spot.type, *spot.schema);
      }
    }
    for (const auto& [marker, spot] : spots) CheckValues(*marker, *spot.schema);
    for (const auto& [marker, spot] : spots) {
      if (marker->name == "nullable") AllowNull(*spot.schema);
    }
  }

  void ApplyOne(const Marker& marker, const Spot& spot) {
    if (!marker.steps.empty() && marker.steps.back() == Step::kKeys) {
      for (const MemberRule& rule : KeyRules(marker, diagnostics_)) AddRule(rule.rule, rule.message, *spot.schema);
    } else if (marker.name == "xvalidation") {
      AddTo((*spot.schema)["x-kubernetes-validations"], Rule(marker, *spot.schema));
    } else if (marker.name == "immutable") {
      AddRule("self == oldSelf", "field is immutable", *spot.schema);
    } else if (marker.name == "listmapkey" && !marker.steps.empty()) {
      Fail(marker, "it is for the list of the member, not for lists in it",
           "make the inner list atomic, or a named type: using Name = kgen::List<T>;");
    } else if (marker.name == "listmapkey") {
      AddTo((*spot.schema)["x-kubernetes-list-map-keys"], Tree::Text(marker.value));
    } else if (marker.name == "enum") {
      ApplyEnum(marker, *spot.type, *spot.schema);
    } else if (marker.name == "default") {
      ApplyDefault(marker, *spot.type, *spot.schema);
    } else {
      ApplyKeyword(marker, spot);
    }
  }

  // A schema that the header writes itself. Markers beside it are applied to it.
  void ReplaceSchema(const Marker& marker, const Type& type, Tree& schema) {
    const auto parsed = yaml::Parse(marker.value);
    Tree fragment = parsed && parsed->documents().size() == 1 ? CopyNode(parsed->documents()[0]) : Tree();
    if (const std::string fault = FaultOfSchema(fragment); !fault.empty())
      return Fail(marker, fault, "write a structural schema, as in {type: object, properties: {a: {type: string}}}");
    const Tree* named = fragment.Find("type");
    const std::string text = named == nullptr ? std::string() : named->ToText();
    const bool fits = type.kind == TypeKind::kJson     ? true
                      : type.kind == TypeKind::kBool   ? text == "boolean"
                      : IsInteger(type.kind)           ? text == "integer"
                      : type.kind == TypeKind::kDouble ? text == "number" || text == "integer"
                      : IsText(type.kind)              ? text == "string"
                      : type.kind == TypeKind::kList   ? text == "array"
                      : IsObject(type.kind)            ? text == "object"
                                                       : text.empty() || text == "integer" || text == "string";
    if (!fits)
      return Fail(marker,
                  "it describes " + (text.empty() ? "any value" : "the type " + text) + ", and this is " +
                      std::string(crd::Describe(type.kind)),
                  "make the member kgen::Json, or change the schema");
    if (const Tree* text = schema.Find("description"); text != nullptr && fragment.Find("description") == nullptr)
      fragment["description"] = *text;
    schema = std::move(fragment);
  }

  // The markers about several members of an object, as rules. The terms are controller-gen's.
  void ApplyOneOf(const Marker& marker, const Type& type, Tree& schema) {
    const bool least = marker.name == "atleastoneof", most = marker.name == "atmostoneof";
    const auto found = description_.structs.find(type.name);
    std::string rule, names;
    for (const std::string& name : marker.list) {
      const std::string term = "has(self." + CelName(name) + ")";
      rule += (rule.empty() ? "" : least ? "||" : "+") + (least ? term : "(" + term + "?1:0)");
      names += (names.empty() ? "" : " ") + name;
      if (found == description_.structs.end() || found->second.documented) continue;
      const auto& members = found->second.members;
      const auto member =
          std::find_if(members.begin(), members.end(), [&](const Member& each) { return each.wire_name == name; });
      if (member == members.end())
        Fail(marker, Quote(found->second.path) + " has no member " + Quote(name), "name members as in JSON");
      else if (FindMarker(member->markers, "required") != nullptr)
        Fail(marker, "the member " + Quote(name) + " is required", "remove +required from it");
    }
    if (!least) rule += most ? " <= 1" : " == 1";
    AddRule(rule,
            std::string(least  ? "at least one"
                        : most ? "at most one"
                               : "exactly one") +
                " of the fields in [" + names + (most ? "] may be set" : "] must be set"),
            schema);
  }

  // A server refuses null where there is an enum, even if null is among its values, but does not look into allOf then.
  static void AllowNull(Tree& schema) {
    if (schema.Find("enum") == nullptr || schema.Find("nullable") == nullptr) return;
    Tree values;
    values["enum"] = std::move(schema["enum"]);
    schema.Erase("enum");
    AddTo(schema["allOf"], std::move(values));
  }

  // Defaults and limits, which depend on other markers beside them.
  void CheckValues(const Marker& marker, const Tree& schema) {
    if (marker.name == "default" && schema.Find("default") != nullptr) {
      if (const std::string fault = FaultOfDefault(schema.Find("default")->ToJson(), schema); !fault.empty())
        Fail(marker, fault, "a server refuses a CRD whose defaults do not fit their schemas");
    }
    const std::string_view limit = marker.name == "exclusiveminimum"   ? "minimum"
                                   : marker.name == "exclusivemaximum" ? "maximum"
                                                                       : "";
    if (!limit.empty() && marker.value != "false" && schema.Find(limit) == nullptr)
      Fail(marker, "it has no effect without a " + std::string(limit), "write +kgen:" + std::string(limit) + "= too");
    for (const Keyword& row : kKeywords) {
      if (row.marker != marker.name || !row.keyword.starts_with("min")) continue;
      if (const std::string fault = FaultOfLimit(row.keyword, schema); !fault.empty())
        Fail(marker, fault, "correct one of the two");
    }
  }

  void ApplyKeyword(const Marker& marker, const Spot& spot) {
    for (const Keyword& row : kKeywords) {
      if (row.marker != marker.name) continue;
      if (!row.fits(spot.type->kind)) {
        Fail(marker,
             "it belongs on " + std::string(row.of) + ", and this is " + std::string(crd::Describe(spot.type->kind)),
             "remove the marker, or change the type");
        return;
      }
      if (!CheckWord(marker)) return;
      const bool on = row.form == Keyword::kFlag && marker.value != "false";
      if (row.form == Keyword::kFlag && !on) return;
      Put(row,
          row.form == Keyword::kText     ? Tree::Text(marker.name == "format" ? Format(marker) : marker.value)
          : row.form == Keyword::kNumber ? Tree::Json(marker.value)
                                         : Tree::Bool(true),
          spot);
      if (row.keyword == "x-kubernetes-embedded-resource" && spot.type->kind == TypeKind::kJson)
        (*spot.schema)["type"] = Tree::Text("object");
      if (row.keyword == "format" && marker.value.empty()) spot.schema->Erase("format");
    }
  }

  // Sets a keyword. Where a named type has another value, both must hold: a schema has a keyword once, but allOf may
  // have more of it.
  static void Put(const Keyword& row, Tree value, const Spot& spot) {
    Tree& schema = *spot.schema;
    const Tree* of_type = schema.Find(row.keyword);
    const bool constraint = row.form != Keyword::kFlag && !row.keyword.starts_with("x-kubernetes-");
    if (!spot.named || !constraint || of_type == nullptr || of_type->ToJson() == value.ToJson()) {
      schema[row.keyword] = std::move(value);
      return;
    }
    Tree place, type;
    if (const Tree* all = schema.Find("allOf"); all != nullptr && all->elements().size() == 2) {
      place = all->elements()[0];
      type = all->elements()[1];
    }
    place[row.keyword] = std::move(value);
    type[row.keyword] = *of_type;
    schema["allOf"] = Tree::List({std::move(place), std::move(type)});
    schema.Erase(row.keyword);
  }

  // The format as a server knows it. It ignores those that it does not know.
  std::string Format(const Marker& marker) {
    static constexpr std::string_view kKnown[] = {"byte",     "cidr",     "date",     "date-time", "datetime",
                                                  "duration", "email",    "hostname", "ipv4",      "ipv6",
                                                  "mac",      "password", "uri",      "uuid"};
    if (marker.value == "k8s-uuid") return "uuid";
    if (marker.value.starts_with("k8s-") && marker.value != "k8s-short-name" && marker.value != "k8s-long-name")
      Fail(marker, "a CRD has no format " + Quote(marker.value),
           "write a rule, for example +kgen:XValidation:rule=\"!format.labelValue().validate(self).hasValue()\"");
    std::string lower = marker.value;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower != marker.value && std::find(std::begin(kKnown), std::end(kKnown), lower) != std::end(kKnown))
      diagnostics_.Warning("format-unknown", marker.origin,
                           marker.written + ": a server ignores the format " + Quote(marker.value) +
                               ", since it knows only " + Quote(lower),
                           {}, "write it in lower case");
    return marker.value;
  }

  bool CheckWord(const Marker& marker) {
    const auto one_of = [&](std::initializer_list<std::string_view> words) {
      if (std::find(words.begin(), words.end(), marker.value) != words.end()) return true;
      std::string all;
      for (std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
      Fail(marker, Quote(marker.value) + " is not one of " + all, "choose one of these");
      return false;
    };
    if (marker.name == "listtype" && !marker.steps.empty()) return one_of({"atomic", "set"});
    if (marker.name == "listtype") return one_of({"atomic", "map", "set"});
    if (marker.name == "maptype") return one_of({"atomic", "granular"});
    if (marker.name == "multipleof" && marker.value.find_first_of("123456789") == std::string::npos) {
      Fail(marker, "no number is a multiple of " + marker.value, "write a number above 0");
      return false;
    }
    return true;
  }

  Tree Rule(const Marker& marker, const Tree& schema) {
    for (const std::string_view argument : {"rule", "messageExpression"}) {
      if (!marker.args.contains(argument)) continue;
      if (const std::string fault = FaultOfCel(marker.Arg(argument), schema, at_root_); !fault.empty())
        Fail(marker, std::string(argument) + ": " + fault, "a server refuses a CRD whose rules it cannot compile");
    }
    if (marker.args.contains("fieldPath")) {
      if (const std::string fault = FaultOfFieldPath(marker.Arg("fieldPath"), schema); !fault.empty())
        Fail(marker, "fieldPath: " + fault, "name a member below the place of the rule, with its names in JSON");
    }
    Tree rule;
    for (const auto& [name, value] : marker.args) {
      if (name == "optionalOldSelf") {
        if (value != "true" && value != "false")
          Fail(marker, "optionalOldSelf is neither true nor false", "write optionalOldSelf=true");
        rule[name] = Tree::Bool(value == "true");
      } else {
        rule[name] = Tree::Text(value);
      }
    }
    static constexpr std::array<std::string_view, 4> kReasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                                                 "FieldValueInvalid", "FieldValueRequired"};
    const std::string reason = marker.Arg("reason", kReasons[0]);
    if (std::find(kReasons.begin(), kReasons.end(), reason) == kReasons.end())
      Fail(marker, Quote(reason) + " is no reason that a server knows",
           "FieldValueInvalid, FieldValueForbidden, FieldValueRequired or FieldValueDuplicate");
    return rule;
  }

  void ApplyEnum(const Marker& marker, const Type& type, Tree& schema) {
    Tree values = Tree::List();
    for (const std::string& value : marker.list) {
      if (type.kind == TypeKind::kString) {
        values.Add(Tree::Text(value));
      } else if (IsNumber(type.kind) && Kind(value) == '0' && FaultOfDefault(value, LeafSchema(type.kind)).empty()) {
        values.Add(Tree::Json(value));
      } else {
        Fail(marker, Quote(value) + " cannot be a value of " + std::string(crd::Describe(type.kind)),
             type.kind == TypeKind::kEnum ? "an enum class lists its own values" : "enum is for texts and numbers");
        return;
      }
    }
    schema["enum"] = std::move(values);
  }

  // The kind of a JSON value by its first character, 0 for numbers; '?' for no JSON.
  static char Kind(std::string_view json) {
    if (json.empty()) return '?';
    const char c = json[0];
    if (c == '"' || c == '{' || c == '[' || c == 't' || c == 'f' || c == 'n') return c;
    const bool number = (c >= '0' && c <= '9') || (c == '-' && json.size() > 1);
    if (!number || json.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return '?';
    return '0';
  }

  void ApplyDefault(const Marker& marker, const Type& type, Tree& schema) {
    std::string json = marker.value;
    if (type.kind == TypeKind::kList && json == "{}") json = "[]";  // as in Go
    if (type.kind == TypeKind::kList && !marker.list.empty() && marker.list[0].contains(';') && json[0] == '"')
      json = ListOf(marker.list[0]);
    // A text may be written without quotes, even where that looks like a number.
    if ((IsText(type.kind) || type.kind == TypeKind::kQuantity) && !marker.list.empty() && json[0] != '"' &&
        json[0] != '{' && json[0] != '[') {
      json.clear();
      yaml::AppendJsonString(marker.list[0], json);
    }
    const char kind = Kind(json);
    const bool fraction = json.find_first_of(".eE") != std::string::npos;
    bool fits = type.kind == TypeKind::kJson;
    if (type.kind == TypeKind::kBool) fits = kind == 't' || kind == 'f';
    if (IsInteger(type.kind)) fits = kind == '0' && !fraction;
    if (type.kind == TypeKind::kDouble) fits = kind == '0';
    if (IsText(type.kind)) fits = kind == '"';
    if (IsIntOrText(type.kind)) fits = kind == '"' || (kind == '0' && !fraction);
    if (type.kind == TypeKind::kList) fits = kind == '[';
    if (IsObject(type.kind)) fits = kind == '{';
    if (!fits) {
      Fail(marker, Quote(json) + " is not " + std::string(crd::Describe(type.kind)),
           type.kind == TypeKind::kList ? "write {a,b} or [1,2]" : "write the value as JSON");
      return;
    }
    if (type.kind == TypeKind::kEnum && !IsValue(type, json)) {
      Fail(marker, json + " is not a value of the enum", "write one of its values as in JSON");
      return;
    }
    schema["default"] = Tree::Json(json);
  }

  // A default of a list that is written as a;b.
  static std::string ListOf(std::string_view written) {
    const auto list = TakeList(written, "");
    if (!list) return "\"\"";  // no list: refused as a text
    std::string out = "[";
    for (const std::string& element : *list) {
      const auto json = ToJson(element);
      out += (out.size() > 1 ? "," : "") + (json ? *json : "null");
    }
    return out + "]";
  }

  bool IsValue(const Type& type, const std::string& json) const {
    const auto found = description_.enums.find(type.name);
    if (found == description_.enums.end()) return true;
    return std::any_of(found->second.values.begin(), found->second.values.end(), [&](const Enum::Value& value) {
      std::string text;
      yaml::AppendJsonString(value.text, text);
      return text == json;
    });
  }

  // What a server demands of lists that are maps or sets.
  void CheckListKeys(const std::vector<Marker>& markers, const Type& of) {
    const Marker* type = FindMarker(markers, "listtype");
    const Marker* key = FindMarker(markers, "listmapkey");
    if (of.kind != TypeKind::kList) {
      if (key != nullptr) Fail(*key, "it belongs on a list", "remove the marker");
      return;
    }
    const Type& element = of.element.at(0);
    const bool map = type != nullptr && type->value == "map";
    if (key != nullptr && !map) return Fail(*key, "it belongs to a list of type map", "write +listType=map beside it");
    if (type != nullptr && type->value == "set" && !IsNumber(element.kind) && !IsText(element.kind))
      return Fail(*type, "a set has elements that are texts or numbers", "use +listType=atomic or map");
    if (!map) return;
    const auto found = description_.structs.find(element.name);
    if (element.kind != TypeKind::kStruct)
      return Fail(*type, "a list of type map has structs as elements", "use +listType=set");
    if (key == nullptr) return Fail(*type, "a list of type map needs its keys", "write +listMapKey=NAME for each key");
    if (found == description_.structs.end() || found->second.documented) return;
    std::set<std::string> keys;
    for (const Marker& marker : markers) {
      if (marker.name != "listmapkey") continue;
      CheckKey(marker, found->second);
      if (!keys.insert(marker.value).second)
        Fail(marker, "the key " + Quote(marker.value) + " is named twice", "remove the marker");
    }
  }

  // A key must be required. Where the struct has its schema from a document, this schema says so.
  void RequireForeignKeys(const std::vector<Marker>& markers, const Type& of, Tree& schema) {
    if (of.kind != TypeKind::kList) return;
    const auto found = description_.structs.find(of.element.at(0).name);
    if (found == description_.structs.end() || !found->second.documented) return;
    Tree& items = schema["items"];
    std::set<std::string> required;
    if (const Tree* known = items.Find("required"); known != nullptr) {
      for (const Tree& name : known->elements()) required.insert(name.ToText());
    }
    for (const Marker& marker : markers) {
      if (marker.name != "listmapkey") continue;
      const Tree* property = items["properties"].Find(marker.value);
      if (property == nullptr)
        Fail(marker, Quote(found->second.path) + " has no member " + Quote(marker.value), "name a member as in JSON");
      if (property == nullptr || property->Find("default") == nullptr) required.insert(marker.value);
    }
    if (!required.empty()) items["required"] = Tree::Texts({required.begin(), required.end()});
  }

  void CheckKey(const Marker& marker, const Struct& element) {
    std::vector<std::string_view> names;
    for (const Member& member : element.members) {
      names.push_back(member.wire_name);
      if (member.wire_name != marker.value) continue;
      if (FindMarker(member.markers, "required") == nullptr && FindMarker(member.markers, "default") == nullptr) {
        Fail(marker, "a server wants the key " + Quote(marker.value) + " to be required or to have a default",
             "write +required above " + member.name + " in " + element.path);
      }
      const bool object = IsObject(member.type.kind) || member.type.kind == TypeKind::kList;
      if (object || FindMarker(member.markers, "nullable") != nullptr)
        Fail(marker,
             "the key " + Quote(marker.value) + " is " +
                 std::string(object ? crd::Describe(member.type.kind) : "nullable"),
             "choose a key that is a text, number or bool, and never null");
      return;
    }
    const std::string_view nearest = Nearest(marker.value, names);
    Fail(marker, Quote(element.path) + " has no member " + Quote(marker.value),
         nearest.empty() ? "name a member as in JSON" : "did you mean " + std::string(nearest) + "?");
  }

  const Description& description_;
  const SchemaOptions& options_;
  Diagnostics& diagnostics_;
  std::set<const Struct*> open_;
  std::size_t nodes_ = 0, levels_ = 0;
  bool too_deep_ = false;
  bool at_root_ = false;  // the markers of the kind itself are being applied
  Origin member_;         // whose schema is being made
};

}  // namespace

Tree MakeSchema(const Struct& kind, const Description& description, const SchemaOptions& options,
                Diagnostics& diagnostics) {
  return SchemaBuilder(description, options, diagnostics).Root(kind);
}

const Type* TypeAtPath(const Struct& kind, const Description& description, std::string_view path, Origin origin,
                       bool& checked, Diagnostics& diagnostics) {
  if (!path.starts_with('.')) {
    checked = true;
    diagnostics.Error("json-path", origin, "the path " + Quote(path) + " does not begin with a dot", {},
                      "write it as in .spec.item");
    return nullptr;
  }
  checked = path != ".metadata" && !path.starts_with(".metadata.") &&
            path.find_first_of("[]'\"\\*@?()") == std::string_view::npos;
  if (!checked) return nullptr;
  const Struct* at = &kind;
  const Type* type = nullptr;
  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string name(rest.substr(0, rest.find('.')));
    rest.remove_prefix(name.size());
    const bool open = type != nullptr && (type->kind == TypeKind::kMap || type->kind == TypeKind::kJson);
    if (open || (at != nullptr && at->documented)) {
      checked = false;
      return nullptr;
    }
    const Member* found = nullptr;
    std::vector<std::string_view> names;
    if (at != nullptr) {
      for (const Member& member : at->members) {
        names.push_back(member.wire_name);
        if (member.wire_name == name) found = &member;
      }
    }
    if (found == nullptr) {
      const std::string_view nearest = Nearest(name, names);
      diagnostics.Error(
          "json-path", origin, "the path " + Quote(path) + " names no member: there is no " + Quote(name), {},
          nearest.empty() ? "paths have the names of JSON" : "did you mean " + std::string(nearest) + "?");
      return nullptr;
    }
    type = &found->type;
    const auto inner = description.structs.find(type->name);
    at = type->kind == TypeKind::kStruct && inner != description.structs.end() ? &inner->second : nullptr;
  }
  return type;
}

}  // namespace kgen::generator::crd
