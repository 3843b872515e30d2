// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The objects of the in-memory API server, a resource version counter shared by all of them, and the history that
// serves watches and lists at older versions. It takes the place of etcd.
#ifndef KGEN_SRC_TESTING_OBJECT_STORE_H_
#define KGEN_SRC_TESTING_OBJECT_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/json_depth.h"
#include "kgen/core/map.h"
#include "kgen/core/object_key.h"
#include "kgen/core/shared.h"
#include "kgen/core/string.h"
#include "kgen/testing/cluster.h"

namespace kgen::validation {
class CompiledSchema;
}

namespace kgen::testing {

// One version of one object. Immutable.
struct StoredObject : SharedObject {
  std::string namespace_, name;
  std::uint64_t resource_version = 0;
  nlohmann::json value;  // discarded if the bytes are not JSON (Cluster::Corrupt)
  std::string bytes;
  Map<String> labels;
};
using ObjectRef = Shared<const StoredObject>;

struct StoreEvent {
  std::uint64_t resource_version = 0;
  ObjectRef before;  // null: created
  ObjectRef now;     // null: deleted
  ObjectRef last;    // for a deletion: the final state of the object, with the version of the deletion
};

// The dotted paths of the members that the scale subresource uses, such as "spec.replicas"; "" if there is none.
struct ScalePaths {
  std::string replicas, status_replicas, selector;
};

// A subresource of a built-in resource other than status and scale: the kind of its body, and its verbs.
struct SubresourceInfo {
  std::string group, version, kind;
  std::vector<std::string> verbs;  // sorted
};

// The conversion webhook of a CRD.
struct ConversionHook {
  std::string crd;  // the name of the definition
  nlohmann::json client_config;
};

// A resource in all of its API versions, which share the objects.
struct Resource {
  ResourceInfo info;                                                        // of the storage version
  std::vector<std::string> versions;                                        // served
  std::map<std::string, Shared<const validation::CompiledSchema>> schemas;  // by version; of CRDs
  std::map<std::string, std::vector<std::string>> selectable_fields;        // by version; of CRDs, as dotted paths
  std::optional<ConversionHook> conversion;                                 // none: versions differ in apiVersion alone
  bool custom = false;
  std::map<std::string, ScalePaths> scales;             // by version; only those with a scale subresource
  std::map<std::string, SubresourceInfo> subresources;  // by name
  std::map<std::pair<std::string, std::string>, ObjectRef> objects;
  std::deque<StoreEvent> history;
  std::uint64_t compacted = 0;  // the newest version that is no longer in the history
};

// Not thread safe: ApiServer guards it.
class ObjectStore {
 public:
  explicit ObjectStore(std::size_t history) : history_(history) {}

  Resource& AddResource(ResourceInfo info);
  void RemoveResource(std::string_view group, std::string_view plural);
  Resource* Find(std::string_view group, std::string_view plural);
  // Returns the first resource of that name in any group, or null.
  const Resource* FindPlural(std::string_view plural) const;
  const std::map<std::pair<std::string, std::string>, std::unique_ptr<Resource>>& resources() const {
    return resources_;
  }

  ObjectRef Get(const Resource& resource, std::string_view namespace_, std::string_view name) const;
  // Stores a new version of an object: sets the next resource version in it and calls `on_event`.
  ObjectRef Put(Resource& resource, nlohmann::json value);
  // Stores bytes unchanged; the event carries them too.
  ObjectRef PutBytes(Resource& resource, std::string_view namespace_, std::string_view name, std::string bytes);
  // Removes an object. Returns its final state, with the resource version of the deletion.
  ObjectRef Remove(Resource& resource, const ObjectRef& object);

  // Returns the objects of a namespace ("": of all namespaces), sorted by key, as they were at version `at`, which must
  // not be older than resource.compacted.
  std::vector<ObjectRef> List(const Resource& resource, std::string_view namespace_, std::uint64_t at) const;

  void Compact();
  // A copy of the objects and of the version counter. Restore() keeps the resources, drops the history, and continues
  // the versions from there.
  struct Copy {
    std::map<std::pair<std::string, std::string>, std::map<std::pair<std::string, std::string>, ObjectRef>> objects;
    std::uint64_t version = 1;
  };
  Copy MakeCopy() const;
  void Restore(const Copy& copy);
  std::uint64_t resource_version() const noexcept { return version_; }

  // Called after every write.
  std::function<void(const Resource&, const StoreEvent&)> on_event;

 private:
  ObjectRef Make(std::string_view namespace_, std::string_view name, nlohmann::json value, std::string bytes) const;
  void Record(Resource& resource, StoreEvent event);

  const std::size_t history_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Resource>> resources_;  // by group and plural
  std::uint64_t version_ = 1;  // a real server never starts at 0 either: there it means "any"
};

// Returns a discarded() value if the text is not JSON or nests more than `levels` deep: some code recurses over it.
nlohmann::json ParseJson(std::string_view text, std::size_t levels = detail::kMaxJsonDepth);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_OBJECT_STORE_H_
