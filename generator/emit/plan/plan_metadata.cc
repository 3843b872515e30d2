// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/plan_metadata.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/names.h"

namespace kgen::generator::emit {
namespace {

constexpr std::size_t kWidth = 118;  // of comments, inside the struct

// A class cannot hold a class of its own name.
std::string Inside(const PlannedStruct& kind, std::string_view name) {
  return kind.name == name ? std::string(name) + "_" : std::string(name);
}

PlannedEnum ScalePaths(const model::ScalePaths& paths, const PlannedStruct& kind) {
  return {.name = Inside(kind, kMetadataNames[0]),
          .type = "std::string_view",
          .constants = {{"kSpecReplicas", StringViewLiteral(paths.spec_replicas)},
                        {"kStatusReplicas", StringViewLiteral(paths.status_replicas)},
                        {"kLabelSelector", StringViewLiteral(paths.label_selector)}},
          .comment = CommentLines({"The JSON paths of the scale subresource; empty if there is none."}, kWidth)};
}

// A field selector names a field by its JSON path without the first dot.
PlannedEnum SelectableFields(const std::vector<std::string>& json_paths, const PlannedStruct& kind) {
  std::vector<std::string> labels;
  labels.reserve(json_paths.size());
  for (const std::string& path : json_paths) labels.push_back(path.starts_with('.') ? path.substr(1) : path);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const std::vector<std::string> identifiers = FieldConstants(labels);
  PlannedEnum out{
      .name = Inside(kind, kMetadataNames[1]),
      .type = "std::string_view",
      .constants = {},
      .comment = CommentLines(
          {"The fields that field selectors support, besides metadata.name and metadata.namespace."}, kWidth)};
  for (std::size_t i = 0; i < labels.size(); ++i)
    out.constants.push_back({identifiers[i], StringViewLiteral(labels[i])});
  return out;
}

}  // namespace

void PlanMetadata(const model::Resource& resource, PlannedStruct& kind) {
  if (resource.scale) kind.enums.push_back(ScalePaths(*resource.scale, kind));
  if (!resource.selectable_fields.empty()) kind.enums.push_back(SelectableFields(resource.selectable_fields, kind));
  kind.columns.reserve(resource.printer_columns.size());
  for (const model::PrinterColumn& column : resource.printer_columns) {
    kind.columns.push_back({.name = StringViewLiteral(column.name),
                            .type = StringViewLiteral(column.type),
                            .format = StringViewLiteral(column.format),
                            .json_path = StringViewLiteral(column.json_path),
                            .priority = std::to_string(column.priority),
                            .description = StringViewLiteral(column.description)});
  }
}

}  // namespace kgen::generator::emit
