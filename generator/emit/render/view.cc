// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/render/view.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/perfect_hash.h"
#include "kgen/core/type_table.h"

namespace kgen::generator::emit {
namespace {

// Returns ACME_SHOP_V1_TYPES_H_ for acme/shop/v1/types.h, without consecutive underscores.
std::string Guard(std::string_view path) {
  std::string guard;
  for (char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) {
      guard += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    } else if (!guard.empty() && guard.back() != '_') {
      guard += '_';
    }
  }
  return guard + "_";
}

// The values that all files have.
ViewMap FileView(const std::string& path, const std::string& name_space, const FileHeader& header) {
  return {{"header", ViewValue(header.lines)},
          {"guard", Guard(path)},
          {"namespace", name_space},
          {"table_version", std::to_string(kTableVersion)}};
}

// Returns a declaration with its initializer, broken into lines as clang-format does it.
ViewList Declaration(const PlannedField& field, std::size_t indent) {
  std::string line = field.type + " " + field.identifier + field.initializer + ";";
  if (indent + line.size() <= kColumns || field.initializer[0] == '{') return {std::move(line)};
  return {field.type + " " + field.identifier + " =", "    kgen::kAbsent;"};
}

ViewList Constant(const PlannedEnum& planned, const PlannedEnum::Constant& constant, std::size_t indent) {
  const std::string start = "static constexpr " + planned.type + " " + constant.identifier + " =";
  if (indent + start.size() + constant.value.size() + 2 <= kColumns) return {start + " " + constant.value + ";"};
  return {start, "    " + constant.value + ";"};
}

// Adds the line, broken at | if it is too long.
void AddBroken(std::string line, ViewList& lines) {
  while (line.size() > kColumns) {
    const std::size_t bar = line.rfind(" | ", kColumns - 2);
    if (bar == std::string::npos) break;
    lines.push_back(line.substr(0, bar + 2));
    line = std::string(8, ' ') + line.substr(bar + 3);
  }
  lines.push_back(std::move(line));
}

// Returns `using NAME = TARGET;`, broken if it is too long.
ViewList Alias(const std::string& name, const std::string& target, std::size_t indent = 0) {
  if (indent + 6 + name.size() + 3 + target.size() + 1 <= kColumns) return {"using " + name + " = " + target + ";"};
  ViewList lines = {"using " + name + " ="};
  AddBroken("    " + target + ";", lines);
  return lines;
}

ViewList ClientAlias(const PlannedResource& resource) {
  const std::string client =
      "kgen::ResourceClient<" + resource.type + ", " + resource.list_type + ", " + resource.verbs;
  if (resource.subresources.empty()) return Alias(resource.client_class, client + ">");
  ViewList lines = {"using " + resource.client_class + " ="};
  std::string line = "    " + client;
  for (const PlannedSubresource& subresource : resource.subresources) {
    AddBroken(std::move(line) + ",", lines);
    line = "        kgen::Subresource<" + subresource.name + ", " + subresource.body + ", " + subresource.verbs + ">";
  }
  AddBroken(std::move(line) + ">;", lines);
  return lines;
}

// Returns whether a blank line separates two members or aliases, so that comments of several lines do not run together.
bool Spaced(const Comment* before, const Comment& comment) {
  return before != nullptr && (before->size() > 1 || comment.size() > 1);
}

// Returns a function that returns one expression, in one line if it fits.
ViewList Function(const std::string& signature, const std::string& expression, std::size_t indent) {
  const std::string line = signature + " { return " + expression + "; }";
  if (indent + line.size() <= kColumns) return {line};
  return {signature + " {", "  return " + expression + ";", "}"};
}

// `equality` says that the struct declares its own comparison.
ViewValue StructView(const PlannedStruct& planned, std::size_t depth, bool equality = false) {
  const std::size_t indent = 2 * depth + 2;
  ViewList aliases, aliases_after, nested, enums, fields;
  const Comment* before = nullptr;
  for (const PlannedAlias& alias : planned.aliases) {
    (alias.after ? aliases_after : aliases)
        .push_back(ViewMap{{"spaced", !alias.after && Spaced(before, alias.comment)},
                           {"comment", alias.comment},
                           {"lines", Alias(alias.name, alias.target, indent)}});
    if (!alias.after) before = &alias.comment;
  }
  for (const PlannedStruct& inner : planned.nested) nested.push_back(StructView(inner, depth + 1, equality));
  for (const PlannedEnum& inner : planned.enums) {
    ViewList constants;
    for (const PlannedEnum::Constant& constant : inner.constants) {
      constants.push_back(ViewMap{{"lines", Constant(inner, constant, indent + 2)}});
    }
    enums.push_back(
        ViewMap{{"comment", inner.comment},
                {"name", inner.name},
                {"alias_lines", inner.same_as.empty() ? ViewList() : Alias(inner.name, inner.same_as, indent)},
                {"own", inner.same_as.empty()},
                {"constants", std::move(constants)}});
  }
  before = nullptr;
  for (const PlannedField& field : planned.fields) {
    fields.push_back(ViewMap{
        {"spaced", Spaced(before, field.comment)}, {"comment", field.comment}, {"lines", Declaration(field, indent)}});
    before = &field.comment;
  }
  ViewList equality_lines;
  if (equality) {
    equality_lines =
        Function("friend bool operator==(const " + planned.name + "& a, const " + planned.name + "& b) noexcept",
                 "kgen::detail::EqualStruct(&a, &b, kTable)", indent);
  }
  ViewList members;  // that a part of another type makes accessible
  for (const PlannedField& field : planned.fields) {
    if (!planned.layout.empty()) members.push_back(ViewMap{{"member", field.identifier}});
  }
  return ViewMap{{"comment", planned.comment},
                 {"name", planned.name},
                 {"is_part", !planned.layout.empty()},
                 {"is_struct", planned.layout.empty()},
                 {"layout", planned.layout},
                 {"members", std::move(members)},
                 {"is_projection", planned.projection && !planned.kind_symbol.empty()},
                 {"equality_lines", std::move(equality_lines)},
                 {"has_shared", !aliases.empty()},
                 {"shared", std::move(aliases)},
                 {"has_aliases_after", !aliases_after.empty()},
                 {"aliases_after", std::move(aliases_after)},
                 {"nested", std::move(nested)},
                 {"enums", std::move(enums)},
                 {"fields", std::move(fields)},
                 {"has_columns", !planned.columns.empty()},
                 {"item", planned.item.empty() ? ViewValue(false) : ViewValue(planned.item)}};
}

std::string Flat(std::string path) {
  for (std::size_t at = path.find("::"); at != std::string::npos; at = path.find("::")) path.replace(at, 2, "_");
  return path;
}

// Returns rows of at most 24 numbers.
ViewList SlotLines(const std::vector<std::uint8_t>& slots) {
  ViewList lines;
  std::string line;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    line += std::to_string(slots[i]) + ",";
    if (i + 1 == slots.size() || i % 24 == 23) {
      lines.push_back(std::exchange(line, {}));
    } else {
      line += ' ';
    }
  }
  return lines;
}

