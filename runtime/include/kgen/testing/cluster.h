// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Cluster: an API server in memory, for tests, demos and the simulator.
//
//   kgen::testing::Cluster cluster({.seed = 1});
//   cluster.Add(kgen::testing::MinimalPod("default", "old"));
//   k8s::Clientset clientset(cluster.Connection());
//   ...
//   cluster.CutWatches();
//   cluster.RunUntilIdle();
//
// A cluster starts with the namespaces default, kube-system, kube-public and kube-node-lease and the Service
// default/kubernetes, as a real one does. A request that creates an object in any other namespace gets 404 until that
// namespace is created; Add() creates it. Deleting a namespace deletes everything in it; finalizers and running pods
// keep it terminating. There is no namespaces/NAME/finalize.
//
// It keeps objects with resource versions, watch history, conflicts, finalizers, status and scale subresources, label
// and field selectors, bookmarks, streaming lists, compaction (410), dry runs, and metadata alone for clients that ask
// for PartialObjectMetadata. For CRDs that were installed it has selectable fields, pruning, defaults, fieldValidation
// (Strict, and Warn as the default), checks of types, required members, enumerations, bounds, lengths, patterns,
// counts, keyed lists and formats, and conversion webhooks. Admission webhooks are called in the order of a server, and
// with its checks and messages; see ServeWebhooks(). There are two endpoints: Connection() is an in-process transport
// in the simulation's virtual time; Serve() is HTTP/2 and HTTP/1.1 over TLS on loopback in real time, for processes
// such as kubectl and for clients in other languages.
//
// It is not a full API server: the integration tests run against a real kube-apiserver. It lacks the following. (The
// lint rule `missing` reports the names in the marks once the code of the server contains them.)
//
// * Built-in kinds have no schema here: they are neither checked nor defaulted, but for the protocol of ports, and
//   fieldValidation knows none of their members except for the members of metadata. Only core, apps, coordination and
//   apiextensions v1 are served, not all of core, and of certificates v1 the CertificateSigningRequests. Of
//   admissionregistration v1 there are the configurations of webhooks, which are checked but not defaulted.
//   <!-- absent: ClusterFirst cronjobs -->
// * Subresources of built-in kinds beside status and scale: pods/eviction deletes the pod, as a delete would, whatever
//   PodDisruptionBudgets say; pods/binding sets spec.nodeName and no condition; serviceaccounts/token returns a made-up
//   text with its expiration, which no request checks; certificatesigningrequests/approval changes status.conditions
//   and metadata, and nothing is signed; pods/ephemeralcontainers changes spec.ephemeralContainers; pods/resize changes
//   resources and resizePolicy of the containers; pods/log returns what SetLog() has set, and ends there even with
//   `follow`. Of the options of a log it knows container, tailLines and limitBytes.
//   <!-- absent: PodDisruptionBudget PodScheduled TokenReview sinceSeconds -->
// * CRDs: no rules in CEL (x-kubernetes-validations), of which the answer to a new CRD warns; no check that a schema is
//   structural, no printer columns. Everything else of a schema is checked as kgen/validation/validate.h says.
//   <!-- absent: messageExpression NonStructuralSchema additionalPrinterColumns -->
// * Bodies are JSON, YAML in requests, and protobuf: in requests for DeleteOptions, Scale and the kinds in
//   ClusterOptions::kinds, which subresources such as pods/eviction need too, and in answers for these kinds, except
//   answers of subresources beside status, and for metadata alone of every kind. No CBOR, no compression. No Table, so
//   kubectl makes its columns itself; no schemas in /openapi, so `kubectl explain` and validation by the client do not
//   work.
//   <!-- absent: cbor gzip columnDefinitions -->
// * Apply merges the applied members and records the fields that the manager applied last, so that ApplyIfChanged() can
//   compare with them. It makes no other use of them: it never conflicts, and never removes what a manager no longer
//   applies. Other writes leave managedFields as they are. It guesses the keys of lists by the names of members, and
//   every other list is owned as a whole. <!-- absent: FieldManagerConflict -->
// * Duplicate members are noticed in JSON that creates or replaces an object, not in patches and YAML. An update that
//   changes more than metadata is checked as a whole; a real server accepts values that were invalid before.
//   <!-- absent: ratcheting -->
// * A strategic merge patch finds the keys of lists by the names of members, since there is no schema.
//   <!-- absent: patch-merge-key -->
// * Admission: webhooks and the checks of namespaces, but no quotas, limit ranges, service accounts or policies.
//   matchConditions need ClusterOptions::match_condition. Reviews are of v1 only. A configuration counts at once, while
//   a real server needs a moment; every request is from the user "tester". Webhooks are not asked about what no client
//   requests: the contents of a deleted namespace, a pod whose grace period ends. No authentication and no
//   authorization: every request may do everything.
//   <!-- absent: SubjectAccessReview auditAnnotations -->
// * Conversion: selectors of lists and watches look at the object as it is stored. A list is converted in one review.
//   Nothing is kept for the next request, but an event is converted once for all watches of a version. A namespace with
//   objects that cannot be converted can be deleted all the same. Nothing migrates stored objects.
//   <!-- absent: StorageVersionMigration -->
// * No controllers: no garbage collector (ownerReferences and propagationPolicy are kept and ignored), no endpoints, no
//   scheduler. Two exceptions: the contents of a deleted namespace go with it, and a pod that has a node is removed
//   after its grace period. Nothing runs, so there are no logs except from SetLog(), and no exec, attach, port-forward
//   or proxy. <!-- absent: orphan foregroundDeletion EndpointSlice portforward attach -->
// * The default Service has no Endpoints, and no ConfigMap kube-root-ca.crt or ServiceAccount appears in a namespace.
//   <!-- absent: kube-root-ca.crt -->
#ifndef KGEN_TESTING_CLUSTER_H_
#define KGEN_TESTING_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"
#include "kgen/testing/simulation.h"
#include "kgen/testing/webhook_fault.h"

