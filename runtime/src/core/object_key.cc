// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/object_key.h"

#include "core/quoted.h"

namespace kgen {
namespace {

using detail::Quoted;

}  // namespace

std::string ObjectKey::str() const { return namespace_.empty() ? name.str() : namespace_ + "/" + name.str(); }

Result<ObjectKey> ObjectKey::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return ClusterWide(text);
  if (text.find('/', slash + 1) != std::string_view::npos) {
    return Fail(Code::kInvalidArgument, "unexpected key format: " + Quoted(text) + " has more than one '/'");
  }
  return Namespaced(text.substr(0, slash), text.substr(slash + 1));
}

std::string GroupVersion::str() const { return group.empty() ? version.str() : group + "/" + version.str(); }

Result<GroupVersion> GroupVersion::Parse(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return GroupVersion{.version = api_version};
  if (api_version.find('/', slash + 1) != std::string_view::npos) {
    return Fail(Code::kInvalidArgument, "unexpected apiVersion: " + Quoted(api_version) + " has more than one '/'");
  }
  return GroupVersion{.group = api_version.substr(0, slash), .version = api_version.substr(slash + 1)};
}

std::string GroupVersionKind::str() const { return GroupVersion{group, version}.str() + ", Kind=" + kind.str(); }

std::string GroupVersionResource::str() const {
  std::string text = resource + "." + version.str();
  if (!group.empty()) text.append(".").append(group.view());
  return text;
}

}  // namespace kgen