// A table is a static member, so the compiler looks up names in its initializer in the struct and its enclosing scopes
// first. Names of the namespace that have another meaning there are fully qualified.
class TableScope {
 public:
  explicit TableScope(std::string name_space) : name_space_(std::move(name_space)) {}

  TableScope Inside(const PlannedStruct& planned) const {
    TableScope inside = *this;
    inside.unknown_ = planned.own;
    for (const PlannedField& field : planned.fields) inside.hidden_.insert(field.identifier);
    for (const PlannedAlias& alias : planned.aliases) inside.hidden_.insert(alias.name);
    for (const PlannedStruct& nested : planned.nested) inside.hidden_.insert(nested.name);
    for (const PlannedEnum& nested : planned.enums) inside.hidden_.insert(nested.name);
    return inside;
  }
  std::string Spell(const std::string& path) const {
    const bool hidden = unknown_ || hidden_.contains(path.substr(0, path.find("::")));
    return hidden ? "::" + name_space_ + "::" + path : path;
  }

 private:
  std::string name_space_;
  bool unknown_ = false;  // any name may have another meaning
  std::set<std::string> hidden_;
};

// The kgen::WireFields of a struct: the fields of its message by number, and then the fields of embedded messages.
class WireRows {
 public:
  explicit WireRows(const PlannedStruct& planned) : fields_(planned.fields) {
    if (!planned.protobuf) return;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i].protobuf.numbers.empty()) all.push_back(i);  // the others are in the envelope
    }
    count_ = Add(all, 0);
    // The offset of a row must fit one byte.
    if (rows_.size() > 0xFF) rows_.clear();
  }

  std::size_t count() const { return rows_.empty() ? 0 : count_; }  // of the struct's own message
  ViewList Lines() const {
    ViewList lines;
    for (const Row& row : rows_) {
      lines.push_back("{" + std::to_string(row.number) + ", " + std::to_string(row.index) + ", " +
                      std::to_string(row.count) + ", " + (row.zero_is_absent ? "true" : "false") + "}");
    }
    return lines;
  }

 private:
  struct Row {
    unsigned number;
    std::size_t index, count = 0;
    bool zero_is_absent = false;
  };

  // Returns how many rows the message has.
  std::size_t Add(const std::vector<std::size_t>& fields, std::size_t depth) {
    std::map<unsigned, std::vector<std::size_t>> by_number;
    for (const std::size_t i : fields) by_number[fields_[i].protobuf.numbers[depth]].push_back(i);
    const std::size_t first = rows_.size();
    rows_.resize(first + by_number.size());
    std::size_t row = first;
    for (const auto& [number, inside] : by_number) {
      const ProtobufField& field = fields_[inside.front()].protobuf;
      if (field.numbers.size() == depth + 1) {
        rows_[row++] = {number, inside.front(), 0, field.zero_is_absent};
      } else {
        const std::size_t index = rows_.size();
        const std::size_t count = Add(inside, depth + 1);
        rows_[row++] = {number, index, count, false};
      }
    }
    return by_number.size();
  }

  using ProtobufField = model::ProtobufField;
  const std::vector<PlannedField>& fields_;
  std::vector<Row> rows_;
  std::size_t count_ = 0;
};

