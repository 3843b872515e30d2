// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The objects of the in-memory API server, with one counter of resource versions over all of them and the history that
// watches and old lists are answered from: what etcd is to a real one.
#ifndef KGEN_SRC_TESTING_OBJECT_STORE_H_
#define KGEN_SRC_TESTING_OBJECT_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_depth.h"
#include "kgen/core/map.h"
#include "kgen/core/object_key.h"
#include "kgen/core/shared.h"
#include "kgen/core/string.h"
#include "kgen/testing/cluster.h"

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
  ObjectRef last;    // of a deletion: the object as it went, with the version of the deletion
};

// Where the scale subresource finds its numbers: dotted paths ("spec.replicas"), "" for none.
struct ScalePaths {
  std::string replicas, status_replicas, selector;
};

// A subresource of a built-in resource, but status and scale: the kind of its body, and its verbs.
struct SubresourceInfo {
  std::string group, version, kind;
  std::vector<std::string> verbs;  // sorted
};

// A resource, in all of its versions: they share their objects.
struct Resource {
  ResourceInfo info;                                                  // of the version that objects are stored in
  std::vector<std::string> versions;                                  // served
  std::map<std::string, nlohmann::json> schemas;                      // by version; of CRDs
  std::map<std::string, std::vector<std::string>> selectable_fields;  // by version; of CRDs, as dotted paths
  bool custom = false;
  std::map<std::string, ScalePaths> scales;             // by version; of what has a scale subresource
  std::map<std::string, SubresourceInfo> subresources;  // by name
  std::map<std::pair<std::string, std::string>, ObjectRef> objects;
  std::deque<StoreEvent> history;
  std::uint64_t compacted = 0;  // the newest version that is not in the history any more
};

// Not thread safe: ApiServer guards it.
class ObjectStore {
 public:
  explicit ObjectStore(std::size_t history) : history_(history) {}

  Resource& AddResource(ResourceInfo info);
  void RemoveResource(std::string_view group, std::string_view plural);
  Resource* Find(std::string_view group, std::string_view plural);
  // The first of that name in any group; null if there is none.
  const Resource* FindPlural(std::string_view plural) const;
  const std::map<std::pair<std::string, std::string>, std::unique_ptr<Resource>>& resources() const {
    return resources_;
  }

  ObjectRef Get(const Resource& resource, std::string_view namespace_, std::string_view name) const;
  // Stores a version: writes the next resource version into it, and tells `on_event`.
  ObjectRef Put(Resource& resource, nlohmann::json value);
  // Stores bytes as they are. The event carries them.
  ObjectRef PutBytes(Resource& resource, std::string_view namespace_, std::string_view name, std::string bytes);
  // The object as it went, with the resource version of the deletion.
  ObjectRef Remove(Resource& resource, const ObjectRef& object);

  // All objects of a namespace ("": of all), by key, as they were at that version (which must be later than
  // resource.compacted).
  std::vector<ObjectRef> List(const Resource& resource, std::string_view namespace_, std::uint64_t at) const;

  void Compact();
  // A copy of objects and version, and back to it: resources stay, the history is gone, and versions go on from there.
  struct Copy {
    std::map<std::pair<std::string, std::string>, std::map<std::pair<std::string, std::string>, ObjectRef>> objects;
    std::uint64_t version = 1;
  };
  Copy MakeCopy() const;
  void Restore(const Copy& copy);
  std::uint64_t resource_version() const noexcept { return version_; }

  // After every write.
  std::function<void(const Resource&, const StoreEvent&)> on_event;

 private:
  ObjectRef Make(std::string_view namespace_, std::string_view name, nlohmann::json value, std::string bytes) const;
  void Record(Resource& resource, StoreEvent event);

  const std::size_t history_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Resource>> resources_;  // by group and plural
  std::uint64_t version_ = 1;  // a real server never starts at 0 either: there it means "any"
};

// Discarded where the text is not JSON, or nests deeper than that, since some code recurses over it.
nlohmann::json ParseJson(std::string_view text, std::size_t levels = detail::kMaxJsonDepth);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_OBJECT_STORE_H_
