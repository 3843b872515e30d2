// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/plan_types.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "generator/emit/plan/plan_metadata.h"
#include "generator/emit/spelling/describe.h"
#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/names.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;
using model::Role;

// A table counts members and offsets in 16 bits; a member takes at most 16 bytes.
constexpr std::size_t kMostMembers = 4000;

// Compilers need quadratic time for the members of one struct: 5,000 constants take a second, 20,000 take 25.
constexpr std::size_t kMostConstants = 5000;

constexpr std::string_view kMetaSpace = "kgen::meta::v1";
constexpr std::string_view kListMeta = "kgen::meta::v1::ListMeta";

// The fixed order of members: the most important ones first, all others in byte order.
int Rank(std::string_view wire_name, Role role) {
  if (role != Role::kPlain) {
    if (wire_name == "metadata") return 0;
    if (wire_name == "spec") return 1;
    if (wire_name == "status") return 2;
  }
  if (wire_name == "name") return 3;
  if (wire_name == "namespace") return 4;
  return 5;
}

// Returns whether a schema is the metadata of objects or of lists.
bool IsMetadata(const model::Api& api, const model::Schema& schema) {
  if (schema.kind != Kind::kRef) return false;
  const model::NamedType& type = api.types[schema.ref];
  return type.group == model::kMetaGroup && (type.name == "ObjectMeta" || type.name == "ListMeta");
}

// Returns whether the value differs in every object, so that it is not worth a place in the string pool. The objects of
// one owner share its uid.
bool IsUnique(std::string_view wire_name, std::string_view struct_path) {
  if (struct_path == "OwnerReference") return false;
  if (wire_name == "ip" && struct_path.ends_with("::PodIPs")) return true;  // in a projection
  return wire_name == "uid" || (wire_name == "name" && struct_path == "ObjectMeta") || wire_name == "resourceVersion" ||
         wire_name == "containerID" || wire_name == "podIP" || (wire_name == "ip" && struct_path == "PodIP");
}

std::string_view LeafType(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "kgen::String";
    case Kind::kBool:
      return "bool";
    case Kind::kInt32:
      return "std::int32_t";
    case Kind::kInt64:
      return "std::int64_t";
    case Kind::kDouble:
      return "double";
    case Kind::kBytes:
      return "kgen::Bytes";
    case Kind::kTime:
      return "kgen::Time";
    case Kind::kMicroTime:
      return "kgen::MicroTime";
    case Kind::kDuration:
      return "kgen::Duration";
    case Kind::kQuantity:
      return "kgen::Quantity";
    case Kind::kIntOrString:
      return "kgen::IntOrString";
    case Kind::kJson:
    case Kind::kObject:
    case Kind::kRef:
    case Kind::kList:
    case Kind::kMap:
      return "kgen::Json";
  }
  return "kgen::Json";
}

// Returns the enumerator of kgen::ValueKind for a member.
std::string_view ValueKindName(Kind kind) {
  switch (kind) {
    case Kind::kObject:
    case Kind::kRef:
      return "kBox";
    case Kind::kList:
      return "kList";
    case Kind::kMap:
      return "kMap";
    case Kind::kString:
      return "kString";
    case Kind::kBool:
      return "kBool";
    case Kind::kInt32:
      return "kInt32";
    case Kind::kInt64:
      return "kInt64";
    case Kind::kDouble:
      return "kDouble";
    case Kind::kBytes:
      return "kBytes";
    case Kind::kTime:
      return "kTime";
    case Kind::kMicroTime:
      return "kMicroTime";
    case Kind::kDuration:
      return "kDuration";
    case Kind::kQuantity:
      return "kQuantity";
    case Kind::kIntOrString:
      return "kIntOrString";
    case Kind::kJson:
      return "kJson";
  }
  return "kJson";
}

bool IsScalar(Kind kind) {
  return kind == Kind::kBool || kind == Kind::kInt32 || kind == Kind::kInt64 || kind == Kind::kDouble;
}

// Returns the innermost element of nested lists and maps.
const model::Schema& Innermost(const model::Api& api, const model::Schema& schema) {
  const model::Schema* inner = &Resolved(api, schema);
  while (inner->element != nullptr) inner = &Resolved(api, *inner->element);
  return *inner;
}