std::string TableFlagsOf(const PlannedStruct& planned) {
  if (!planned.layout.empty()) return "kgen::kProjection | kgen::kMetadataPart";
  if (planned.projection) return "kgen::kProjection";
  return planned.preserve_unknown ? "kgen::kPreservesUnknown" : "0";
}

// Adds the tables of a struct and of its nested structs, inner ones first.
void TableViews(const PlannedStruct& planned, const TableScope& around, std::set<std::string>& symbols, ViewList& out) {
  const TableScope scope = around.Inside(planned);
  for (const PlannedStruct& inner : planned.nested) TableViews(inner, scope, symbols, out);
  std::string symbol = "k" + Flat(planned.path);
  while (!symbols.insert(symbol).second) symbol += "x";
  const std::string& layout = planned.layout.empty() ? planned.path : planned.layout;
  std::vector<std::string> wire_names;
  ViewList rows;
  for (const PlannedField& field : planned.fields) {
    wire_names.push_back(field.wire_name);
    rows.push_back("{" + StringLiteral(field.wire_name) + ", " + std::to_string(field.wire_name.size()) +
                   ", offsetof(" + layout + ", " + field.identifier + "), kgen::ValueKind::" + field.value_kind + ", " +
                   field.flags + ", 0, " + field.detail + "}");
  }
  ViewList columns;
  for (const PlannedColumn& column : planned.columns) {
    columns.push_back("{" + column.name + ", " + column.type + ", " + column.format + ", " + column.json_path + ", " +
                      column.priority + ", " + column.description + "}");
  }
  const WireRows wire(planned);
  const NameSlots slots = FindNameSlots(wire_names);
  const bool hashed = !slots.slots.empty();
  const std::string type = scope.Spell(planned.path);
  out.push_back(ViewMap{{"symbol", symbol},
                        {"type", planned.path},
                        {"type_inside", type},
                        {"layout_inside", planned.layout.empty() ? type : layout},
                        {"is_aggregate", planned.layout.empty()},
                        {"item", planned.item.empty() ? ViewValue(false) : ViewValue(planned.item)},
                        {"title", planned.table_name},
                        {"has_fields", !planned.fields.empty()},
                        {"field_count", std::to_string(planned.fields.size())},
                        {"field_data", planned.fields.empty() ? "nullptr" : scope.Spell(symbol + "Fields")},
                        {"rows", std::move(rows)},
                        {"has_columns", !columns.empty()},
                        {"columns", std::move(columns)},
                        {"column_data", scope.Spell(symbol + "Columns")},
                        {"has_slots", hashed},
                        {"slot_lines", SlotLines(slots.slots)},
                        {"slot_data", hashed ? scope.Spell(symbol + "Slots") : "nullptr"},
                        {"hash_bits", std::to_string(hashed ? slots.bits : 0)},
                        {"has_wire", wire.count() != 0},
                        {"wire_rows", wire.Lines()},
                        {"wire_count", std::to_string(wire.count())},
                        {"wire_data", scope.Spell(symbol + "Wire")},
                        {"flags", TableFlagsOf(planned)},
                        {"hash_seed", std::to_string(hashed ? slots.seed : 0)},
                        {"metadata", planned.metadata.empty() ? "kgen::TypeTable::kNoMetadata"
                                                              : "offsetof(" + type + ", " + planned.metadata + ")"},
                        {"kind", planned.kind_symbol.empty() ? "nullptr" : "&" + scope.Spell(planned.kind_symbol)}});
}

