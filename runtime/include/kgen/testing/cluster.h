// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Cluster: an API server in memory, for tests, demos and the simulator. [D18]
//
//   kgen::testing::Cluster cluster({.seed = 1});
//   cluster.Add(kgen::testing::MinimalPod("default", "old"));
//   k8s::Clientset clientset(cluster.Connection());
//   ...
//   cluster.CutWatches();
//   cluster.RunUntilIdle();
//
// It keeps objects with resource versions, watch history, conflicts, finalizers, status and scale subresources, label
// and field selectors, bookmarks, streaming lists, compaction (410) and, for CRDs that were installed, selectable
// fields, pruning, defaults and checks of types, required members and enumerations. Two doors: Connection() is an
// in-process transport in the simulation's virtual time; Serve() is HTTP/2 over TLS on loopback in real time, good
// enough for kubectl.
//
// It is not a Kubernetes, and the judge is a real kube-apiserver. There is no admission, no garbage collector, no
// controller and no conversion; built-in kinds are neither checked nor defaulted; of schemas, bounds, patterns, formats
// and rules are not checked, and fieldValidation is ignored. Apply merges what is applied and notes the manager, but
// nobody owns fields: it never conflicts, and never removes what a manager no longer applies.
#ifndef KGEN_TESTING_CLUSTER_H_
#define KGEN_TESTING_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"
#include "kgen/testing/simulation.h"

