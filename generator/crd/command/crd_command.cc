// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/command/crd_command.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <expected>
#include <optional>
#include <set>
#include <utility>

#include "generator/commands/depfile.h"
#include "generator/commands/options.h"
#include "generator/crd/clang/header_reader.h"
#include "generator/crd/description.h"
#include "generator/crd/own_types.h"
#include "generator/crd/rbac.h"
#include "generator/crd/resources.h"
#include "generator/crd/schema.h"
#include "generator/crd/used_apis.h"
#include "generator/crd/webhook_markers.h"
#include "generator/crd/webhooks.h"
#include "generator/disk.h"
#include "generator/document_path.h"
#include "generator/emit/render/emitter.h"
#include "generator/emit/render/output.h"
#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/names.h"
#include "generator/model/resolve.h"
#include "generator/parse/crd.h"
#include "generator/parse/reader.h"

namespace kgen::generator::crd {
namespace {

using commands::OptionSet;
using commands::ParsedOptions;
using commands::Streams;

OptionSet Options() {
  OptionSet options("kgen-crd", "[--crds DIR] [--out DIR --namespace NS] HEADER...",
                    "Writes CRDs, and C++ clients, listers and informers, for the structs of C++ headers.");
  options.Value("crds", '\0', "DIR", "folder for the CRDs; without it and --out they are printed");
  options.Value("out", 'o', "DIR", "folder for the generated C++; include paths such as \"NS/...\" are relative to it");
  options.Value("namespace", 'n', "NS",
                "C++ namespace of the generated code; the structs of group shop.example.com and "
                "version v1 are in NS::shop::v1");
  options.Value("group-names", '\0', "full|GROUP=NAME", "as for kgen generate");
  options.Value("root", '\0', "DIR", "generated code includes the headers relative to this folder; default: this one");
  options.Value("flags", '\0', "FILE", "flags of the compiler, one a line: -I, -D, -std=");
  options.Value("flag", '\0', "FLAG", "one such flag, as in --flag=-Iinclude; may be given several times");
  options.Value("use", '\0', "NS[=PATH]",
                "types of namespace NS may be members: those of the API that was generated from PATH, a file or a "
                "folder, or, without PATH, from headers; k8s without PATH is Kubernetes' own API; may be given several "
                "times");
  options.Value("use-group-names", '\0', "NS=full|NS=GROUP=NAME", "the --group-names that it was generated with");
  options.Value("resource-dir", '\0', "DIR", "Clang's own headers, if they are not where Clang 22 was installed");
  options.Value(
      "max-description", '\0', "N",
      "cuts descriptions to N bytes, behind a sentence if there is one; 0 leaves them out; default: 150 for types "
      "of other APIs, no limit for others");
  options.Flag(
      "embedded-metadata", '\0',
      "metadata inside a kind, as in a pod template, keeps labels, annotations, finalizers, name and namespace");
  options.Value(
      "rbac", '\0', "NAME",
      "prints the roles of the rbac markers, and writes nothing: a ClusterRole of that name, and a Role for each "
      "namespace=");
  options.Value(
      "webhooks", '\0', "NAMESPACE/SERVICE",
      "prints the configurations of the webhook markers, and the Service, and writes nothing; objects in NAMESPACE are "
      "sent to no webhook, unless its marker has ownNamespace=true");
  options.Value("webhook-selector", '\0', "LABEL=VALUE",
                "a label of the pods that the Service of --webhooks selects; may be given several times; default: "
                "app.kubernetes.io/name=SERVICE");
  options.Value("conversion", '\0', "NAMESPACE/SERVICE",
                "CRDs of kinds with the marker hub have spec.conversion, which calls this Service at /convert");
  options.Value("source", '\0', "FILE",
                "a source whose markers --rbac and --webhooks read too; may be given several times");
  options.Value("depfile", '\0', "FILE", "writes a make rule with all headers that were read");
  options.Value("depfile-target", '\0', "PATH", "the target of that rule; default: the depfile itself");
  options.Flag("check", '\0', "writes nothing; exit code 1, and a list, if a run would change something");
  options.Flag("force", 'f', "overwrites files that were edited by hand");
  options.Flag("verbose", 'v', "shows notes too");
  options.Flag("version", '\0', "shows the version");
  options.Note("Nothing is written if a header has an error.");
  options.Example("kgen-crd --flag=-Iinclude --crds crds api/shop_v1.h");
  options.Example("kgen-crd --crds crds --out generated --namespace acme api/shop_v1.h");
  options.Example("kgen-crd --check --crds crds api/shop_v1.h");
  return options;
}

struct Settings {
  HeaderOptions headers;
  SchemaOptions schema;
  std::vector<UsedApi> uses = {};
  emit::EmitOptions emit;
  std::optional<WebhookService> webhooks = {};
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end != at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Returns what is wrong with the options of webhooks, or nothing.
std::string ReadServices(const ParsedOptions& parsed, Settings& out) {
  for (const char* option : {"webhooks", "conversion"}) {
    if (!parsed.Has(option)) continue;
    auto service = ParseWebhookService(parsed.Value(option));
    if (!service) return "--" + std::string(option) + ": " + service.error();
    (std::string_view(option) == "webhooks" ? out.webhooks : out.schema.conversion) = std::move(*service);
  }
  if (parsed.Has("webhook-selector") && !out.webhooks) return "--webhook-selector is for the Service of --webhooks";
  for (const std::string& label : parsed.Values("webhook-selector")) {
    const std::size_t equals = label.find('=');
    if (equals == 0 || equals == std::string::npos)
      return "--webhook-selector needs a label and its value, as in app=shop, got " + Quote(label);
    out.webhooks->selector[label.substr(0, equals)] = label.substr(equals + 1);
  }
  if (out.webhooks && out.webhooks->selector.empty())
    out.webhooks->selector["app.kubernetes.io/name"] = out.webhooks->name;
  // No CRD is written then, so none is warned of for want of a conversion, and any Service will do.
  if (!out.schema.conversion && (out.webhooks || parsed.Has("rbac")))
    out.schema.conversion = WebhookService{.name_space = "any", .name = "any"};
  return {};
}

std::expected<Settings, std::string> ReadSettings(const ParsedOptions& parsed) {
  Settings out;
  if (parsed.positional().empty()) return std::unexpected("no input; pass headers");
  if (parsed.Has("out") != parsed.Has("namespace"))
    return std::unexpected("--out and --namespace belong together: the folder and the namespace of the generated code");
  out.emit.name_space = parsed.Value("namespace");
  if (parsed.Has("namespace") && !emit::IsNamespace(out.emit.name_space))
    return std::unexpected("--namespace needs lower-case identifiers such as acme or acme::shop, got " +
                           Quote(out.emit.name_space));
  auto naming = emit::ParseGroupNaming(parsed.Values("group-names"));
  if (!naming) return std::unexpected(naming.error());
  out.emit.group_naming = std::move(*naming);
  if (parsed.Has("flags")) {
    const auto text = ReadFile(parsed.Value("flags"));
    if (!text) return std::unexpected("cannot read the file of --flags: " + text.error());
    out.headers.flags = Lines(*text);
  }
  for (std::string& flag : parsed.Values("flag")) out.headers.flags.push_back(std::move(flag));
  out.headers.headers = parsed.positional();
  out.headers.sources = parsed.Values("source");
  if (parsed.Has("source") && !parsed.Has("rbac") && !parsed.Has("webhooks"))
    return std::unexpected("--source is for --rbac and --webhooks: only their markers are read");
  out.headers.root = parsed.Value("root", ".");
  auto uses = ParseUses(parsed.Values("use"), parsed.Values("use-group-names"));
  if (!uses) return std::unexpected(uses.error());
  out.uses = std::move(*uses);
  for (const UsedApi& use : out.uses) out.headers.uses.push_back(use.name_space);
  out.schema.embedded_metadata = parsed.Has("embedded-metadata");
  out.headers.resource_dir = parsed.Value("resource-dir");
  if (auto error = ReadServices(parsed, out); !error.empty()) return std::unexpected(error);
  if (parsed.Has("namespace"))
    out.headers.generated = out.emit.name_space.substr(0, out.emit.name_space.find(':')) + "/";
  if (parsed.Has("max-description")) {
    const std::string text = parsed.Value("max-description");
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), out.schema.max_description.emplace());
    if (error != std::errc() || end != text.data() + text.size())
      return std::unexpected("--max-description needs a number, got " + Quote(text));
  }
  return out;
}

// What kgen generate reads in the CRDs, with its warnings. Lines of text that was never read would mean nothing.
model::Api LoadCrds(const std::vector<Crd>& crds, Diagnostics& diagnostics) {
  model::Draft draft;
  for (const Crd& crd : crds) {
    const parse::Context context{
        .diagnostics = diagnostics, .file = diagnostics.AddFile("generated " + crd.file), .has_lines = false};
    const DocumentPath root{};
    parse::ParseCrd(parse::MapReader(context, crd.tree->documents()[0], root), "apiextensions.k8s.io/v1", draft);
    ++draft.documents;
  }
  return model::Resolve(std::move(draft), diagnostics, {});
}

// The C++ for the CRDs, as kgen generate would make it, but with the structs of the headers.
emit::Files MakeCode(const model::Api& api, std::vector<emit::OwnTypes> own, Settings& settings,
                     Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) return {};
  settings.emit.own = std::move(own);
  return emit::Emit(api, settings.emit, diagnostics);
}

