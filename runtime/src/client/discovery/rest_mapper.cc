// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/rest_mapper.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "client/request/errors.h"
#include "core/memory/mutex.h"
#include "core/out_of_memory.h"
#include "kgen/core/waiter.h"

namespace kgen {
namespace {

constexpr double kRefreshesInARow = 5;
constexpr std::chrono::seconds kBetweenRefreshes(10);

std::string Joined(std::string_view group, std::string_view version) {
  const std::string text = GroupVersion{group, version}.str();
  return group.empty() && version.empty() ? "the core group" : version.empty() ? std::string(group) : text;
}

bool Has(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

struct Known : SharedObject {
  explicit Known(ServerApi of) : api(std::move(of)) {}

  // Returns the first resource that `fits`. Fails if a version that could not be read might have one that precedes it.
  template <typename Fits>
  Result<ResourceMapping> Find(const std::string& what, std::string_view group, std::string_view version,
                               const Fits& fits) const {
    const auto found = std::find_if(api.resources.begin(), api.resources.end(), [&](const ApiResource& resource) {
      return resource.resource.group == group && (version.empty() || resource.resource.version == version) &&
             fits(resource);
    });
    const auto position = static_cast<std::size_t>(found - api.resources.begin());
    const std::string looking = "look up " + what + " in " + Joined(group, version);
    for (const DiscoveryFailure& failure : api.failures) {
      if (failure.group != group || (!version.empty() && failure.version != version)) continue;
      const std::string failed = "discovery of " + Joined(group, failure.version) + " failed";
      if (found == api.resources.end()) return Fail(failure.error.With(failed).With(looking));
      if (failure.position > position || found->resource.version == failure.version) continue;
      const std::string other = Joined(group, found->resource.version);
      return Fail(failure.error.With(failed + ", and " + other + " is used only if it is named").With(looking));
    }
    if (found != api.resources.end()) return ResourceMapping{found->kind, found->resource, found->scope};
    return Fail(Code::kNotFound, "the server has no " + what + " in " + Joined(group, version));
  }

  const ServerApi api;
};

// One discovery and the callers that wait for it. Guarded by the mutex of the mapper.
struct Question : SharedObject {
  std::vector<Shared<Waiter>> waiters{};
  std::optional<Result<Shared<const Known>>> answer{};
};

}  // namespace

class RestMapper::State : public SharedObject {
 public:
  State(kgen::Connection of, std::optional<Nanos> limit) : connection(std::move(of)), timeout(limit) {}

  template <typename Fits>
  Result<ResourceMapping> Find(const std::string& what, std::string_view group, std::string_view version,
                               const Fits& fits) {
    const Shared<const Known> known = Current();
    Result<ResourceMapping> found = Fail(Code::kNotFound, "");
    if (known) found = known->Find(what, group, version, fits);
    if (found) return found;
    const Result<Shared<const Known>> newer = Ask(known);
    if (!newer) return Fail(newer.error().With("look up " + what));
    return *newer == known ? found : (*newer)->Find(what, group, version, fits);
  }

  Shared<const Known> Current() const {
    const MutexLock lock(mutex_);
    return known_;
  }
  void Forget() {
    const MutexLock lock(mutex_);
    known_ = {};
    question_ = {};  // its result may be older than what the caller knows; waiting callers still get it
  }

  const kgen::Connection connection;
  const std::optional<Nanos> timeout;

 private:
  // Returns the result of a discovery: one that is already running, or a new one. Returns `known` if it is too early
  // for another one.
  Result<Shared<const Known>> Ask(const Shared<const Known>& known) {
    Executor& executor = connection.executor();
    if (executor.InPostedTask()) {
      return Fail(Code::kInvalidArgument, "this blocks, on a thread that runs posted work");
    }
    const TimePoint now = connection.clock().Now();
    const Shared<Waiter> waiter = executor.MakeWaiter("discovery");
    Shared<Question> question;
    bool asks = false;
    {
      const MutexLock lock(mutex_);
      if (!question_) {
        if (known && !MayRefresh(now)) return known;
        question_ = MakeShared<Question>();
        asks = true;
      } else {
        question_->waiters.push_back(waiter);
      }
      question = question_;
    }
    if (asks) return Answer(question);
    for (;;) {
      if (Result<void> waited = waiter->Wait(connection.stop()); !waited) return Fail(std::move(waited).error());
      const MutexLock lock(mutex_);
      if (question->answer) return *question->answer;
    }
  }

  // Runs the discovery and passes its result, even a failure, to all waiting callers.
  Result<Shared<const Known>> Answer(const Shared<Question>& question) {
    Result<Shared<const Known>> answer = Fail(detail::OutOfMemory());
    try {
      if (Result<ServerApi> api = Discover(connection, timeout)) {
        answer = Shared<const Known>(MakeShared<Known>(*std::move(api)));
      } else {
        answer = Fail(std::move(api).error());
      }
    } catch (const std::bad_alloc&) {
      answer = Fail(detail::OutOfMemory());
    }
    std::vector<Shared<Waiter>> waiters;
    {
      const MutexLock lock(mutex_);
      question->answer = answer;
      waiters.swap(question->waiters);
      if (question_ == question) {
        question_ = {};
        if (answer) known_ = *answer;
      }
    }
    for (const Shared<Waiter>& waiter : waiters) waiter->Notify();
    return answer;
  }

  // A token bucket that limits the discoveries after failed look-ups.
  bool MayRefresh(TimePoint now) KGEN_REQUIRES(mutex_) {
    if (refreshed_ != TimePoint{}) {
      const std::chrono::duration<double> passed = now - refreshed_;
      refreshes_ = std::min(kRefreshesInARow, refreshes_ + passed / kBetweenRefreshes);
    }
    refreshed_ = now;
    if (refreshes_ < 1) return false;
    refreshes_ -= 1;
    return true;
  }

  mutable Mutex mutex_;
  Shared<const Known> known_ KGEN_GUARDED_BY(mutex_){};
  Shared<Question> question_ KGEN_GUARDED_BY(mutex_){};  // running, and not older than the last Forget()
  double refreshes_ KGEN_GUARDED_BY(mutex_) = kRefreshesInARow;
  TimePoint refreshed_ KGEN_GUARDED_BY(mutex_){};
};

RestMapper::RestMapper(Connection connection, std::optional<Nanos> timeout)
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
