// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The front half of the generator in one call, for every command that needs a model.
#ifndef KGEN_GENERATOR_COMMANDS_LOAD_API_H_
#define KGEN_GENERATOR_COMMANDS_LOAD_API_H_

#include <string>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/api.h"
#include "generator/model/resolve.h"
#include "generator/parse/source.h"

namespace kgen::generator::commands {

// Reads files, folders and "-" into a resolved Api. Do not emit from it when diagnostics.has_errors().
model::Api LoadApi(const std::vector<std::string>& inputs, Diagnostics& diagnostics,
                   const parse::SourceOptions& source_options = {}, const model::ResolveOptions& resolve_options = {});

// Makes an Api of sources that are already loaded. `descriptions` has the texts of API documents that have none.
model::Api LoadApi(std::vector<parse::Source> sources, Diagnostics& diagnostics,
                   const model::ResolveOptions& resolve_options = {},
                   const std::vector<parse::Source>& descriptions = {});

}  // namespace kgen::generator::commands

#endif  // KGEN_GENERATOR_COMMANDS_LOAD_API_H_