// Writes the files of a set, or says what a run would change.
int WriteFiles(const emit::Files& files, const std::string& folder, const std::string& set, const std::string& settings,
               const ParsedOptions& parsed, const Streams& streams) {
  const bool check = parsed.Has("check");
  const emit::OutputResult result = emit::WriteOutput(
      files, {.folder = folder, .set = set, .settings = settings, .force = parsed.Has("force"), .write = !check});
  for (const std::string& warning : result.warnings) streams.err << "kgen-crd: warning: " << warning << "\n";
  for (const std::string& error : result.errors) streams.err << "kgen-crd: error: " << error << "\n";
  if (!result.errors.empty()) return commands::kCannotWrite;
  if (!check) return commands::kFine;
  for (const std::string& path : result.written) streams.err << "write  " << folder << "/" << path << "\n";
  for (const std::string& path : result.removed) streams.err << "remove " << folder << "/" << path << "\n";
  return result.written.empty() && result.removed.empty() ? commands::kFine : commands::kBadInput;
}

// The CRDs of a run have a manifest of their own: without a namespace, it is called by their groups.
int WriteCrds(const std::vector<Crd>& crds, const std::vector<KindOf>& kinds, const Settings& settings,
              const ParsedOptions& parsed, const Streams& streams) {
  std::set<std::string> groups;
  for (const KindOf& kind : kinds) groups.insert(kind.group);
  std::string set = settings.emit.name_space;
  for (const std::string& group : groups) {
    if (!parsed.Has("namespace")) set += (set.empty() ? "" : "_") + group;
  }
  if (set.size() > 100) set = emit::Hash(set);  // names of files end at 255 bytes
  std::replace(set.begin(), set.end(), ':', '.');
  emit::Files files;
  for (const Crd& crd : crds) files[crd.file] = crd.yaml;
  return WriteFiles(files, parsed.Value("crds"), "crds-" + set, "CRDs", parsed, streams);
}