ViewValue KindView(const PlannedKindInfo& kind) {
  return ViewMap{{"symbol", kind.symbol},
                 {"group", kind.group},
                 {"version", kind.version},
                 {"kind", kind.kind},
                 {"list_kind", kind.list_kind},
                 {"resource", kind.resource},
                 {"singular", kind.singular},
                 {"scope", kind.namespaced ? "kNamespaced" : "kCluster"},
                 {"list", kind.list.empty() ? "nullptr" : "&" + kind.list + "::kTable"}};
}

ViewList Derived(const std::string& name, const std::string& base) {
  if (6 + name.size() + 3 + base.size() + 2 <= kColumns) return {"class " + name + " : " + base + " {"};
  return {"class " + name, "    : " + base + " {"};
}

ViewValue ClientView(const PlannedVersion& version, const PlannedResource& resource) {
  const std::string parameter = resource.namespaced ? "std::string_view namespace_" : "";
  const std::string argument = resource.namespaced ? "namespace_" : "\"\"";
  return ViewMap{{"deprecation", resource.deprecation},
                 {"alias_lines", ClientAlias(resource)},
                 {"declaration", resource.client_class + " " + resource.accessor + "(" + parameter + ") const;"},
                 {"accessor_lines", Function(resource.client_class + " " + version.client_class +
                                                 "::" + resource.accessor + "(" + parameter + ") const",
                                             resource.client_class + "(connection_, " + argument + ")", 0)}};
}

ViewValue InformerView(const PlannedResource& resource) {
  const std::string base = resource.namespaced ? "public kgen::Lister<" : "public kgen::ClusterLister<";
  return ViewMap{{"title", resource.title},
                 {"deprecation", resource.deprecation},
                 {"namespaced", resource.namespaced},
                 {"class_lines", Derived(resource.lister_class, base + resource.type + ">")},
                 {"method_lines", Function("kgen::NamespaceLister<" + resource.accessor_type + "> " +
                                               resource.accessor + "(std::string_view namespace_) const",
                                           "In(namespace_)", 2)},
                 {"alias_lines", Alias(resource.informer_name,
                                       "kgen::InformerAccessor<" + resource.type + ", " + resource.lister_class + ">")},
                 {"accessor_lines", Function(resource.informer_name + " " + resource.accessor + "() const",
                                             resource.informer_name + "(factory_)", 2)}};
}

