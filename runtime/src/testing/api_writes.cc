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

// The query or the DeleteOptions may request a dry run.
bool IsDryRun(const ApiCall& call, const json& options) {
  const auto all = [](const json& value) { return value == "All"; };
  const json* said = FindPath(options, "dryRun");
  return call.Query("dryRun") == "All" ||
         (said != nullptr && said->is_array() && std::any_of(said->begin(), said->end(), all));
}

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

std::string ApiVersionOf(const ApiCall& call) {
  return call.group.empty() ? call.version : call.group + "/" + call.version;
}

// Returns the apiVersion and kind that the body of a request must have.
std::pair<std::string, std::string> KindOfBody(const ApiCall& call) {
  if (call.subresource == "scale") return {"autoscaling/v1", "Scale"};
  const auto other = call.resource->subresources.find(call.subresource);
  if (other == call.resource->subresources.end()) return {ApiVersionOf(call), call.resource->info.kind};
  const SubresourceInfo& info = other->second;
  return {info.group.empty() ? info.version : info.group + "/" + info.version, info.kind};
}

}  // namespace

std::string ApiServer::NewUid() {
  const std::uint64_t a = Mix(options_.seed * 0x9E3779B97F4A7C15u + ++next_id_), b = Mix(a + 1);
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-a%03x-%012llx", static_cast<unsigned>(a >> 32),
                static_cast<unsigned>(a >> 16 & 0xFFFF), static_cast<unsigned>(a & 0xFFF),
                static_cast<unsigned>(b >> 52), static_cast<unsigned long long>(b & 0xFFFFFFFFFFFFu));
  return text;
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
  const bool foreign = kind != call.resource->info.kind || api_version != ApiVersionOf(call);
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
  json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  call.name = TextAt(metadata, "name");
  const std::string prefix = TextAt(metadata, "generateName");
  if (call.name.empty() && !prefix.empty()) {
    std::uint64_t chance = Mix(options_.seed * 31 + ++next_id_);
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
  Admit(call, object);
  if (auto fits = CheckObject(call, object); !fits) return Refuse(fits.error());
  if (store_.Get(resource, call.namespace_, call.name)) return Refuse(AlreadyExists(resource.info, call.name));
  if (call.Query("dryRun") == "All") {
    auto preview = MakeShared<StoredObject>();
    preview->bytes = object.dump();
    preview->value = std::move(object);
    return ObjectRef(preview);
  }
  ObjectRef created = store_.Put(resource, std::move(object));
  if (resource.info.kind == "CustomResourceDefinition") InstallCrd(created);
  return created;
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
  const std::string stored_version = TextAt(before->value, "apiVersion");
  if (!call.subresource.empty()) {
    next = OnlyPart(call.subresource, before->value, std::move(next));
  } else if (resource.info.has_status) {
    next.erase("status");
    if (before->value.contains("status")) next["status"] = before->value["status"];
  }
  next["metadata"]["name"] = before->name;
  for (const char* kept :
       {"namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
    KeepField(next, before->value, kept);
  }
  next["metadata"]["resourceVersion"] = std::to_string(before->resource_version);
  if (!stored_version.empty()) next["apiVersion"] = stored_version;
  if (const json* added = NewFinalizer(before->value, next);
      added != nullptr && next["metadata"].contains("deletionTimestamp")) {
    return Refuse(Invalid(resource.info, call.name,
                          {{"FieldValueForbidden", "metadata.finalizers",
                            "Forbidden: no new finalizers can be added if the object is being deleted, found new "
                            "finalizers []string{" +
                                added->dump() + "}"}}));
  }
  if (IsNamespace(resource.info)) CompleteNamespace(next);
  Admit(call, next);
  // The schema may have become stricter since the object was written.
  if (auto fits = CheckObject(call, next); !fits && !SameButMetadata(before->value, next)) return Refuse(fits.error());

  if (next == before->value) return before;  // nothing changed: no new version, no event
  if (HasGeneration(resource.info) && call.subresource != "status" &&
      DesiredState(next) != DesiredState(before->value)) {
    const json* generation = FindPath(before->value, "metadata.generation");
    next["metadata"]["generation"] =
        (generation != nullptr && generation->is_number_integer() ? generation->get<std::int64_t>() : 0) + 1;
  }
  if (call.Query("dryRun") == "All") {
    auto preview = MakeShared<StoredObject>();
    preview->bytes = next.dump();
    preview->value = std::move(next);
    return ObjectRef(preview);
  }
  const json* grace = FindPath(next, "metadata.deletionGracePeriodSeconds");
  const bool gone =
      next["metadata"].contains("deletionTimestamp") && !HasFinalizers(next) && (grace == nullptr || *grace == 0);
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
  std::vector<ObjectRef> deleted;
  for (const ObjectRef& object : store_.List(*call.resource, call.namespace_, store_.resource_version())) {
    if (!scope->Matches(*object)) continue;
    if (auto allowed = CheckDeletion(*call.resource, *object, options); !allowed) return Refuse(allowed.error());
    if (IsDryRun(call, options)) {
      deleted.push_back(object);
      continue;
    }
    auto one = DeleteObject(call, object, options);
    if (!one) return Refuse(one.error());
    deleted.push_back(*one);
  }
  return JsonReply(200, ListBody(call, deleted, {{"resourceVersion", std::to_string(store_.resource_version())}}));
}

}  // namespace kgen::testing
