// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Clusters: the same controllers in many clusters, which come and go while the process runs.
//
//   kgen::Manager home = kgen::Must(kgen::Manager::New(config, {.endpoint = {.address = ":8080"}}));
//   kgen::Clusters clusters = kgen::Must(kgen::Clusters::New(home, {.secrets = {{.namespace_ = "fleet"}}}));
//   kgen::Must(clusters.Each([hub = home.client()](const kgen::Manager& cluster) -> kgen::Result<void> {
//     KGEN_TRY(const auto orders, cluster.Control<Order>("orders").Owns<Deployment>().Reconcile(
//         [hub](kgen::Request& request) -> kgen::Result<void> {
//           KGEN_TRY(const auto order, request.Get<Order>());  // from request.cluster()
//           if (!order) return {};
//           KGEN_TRY(const auto copy, hub.Apply(CopyOf(*order, request.cluster())));  // to the home cluster
//           return {};
//         }));
//     return {};
//   }));
//   kgen::Must(home.Run(kgen::StopOnSignals()));
//
// Each cluster has a Manager of its own, made and run by Clusters: its connection, caches, clients with the reads of
// their own writes, queues, leader election and events. So nothing that one of them says is about another cluster, and
// Owns() and Watches() see one cluster. All of them use the executor, the log and the endpoint of the home manager.
//
// A cluster that cannot be reached, refuses the credentials, does not sync, loses its lease, or has a controller that
// fails, ends and starts again after a pause; a function that throws is a failed call, as everywhere. Other clusters do
// not notice. See docs/clusters.md.
#ifndef KGEN_CONTROLLER_CLUSTERS_H_
#define KGEN_CONTROLLER_CLUSTERS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/controller/manager.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace rest {
struct Config;
}

// Secrets of the home cluster that have a kubeconfig each. The cluster has the name of its Secret, and is added,
// changed and removed with it. What a Secret says is not trusted: a kubeconfig with a credential plugin would run a
// program in this process' pod, and one that names files would send their content, such as the token of this pod, to a
// server of its choice. Such a kubeconfig is refused unless the options allow it.
struct KubeconfigSecrets {
  std::string namespace_{};  // required
  // Default: the label of multicluster-runtime. "": every Secret of the namespace that has the key.
  std::string label_selector = "sigs.k8s.io/multicluster-runtime-kubeconfig=true";
  std::string key = "kubeconfig";  // Default: "kubeconfig". The key in `data`.
  bool allow_exec = false;         // Default: false. Whether a user may have a credential plugin.
  // Default: false. Whether certificates, keys and tokens may be in files, named by absolute paths.
  bool allow_files = false;
};

// Options of the clusters of a process. Clusters::New() refuses wrong ones with kInvalidArgument.
struct ClustersOptions {
  // Default: as in ManagerOptions. For the manager of each cluster. With a leader election, each replica of the process
  // runs for the lease in every cluster. Without one, all clusters run in the leader of the home manager, whose lease
  // guards their writes. The options of the endpoint and of webhooks must be off, because these are the home manager's.
  // `graceful_shutdown_timeout` should be shorter than the home manager's, which waits for all clusters.
  ManagerOptions manager{};
  // Default: none. The Secrets that are followed.
  std::vector<KubeconfigSecrets> secrets{};
  // Default: Connection::Open(). Makes the connection of a cluster, through a tunnel for instance, from its config with
  // the executor, the observer and the timeout set. Called on a thread that may block, several at once.
  std::function<Result<Connection>(const rest::Config& config)> connect{};
  // Default: 30 s. Config::timeout where a config has none, so that a server that does not answer holds no call for
  // ever.
  Nanos timeout = std::chrono::seconds(30);
  // Default: 1 s and 5 min. The pause after the first failure of a cluster, which doubles with each that follows within
  // ten minutes, and the longest one. With a jitter of a tenth.
  Nanos first_pause = std::chrono::seconds(1);
  Nanos longest_pause = std::chrono::minutes(5);
};