// Adds the names of the enum classes of a version.
void EnumNameViews(const PlannedVersion& version, ViewList& includes, ViewList& out) {
  if (!version.enum_names.empty()) includes.push_back("kgen/core/enum_names.h");
  for (const PlannedEnumNames& names : version.enum_names) {
    ViewList rows;
    for (const auto& [constant, text] : names.constants) {
      rows.push_back("{static_cast<std::int64_t>(" + names.type + "::" + constant + "), " + text + "}");
    }
    out.push_back(ViewMap{{"type", names.type}, {"rows", std::move(rows)}});
  }
}

// The tables of a part. Adds the headers that they need to `includes`.
ViewValue SectionView(const TablePart& part, ViewList& includes) {
  const PlannedVersion* version = part.version;
  const std::string& name_space = version == nullptr ? part.group->name_space : version->name_space;
  includes.push_back(version == nullptr ? part.group->folder + "/shapes.h" : version->header);
  ViewList tables, infos, clients, enum_names;
  std::set<std::string> symbols, wanted;
  for (std::size_t i = part.first; i < part.last; ++i) {
    TableViews(part.structs()[i], TableScope(name_space), symbols, tables);
    wanted.insert(part.structs()[i].kind_symbol);
  }
  if (version != nullptr) {
    if (part.first == 0) EnumNameViews(*version, includes, enum_names);
    if (part.first == 0 && !version->resources.empty()) {
      includes.push_back(version->folder + "/client.h");
      for (const PlannedResource& resource : version->resources) clients.push_back(ClientView(*version, resource));
    }
    for (const PlannedKindInfo& kind : version->kinds) {
      if (wanted.contains(kind.symbol)) infos.push_back(KindView(kind));
    }
  }
  return ViewMap{{"section_space", name_space}, {"enum_names", std::move(enum_names)}, {"infos", std::move(infos)},
                 {"tables", std::move(tables)}, {"has_clients", !clients.empty()},     {"clients", std::move(clients)}};
}

// The values of a version that several files use.
ViewMap VersionView(const PlannedVersion& version) {
  const std::string client = version.group_space + "::" + version.space + "::" + version.client_class;
  return {{"space", version.space},
          {"accessor", version.accessor},
          {"title", version.title},
          {"informers_class", version.informers_class},
          {"accessor_lines", Function(client + " " + version.group_accessor + version.accessor + "() const",
                                      client + "(connection_)", 2)}};
}

// Returns the initializers of the string_views that make up `json`. Each is shorter than the longest literal that
// compilers must accept. Each states its length, because compilers limit the steps of a constant expression.
ViewList ManifestLines(std::string_view json) {
  constexpr std::size_t kMost = 60'000;
  ViewList lines;
  for (; !json.empty(); json.remove_prefix(std::min(json.size(), kMost))) {
    const std::string_view piece = json.substr(0, kMost);
    bool first = true;
    for (const std::string& line : StringLiteralLines(piece, kColumns - 7)) {
      lines.push_back((std::exchange(first, false) ? "{" : " ") + line);
    }
    std::get<std::string>(lines.back().value) += ",";
    lines.push_back(" " + std::to_string(piece.size()) + "},");
  }
  return lines;
}

// Sorts the includes as clang-format does.
ViewList Includes(std::vector<std::string> includes) {
  std::sort(includes.begin(), includes.end());
  return ViewList(includes.begin(), includes.end());
}

// The headers of the values that members can have. Headers of an API get them through object_meta.h.
std::vector<std::string> RuntimeIncludes(const PlannedVersion& version) {
  std::vector<std::string> names = {"kgen/core/json.h",     "kgen/core/list.h",       "kgen/core/map.h",
                                    "kgen/core/optional.h", "kgen/core/quantity.h",   "kgen/core/string.h",
                                    "kgen/core/time.h",     "kgen/core/type_table.h", "kgen/core/unknown_fields.h"};
  for (const PlannedStruct& planned : version.structs) {
    const auto has_meta = [](const PlannedField& field) { return field.type.contains("kgen::meta::v1::"); };
    if (!std::ranges::any_of(planned.fields, has_meta)) continue;
    names.emplace_back("kgen/core/object_meta.h");
    break;
  }
  return names;
}