// Returns the innermost element at each position of a member.
std::vector<const model::Schema*> Innermost(const model::Api& api, const Member& member) {
  std::vector<const model::Schema*> inner;
  inner.reserve(member.size());
  for (const model::Field* field : member) inner.push_back(&Innermost(api, *field->schema));
  return inner;
}

// Returns the property of this name at each position of an object.
Member MemberOf(const std::vector<const model::Schema*>& positions, const std::string& name) {
  Member member;
  member.reserve(positions.size());
  for (const model::Schema* position : positions) member.push_back(position->Find(name));
  return member;
}

std::set<std::string, std::less<>> Union(const std::set<std::string, std::less<>>& a,
                                         const std::vector<std::string>& b) {
  std::set<std::string, std::less<>> all = a;
  all.insert(b.begin(), b.end());
  return all;
}

// Returns "v1.Order.Spec" for "v1::Order::Spec".
std::string Dotted(std::string path) {
  for (std::size_t at = path.find("::"); at != std::string::npos; at = path.find("::")) path.replace(at, 2, ".");
  return path;
}

PlannedField InPlaceMetadata(std::string_view type, Comment comment) {
  return {.wire_name = "metadata",
          .identifier = "metadata",
          .type = std::string(type),
          .initializer = "{}",
          .value_kind = "kStruct",
          .flags = "0",
          .detail = "&" + std::string(type) + "::kTable",
          .protobuf = {.numbers = {1}},  // of every kind and list
          .comment = std::move(comment)};
}

}  // namespace

// The struct that is being planned.
struct StructPlanner::Scope {
  std::string path;   // "Order::Spec"
  std::string name;   // "Spec"
  std::string title;  // for diagnostics: "acme.shop.v1.Order.Spec"
  std::string table;  // the name of its table; differs from `title` below a struct of shapes.h
  Role role = Role::kPlain;
  bool from_document = false;  // not from a CRD
  std::size_t depth = 0;
  std::set<std::string, std::less<>> hidden;                // names with another meaning here than at namespace scope
  std::map<std::string, std::string, std::less<>> members;  // wire name -> identifier
  std::map<std::string, std::string, std::less<>> nested;   // wire name -> nested struct
  std::map<std::string, std::string, std::less<>> enums;    // wire name -> struct of constants

  std::size_t width() const { return kColumns - 2 * depth; }

  // The names that the generated struct uses itself, whatever the input contains.
  std::set<std::string, std::less<>> OwnNames() const {
    std::set<std::string, std::less<>> names = {name, "kTable", "unknown_fields"};
    if (role == Role::kKind) names.insert(kMetadataNames.begin(), kMetadataNames.end());
    return names;
  }
};

std::vector<Member> StructPlanner::Members(const Shape& shape, Role role, const std::string& title) const {
  std::vector<Member> members;
  for (const model::Field& field : shape.positions[0]->fields) {
    if (role != Role::kPlain && (field.name == "apiVersion" || field.name == "kind")) continue;  // in KindInfo
    if (!IsTableName(field.name)) {
      diagnostics_.Note("no-member", field.origin,
                        "no member is generated for " + Quote(field.name) + "; it stays among the unknown fields",
                        title + "." + Visible(field.name),
                        "member names are text without quotes and control characters");
      continue;
    }
    Member& member = members.emplace_back();
    for (const model::Schema* position : shape.positions) member.push_back(position->Find(field.name));
  }
  std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    return std::tuple(Rank(a[0]->name, role), std::string_view(a[0]->name)) <
           std::tuple(Rank(b[0]->name, role), std::string_view(b[0]->name));
  });
  return members;
}

PlannedStruct StructPlanner::Plan(const model::NamedType& type, const std::string& name, const std::string& title,
                                  const std::string& about, const std::string& deprecation) const {
  Scope scope{.path = name,
              .name = name,
              .title = title,
              .table = title,
              .role = type.role,
              .from_document = !type.definition.empty(),
              .depth = 0,
              .hidden = {},
              .members = {},
              .nested = {},
              .enums = {}};
  PlannedStruct out = PlanObject(shapes_.Of(type.schema), scope, about);
  out.protobuf = type.protobuf;
  for (std::string& line : CommentLines({deprecation}, kColumns)) out.comment.push_back(std::move(line));
  return out;
}

