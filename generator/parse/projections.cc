// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/projections.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "generator/document_path.h"
#include "generator/parse/reader.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {
namespace {

constexpr std::string_view kHowToWrite =
    "write names with dots between them, and [] for the elements of a list or map, as in status.podIPs[].ip";

// "status.podIPs[].ip". Nothing if it is malformed.
std::optional<std::vector<Projection::Step>> ParsePath(std::string_view text) {
  std::vector<Projection::Step> steps;
  for (;;) {
    const std::size_t dot = text.find('.');
    Projection::Step step{.name = std::string(text.substr(0, dot))};
    step.of_element = step.name.ends_with("[]");
    if (step.of_element) step.name.resize(step.name.size() - 2);
    if (step.name.empty() || step.name.find_first_of("[]") != std::string::npos) return std::nullopt;
    steps.push_back(std::move(step));
    if (dot == std::string_view::npos) return steps;
    text.remove_prefix(dot + 1);
  }
}

model::GroupVersionKind KindOf(std::string_view api_version, std::string kind) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version), std::move(kind)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1)), std::move(kind)};
}

// Reports keys that a map of the file does not have, most of which are misspelled.
void ReportUnknownKeys(const MapReader& map, const std::vector<std::string_view>& known, Diagnostics& diagnostics) {
  for (const yaml::Entry& entry : map.node().entries()) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string_view nearest = Nearest(entry.key, known);
    diagnostics.Error("projection-key", map.KeyOrigin(entry.key), "unknown key " + Quote(entry.key),
                      map.path().Key(entry.key).Text(),
                      nearest.empty() ? std::string() : "did you mean " + std::string(nearest) + "?");
  }
}

std::optional<Projection> ReadProjection(const MapReader& map, Diagnostics& diagnostics) {
  ReportUnknownKeys(map, {"name", "apiVersion", "kind", "members"}, diagnostics);
  const auto name = map.RequiredString("name");
  const auto api_version = map.RequiredString("apiVersion");
  const auto kind = map.RequiredString("kind");
  const yaml::Node* const members = map.List("members");
  if (!name || !api_version || !kind) return std::nullopt;
  Projection projection{.name = *name, .kind = KindOf(*api_version, *kind), .members = {}, .origin = map.origin()};
  if (members == nullptr || members->items().empty()) {
    diagnostics.Error("projection-members", map.origin(), "the projection has no members", map.path().Text(),
                      "list the members to keep, such as metadata.labels and spec.nodeName");
    return std::nullopt;
  }
  const DocumentPath path = map.path().Key("members");
  std::size_t index = 0;
  for (const yaml::Node& node : members->items()) {
    const DocumentPath at = path.Index(index++);
    if (!node.is_string()) {
      ReportKind(map.context(), node, "text", at);
      continue;
    }
    auto steps = ParsePath(node.text());
    if (steps) {
      projection.members.push_back({*std::move(steps), std::string(node.text()), map.context().At(node.mark())});
    } else {
      diagnostics.Error("projection-member", map.context().At(node.mark()), Quote(node.text()) + " is no path",
                        at.Text(), std::string(kHowToWrite));
    }
  }
  return projection;
}

void ReadDocument(const Context& context, const yaml::Node& node, std::vector<Projection>& out) {
  const DocumentPath root;
  if (!node.is_map()) return ReportKind(context, node, "a map with the key projections", root);
  const MapReader map(context, node, root);
  ReportUnknownKeys(map, {"projections"}, context.diagnostics);
  const yaml::Node* const list = map.List("projections");
  if (list == nullptr) return;
  const DocumentPath path = root.Key("projections");
  std::size_t index = 0;
  for (const yaml::Node& item : list->items()) {
    const DocumentPath at = path.Index(index++);
    if (!item.is_map()) {
      ReportKind(context, item, "a map", at);
      continue;
    }
    if (auto projection = ReadProjection(MapReader(context, item, at), context.diagnostics)) {
      out.push_back(*std::move(projection));
    }
  }
}

}  // namespace

std::vector<Projection> ReadProjections(std::vector<Source> sources, Diagnostics& diagnostics) {
  std::vector<Projection> projections;
  for (Source& source : sources) {
    auto stream = yaml::Parse(std::move(source.text));
    if (!stream) {
      const yaml::SyntaxError& error = stream.error();
      diagnostics.Error("syntax", Origin{source.file, error.mark.line, error.mark.column, 0}, error.message, {},
                        error.hint);
      continue;
    }
    const auto documents = stream->documents();
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Context context{diagnostics, source.file, documents.size() > 1 ? stream->number(i) : 0};
      ReadDocument(context, documents[i], projections);
    }
  }
  if (projections.empty() && !diagnostics.has_errors()) {
    diagnostics.Error("projection-members", {}, "the input has no projections", {},
                      "write a list `projections`, each with name, apiVersion, kind and members");
  }
  return projections;
}

}  // namespace kgen::generator::parse
