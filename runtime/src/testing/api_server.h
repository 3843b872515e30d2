// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The in-memory API server behind both endpoints of Cluster. It maps requests to replies and watch streams, and does
// not depend on a transport.
//
//   endpoint --Handle(request)--> ApiServer --> Reply (bytes, or a WatchStream that the endpoint reads with Take())
//
//   api_server.cc     request parsing, injected faults, dispatch
//   api_reads.cc      get, list        api_watch.cc   watch
//   api_shards.cc     shardSelector
//   api_writes.cc     create, update, delete   api_patch.cc   patch
//   api_namespaces.cc initial namespaces and the deletion of namespaces
//   api_scale.cc      the scale subresource
//   api_subresources.cc   eviction, binding, token, approval, log and others of built-in resources
//   api_accept.cc     content negotiation (Accept)
//   api_admission.cc  admission webhooks       api_conversion.cc  conversion webhooks
//   api_runs.cc       the passes of a request that waits for webhooks (request_run.h)
//   api_protobuf.cc   protobuf in requests and replies
//   api_fields.cc     unknown fields and defaults
//   api_schema.cc     CRDs; runtime/src/validation checks objects against their schemas
//   api_discovery.cc  /api, /apis, /openapi/v3, /version
#ifndef KGEN_SRC_TESTING_API_SERVER_H_
#define KGEN_SRC_TESTING_API_SERVER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/client/selector.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"
#include "kgen/testing/cluster.h"
#include "testing/api_error.h"
#include "testing/object_store.h"
#include "testing/request_run.h"
#include "testing/webhooks/webhook_caller.h"
#include "testing/webhooks/webhook_rules.h"

namespace kgen::testing {

// A parsed request.
struct ApiCall {
  std::string method, path, content_type, accept, body;
  std::map<std::string, std::string> query;
  std::string
      verb;  // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"; "get" for other paths
  std::string group, version, plural, namespace_, name, subresource;
  bool protobuf = false;         // the client takes protobuf, and prefers it
  std::string metadata_form;     // "meta.k8s.io/v1": responses hold only metadata; "": whole objects
  Resource* resource = nullptr;  // null: the resource is unknown, or the path names none
  bool is_resource = false;      // the path has the form of a resource path; the resource may be unknown
  bool admitted = false;         // admission webhooks have been asked, or are not to be asked

  std::string_view Query(const char* key) const;
  bool Flag(const char* key) const;
};

// A field selector, such as "metadata.name=a,status.phase!=Running".
class FieldSelector {
 public:
  // Returns an error for a field that the resource does not support in this version.
  static ApiResult<FieldSelector> Parse(std::string_view text, const Resource& resource, std::string_view version);
  bool Matches(const StoredObject& object) const;
  bool is_everything() const noexcept { return requirements_.empty(); }

 private:
  struct Requirement {
    std::string path, value;
    std::string absent{};  // the value to compare with if the object lacks the field
    bool equal = true;
  };
  std::vector<Requirement> requirements_;
};

// A shard selector, such as "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')".
class ShardScope {
 public:
  static ApiResult<ShardScope> Parse(std::string_view text);  // "": everything
  bool Matches(const StoredObject& object) const;
  bool is_everything() const noexcept { return !ranges_; }

