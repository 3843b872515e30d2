// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/resolve_operations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "generator/document_path.h"
#include "generator/model/names.h"

namespace kgen::generator::model {
namespace {

// A parsed path: "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale".
struct ResourcePath {
  std::string group, version, plural, subresource;
  bool namespaced = false;  // goes through a namespace
  bool named = false;       // of one object
  bool trailing = false;    // a parameter follows the subresource: proxy/{path}
  bool watch = false;       // one of the deprecated /watch/ paths
};

bool IsParameter(std::string_view segment) { return segment.starts_with('{'); }

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    if (end != 0) out.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return out;
}

// Returns nothing for paths of another form.
std::optional<ResourcePath> ParsePath(std::string_view path) {
  std::vector<std::string_view> segments = Segments(path);
  ResourcePath out;
  std::size_t at = 0;
  if (segments.size() >= 3 && segments[0] == "api") {
    out.version = segments[1];
    at = 2;
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    out.group = segments[1];
    out.version = segments[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  if (segments[at] == "watch") {
    out.watch = true;
    ++at;
  }
  // namespaces/{namespace}/pods, but not namespaces/{name}/status.
  if (at + 2 < segments.size() && segments[at] == "namespaces" && segments[at + 1] == "{namespace}") {
    out.namespaced = true;
    at += 2;
  }
  if (at >= segments.size() || IsParameter(segments[at])) return std::nullopt;
  out.plural = segments[at++];
  out.named = at < segments.size() && IsParameter(segments[at]);
  if (out.named) ++at;
  if (at < segments.size() && !IsParameter(segments[at])) out.subresource = segments[at++];
  out.trailing = at < segments.size() && IsParameter(segments[at]);
  if (out.trailing) ++at;
  if (at != segments.size()) return std::nullopt;
  return out;
}

std::optional<Verb> VerbOf(std::string_view action) {
  static constexpr std::array<std::pair<std::string_view, Verb>, 10> kVerbs = {
      {{"get", Verb::kGet},
       {"list", Verb::kList},
       {"watch", Verb::kWatch},
       {"watchlist", Verb::kWatch},
       {"post", Verb::kCreate},
       {"put", Verb::kUpdate},
       {"patch", Verb::kPatch},
       {"delete", Verb::kDelete},
       {"deletecollection", Verb::kDeleteCollection},
       {"connect", Verb::kConnect}}};
  for (const auto& [name, verb] : kVerbs) {
    if (name == action) return verb;
  }
  return std::nullopt;
}

class Gatherer {
 public:
  Gatherer(const std::vector<const RawOperation*>& operations, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    for (const RawOperation* operation : operations) {
      const std::optional<ResourcePath> path = ParsePath(operation->path);
      if (path && path->watch) watch_paths_.insert({path->group, path->version});
    }
  }

  void Add(const RawOperation& operation) {
    const std::optional<ResourcePath> path = ParsePath(operation.path);
    const std::optional<Verb> verb = VerbOf(operation.action);
    if (!path || !verb || !Check(operation, *path)) return;
    Gathered& gathered = resources_[{path->group, path->version, path->plural}];
    Resource& resource = gathered.served.resource;
    if (resource.plural.empty()) {
      resource.plural = path->plural;
      resource.scope = Scope::kCluster;
      resource.origin = operation.origin;
    }
    if (path->namespaced) resource.scope = Scope::kNamespaced;
    if (!path->subresource.empty()) {
      // Clients send requests to RESOURCE/NAME/SUBRESOURCE only.
      const bool usual = path->named && !path->trailing;
      if (usual || *verb == Verb::kConnect) AddToSubresource(operation, *path, *verb, gathered);
      return;
    }
    resource.verbs.Add(*verb);
    // Full documents declare the `watch` parameter for every list, even of resources that cannot be watched
    // (componentstatuses); there the deprecated /watch/ paths decide. Facts and documents of CRDs have no such paths.
    const bool told_by_paths = watch_paths_.contains({path->group, path->version});
    if (operation.watchable && *verb == Verb::kList && !told_by_paths) resource.verbs.Add(Verb::kWatch);
    AddKind(operation, gathered);
  }

  std::vector<ServedResource> Take() {
    std::vector<ServedResource> out;
    for (auto& [key, gathered] : resources_) {
      if (!gathered.has_kind) {
        diagnostics_.Note(
            "operation-parent", gathered.served.resource.origin,
            "the resource " + Quote(gathered.served.resource.plural) + " has only subresources and is left out");
        continue;
      }
      for (auto& [name, subresource] : gathered.subresources) {
        gathered.served.resource.subresources.push_back(std::move(subresource));
      }
      out.push_back(std::move(gathered.served));
    }
    return out;
  }

 private:
  struct Gathered {
    ServedResource served;
    bool has_kind = false;
    std::map<std::string, Subresource> subresources;
  };

  bool Check(const RawOperation& operation, const ResourcePath& path) {
    const bool legal = (path.group.empty() || IsGroup(path.group)) && IsVersion(path.version) &&
                       IsResourceName(path.plural) && (path.subresource.empty() || IsResourceName(path.subresource)) &&
                       IsKind(operation.gvk.kind);
    if (!legal)
      diagnostics_.Error("illegal-name", operation.origin,
                         "a name in " + Quote(operation.path, 200) + " or its kind is not valid", PathOf(operation),
                         "lower-case letters, digits and dashes in paths, and a kind of letters, digits and dashes");
    return legal;
  }

  static std::string PathOf(const RawOperation& operation) {
    return DocumentPath().Key("paths").Key(operation.path).Text();
  }

  void AddKind(const RawOperation& operation, Gathered& gathered) {
    if (!gathered.has_kind) {
      gathered.has_kind = true;
      gathered.served.gvk = operation.gvk;
    } else if (!(gathered.served.gvk == operation.gvk)) {
      ReportKinds(operation, "resource", gathered.served.gvk);
    }
  }

  void ReportKinds(const RawOperation& operation, const std::string& what, const GroupVersionKind& others) {
    diagnostics_.Error("operation-kind", operation.origin,
                       Quote(operation.path, 200) + " serves " + Describe(operation.gvk) +
                           ", other operations of the " + what + " serve " + Describe(others),
                       PathOf(operation), "x-kubernetes-group-version-kind must be the same for all of them");
  }

  // The kind of `connect` names its options, which no client sends.
  void AddToSubresource(const RawOperation& operation, const ResourcePath& path, Verb verb, Gathered& gathered) {
    Subresource& subresource = gathered.subresources[path.subresource];
    Verbs connect;
    connect.Add(Verb::kConnect);
    const bool first = subresource.name.empty() || subresource.verbs == connect;
    subresource.name = path.subresource;
    if (first) {
      subresource.body_gvk = operation.gvk;
    } else if (verb != Verb::kConnect && !(subresource.body_gvk == operation.gvk)) {
      ReportKinds(operation, "subresource", subresource.body_gvk);
    }
    subresource.verbs.Add(verb);
    if (verb == Verb::kGet && operation.text) subresource.text = true;
  }

  Diagnostics& diagnostics_;
  std::set<std::pair<std::string, std::string>> watch_paths_;  // group versions that have /watch/ paths
  std::map<std::tuple<std::string, std::string, std::string>, Gathered> resources_;
};

}  // namespace

std::vector<ServedResource> GatherResources(const Draft& draft, Diagnostics& diagnostics) {
  // Sorted, so that the result does not depend on the order of files.
  std::vector<const RawOperation*> operations;
  operations.reserve(draft.operations.size());
  for (const RawOperation& operation : draft.operations) operations.push_back(&operation);
  std::sort(operations.begin(), operations.end(), [](const RawOperation* a, const RawOperation* b) {
    return std::tie(a->path, a->action, a->gvk) < std::tie(b->path, b->action, b->gvk);
  });
  Gatherer gatherer(operations, diagnostics);
  for (const RawOperation* operation : operations) gatherer.Add(*operation);
  return gatherer.Take();
}

}  // namespace kgen::generator::model
