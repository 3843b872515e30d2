// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ObjectKey, GroupVersion, GroupVersionKind and GroupVersionResource: the names of objects, kinds and resources.
#ifndef KGEN_CORE_OBJECT_KEY_H_
#define KGEN_CORE_OBJECT_KEY_H_

#include <compare>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/core/result.h"
#include "kgen/core/string.h"

namespace kgen {

// The namespace and name of an object; the namespace is empty for cluster-scoped objects. It is the key of every store.
// The UID is not part of it.
//
//   ObjectKey::Namespaced("default", "web-0"), or {"default", "web-0"}
//   ObjectKey::ClusterWide("node-1")                       {"node-1"} does not compile
struct ObjectKey {
  String namespace_{};  // "" for cluster-scoped objects
  String name{};

  ObjectKey() noexcept = default;
  // Make the key of an object in a namespace, and of a cluster-scoped object.
  ObjectKey(String of_namespace, String of_name) noexcept
      : namespace_(std::move(of_namespace)), name(std::move(of_name)) {}
  static ObjectKey Namespaced(String of_namespace, String of_name) noexcept {
    return ObjectKey(std::move(of_namespace), std::move(of_name));
  }
  static ObjectKey ClusterWide(String of_name) noexcept { return ObjectKey(String(), std::move(of_name)); }

  // Returns "namespace/name", or "name".
  std::string str() const;
  // Parses what str() returns. Errors: kInvalidArgument for more than one '/'.
  static Result<ObjectKey> Parse(std::string_view text);

  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
  friend std::strong_ordering operator<=>(const ObjectKey& a, const ObjectKey& b) noexcept {
    if (auto order = a.namespace_ <=> b.namespace_; order != 0) return order;
    return a.name <=> b.name;
  }
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, const ObjectKey& key) {
    if (!key.namespace_.empty()) os << key.namespace_ << '/';
    return os << key.name;
  }
};

// A group of the API and one of its versions.
struct GroupVersion {
  String group{};  // "" for the core group
  String version{};
  std::string str() const;  // "apps/v1", "v1": as in apiVersion
  // Parses what str() returns. Errors: kInvalidArgument.
  static Result<GroupVersion> Parse(std::string_view api_version);
  friend bool operator==(const GroupVersion&, const GroupVersion&) = default;
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, const GroupVersion& names) {
    return os << names.str();
  }
};

// Names a kind, as apiVersion and kind of an object do.
struct GroupVersionKind {
  String group{};           // "apps"; "" for the core group
  String version{};         // "v1"
  String kind{};            // "Deployment"
  std::string str() const;  // "apps/v1, Kind=Deployment"
  friend bool operator==(const GroupVersionKind&, const GroupVersionKind&) = default;
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os,
                                                      const GroupVersionKind& names) {
    return os << names.str();
  }
};

// Names a resource, as a URL does.
struct GroupVersionResource {
  String group{};           // "apps"; "" for the core group
  String version{};         // "v1"
  String resource{};        // the plural, as in URLs
  std::string str() const;  // "deployments.v1.apps", "pods.v1"
  friend bool operator==(const GroupVersionResource&, const GroupVersionResource&) = default;
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os,
                                                      const GroupVersionResource& names) {
    return os << names.str();
  }
};

}  // namespace kgen

template <>
struct std::hash<kgen::ObjectKey> {
  std::size_t operator()(const kgen::ObjectKey& key) const noexcept {
    const std::size_t h = std::hash<std::string_view>()(key.namespace_);
    return h * 1099511628211u ^ std::hash<std::string_view>()(key.name);
  }
};

#endif  // KGEN_CORE_OBJECT_KEY_H_