 private:
  ShardBy by_{};
  std::optional<ShardRanges> ranges_{};
};

struct Scope {
  std::string namespace_;  // "": all
  Selector labels;
  FieldSelector fields;
  ShardScope shard;
  bool Matches(const StoredObject& object) const;
  bool is_everything() const { return labels.is_everything() && fields.is_everything() && shard.is_everything(); }
};

// An open watch. All members are guarded by the server's lock.
struct WatchStream : SharedObject {
  const Resource* resource = nullptr;
  std::string version;                  // of the API
  std::string metadata_form;            // as in ApiCall
  const TypeTable* protobuf = nullptr;  // not null: events are sent in protobuf
  Scope scope;
  bool bookmarks = false;
  std::uint64_t after = 0;  // only later events are sent; a watch from a future version is silent until then
  std::string pending;      // written, but not yet taken by the endpoint
  // What follows an object that is being converted, and that object: events keep their order.
  struct Event {
    std::string type;
    ObjectRef object;                    // null: `text`
    std::uint64_t resource_version = 0;  // not 0: of the event, in place of the object's
    std::string text{};
  };
  std::deque<Event> backlog;
  bool ended = false;  // cleanly, after `pending`
  bool cut = false;    // in the middle of `pending`
  Timer timeout, bookmark, marker;
  std::function<void()> wake;  // called when there is something to take; must only post a task
};

struct Reply {
  int status = 200;
  std::vector<HttpHeader> headers;
  std::string body;
  Shared<WatchStream> watch;  // continues the response after `body`; may be null
  // Injected faults that the endpoint carries out.
  bool refuse = false, stall = false;
  std::optional<std::size_t> cut_after_bytes{};
  bool ends_well = false;
  Nanos delay{};
};

// Thread safety: all members from any thread. The foreign code that it calls are WatchStream::wake and, without its
// lock, webhooks and ClusterOptions::match_condition.
class ApiServer final : public SharedObject {
 public:
  ApiServer(const ClusterOptions& options, Shared<Executor> executor);

  // Returns the reply at once, or nullopt if the request waits for webhooks: `later` is called with it then, in a
  // posted task.
  std::optional<Reply> Handle(const HttpRequest& request, std::function<void(Reply)> later);
  // For a request that concerns no webhook; the reply to another one is empty.
  Reply Handle(const HttpRequest& request) {
    return Handle(request, [](const Reply&) {}).value_or(Reply());
  }
  WebhookCaller& webhooks() noexcept { return *caller_; }
  // The pending output of a watch, and whether and how the watch ended.
  struct Taken {
    std::string bytes;
    bool ended = false, cut = false;
  };
  Taken Take(WatchStream& watch);
  void OnWake(WatchStream& watch, std::function<void()> wake);
  // Called by the endpoint when the reader has disconnected.
  void CloseWatch(WatchStream& watch);

  // Cluster calls these functions, which bypass injected faults and record no writes. Add(), Update() and Delete()
  // block if they need answers of webhooks.
  ApiResult<void> Add(std::string_view json);
  ApiResult<void> Update(std::string_view json);
  ApiResult<std::string> Get(std::string_view plural, std::string_view namespace_, std::string_view name);
  std::vector<std::string> List(std::string_view plural);
  ApiResult<void> Delete(std::string_view plural, std::string_view namespace_, std::string_view name);
  ApiResult<void> Corrupt(std::string_view plural, std::string_view namespace_, std::string_view name,
                          std::string_view json);
  void AddResource(ResourceInfo info);
  void SetLog(std::string_view namespace_, std::string_view pod, std::string text);
  std::uint64_t resource_version() const;

  void EndWatches(bool cut);
  void FailWatches(int status, std::string_view reason);
  void Compact();
  void SaveCopy();
  void RestoreCopy();
  void Inject(Fault fault);
  void ClearFaults();
  std::vector<Action> Writes() const;
  void ClearWrites();
  std::size_t open_watches() const;
  // Drops everything that refers to timers or endpoints. The server serves no requests afterwards.
  void Close();

 private:
  using json = nlohmann::json;

