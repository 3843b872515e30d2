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
#include "generator/emit/uses.h"

namespace kgen::generator::commands {

// What the options say.
struct UseSettings {
  struct Api {
    std::string name_space;
    std::vector<std::string> inputs;
    emit::GroupNaming group_naming = {};
  };
  std::vector<Api> apis;  // in the order of the options
  emit::UseOptions options = {};

  // The same as options, without the inputs, which lie elsewhere on every machine; empty, or starts with a space.
  std::string Text() const;
};

void AddUseOptions(OptionSet& options);

// The error is a message for the user. `name_space` is that of the run itself; a used API has another one.
std::expected<UseSettings, std::string> ReadUses(const ParsedOptions& parsed, const std::string& name_space);

// Loads the APIs. Adds the files that were read to `files`. Errors are in `diagnostics`; warnings are dropped, since
// they belong to the run that generated the API.
std::vector<emit::UsedApi> LoadUses(const UseSettings& settings, std::vector<std::string>& files,
                                    Diagnostics& diagnostics);

}  // namespace kgen::generator::commands

#endif  // KGEN_GENERATOR_COMMANDS_USE_OPTIONS_H_