PlannedStruct StructPlanner::PlanShared(const Shape& shape, const std::string& group) const {
  Scope scope{.path = shape.name,
              .name = shape.name,
              .title = group + "." + Dotted(shape.first),
              .table = group + "." + shape.name,
              .role = Role::kPlain,
              .from_document = shape.from_document,
              .depth = 0,
              .hidden = {},
              .members = {},
              .nested = {},
              .enums = {}};
  PlannedStruct out = PlanObject(shape, scope, {});
  const std::size_t others = shape.positions.size() - 1;
  const std::string also = others == 0 ? "" : " and " + std::to_string(others) + (others == 1 ? " other" : " others");
  Comment about = CommentLines({shape.shortest + also + "."}, kColumns);
  if (!out.comment.empty()) about.emplace_back("//");
  out.comment.insert(out.comment.begin(), about.begin(), about.end());
  return out;
}

PlannedStruct StructPlanner::PlanList(const std::string& name, const std::string& item) const {
  PlannedStruct list;
  list.name = list.path = name;
  list.item = item;
  list.metadata = "metadata";
  list.comment = CommentLines({"A list of " + item + " objects."}, kColumns);
  list.fields.push_back(
      InPlaceMetadata(kListMeta, CommentLines({"What the server says about the list as a whole."}, kColumns)));
  list.fields.push_back({.wire_name = "items",
                         .identifier = "items",
                         .type = "kgen::List<" + item + ">",
                         .initializer = "{}",
                         .value_kind = "kList",
                         .flags = "0",
                         .detail = "&kgen::kTypeOf<" + item + ">",
                         .comment = CommentLines({"The objects of the list."}, kColumns)});
  return list;
}

PlannedStruct StructPlanner::PlanObject(const Shape& shape, Scope& scope, const std::string& fallback) const {
  PlannedStruct out;
  out.name = scope.name;
  out.path = scope.path;
  out.table_name = scope.table;
  out.origin = shape.positions[0]->origin;
  out.preserve_unknown = shape.positions[0]->preserve_unknown;
  out.projection = shape.positions[0]->projection;
  // A part of a type has names for the structs in it.
  out.protobuf = out.projection && std::ranges::all_of(shape.positions[0]->fields, [](const model::Field& field) {
                   return !field.protobuf.numbers.empty();
                 });
  out.comment = CommentLines(DescribeStruct(shape.positions, fallback), scope.width());
  const std::vector<Member> members = Members(shape, scope.role, scope.title);
  if (members.size() > kMostMembers) {
    diagnostics_.Error("too-many-members", shape.positions[0]->origin,
                       "the object has " + std::to_string(members.size()) + " properties; a struct can have at most " +
                           std::to_string(kMostMembers) + " members",
                       scope.title, "make it a map: additionalProperties instead of properties");
    return out;
  }
  std::vector<std::string> wire_names;
  wire_names.reserve(members.size());
  for (const Member& member : members) wire_names.push_back(member[0]->name);
  const std::vector<std::string> identifiers = DistinctIdentifiers(wire_names, MemberIdentifier, scope.OwnNames());
  for (std::size_t i = 0; i < members.size(); ++i) scope.members[wire_names[i]] = identifiers[i];
  scope.hidden.insert(identifiers.begin(), identifiers.end());
  PlanNested(members, scope, out);
  for (const Member& member : members) {
    out.fields.push_back(PlanField(member, scope));
    if (member[0]->name == "metadata" && out.fields.back().value_kind == "kStruct")
      out.metadata = out.fields.back().identifier;
  }
  return out;
}