  // api_server.cc
  void AddBuiltIns() KGEN_REQUIRES(mutex_);
  Reply Answer(const HttpRequest& request) KGEN_REQUIRES(mutex_);
  ApiCall Parse(const HttpRequest& request) KGEN_REQUIRES(mutex_);
  void ParsePath(ApiCall& call, std::string_view path) KGEN_REQUIRES(mutex_);
  std::optional<Fault> TakeFault(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<ApiCall> CallFor(const json& object) KGEN_REQUIRES(mutex_);
  Reply Serve(ApiCall& call, const Fault* fault) KGEN_REQUIRES(mutex_);
  Reply ServeResource(ApiCall& call, const Fault* fault) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> ServeVerb(ApiCall& call, const Fault* fault) KGEN_REQUIRES(mutex_);
  void RecordWrite(const ApiCall& call, std::string_view name) KGEN_REQUIRES(mutex_);
  std::string Now(std::int64_t seconds_later = 0) KGEN_REQUIRES(mutex_);

  // api_runs.cc
  struct KeptRun;
  Reply Pass(const HttpRequest& request, RequestRun& run);
  void Continue(const Shared<KeptRun>& kept);
  void AskAll(const Shared<KeptRun>& kept, std::function<void()> done);
  void AskConversion(const Shared<KeptRun>& kept, const ConversionBatch& batch, const std::function<void()>& answered);
  // Runs `pass` under the lock, again and again until it does not wait for webhooks any more. Blocks meanwhile.
  ApiResult<void> RunHere(const std::function<ApiResult<void>()>& pass);
  std::uint64_t Draw() KGEN_REQUIRES(mutex_);  // a number that no object has had

  // api_admission.cc
  bool HasHooks(const ApiCall& call) KGEN_REQUIRES(mutex_);
  // Call the webhooks that concern the request. `object` is null for a deletion, `old` for a creation. `object` becomes
  // what the webhooks make of it.
  ApiResult<void> Mutate(const ApiCall& call, std::string_view operation, json* object, const json* old)
      KGEN_REQUIRES(mutex_);
  ApiResult<void> Validate(const ApiCall& call, std::string_view operation, const json* object, const json* old)
      KGEN_REQUIRES(mutex_);
  ApiResult<bool> MutateOnce(const Hook& hook, const std::string& version, const ApiCall& call,
                             std::string_view operation, json* object, const json* old, int round)
      KGEN_REQUIRES(mutex_);
  ApiResult<std::optional<AdmissionVerdict>> AskHook(const Hook& hook, const json& request, const std::string& round)
      KGEN_REQUIRES(mutex_);
  ApiResult<bool> MeetsConditions(const Hook& hook, const json& request) KGEN_REQUIRES(mutex_);
  ApiResult<json> AdmissionRequestOf(const ApiCall& call, std::string_view operation, const std::string& version,
                                     const json* object, const json* old) KGEN_REQUIRES(mutex_);
  AdmissionTarget TargetOf(const ApiCall& call, std::string_view operation, const json* object, const json* old) const
      KGEN_REQUIRES(mutex_);
  const json* NamespaceLabels(const ApiCall& call, std::string_view operation, const json* object) const
      KGEN_REQUIRES(mutex_);
  ApiResult<void> CheckConfiguration(const ApiCall& call, const json& object) const;
  void Warn(const std::string& text) KGEN_REQUIRES(mutex_);

  // api_conversion.cc
  // Returns the object in a version of its resource: itself, or a new value in `room`. Errors: Suspended() if the run
  // waits for the conversion; the error of the conversion
  ApiResult<const json*> InVersion(const json& value, const Resource& resource, std::string_view version, json& room)
      KGEN_REQUIRES(mutex_);
  // Returns a new object in the version in which the resource is stored.
  ApiResult<json> StorageForm(const ApiCall& call, json object) KGEN_REQUIRES(mutex_);
  // To be called before a change: waits for the conversion that the reply needs. Its failure does not hinder the
  // change.
  ApiResult<void> PrepareReply(const ApiCall& call, const json& stored) KGEN_REQUIRES(mutex_);
  bool NeedsConversion(const StoredObject& object, const Resource& resource, std::string_view version) const;
  std::string ReviewUid(std::string_view key) KGEN_REQUIRES(mutex_);
  static WebhookRequest ConversionCall(const ConversionBatch& batch, std::string_view uid);
  static ReviewResult<std::vector<json>> ReadConversion(const ConversionBatch& batch, std::string_view uid,
                                                        const WebhookOutcome& outcome);
  // Starts the conversions for a watch that nobody has started yet, and sends what is ready.
  void ConvertBacklog(WatchStream& watch) KGEN_REQUIRES(mutex_);
  void OnConverted(const std::string& version, const std::vector<ObjectRef>& objects,
                   const ReviewResult<std::vector<json>>& converted) KGEN_REQUIRES(mutex_);
  void SendBacklog(WatchStream& watch) KGEN_REQUIRES(mutex_);
  void SendConverted(WatchStream& watch, const WatchStream::Event& event, json value) KGEN_REQUIRES(mutex_);

  // api_reads.cc
  ApiResult<Reply> GetObject(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> ListObjects(const ApiCall& call, const Fault* fault) KGEN_REQUIRES(mutex_);
  std::uint64_t VersionOfCache(const Resource& resource, std::uint64_t least, const Fault* fault) const
      KGEN_REQUIRES(mutex_);
  ApiResult<Scope> ParseScope(const ApiCall& call) const;
  ApiResult<std::optional<std::uint64_t>> ParseVersion(std::string_view text, bool future = false) const
      KGEN_REQUIRES(mutex_);
  std::string ListBody(const ApiCall& call, const std::vector<ObjectRef>& objects, const json& metadata)
      KGEN_REQUIRES(mutex_);

  // api_watch.cc
  ApiResult<Reply> Watch(const ApiCall& call, const Fault* fault) KGEN_REQUIRES(mutex_);
  void OnEvent(const Resource& resource, const StoreEvent& event) KGEN_REQUIRES(mutex_);
  void SendInitial(WatchStream& watch, std::uint64_t at) KGEN_REQUIRES(mutex_);
  void SendSince(WatchStream& watch, std::uint64_t from) KGEN_REQUIRES(mutex_);
  void StreamList(const Shared<WatchStream>& watch, const std::optional<std::uint64_t>& version, bool wants_bookmarks,
                  const Fault* fault) KGEN_REQUIRES(mutex_);
  void SendEvent(WatchStream& watch, const StoreEvent& event) KGEN_REQUIRES(mutex_);
  void SendObject(WatchStream& watch, std::string_view type, const ObjectRef& object,
                  std::uint64_t resource_version = 0) KGEN_REQUIRES(mutex_);
  void SendLine(WatchStream& watch, std::string_view type, std::string_view object) KGEN_REQUIRES(mutex_);
  static void WriteLine(WatchStream& watch, std::string_view type, std::string_view object);
  void SendBookmark(WatchStream& watch, std::uint64_t version, bool end_of_initial_events) KGEN_REQUIRES(mutex_);
  void ArmTimers(const Shared<WatchStream>& watch, const ApiCall& call) KGEN_REQUIRES(mutex_);
  void ArmBookmark(const Shared<WatchStream>& watch) KGEN_REQUIRES(mutex_);
  void EndWatch(WatchStream& watch, bool cut) KGEN_REQUIRES(mutex_);

  // api_writes.cc
  static ApiResult<void> CheckOptions(const ApiCall& call);
  ApiResult<json> ParseObject(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> Create(ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<ObjectRef> CreateObject(ApiCall& call, json object, bool keep_status) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> Update(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> Patch(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<json> PatchValue(const ApiCall& call, const json& before) const;
  ApiResult<Reply> Apply(ApiCall call, const ObjectRef& before) KGEN_REQUIRES(mutex_);
  ApiResult<void> MutateNew(ApiCall& call, json& object) KGEN_REQUIRES(mutex_);
  ApiResult<ObjectRef> Replace(const ApiCall& call, const ObjectRef& before, json next) KGEN_REQUIRES(mutex_);
  ApiResult<void> MutateNext(const ApiCall& call, const StoredObject& before, const json& old, json& next)
      KGEN_REQUIRES(mutex_);
  static void MergeParts(const ApiCall& call, const StoredObject& before, const json& old, json& next);
  ApiResult<ObjectRef> Store(const ApiCall& call, const ObjectRef& before, json next) KGEN_REQUIRES(mutex_);
  ApiResult<void> CheckPreconditions(const ApiCall& call, const ObjectRef& before, const json& next) const;
  static ApiResult<json> ParseDeleteOptions(const ApiCall& call);
  static ApiResult<void> CheckDeletion(const Resource& resource, const StoredObject& object, const json& options);
  ApiResult<Reply> Delete(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<ObjectRef> DeleteObject(const ApiCall& call, const ObjectRef& object, const json& options)
      KGEN_REQUIRES(mutex_);
  // Asks the webhooks, and waits for what the reply needs.
  ApiResult<void> AdmitDeletion(const ApiCall& call, const ObjectRef& object) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> DeleteCollection(const ApiCall& call) KGEN_REQUIRES(mutex_);
  void RemoveLater(const Resource& resource, const ObjectRef& object, Nanos grace) KGEN_REQUIRES(mutex_);
  std::string NewUid() KGEN_REQUIRES(mutex_);

  // api_namespaces.cc
  void AddInitialObjects() KGEN_REQUIRES(mutex_);
  void CreateNamespace(std::string_view name) KGEN_REQUIRES(mutex_);
  ApiResult<void> CheckNamespace(const ApiCall& call) const KGEN_REQUIRES(mutex_);
  ObjectRef DeleteNamespace(Resource& namespaces, const ObjectRef& object) KGEN_REQUIRES(mutex_);
  void FinishNamespace(std::string_view name) KGEN_REQUIRES(mutex_);

  // api_scale.cc
  ApiResult<Reply> GetScale(const ApiCall& call, const ObjectRef& object) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> UpdateScale(const ApiCall& call) KGEN_REQUIRES(mutex_);
  ApiResult<void> AdmitScale(const ApiCall& call, const ObjectRef& before, json& scale) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> PatchScale(ApiCall call) KGEN_REQUIRES(mutex_);
  static ApiResult<std::int64_t> DesiredReplicas(const ApiCall& call, const json& scale);
  ApiResult<json> ScaleOf(const ApiCall& call, const ObjectRef& object) KGEN_REQUIRES(mutex_);

  // api_subresources.cc
  void AddSubresources() KGEN_REQUIRES(mutex_);
  ApiResult<Reply> ServeSubresource(const ApiCall& call) KGEN_REQUIRES(mutex_);
  // Returns `before` with the part of `next` that the subresource may change.
  static json OnlyPart(std::string_view subresource, const json& before, json next);
  ApiResult<Reply> Bind(const ApiCall& call, const ObjectRef& pod, const json& binding) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> Evict(const ApiCall& call, const json& eviction) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> CreateToken(const ApiCall& call, json request) KGEN_REQUIRES(mutex_);
  ApiResult<Reply> GetLog(const ApiCall& call) KGEN_REQUIRES(mutex_);

  // api_accept.cc
  ApiResult<void> Negotiate(ApiCall& call) const;
  static bool WantsAggregatedDiscovery(const ApiCall& call);
  std::string Bytes(const ObjectRef& object, const Resource& resource, std::string_view version,
                    const std::string& form) KGEN_REQUIRES(mutex_);
  std::string Bytes(const ObjectRef& object, const ApiCall& call) KGEN_REQUIRES(mutex_);

  // api_protobuf.cc
  // The table of a kind, of the objects of a call, or of the body of its request, in protobuf; or null.
  const TypeTable* TableOf(std::string_view group, std::string_view version, std::string_view kind) const;
  const TypeTable* TableOf(const ApiCall& call) const;
  const TypeTable* TableOfAnswer(const ApiCall& call) const;  // metadata alone has one for every kind
  const TypeTable* TableOfBody(const ApiCall& call) const;
  void SendProtobuf(const ApiCall& call, Reply& reply) const;
  ApiResult<void> ReceiveProtobuf(ApiCall& call) const;
  static void SendFrame(WatchStream& watch, std::string_view type, std::string_view object);

  // api_fields.cc
  static std::vector<std::string> DropUnknown(const Resource& resource, std::string_view version, json& object);
  static std::vector<std::string> DropUnknown(const ApiCall& call, json& object) {
    return DropUnknown(*call.resource, call.version, object);
  }
  std::string StrictComplaint(const ApiCall& call, const std::vector<std::string>& duplicates,
                              const std::vector<std::string>& unknown) KGEN_REQUIRES(mutex_);
  // Prunes the object and sets defaults, by the schema of the version.
  static void Complete(const Resource& resource, std::string_view version, json& object);

  // api_schema.cc
  ApiResult<void> CheckObject(const ApiCall& call, const json& object) const;
  static void NoteStoredVersion(json& crd);  // in its status
  void InstallCrd(const ObjectRef& crd) KGEN_REQUIRES(mutex_);
  void WarnOfRules(const nlohmann::json& crd) KGEN_REQUIRES(mutex_);
  void RemoveCrd(const ObjectRef& crd) KGEN_REQUIRES(mutex_);

  // api_discovery.cc
  std::optional<Reply> Discover(const ApiCall& call) const KGEN_REQUIRES(mutex_);
  json ResourceList(std::string_view group, std::string_view version) const KGEN_REQUIRES(mutex_);
  json AggregatedGroup(const std::string& group, const std::set<std::string>& versions) const KGEN_REQUIRES(mutex_);
  json OpenApi(std::string_view group, std::string_view version) const KGEN_REQUIRES(mutex_);

  const ClusterOptions options_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;  // runs the timers
  const Shared<WebhookCaller> caller_;
  mutable Mutex mutex_;  // never held while foreign code runs
  ObjectStore store_ KGEN_GUARDED_BY(mutex_);
  ObjectStore::Copy copy_ KGEN_GUARDED_BY(mutex_);  // the state that RestoreCopy() restores
  std::vector<Shared<WatchStream>> watches_ KGEN_GUARDED_BY(mutex_);
  std::vector<Fault> faults_ KGEN_GUARDED_BY(mutex_);
  std::vector<Action> writes_ KGEN_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, std::string>, std::string> logs_ KGEN_GUARDED_BY(mutex_);  // by namespace and pod
  std::vector<std::string> warnings_ KGEN_GUARDED_BY(mutex_);  // Warning headers of the response to the current request
  std::map<std::uint64_t, Timer> graceful_ KGEN_GUARDED_BY(mutex_);  // timers of graceful deletions in progress
  std::uint64_t next_graceful_ KGEN_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_id_ KGEN_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_review_ KGEN_GUARDED_BY(mutex_) = 0;
  RequestRun* run_ KGEN_GUARDED_BY(mutex_) = nullptr;  // of the current pass; null: nobody can wait for webhooks
  std::vector<Hook> mutating_ KGEN_GUARDED_BY(mutex_), validating_ KGEN_GUARDED_BY(mutex_);  // in the order of calls
  bool hooks_changed_ KGEN_GUARDED_BY(mutex_) = false;
  // What watches have converted or wait for, by the object and the version of the API.
  struct WatchedConversion {
    ObjectRef object;
    bool done = false;
    json value{};
    std::string failure{};
  };
  std::map<std::pair<const StoredObject*, std::string>, WatchedConversion> watched_ KGEN_GUARDED_BY(mutex_);
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

// Look up a member by its dotted path, such as "metadata.labels.app". The JSON may have any shape: FindPath() returns
// null, and TextAt() an empty string, if there is no such member.
const nlohmann::json* FindPath(const nlohmann::json& object, std::string_view path);
std::string TextAt(const nlohmann::json& object, std::string_view path);
bool IsWrite(std::string_view verb);
// The query or the DeleteOptions may request a dry run.
bool IsDryRun(const ApiCall& call, const nlohmann::json& options);
// Returns the apiVersion and kind that the body of a request must have.
std::pair<std::string, std::string> KindOfBody(const ApiCall& call);
std::string ApiVersionOf(const Resource& resource, std::string_view version);
bool HasFinalizers(const nlohmann::json& object);
bool IsNamespace(const ResourceInfo& info);
// Returns whether a real server refuses to delete this namespace.
bool IsImmortalNamespace(std::string_view name);
// Sets the members that the server sets in a new namespace. The namespace must have a name.
void CompleteNamespace(nlohmann::json& object);

// Returns whether the value is nested more than 256 levels deep.
bool NestsTooDeep(const nlohmann::json& value);
// Parses JSON and adds the paths of duplicate members to `duplicates`. The value is discarded() if `text` is not JSON.
nlohmann::json ParseStrictly(std::string_view text, std::vector<std::string>& duplicates);

Reply JsonReply(int status, std::string body);
Reply ErrorReply(const ApiError& error);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_API_SERVER_H_
