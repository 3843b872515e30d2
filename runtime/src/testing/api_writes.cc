// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// create, update and delete: how the server checks and completes an object before it stores it. Patches are in
// api_patch.cc.
#include <algorithm>
#include <cstdio>

#include "core/dns_names.h"
#include "kgen/codec/yaml.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

bool SameButMetadata(json a, json b) {
  a.erase("metadata");
  b.erase("metadata");
  return a == b;
}

// Returns the first finalizer in `next` that is not in `before`, or null.
const json* NewFinalizer(const json& before, const json& next) {
  const json* now = FindPath(next, "metadata.finalizers");
  const json* old = FindPath(before, "metadata.finalizers");
  if (now == nullptr || !now->is_array()) return nullptr;
  for (const json& each : *now) {
    if (old == nullptr || std::find(old->begin(), old->end(), each) == old->end()) return &each;
  }
  return nullptr;
}

// An update of some kinds must name the version that it replaces, and creates the object if it does not exist. Of the
// kinds that this server knows, only leases are like this.
bool IsLease(const ResourceInfo& info) { return info.group == "coordination.k8s.io" && info.plural == "leases"; }

// Whether objects of the kind have a metadata.generation. As on a server, many built-in kinds have none, so that what
// compares generations sees none of their updates.
bool HasGeneration(const ResourceInfo& info) {
  if (info.group.empty()) {
    return info.plural == "pods" || info.plural == "podtemplates" || info.plural == "replicationcontrollers";
  }
  return info.group != "coordination.k8s.io" && info.group != "certificates.k8s.io" && info.group != "events.k8s.io" &&
         !(info.group == "apps" && info.plural == "controllerrevisions");
}

// Returns the object without metadata, status, apiVersion and kind. A change of the rest increments the generation.
json DesiredState(const json& object) {
  json desired = object;
  desired.erase("metadata");
  desired.erase("status");
  desired.erase("apiVersion");
  desired.erase("kind");
  return desired;
}

void KeepField(json& next, const json& before, const char* key) {
  const json* value = FindPath(before, std::string("metadata.") + key);
  if (value != nullptr) {
    next["metadata"][key] = *value;
  } else {
    next["metadata"].erase(key);
  }
}

std::string UidText(std::uint64_t a) {
  const std::uint64_t b = Mix(a + 1);
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-a%03x-%012llx", static_cast<unsigned>(a >> 32),
                static_cast<unsigned>(a >> 16 & 0xFFFF), static_cast<unsigned>(a & 0xFFF),
                static_cast<unsigned>(b >> 52), static_cast<unsigned long long>(b & 0xFFFFFFFFFFFFu));
  return text;
}

// A copy of an object that is not stored, because the request is a dry run.
ObjectRef Preview(json value) {
  auto preview = MakeShared<StoredObject>();
  preview->bytes = value.dump();
  preview->value = std::move(value);
  return ObjectRef(preview);
}

}  // namespace

bool IsDryRun(const ApiCall& call, const json& options) {
  const auto all = [](const json& value) { return value == "All"; };
  const json* said = FindPath(options, "dryRun");
  return call.Query("dryRun") == "All" ||
         (said != nullptr && said->is_array() && std::any_of(said->begin(), said->end(), all));
}

std::pair<std::string, std::string> KindOfBody(const ApiCall& call) {
  if (call.subresource == "scale") return {"autoscaling/v1", "Scale"};
  const auto other = call.resource->subresources.find(call.subresource);
  if (other == call.resource->subresources.end()) {
    return {ApiVersionOf(*call.resource, call.version), call.resource->info.kind};
  }
  const SubresourceInfo& info = other->second;
  return {info.group.empty() ? info.version : info.group + "/" + info.version, info.kind};
}

std::string ApiVersionOf(const Resource& resource, std::string_view version) {
  return resource.info.group.empty() ? std::string(version) : resource.info.group + "/" + std::string(version);
}

