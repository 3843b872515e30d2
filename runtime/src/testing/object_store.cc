// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/object_store.h"

#include "core/json/json_depth.h"

namespace kgen::testing {
namespace {

constexpr std::size_t kMostStoredLevels = 2000;

using nlohmann::json;

const json& MetadataOf(const json& value) {
  static const json& none = *new json(json::object());
  if (!value.is_object()) return none;
  const auto found = value.find("metadata");
  return found != value.end() && found->is_object() ? *found : none;
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Map<String> LabelsOf(const json& value) {
  Map<String> labels;
  const json& metadata = MetadataOf(value);
  const auto found = metadata.find("labels");
  if (found == metadata.end() || !found->is_object()) return labels;
  for (const auto& [key, label] : found->items()) {
    if (label.is_string()) labels[key] = std::string_view(label.get_ref<const std::string&>());
  }
  return labels;
}

}  // namespace

Resource& ObjectStore::AddResource(ResourceInfo info) {
  auto& slot = resources_[{info.group, info.plural}];
  if (!slot) slot = std::make_unique<Resource>();
  slot->versions = {info.version};
  slot->info = std::move(info);
  return *slot;
}

void ObjectStore::RemoveResource(std::string_view group, std::string_view plural) {
  resources_.erase({std::string(group), std::string(plural)});
}

Resource* ObjectStore::Find(std::string_view group, std::string_view plural) {
  const auto found = resources_.find({std::string(group), std::string(plural)});
  return found != resources_.end() ? found->second.get() : nullptr;
}

const Resource* ObjectStore::FindPlural(std::string_view plural) const {
  for (const auto& [key, resource] : resources_) {
    if (key.second == plural) return resource.get();
  }
  return nullptr;
}

ObjectRef ObjectStore::Get(const Resource& resource, std::string_view namespace_, std::string_view name) const {
  const auto found = resource.objects.find({std::string(namespace_), std::string(name)});
  return found != resource.objects.end() ? found->second : ObjectRef();
}

ObjectRef ObjectStore::Make(std::string_view namespace_, std::string_view name, json value, std::string bytes) const {
  auto object = MakeShared<StoredObject>();
  object->namespace_ = namespace_;
  object->name = name;
  object->resource_version = version_;
  object->labels = LabelsOf(value);
  object->value = std::move(value);
  object->bytes = std::move(bytes);
  return object;
}

ObjectRef ObjectStore::Put(Resource& resource, json value) {
  ++version_;
  value["metadata"]["resourceVersion"] = std::to_string(version_);
  const std::string namespace_ = TextOf(value["metadata"], "namespace"), name = TextOf(value["metadata"], "name");
  std::string bytes = value.dump();
  const ObjectRef now = Make(namespace_, name, std::move(value), std::move(bytes));
  ObjectRef& slot = resource.objects[{namespace_, name}];
  Record(resource, {.resource_version = version_, .before = std::exchange(slot, now), .now = now, .last = {}});
  return now;
}

ObjectRef ObjectStore::PutBytes(Resource& resource, std::string_view namespace_, std::string_view name,
                                std::string bytes) {
  ++version_;
  // Tests store objects that nest too deep for decoders.
  json value = ParseJson(bytes, kMostStoredLevels);
  const ObjectRef now = Make(namespace_, name, std::move(value), std::move(bytes));
  ObjectRef& slot = resource.objects[{std::string(namespace_), std::string(name)}];
  Record(resource, {.resource_version = version_, .before = std::exchange(slot, now), .now = now, .last = {}});
  return now;
}

ObjectRef ObjectStore::Remove(Resource& resource, const ObjectRef& object) {
  ++version_;
  json value = object->value;
  std::string bytes = object->bytes;
  if (value.is_object()) {
    value["metadata"]["resourceVersion"] = std::to_string(version_);
    bytes = value.dump();
  }
  const ObjectRef last = Make(object->namespace_, object->name, std::move(value), std::move(bytes));
  resource.objects.erase({object->namespace_, object->name});
  Record(resource, {.resource_version = version_, .before = object, .now = {}, .last = last});
  return last;
}

void ObjectStore::Record(Resource& resource, StoreEvent event) {
  resource.history.push_back(std::move(event));
  if (on_event) on_event(resource, resource.history.back());
  if (resource.history.size() > history_) {
    resource.compacted = resource.history.front().resource_version;
    resource.history.pop_front();
  }
}

std::vector<ObjectRef> ObjectStore::List(const Resource& resource, std::string_view namespace_,
                                         std::uint64_t at) const {
  std::map<std::pair<std::string, std::string>, ObjectRef>
      undone;  // the state at that version of keys that have changed since
  for (auto event = resource.history.rbegin(); event != resource.history.rend() && event->resource_version > at;
       ++event) {
    const ObjectRef& object = event->now ? event->now : event->before;
    undone[{object->namespace_, object->name}] = event->before;
  }
  std::map<std::pair<std::string, std::string>, ObjectRef> merged;
  const auto* all = &resource.objects;
  if (!undone.empty()) {
    merged = resource.objects;
    for (auto& [key, object] : undone) {
      if (object) {
        merged[key] = object;
      } else {
        merged.erase(key);
      }
    }
    all = &merged;
  }
  std::vector<ObjectRef> list;
  for (const auto& [key, object] : *all) {
    if (namespace_.empty() || key.first == namespace_) list.push_back(object);
  }
  return list;
}

void ObjectStore::Compact() {
  for (auto& [key, resource] : resources_) {
    resource->history.clear();
    resource->compacted = version_;
  }
}

ObjectStore::Copy ObjectStore::MakeCopy() const {
  Copy copy;
  copy.version = version_;
  for (const auto& [key, resource] : resources_) copy.objects[key] = resource->objects;
  return copy;
}

void ObjectStore::Restore(const Copy& copy) {
  version_ = copy.version;
  for (auto& [key, resource] : resources_) {
    const auto found = copy.objects.find(key);
    resource->objects = found != copy.objects.end() ? found->second : decltype(resource->objects)();
  }
  Compact();
}

json ParseJson(std::string_view text, std::size_t levels) {
  if (detail::NestsTooDeep(text, levels)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace kgen::testing
