// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/document.h"

#include <map>
#include <utility>

#include "generator/parse/crd.h"
#include "generator/parse/openapi.h"
#include "generator/parse/reader.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {
namespace {

constexpr int kMaxListDepth = 8;

class DocumentParser {
 public:
  explicit DocumentParser(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void ParseSource(Source source) {
    const std::uint32_t file = source.file;
    auto stream = yaml::Parse(std::move(source.text), {.max_depth = 512});  // a schema takes two levels
    if (!stream) {
      const yaml::SyntaxError& error = stream.error();
      diagnostics_.Error("syntax", Origin{file, error.mark.line, error.mark.column, 0}, error.message, {}, error.hint);
      return;
    }
    const auto documents = stream->documents();
    const bool several = documents.size() > 1 || (documents.size() == 1 && stream->number(0) > 1);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Context context{diagnostics_, file, several ? stream->number(i) : 0};
      ParseDocument(context, documents[i], DocumentPath(), 0);
    }
  }

  model::Draft Take() {
    ReportSkipped();
    if (draft_.documents == 0 && !diagnostics_.has_errors()) {
      diagnostics_.Error("no-input", Origin{},
                         "the input contains neither a CustomResourceDefinition nor an API document" +
                             (skipped_.empty() ? std::string() : "; skipped " + Skipped()),
                         {}, "pass CRDs, or the API documents that a server publishes at /openapi/v3 and /openapi/v2");
    }
    return std::move(draft_);
  }

 private:
  void ParseDocument(const Context& context, const yaml::Node& node, const DocumentPath& path, int depth) {
    if (!node.is_map()) {
      ReportKind(context, node, "an object with apiVersion and kind", path);
      return;
    }
    const MapReader map(context, node, path);
    if (map.Has("openapi") || map.Has("swagger")) {
      ++draft_.documents;
      if (map.Has("openapi") && map.Has("swagger")) {
        context.diagnostics.Error("openapi-version", map.origin(), "the document has both `openapi` and `swagger`",
                                  path.Key("swagger").Text(),
                                  "`swagger: \"2.0\"` is for OpenAPI v2, `openapi` for v3; remove the other one");
        return;
      }
      ParseOpenApi(map, draft_);
    } else if (!map.Has("apiVersion") && !map.Has("kind")) {
      ReportUnknown(map);
    } else {
      ParseObject(map, depth);
    }
  }

  // Neither an API document nor an object; the message guesses what it is.
  void ReportUnknown(const MapReader& map) {
    ++draft_.documents;
    if (IsRootDocument(map)) return;
    const bool schema = map.Has("$schema") || (map.Has("properties") && map.Has("type"));
    if (schema) {
      diagnostics_.Error("json-schema", map.origin(),
                         "this is a JSON schema, not a CRD: group, names and versions are missing", map.path().Text(),
                         "pass the CustomResourceDefinition that the schema was taken from");
    } else {
      diagnostics_.Error("unknown-document", map.origin(),
                         "this is neither an object (apiVersion and kind are missing) nor an API document (\"openapi\" "
                         "or \"swagger\" is "
                         "missing)",
                         map.path().Text());
    }
  }

  // The response of /openapi/v3 itself: it only lists the URLs of the real documents.
  bool IsRootDocument(const MapReader& map) {
    const yaml::Node* paths = map.node().Find("paths");
    if (paths == nullptr || !paths->is_map() || paths->entries().empty()) return false;
    std::string list;
    std::size_t count = 0;
    for (const yaml::Entry& entry : paths->entries()) {
      if (entry.value.Find("serverRelativeURL") == nullptr) return false;
      if (++count <= 5) list += (list.empty() ? "" : ", ") + Quote(entry.key);
    }
    if (count > 5) list += " and " + std::to_string(count - 5) + " more";
    diagnostics_.Error("openapi-root", map.origin(), "this is the list of API documents, not one of them",
                       map.path().Text(), "download the documents that it lists and pass those: " + list);
    return true;
  }

  void ParseObject(const MapReader& map, int depth) {
    const std::optional<std::string> api_version = map.RequiredString("apiVersion");
    const std::optional<std::string> kind = map.RequiredString("kind");
    if (!api_version || !kind) {
      ++draft_.documents;
      return;
    }
    const bool crd_group = api_version->starts_with("apiextensions.k8s.io/");
    if ((*kind == "List" && *api_version == "v1") || (*kind == "CustomResourceDefinitionList" && crd_group)) {
      ParseList(map, *kind == "List" ? std::string() : *api_version, depth);
    } else if (*kind == "CustomResourceDefinition" && crd_group) {
      ++draft_.documents;
      ParseCrd(map, *api_version, draft_);
    } else {
      ++skipped_[*kind];
      diagnostics_.Note("skipped", map.origin(), "skipped: " + Quote(*kind) + " is not a CustomResourceDefinition");
    }
  }

  // Items of a typed list may leave out apiVersion and kind.
  void ParseList(const MapReader& map, const std::string& item_version, int depth) {
    const yaml::Node* items = map.List("items");
    if (items == nullptr) return;
    if (depth == kMaxListDepth) {
      diagnostics_.Error("list-depth", map.origin(),
                         "lists are nested more than " + std::to_string(kMaxListDepth) + " deep", map.path().Text());
      return;
    }
    const DocumentPath path = map.path().Key("items");
    std::size_t index = 0;
    for (const yaml::Node& item : items->items()) {
      const DocumentPath item_path = path.Index(index++);
      if (!item_version.empty() && item.is_map() && item.Find("apiVersion") == nullptr &&
          item.Find("kind") == nullptr) {
        ++draft_.documents;
        ParseCrd(MapReader(map.context(), item, item_path), item_version, draft_);
      } else {
        ParseDocument(map.context(), item, item_path, depth + 1);
      }
    }
  }

  // "2 Deployment, 1 Service".
  std::string Skipped() const {
    std::string list;
    for (const auto& [kind, count] : skipped_)
      list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + Visible(kind);
    return list;
  }

  void ReportSkipped() {
    if (skipped_.empty()) return;
    diagnostics_.Info("skipped-summary", Origin{}, "skipped " + Skipped() + ": not a CustomResourceDefinition");
  }

  Diagnostics& diagnostics_;
  model::Draft draft_;
  std::map<std::string, std::size_t> skipped_;
};

}  // namespace

model::Draft ParseSources(std::vector<Source> sources, Diagnostics& diagnostics) {
  DocumentParser parser(diagnostics);
  for (Source& source : sources) parser.ParseSource(std::move(source));
  return parser.Take();
}

}  // namespace kgen::generator::parse
