// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Manager: runs the controllers of one process and the parts that they share: caches, a client, leader election,
// events, metrics and health.
//
//   kgen::Manager manager = kgen::Must(kgen::Manager::New(config, {.leader_election = {.name = "shop"}}));
//   kgen::Must(manager.Control<Order>("orders").Owns<Deployment>().Reconcile(
//       [](kgen::Request& request) -> kgen::Result<kgen::Requeue> { ... }));
//   kgen::Must(manager.Run(kgen::StopOnSignals()));
//
// Run() starts, in this order: the endpoint; the server of webhooks, because the caches may need its conversions; what
// is added with `before_caches`; the caches, which must sync; what needs no leader; leader election; what needs the
// leader. With shards it joins the others after what needs no leader has started, and leaves before anything ends. It
// ends in the reverse order. The server of webhooks turns unready at once, and serves on while the rest
// ends, at least for WebhookOptions::drain.
#ifndef KGEN_CONTROLLER_MANAGER_H_
#define KGEN_CONTROLLER_MANAGER_H_

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/controller/access_rules.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/controller.h"
#include "kgen/controller/conversion.h"
#include "kgen/controller/endpoint.h"
#include "kgen/controller/event_recorder.h"
#include "kgen/controller/leader_election.h"
#include "kgen/controller/metrics.h"
#include "kgen/controller/shards.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

class Connection;
namespace rest {
struct Config;
}
namespace controller {
class ClustersState;
class ManagerState;
}  // namespace controller

// Options of a manager.
struct ManagerOptions {
  // Default: the name of the lease, or "kgen" if that is "". The name in events, and the field manager of Apply().
  std::string name{};
  LeaderElectionOptions leader_election{};  // Default: none, which is so while its name is empty.
  // Default: none, which is so while its name is empty. Divides the objects, by their namespace, between all managers
  // with the same `name` and `namespace_`: each has a part of them in its caches, and its controllers reconcile these,
  // in every replica, whether it leads or not. docs/shards.md has what that means for controllers. Only
  // ShardBy::kNamespace. If `weights` is empty, the parts are balanced by the number of objects that controllers
  // reconcile. An `identity` is rarely needed.
  ShardOptions shards{};
  // Default: none. With `shards`, the kinds whose objects every replica has in its caches, all of them: those that
  // reconcile calls read across namespaces, or that a function of Watches() maps to keys in other namespaces,
  // {&ConfigMap::kTable}. Cluster-scoped kinds always are. They hold for every version and form of the kind.
  std::vector<const TypeTable*> shards_everywhere{};
  // Default: off, which is so while its addresses are empty; but EndpointOptions that are given without an address mean
  // port 8080. The endpoint for health, metrics and /debug. Its metrics and observer are by default the manager's; its
  // functions run on threads of their own, so that no probe waits for a reconcile call. Managers whose controllers have
  // the same names need a registry of metrics each.
  EndpointOptions endpoint{.address = ""};
  // Default: off. The server of admission and conversion webhooks, which has an I/O thread, threads and a limit of
  // memory of its own, and runs in every replica. While it is off, declared webhooks are not served, and Run() works
  // all the same: tests call them in the in-memory cluster.
  WebhookOptions webhooks{};
  CachesOptions caches{};            // Default: all objects in all namespaces of each kind that is read.
  ControllerDefaults controllers{};  // Default: as in ControllerDefaults. What the builders do not set.
  // Default: 30 s. How long Run() waits for running calls to return once it is stopped. Zero: not at all; kNoLimit: for
  // ever.
  Nanos graceful_shutdown_timeout = std::chrono::seconds(30);
};

// How a manager runs a function.
struct RunnableOptions {
  // Default: true. Whether the function runs only while this process leads.
  bool need_leader_election = true;
  // Whether the function starts before the caches, in every replica, whether it leads or not. Use it for something that
  // the caches need, such as a tunnel. Its reads from the caches wait for them.
  bool before_caches = false;
};

