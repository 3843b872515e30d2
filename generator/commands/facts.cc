// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen facts: reduces API documents to their structure.
#include "generator/parse/facts.h"

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "generator/commands/command.h"
#include "generator/commands/options.h"
#include "generator/model/raw_schema.h"
#include "generator/parse/openapi.h"
#include "generator/parse/source.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::commands {
namespace {

OptionSet Options() {
  OptionSet options("kgen facts", "FILE... [--out DIR]",
                    "Reduces OpenAPI v3 documents to facts: their structure, without descriptions.");
  options.Value(
      "out", 'o', "DIR",
      "folder for the results, named as the inputs without .gz; without it the result of one input is printed");
  options.Flag("verbose", 'v', "shows notes too");
  options.Note(
      "The result is an OpenAPI v3 document with sorted keys, which kgen reads as any other: schemas without "
      "descriptions,\n"
      "paths with verbs and kinds. The same document always gives the same bytes. \"-\" reads standard input.");
  options.Example("kgen facts api__v1.json.gz > api__v1.json");
  options.Example("kgen facts --out openapi/kubernetes-1.36 live/api__v1.json.gz live/apis__apps__v1.json.gz");
  options.Example("kubectl get --raw /openapi/v3/apis/apps/v1 | kgen facts -");
  return options;
}

// Reduces the API document of a source to facts; nothing if there was an error.
std::optional<std::string> Reduce(parse::Source& source, Diagnostics& diagnostics) {
  const std::uint32_t file = source.file;
  auto stream = yaml::Parse(std::move(source.text), {.max_depth = 512});  // a schema takes two levels
  if (!stream) {
    const yaml::SyntaxError& error = stream.error();
    diagnostics.Error("syntax", Origin{file, error.mark.line, error.mark.column, 0}, error.message, {}, error.hint);
    return std::nullopt;
  }
  const auto documents = stream->documents();
  const parse::Context context{diagnostics, file, 0};
  const DocumentPath path;
  if (documents.size() != 1 || !documents[0].is_map() ||
      !parse::MapReader(context, documents[0], path).Has("openapi")) {
    const bool v2 = documents.size() == 1 && documents[0].is_map() && documents[0].Find("swagger") != nullptr;
    diagnostics.Error(
        "no-openapi", Origin{file, 0, 0, 0},
        v2 ? "facts are made from OpenAPI v3 documents; this one is OpenAPI v2, which lacks defaults and null"
           : "this is not an OpenAPI v3 document",
        {},
        v2 ? "pass the documents that the same server publishes below /openapi/v3, or this one to "
             "`kgen generate` as it is"
           : "pass CRDs to `kgen generate` as they are");
    return std::nullopt;
  }
  const parse::MapReader document(context, documents[0], path);
  const std::size_t errors = diagnostics.error_count();
  model::Draft draft;  // only to find errors in the document
  parse::ParseOpenApi(document, draft);
  if (diagnostics.error_count() != errors) return std::nullopt;
  return parse::ReduceToFacts(document);
}

std::string OutputName(const std::string& input) {
  std::string name = std::filesystem::path(input).filename().native();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

// All documents are reduced before the first file is written, so a failed run changes nothing.
int WriteAll(const std::map<std::string, std::string>& results, const std::string& folder, const Streams& streams) {
  for (const auto& [name, text] : results) {
    std::string error;
    if (!WriteWhenChanged((std::filesystem::path(folder) / name).native(), text, error)) {
      streams.err << "kgen facts: " << error << "\n";
      return kCannotWrite;
    }
  }
  return kFine;
}

int Usage(const std::string& message, const Streams& streams) {
  streams.err << "kgen facts: " << message << "\n`kgen facts --help` shows the usage.\n";
  return kBadUsage;
}

int Run(const std::vector<std::string>& arguments, const Streams& streams) {
  const OptionSet options = Options();
  const auto parsed = options.Parse(arguments);
  if (!parsed) return Usage(parsed.error(), streams);
  if (parsed->Has("help")) {
    streams.out << options.Help();
    return kFine;
  }
  if (parsed->positional().empty()) return Usage("no input; pass files, folders, or - for standard input", streams);
  const bool to_folder = parsed->Has("out");
  Diagnostics diagnostics;
  std::vector<parse::Source> sources =
      parse::LoadSources(parsed->positional(), diagnostics, {.standard_input = &streams.in});
  if (!to_folder && sources.size() > 1) return Usage("several inputs need --out DIR", streams);
  std::map<std::string, std::string> results;
  for (parse::Source& source : sources) {
    const std::string name = OutputName(source.name);
    std::optional<std::string> facts = Reduce(source, diagnostics);
    if (facts && !results.emplace(name, std::move(*facts)).second) {
      diagnostics.Error("output-twice", Origin{source.file, 0, 0, 0},
                        "two inputs would both be written to " + Quote(name));
    }
    if (to_folder && source.name == "<stdin>")
      return Usage("--out needs file names, and standard input has none; leave --out away", streams);
  }
  const int code = Report(diagnostics, streams, parsed->Has("verbose"));
  if (code != kFine) return code;
  if (to_folder) return WriteAll(results, parsed->Value("out"), streams);
  for (const auto& [name, text] : results) streams.out << text;
  streams.out.flush();
  return streams.out ? kFine : kCannotWrite;
}

}  // namespace

const Command& FactsCommand() {
  static constexpr Command kCommand = {"facts", "reduces API documents to what the generator needs", Run};
  return kCommand;
}

}  // namespace kgen::generator::commands