// Plans the nested structs: anonymous objects and the constants of enums. Both are named after their property.
void StructPlanner::PlanNested(const std::vector<Member>& members, Scope& scope, PlannedStruct& out) const {
  std::vector<std::string> objects, enums;
  std::vector<const model::Field*> fields;
  for (const Member& member : members) {
    fields.push_back(member[0]);
    const std::vector<const model::Schema*> inner = Innermost(api_, member);
    if (inner[0]->kind == Kind::kObject || IsAliased(member, scope)) objects.push_back(member[0]->name);
    if (HasConstants(*member[0], *inner[0], scope)) enums.push_back(member[0]->name);
  }
  std::set<std::string, std::less<>> taken = scope.OwnNames();
  for (const auto& [wire_name, identifier] : scope.members) taken.insert(identifier);
  const std::vector<std::string> object_names = DistinctIdentifiers(objects, NameObjects(api_, fields, taken), taken);
  const std::vector<std::string> enum_names = DistinctIdentifiers(
      enums, [](std::string_view name) { return TypeIdentifier(std::string(name) + "-values"); },
      Union(taken, object_names));
  for (std::size_t i = 0; i < objects.size(); ++i) scope.nested[objects[i]] = object_names[i];
  for (std::size_t i = 0; i < enums.size(); ++i) scope.enums[enums[i]] = enum_names[i];
  for (const Member& member : members) {
    const auto name = scope.nested.find(member[0]->name);
    if (name != scope.nested.end()) scope.hidden.insert(name->second);
  }
  scope.hidden.insert(enum_names.begin(), enum_names.end());
  const std::set<std::string, std::less<>> own = scope.OwnNames();
  scope.hidden.insert(own.begin(), own.end());
  for (const Member& member : members) {
    if (scope.nested.contains(member[0]->name)) PlanInner(member, scope, out);
    if (scope.enums.contains(member[0]->name)) out.enums.push_back(PlanEnum(member, scope));
  }
}

bool StructPlanner::HasConstants(const model::Field& field, const model::Schema& inner, const Scope& scope) const {
  if (inner.enum_values.size() <= kMostConstants) return !inner.enum_values.empty();
  diagnostics_.Warning("enum-size", field.origin,
                       "the enum has " + std::to_string(inner.enum_values.size()) +
                           " values; it gets no constants, because they would take too long to compile",
                       scope.title + "." + Visible(field.name),
                       "write the values as text, or use a pattern in place of the enum");
  return false;
}

// Returns whether the struct has an alias for the type of a member because that type has its own name. With the alias,
// the name does not depend on whether the type is nested here or belongs to another API. Metadata has an alias too,
// except in a kind.
bool StructPlanner::IsAliased(const Member& member, const Scope& scope) const {
  const model::Schema& inner = Innermost(api_, *member[0]->schema);
  if (inner.kind != Kind::kRef || !names_[inner.ref].emitted) return false;
  return scope.role == Role::kPlain || member[0]->name != "metadata";
}

// Plans the type of a member: a nested struct, or an alias for a struct in shapes.h or for a named type.
void StructPlanner::PlanInner(const Member& member, const Scope& scope, PlannedStruct& out) const {
  const std::vector<const model::Schema*> inner = Innermost(api_, member);
  if (inner[0]->kind == Kind::kRef) {
    const TypeName& type = names_[inner[0]->ref];
    // The type of a used API has a comment of this position; others have their comment where they are declared.
    const Comment comment = type.used ? CommentLines(DescribeStruct(inner, {}), scope.width() - 2) : Comment();
    out.aliases.push_back({.name = scope.nested.find(member[0]->name)->second,
                           .target = SpellRef(*member[0], *inner[0], scope).in_class,
                           .comment = comment,
                           .after = !type.used});
    return;
  }
  const Shape& shape = shapes_.Of(*inner[0]);
  const std::string& name = scope.nested.find(member[0]->name)->second;
  const std::string fallback = scope.from_document ? "The type of the member " + InComment(member[0]->name) + "." : "";
  if (!shape.name.empty()) {
    std::vector<std::string> lines = DescribeStruct(inner, fallback);
    AddOwnProse(inner, {}, {}, lines);
    out.aliases.push_back(
        {.name = name, .target = shape.name, .comment = CommentLines(lines, scope.width() - 2), .shared = true});
    return;
  }
  Scope below{.path = scope.path + "::" + name,
              .name = name,
              .title = scope.title + "." + name,
              .table = scope.table + "." + name,
              .role = Role::kPlain,
              .from_document = scope.from_document,
              .depth = scope.depth + 1,
              .hidden = scope.hidden,
              .members = {},
              .nested = {},
              .enums = {}};
  out.nested.push_back(PlanObject(shape, below, fallback));
}