// A handle to a manager: copies share it.
//
// Thread safety: all members from any thread.
// Ownership: Run() keeps everything alive that it started, and drops the functions of controllers and of Add() when it
// has ended; until then, a function that holds the manager keeps it alive. Controllers, clients and caches may outlive
// the manager.
class Manager {
 public:
  // Makes a manager. Opens the ports of the endpoint and of webhooks, and does no other network I/O.
  // Errors: kConfig, kInvalidArgument  options or config contradict each other, an option is out of its range, or
  //                                    controllers could need more threads for blocking work than the executor has.
  //                                    Reconcile() of a controller fails in the same way if all of the manager's need
  //                                    too many: each worker needs a thread, and event handlers need one
  //         kUnavailable               the address of the endpoint or of webhooks is taken
  [[nodiscard]] static Result<Manager> New(const rest::Config& config, ManagerOptions options = {});
  [[nodiscard]] static Result<Manager> New(const kgen::Connection& connection, ManagerOptions options = {});
  Manager(const Manager&) noexcept;
  Manager& operator=(const Manager&) noexcept;
  ~Manager();

  // Returns a builder for a controller of the kind T. Nothing happens before Reconcile() of the builder is called; see
  // kgen/controller/controller.h. Names are unique within a manager, because they are labels of metrics.
  template <typename T>
  ControllerBuilder<T> Control(std::string_view name) const {
    static_assert(
        !std::is_same_v<T, Unstructured>,
        "Control: Unstructured names no kind; write Control(kgen::GroupVersionKind{group, version, kind}, name)");
    static_assert(
        !std::is_same_v<T, PartialObjectMetadata>,
        "Control: PartialObjectMetadata names no kind; write Control(name).WatchesMetadata<T>(f) with the type "
        "of the kind, and read with CachedClient::GetMetadata<T>()");
    return ControllerBuilder<T>(state_, name);
  }
  // Returns a builder for a controller of a kind without generated code.
  ControllerBuilder<Unstructured> Control(GroupVersionKind kind, std::string_view name) const {
    return ControllerBuilder<Unstructured>(state_, name, std::move(kind));
  }
  // Returns a builder for a controller of no kind: its Watches() add the keys.
  ControllerBuilder<void> Control(std::string_view name) const { return ControllerBuilder<void>(state_, name); }

  // Declare webhooks; see kgen/controller/webhook.h and kgen/controller/conversion.h. What is wrong with a declaration
  // is the result of Run().
  template <typename T>
  WebhookBuilder<T> Webhook() const {
    static_assert(!std::is_same_v<T, Unstructured>,
                  "Webhook: Unstructured names no kind; write Webhook(kgen::GroupVersionKind{group, version, kind})");
    return WebhookBuilder<T>(webhook_routes());
  }
  WebhookBuilder<Unstructured> Webhook(GroupVersionKind kind) const {
    return WebhookBuilder<Unstructured>(webhook_routes(), std::move(kind));
  }
  template <typename Hub>
  ConversionBuilder<Hub> Conversion() const {
    return ConversionBuilder<Hub>(webhook_routes());
  }
  // Serves any admission review at `path`, which begins with '/'. Errors: kInvalidArgument  the path is taken or
  // malformed, the function is empty, or Run() was called
  [[nodiscard]] Result<void> RawWebhook(std::string path, RawWebhookFunction function) const;

  // Adds a function that runs as long as the manager, and returns when a stop is requested. If it fails or throws,
  // Run() ends; if it succeeds, Run() goes on. A function that is added before Run() starts with it; one that is added
  // during Run() starts at once, if it may.
  // Errors: kStopped  Run() is ending or has ended
  [[nodiscard]] Result<void> Add(std::string name, std::function<Result<void>(std::stop_token)> run,
                                 RunnableOptions options = {}) const;

  // Returns the name of its cluster, if it is the manager of one of several (kgen/controller/clusters.h); otherwise "".
  const std::string& cluster() const noexcept;

  // Returns a client that reads from the caches and writes to the server, as Request::client() does, but is not bound
  // to a call. With leader election, its writes also fail while this process does not lead. With shards they belong to
  // none, so they are not refused; write what belongs to an object with Request::client().
  const kgen::CachedClient& client() const noexcept;
  const kgen::Caches& caches() const noexcept;
  const kgen::Connection& connection() const noexcept;
  const kgen::Metrics& metrics() const noexcept;
  // Returns a recorder of Events in the name of `controller`.
  EventRecorder events(std::string_view controller) const;

