// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/commands/load_api.h"

#include <utility>

#include "generator/model/fixups.h"
#include "generator/parse/descriptions.h"
#include "generator/parse/document.h"

namespace kgen::generator::commands {

model::Api LoadApi(const std::vector<std::string>& inputs, Diagnostics& diagnostics,
                   const parse::SourceOptions& source_options, const model::ResolveOptions& resolve_options) {
  return LoadApi(parse::LoadSources(inputs, diagnostics, source_options), diagnostics, resolve_options);
}

model::Api LoadApi(std::vector<parse::Source> sources, Diagnostics& diagnostics,
                   const model::ResolveOptions& resolve_options, const std::vector<parse::Source>& descriptions) {
  model::Draft draft = parse::ParseSources(std::move(sources), diagnostics);
  if (!descriptions.empty()) parse::JoinDescriptions(descriptions, parse::DescribedApi::kWhole, draft, diagnostics);
  model::ApplyFixups(draft, diagnostics);
  return model::Resolve(std::move(draft), diagnostics, resolve_options);
}

}  // namespace kgen::generator::commands
