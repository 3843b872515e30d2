// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/openapi.h"

#include <algorithm>
#include <array>
#include <utility>

#include "generator/parse/schema.h"

namespace kgen::generator::parse {
namespace {

using model::RawDefinition;
using model::RawOperation;

constexpr std::array<std::string_view, 8> kMethods = {"get",     "put",  "post",  "delete",
                                                      "options", "head", "patch", "trace"};

// The differences between the versions of the format.
struct Format {
  std::string_view version_key;
  std::array<std::string_view, 2> versions;  // the supported prefixes of the version
  std::string_view shared;                   // the map with shared definitions and parameters; "": the document itself
  std::string_view schemas;                  // the map of definitions in `shared`
  bool lossy;                                // omits defaults, null and alternatives
};

constexpr Format kV2 = {"swagger", {"2.0", "2.0"}, "", "definitions", true};
constexpr Format kV3 = {"openapi", {"3.0", "3.1"}, "components", "schemas", false};

class OpenApiParser {
 public:
  OpenApiParser(const MapReader& document, model::Draft& draft)
      : document_(document),
        context_(document.context()),
        draft_(draft),
        format_(document.Has(kV3.version_key) ? kV3 : kV2) {}

  void Parse() {
    const std::optional<std::string> version = document_.String(format_.version_key);
    if (!version) return;
    if (!version->starts_with(format_.versions[0]) && !version->starts_with(format_.versions[1])) {
      context_.diagnostics.Error("openapi-version", context_.At(document_.Any(format_.version_key)->mark()),
                                 "OpenAPI " + Quote(*version) + " is not supported",
                                 document_.path().Key(format_.version_key).Text(),
                                 "pass OpenAPI 3.0 or 2.0 documents, as API servers publish them");
      return;
    }
    if (format_.shared.empty()) {
      ReadDefinitions(document_);
    } else if (const yaml::Node* shared = document_.Map(format_.shared); shared != nullptr) {
      const DocumentPath path = document_.path().Key(format_.shared);
      ReadDefinitions(MapReader(context_, *shared, path));
    }
    ParsePaths();
  }

 private:
  void ReadDefinitions(const MapReader& shared) {
    shared_ = &shared.node();
    const yaml::Node* schemas = shared.Map(format_.schemas);
    if (schemas == nullptr) return;
    const DocumentPath path = shared.path().Key(format_.schemas);
    for (const yaml::Entry& entry : schemas->entries()) {
      const DocumentPath definition_path = path.Key(entry.key);
      model::RawSchemaPtr schema = ReadSchema(context_, entry.value, definition_path);
      schema->path = definition_path.Text();
      AddDefinition({std::string(entry.key), std::move(schema), context_.At(entry.mark), format_.lossy});
    }
  }

  void AddDefinition(RawDefinition definition) {
    const auto [found, added] = draft_.definitions.try_emplace(definition.name);
    if (added) {
      found->second = std::move(definition);
      return;
    }
    // The two formats of a definition always differ, so there is nothing to compare.
    if (found->second.lossy != definition.lossy) {
      if (found->second.lossy) found->second = std::move(definition);
      return;
    }
    std::string where;
    if (!model::SameShape(*found->second.schema, *definition.schema, &where)) {
      context_.diagnostics.Error("definition-differs", definition.origin,
                                 "this definition differs from the one at " +
                                     context_.diagnostics.Describe(found->second.origin) +
                                     (where.empty() ? std::string() : ", in " + where),
                                 definition.schema->path, "pass documents of one server version");
      return;
    }
    // An earlier document may have had no descriptions.
    if (found->second.schema->description.empty()) found->second = std::move(definition);
  }