  // Returns the permissions that the declarations so far imply. Asks no server, and does not need Run(), so that a
  // program can print its roles (RolesAsYaml()): make the manager without an address of the endpoint, add the
  // controllers, and return.
  //
  // A controller gets, lists and watches its own kind and what it owns and watches, in the namespaces of
  // CachesOptions::scopes; updates the finalizers of its kind if it owns something, because owner references block the
  // owner's deletion; and creates and patches Events. Leader election works on its Lease, shards on the Leases of their
  // namespace, and EndpointOptions::authorize creates reviews. What functions write, and what they read of other kinds,
  // is not among them.
  [[nodiscard]] std::vector<AccessRule> Rules() const;

  // Add checks of /healthz and /readyz, see Endpoint; /readyz has one named "caches" already, and one named "webhooks"
  // with WebhookOptions::enabled: it passes while the server serves and has a certificate. A check must not hold the
  // manager, which holds the check.
  // Errors: kInvalidArgument (a name that is taken or malformed; Run() has been called).
  [[nodiscard]] Result<void> AddHealthCheck(std::string_view name,
                                            std::function<Result<void>(std::stop_token)> check) const;
  [[nodiscard]] Result<void> AddReadyCheck(std::string_view name,
                                           std::function<Result<void>(std::stop_token)> check) const;
  // Adds a page of your own beside /metrics, see Endpoint::AddPage(). Its function must not hold the manager either,
  // and the errors are the same.
  [[nodiscard]] Result<void> AddPage(std::string_view path, Endpoint::Page page) const;
  const std::string& endpoint_address() const noexcept;        // "[::]:8080"; "" while it is off
  const std::string& endpoint_debug_address() const noexcept;  // of EndpointOptions::debug_address; "" without it
  // Returns the address of /healthz and /readyz: endpoint_address(), unless EndpointOptions::health_address is set.
  const std::string& endpoint_health_address() const noexcept;

  // Returns the address of the server of webhooks: "[::]:9443"; "" while it is off.
  const std::string& webhook_address() const noexcept;

  // Returns true while this process may do the leader's work. Without leader election it returns true as soon as Run()
  // has reached that step.
  bool IsLeader() const noexcept;
  // Returns what this process works on, and what it waits for; nothing without ManagerOptions::shards.
  std::optional<ShardStatus> shards() const;

  // Runs everything until `stop` is requested, and blocks until then. Call it once.
  //
  // Then, and after any error, it stops everything. With shards, its ranges go to the other replicas first, while its
  // controllers still run, which takes some 3 s. Then the tokens of controllers and other functions are requested, so
  // that their calls of the API end; when all have returned, the lease is released and caches, events, the server of
  // webhooks and the endpoint end. If they do not return within `graceful_shutdown_timeout`, the lease is left to
  // expire, and Run() returns while they still run: leave the process then, with std::_Exit() if they refer to objects
  // that are about to be destroyed.
  //
  // Success only if `stop` was requested and everything ended in time. Errors:
  //   the error of the first controller or function that failed
  //   kTimeout          a cache did not sync within CachesOptions::sync_timeout, or something did not end in time; the
  //                     message names it, and the objects whose reconcile calls run
  //   the errors of LeaderElector::WaitUntilLost(): the lease was lost, and another process may lead now
  //   the errors of ShardMember::Run(): other processes may own the ranges of this one now
  //   kInvalidArgument  called twice, or on a thread that must not block; or it is the manager of one of several
  //                     clusters, which runs with these
  [[nodiscard]] Result<void> Run(std::stop_token stop) const;

 private:
  friend class controller::ClustersState;
  friend Shared<controller::WebhookRoutes> detail::WebhookRoutesOf(const Manager& manager);
  explicit Manager(Shared<controller::ManagerState> state) noexcept;
  Shared<controller::WebhookRoutes> webhook_routes() const;
  Shared<controller::ManagerState> state_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_MANAGER_H_
