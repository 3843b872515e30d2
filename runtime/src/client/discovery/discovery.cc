// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/discovery.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/request/url_encoding.h"
#include "core/out_of_memory.h"

namespace kgen {
namespace {

using nlohmann::json;

constexpr char kAccept[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";
constexpr char kJson[] = "application/json";
// A resource takes about 400 bytes of a response.
constexpr std::uint64_t kMaxAnswer = std::uint64_t{64} << 20;

// Members of the wrong type read as absent: one broken group must not hide the others.
std::string Text(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json& Child(const json& object, const char* name) {
  static const json& null = *new json();
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() ? *found : null;
}

std::vector<std::string> Texts(const json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const json& text : list) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::string PathOf(const std::string& group, const std::string& version) {
  return (group.empty() ? "/api/" : "/apis/" + client::EscapeSegment(group) + '/') + client::EscapeSegment(version);
}

class Discovery {
 public:
  Discovery(const Connection& connection, std::optional<Nanos> timeout) : connection_(connection), timeout_(timeout) {}

  Result<ServerApi> Run() {
    Result<json> core = Get("/api", kAccept);
    if (!core && core.error().code() != Code::kNotFound) return Fail(std::move(core).error());
    Result<json> groups = Get("/apis", kAccept);
    if (!groups) return Fail(std::move(groups).error());
    if (core && !Read(*core)) return Fail(Unexpected("/api"));
    if (!Read(*groups)) return Fail(Unexpected("/apis"));
    if (ended_) return Fail(*std::move(ended_));
    return std::move(api_);
  }

 private:
  // An old server refuses to send the aggregated form, or sends the old one.
  Result<json> Get(const std::string& path, const char* accept) const {
    ApiRequest request{.path = path, .what = "discover " + path};
    request.timeout = timeout_;
    request.max_answer_bytes = kMaxAnswer;
    request.json = true;
    request.accept = accept;
    Result<ApiResponse> response = connection_.Call(std::move(request));
    if (!response && response.error().code() == Code::kUnsupportedMedia && accept != kJson) return Get(path, kJson);
    if (!response) return Fail(std::move(response).error());
    json document = json::parse(response->body, nullptr, false);
    if (!document.is_object()) return Fail(Unexpected(path));
    return document;
  }

  static Error Unexpected(const std::string& path) {
    return Error(Code::kDecode, "the response is not a list of API groups, versions or resources")
        .With("discover " + path);
  }

  bool Read(const json& document) {
    const std::string kind = Text(document, "kind");
    if (kind == "APIGroupDiscoveryList") return ReadAggregated(Child(document, "items"));
    if (kind == "APIVersions") return ReadVersions(Child(document, "versions"));
    return kind == "APIGroupList" && ReadGroups(Child(document, "groups"));
  }

  bool ReadAggregated(const json& groups) {
    if (!groups.is_array() && !groups.is_null()) return false;
    for (const json& group : groups) {
      const std::string name = Text(Child(group, "metadata"), "name");
      for (const json& version : Child(group, "versions")) {
        const std::string number = Text(version, "version");
        if (Text(version, "freshness") == "Stale") {
          AddFailure(name, number, Error(Code::kUnavailable, "the server's last attempt to read this version failed"));
        }
        for (const json& resource : Child(version, "resources")) AddAggregated(name, number, resource);
      }
    }
    return true;
  }

  void AddAggregated(const std::string& group, const std::string& version, const json& from) {
    ApiResource resource;
    const json& kind = Child(from, "responseKind");
    resource.resource = {group, version, Text(from, "resource")};
    resource.kind = {Text(kind, "group"), Text(kind, "version"), Text(kind, "kind")};
    if (resource.kind.version.empty()) resource.kind = {group, version, resource.kind.kind};
    resource.singular = Text(from, "singularResource");
    resource.scope = Text(from, "scope") == "Namespaced" ? Scope::kNamespaced : Scope::kCluster;
    resource.verbs = Texts(Child(from, "verbs"));
    resource.short_names = Texts(Child(from, "shortNames"));
    resource.categories = Texts(Child(from, "categories"));
    for (const json& sub : Child(from, "subresources")) resource.subresources.push_back(Text(sub, "subresource"));
    Add(std::move(resource));
  }

  bool ReadVersions(const json& versions) {
    for (const std::string& version : Texts(versions)) ReadResources("", version);
    return true;
  }

  bool ReadGroups(const json& groups) {
    if (!groups.is_array() && !groups.is_null()) return false;
    for (const json& group : groups) {
      std::vector<std::string> versions;
      for (const json& version : Child(group, "versions")) versions.push_back(Text(version, "version"));
      const std::string preferred = Text(Child(group, "preferredVersion"), "version");
      if (const auto first = std::find(versions.begin(), versions.end(), preferred); first != versions.end()) {
        std::rotate(versions.begin(), first, first + 1);
      }
      for (const std::string& version : versions) ReadResources(Text(group, "name"), version);
    }
    return true;
  }

  // The old form: a document for each version.
  void ReadResources(const std::string& group, const std::string& version) {
    if (ended_) return;
    Result<json> document = Get(PathOf(group, version), kJson);
    if (document && !Child(*document, "resources").is_array()) document = Fail(Unexpected(PathOf(group, version)));
    if (!document && (document.error().code() == Code::kCancelled || document.error().not_connected())) {
      ended_ = std::move(document).error();  // the other requests would fail in the same way
      return;
    }
    if (!document) {
      AddFailure(group, version, std::move(document).error());
      return;
    }
    const std::size_t first = api_.resources.size();
    std::vector<std::string> subresources;
    for (const json& from : Child(*document, "resources")) {
      const std::string name = Text(from, "name");
      if (name.find('/') != std::string::npos) {
        subresources.push_back(name);
        continue;
      }
      ApiResource resource;
      const bool other = !Text(from, "version").empty();
      resource.kind = {other ? Text(from, "group") : group, other ? Text(from, "version") : version,
                       Text(from, "kind")};
      resource.resource = {group, version, name};
      resource.singular = Text(from, "singularName");
      const json& namespaced = Child(from, "namespaced");
      resource.scope = namespaced.is_boolean() && namespaced.get<bool>() ? Scope::kNamespaced : Scope::kCluster;
      resource.verbs = Texts(Child(from, "verbs"));
      resource.short_names = Texts(Child(from, "shortNames"));
      resource.categories = Texts(Child(from, "categories"));
      Add(std::move(resource));
    }
    for (const std::string& name : subresources) {
      const std::size_t slash = name.find('/');
      for (std::size_t i = first; i < api_.resources.size(); ++i) {
        ApiResource& resource = api_.resources[i];
        if (resource.resource.resource == name.substr(0, slash))
          resource.subresources.push_back(name.substr(slash + 1));
      }
    }
  }

  void AddFailure(const std::string& group, const std::string& version, Error error) {
    api_.failures.push_back({group, version, std::move(error), api_.resources.size()});
  }

  // A resource without a kind cannot be used.
  void Add(ApiResource resource) {
    if (!resource.resource.resource.empty() && !resource.kind.kind.empty()) {
      api_.resources.push_back(std::move(resource));
    }
  }

  const Connection& connection_;
  const std::optional<Nanos> timeout_;
  ServerApi api_;
  std::optional<Error> ended_;  // why further requests are pointless
};

}  // namespace

Result<ServerApi> Discover(const Connection& connection, std::optional<Nanos> timeout) {
  try {
    return Discovery(connection, timeout).Run();
  } catch (const std::bad_alloc&) {
    return Fail(detail::OutOfMemory("discover the server's API"));
  }
}

}  // namespace kgen
