// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/document.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "generator/parse/conversion_patch.h"
#include "generator/parse/crd.h"
#include "generator/parse/openapi.h"
#include "generator/parse/protobuf_facts.h"
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
    const bool found = source.found && !MayBeInput(source.text);
    auto stream = yaml::Parse(std::move(source.text), {.max_depth = 512});  // a schema takes two levels
    if (!stream) {
      const yaml::SyntaxError& error = stream.error();
      const bool is_template = error.hint.find("{{") != std::string::npos;
      if (is_template && !found) return AddTemplate(Origin{file, error.mark.line, error.mark.column, 0}, error.message);
      if (found) {
        return diagnostics_.Note("skipped", Origin{file, error.mark.line, error.mark.column, 0},
                                 "skipped: no CRD, and not readable as YAML: " + error.message);
      }
      diagnostics_.Error("syntax", Origin{file, error.mark.line, error.mark.column, 0}, error.message, {}, error.hint);
      return;
    }
    const auto documents = stream->documents();
    const bool several = documents.size() > 1 || (documents.size() == 1 && stream->number(0) > 1);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Context context{diagnostics_, file, several ? stream->number(i) : 0, source.found};
      ParseDocument(context, documents[i], DocumentPath(), 0);
    }
  }

  model::Draft Take() {
    ReportTemplates();
    ReportSkipped();
    if (draft_.documents == 0 && !diagnostics_.has_errors()) {
      diagnostics_.Error("no-input", Origin{},
                         "the input contains neither a CustomResourceDefinition nor an API document" +
                             (Skipped().empty() ? std::string() : "; skipped " + Skipped()),
                         {}, "pass CRDs, or the API documents that a server publishes at /openapi/v3 and /openapi/v2");
    }
    JoinProtobufFacts(protobuf_, draft_);
    return std::move(draft_);
  }

 private:
  void ParseDocument(const Context& context, const yaml::Node& node, const DocumentPath& path, int depth) {
    if (!node.is_map() && context.found) return Skip(context, node, "no object");
    if (!node.is_map()) {
      ReportKind(context, node, "an object with apiVersion and kind", path);
      return;
    }
    const MapReader map(context, node, path);
    if (IsApiDocument(map)) {
      ++draft_.documents;
      if (map.Has("openapi") && map.Has("swagger")) {
        context.diagnostics.Error("openapi-version", map.origin(), "the document has both `openapi` and `swagger`",
                                  path.Key("swagger").Text(),
                                  "`swagger: \"2.0\"` is for OpenAPI v2, `openapi` for v3; remove the other one");
        return;
      }
      ParseOpenApi(map, draft_);
    } else if (IsProtobufFacts(map)) {
      ReadProtobufFacts(map, protobuf_);
    } else if (context.found && IsNoCrd(map)) {
      Skip(context, node, "neither a CRD nor an API document");
    } else if (!map.Has("apiVersion") && !map.Has("kind")) {
      ReportUnknown(map);
    } else {
      ParseObject(map, depth);
    }
  }

  void Skip(const Context& context, const yaml::Node& node, const std::string& what) {
    ++left_out_;
    diagnostics_.Note("skipped", context.At(node.mark()), "skipped: " + what);
  }

  // Returns whether a file that does not parse may still be meant as input: a text that only mentions CRDs or API
  // documents is none.
  static bool MayBeInput(std::string_view text) {
    constexpr std::string_view kCrd = "CustomResourceDefinition", kBetween = " \t\r\n\"'";
    for (std::size_t at = text.find(kCrd); at != std::string_view::npos; at = text.find(kCrd, at + kCrd.size())) {
      std::string_view before = WithoutEnd(text.substr(0, at), kBetween);
      if (!before.ends_with(':')) continue;
      before.remove_suffix(1);
      if (WithoutEnd(before, kBetween).ends_with("kind")) return true;
    }
    return HasTopKey(text, "openapi") || HasTopKey(text, "swagger");
  }

  static std::string_view WithoutEnd(std::string_view text, std::string_view characters) {
    return text.substr(0, text.find_last_not_of(characters) + 1);
  }

  // Returns whether a line begins with this key, or JSON has it.
  static bool HasTopKey(std::string_view text, std::string_view key) {
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + key.size())) {
      const std::string_view before = text.substr(0, at);
      std::string_view after = text.substr(at + key.size());
      after.remove_prefix(std::min(after.find_first_not_of(" \"'"), after.size()));
      const bool begins = before.empty() || before == "\xEF\xBB\xBF" || before.ends_with('\n');
      if (after.starts_with(':') && (begins || before.ends_with('"') || before.ends_with('\''))) return true;
    }
    return false;
  }

  // Returns whether a key says so. In a folder, the settings of a chart or of kustomize have maps and flags there.
  static bool IsApiDocument(const MapReader& map) {
    for (const char* key : {"openapi", "swagger"}) {
      const yaml::Node* version = map.Any(key);
      if (version != nullptr && (!map.context().found || version->is_string() || version->is_number())) return true;
    }
    return false;
  }

  // Returns whether a document in a folder is plainly something else: the values or the metadata of a chart, the
  // settings of a tool, or a patch for a CRD.
  static bool IsNoCrd(const MapReader& map) {
    const yaml::Node* kind = map.Any("kind");
    if (kind == nullptr || !kind->is_string() || kind->text().empty()) return !HasCrdSpec(map);
    return map.Any("apiVersion") == nullptr ? !LooksLikeCrd(kind->text()) : IsPatch(map, kind->text());
  }

  static const yaml::Node* SpecOf(const MapReader& map) {
    const yaml::Node* spec = map.Any("spec");
    return spec == nullptr || !spec->is_map() ? nullptr : spec;
  }
  static bool HasCrdSpec(const MapReader& map) {
    const yaml::Node* spec = SpecOf(map);
    return spec != nullptr && spec->Find("group") != nullptr && spec->Find("names") != nullptr;
  }
  static bool IsPatch(const MapReader& map, std::string_view kind) {
    if (kind != "CustomResourceDefinition") return false;
    const yaml::Node* spec = SpecOf(map);
    if (spec == nullptr) return map.Any("spec") == nullptr;
    return spec->Find("group") == nullptr && spec->Find("names") == nullptr && spec->Find("versions") == nullptr &&
           spec->Find("version") == nullptr;
  }

  // Returns whether a kind is CustomResourceDefinition or its list, with at most three characters mistyped.
  static bool LooksLikeCrd(std::string_view kind) {
    constexpr std::size_t kMostMistyped = 3;
    return kind.size() < 100 && (EditDistance(kind, "CustomResourceDefinition") <= kMostMistyped ||
                                 EditDistance(kind, "CustomResourceDefinitionList") <= kMostMistyped);
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
    } else if (LooksLikeCrd(*kind) || (crd_group && *kind != "ConversionReview")) {
      ++draft_.documents;
      ReportMistyped(map, *api_version, *kind, crd_group);
    } else {
      ++skipped_[*kind];
      diagnostics_.Note("skipped", map.origin(), "skipped: " + Quote(*kind) + " is not a CustomResourceDefinition");
    }
  }

  void ReportMistyped(const MapReader& map, const std::string& api_version, const std::string& kind, bool crd_group) {
    const bool exact = kind == "CustomResourceDefinition" || kind == "CustomResourceDefinitionList";
    const std::string_view key = exact ? "apiVersion" : "kind";
    std::string message = exact ? "this looks like a CRD, but its apiVersion is " + Quote(api_version)
                                : "this looks like a CRD, but its kind is " + Quote(kind);
    std::string hint = exact ? "write apiVersion: apiextensions.k8s.io/v1"
                             : std::string("write kind: ") + (kind.ends_with("List") ? "CustomResourceDefinitionList"
                                                                                     : "CustomResourceDefinition");
    if (!exact && !crd_group) hint += " and apiVersion: apiextensions.k8s.io/v1";
    diagnostics_.Error("crd-api-version", map.context().At(map.Any(key)->mark()), std::move(message),
                       map.path().Key(key).Text(), std::move(hint));
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
    std::string list = left_out_ == 0 ? "" : std::to_string(left_out_) + " other";
    for (const auto& [kind, count] : skipped_)
      list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + Visible(kind);
    return list;
  }

  void AddTemplate(Origin origin, const std::string& reason) {
    if (templates_.empty()) template_reason_ = reason;
    templates_.push_back(origin);
  }

  // A chart has many templates; one error is enough for all.
  void ReportTemplates() {
    for (std::size_t i = 1; i < templates_.size(); ++i)
      diagnostics_.Note("skipped", templates_[i], "skipped: the source of a template, not YAML");
    if (templates_.empty()) return;
    const std::size_t more = templates_.size() - 1;
    std::string message = "this is the source of a template (\"{{\"), not YAML";
    if (more != 0)
      message += more == 1 ? ", and so is 1 more file" : ", and so are " + std::to_string(more) + " more files";
    diagnostics_.Error("syntax", templates_.front(), message + ": " + template_reason_, {},
                       "render it first, for example with `helm template`, and pass the result");
  }

  void ReportSkipped() {
    if (skipped_.empty()) return;  // what else a folder has is shown on request only
    diagnostics_.Info("skipped-summary", Origin{}, "skipped " + Skipped() + ": not a CustomResourceDefinition");
  }

  Diagnostics& diagnostics_;
  model::Draft draft_;
  ProtobufFacts protobuf_;
  std::vector<Origin> templates_;               // in files that do not parse for this reason
  std::string template_reason_;                 // why the first of them does not parse
  std::map<std::string, std::size_t> skipped_;  // by kind
  std::size_t left_out_ = 0;                    // of files in folders: no objects, or patches
};

}  // namespace

model::Draft ParseSources(std::vector<Source> sources, Diagnostics& diagnostics) {
  DocumentParser parser(diagnostics);
  std::vector<std::string> converted;
  for (Source& source : sources) {
    converted.insert(converted.end(), source.converted.begin(), source.converted.end());
    parser.ParseSource(std::move(source));
  }
  model::Draft draft = parser.Take();
  for (model::RawCustomResource& crd : draft.custom_resources) {
    const auto means = [&](const std::string& pattern) { return IsPatched(pattern, crd.name); };
    if (std::any_of(converted.begin(), converted.end(), means)) crd.converts = true;
  }
  return draft;
}

}  // namespace kgen::generator::parse