namespace kgen::testing {

struct ClusterOptions {
  std::uint64_t seed = 1;
  bool simulated =
      true;  // false: real time on the process' executor, for Serve() and demos; RunUntilIdle() then does nothing
  bool streaming_lists = true;  // send initial events and the end marker when asked [CLI FAKE-14 overruled: D18]
  bool bookmarks = true;
  std::size_t history = 100'000;  // events kept for watches; older ones give 410
  Nanos latency{};                // of each answer, in virtual time
  std::uint64_t behind = 0;       // lists that may come from the watch cache show so old a state: see Fault::behind
  Trace replay{};                 // instead of the seed, if not empty
  Shared<Observer> observer{};    // of the connections of Connection(); null: warnings go to standard error
};

// A resource that the server knows. Built-in ones of the core, apps, coordination and apiextensions groups are there
// from the start; a CRD that is created adds its own.
struct ResourceInfo {
  std::string group{}, version{}, plural{}, singular{}, kind{}, list_kind{};
  bool namespaced = true;
  bool has_status = false;
  std::vector<std::string> short_names{};
};

// One write as a test wants to see it: "create pods default/new", "update orders/status default/first". [CLI FAKE]
struct Action {
  std::string verb{}, resource{}, subresource{}, namespace_{}, name{};
  std::string str() const;
};

// A fault that hits requests. Every member narrows it; by default it hits the next request of any kind, once.
struct Fault {
  std::string verb{};      // "list", "watch", "get", "create", ...; "" any
  std::string resource{};  // plural; "" any
  int times = 1;           // 0 or less: until ClearFaults()
  int skip = 0;            // so many matching requests go through first
  int status = 0;          // answered with this HTTP status and a Status body: 410, 429, 500, 503
  std::string reason{};    // of that Status
  std::string message{};   // of that Status; "": one of our own
  int retry_after_seconds = 0;
  bool refuse = false;         // connection refused
  bool stall = false;          // answers nothing, ever
  int cut_after_bytes = -1;    // the connection breaks after so many bytes of the body
  bool ends_well = false;      // it does not break there, the body ends as if that were all of it
  bool no_end_marker = false;  // a streaming list without the bookmark that ends the initial events
  Nanos late_marker{};         // or that bookmark so much later: what happens meanwhile comes before it
  bool drop_bookmarks = false;
  // Answered from a cache that is so many resource versions behind, as far as the request allows it: a list or
  // streaming list at "0", or not older than a version. A streaming list without a version begins with the old state
  // too, and comes up to the newest before its marker.
  std::uint64_t behind = 0;
  Nanos delay{};
};

// Thread safety: all members from any thread (in simulation: the test's thread and handlers).
class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {});
  ~Cluster();  // closes connections and doors
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // A connection through the first door. Each call gives a new one over the same server.
  kgen::Connection Connection();
  // The second door: binds 127.0.0.1:port (0: any) and gives a kubeconfig, as text. Errors: kUnavailable. Needs
  // simulated = false.
  Result<std::string> Serve(std::uint16_t port = 0);

  // Puts an object there as a client would with create, past faults and latency; unlike a client it may bring a status.
  // Errors: as the server's.
  Result<void> Add(std::string_view json);
  template <detail::HasTable T>
  Result<void> Add(const T& object) {
    return Add(std::string_view(Encode(object)));
  }
  // Replaces an object as a client would with update, status included, past faults and latency. With a resourceVersion
  // in it the update is conditional. Errors: as the server's.
  Result<void> Update(std::string_view json);
  template <detail::HasTable T>
  Result<void> Update(const T& object) {
    return Update(std::string_view(Encode(object)));
  }
  // An object as stored (JSON), or kNotFound. `resource` is the plural.
  Result<std::string> Get(std::string_view resource, std::string_view namespace_, std::string_view name) const;
  std::vector<std::string> List(std::string_view resource) const;  // all namespaces, by key
  Result<void> Delete(std::string_view resource, std::string_view namespace_, std::string_view name);
  // Replaces the stored bytes without any check: how an object that fits no schema gets there. A MODIFIED event tells
  // of it.
  Result<void> Corrupt(std::string_view resource, std::string_view namespace_, std::string_view name,
                       std::string_view json);
  void AddResource(ResourceInfo resource);
  std::uint64_t resource_version() const noexcept;  // of the last write

  // Faults.
  void CutWatches();                                      // every open watch breaks off in the middle
  void EndWatches();                                      // every open watch ends cleanly, as by its server timeout
  void FailWatches(int status, std::string_view reason);  // every open watch ends with an ERROR event
  void Compact();  // forgets the history: resuming a watch from before now gives 410
  void Restart();  // connections break, history is gone, objects stay
  // As when etcd is restored from an older copy: SaveCopy() remembers the objects and the resource version of this
  // moment (before the first call: no objects), RestoreCopy() goes back to them and restarts. What was written in
  // between is lost, and its versions are given out again. Kinds that were installed meanwhile stay, without objects.
  void SaveCopy();
  void RestoreCopy();
  void Inject(Fault fault);
  void ClearFaults();

  // Every write of a client that reached the server, in order, refused and dry ones too (Add and Delete above are not
  // among them, nor what an injected fault answered).
  std::vector<Action> Writes() const;
  void ClearWrites();
  struct Census {
    std::size_t watches = 0, requests = 0;
  };
  Census census() const noexcept;  // open now

  // Only with simulated = true; throws kgen::Exception otherwise.
  Simulation& simulation();
  // Runs until nothing but housekeeping is left. Throws kgen::Exception when the simulation says that it never ends:
  // for tests.
  void RunUntilIdle();
  void Advance(Nanos duration);

 private:
  class Impl;
  Impl* impl_;
};

// The least of an object that a server takes, as JSON that turns into any generated type: no generated code is needed
// here.
class Minimal {
 public:
  explicit Minimal(std::string json) : json_(std::move(json)) {}
  const std::string& json() const noexcept { return json_; }
  operator std::string_view() const noexcept { return json_; }  // NOLINT(google-explicit-constructor)
  template <detail::HasTable T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    return Must(kgen::Decode<T>(json_));
  }

 private:
  std::string json_;
};
Minimal MinimalPod(std::string_view namespace_, std::string_view name);
Minimal MinimalObject(std::string_view api_version, std::string_view kind, std::string_view namespace_,
                      std::string_view name);

}  // namespace kgen::testing

// In a test (googletest was included before this header), the matchers come along where googlemock is installed.
#if defined(EXPECT_EQ) && __has_include(<gmock/gmock.h>)
#include "kgen/testing/matchers.h"
#endif

#endif  // KGEN_TESTING_CLUSTER_H_
