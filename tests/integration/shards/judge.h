// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Judge: watches what replicas (replica/main.cc) write on a real server, and says whether they kept their promises.
#ifndef KGEN_TESTS_INTEGRATION_SHARDS_JUDGE_H_
#define KGEN_TESTS_INTEGRATION_SHARDS_JUDGE_H_

#include <k8s/core/v1/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "kgen/client/connection.h"

namespace kgen::integration {

// Sees each stored version of each ConfigMap once, in the order of resource versions, from a raw watch.
//
// Thread safety: all members from any thread.
class Judge {
 public:
  // Lists the objects, and watches them from there on. Blocks for the list.
  // Looks at the objects of that fleet alone.
  Judge(const Connection& connection, const std::string& fleet);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // What a namespace was without for the longest time since Mark().
  struct Gap {
    std::string in_namespace{};
    double seconds = 0;  // between two beats, or since the last one
  };

  // Begins to measure gaps. The time since the last beat of each namespace counts.
  void Mark();
  Gap LongestGap() const;
  // How many namespaces were without a beat for longer than that since Mark().
  std::size_t GapsLongerThan(double seconds) const;

  // How many namespaces have had no beat for so many seconds now.
  std::size_t Silent(double seconds) const;

  // How many objects want that number and were reconciled since they do.
  std::size_t Done(int wanted) const;
  // How many namespaces each replica works on, by the last beats.
  std::map<std::string, std::size_t> Owners() const;
  std::string OwnerOf(const std::string& in_namespace) const;
  std::vector<std::string> NamespacesOf(const std::string& owner) const;
  // Whether the server filters, as each replica has said last: "yes", "no" or "unknown".
  std::map<std::string, std::string> Filters() const;

  // A write that came after a write of a later owner, or two owners with one fence; and what kept the judge from seeing
  // everything. Empty if all is well.
  std::vector<std::string> Faults() const;
  std::size_t versions() const;  // that were seen

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Space {
    std::string owner{};
    std::uint64_t fence = 0;
    Time last_beat{};
    double longest = 0;  // seconds between two beats since Mark()
  };

  struct Object {
    std::string wanted{};
    bool done = false;
    std::string write{};  // the last one of a replica: who has made it, and its number
  };

  void Run(const std::stop_token& stop, std::string version);
  void See(const k8s::core::v1::ConfigMap& map, bool listed);
  void Check(const k8s::core::v1::ConfigMap& map, Space& space);
  static double GapOf(const Space& space);

  const Connection connection_;
  const std::string prefix_;  // of the names of namespaces
  mutable std::mutex mutex_;
  std::map<std::string, Space> spaces_;
  std::unordered_map<std::string, Object> objects_;  // the beats, too
  std::map<std::string, std::size_t> done_;          // objects that are done, by what they want
  std::map<std::string, std::string> filters_;       // by owner
  std::vector<std::string> faults_;
  std::size_t versions_ = 0;
  std::jthread thread_;  // the last member, so that it ends first
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_SHARDS_JUDGE_H_
