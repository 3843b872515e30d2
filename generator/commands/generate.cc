// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen generate: generates C++ from API documents and CRDs.
#include <algorithm>
#include <expected>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/commands/command.h"
#include "generator/commands/depfile.h"
#include "generator/commands/load_api.h"
#include "generator/commands/options.h"
#include "generator/commands/use_options.h"
#include "generator/disk.h"
#include "generator/emit/render/emitter.h"
#include "generator/emit/render/output.h"
#include "generator/emit/spelling/names.h"
#include "generator/parse/source.h"

namespace kgen::generator::commands {
namespace {

OptionSet Options() {
  OptionSet options("kgen generate", "--out DIR [--namespace NS | --runtime LIST] FILE...",
                    "Generates C++ types, clients, listers and informers from CRDs and OpenAPI v3 or v2 documents.");
  options.Value("out", 'o', "DIR", "output folder; include paths such as \"NS/...\" are relative to it");
  options.Value("namespace", 'n', "NS",
                "C++ namespace of the generated code, in lower case: acme, acme::shop; default: api");
  options.Value("shards", '\0', "N", "source files to spread the tables over: NS.cc, NS_1.cc, ...; default: 1");
  options.Flag("split-by-group", '\0', "one source file per group version instead, beside its headers");
  options.Value(
      "group-names", '\0', "full|GROUP=NAME",
      "C++ names of API groups: all labels instead of the first, or NAME for one; may be given several times");
  options.Value("distinct", '\0', "PATH",
                "gives the object at PATH a type that no other position has, even where their shapes are equal; may be "
                "given several times");
  options.Value("descriptions", '\0', "DIR",
                "adds the descriptions in DIR to API documents that have none; openapi/README.md has their format");
  AddUseOptions(options);
  options.Value(
      "runtime", '\0', "LIST",
      "for developers of kgen: only the types of the runtime itself, which the file LIST names, and their tables");
  options.Value("header", '\0', "FILE", "text for the top of each file, for example a licence");
  options.Value("depfile", '\0', "FILE", "writes a make rule with all inputs that were read");
  options.Value("depfile-target", '\0', "PATH", "the target of that rule; default: the depfile itself");
  options.Flag("check", '\0', "writes nothing; exit code 1, and a list, if a run would change something");
  options.Flag("dry-run", '\0', "writes nothing; lists what a run would write and remove");
  options.Flag("force", 'f', "overwrites files that were edited by hand");
  options.Value("no-warn", '\0', "ID", "drops warnings of this id (the word in brackets); may be given several times");
  options.Value("error", '\0', "ID", "makes warnings of this id errors; may be given several times");
  options.Flag("verbose", 'v', "shows notes too, and what was written");
  options.Note(
      "A folder stands for its .yaml, .yml and .json files, or for the resources that its kustomization names, but\n"
      "not for URLs, patches and charts in it. What is no CRD and no API document in there is left out, and so are\n"
      "links, which may lead out of the folder; --verbose lists them. A link that is named itself is followed.");
  options.Note(
      "Nothing is written if an input has an error. Files that did not change keep their time stamp; files of the "
      "last\n"
      "run of the same namespace that are no longer generated are removed; other files are never touched.");
  options.Example("kgen generate --out generated --namespace acme crds/orders.yaml");
  options.Example("kgen generate --out generated --namespace acme::shop --shards 4 crds/");
  options.Example(
      "kgen generate --out generated --namespace acme --distinct orders.shop.example.com:spec.template crds/");
  options.Example("kgen generate --out generated --namespace acme --use k8s=openapi/kubernetes-1.36 crds/");
  options.Example("kubectl get crd orders.shop.example.com -o yaml | kgen generate --out generated --namespace acme -");
  options.Example("kgen generate --check --out generated --namespace acme crds/orders.yaml");
  return options;
}

int Usage(const std::string& message, const Streams& streams) {
  streams.err << "kgen generate: " << message << "\n`kgen generate --help` shows the usage.\n";
  return kBadUsage;
}

std::optional<std::size_t> ParseShards(const std::string& text) {
  if (text.empty() || text.size() > 3 ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const std::size_t shards = std::stoul(text);
  return shards >= 1 && shards <= 256 ? std::optional(shards) : std::nullopt;
}

// The options that change the output, for the manifest.
std::string Settings(const emit::EmitOptions& options, const UseSettings& uses, bool described) {
  std::string text = "--namespace " + options.name_space;
  if (options.shards != 1) text += " --shards " + std::to_string(options.shards);
  if (options.split_by_group) text += " --split-by-group";
  if (options.group_naming.full) text += " --group-names full";
  for (const auto& [group, name] : options.group_naming.chosen) text += " --group-names " + (group + "=").append(name);
  for (const std::string& path : options.distinct) text += " --distinct " + path;
  if (described) text += " --descriptions";
  text += uses.Text();
  if (!options.header.empty()) text += " --header";
  return text;
}

int ReportOutput(const emit::OutputResult& result, const ParsedOptions& parsed, const Streams& streams) {
  for (const std::string& warning : result.warnings) streams.err << "kgen generate: warning: " << warning << "\n";
  for (const std::string& error : result.errors) streams.err << "kgen generate: error: " << error << "\n";
  if (!result.errors.empty()) return kCannotWrite;
  const bool quiet = !parsed.Has("check") && !parsed.Has("dry-run") && !parsed.Has("verbose");
  if (!quiet) {
    for (const std::string& path : result.written) streams.err << "write  " << path << "\n";
    for (const std::string& path : result.removed) streams.err << "remove " << path << "\n";
  }
  const bool changes = !result.written.empty() || !result.removed.empty();
  return parsed.Has("check") && changes ? kBadInput : kFine;
}

// The error message for an unknown warning id; empty when a warning has that id.
std::string UnknownWarning(std::string_view id) {
  const std::vector<std::string_view> known(WarningIds().begin(), WarningIds().end());
  if (std::find(known.begin(), known.end(), id) != known.end()) return {};
  const std::string_view nearest = Nearest(id, known);
  std::string fault = ": no warning has the id " + Quote(id);
  if (!nearest.empty()) return fault + ", did you mean " + std::string(nearest) + "?";
  for (std::size_t i = 0; i < known.size(); ++i) fault += (i == 0 ? "; there are " : ", ") + std::string(known[i]);
  return fault;
}

// The options of a command line; the error is a message for the user.
std::expected<emit::EmitOptions, std::string> ReadOptions(const ParsedOptions& parsed) {
  emit::EmitOptions options;
  if (!parsed.Has("out")) return std::unexpected("--out DIR is missing");
  if (parsed.positional().empty()) return std::unexpected("no input; pass files, folders, or - for standard input");
  for (const char* other :
       {"namespace", "shards", "split-by-group", "group-names", "distinct", "use", "use-group-names"}) {
    if (parsed.Has("runtime") && parsed.Has(other))
      return std::unexpected("--runtime and --" + std::string(other) + " cannot be combined");
  }
  options.name_space = parsed.Value("namespace", parsed.Has("runtime") ? "runtime" : "api");
  if (!emit::IsNamespace(options.name_space)) {
    return std::unexpected(
        "--namespace needs lower-case identifiers such as acme or acme::shop, no keyword and not kgen, main or std, "
        "got " +
        Quote(options.name_space));
  }
  const auto shards = ParseShards(parsed.Value("shards", "1"));
  if (!shards) return std::unexpected("--shards needs a number from 1 to 256, got " + Quote(parsed.Value("shards")));
  options.shards = *shards;
  options.split_by_group = parsed.Has("split-by-group");
  options.distinct = parsed.Values("distinct");
  if (options.split_by_group && parsed.Has("shards"))
    return std::unexpected("--shards and --split-by-group cannot be combined");
  auto group_naming = emit::ParseGroupNaming(parsed.Values("group-names"));
  if (!group_naming) return std::unexpected(group_naming.error());
  options.group_naming = std::move(*group_naming);
  if (parsed.Has("depfile-target") && !parsed.Has("depfile"))
    return std::unexpected("--depfile-target needs --depfile");
  for (const char* option : {"no-warn", "error"}) {
    for (const std::string& id : parsed.Values(option)) {
      if (auto fault = UnknownWarning(id); !fault.empty()) return std::unexpected("--" + (option + fault));
    }
  }
  if (parsed.Has("header")) {
    const auto text = ReadFile(parsed.Value("header"));
    if (!text) {
      return std::unexpected("cannot read the file of --header, " + Quote(parsed.Value("header"), 200) + ": " +
                             text.error());
    }
    options.header = HeaderLines(*text);
  }
  return options;
}

// The headers that the list of --runtime names; none without the option.
std::expected<std::vector<emit::RuntimeHeader>, std::string> ReadRuntimeList(const ParsedOptions& parsed) {
  if (!parsed.Has("runtime")) return {};
  const std::string path = parsed.Value("runtime");
  const auto text = ReadFile(path);
  if (!text) return std::unexpected("cannot read the list of --runtime, " + Quote(path, 200) + ": " + text.error());
  auto headers = emit::ParseRuntimeList(*text);
  if (!headers) return std::unexpected(path + ":" + headers.error());
  return headers;
}

emit::Files EmitRuntime(model::Api& api, const std::vector<emit::RuntimeHeader>& headers,
                        const emit::EmitOptions& options, Diagnostics& diagnostics) {
  emit::Files files;
  for (const emit::RuntimeHeader& header : headers) {
    files.merge(emit::EmitRuntime(api, header, options.header, diagnostics));
  }
  return diagnostics.has_errors() ? emit::Files() : files;
}

int Write(const emit::Files& files, const emit::EmitOptions& options, const UseSettings& uses,
          const std::vector<std::string>& inputs, const ParsedOptions& parsed, const Streams& streams) {
  std::string set = options.name_space;
  for (std::size_t at = set.find("::"); at != std::string::npos; at = set.find("::")) set.replace(at, 2, ".");
  const bool write = !parsed.Has("check") && !parsed.Has("dry-run");
  const int code = ReportOutput(
      emit::WriteOutput(
          files, {.folder = parsed.Value("out"),
                  .set = set,
                  .settings = parsed.Has("runtime") ? "--runtime" : Settings(options, uses, parsed.Has("descriptions")),
                  .force = parsed.Has("force"),
                  .write = write}),
      parsed, streams);
  if (code != kFine || !parsed.Has("depfile")) return code;
  const std::string depfile = parsed.Value("depfile");
  if (parsed.Has("check")) return CheckLeftover(depfile, streams);
  if (!write) return code;
  std::string error;
  if (WriteWhenChanged(depfile, Depfile(parsed.Value("depfile-target", depfile), inputs), error)) return kFine;
  streams.err << "kgen generate: " << error << "\n";
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
  const auto options = ReadOptions(*parsed);
  if (!options) return Usage(options.error(), streams);
  const auto uses = ReadUses(*parsed, options->name_space);
  if (!uses) return Usage(uses.error(), streams);
  const auto runtime = ReadRuntimeList(*parsed);
  if (!runtime) return Usage(runtime.error(), streams);
  Diagnostics diagnostics;
  for (std::string& id : parsed->Values("no-warn")) diagnostics.Disable(std::move(id));
  for (std::string& id : parsed->Values("error")) diagnostics.Promote(std::move(id));
  std::vector<parse::Source> sources =
      parse::LoadSources(parsed->positional(), diagnostics, {.standard_input = &streams.in});
  std::vector<std::string> inputs;
  for (const parse::Source& source : sources) {
    if (source.name != "<stdin>") inputs.push_back(AbsolutePath(source.name));
  }
  std::vector<parse::Source> descriptions;
  if (parsed->Has("descriptions")) descriptions = parse::LoadSources({parsed->Value("descriptions")}, diagnostics);
  for (const parse::Source& source : descriptions) inputs.push_back(AbsolutePath(source.name));
  if (parsed->Has("header")) inputs.push_back(AbsolutePath(parsed->Value("header")));
  model::Api api = LoadApi(std::move(sources), diagnostics, {}, descriptions);
  if (!uses->apis.empty() || !uses->options.types.empty()) {
    std::vector<std::string> used;
    const std::vector<emit::UsedApi> apis = LoadUses(*uses, used, diagnostics);
    for (const std::string& file : used) inputs.push_back(AbsolutePath(file));
    if (!diagnostics.has_errors()) {
      emit::ReportUnknownPositions(emit::UseTypes(api, apis, uses->options, diagnostics), diagnostics);
    }
  }
  if (parsed->Has("runtime")) inputs.push_back(AbsolutePath(parsed->Value("runtime")));
  const emit::Files files = diagnostics.has_errors() ? emit::Files()
                            : parsed->Has("runtime") ? EmitRuntime(api, *runtime, *options, diagnostics)
                                                     : emit::Emit(api, *options, diagnostics);
  const int code = Report(diagnostics, streams, parsed->Has("verbose"));
  if (code != kFine) return code;
  return Write(files, *options, *uses, inputs, *parsed, streams);
}

}  // namespace

const Command& GenerateCommand() {
  static constexpr Command kCommand = {"generate", "makes C++ from CRDs and API documents", Run};
  return kCommand;
}

}  // namespace kgen::generator::commands
