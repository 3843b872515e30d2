// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/json/json_depth.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

std::string Unescape(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) parts.push_back(Unescape(path.substr(0, slash), false));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return parts;
}

std::map<std::string, std::string> ParseQuery(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const auto end = text.find('&');
    const std::string_view pair = text.substr(0, end);
    const auto equal = pair.find('=');
    query[Unescape(pair.substr(0, equal), true)] =
        equal == std::string_view::npos ? std::string() : Unescape(pair.substr(equal + 1), true);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return query;
}

std::string VerbOf(const ApiCall& call) {
  if (call.method == "GET") {
    if (!call.name.empty()) return "get";
    return call.Flag("watch") ? "watch" : "list";
  }
  if (call.method == "POST") return "create";
  if (call.method == "PUT") return "update";
  if (call.method == "PATCH") return "patch";
  if (call.method == "DELETE") return call.name.empty() ? "deletecollection" : "delete";
  return "";
}

}  // namespace

// --- Helpers that the other files use

const json* FindPath(const json& object, std::string_view path) {
  const json* at = &object;
  while (!path.empty()) {
    const auto dot = path.find('.');
    if (!at->is_object()) return nullptr;
    const auto found = at->find(path.substr(0, dot));
    if (found == at->end()) return nullptr;
    at = &*found;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at;
}

std::string TextAt(const json& object, std::string_view path) {
  const json* found = FindPath(object, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

namespace {
bool NestsDeeper(const json& value, std::size_t levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  return std::any_of(value.begin(), value.end(), [=](const json& inner) { return NestsDeeper(inner, levels - 1); });
}
}  // namespace

bool NestsTooDeep(const json& value) { return NestsDeeper(value, detail::kMaxJsonDepth); }

bool IsWrite(std::string_view verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb == "delete" || verb == "deletecollection";
}

bool HasFinalizers(const json& object) {
  const json* finalizers = FindPath(object, "metadata.finalizers");
  return finalizers != nullptr && finalizers->is_array() && !finalizers->empty();
}

Reply JsonReply(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.headers = {{"content-type", "application/json"}};
  reply.body = std::move(body);
  return reply;
}

Reply ErrorReply(const ApiError& error) {
  Reply reply = JsonReply(error.code, error.Body());
  if (error.retry_after_seconds) reply.headers.push_back({"retry-after", std::to_string(*error.retry_after_seconds)});
  return reply;
}

std::string_view ApiCall::Query(const char* key) const {
  const auto found = query.find(key);
  return found != query.end() ? std::string_view(found->second) : std::string_view();
}

bool ApiCall::Flag(const char* key) const {
  const std::string_view value = Query(key);
  return value == "true" || value == "1" || value == "True" || value == "TRUE" || value == "t";
}

// --- The server

ApiServer::ApiServer(const ClusterOptions& options, Shared<Executor> executor)
    : options_(options),
      executor_(std::move(executor)),
      strand_(executor_->MakeStrand("api server")),
      caller_(MakeShared<WebhookCaller>(executor_, !options.simulated)),
      store_(options.history) {
  store_.on_event = [this](const Resource& resource, const StoreEvent& event)
                        KGEN_REQUIRES(mutex_) { OnEvent(resource, event); };
  AddBuiltIns();
  AddInitialObjects();
}

void ApiServer::AddBuiltIns() {
  const auto add = [&](const char* group, const char* version, const char* plural, const char* singular,
                       const char* kind, bool namespaced, bool has_status, std::vector<std::string> short_names = {},
                       std::vector<std::string> categories = {}) KGEN_REQUIRES(mutex_) -> Resource& {
    return store_.AddResource({.group = group,
                               .version = version,
                               .plural = plural,
                               .singular = singular,
                               .kind = kind,
                               .list_kind = std::string(kind) + "List",
                               .namespaced = namespaced,
                               .has_status = has_status,
                               .short_names = std::move(short_names),
                               .categories = std::move(categories)});
  };
  add("", "v1", "configmaps", "configmap", "ConfigMap", true, false, {"cm"});
  add("", "v1", "endpoints", "endpoints", "Endpoints", true, false, {"ep"});
  add("", "v1", "events", "event", "Event", true, false, {"ev"});
  add("", "v1", "limitranges", "limitrange", "LimitRange", true, false, {"limits"});
  add("", "v1", "namespaces", "namespace", "Namespace", false, true, {"ns"});
  add("", "v1", "nodes", "node", "Node", false, true, {"no"});
  add("", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", true, true, {"pvc"});
  add("", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", false, true, {"pv"});
  add("", "v1", "pods", "pod", "Pod", true, true, {"po"}, {"all"});
  add("", "v1", "podtemplates", "podtemplate", "PodTemplate", true, false);
  add("", "v1", "resourcequotas", "resourcequota", "ResourceQuota", true, true, {"quota"});
  add("", "v1", "secrets", "secret", "Secret", true, false);
  add("", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", true, false, {"sa"});
  add("", "v1", "services", "service", "Service", true, true, {"svc"}, {"all"});
  add("apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", true, false);
  add("apps", "v1", "daemonsets", "daemonset", "DaemonSet", true, true, {"ds"}, {"all"});
  for (Resource* scaled :
       {&add("", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", true, true, {"rc"},
             {"all"}),
        &add("apps", "v1", "deployments", "deployment", "Deployment", true, true, {"deploy"}, {"all"}),
        &add("apps", "v1", "replicasets", "replicaset", "ReplicaSet", true, true, {"rs"}, {"all"}),
        &add("apps", "v1", "statefulsets", "statefulset", "StatefulSet", true, true, {"sts"}, {"all"})}) {
    scaled->scales["v1"] = {"spec.replicas", "status.replicas", "spec.selector"};
  }
  add("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
      "MutatingWebhookConfiguration", false, false, {}, {"api-extensions"});
  add("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration",
      "ValidatingWebhookConfiguration", false, false, {}, {"api-extensions"});
  add("certificates.k8s.io", "v1", "certificatesigningrequests", "certificatesigningrequest",
      "CertificateSigningRequest", false, true, {"csr"});
  add("coordination.k8s.io", "v1", "leases", "lease", "Lease", true, false);
  add("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition",
      false, true, {"crd", "crds"}, {"api-extensions"});
  AddSubresources();
}

// --- Requests

ApiCall ApiServer::Parse(const HttpRequest& request) {
  ApiCall call;
  call.method = request.method;
  call.body = request.body;
  for (const HttpHeader& header : request.headers) {
    if (header.name == "accept") call.accept += (call.accept.empty() ? "" : ",") + header.value;
    if (header.name == "content-type") call.content_type = header.value.substr(0, header.value.find(';'));
  }
  const std::string_view target = request.path;
  const auto mark = target.find('?');
  if (mark != std::string_view::npos) call.query = ParseQuery(target.substr(mark + 1));
  ParsePath(call, target.substr(0, mark));
  call.verb = call.is_resource ? VerbOf(call) : "get";
  return call;
}

// /api/v1/..., /apis/group/version/..., then [namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]].
void ApiServer::ParsePath(ApiCall& call, std::string_view path) {
  call.path = path;
  const std::vector<std::string> parts = SplitPath(path);
  const bool core = parts.size() > 2 && parts[0] == "api";
  const bool grouped = parts.size() > 3 && parts[0] == "apis";
  if (!core && !grouped) return;
  call.is_resource = true;
  std::size_t at = core ? 1 : 2;
  if (grouped) call.group = parts[1];
  call.version = parts[at++];
  // namespaces/NS/status and namespaces/NS/finalize belong to the namespace itself.
  const bool in_namespace = parts[at] == "namespaces" && parts.size() > at + 2 &&
                            !(core && (parts[at + 2] == "status" || parts[at + 2] == "finalize"));
  if (in_namespace) {
    call.namespace_ = parts[at + 1];
    at += 2;
  }
  call.plural = parts[at++];
  if (at < parts.size()) call.name = parts[at++];
  if (at < parts.size()) call.subresource = parts[at++];
  Resource* resource = store_.Find(call.group, call.plural);
  if (resource == nullptr || at != parts.size()) return;
  if (std::find(resource->versions.begin(), resource->versions.end(), call.version) == resource->versions.end()) return;
  if (in_namespace && !resource->info.namespaced) return;
  call.resource = resource;
}

// One pass of a request.
Reply ApiServer::Answer(const HttpRequest& request) {
  ApiCall call = Parse(request);
  if (!std::exchange(run_->faults_taken, true)) run_->fault = TakeFault(call);
  const std::optional<Fault>& fault = run_->fault;
  Reply reply;
  if (closed_ || (fault && (fault->refuse || fault->stall))) {
    reply.refuse = closed_ || fault->refuse;
    reply.stall = !reply.refuse;
  } else if (fault && fault->status) {
    const std::string& message = !fault->message.empty() ? fault->message : fault->reason;
    reply = ErrorReply({.code = *fault->status,
                        .reason = fault->reason,
                        .message = "injected: " + (message.empty() ? std::to_string(*fault->status) : message),
                        .retry_after_seconds = fault->retry_after_seconds});
  } else {
    try {
      reply = Serve(call, fault ? &*fault : nullptr);
    } catch (const std::exception& error) {  // a bug in this server: the client gets an error, and the test continues
      reply = ErrorReply(InternalError(error.what()));
    }
  }
  if (fault) {
    reply.delay = fault->delay;
    reply.cut_after_bytes = fault->cut_after_bytes;
    reply.ends_well = fault->ends_well;
  }
  return reply;
}

std::optional<Fault> ApiServer::TakeFault(const ApiCall& call) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (!fault->verb.empty() && fault->verb != call.verb) continue;
    if (!fault->resource.empty() && fault->resource != call.plural) continue;
    if (!fault->namespace_.empty() && fault->namespace_ != call.namespace_) continue;
    if (fault->skip > 0) {
      --fault->skip;
      continue;
    }
    Fault taken = *fault;
    if (fault->times != kAlways) --fault->times;
    if (fault->times == 0) faults_.erase(fault);
    return taken;
  }
  return std::nullopt;
}

Reply ApiServer::Serve(ApiCall& call, const Fault* fault) {
  if (!call.is_resource) {
    if (auto document = Discover(call)) return *std::move(document);
    return ErrorReply(UnknownPath());
  }
  if (call.resource == nullptr) return ErrorReply(UnknownPath());
  return ServeResource(call, fault);
}

// Serves a verb on an object, its status or its scale.
ApiResult<Reply> ApiServer::ServeVerb(ApiCall& call, const Fault* fault) {
  const bool scale = call.subresource == "scale";
  if (call.verb == "get") return GetObject(call);
  if (call.verb == "list") return ListObjects(call, fault);
  if (call.verb == "watch") return Watch(call, fault);
  if (call.verb == "create" && call.name.empty()) return Create(call);
  if (call.verb == "update") return scale ? UpdateScale(call) : Update(call);
  if (call.verb == "patch") return scale ? PatchScale(call) : Patch(call);
  if (call.verb == "delete" && call.subresource.empty()) return Delete(call);
  if (call.verb == "deletecollection") return DeleteCollection(call);
  return Refuse(MethodNotAllowed());
}

Reply ApiServer::ServeResource(ApiCall& call, const Fault* fault) {
  warnings_.clear();
  const ResourceInfo& info = call.resource->info;
  const bool scale = call.subresource == "scale" && call.resource->scales.contains(call.version);
  const bool status = call.subresource == "status" && info.has_status;
  const bool other = call.resource->subresources.contains(call.subresource);
  if (!call.subresource.empty() && !scale && !status && !other) return ErrorReply(UnknownPath());
  if (info.namespaced && call.namespace_.empty() && call.verb != "list" && call.verb != "watch") {
    return ErrorReply(call.verb == "create" || call.verb == "deletecollection" ? MethodNotAllowed() : UnknownPath());
  }
  if (IsWrite(call.verb) && (call.verb != "create" || !call.name.empty())) RecordWrite(call, call.name);
  if (auto form = Negotiate(call); !form) return ErrorReply(form.error());
  if (auto body = ReceiveProtobuf(call); !body) {
    if (call.verb == "create" && call.name.empty()) RecordWrite(call, "");
    return ErrorReply(body.error());
  }
  if (auto options = CheckOptions(call); !options) return ErrorReply(options.error());
  ApiResult<Reply> reply = other ? ServeSubresource(call) : ServeVerb(call, fault);
  if (run_->waits()) return {};
  if (reply && run_->failure) reply = Refuse(*run_->failure);
  Reply answer = reply ? *std::move(reply) : ErrorReply(reply.error());
  if (!other) SendProtobuf(call, answer);
  // The limit of a real server: clients limit the size of the headers that they read.
  constexpr std::size_t kMostBytes = 4096;
  std::size_t bytes = 0;
  for (std::string& warning : warnings_) {
    bytes += warning.size();
    if (bytes > kMostBytes) break;
    answer.headers.push_back({"warning", std::move(warning)});
  }
  return answer;
}

// Records a write in the first pass that knows its name.
void ApiServer::RecordWrite(const ApiCall& call, std::string_view name) {
  if (run_->waits() || std::exchange(run_->recorded, true)) return;
  writes_.push_back({.verb = call.verb,
                     .resource = call.plural,
                     .subresource = call.subresource,
                     .namespace_ = call.namespace_,
                     .name = std::string(name)});
}

std::string ApiServer::Now(std::int64_t seconds_later) {
  auto wall = std::chrono::floor<std::chrono::seconds>(executor_->clock()->WallNow());
  if (run_ != nullptr) {
    if (!run_->now) run_->now = wall;
    wall = *run_->now;
  }
  wall += std::chrono::seconds(seconds_later);
  const auto day = std::chrono::floor<std::chrono::days>(wall);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(wall - day);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text;
}

// --- The functions of Cluster that need no request

// Returns the call that a client would make for this object.
ApiResult<ApiCall> ApiServer::CallFor(const json& object) {
  if (!object.is_object()) return Refuse(BadRequest("the object is not a JSON object"));
  const std::string api_version = TextAt(object, "apiVersion"), kind = TextAt(object, "kind");
  const auto slash = api_version.find('/');
  ApiCall call;
  call.group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  call.version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  for (const auto& [key, resource] : store_.resources()) {
    if (key.first == call.group && resource->info.kind == kind) call.resource = resource.get();
  }
  if (call.resource == nullptr) {
    return Refuse(
        BadRequest("no resource of kind " + kind + " in version " + api_version + ": AddResource() or a CRD first"));
  }
  call.plural = call.resource->info.plural;
  call.name = TextAt(object, "metadata.name");
  if (call.resource->info.namespaced) {
    call.namespace_ = TextAt(object, "metadata.namespace");
    if (call.namespace_.empty()) call.namespace_ = "default";
  }
  return call;
}

ApiResult<void> ApiServer::Add(std::string_view text) {
  return RunHere([&]() KGEN_REQUIRES(mutex_) -> ApiResult<void> {
    json object = ParseJson(text);
    auto call = CallFor(object);
    if (!call) return Refuse(call.error());
    CreateNamespace(call->namespace_);
    const auto created = CreateObject(*call, std::move(object), /*keep_status=*/true);
    if (!created) return Refuse(created.error());
    return {};
  });
}

ApiResult<void> ApiServer::Update(std::string_view text) {
  // The object and then its status, as two requests of a client.
  const auto write = [&](bool status) {
    return RunHere([&, status]() KGEN_REQUIRES(mutex_) -> ApiResult<void> {
      json object = ParseJson(text);
      auto call = CallFor(object);
      if (!call) return Refuse(call.error());
      const ObjectRef before = store_.Get(*call->resource, call->namespace_, call->name);
      if (!before) return Refuse(NotFound(call->resource->info, call->name));
      if (status) {
        if (!call->resource->info.has_status) return {};
        call->subresource = "status";
        object["metadata"].erase("resourceVersion");
      }
      const auto stored = Replace(*call, before, std::move(object));
      if (!stored) return Refuse(stored.error());
      return {};
    });
  };
  if (auto written = write(false); !written) return written;
  return write(true);
}

ApiResult<std::string> ApiServer::Get(std::string_view plural, std::string_view namespace_, std::string_view name) {
  const MutexLock lock(mutex_);
  const Resource* resource = store_.FindPlural(plural);
  if (resource == nullptr) return Refuse(UnknownPath());
  const ObjectRef object = store_.Get(*resource, namespace_, name);
  if (!object) return Refuse(NotFound(resource->info, name));
  return object->bytes;
}

std::vector<std::string> ApiServer::List(std::string_view plural) {
  const MutexLock lock(mutex_);
  std::vector<std::string> list;
  const Resource* resource = store_.FindPlural(plural);
  if (resource == nullptr) return list;
  for (const auto& [key, object] : resource->objects) list.push_back(object->bytes);
  return list;
}

ApiResult<void> ApiServer::Delete(std::string_view plural, std::string_view namespace_, std::string_view name) {
  return RunHere([&]() KGEN_REQUIRES(mutex_) -> ApiResult<void> {
    const Resource* resource = store_.FindPlural(plural);
    if (resource == nullptr) return Refuse(UnknownPath());
    ApiCall call;
    call.verb = "delete";
    call.group = resource->info.group;
    call.version = resource->info.version;
    call.plural = plural;
    call.namespace_ = namespace_;
    call.name = name;
    call.resource = store_.Find(resource->info.group, resource->info.plural);
    const ObjectRef object = store_.Get(*resource, namespace_, name);
    if (!object) return Refuse(NotFound(resource->info, name));
    if (auto admitted = AdmitDeletion(call, object); !admitted) return Refuse(admitted.error());
    const auto deleted = DeleteObject(call, object, {{"gracePeriodSeconds", 0}});
    if (!deleted) return Refuse(deleted.error());
    return {};
  });
}

ApiResult<void> ApiServer::Corrupt(std::string_view plural, std::string_view namespace_, std::string_view name,
                                   std::string_view text) {
  const MutexLock lock(mutex_);
  const Resource* found = store_.FindPlural(plural);
  if (found == nullptr) return Refuse(UnknownPath());
  Resource* resource = store_.Find(found->info.group, found->info.plural);
  if (!store_.Get(*resource, namespace_, name)) return Refuse(NotFound(resource->info, name));
  store_.PutBytes(*resource, namespace_, name, std::string(text));
  return {};
}

void ApiServer::AddResource(ResourceInfo info) {
  const MutexLock lock(mutex_);
  if (info.singular.empty()) {
    info.singular = info.kind;
    std::transform(info.singular.begin(), info.singular.end(), info.singular.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  }
  if (info.list_kind.empty()) info.list_kind = info.kind + "List";
  Resource& resource = store_.AddResource(std::move(info));
  resource.custom = true;
  resource.compacted = std::max(resource.compacted, store_.resource_version());
}

std::uint64_t ApiServer::resource_version() const {
  const MutexLock lock(mutex_);
  return store_.resource_version();
}

void ApiServer::Compact() {
  const MutexLock lock(mutex_);
  store_.Compact();
}

void ApiServer::SaveCopy() {
  const MutexLock lock(mutex_);
  copy_ = store_.MakeCopy();
}

void ApiServer::RestoreCopy() {
  const MutexLock lock(mutex_);
  store_.Restore(copy_);
  hooks_changed_ = true;
}

void ApiServer::Inject(Fault fault) {
  const auto refuse = [](const char* member, int value, const char* why) {
    throw Exception(
        Error(Code::kInvalidArgument, "Fault::" + std::string(member) + " is " + std::to_string(value) + why));
  };
  if (fault.times <= 0) {
    refuse("times", fault.times,
           ", but it must be positive; kgen::testing::kAlways means every request until ClearFaults()");
  }
  if (fault.skip < 0) refuse("skip", fault.skip, ", but it must not be negative");
  if (fault.status && (*fault.status < 400 || *fault.status > 599)) {
    refuse("status", *fault.status, ", but an HTTP status of an error is 400 to 599; leave it absent for none");
  }
  if (fault.retry_after_seconds && *fault.retry_after_seconds < 0) {
    refuse("retry_after_seconds", *fault.retry_after_seconds, ", but a time is not negative; leave it absent for none");
  }
  const MutexLock lock(mutex_);
  faults_.push_back(std::move(fault));
}

void ApiServer::ClearFaults() {
  const MutexLock lock(mutex_);
  faults_.clear();
}

std::vector<Action> ApiServer::Writes() const {
  const MutexLock lock(mutex_);
  return writes_;
}

void ApiServer::ClearWrites() {
  const MutexLock lock(mutex_);
  writes_.clear();
}

std::size_t ApiServer::open_watches() const {
  const MutexLock lock(mutex_);
  return watches_.size();
}

void ApiServer::Close() {
  caller_->Close();
  std::vector<Shared<WatchStream>> watches;
  std::map<std::uint64_t, Timer> graceful;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    watches.swap(watches_);
    graceful.swap(graceful_);
    for (const auto& watch : watches) {
      watch->cut = true;
      watch->wake = nullptr;
    }
  }
  for (const auto& watch : watches) {
    watch->timeout.Cancel();
    watch->bookmark.Cancel();
    watch->marker.Cancel();
  }
}

}  // namespace kgen::testing
