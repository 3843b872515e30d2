// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The commands of kgen, and what they share: streams, exit codes, options.
//
//   main.cc -> RunKgen() -> Command::run -> parse, model, emit
//
// To add a command: a file commands/<name>.cc with a function `const Command& <Name>Command()`, and its line in
// kgen.cc. A command writes its messages to `err` and its results to `out` or to files.
#ifndef KGEN_GENERATOR_COMMANDS_COMMAND_H_
#define KGEN_GENERATOR_COMMANDS_COMMAND_H_

#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"

namespace kgen::generator::commands {

// Warnings do not change the exit code.
enum ExitCode : int { kFine = 0, kBadInput = 1, kBadUsage = 2, kCannotWrite = 3, kInternalError = 4 };

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

struct Command {
  std::string_view name;
  std::string_view summary;                                                       // one line, for `kgen --help`
  int (*run)(const std::vector<std::string>& arguments, const Streams& streams);  // without program and command name
};

const Command& DiffCommand();
const Command& FactsCommand();
const Command& GenerateCommand();
const Command& ProjectCommand();

// The whole program. Never throws: an exception that escapes a command becomes kInternalError, with a message that
// names the step that was running.
int RunKgen(const std::vector<std::string>& arguments, const Streams& streams);

// Shows the diagnostics of a run; kBadInput if there were errors, else kFine.
int Report(const Diagnostics& diagnostics, const Streams& streams, bool verbose);

// Writes `text` to `path` through a temporary file beside it, unless the file already holds exactly that text. Creates
// missing parent folders, and removes what a run that was killed has left of it. Returns false, with the reason in
// `error`, on failure.
bool WriteWhenChanged(const std::string& path, std::string_view text, std::string& error);

// For --check: names what a run that was killed while it wrote `path` has left, and returns kBadInput then, else kFine.
int CheckLeftover(const std::string& path, const Streams& streams);

}  // namespace kgen::generator::commands

#endif  // KGEN_GENERATOR_COMMANDS_COMMAND_H_