namespace kgen {
class Manager;
namespace controller {
class WebhookRoutes;
}
}  // namespace kgen

namespace kgen::testing {

// The options of a Cluster.
struct ClusterOptions {
  std::uint64_t seed = 1;  // Default: 1. Decides all that is left to chance.
  // Default: true. False: real time on the process' executor, for Serve() and demos; RunUntilIdle() then does nothing.
  bool simulated = true;
  // Default: one of its own, from `seed` or `replay`. The simulation of another cluster, which must outlive this one,
  // so that the two have the same time.
  Simulation* simulation = nullptr;
  bool streaming_lists = true;  // Default: true. Answers watches with sendInitialEvents; false: refuses them.
  bool bookmarks = true;        // Default: true. Sends bookmarks to watches that ask for them.
  // Default: false, as on servers. The gate ShardedListAndWatch: lists and watches with a shardSelector send only what
  // that selects, and lists of built-in kinds say so in their metadata. Without the gate the parameter is ignored.
  bool sharded_lists = false;
  std::size_t history = 100'000;  // Default: 100,000. The events kept for watches; older ones give 410.
  Nanos latency{};                // Default: zero. The delay of each response, in virtual time.
  // Default: zero. Lists that may come from the watch cache are so many versions old; see Fault::behind.
  std::uint64_t behind = 0;
  Trace replay{};               // Default: empty. Replaces the seed if it is not.
  Shared<Observer> observer{};  // Default: warnings go to standard error. Of the connections of Connection().
  Shared<Tracer> tracer{};      // Default: none. Of the connections of Connection().
  // Default: none; a configuration of webhooks that has matchConditions is refused then, because the cluster evaluates
  // no CEL. Says whether a condition is true of a request, which is the JSON of an AdmissionRequest without its uid. An
  // exception counts as an error of the condition. Must not block.
  std::function<bool(std::string_view expression, std::string_view request)> match_condition{};
  // Default: none. Kinds whose objects clients may send and receive in protobuf, as all built-in ones do on a real
  // server: k8s::Kinds(). What is behind the span must outlive the cluster, as tables do.
  std::span<const TypeTable* const> kinds{};
};

// A resource that the server serves. Built-in ones of the core, apps, coordination and apiextensions groups exist from
// the start; creating a CRD adds its resource.
struct ResourceInfo {
  // The names, as in the definition of a CRD; the group is "" for the core group.
  std::string group{}, version{}, plural{}, singular{}, kind{}, list_kind{};
  bool namespaced = true;
  bool has_status = false;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};  // "all" is one: kubectl get all
};

