// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen diff: what a change of the input breaks.
#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/commands/command.h"
#include "generator/commands/load_api.h"
#include "generator/commands/options.h"
#include "generator/commands/use_options.h"
#include "generator/diff/differences.h"
#include "generator/diff/source_diff.h"
#include "generator/diff/wire_diff.h"
#include "generator/emit/plan/external_types.h"
#include "generator/emit/plan/make_plan.h"
#include "generator/emit/spelling/group_names.h"

namespace kgen::generator::commands {
namespace {

// The namespace of both plans.
constexpr std::string_view kNamespace = "api";

// kgen diff has exit codes of its own, so that CI can tell breaks from errors.
enum DiffCode : int { kNoBreaks = 0, kBreaks = 1, kNotCompared = 2 };

OptionSet Options() {
  OptionSet options("kgen diff", "OLD NEW [--group-names full|GROUP=NAME] [--use NS=PATH]",
                    "Compares two states of an API, CRDs and OpenAPI documents, and shows what the change breaks.");
  options.Value("group-names", '\0', "full|GROUP=NAME", "as for kgen generate; may be given several times");
  AddUseOptions(options);
  options.Note(
      "OLD and NEW are a file, a folder or - each. The result has four parts, with a line for each difference: what\n"
      "breaks programs that use the generated C++, what breaks clients and servers that talk to each other, which\n"
      "values a server refuses that it accepted before, and what is only new. A difference can stand in several "
      "parts.");
  options.Note("Exit codes: 0 nothing breaks, 1 something breaks or is refused, 2 the inputs could not be compared.");
  options.Example("kgen diff released/crds/ crds/");
  options.Example("git show HEAD~1:crds/orders.yaml | kgen diff - crds/orders.yaml");
  return options;
}

int Usage(const std::string& message, const Streams& streams) {
  streams.err << "kgen diff: " << message << "\n`kgen diff --help` shows how it is used.\n";
  return kNotCompared;
}

bool HasGroup(const model::Api& api, std::string_view name) {
  return std::any_of(api.groups.begin(), api.groups.end(),
                     [&](const model::Group& group) { return group.name == name; });
}

// A chosen name counts where its group is; that the other state lacks the group is no mistake.
emit::GroupNaming NamingFor(const model::Api& api, const model::Api& other, emit::GroupNaming naming) {
  std::erase_if(naming.chosen,
                [&](const auto& chosen) { return !HasGroup(api, chosen.first) && HasGroup(other, chosen.first); });
  return naming;
}

void Print(std::string_view title, std::vector<model::Finding> findings, std::ostream& out) {
  std::sort(findings.begin(), findings.end());
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
  if (findings.empty()) return;
  out << title << " (" << findings.size() << "):\n";
  for (const model::Finding& finding : findings) out << "  " << finding.path << ": " << finding.text << "\n";
}

// Both states use the same APIs. That one of them lacks the position of a --type is no mistake.
void Use(const UseSettings& settings, model::Api& before, model::Api& after, Diagnostics& diagnostics) {
  std::vector<std::string> files;
  const std::vector<emit::UsedApi> uses = LoadUses(settings, files, diagnostics);
  if (diagnostics.has_errors()) return;
  std::set<std::string> unknown = emit::UseTypes(before, uses, settings.options, diagnostics);
  const std::set<std::string> also = emit::UseTypes(after, uses, settings.options, diagnostics);
  std::erase_if(unknown, [&](const std::string& path) { return !also.contains(path); });
  emit::ReportUnknownPositions(unknown, diagnostics);
}

int Run(const std::vector<std::string>& arguments, const Streams& streams) {
  const OptionSet options = Options();
  const auto parsed = options.Parse(arguments);
  if (!parsed) return Usage(parsed.error(), streams);
  if (parsed->Has("help")) {
    streams.out << options.Help();
    return kNoBreaks;
  }
  if (parsed->positional().size() != 2) return Usage("needs two inputs, OLD and NEW", streams);
  const auto naming = emit::ParseGroupNaming(parsed->Values("group-names"));
  if (!naming) return Usage(naming.error(), streams);
  const auto uses = ReadUses(*parsed, std::string(kNamespace));
  if (!uses) return Usage(uses.error(), streams);

  Diagnostics diagnostics;
  const parse::SourceOptions sources{.standard_input = &streams.in};
  model::Api before = LoadApi({parsed->positional()[0]}, diagnostics, sources);
  model::Api after = LoadApi({parsed->positional()[1]}, diagnostics, sources);
  model::Differences differences;
  model::CompareWire(before, after, differences);  // before types of other APIs stand for the fields of a CRD
  if (!diagnostics.has_errors()) Use(*uses, before, after, diagnostics);
  const auto plan = [&](const model::Api& api, const model::Api& other) {
    if (diagnostics.has_errors()) return emit::Plan();
    return emit::MakePlan(api, {.name_space = std::string(kNamespace), .group_naming = NamingFor(api, other, *naming)},
                          diagnostics);
  };
  const emit::Plan old_plan = plan(before, after);
  const emit::Plan new_plan = plan(after, before);
  if (diagnostics.has_errors()) {
    Report(diagnostics, streams, /*verbose=*/false);
    return kNotCompared;
  }
  emit::CompareSource(old_plan, new_plan, differences);
  Print("breaks C++ source", differences.source, streams.out);
  Print("breaks the wire", differences.wire, streams.out);
  Print("the server now refuses", differences.refuses, streams.out);
  Print("only new", differences.added, streams.out);
  const bool breaks = !differences.source.empty() || !differences.wire.empty() || !differences.refuses.empty();
  return breaks ? kBreaks : kNoBreaks;
}

}  // namespace

const Command& DiffCommand() {
  static constexpr Command kCommand = {"diff", "shows what a change of CRDs or API documents breaks", Run};
  return kCommand;
}

}  // namespace kgen::generator::commands