bool HasInformers(const PlannedVersion& version) {
  for (const PlannedResource& resource : version.resources) {
    if (resource.has_informer) return true;
  }
  return false;
}

}  // namespace

std::vector<TablePart> AllTables(const Plan& plan) {
  std::vector<TablePart> parts;
  for (std::size_t i = 0; i < plan.versions.size(); ++i) {
    const PlannedVersion& version = plan.versions[i];
    const auto group = plan.groups.find(version.group);
    const bool first = i == 0 || plan.versions[i - 1].group != version.group;
    if (first && group != plan.groups.end())
      parts.push_back({&group->second, nullptr, 0, group->second.structs.size()});
    parts.push_back({nullptr, &version, 0, version.structs.size()});
  }
  return parts;
}

ViewMap ViewShapes(const PlannedGroup& group, const FileHeader& header) {
  ViewMap view = FileView(group.folder + "/shapes.h", group.name_space, header);
  ViewList structs;
  for (const PlannedStruct& planned : group.structs) structs.push_back(StructView(planned, 0));
  view.emplace_back("title", group.title);
  std::vector<std::string> includes(group.includes.begin(), group.includes.end());
  includes.insert(includes.end(), {header.fingerprint, "kgen/core/object_meta.h", "kgen/core/ref.h",
                                   "kgen/core/type_table.h", "kgen/core/value.h"});
  view.emplace_back("includes", Includes(std::move(includes)));
  view.emplace_back("structs", std::move(structs));
  return view;
}

ViewMap ViewTypes(const Plan& plan, const PlannedVersion& version, TypesHeader which, const FileHeader& header) {
  const bool common = which == TypesHeader::kCommon;
  const PlannedHeader& planned_header = common ? version.common : version.types;
  const std::string common_path = version.folder + "/common_types.h";
  const bool private_header = plan.runtime && !version.header.starts_with("kgen/");
  ViewMap view = FileView(private_header ? "kgen/src/" + version.header
                          : common       ? common_path
                                         : version.header,
                          version.name_space, header);
  std::vector<std::string> includes(planned_header.includes.begin(), planned_header.includes.end());
  if (plan.runtime) {
    includes = RuntimeIncludes(version);
  } else {
    includes.insert(includes.end(), {header.fingerprint, "kgen/core/object_meta.h", "kgen/core/ref.h",
                                     "kgen/core/type_table.h", "kgen/core/value.h"});
  }
  ViewList structs, aliases;
  bool columns = false;
  for (const PlannedStruct& planned : version.structs) {
    if (planned.common != common) continue;
    columns = columns || !planned.columns.empty();
    if (!planned.own) structs.push_back(StructView(planned, 0, plan.runtime));
  }
  if (columns) includes.emplace_back("kgen/core/printer_column.h");
  const auto group = plan.groups.find(version.group);
  const bool shared = !common && version.has_shared;
  if (!common) {
    for (const PlannedAlias& alias : version.aliases) {
      aliases.push_back(ViewMap{{"name", alias.name}, {"target", alias.target}});
    }
    if (shared) includes.push_back(group->second.folder + "/shapes.h");
    if (version.has_common) includes.push_back(common_path);
  }
  view.emplace_back("title", version.group == model::kMetaGroup ? "meta/" + version.version : version.title);
  view.emplace_back("common", common);
  view.emplace_back("in_runtime", plan.runtime);
  view.emplace_back("documentation", version.documentation);
  view.emplace_back("shapes_space", shared ? ViewValue(group->second.name_space) : ViewValue(false));
  view.emplace_back("has_common", !common && version.has_common);
  view.emplace_back("includes", Includes(std::move(includes)));
  view.emplace_back("meta_space", plan.built_in ? ViewValue(plan.name_space + "::meta") : ViewValue(false));
  view.emplace_back("has_declared", !planned_header.declared.empty());
  view.emplace_back("declared", ViewList(planned_header.declared.begin(), planned_header.declared.end()));
  view.emplace_back("structs", std::move(structs));
  view.emplace_back("has_aliases", !aliases.empty());
  view.emplace_back("aliases", std::move(aliases));
  return view;
}