// Adds the descriptions that members of a shared struct have at the positions of one alias, and not at all others: the
// struct itself can have neither. `around` are the positions of an alias inside of the struct, which says what they
// share; empty at the top.
void StructPlanner::AddOwnProse(const std::vector<const model::Schema*>& own,
                                const std::vector<const model::Schema*>& around, const std::string& path,
                                std::vector<std::string>& lines) const {
  const Shape& shape = shapes_.Of(*own[0]);
  if (!HasDifferingProse(*own[0])) return;
  const std::set<std::string_view>& differing = DifferingProse(shape);
  for (const model::Field& field : own[0]->fields) {
    if (!IsTableName(field.name)) continue;
    const std::string below = path + field.name;
    const Member member = MemberOf(own, field.name);
    if (differing.contains(field.name) && (around.empty() || CommonProse(MemberOf(around, field.name)).empty())) {
      std::vector<std::string> prose = CommonProse(member);
      if (!prose.empty()) prose[0].insert(0, InComment(below) + ": ");
      lines.insert(lines.end(), prose.begin(), prose.end());
    }
    const std::vector<const model::Schema*> inner = Innermost(api_, member);
    if (inner[0]->kind != Kind::kObject || !HasDifferingProse(*inner[0])) continue;
    AddOwnProse(inner, Innermost(api_, MemberOf(shape.positions, field.name)), below + ".", lines);
  }
}

// Returns whether positions of an object describe a member of it, at any depth, differently.
bool StructPlanner::HasDifferingProse(const model::Schema& object) const {
  const Shape& shape = shapes_.Of(object);
  if (const auto known = differing_inside_.find(&shape); known != differing_inside_.end()) return known->second;
  bool differing = !DifferingProse(shape).empty();
  for (const model::Field& field : object.fields) {
    const model::Schema& inner = Innermost(api_, *field.schema);
    if (!differing && inner.kind == Kind::kObject && IsTableName(field.name)) differing = HasDifferingProse(inner);
  }
  differing_inside_[&shape] = differing;
  return differing;
}

const std::set<std::string_view>& StructPlanner::DifferingProse(const Shape& shape) const {
  const auto [found, added] = differing_.try_emplace(&shape);
  if (!added || shape.positions.size() == 1) return found->second;
  for (const model::Field& field : shape.positions[0]->fields) {
    if (!IsTableName(field.name)) continue;
    const Member member = MemberOf(shape.positions, field.name);
    const bool described = std::any_of(member.begin(), member.end(),
                                       [](const model::Field* each) { return !CommonProse({each}).empty(); });
    if (described && CommonProse(member).empty()) found->second.insert(field.name);
  }
  return found->second;
}

// All positions of a member have the same values, because values are part of a shape.
PlannedEnum StructPlanner::PlanEnum(const Member& member, const Scope& scope) const {
  PlannedEnum out;
  out.name = scope.enums.find(member[0]->name)->second;
  const model::Schema& schema = Innermost(api_, *member[0]->schema);
  const bool text = schema.kind == Kind::kString;
  out.type = text ? "std::string_view" : "std::int64_t";
  for (const std::string& value : SortedValues(schema)) {
    std::string literal = text ? StringViewLiteral(value) : value;
    if (literal == "-9223372036854775808") literal = "-9223372036854775807 - 1";  // C++ has no literal for this value
    out.constants.push_back({ConstantIdentifier(value), std::move(literal)});
  }
  return out;
}

Spelling StructPlanner::SpellRef(const model::Field& field, const model::Schema& schema, const Scope& scope) const {
  const TypeName& type = names_[schema.ref];
  if (!type.emitted) {
    diagnostics_.Warning(
        "no-struct", field.origin,
        "no C++ type is generated for " + Quote(api_.types[schema.ref].definition, 200) + "; the member is any JSON",
        scope.title + "." + Visible(field.name),
        "types are generated for definitions whose names contain a package and a version, as in "
        "com.example.shop.v1.Order; of meta/v1 only for those that every object uses");
    return {"kgen::Json", "kgen::Json"};
  }
  if (type.runtime || type.scope != scope_) return {type.qualified, type.qualified};
  // A class must not use a name from outside and then declare it.
  if (!scope.hidden.contains(type.name) || type.name == scope.path) return {type.name, type.name};
  const std::string space = scope_.substr(scope_.rfind(':') + 1);
  return {scope.hidden.contains(space) ? type.qualified : space + "::" + type.name, type.name};
}