// A write in short form, for tests: "create pods default/new", "update orders/status default/first".
struct Action {
  // "create"; "orders"; "status" or ""; "" for cluster-scoped objects; "" for deleteCollection.
  std::string verb{}, resource{}, subresource{}, namespace_{}, name{};
  std::string str() const;  // the short form
};

// The value of Fault::times for every request.
inline constexpr int kAlways = 0x7FFFFFFF;

// A fault that hits requests. Every member narrows it; by default it hits the next request of any kind, once.
struct Fault {
  std::string verb{};                        // "list", "watch", "get", "create", ...; "" any
  std::string resource{};                    // plural; "" any
  std::string namespace_{};                  // of requests for one namespace; "" any
  int times = 1;                             // how many requests it hits; kAlways: all, until ClearFaults(); at least 1
  int skip = 0;                              // so many matching requests succeed first
  std::optional<int> status{};               // respond with this HTTP status and a Status body: 410, 429, 500, 503
  std::string reason{};                      // of that Status
  std::string message{};                     // of that Status; "": a default message
  std::optional<int> retry_after_seconds{};  // of that Status, and in its Retry-After header
  bool refuse = false;                       // connection refused
  bool stall = false;                        // never respond
  std::optional<std::size_t> cut_after_bytes{};  // the connection breaks after so many bytes of the body
  bool ends_well = false;      // with cut_after_bytes: the body ends there as if complete, and the connection stays
  bool no_end_marker = false;  // a streaming list without the bookmark that ends the initial events
  Nanos late_marker{};         // or that bookmark so much later: events until then come before it
  bool drop_bookmarks = false;
  // The response comes from a cache that is so many resource versions behind, if the request allows it: a list or
  // streaming list at "0", or not older than a version. A streaming list without a version also begins with the old
  // state, and catches up with the newest before its marker.
  std::uint64_t behind = 0;
  Nanos delay{};
};