ViewMap ViewProjections(const Plan& plan, const FileHeader& header) {
  ViewMap view = FileView(plan.folder + "/projections.h", plan.name_space, header);
  ViewList structs;
  std::set<std::string> includes;
  for (const PlannedVersion& version : plan.versions) {
    includes.insert(version.types.includes.begin(), version.types.includes.end());
    for (std::string& name : RuntimeIncludes(version)) includes.insert(std::move(name));
    for (const PlannedStruct& planned : version.structs) structs.push_back(StructView(planned, 0, true));
  }
  includes.insert({"kgen/core/object_meta.h", "kgen/core/ref.h", "kgen/core/value.h"});
  view.emplace_back("includes", Includes({includes.begin(), includes.end()}));
  view.emplace_back("structs", std::move(structs));
  return view;
}

ViewMap ViewClient(const PlannedVersion& version, const FileHeader& header) {
  ViewMap view = FileView(version.folder + "/client.h", version.name_space, header);
  ViewList resources;
  std::set<std::string> declared;
  std::vector<std::string> includes = {header.fingerprint, "kgen/client/resource_client.h"};
  for (const PlannedResource& resource : version.resources) {
    resources.push_back(ClientView(version, resource));
    declared.insert(resource.type);
    if (resource.list_type != "void") declared.insert(resource.list_type);
  }
  ViewList foreign;
  for (const auto& [space, names] : version.foreign) {
    foreign.push_back(ViewMap{{"space", space}, {"names", ViewList(names.begin(), names.end())}});
  }
  view.emplace_back("title", version.title);
  view.emplace_back("foreign", std::move(foreign));
  view.emplace_back("declared", ViewList(declared.begin(), declared.end()));
  view.emplace_back("includes", Includes(std::move(includes)));
  view.emplace_back("client_class", version.client_class);
  view.emplace_back("resources", std::move(resources));
  return view;
}

ViewMap ViewInformers(const PlannedVersion& version, const FileHeader& header) {
  ViewMap view = FileView(version.folder + "/informers.h", version.name_space, header);
  ViewList resources;
  std::set<std::string> declared;
  for (const PlannedResource& resource : version.resources) {
    if (!resource.has_informer) continue;
    resources.push_back(InformerView(resource));
    declared.insert(resource.type);
  }
  view.emplace_back("title", version.title);
  view.emplace_back("includes", Includes({header.fingerprint, "kgen/cache/factory.h"}));
  view.emplace_back("declared", ViewList(declared.begin(), declared.end()));
  view.emplace_back("informers_class", version.informers_class);
  view.emplace_back("resources", std::move(resources));
  return view;
}

ViewMap ViewClientset(const Plan& plan, const FileHeader& header) {
  ViewMap view = FileView(plan.folder + "/clientset.h", plan.name_space, header);
  ViewList versions;
  std::vector<std::string> includes = {header.fingerprint,    "kgen/client/config.h", "kgen/client/crd.h",
                                       "kgen/client/retry.h", "kgen/core/result.h",   "kgen/core/stop.h"};
  for (const PlannedVersion& version : plan.versions) {
    if (version.resources.empty()) continue;
    versions.push_back(VersionView(version));
    includes.push_back(version.folder + "/client.h");
  }
  view.emplace_back("includes", Includes(std::move(includes)));
  view.emplace_back("versions", std::move(versions));
  view.emplace_back("has_manifests", !plan.manifests.empty());
  return view;
}