// The state of one cluster, for a page about the process.
struct ClusterStatus {
  enum class State : std::uint8_t {
    kStarting,  // connects, runs the functions of Each(), or fills its caches
    kRunning,   // its caches have synced; whether it leads is another matter
    kPausing,   // it has failed, and starts again
    kStopping,  // it was removed or has changed, and its running calls have not all returned
    kRefused,   // its Secret cannot be used
  };
  std::string name{};              // as it was added; unique in the process
  State state = State::kStarting;  // what it is doing
  std::string source{};            // "Secret fleet/eu-1"; "": Add()
  bool leads = false;              // as Manager::IsLeader()
  int failures = 0;                // in a row
  std::optional<Error> error{};    // the last failure, until it has run for ten minutes; or why the Secret is refused
  Nanos since{};                   // how long it has been in this state; with kRunning, since it started
  Nanos pause{};                   // with kPausing: the time left
};
std::string_view ToString(ClusterStatus::State state) noexcept;  // "starting", "running", ...

// A handle to the clusters of a process: copies share them.
//
// Thread safety: all members from any thread. None blocks.
// Ownership: the home manager keeps the clusters alive until its Run() has ended, which drops the functions of Each().
// The manager of a cluster may be kept longer than the cluster: its reads return the last state, its writes fail.
class Clusters {
 public:
  // A function of Each().
  using Function = std::function<Result<void>(const Manager& cluster)>;

  // Makes the clusters of a manager, which runs them: they start in its Run(), once its caches have synced. It serves
  // their metrics, with the label `cluster`, and their states on /debug, and its Rules() have what following Secrets
  // needs. Call it before Run().
  // Errors: kInvalidArgument  an option is out of its range, as in Manager::New() for `manager`; Run() was called
  [[nodiscard]] static Result<Clusters> New(const Manager& home, ClustersOptions options = {});
  Clusters(const Clusters&) noexcept;
  Clusters& operator=(const Clusters&) noexcept;
  ~Clusters();

  // Adds a function that is called with the manager of each cluster before it runs, to add controllers; also when the
  // cluster starts again. It runs on a thread that may block, and several clusters may call it at once. If it fails or
  // throws, the cluster has failed. Functions that are added during Run() count for clusters that start later.
  // Errors: kInvalidArgument  the function is empty
  [[nodiscard]] Result<void> Each(Function function) const;

  // Adds a cluster, which starts at once if Run() has come so far. A cluster of the same name that was removed and has
  // not ended is waited for. The name has at most 253 letters, digits, '.', '_' and '-'.
  // Errors: kInvalidArgument  the name is malformed or taken
  //         kStopped          Run() is ending or has ended
  [[nodiscard]] Result<void> Add(std::string_view name, const rest::Config& config) const;
  // Gives a cluster another config. If only its token, or only its client certificate and key (as data) have changed,
  // it goes on with these, and no cache is filled again; a connection that was made with ClustersOptions::connect can
  // only change its token so. Otherwise it ends, as if it were removed, and starts again. Errors: kInvalidArgument
  // there is no such cluster, or it comes from a Secret
  //         kStopped          as Add()
  [[nodiscard]] Result<void> Update(std::string_view name, const rest::Config& config) const;
  // Removes a cluster. Its stop is requested now; once its running calls have returned, or after the
  // `graceful_shutdown_timeout`, it is forgotten. From then on its writes fail, also in calls that still run.
  // Errors: kInvalidArgument  there is no such cluster, or it comes from a Secret
  [[nodiscard]] Result<void> Remove(std::string_view name) const;

  // Returns the manager of a cluster, to read from it and to write to it, from controllers of other clusters too. It is
  // another one after the cluster has started again, so do not keep it.
  // Errors: kNotFound     there is no such cluster
  //         kUnavailable  it is not running; the message has its state and its last failure
  [[nodiscard]] Result<Manager> Get(std::string_view name) const;
  // Returns the states of all clusters, by name.
  std::vector<ClusterStatus> status() const;

 private:
  explicit Clusters(Shared<controller::ClustersState> state) noexcept;
  Shared<controller::ClustersState> state_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CLUSTERS_H_
