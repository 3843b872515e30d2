// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/kind_lookup.h"

#include <utility>

#include "client/text.h"
#include "kgen/codec/yaml.h"

namespace kgen::client {
namespace {

std::string_view TextAt(const yaml::Node& map, std::string_view key) {
  const yaml::Node* value = map.Find(key);
  return value != nullptr && value->is_string() ? value->text() : std::string_view();
}

}  // namespace

const KindInfo* KindLookup::FindKnown(const GroupVersionKind& kind) const noexcept {
  for (const Known& known : known_) {
    if (known.kind == kind) return &known.info;
  }
  return nullptr;
}

Result<const KindInfo*> KindLookup::Find(const GroupVersionKind& kind) {
  if (const KindInfo* known = FindKnown(kind); known != nullptr) return known;
  if (Result<void> loaded = Load(kind); !loaded) return Fail(std::move(loaded).error());
  if (const KindInfo* known = FindKnown(kind); known != nullptr) return known;
  return Fail(Code::kNotFound, "the server has no kind " + kind.kind.str() + " in " +
                                   GroupVersion{kind.group, kind.version}.str() +
                                   "; install its CRD first and wait until it is served");
}

Result<void> KindLookup::Load(const GroupVersionKind& kind) {
  const std::string group_version = GroupVersion{kind.group, kind.version}.str();
  ApiRequest request;
  request.path = kind.group.empty() ? "/api/" : "/apis/" + EscapeSegment(kind.group) + '/';
  request.path += EscapeSegment(kind.version);
  request.what = "look up the resources of " + group_version;
  request.timeout = timeout_;
  request.json = true;
  const Result<ApiResponse> response = connection_.Call(std::move(request));
  if (!response) {
    if (response.error().code() != Code::kNotFound) return Fail(response.error());
    return Fail(Code::kNotFound, "the server does not serve " + group_version + ", the apiVersion of kind " +
                                     kind.kind.str() + "; install its CRD first and wait until it is served");
  }
  const auto stream = yaml::Parse(response->body);
  const yaml::Node* resources =
      stream && !stream->documents().empty() ? stream->documents()[0].Find("resources") : nullptr;
  if (resources == nullptr || !resources->is_list()) {
    return Fail(Code::kDecode,
                "look up the resources of " + group_version + ": the response is not an APIResourceList");
  }
  for (const yaml::Node& resource : resources->items()) {
    const std::string_view name = TextAt(resource, "name");
    if (name.empty() || name.find('/') != std::string_view::npos) continue;  // a subresource
    Known& known = known_.emplace_back();
    known.kind = {.group = kind.group, .version = kind.version, .kind = TextAt(resource, "kind")};
    known.resource = name;
    known.info.group = known.kind.group;
    known.info.version = known.kind.version;
    known.info.kind = known.kind.kind;
    known.info.resource = known.resource;
    const yaml::Node* namespaced = resource.Find("namespaced");
    known.info.scope = namespaced != nullptr && namespaced->as_bool() ? Scope::kNamespaced : Scope::kCluster;
  }
  return {};
}

}  // namespace kgen::client