// An API server in memory. Thread safety: all members from any thread (in simulation: the test's thread and handlers).
class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {});
  ~Cluster();  // closes connections and endpoints
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Returns a connection in virtual time. Each call returns a new connection to the same server. A null observer means
  // the one of the options.
  kgen::Connection Connection(Shared<Observer> observer = {});
  // Serves on 127.0.0.1:port (0: any free port) in real time, and returns a kubeconfig as text. Needs simulated =
  // false. Errors: kUnavailable.
  Result<std::string> Serve(std::uint16_t port = 0);

  // Creates an object as a client would, webhooks included, but without faults and latency, and with its status. A
  // namespace that does not exist is created first, which is a separate write with a resource version of its own.
  // Errors: as the server's.
  Result<void> Add(std::string_view json);
  template <detail::HasTable T>
  Result<void> Add(const T& object) {
    return Add(std::string_view(Encode(object)));
  }
  // Updates an object as a client would, webhooks included, but without faults and latency, and with its status. If the
  // object has a resourceVersion, the update is conditional. Errors: as the server's.
  Result<void> Update(std::string_view json);
  template <detail::HasTable T>
  Result<void> Update(const T& object) {
    return Update(std::string_view(Encode(object)));
  }
  // Returns an object as stored (JSON), or kNotFound. `resource` is the plural.
  Result<std::string> Get(std::string_view resource, std::string_view namespace_, std::string_view name) const;
  std::vector<std::string> List(std::string_view resource) const;  // all namespaces, by key
  Result<void> Delete(std::string_view resource, std::string_view namespace_, std::string_view name);
  // Replaces the stored bytes without any check, to store an object that fits no schema. Watches get a MODIFIED event.
  Result<void> Corrupt(std::string_view resource, std::string_view namespace_, std::string_view name,
                       std::string_view json);
  void AddResource(ResourceInfo resource);
  // Sets the text that pods/log returns for a pod, whichever container is asked for; without it the log is empty. The
  // pod need not exist yet.
  void SetLog(std::string_view namespace_, std::string_view pod, std::string text);
  std::uint64_t resource_version() const noexcept;  // of the last write

  // Faults.
  void CutWatches();                                      // every open watch ends with a broken connection
  void EndWatches();                                      // every open watch ends cleanly, as by its server timeout
  void FailWatches(int status, std::string_view reason);  // every open watch ends with an ERROR event
  void Compact();  // forgets the history: resuming a watch from before now gives 410
  void Restart();  // connections break, the history is lost, objects stay
  // Act as when etcd is restored from a backup: SaveCopy() saves the current objects and resource version (before the
  // first call: the objects that every cluster starts with), RestoreCopy() returns to them and restarts. Writes in
  // between are lost, and their versions are used again. Kinds that were installed in between stay, without objects.
  void SaveCopy();
  void RestoreCopy();
  // Adds a fault; the first one that matches a request hits it. Throws Exception if `times` is not positive, `skip` or
  // `retry_after_seconds` is negative, or `status` is no HTTP status of an error.
  void Inject(Fault fault);
  // Adds a fault of calls of webhooks; the first one that matches a call hits it. Throws Exception as Inject() does.
  void InjectWebhook(WebhookFault fault);
  void ClearFaults();  // of both kinds

  // Webhooks. MutatingWebhookConfigurations, ValidatingWebhookConfigurations and CRDs with `strategy: Webhook` are
  // objects as on a server. What they call are the functions of managers in this process, which need not run, for a
  // `service` ("namespace/name"), or for "", every service and URL. The functions run as Blocking work of the
  // simulation, so the time that they take is virtual, and reach timeouts. A service that nobody serves is unreachable.
  void ServeWebhooks(const Manager& manager, std::string_view service = "");
  void ServeWebhooks(const Shared<controller::WebhookRoutes>& routes, std::string_view service = "");
  // With simulated = false: calls a service ("namespace/name") that has no functions here over TLS, at an address such
  // as "127.0.0.1:9443", as a real server would: with HTTP/1.1, `caBundle`, and "name.namespace.svc" as the server's
  // name. A URL that nobody serves here is called too. Throws Exception in a simulation.
  void RouteWebhooks(std::string_view service, std::string_view address);

  // Returns every write of a client that reached the server, in order, including refused ones and dry runs, but without
  // the calls of Add, Update and Delete above and requests that an injected fault answered.
  std::vector<Action> Writes() const;
  void ClearWrites();
  // How many watches, and how many other requests.
  struct Census {
    // The watches that are open, and the other requests.
    std::size_t watches = 0, requests = 0;
  };
  Census census() const noexcept;  // open now

  // Returns the simulation. Throws kgen::Exception unless simulated = true.
  Simulation& simulation();
  // Runs until only housekeeping is left. Throws kgen::Exception when the simulation does not end.
  void RunUntilIdle();
  void Advance(Nanos duration);

 private:
  class Impl;
  Impl* impl_;
};

// The smallest objects that a server accepts, as JSON that converts to any generated type. They need no generated code.
class Minimal {
 public:
  // Takes the JSON of an object, and returns it.
  explicit Minimal(std::string json) : json_(std::move(json)) {}
  const std::string& json() const noexcept { return json_; }
  operator std::string_view() const noexcept { return json_; }
  template <detail::HasTable T>
  operator T() const {
    return Must(kgen::Decode<T>(json_));
  }

 private:
  std::string json_;
};
Minimal MinimalPod(std::string_view namespace_, std::string_view name);
Minimal MinimalObject(std::string_view api_version, std::string_view kind, std::string_view namespace_,
                      std::string_view name);

}  // namespace kgen::testing

// Includes the matchers in a test (googletest was included before this header) if googlemock is installed.
#if defined(EXPECT_EQ) && __has_include(<gmock/gmock.h>)
#include "kgen/testing/matchers.h"
#endif

#endif  // KGEN_TESTING_CLUSTER_H_
