// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/render/emitter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "generator/emit/plan/make_plan.h"
#include "generator/emit/render/mustache.h"
#include "generator/emit/render/view.h"
#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/names.h"

namespace kgen::generator::emit {
namespace {

// Approximate size of a struct's tables: the number of its members, including the members of nested structs.
std::size_t Weight(const PlannedStruct& planned) {
  std::size_t weight = planned.fields.size() + 2;
  for (const PlannedStruct& inner : planned.nested) weight += Weight(inner);
  return weight;
}

// Spreads all structs over `count` sources of about the same weight, in their order.
std::vector<std::vector<TablePart>> Shard(const Plan& plan, std::size_t count) {
  const std::vector<TablePart> all = AllTables(plan);
  std::size_t total = 0;
  for (const TablePart& part : all) {
    for (const PlannedStruct& planned : part.structs()) total += Weight(planned);
  }
  std::vector<std::vector<TablePart>> shards(count);
  std::size_t so_far = 0;
  for (const TablePart& part : all) {
    for (std::size_t i = part.first; i < part.last; ++i) {
      std::vector<TablePart>& shard = shards[std::min(count - 1, so_far * count / std::max<std::size_t>(total, 1))];
      so_far += Weight(part.structs()[i]);
      if (shard.empty() || &shard.back().structs() != &part.structs())
        shard.push_back({part.group, part.version, i, i});
      shard.back().last = i + 1;
    }
  }
  return shards;
}

// Each CRD has a header with a function, which a program contains only if it calls it. A change of a CRD that changes
// no type must not recompile the users of its types, so these headers have a fingerprint of their own.
void EmitManifests(const Plan& plan, const FileHeader& header, TemplateEngine& engine, Files& files) {
  std::string all;
  for (const PlannedManifest& manifest : plan.manifests) {
    const std::string& text = files[manifest.header] = engine.Render("manifest.h", ViewManifest(manifest, header));
    all += manifest.header + '\0' + text + '\0';
  }
  files[header.manifest_fingerprint] =
      engine.Render("fingerprint.h", ViewFingerprint(plan, header.manifest_fingerprint, true, header, Hash(all)));
  files[plan.folder + "/" + plan.stem + "_manifests.cc"] = engine.Render("manifests.cc", ViewManifests(plan, header));
}

void EmitSources(const Plan& plan, const EmitOptions& options, const FileHeader& header, TemplateEngine& engine,
                 Files& files) {
  const std::string stem = plan.folder + "/" + plan.stem;
  // Without split_by_group, the names of sources are fixed: CMake must know them before the first run.
  if (!options.split_by_group || !plan.manifests.empty()) EmitManifests(plan, header, engine, files);
  if (options.split_by_group) {
    for (const TablePart& part : AllTables(plan)) {
      const std::string& folder = part.group != nullptr ? part.group->folder : part.version->folder;
      files[folder + "/tables.cc"] = engine.Render("source.cc", ViewSource(plan, {part}, false, header));
    }
    files[stem + ".cc"] = engine.Render("source.cc", ViewSource(plan, {}, true, header));
    return;
  }
  const auto shards = Shard(plan, std::max<std::size_t>(options.shards, 1));
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string path = i == 0 ? stem + ".cc" : stem + "_" + std::to_string(i) + ".cc";
    files[path] = engine.Render("source.cc", ViewSource(plan, shards[i], i == 0, header));
  }
}

}  // namespace

Files Emit(const model::Api& api, const EmitOptions& options, Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  const Plan plan = MakePlan(api,
                             {.name_space = options.name_space,
                              .group_naming = options.group_naming,
                              .distinct = {options.distinct.begin(), options.distinct.end()},
                              .own = options.own},
                             diagnostics);
  if (diagnostics.error_count() != errors) return {};
  const FileHeader header{.lines = CommentLines(options.header, kColumns),
                          .fingerprint = plan.folder + "/fingerprint.h",
                          .manifest_fingerprint = plan.folder + "/manifest_fingerprint.h"};
  TemplateEngine engine;
  Files files;
  for (const auto& [name, group] : plan.groups) {
    files[group.folder + "/shapes.h"] = engine.Render("shapes.h", ViewShapes(group, header));
  }
  for (const PlannedVersion& version : plan.versions) {
    files[version.folder + "/types.h"] =
        engine.Render("types.h", ViewTypes(plan, version, TypesHeader::kTypes, header));
    if (version.has_common) {
      files[version.folder + "/common_types.h"] =
          engine.Render("types.h", ViewTypes(plan, version, TypesHeader::kCommon, header));
    }
    if (version.resources.empty()) continue;
    files[version.folder + "/client.h"] = engine.Render("client.h", ViewClient(version, header));
    const bool informers = std::any_of(version.resources.begin(), version.resources.end(),
                                       [](const PlannedResource& resource) { return resource.has_informer; });
    if (informers)
      files[version.folder + "/informers.h"] = engine.Render("informers.h", ViewInformers(version, header));
  }
  files[plan.folder + "/clientset.h"] = engine.Render("clientset.h", ViewClientset(plan, header));
  files[plan.folder + "/informers.h"] = engine.Render("factory.h", ViewFactory(plan, header));
  files[plan.folder + "/scheme.h"] = engine.Render("scheme.h", ViewScheme(plan, header));
  std::string headers;
  for (const auto& [path, text] : files) headers += path + '\0' + text + '\0';
  files[header.fingerprint] =
      engine.Render("fingerprint.h", ViewFingerprint(plan, header.fingerprint, false, header, Hash(headers)));
  EmitSources(plan, options, header, engine, files);
  return files;
}

Files EmitRuntime(model::Api& api, const RuntimeHeader& runtime, const std::vector<std::string>& lines,
                  Diagnostics& diagnostics) {
  const OnlyTypes only(api, runtime, diagnostics);
  if (diagnostics.has_errors()) return {};
  Plan plan = MakePlan(api, {.name_space = runtime.name_space, .runtime = true}, diagnostics);
  if (diagnostics.has_errors()) return {};
  PlannedVersion& version = plan.versions.front();
  version.header = runtime.include;
  const FileHeader header{.lines = CommentLines(lines, kColumns), .fingerprint = {}, .manifest_fingerprint = {}};
  TemplateEngine engine;
  return {{runtime.header, engine.Render("types.h", ViewTypes(plan, version, TypesHeader::kTypes, header))},
          {runtime.source, engine.Render("source.cc", ViewSource(plan, AllTables(plan), false, header))}};
}

Files EmitProjections(const std::vector<parse::Projection>& projections, std::vector<UsedApi>& apis,
                      const std::string& name_space, const std::vector<std::string>& lines, Diagnostics& diagnostics) {
  Plan plan = PlanProjections(projections, apis, name_space, diagnostics);
  if (diagnostics.has_errors()) return {};
  const std::string stem = plan.folder + "/projections";
  for (PlannedVersion& version : plan.versions) version.header = stem + ".h";
  const FileHeader header{.lines = CommentLines(lines, kColumns), .fingerprint = {}, .manifest_fingerprint = {}};
  TemplateEngine engine;
  return {{stem + ".h", engine.Render("projections.h", ViewProjections(plan, header))},
          {stem + ".cc", engine.Render("source.cc", ViewSource(plan, AllTables(plan), false, header))}};
}

}  // namespace kgen::generator::emit
