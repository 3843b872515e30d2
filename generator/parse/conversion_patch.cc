// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/conversion_patch.h"

#include <optional>
#include <system_error>

#include "generator/disk.h"

namespace kgen::generator::parse {
namespace {

namespace fs = std::filesystem;

std::string_view TextOr(const yaml::Node* map, std::string_view key) {
  const yaml::Node* value = map == nullptr ? nullptr : map->Find(key);
  return value != nullptr && value->is_string() ? value->text() : std::string_view();
}

bool Converts(std::string_view strategy) { return !strategy.empty() && strategy != "None"; }

// Whether an operation of a JSON patch sets the strategy.
bool SetsConversion(const yaml::Node& operation) {
  const std::string_view what = TextOr(&operation, "op"), path = TextOr(&operation, "path");
  if (what != "add" && what != "replace") return false;
  if (path == "/spec/conversion/strategy") return Converts(TextOr(&operation, "value"));
  return path == "/spec/conversion" && Converts(TextOr(operation.Find("value"), "strategy"));
}

class Patches {
 public:
  explicit Patches(const fs::path& folder) : folder_(folder) {}

  // An element of patches or patchesJson6902, with a path or a text, and a target.
  void AddWithTarget(const yaml::Node& item) {
    const yaml::Node* target = item.Find("target");
    const std::string_view path = TextOr(&item, "path");
    const std::optional<std::string> text = path.empty() ? std::string(TextOr(&item, "patch")) : Read(path);
    if (text) AddText(*text, target);
  }

  // An element of patchesStrategicMerge: a path, or the patch itself.
  void AddStrategic(std::string_view item) {
    const std::optional<std::string> text = item.contains('\n') ? std::string(item) : Read(item);
    if (text) AddText(*text, nullptr);
  }

  std::vector<std::string> Take() { return std::move(names_); }

 private:
  std::optional<std::string> Read(std::string_view path) const {
    const fs::path file = folder_ / path;
    std::error_code error;
    if (fs::symlink_status(file, error).type() != fs::file_type::regular) return std::nullopt;
    auto text = ReadFile(file.native());
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }

  // A JSON patch is a list of operations, and a strategic merge is a part of a CRD.
  void AddText(const std::string& text, const yaml::Node* target) {
    const auto stream = yaml::Parse(text);
    if (!stream) return;
    if (target != nullptr && !IsCrd(TextOr(target, "kind"))) return;
    for (const yaml::Node& document : stream->documents()) {
      for (const yaml::Node& operation : document.items()) {
        if (target != nullptr && SetsConversion(operation)) names_.emplace_back(TextOr(target, "name"));
      }
      const yaml::Node* spec = document.Find("spec");
      const yaml::Node* conversion = spec == nullptr ? nullptr : spec->Find("conversion");
      if (!Converts(TextOr(conversion, "strategy"))) continue;
      if (target != nullptr) {
        names_.emplace_back(TextOr(target, "name"));
      } else if (const std::string_view name = TextOr(document.Find("metadata"), "name");
                 TextOr(&document, "kind") == "CustomResourceDefinition" && !name.empty()) {
        names_.emplace_back(name);
      }
    }
  }

  static bool IsCrd(std::string_view kind) { return kind.empty() || kind == "CustomResourceDefinition"; }

  const fs::path& folder_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> ConvertedByPatches(const yaml::Node& kustomization, const fs::path& folder) {
  Patches patches(folder);
  for (const char* key : {"patches", "patchesJson6902", "patchesStrategicMerge"}) {
    const yaml::Node* list = kustomization.Find(key);
    if (list == nullptr) continue;
    for (const yaml::Node& item : list->items()) {
      if (item.is_map()) patches.AddWithTarget(item);
      if (item.is_string()) patches.AddStrategic(item.text());
    }
  }
  return patches.Take();
}

bool IsPatched(std::string_view pattern, std::string_view crd) {
  constexpr std::string_view kAnything = ".*";
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  if (pattern.ends_with('$')) pattern.remove_suffix(1);
  if (pattern.empty()) return true;
  const std::size_t at = pattern.find(kAnything);
  if (at == std::string_view::npos) return pattern == crd;
  const std::string_view begin = pattern.substr(0, at), end = pattern.substr(at + kAnything.size());
  return crd.size() >= begin.size() + end.size() && crd.starts_with(begin) && crd.ends_with(end);
}

}  // namespace kgen::generator::parse
