// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Fleet: the objects that replicas divide on a real server, and the replicas as processes of their own.
#ifndef KGEN_TESTS_INTEGRATION_SHARDS_FLEET_H_
#define KGEN_TESTS_INTEGRATION_SHARDS_FLEET_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"

namespace kgen::integration {

// A process of replica/main.cc. Its output goes into a file, because a full pipe would stop it. Destroying it kills it.
//
// Thread safety: one thread at a time.
class Replica {
 public:
  struct Figures {
    double resident = 0, shared = 0, peak = 0;  // MB: RSS, PSS, and the most that was ever resident
    double cpu = 0;                             // seconds since it began, in user mode and in the kernel
  };

  Replica(const std::string& program, const std::vector<std::string>& arguments, std::string log);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void Signal(int number) const;
  // Waits for its end: its exit code, or minus the signal that ended it; nothing if it still runs then.
  std::optional<int> Wait(std::chrono::seconds limit);
  std::string Log() const;
  bool HasPrinted(std::string_view text) const { return Log().contains(text); }
  Figures Measure() const;

 private:
  const std::string log_;
  pid_t pid_ = -1;  // -1: it has ended and was waited for
};

struct FleetOptions {
  int namespaces = 20;
  int objects = 100;        // in each namespace, besides its beat
  std::size_t bytes = 200;  // of text in each
  bool reconciled = false;  // they begin as if somebody had reconciled them
  std::chrono::milliseconds beat{1000};
  int workers = 16;
  // Everything is in namespaces with this prefix, and the Leases in the one of this name.
  std::string name{};
  std::string program{};  // the path of the replica
  std::string folder{};   // of the logs
};

// Thread safety: one thread at a time.
class Fleet {
 public:
  // Creates the namespaces and the objects, unless they are there. Blocks. Aborts the program if the server refuses.
  Fleet(const Connection& connection, FleetOptions options);

  // With `alone`, the replica has no shards.
  Replica& Start(const std::string& identity, bool alone = false);
  Replica& at(const std::string& identity) { return *replicas_.at(identity); }
  void Drop(const std::string& identity) { replicas_.erase(identity); }
  const std::map<std::string, std::unique_ptr<Replica>>& replicas() const { return replicas_; }

  // Sets `wanted` of the first so many objects of each namespace. Blocks until the server has answered all.
  void Want(int number, int of_each) const;
  void Want(int number) const { Want(number, options_.objects); }
  // Makes the next call for an object of the namespace wait in that replica, for the number that it wants then.
  void Hold(const std::string& in_namespace, const std::string& identity, int wanted) const;
  // The longest time, in seconds, that the server has taken for a write of this object since the last call.
  double TakeSlowest() const;
  // The identity of the replica that makes the map; "" if there is none.
  std::string Assigner() const;
  void DeleteMap() const;

  const std::string& name() const { return options_.name; }
  std::size_t size() const { return static_cast<std::size_t>(options_.namespaces) * options_.objects; }
  std::string Namespace(int number) const;

 private:
  void Create() const;
  void Patch(const std::string& in_namespace, const std::string& name, const std::string& data,
             std::function<void()> done) const;

  const Connection connection_;
  const FleetOptions options_;
  mutable std::atomic<std::int64_t> slowest_ = 0;  // nanoseconds
  std::map<std::string, std::unique_ptr<Replica>> replicas_;
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_SHARDS_FLEET_H_
