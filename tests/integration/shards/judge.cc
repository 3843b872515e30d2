// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/shards/judge.h"

#include <k8s/core/v1/client.h>

#include <algorithm>
#include <cstdlib>
#include <stop_token>
#include <utility>

#include "kgen/client/watcher.h"
#include "kgen/core/result.h"

namespace kgen::integration {

using k8s::core::v1::ConfigMap;

Judge::Judge(const Connection& connection, const std::string& fleet) : connection_(connection), prefix_(fleet + "-") {
  const auto list = Must(k8s::core::v1::Client(connection_).ConfigMaps("").List());
  for (const ConfigMap& map : list) See(map, true);
  thread_ = std::jthread(
      [this, version = list.metadata.resourceVersion.str()](const std::stop_token& stop) { Run(stop, version); });
}

Judge::~Judge() = default;

// A watch that ends is opened again where it ended, so that no version is missed.
void Judge::Run(const std::stop_token& stop, std::string version) {
  const auto fault = [&](const Error& error) {
    const std::scoped_lock lock(mutex_);
    faults_.push_back("the judge's watch: " + error.ToString());
  };
  while (!stop.stop_requested()) {
    auto watcher = k8s::core::v1::Client(connection_).ConfigMaps("").Watch({.resource_version = version});
    if (!watcher) return fault(watcher.error());
    for (;;) {
      const auto event = watcher->Next(stop);
      if (!event && (event.error().code() == Code::kCancelled || event.error().code() == Code::kStopped)) break;
      if (!event) return fault(event.error());
      version = event->object->metadata.resourceVersion.str();
      if (event->type != WatchType::kAdded && event->type != WatchType::kModified) continue;
      const std::scoped_lock lock(mutex_);
      See(*event->object, false);
    }
  }
}

// Nothing is known of the order of the writes that were there before.
void Judge::See(const ConfigMap& map, bool listed) {
  const std::string wanted = map.data["wanted"].str();
  if (wanted.empty() || !map.metadata.namespace_.view().starts_with(prefix_)) return;
  Object& object = objects_[map.metadata.namespace_.str() + "/" + map.metadata.name.str()];
  const std::string write = map.data["owner"].str() + " " + map.data["write"].str();
  const bool written = std::exchange(object.write, write) != write && !map.data["owner"].empty() && !listed;
  Space& space = spaces_[map.metadata.namespace_.str()];
  if (space.last_beat == Time()) space.last_beat = std::chrono::steady_clock::now();
  if (map.metadata.name != "beat") {
    if (object.done) --done_[object.wanted];
    object.wanted = wanted;
    object.done = map.data["done"] == wanted;
    if (object.done) ++done_[wanted];
  }
  ++versions_;
  if (written) Check(map, space);
}

// The objects of a namespace change hands together, so all writes of replicas in it are one sequence. Whoever changes
// `wanted` leaves the last write of a replica as it is.
void Judge::Check(const ConfigMap& map, Space& space) {
  const std::string owner = map.data["owner"].str();
  const std::uint64_t fence = std::strtoull(map.data["fence"].str().c_str(), nullptr, 10);
  const std::string what = map.metadata.namespace_.str() + "/" + map.metadata.name.str() + " at " +
                           map.metadata.resourceVersion.str() + ": " + owner + " with the fence " +
                           std::to_string(fence) + " after " + space.owner + " with " + std::to_string(space.fence);
  if (fence < space.fence) {
    faults_.push_back("a late write: " + what);
    return;
  }
  if (fence == space.fence && !space.owner.empty() && owner != space.owner) faults_.push_back("two owners: " + what);
  space.fence = fence;
  space.owner = owner;
  if (map.metadata.name != "beat") return;
  const auto now = std::chrono::steady_clock::now();
  space.longest = std::max(space.longest, std::chrono::duration<double>(now - space.last_beat).count());
  space.last_beat = now;
  filters_[owner] = map.data["filters"].str();
}

// ------------------------------------------------------------------------------------------------------------- reports

double Judge::GapOf(const Space& space) {
  const std::chrono::duration<double> open = std::chrono::steady_clock::now() - space.last_beat;
  return std::max(space.longest, open.count());
}

void Judge::Mark() {
  const std::scoped_lock lock(mutex_);
  for (auto& [name, space] : spaces_) space.longest = 0;
}

Judge::Gap Judge::LongestGap() const {
  Gap longest;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, space] : spaces_) {
    if (GapOf(space) > longest.seconds) longest = {name, GapOf(space)};
  }
  return longest;
}

std::size_t Judge::GapsLongerThan(double seconds) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(spaces_, [&](const auto& each) { return GapOf(each.second) > seconds; }));
}

std::size_t Judge::Silent(double seconds) const {
  const Time now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(spaces_, [&](const auto& each) {
    return std::chrono::duration<double>(now - each.second.last_beat).count() > seconds;
  }));
}

std::size_t Judge::Done(int wanted) const {
  const std::scoped_lock lock(mutex_);
  const auto found = done_.find(std::to_string(wanted));
  return found == done_.end() ? 0 : found->second;
}

std::map<std::string, std::size_t> Judge::Owners() const {
  std::map<std::string, std::size_t> owners;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, space] : spaces_) ++owners[space.owner];
  return owners;
}

std::string Judge::OwnerOf(const std::string& in_namespace) const {
  const std::scoped_lock lock(mutex_);
  const auto found = spaces_.find(in_namespace);
  return found == spaces_.end() ? "" : found->second.owner;
}

std::vector<std::string> Judge::NamespacesOf(const std::string& owner) const {
  std::vector<std::string> names;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, space] : spaces_) {
    if (space.owner == owner) names.push_back(name);
  }
  return names;
}

std::map<std::string, std::string> Judge::Filters() const {
  const std::scoped_lock lock(mutex_);
  return filters_;
}

std::vector<std::string> Judge::Faults() const {
  const std::scoped_lock lock(mutex_);
  return faults_;
}

std::size_t Judge::versions() const {
  const std::scoped_lock lock(mutex_);
  return versions_;
}

}  // namespace kgen::integration