  void ParsePaths() {
    const yaml::Node* paths = document_.Map("paths");
    if (paths == nullptr) return;
    const DocumentPath path = document_.path().Key("paths");
    for (const yaml::Entry& entry : paths->entries()) {
      const DocumentPath item_path = path.Key(entry.key);
      if (!entry.value.is_map()) {
        ReportKind(context_, entry.value, "a map", item_path);
        continue;
      }
      const MapReader item(context_, entry.value, item_path);
      const bool watch = HasWatchParameter(item);
      for (const std::string_view method : kMethods) {
        if (const yaml::Node* node = item.Map(method); node != nullptr) {
          const DocumentPath operation_path = item_path.Key(method);
          ParseOperation(MapReader(context_, *node, operation_path), entry.key, watch);
        }
      }
    }
  }

  void ParseOperation(const MapReader& operation, std::string_view path, bool path_has_watch) {
    const std::optional<std::string> action = operation.String("x-kubernetes-action");
    const yaml::Node* gvk = operation.Map("x-kubernetes-group-version-kind");
    if (!action || gvk == nullptr) return;  // skip discovery, logs and version
    RawOperation out;
    out.origin = operation.origin();
    out.path = path;
    out.action = *action;
    out.gvk = ReadGroupVersionKind(context_, *gvk, operation.path().Key("x-kubernetes-group-version-kind"));
    out.watchable = path_has_watch || HasWatchParameter(operation);
    out.text = AnswersWithText(operation);
    draft_.operations.push_back(std::move(out));
  }

  // Documents also declare the log of a pod as a JSON string, but no server sends it as JSON.
  bool AnswersWithText(const MapReader& operation) const {
    const yaml::Node* responses = operation.Map("responses");
    const yaml::Node* response = responses == nullptr ? nullptr : Resolve(responses->Find("200"), "responses");
    if (response == nullptr) return false;
    const auto has_text = [](const yaml::Node& holder) {
      const yaml::Node* schema = holder.Find("schema");
      const yaml::Node* type = schema == nullptr ? nullptr : schema->Find("type");
      return type != nullptr && type->text() == "string";
    };
    if (response->Find("schema") != nullptr) return has_text(*response);  // OpenAPI v2
    const yaml::Node* content = response->Find("content");
    if (content == nullptr || !content->is_map() || content->entries().empty()) return false;
    return std::all_of(content->entries().begin(), content->entries().end(),
                       [&](const auto& media) { return has_text(media.value); });
  }

  // Follows one reference within the document.
  const yaml::Node* Resolve(const yaml::Node* node, std::string_view section) const {
    if (node == nullptr) return nullptr;
    const yaml::Node* reference = node->Find("$ref");
    if (reference == nullptr || !reference->is_string()) return node;
    std::string_view text = reference->text();
    const std::string prefix =
        "#/" + std::string(format_.shared) + (format_.shared.empty() ? "" : "/") + std::string(section) + "/";
    if (!text.starts_with(prefix) || shared_ == nullptr) return nullptr;
    text.remove_prefix(prefix.size());
    const yaml::Node* map = shared_->Find(section);
    return map == nullptr ? nullptr : map->Find(text);
  }

  bool HasWatchParameter(const MapReader& map) const {
    const yaml::Node* parameters = map.List("parameters");
    if (parameters == nullptr) return false;
    return std::any_of(parameters->items().begin(), parameters->items().end(), [&](const yaml::Node& node) {
      const yaml::Node* parameter = Resolve(&node, "parameters");
      const yaml::Node* name = parameter == nullptr ? nullptr : parameter->Find("name");
      const yaml::Node* in = parameter == nullptr ? nullptr : parameter->Find("in");
      return name != nullptr && name->text() == "watch" && in != nullptr && in->text() == "query";
    });
  }

  const MapReader& document_;
  const Context& context_;
  model::Draft& draft_;
  const Format& format_;
  const yaml::Node* shared_ = nullptr;
};

}  // namespace

void ParseOpenApi(const MapReader& document, model::Draft& draft) { OpenApiParser(document, draft).Parse(); }

}  // namespace kgen::generator::parse
