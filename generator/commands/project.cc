// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen project: generates types that have a part of the members of a kind.
#include <string>
#include <utility>
#include <vector>

#include "generator/commands/command.h"
#include "generator/commands/depfile.h"
#include "generator/commands/options.h"
#include "generator/commands/use_options.h"
#include "generator/disk.h"
#include "generator/emit/render/emitter.h"
#include "generator/emit/render/output.h"
#include "generator/emit/spelling/names.h"
#include "generator/parse/projections.h"
#include "generator/parse/source.h"

namespace kgen::generator::commands {
namespace {

OptionSet Options() {
  OptionSet options("kgen project", "--out DIR --namespace NS --use NS=PATH FILE...",
                    "Generates C++ types that have a part of the members of a kind, for informers that keep no more.");
  options.Value("out", 'o', "DIR", "output folder; include paths such as \"NS/...\" are relative to it");
  options.Value("namespace", 'n', "NS", "C++ namespace of the types, in lower case: agent, acme::agent");
  options.Value(
      "use", '\0', "NS=PATH",
      "an API that has the kinds, which was generated into namespace NS from PATH, a file or a folder; may be "
      "given several times, also for one NS");
  options.Value("use-group-names", '\0', "NS=full|NS=GROUP=NAME", "the --group-names that it was generated with");
  options.Value("header", '\0', "FILE", "text for the top of each file, for example a licence");
  options.Value("depfile", '\0', "FILE", "writes a make rule with all inputs that were read");
  options.Value("depfile-target", '\0', "PATH", "the target of that rule; default: the depfile itself");
  options.Flag("check", '\0', "writes nothing; exit code 1, and a list, if a run would change something");
  options.Flag("force", 'f', "overwrites files that were edited by hand");
  options.Flag("verbose", 'v', "shows notes too, and what was written");
  options.Note(
      "The files are YAML:\n"
      "\n"
      "  projections:\n"
      "  - name: PodAddress\n"
      "    apiVersion: v1\n"
      "    kind: Pod\n"
      "    members: [metadata.labels, spec.nodeName, 'status.podIPs[].ip']\n"
      "\n"
      "An entry of `members` names a member by its path; [] stands for the elements of a list or map. Objects have\n"
      "their name, namespace, uid, resourceVersion, deletionTimestamp and finalizers in any case.");
  options.Example("kgen project --out generated --namespace agent --use k8s=openapi/kubernetes-1.36 projections.yaml");
  return options;
}

int Usage(const std::string& message, const Streams& streams) {
  streams.err << "kgen project: " << message << "\n`kgen project --help` shows the usage.\n";
  return kBadUsage;
}

// Returns what is wrong with a command line, or nothing.
std::string Fault(const ParsedOptions& parsed) {
  if (!parsed.Has("out")) return "--out DIR is missing";
  if (parsed.positional().empty()) return "no input; pass files with projections";
  if (!parsed.Has("use")) return "--use NS=PATH is missing; it names the API that has the kinds";
  if (parsed.Has("depfile-target") && !parsed.Has("depfile")) return "--depfile-target needs --depfile";
  if (emit::IsNamespace(parsed.Value("namespace", ""))) return {};
  return "--namespace needs lower-case identifiers such as agent or acme::agent, no keyword and not kgen, main or std, "
         "got " +
         Quote(parsed.Value("namespace", ""));
}

int Write(const emit::Files& files, const std::string& name_space, const UseSettings& uses,
          const std::vector<std::string>& inputs, const ParsedOptions& parsed, const Streams& streams) {
  std::string set = name_space;
  for (std::size_t at = set.find("::"); at != std::string::npos; at = set.find("::")) set.replace(at, 2, ".");
  const bool check = parsed.Has("check");
  const emit::OutputResult result =
      emit::WriteOutput(files, {.folder = parsed.Value("out"),
                                .set = set + ".projections",
                                .settings = "project --namespace " + name_space + uses.Text(),
                                .force = parsed.Has("force"),
                                .write = !check});
  for (const std::string& warning : result.warnings) streams.err << "kgen project: warning: " << warning << "\n";
  for (const std::string& error : result.errors) streams.err << "kgen project: error: " << error << "\n";
  if (!result.errors.empty()) return kCannotWrite;
  if (check || parsed.Has("verbose")) {
    for (const std::string& path : result.written) streams.err << "write  " << path << "\n";
    for (const std::string& path : result.removed) streams.err << "remove " << path << "\n";
  }
  if (check) return result.written.empty() && result.removed.empty() ? kFine : kBadInput;
  if (!parsed.Has("depfile")) return kFine;
  const std::string depfile = parsed.Value("depfile");
  std::string error;
  if (WriteWhenChanged(depfile, Depfile(parsed.Value("depfile-target", depfile), inputs), error)) return kFine;
  streams.err << "kgen project: " << error << "\n";
  return kCannotWrite;
}

int Run(const std::vector<std::string>& arguments, const Streams& streams) {
  const OptionSet set = Options();
  const auto parsed = set.Parse(arguments);
  if (!parsed) return Usage(parsed.error(), streams);
  if (parsed->Has("help")) {
    streams.out << set.Help();
    return kFine;
  }
  if (const std::string fault = Fault(*parsed); !fault.empty()) return Usage(fault, streams);
  const std::string name_space = parsed->Value("namespace", "");
  const auto uses = ReadUses(*parsed, name_space);
  if (!uses) return Usage(uses.error(), streams);
  std::vector<std::string> lines;
  std::vector<std::string> inputs;
  if (parsed->Has("header")) {
    const auto text = ReadFile(parsed->Value("header"));
    if (!text) {
      return Usage("cannot read the file of --header, " + Quote(parsed->Value("header"), 200) + ": " + text.error(),
                   streams);
    }
    lines = HeaderLines(*text);
    inputs.push_back(AbsolutePath(parsed->Value("header")));
  }
  Diagnostics diagnostics;
  std::vector<parse::Source> sources =
      parse::LoadSources(parsed->positional(), diagnostics, {.standard_input = &streams.in});
  for (const parse::Source& source : sources) {
    if (source.name != "<stdin>") inputs.push_back(AbsolutePath(source.name));
  }
  const std::vector<parse::Projection> projections = parse::ReadProjections(std::move(sources), diagnostics);
  std::vector<std::string> used;
  std::vector<emit::UsedApi> apis = LoadUses(*uses, used, diagnostics);
  for (const std::string& file : used) inputs.push_back(AbsolutePath(file));
  const emit::Files files = diagnostics.has_errors()
                                ? emit::Files()
                                : emit::EmitProjections(projections, apis, name_space, lines, diagnostics);
  if (const int code = Report(diagnostics, streams, parsed->Has("verbose")); code != kFine) return code;
  return Write(files, name_space, *uses, inputs, *parsed, streams);
}

}  // namespace

const Command& ProjectCommand() {
  static constexpr Command kCommand = {"project", "makes C++ types that have a part of the members of a kind", Run};
  return kCommand;
}

}  // namespace kgen::generator::commands
