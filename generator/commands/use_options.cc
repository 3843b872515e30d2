// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/commands/use_options.h"

#include <algorithm>
#include <utility>

#include "generator/commands/load_api.h"
#include "generator/emit/render/emitter.h"
#include "generator/emit/spelling/names.h"
#include "generator/parse/source.h"

namespace kgen::generator::commands {
namespace {

// Splits NS=VALUE. Returns empty strings if there is no '='.
std::pair<std::string, std::string> Split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

UseSettings::Api* Find(UseSettings& settings, const std::string& name_space) {
  const auto found = std::find_if(settings.apis.begin(), settings.apis.end(),
                                  [&](const UseSettings::Api& api) { return api.name_space == name_space; });
  return found == settings.apis.end() ? nullptr : &*found;
}

}  // namespace

void AddUseOptions(OptionSet& options) {
  options.Value("use", '\0', "NS=PATH",
                "uses the types of the API that was generated into namespace NS from PATH, a file or a folder, instead "
                "of making them; may be given several times, also for one NS");
  options.Value("use-group-names", '\0', "NS=full|NS=GROUP=NAME", "the --group-names that it was generated with");
  options.Value(
      "type", '\0', "PATH=TYPE|own",
      "the type of the object at PATH: one of a used API, or a struct of its own; may be given several times");
}

std::string UseSettings::Text() const {
  std::string text;
  for (const Api& api : apis) {
    text += " --use " + api.name_space;
    if (api.group_naming.full) text += " --use-group-names " + api.name_space + "=full";
    for (const auto& [group, name] : api.group_naming.chosen) {
      text += " --use-group-names " + api.name_space + "=" + (group + "=").append(name);
    }
  }
  for (const auto& [path, type] : options.types) text += " --type " + path + "=" + type;
  return text;
}

std::expected<UseSettings, std::string> ReadUses(const ParsedOptions& parsed, const std::string& name_space) {
  UseSettings settings;
  for (const std::string& value : parsed.Values("use")) {
    const auto [space, input] = Split(value);
    if (!emit::IsNamespace(space) || input.empty()) {
      return std::unexpected(
          "--use needs NS=PATH, the namespace and an input of a generated API, as in "
          "k8s=openapi/kubernetes-1.36; got " +
          Quote(value, 200));
    }
    if (space == name_space) {
      return std::unexpected("--use names the namespace of this run, " + Quote(space) +
                             "; an API can use only types of other namespaces");
    }
    UseSettings::Api* known = Find(settings, space);
    if (known == nullptr) known = &settings.apis.emplace_back(UseSettings::Api{.name_space = space, .inputs = {}});
    known->inputs.push_back(input);
  }
  std::map<std::string, std::vector<std::string>> naming;
  for (const std::string& value : parsed.Values("use-group-names")) {
    const auto [space, name] = Split(value);
    if (Find(settings, space) == nullptr) {
      return std::unexpected("--use-group-names needs NS=full or NS=GROUP=NAME with the NS of a --use, got " +
                             Quote(value, 200));
    }
    naming[space].push_back(name);
  }
  for (const auto& [space, values] : naming) {
    auto parsed_naming = emit::ParseGroupNaming(values);
    if (!parsed_naming) return std::unexpected("--use-group-names " + space + ": " + parsed_naming.error());
    Find(settings, space)->group_naming = std::move(*parsed_naming);
  }
  auto types = emit::ParseTypes(parsed.Values("type"));
  if (!types) return std::unexpected(types.error());
  settings.options.types = std::move(*types);
  const std::vector<std::string> distinct = parsed.Values("distinct");
  settings.options.distinct = {distinct.begin(), distinct.end()};
  return settings;
}

std::vector<emit::UsedApi> LoadUses(const UseSettings& settings, std::vector<std::string>& files,
                                    Diagnostics& diagnostics) {
  std::vector<emit::UsedApi> uses;
  for (const UseSettings::Api& api : settings.apis) {
    Diagnostics its;
    std::vector<parse::Source> sources = parse::LoadSources(api.inputs, its);
    for (const parse::Source& source : sources) files.push_back(source.name);
    uses.push_back({api.name_space, api.group_naming, LoadApi(std::move(sources), its)});
    for (const Diagnostic& each : its.Sorted()) {
      if (each.severity != Severity::kError) continue;
      diagnostics.Error(each.id, {}, "--use " + api.name_space + ": " + its.Describe(each.origin) + ": " + each.message,
                        each.path, each.hint);
    }
  }
  return uses;
}

}  // namespace kgen::generator::commands