ViewMap ViewFactory(const Plan& plan, const FileHeader& header) {
  ViewMap view = FileView(plan.folder + "/informers.h", plan.name_space, header);
  ViewList groups;
  std::vector<std::string> includes = {header.fingerprint, "kgen/cache/factory.h"};
  for (std::size_t i = 0; i < plan.versions.size();) {
    const PlannedVersion& first = plan.versions[i];
    ViewList versions;
    for (; i < plan.versions.size() && plan.versions[i].group == first.group; ++i) {
      if (!HasInformers(plan.versions[i])) continue;
      versions.push_back(VersionView(plan.versions[i]));
      includes.push_back(plan.versions[i].folder + "/informers.h");
    }
    if (versions.empty()) continue;
    groups.push_back(ViewMap{{"group_space", first.group_space},
                             {"group_accessor", first.group_accessor},
                             {"title", first.group.empty() ? "the core group" : first.group},
                             {"versions", std::move(versions)}});
  }
  view.emplace_back("includes", Includes(std::move(includes)));
  view.emplace_back("groups", std::move(groups));
  return view;
}

ViewMap ViewScheme(const Plan& plan, const FileHeader& header) {
  ViewMap view = FileView(plan.folder + "/scheme.h", plan.name_space, header);
  view.emplace_back("includes", Includes({header.fingerprint, "kgen/core/type_table.h"}));
  return view;
}

ViewMap ViewFingerprint(const Plan& plan, const std::string& path, bool of_manifests, const FileHeader& header,
                        std::string value) {
  ViewMap view = FileView(path, plan.name_space, header);
  view.emplace_back("of_manifests", of_manifests);
  view.emplace_back("fingerprint", std::move(value));
  return view;
}

ViewMap ViewSource(const Plan& plan, const std::vector<TablePart>& parts, bool with_scheme, const FileHeader& header) {
  ViewMap view = FileView("", plan.name_space, header);
  ViewList includes, sections, kinds;
  for (const TablePart& part : parts) sections.push_back(SectionView(part, includes));
  // Projections share a header.
  const auto same = [](const ViewValue& a, const ViewValue& b) {
    return std::get<std::string>(a.value) == std::get<std::string>(b.value);
  };
  includes.erase(std::unique(includes.begin(), includes.end(), same), includes.end());
  if (with_scheme) {
    std::set<std::string> seen;
    for (const TablePart& part : parts) {
      if (part.version != nullptr) seen.insert(part.version->folder);
    }
    for (const PlannedVersion& version : plan.versions) {
      if (version.kind_types.empty()) continue;
      if (seen.insert(version.folder).second) includes.push_back(version.header);
      for (const std::string& type : version.kind_types)
        kinds.push_back("&::" + version.name_space + "::" + type + "::kTable");
    }
  }
  view.emplace_back("scheme_include", with_scheme ? ViewValue(plan.folder + "/scheme.h") : ViewValue(false));
  view.emplace_back("includes", std::move(includes));
  view.emplace_back("sections", std::move(sections));
  view.emplace_back("with_scheme", with_scheme);
  view.emplace_back("kind_count", std::to_string(kinds.size()));
  view.emplace_back("has_kinds", !kinds.empty());
  view.emplace_back("kinds", std::move(kinds));
  return view;
}

ViewMap ViewManifest(const PlannedManifest& manifest, const FileHeader& header) {
  ViewMap view = FileView(manifest.header, manifest.name_space, header);
  view.emplace_back("manifest_fingerprint", header.manifest_fingerprint);
  view.emplace_back("title", manifest.name);
  view.emplace_back("function", manifest.function);
  view.emplace_back("literal_lines", ManifestLines(manifest.json));
  ViewList types;
  for (const PlannedKindType& type : manifest.types)
    types.push_back(ViewMap{{"space", type.name_space}, {"name", type.name}});
  view.emplace_back("types", std::move(types));
  view.emplace_back("call", "::" + manifest.name_space + "::" + manifest.function + "()");
  return view;
}

ViewMap ViewManifests(const Plan& plan, const FileHeader& header) {
  ViewMap view = FileView("", plan.name_space, header);
  ViewList includes, calls;
  includes.push_back(plan.folder + "/clientset.h");
  for (const PlannedManifest& manifest : plan.manifests) {
    includes.push_back(manifest.header);
    calls.push_back("::" + manifest.name_space + "::" + manifest.function + "(),");
  }
  view.emplace_back("has_manifests", !calls.empty());
  view.emplace_back("includes", std::move(includes));
  view.emplace_back("calls", std::move(calls));
  return view;
}

}  // namespace kgen::generator::emit