Spelling StructPlanner::Spell(const model::Field& field, const model::Schema& unresolved, const Scope& scope) const {
  const model::Schema& schema = Resolved(api_, unresolved);
  if (schema.kind == Kind::kRef) {
    Spelling spelling = SpellRef(field, schema, scope);
    if (names_[schema.ref].used) spelling.in_class = scope.nested.find(field.name)->second;
    return spelling;
  }
  if (schema.kind == Kind::kObject) {
    const std::string& name = scope.nested.find(field.name)->second;
    const std::string& shared = shapes_.Of(schema).name;
    return {name, shared.empty() ? scope.path + "::" + name : shared};
  }
  if (schema.kind == Kind::kList || schema.kind == Kind::kMap) {
    const std::string container = schema.kind == Kind::kList ? "kgen::List<" : "kgen::Map<";
    const Spelling element = Spell(field, *schema.element, scope);
    return {container + element.in_class + ">", container + element.in_tables + ">"};
  }
  return {std::string(LeafType(schema.kind)), std::string(LeafType(schema.kind))};
}

std::string StructPlanner::Flags(const Member& member, const Scope& scope) const {
  const model::Field& field = *member[0];
  std::string flags;
  const auto add = [&](const char* flag) { flags += (flags.empty() ? "kgen::" : " | kgen::") + std::string(flag); };
  if (field.schema->nullable) add("kNullable");
  if (IsUnique(field.name, scope.path) && field.schema->kind == Kind::kString) add("kUnique");
  // Decoding a part of an object takes less time than a look-up of the whole.
  const bool part = Innermost(api_, *field.schema).projection;
  if ((scope.role == Role::kKind && field.name == "status") || part) add("kNoMemo");
  if (scope_ == kMetaSpace && field.name == "managedFields") {
    add("kNoMemo");
    add("kManagedFields");
  }
  return flags.empty() ? "0" : flags;
}

PlannedField StructPlanner::PlanField(const Member& member, const Scope& scope) const {
  const model::Field& field = *member[0];
  const model::Schema& schema = Resolved(api_, *field.schema);
  const Spelling spelling = Spell(field, schema, scope);
  if (scope.role != Role::kPlain && field.name == "metadata" && IsMetadata(api_, schema)) {
    return InPlaceMetadata(spelling.in_class, DescribeMember({&field}, "metadata", {}, scope.width() - 2));
  }
  PlannedField out;
  out.wire_name = field.name;
  out.identifier = scope.members.find(field.name)->second;
  out.flags = Flags(member, scope);
  out.protobuf = field.protobuf;
  const auto values = scope.enums.find(field.name);
  out.comment = DescribeMember(member, out.identifier, values == scope.enums.end() ? std::string() : values->second,
                               scope.width() - 2);
  out.value_kind = ValueKindName(schema.kind);
  out.detail = "nullptr";
  out.initializer = "{}";
  out.type = spelling.in_class;
  if (IsScalar(schema.kind)) {
    out.type = "kgen::Optional<" + spelling.in_class + ">";
  } else if (schema.kind == Kind::kObject || (schema.kind == Kind::kRef && spelling.in_class != "kgen::Json")) {
    out.type = "kgen::Optional<" + spelling.in_class + ">";
    // For an initializer with `=`, Clang instantiates the destructor, which fails for a type that is only declared.
    const bool open = schema.kind == Kind::kRef && names_[schema.ref].open && names_[schema.ref].scope == scope_;
    out.initializer = open ? "{kgen::kAbsent}" : " = kgen::kAbsent";
    out.detail = "&" + spelling.in_tables + "::kTable";
  } else if (schema.kind == Kind::kList || schema.kind == Kind::kMap) {
    // The type of the element, between the angle brackets.
    const std::size_t open = spelling.in_tables.find('<');
    out.detail = "&kgen::kTypeOf<" + spelling.in_tables.substr(open + 1, spelling.in_tables.size() - open - 2) + ">";
  } else if (schema.kind == Kind::kRef) {
    out.value_kind = "kJson";
  }
  return out;
}

}  // namespace kgen::generator::emit
