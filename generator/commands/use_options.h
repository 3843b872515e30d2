// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The options that name other generated APIs, for the commands that plan C++: --use, --use-group-names and --type.
#ifndef KGEN_GENERATOR_COMMANDS_USE_OPTIONS_H_
#define KGEN_GENERATOR_COMMANDS_USE_OPTIONS_H_

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "generator/commands/options.h"
#include "generator/diagnostic.h"
#include "generator/emit/plan/external_types.h"

namespace kgen::generator::commands {

// The values of the options.
struct UseSettings {
  struct Api {
    std::string name_space;
    std::vector<std::string> inputs;
    emit::GroupNaming group_naming = {};
  };
  std::vector<Api> apis;  // in the order of the options
  emit::UseOptions options = {};

  // Returns the options as text, without the inputs, whose paths differ between machines. Empty, or starts with a
  // space.
  std::string Text() const;
};

void AddUseOptions(OptionSet& options);

// Reads the options. The error is a message for the user. `name_space` is the namespace of this run; a used API must
// have a different one.
std::expected<UseSettings, std::string> ReadUses(const ParsedOptions& parsed, const std::string& name_space);

// Loads the APIs and adds the files that it reads to `files`. Reports errors to `diagnostics` and drops warnings,
// because those belong to the run that generated the API.
std::vector<emit::UsedApi> LoadUses(const UseSettings& settings, std::vector<std::string>& files,
                                    Diagnostics& diagnostics);

}  // namespace kgen::generator::commands

#endif  // KGEN_GENERATOR_COMMANDS_USE_OPTIONS_H_
