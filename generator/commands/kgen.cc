// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <exception>

#include "generator/commands/command.h"

namespace kgen::generator::commands {
namespace {

std::array<const Command*, 4> Commands() {
  return {&GenerateCommand(), &ProjectCommand(), &DiffCommand(), &FactsCommand()};
}

std::string Help() {
  std::string out =
      "kgen makes C++ clients, listers and informers from Kubernetes API documents and CRDs.\n\n"
      "Usage: kgen COMMAND [OPTION...] FILE...\n\nCommands:\n";
  for (const Command* command : Commands()) {
    out += "  " + std::string(command->name) + std::string(12 - command->name.size(), ' ') +
           std::string(command->summary) + "\n";
  }
  return out +
         "\n`kgen COMMAND --help` shows the options of a command, with examples.\n"
         "Exit codes: 0 success, 1 bad input, 2 bad usage, 3 cannot write, 4 internal error; `kgen diff` has its "
         "own.\n";
}

int RunCommand(const std::vector<std::string>& arguments, const Streams& streams) {
  const std::string name = arguments.empty() ? std::string() : arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    streams.out << Help();
    return kFine;
  }
  if (name == "--version") {
    streams.out << "kgen " << KGEN_VERSION << "\n";
    return kFine;
  }
  std::vector<std::string_view> names;
  for (const Command* command : Commands()) {
    if (command->name == name) return command->run({arguments.begin() + 1, arguments.end()}, streams);
    names.push_back(command->name);
  }
  if (name.empty()) {
    streams.err << Help();
    return kBadUsage;
  }
  const std::string_view nearest = Nearest(name, names);
  streams.err << "kgen: unknown command " << Quote(name);
  if (!nearest.empty()) streams.err << ", did you mean " << nearest << "?";
  streams.err << "\n`kgen --help` lists the commands.\n";
  return kBadUsage;
}

}  // namespace

int RunKgen(const std::vector<std::string>& arguments, const Streams& streams) {
  try {
    return RunCommand(arguments, streams);
  } catch (const std::exception& error) {
    streams.err << "kgen: internal error in `kgen";
    for (const std::string& argument : arguments) streams.err << " " << argument;
    streams.err << "`; please report it with the input (" << Quote(error.what()) << ")\n";
    return kInternalError;
  }
}

int Report(const Diagnostics& diagnostics, const Streams& streams, bool verbose) {
  streams.err << diagnostics.Render(100, verbose);
  return diagnostics.has_errors() ? kBadInput : kFine;
}

}  // namespace kgen::generator::commands