int WriteCode(const emit::Files& files, const Settings& settings, const ParsedOptions& parsed, const Streams& streams) {
  std::string set = settings.emit.name_space;
  for (std::size_t at = set.find("::"); at != std::string::npos; at = set.find("::")) set.replace(at, 2, ".");
  return WriteFiles(files, parsed.Value("out"), set, "--namespace " + settings.emit.name_space, parsed, streams);
}

int WriteDepfile(const std::vector<std::string>& files, const ParsedOptions& parsed, const Streams& streams) {
  if (!parsed.Has("depfile")) return commands::kFine;
  const std::string depfile = parsed.Value("depfile");
  if (parsed.Has("check")) return commands::CheckLeftover(depfile, streams);
  std::string error;
  if (commands::WriteWhenChanged(depfile, commands::Depfile(parsed.Value("depfile-target", depfile), files), error))
    return commands::kFine;
  streams.err << "kgen-crd: " << error << "\n";
  return commands::kCannotWrite;
}

int Make(const ParsedOptions& parsed, Settings& settings, const Streams& streams) {
  Diagnostics diagnostics("kgen-crd");
  Description description = ReadHeaders(settings.headers, diagnostics);
  // A schema without the members that were refused would be reported as faulty too.
  const bool complete = !diagnostics.has_errors();
  ReadMarkers(description, diagnostics);
  const bool documented = std::any_of(description.structs.begin(), description.structs.end(),
                                      [](const auto& named) { return named.second.documented; });
  UsedApis apis;
  if (documented) {
    apis = LoadUsedApis(settings.uses, description.files, diagnostics);
    settings.schema.apis = &apis;
  }
  const std::vector<KindOf> kinds = FindKinds(description, diagnostics);
  // Webhooks may be about kinds of others.
  if (kinds.empty() && !settings.webhooks && !diagnostics.has_errors()) {
    diagnostics.Error("no-kind", {}, "no struct of the headers is a kind", {},
                      "write above one of them, for example: // +kgen:resource:group=shop.example.com,version=v1");
  }
  const bool hub = std::any_of(kinds.begin(), kinds.end(), [](const KindOf& kind) {
    return FindMarker(kind.described->markers, "hub") != nullptr;
  });
  if (parsed.Has("conversion") && !hub && !diagnostics.has_errors()) {
    diagnostics.Error("resource", {}, "--conversion has no effect, since no version of a kind has +kgen:hub", {},
                      "write the marker above the version that all others are converted to and from");
  }
  std::vector<Crd> crds;
  if (complete) crds = MakeCrds(description, kinds, settings.schema, diagnostics);
  std::vector<emit::OwnTypes> own;
  if (parsed.Has("out")) own = MakeOwnTypes(description, kinds, diagnostics);
  model::Api api;
  if (!diagnostics.has_errors() && !crds.empty()) api = LoadCrds(crds, diagnostics);
  emit::Files code;
  if (parsed.Has("out")) code = MakeCode(api, std::move(own), settings, diagnostics);
  std::string printed;
  if (parsed.Has("rbac")) printed = MakeRoles(description.rules, parsed.Value("rbac"));
  if (settings.webhooks)
    printed += (printed.empty() ? "" : "---\n") + MakeWebhooks(description, *settings.webhooks, diagnostics);
  if (const int result = commands::Report(diagnostics, streams, parsed.Has("verbose")); result != commands::kFine)
    return result;
  if (parsed.Has("rbac") || settings.webhooks) {
    streams.out << printed;
    return commands::kFine;
  }
  if (!parsed.Has("crds") && !parsed.Has("out")) {
    for (const Crd& crd : crds) streams.out << "---\n" << crd.yaml;
    return commands::kFine;
  }
  int result = parsed.Has("crds") ? WriteCrds(crds, kinds, settings, parsed, streams) : commands::kFine;
  if (parsed.Has("out")) result = std::max(result, WriteCode(code, settings, parsed, streams));
  return result != commands::kFine ? result : WriteDepfile(description.files, parsed, streams);
}

int Run(const std::vector<std::string>& arguments, const Streams& streams) {
  const OptionSet set = Options();
  const auto parsed = set.Parse(arguments);
  const auto usage = [&](const std::string& message) {
    streams.err << "kgen-crd: " << message << "\n`kgen-crd --help` shows the usage.\n";
    return commands::kBadUsage;
  };
  if (!parsed) return usage(parsed.error());
  if (parsed->Has("help")) {
    streams.out << set.Help();
    return commands::kFine;
  }
  if (parsed->Has("version")) {
    streams.out << "kgen-crd " << KGEN_VERSION << "\n";
    return commands::kFine;
  }
  auto settings = ReadSettings(*parsed);
  if (!settings) return usage(settings.error());
  return Make(*parsed, *settings, streams);
}

}  // namespace

int RunKgenCrd(const std::vector<std::string>& arguments, const Streams& streams) {
  try {
    return Run(arguments, streams);
  } catch (const std::exception& error) {
    streams.err << "kgen-crd: internal error; please report it with the header (" << Quote(error.what()) << ")\n";
    return commands::kInternalError;
  }
}

}  // namespace kgen::generator::crd