std::uint64_t ApiServer::Draw() {
  if (run_ == nullptr) return ++next_id_;
  if (run_->drawn == run_->chance.size()) run_->chance.push_back(++next_id_);
  return run_->chance[run_->drawn++];
}

std::string ApiServer::NewUid() { return UidText(Mix(options_.seed * 0x9E3779B97F4A7C15u + Draw())); }

// Reviews have uids of their own, so that objects have the same uids with and without webhooks.
std::string ApiServer::ReviewUid(std::string_view key) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return UidText(Mix(Mix(options_.seed + hash) + ++next_review_));
}

// Checks the query parameters of a write that accept only certain values.
ApiResult<void> ApiServer::CheckOptions(const ApiCall& call) {
  if (!IsWrite(call.verb)) return {};
  std::vector<FieldFault> faults;
  const std::string_view dry_run = call.Query("dryRun"), validation = call.Query("fieldValidation");
  if (!dry_run.empty() && dry_run != "All") {
    faults.push_back({"FieldValueNotSupported", "dryRun",
                      "Unsupported value: " + json::array({dry_run}).dump() + ": supported values: \"All\""});
  }
  if (!validation.empty() && validation != "Ignore" && validation != "Strict" && validation != "Warn") {
    faults.push_back({"FieldValueNotSupported", "fieldValidation",
                      "Unsupported value: " + json(validation).dump() +
                          ": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""});
  }
  if (faults.empty()) return {};
  const char* kind = call.verb == "create"   ? "CreateOptions"
                     : call.verb == "update" ? "UpdateOptions"
                     : call.verb == "patch"  ? "PatchOptions"
                                             : "DeleteOptions";
  return Refuse(Invalid({.group = "meta.k8s.io", .kind = kind}, "", faults));
}

// Parses the body, which must be an object of the right kind with a metadata object.
ApiResult<json> ApiServer::ParseObject(const ApiCall& call) {
  json object;
  std::vector<std::string> duplicates;
  if (call.content_type.empty() || call.content_type == "application/json" || call.content_type == "*/*") {
    object = ParseStrictly(call.body, duplicates);
  } else if (call.content_type == "application/yaml") {
    const auto stream = yaml::Parse(call.body, {.kubectl_keys = true});
    if (!stream || stream->documents().empty()) return Refuse(BadRequest("the body is not YAML"));
    object = json::parse(yaml::ToJson(stream->documents().front()), nullptr, /*allow_exceptions=*/false);
  } else {
    return Refuse(UnsupportedMediaType("the body of the request was in an unknown format: " + call.content_type));
  }
  if (!object.is_object())
    return Refuse(
        BadRequest("the object provided is unrecognized: the body is not a JSON object of at most 256 levels"));
  const json& metadata = object["metadata"];
  if (!metadata.is_null() && !metadata.is_object()) return Refuse(BadRequest("metadata is not a JSON object"));
  if (metadata.is_null()) object["metadata"] = json::object();
  const auto [api_version, kind] = KindOfBody(call);
  const bool foreign = kind != call.resource->info.kind || api_version != ApiVersionOf(*call.resource, call.version);
  for (const auto& [key, expected] : {std::pair<const char*, std::string>("apiVersion", api_version),
                                      std::pair<const char*, std::string>("kind", kind)}) {
    const std::string given = TextAt(object, key);
    if (given.empty()) {
      object[key] = expected;
    } else if (given != expected) {
      return Refuse(BadRequest(std::string("the ") + (key[0] == 'k' ? "kind" : "API version") + " in the data (" +
                               given + ") does not match the expected one (" + expected + ")"));
    }
  }
  const std::string namespace_ = TextAt(object, "metadata.namespace");
  if (!namespace_.empty() && namespace_ != call.namespace_) {
    return Refuse(BadRequest("the namespace of the provided object does not match the namespace sent on the request"));
  }
  if (foreign || call.verb == "patch") return object;  // Apply() checks the fields itself
  const std::string complaint = StrictComplaint(call, duplicates, DropUnknown(call, object));
  if (!complaint.empty()) {
    return Refuse(
        BadRequest(kind + " in version \"" + call.version + "\" cannot be handled as a " + kind + ": " + complaint));
  }
  return object;
}

// --- create

ApiResult<Reply> ApiServer::Create(ApiCall& call) {
  auto object = ParseObject(call);
  if (!object) {
    RecordWrite(call, "");
    return Refuse(object.error());
  }
  auto created = CreateObject(call, *std::move(object), /*keep_status=*/false);
  RecordWrite(call, call.name);
  if (!created) return Refuse(created.error());
  return JsonReply(201, Bytes(*created, call));
}

// Sets call.name. A dry run returns the object that it would have stored.
ApiResult<ObjectRef> ApiServer::CreateObject(ApiCall& call, json object, bool keep_status) {
  Resource& resource = *call.resource;
  if (!object["metadata"].is_object()) object["metadata"] = json::object();
  call.name = TextAt(object, "metadata.name");
  if (HasHooks(call)) {
    if (auto mutated = MutateNew(call, object); !mutated) return Refuse(mutated.error());
  }
  json& metadata = object["metadata"];
  const std::string prefix = TextAt(metadata, "generateName");
  if (call.name.empty() && !prefix.empty()) {
    std::uint64_t chance = Mix(options_.seed * 31 + Draw());
    call.name = prefix;
    for (int i = 0; i < 5; ++i, chance /= 27) call.name += "bcdfghjklmnpqrstvwxz2456789"[chance % 27];
  }
  if (auto exists = CheckNamespace(call); !exists) return Refuse(exists.error());
  if (call.name.empty()) {
    return Refuse(
        Invalid(resource.info, "",
                {{"FieldValueRequired", "metadata.name", "Required value: name or generateName is required"}}));
  }
  if (!detail::IsDnsSubdomain(call.name)) {
    return Refuse(Invalid(resource.info, call.name,
                          {{"FieldValueInvalid", "metadata.name",
                            "Invalid value: \"" + call.name + "\": must be a lowercase DNS subdomain"}}));
  }
  if (!TextAt(metadata, "resourceVersion").empty()) {
    return Refuse(BadRequest("resourceVersion should not be set on objects to be created"));
  }
  metadata["name"] = call.name;
  if (resource.info.namespaced) metadata["namespace"] = call.namespace_;
  metadata["uid"] = NewUid();
  metadata["creationTimestamp"] = Now();
  metadata.erase("generation");
  if (HasGeneration(resource.info)) metadata["generation"] = 1;
  metadata.erase("resourceVersion");
  metadata.erase("deletionTimestamp");
  metadata.erase("deletionGracePeriodSeconds");
  metadata.erase("selfLink");
  if (resource.info.has_status && !keep_status) object.erase("status");
  if (resource.info.group.empty() && TextAt(object, "status.phase").empty()) {
    if (resource.info.plural == "pods") object["status"]["phase"] = "Pending";
    if (resource.info.plural == "namespaces") object["status"]["phase"] = "Active";
  }
  if (IsNamespace(resource.info)) CompleteNamespace(object);
  Complete(resource, call.version, object);
  if (auto fits = CheckObject(call, object); !fits) return Refuse(fits.error());
  if (auto valid = Validate(call, "CREATE", &object, nullptr); !valid) return Refuse(valid.error());
  if (store_.Get(resource, call.namespace_, call.name)) return Refuse(AlreadyExists(resource.info, call.name));
  auto stored = StorageForm(call, std::move(object));
  if (!stored) return Refuse(stored.error());
  if (auto ready = PrepareReply(call, *stored); !ready) return Refuse(ready.error());
  if (call.Query("dryRun") == "All") return Preview(*std::move(stored));
  ObjectRef created = store_.Put(resource, *std::move(stored));
  if (resource.info.kind == "CustomResourceDefinition") InstallCrd(created);
  return created;
}

// Mutating webhooks see what the client has sent, with its defaults, and without what the server sets.
ApiResult<void> ApiServer::MutateNew(ApiCall& call, json& object) {
  if (auto exists = CheckNamespace(call); !exists) return exists;
  Complete(*call.resource, call.version, object);
  if (call.resource->info.namespaced) object["metadata"]["namespace"] = call.namespace_;
  if (auto mutated = Mutate(call, "CREATE", &object, nullptr); !mutated) return mutated;
  if (call.name.empty()) call.name = TextAt(object, "metadata.name");
  return {};
}

// --- update

ApiResult<Reply> ApiServer::Update(const ApiCall& call) {
  auto next = ParseObject(call);
  if (!next) return Refuse(next.error());
  const std::string name = TextAt(*next, "metadata.name");
  if (!name.empty() && name != call.name) {
    return Refuse(
        BadRequest("the name of the object (" + name + ") does not match the name on the URL (" + call.name + ")"));
  }
  const ObjectRef before = store_.Get(*call.resource, call.namespace_, call.name);
  if (!before && IsLease(call.resource->info)) {
    if (const std::string uid = TextAt(*next, "metadata.uid"); !uid.empty()) {  // of an object that was deleted
      return Refuse(Conflict(call.resource->info, call.name,
                             "Precondition failed: UID in precondition: " + uid + ", UID in object meta: "));
    }
    ApiCall create = call;
    (*next)["metadata"].erase("resourceVersion");
    auto created = CreateObject(create, *std::move(next), /*keep_status=*/false);
    if (!created) return Refuse(created.error());
    return JsonReply(201, Bytes(*created, call));
  }
  if (!before) return Refuse(NotFound(call.resource->info, call.name));
  auto stored = Replace(call, before, *std::move(next));
  if (!stored) return Refuse(stored.error());
  return JsonReply(200, Bytes(*stored, call));
}

ApiResult<void> ApiServer::CheckPreconditions(const ApiCall& call, const ObjectRef& before, const json& next) const {
  const ResourceInfo& info = call.resource->info;
  const std::string version = TextAt(next, "metadata.resourceVersion"), uid = TextAt(next, "metadata.uid");
  if (version.empty() && (call.resource->custom || IsLease(info)) && call.verb == "update") {
    return Refuse(Invalid(
        info, call.name,
        {{"FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"}}));
  }
  if (!uid.empty() && uid != TextAt(before->value, "metadata.uid")) {
    return Refuse(Conflict(info, call.name,
                           "Precondition failed: UID in precondition: " + uid +
                               ", UID in object meta: " + TextAt(before->value, "metadata.uid")));
  }
  if (!version.empty() && version != std::to_string(before->resource_version)) {
    return Refuse(
        Conflict(info, call.name,
                 "the object has been modified; please apply your changes to the latest version and try again"));
  }
  return {};
}

// The last step of update and patch. `next` is the new state of the object; the call may change only a part of it.
ApiResult<ObjectRef> ApiServer::Replace(const ApiCall& call, const ObjectRef& before, json next) {
  if (auto allowed = CheckPreconditions(call, before, next); !allowed) return Refuse(allowed.error());
  Resource& resource = *call.resource;
  if (!before->value.is_object()) return Refuse(BadRequest("the stored object is not a JSON object"));
  json room;
  const auto served = InVersion(before->value, resource, call.version, room);
  if (!served) return Refuse(served.error());
  const json& old = **served;
  if (HasHooks(call)) {
    if (auto mutated = MutateNext(call, *before, old, next); !mutated) return Refuse(mutated.error());
  }
  MergeParts(call, *before, old, next);
  if (const json* added = NewFinalizer(old, next); added != nullptr && next["metadata"].contains("deletionTimestamp")) {
    return Refuse(Invalid(resource.info, call.name,
                          {{"FieldValueForbidden", "metadata.finalizers",
                            "Forbidden: no new finalizers can be added if the object is being deleted, found new "
                            "finalizers []string{" +
                                added->dump() + "}"}}));
  }
  if (IsNamespace(resource.info)) CompleteNamespace(next);
  Complete(resource, call.version, next);
  // The schema may have become stricter since the object was written.
  if (auto fits = CheckObject(call, next); !fits && !SameButMetadata(old, next)) return Refuse(fits.error());
  if (HasGeneration(resource.info) && call.subresource != "status" && next != old &&
      DesiredState(next) != DesiredState(old)) {
    const json* generation = FindPath(old, "metadata.generation");
    next["metadata"]["generation"] =
        (generation != nullptr && generation->is_number_integer() ? generation->get<std::int64_t>() : 0) + 1;
  }
  if (auto valid = Validate(call, "UPDATE", &next, &old); !valid) return Refuse(valid.error());
  if (resource.info.kind == "CustomResourceDefinition" && call.subresource.empty()) NoteStoredVersion(next);
  auto stored = StorageForm(call, std::move(next));
  if (!stored) return Refuse(stored.error());
  if (auto ready = PrepareReply(call, *stored); !ready) return Refuse(ready.error());
  return Store(call, before, *std::move(stored));
}

// Mutating webhooks see what the client has sent. They are asked again if the stored object has changed meanwhile, but
// not forever.
ApiResult<void> ApiServer::MutateNext(const ApiCall& call, const StoredObject& before, const json& old, json& next) {
  constexpr std::size_t kMostRepeats = 5;
  run_->bases.insert({before.name, before.resource_version});
  if (run_->bases.size() > kMostRepeats + 1) {
    return Refuse(
        Conflict(call.resource->info, call.name,
                 "the object has been modified; please apply your changes to the latest version and try again"));
  }
  Complete(*call.resource, call.version, next);
  if (auto mutated = Mutate(call, "UPDATE", &next, &old); !mutated) return mutated;
  if (!next["metadata"].is_object()) return Refuse(BadRequest("metadata is not a JSON object"));
  return {};
}

// Gives `next` the parts of the object that the request may not change.
void ApiServer::MergeParts(const ApiCall& call, const StoredObject& before, const json& old, json& next) {
  const std::string version = TextAt(old, "apiVersion");
  if (!call.subresource.empty()) {
    next = OnlyPart(call.subresource, old, std::move(next));
  } else if (call.resource->info.has_status) {
    next.erase("status");
    if (old.contains("status")) next["status"] = old["status"];
  }
  next["metadata"]["name"] = before.name;
  for (const char* kept :
       {"namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
    KeepField(next, old, kept);
  }
  next["metadata"]["resourceVersion"] = std::to_string(before.resource_version);
  if (!version.empty()) next["apiVersion"] = version;
}

// Stores the result of an update, which may end the life of the object.
ApiResult<ObjectRef> ApiServer::Store(const ApiCall& call, const ObjectRef& before, json next) {
  if (next == before->value) return before;  // nothing changed: no new version, no event
  if (call.Query("dryRun") == "All") return Preview(std::move(next));
  const json* grace = FindPath(next, "metadata.deletionGracePeriodSeconds");
  const bool gone =
      next["metadata"].contains("deletionTimestamp") && !HasFinalizers(next) && (grace == nullptr || *grace == 0);
  Resource& resource = *call.resource;
  ObjectRef stored = store_.Put(resource, std::move(next));
  if (!gone) {
    if (resource.info.kind == "CustomResourceDefinition") InstallCrd(stored);
    return stored;
  }
  // The last finalizer was removed, so the object is deleted.
  return DeleteObject(call, stored, {{"gracePeriodSeconds", 0}});
}

// --- delete

ApiResult<json> ApiServer::ParseDeleteOptions(const ApiCall& call) {
  if (call.body.empty()) return json::object();
  json options = ParseJson(call.body);
  if (!options.is_object()) return Refuse(BadRequest("the body is not a DeleteOptions"));
  return options;
}

ApiResult<void> ApiServer::CheckDeletion(const Resource& resource, const StoredObject& object, const json& options) {
  const std::string uid = TextAt(options, "preconditions.uid"),
                    version = TextAt(options, "preconditions.resourceVersion");
  const std::string own_uid = TextAt(object.value, "metadata.uid"),
                    own_version = std::to_string(object.resource_version);
  if (!uid.empty() && uid != own_uid) {
    return Refuse(Conflict(resource.info, object.name,
                           "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + own_uid));
  }
  if (!version.empty() && version != own_version) {
    return Refuse(Conflict(resource.info, object.name,
                           "Precondition failed: ResourceVersion in precondition: " + version +
                               ", ResourceVersion in object meta: " + own_version));
  }
  return {};
}

ApiResult<Reply> ApiServer::Delete(const ApiCall& call) {
  const ObjectRef object = store_.Get(*call.resource, call.namespace_, call.name);
  if (!object) return Refuse(NotFound(call.resource->info, call.name));
  auto parsed = ParseDeleteOptions(call);
  if (!parsed) return Refuse(parsed.error());
  const json& options = *parsed;
  if (auto allowed = CheckDeletion(*call.resource, *object, options); !allowed) return Refuse(allowed.error());
  if (IsNamespace(call.resource->info) && IsImmortalNamespace(call.name)) {
    return Refuse(Forbidden(call.resource->info, call.name, "this namespace may not be deleted"));
  }
  if (auto admitted = AdmitDeletion(call, object); !admitted) return Refuse(admitted.error());
  const bool dry = IsDryRun(call, options);
  auto deleted = dry ? ApiResult<ObjectRef>(object) : DeleteObject(call, object, options);
  if (!deleted) return Refuse(deleted.error());
  const ResourceInfo& info = call.resource->info;
  // If the object is already removed, the response is a Status for most resources and the object for a few.
  const bool gone = dry ? !HasFinalizers(object->value) : !store_.Get(*call.resource, call.namespace_, call.name);
  if (!gone ||
      (info.group.empty() && (info.plural == "pods" || info.plural == "services" || info.plural == "namespaces"))) {
    return JsonReply(200, Bytes(*deleted, call));
  }
  json details = {{"name", call.name}, {"kind", info.plural}, {"uid", TextAt(object->value, "metadata.uid")}};
  if (!info.group.empty()) details["group"] = info.group;
  const json status = {{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", json::object()},
                       {"status", "Success"},
                       {"details", std::move(details)}};
  return JsonReply(200, status.dump());
}

ApiResult<void> ApiServer::AdmitDeletion(const ApiCall& call, const ObjectRef& object) {
  if (!object->value.is_object()) return {};  // stored by Cluster::Corrupt()
  json room;
  const auto old = InVersion(object->value, *call.resource, call.version, room);
  if (!old) return Refuse(old.error());
  if (auto mutated = Mutate(call, "DELETE", nullptr, *old); !mutated) return mutated;
  return Validate(call, "DELETE", nullptr, *old);
}

// Removes the object, or marks it as being deleted if finalizers or a grace period keep it. Returns its new state.
ApiResult<ObjectRef> ApiServer::DeleteObject(const ApiCall& call, const ObjectRef& object, const json& options) {
  Resource& resource = *call.resource;
  if (IsNamespace(resource.info)) return DeleteNamespace(resource, object);
  const json* asked = FindPath(options, "gracePeriodSeconds");
  std::int64_t grace = 0;
  // Only a pod on a node has processes to stop. The server takes the part of the kubelet.
  if (resource.info.group.empty() && resource.info.plural == "pods" &&
      !TextAt(object->value, "spec.nodeName").empty()) {
    const json* own = FindPath(object->value, "spec.terminationGracePeriodSeconds");
    grace = own != nullptr && own->is_number_integer() ? own->get<std::int64_t>() : 30;
    if (asked != nullptr && asked->is_number_integer()) grace = asked->get<std::int64_t>();
  }
  const bool held = HasFinalizers(object->value);
  if (held || grace > 0) {
    json marked = object->value;
    if (FindPath(object->value, "metadata.deletionTimestamp") != nullptr) {
      const json* left = FindPath(object->value, "metadata.deletionGracePeriodSeconds");
      if (left == nullptr || *left <= json(grace)) return object;
      marked["metadata"]["deletionGracePeriodSeconds"] = grace;
      return store_.Put(resource, std::move(marked));
    }
    marked["metadata"]["deletionTimestamp"] = Now();
    marked["metadata"]["deletionGracePeriodSeconds"] = grace;
    const json* generation = FindPath(object->value, "metadata.generation");
    if (generation != nullptr && generation->is_number_integer()) {
      marked["metadata"]["generation"] = generation->get<std::int64_t>() + 1;
    }
    ObjectRef stored = store_.Put(resource, std::move(marked));
    if (grace > 0) RemoveLater(resource, stored, std::chrono::seconds(grace));
    return stored;
  }
  ObjectRef last = store_.Remove(resource, object);
  if (resource.info.kind == "CustomResourceDefinition") RemoveCrd(object);
  FinishNamespace(object->namespace_);
  return last;
}

void ApiServer::RemoveLater(const Resource& resource, const ObjectRef& object, Nanos grace) {
  const std::uint64_t id = ++next_graceful_;
  auto remove = [this, self = Shared<ApiServer>(this), id, group = resource.info.group, plural = resource.info.plural,
                 namespace_ = object->namespace_, name = object->name, uid = TextAt(object->value, "metadata.uid")] {
    const MutexLock lock(mutex_);
    graceful_.erase(id);
    ApiCall call;
    call.resource = store_.Find(group, plural);
    if (closed_ || call.resource == nullptr) return;
    const ObjectRef now = store_.Get(*call.resource, namespace_, name);
    if (!now || TextAt(now->value, "metadata.uid") != uid) return;
    (void)DeleteObject(call, now, {{"gracePeriodSeconds", 0}});
  };
  graceful_[id] =
      executor_->clock()->After(grace, TimerKind::kProgress,
                                [this, self = Shared<ApiServer>(this), remove] { executor_->Post(strand_, remove); });
}

ApiResult<Reply> ApiServer::DeleteCollection(const ApiCall& call) {
  if (IsNamespace(call.resource->info)) return Refuse(MethodNotAllowed());
  auto scope = ParseScope(call);
  if (!scope) return Refuse(scope.error());
  auto parsed = ParseDeleteOptions(call);
  if (!parsed) return Refuse(parsed.error());
  const json& options = *parsed;
  if (!run_->targets) {
    run_->targets = store_.List(*call.resource, call.namespace_, store_.resource_version());
    std::erase_if(*run_->targets, [&](const ObjectRef& object) { return !scope->Matches(*object); });
    std::reverse(run_->targets->begin(), run_->targets->end());
  }
  // An object is deleted before webhooks are asked about the next one, so a denial leaves the rest.
  ApiCall one = call;
  for (; !run_->targets->empty(); run_->targets->pop_back()) {
    const ObjectRef& target = run_->targets->back();
    const ObjectRef object = store_.Get(*call.resource, target->namespace_, target->name);
    if (!object) continue;  // somebody else was faster
    one.name = object->name;
    one.namespace_ = object->namespace_;
    if (auto allowed = CheckDeletion(*call.resource, *object, options); !allowed) return Refuse(allowed.error());
    if (auto admitted = AdmitDeletion(one, object); !admitted) return Refuse(admitted.error());
    auto deleted = IsDryRun(call, options) ? ApiResult<ObjectRef>(object) : DeleteObject(call, object, options);
    if (!deleted) return Refuse(deleted.error());
    run_->deleted.push_back(*deleted);
  }
  const json metadata = {{"resourceVersion", std::to_string(store_.resource_version())}};
  return JsonReply(200, ListBody(call, run_->deleted, metadata));
}

}  // namespace kgen::testing
