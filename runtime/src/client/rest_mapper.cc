// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/rest_mapper.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace kgen {
namespace {

constexpr double kRefreshesInARow = 5;
constexpr std::chrono::seconds kBetweenRefreshes(10);

struct Known : SharedObject {
  explicit Known(ServerApi of) : api(std::move(of)) {}
  const ServerApi api;
};

std::string Joined(std::string_view group, std::string_view version) {
  const std::string text = GroupVersion{group, version}.str();
  return group.empty() && version.empty() ? "the core group" : version.empty() ? std::string(group) : text;
}

bool Has(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

class RestMapper::State : public SharedObject {
 public:
  State(kgen::Connection of, Nanos limit) : connection(std::move(of)), timeout(limit) {}

  // The first resource that `fits`; asks the server again where there is none.
  template <typename Fits>
  Result<ResourceMapping> Find(const std::string& what, std::string_view group, std::string_view version, Fits fits) {
    Shared<const Known> known = Current();
    for (bool fresh = false;; fresh = true) {
      if (!known) {
        const std::uint64_t asked = NextQuestion();
        Result<ServerApi> api = Discover(connection, timeout);
        if (!api) return Fail(api.error().With("look up " + what));
        known = MakeShared<Known>(*std::move(api));
        Keep(known, asked);
        fresh = true;
      }
      for (const ApiResource& resource : known->api.resources) {
        if (resource.resource.group != group) continue;
        if (!version.empty() && resource.resource.version != version) continue;
        if (fits(resource)) return ResourceMapping{resource.kind, resource.resource, resource.scope};
      }
      if (fresh || !MayRefresh()) break;
      known = {};
    }
    std::string message = "the server has no " + what + " in " + Joined(group, version);
    for (const DiscoveryFailure& failure : known->api.failures) {
      if (failure.group != group) continue;
      message += "; discovery of " + Joined(failure.group, failure.version) + " failed: " + failure.error.ToString();
    }
    return Fail(Code::kNotFound, message);
  }

  Shared<const Known> Current() const {
    const std::scoped_lock lock(mutex_);
    return known_;
  }
  void Forget() {
    const std::scoped_lock lock(mutex_);
    known_ = {};
    forgotten_ = questions_;  // answers that are under way may be older than what the caller knows
  }

  const kgen::Connection connection;
  const Nanos timeout;

 private:
  std::uint64_t NextQuestion() {
    const std::scoped_lock lock(mutex_);
    return ++questions_;
  }
  // The answer to a newer question stays, and nothing comes back that was forgotten.
  void Keep(const Shared<const Known>& known, std::uint64_t asked) {
    const std::scoped_lock lock(mutex_);
    if (asked <= forgotten_ || asked <= answered_) return;
    known_ = known;
    answered_ = asked;
  }
  // A token bucket of misses.
  bool MayRefresh() {
    const TimePoint now = connection.clock().Now();
    const std::scoped_lock lock(mutex_);
    if (refreshed_ != TimePoint{}) {
      const std::chrono::duration<double> passed = now - refreshed_;
      refreshes_ = std::min(kRefreshesInARow, refreshes_ + passed / kBetweenRefreshes);
    }
    refreshed_ = now;
    if (refreshes_ < 1) return false;
    refreshes_ -= 1;
    return true;
  }

  mutable std::mutex mutex_;
  Shared<const Known> known_{};
  std::uint64_t questions_ = 0, answered_ = 0, forgotten_ = 0;  // by number
  double refreshes_ = kRefreshesInARow;
  TimePoint refreshed_{};
};

RestMapper::RestMapper(Connection connection, Nanos timeout)
    : state_(MakeShared<State>(std::move(connection), timeout)) {}

Result<ResourceMapping> RestMapper::ForKind(const GroupVersionKind& kind) const {
  if (kind.kind.empty()) return Fail(Code::kInvalidArgument, "look up a kind: the kind is empty");
  return state_->Find("kind \"" + kind.kind.str() + '"', kind.group, kind.version,
                      [&](const ApiResource& resource) { return resource.kind.kind == kind.kind; });
}

Result<ResourceMapping> RestMapper::ForResource(const GroupVersionResource& resource) const {
  const std::string name = resource.resource.str();
  if (name.empty()) return Fail(Code::kInvalidArgument, "look up a resource: the resource is empty");
  const std::string what = "resource \"" + name + '"';
  return state_->Find(what, resource.group, resource.version, [&](const ApiResource& candidate) {
    return candidate.resource.resource == name || candidate.singular == name || Has(candidate.short_names, name);
  });
}

std::vector<DiscoveryFailure> RestMapper::failures() const {
  const auto known = state_->Current();
  return known ? known->api.failures : std::vector<DiscoveryFailure>();
}

void RestMapper::Invalidate() { state_->Forget(); }

const Connection& RestMapper::connection() const noexcept { return state_->connection; }

}  // namespace kgen
