// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The namespaces of caches while they run.
//
//   Caches::AddNamespace() --> CachesState (the names) --Follow()--> KindCache: a new list of parts
//   a part that is removed --> Informer::Retire() --> the handlers, and after the last one the informer stops
#include <algorithm>
#include <utility>

#include "cache/reflector/watch_errors.h"
#include "cache/resolve_options.h"
#include "cache/wait_for_sync.h"
#include "controller/caches/kind_cache.h"
#include "core/dns_names.h"
#include "core/quoted.h"

namespace kgen::controller {

using detail::Quoted;

bool MayChange(const CachesOptions& options) noexcept {
  return options.changing_namespaces || !options.namespaces_by_label.empty();
}

const std::vector<InformerScope>* OwnScopes(const KindInfo& kind, const CachesOptions& options) {
  static const std::vector<InformerScope> kAll;
  for (const auto& [table, scopes] : options.scopes_of) {
    const KindInfo* const named = table != nullptr ? table->kind : nullptr;
    if (named != nullptr && named->group == kind.group && named->resource == kind.resource) return &scopes;
  }
  return kind.scope == Scope::kCluster ? &kAll : nullptr;
}

// --------------------------------------------------------------------------------------------------- one kind

void KindCache::Follow(const Namespaces& namespaces) {
  if (!changes_) return;
  std::vector<Shared<Part>> added, removed, next;
  std::vector<Shared<CacheHandler>> handlers;
  std::vector<Shared<const Parts>> unread;  // dropped without the lock
  {
    const MutexLock lock(mutex_);
    if (stopped_ || namespaces.revision <= followed_) return;
    followed_ = namespaces.revision;
    const CachesOptions& all = state_->options();
    Result<std::vector<PartScope>> scopes =
        ResolveScopes(kind_, namespaces.scopes, cache::OptionsOf(kind_, all.defaults, all.of));
    if (!scopes) return;  // Make() has checked all that there may be
    // Read under the lock: a write that this does not know finds the part, see PartToTell().
    const bool fresh = state_->HasWritten(kind_);
    const PartsView before = parts_.Read();
    for (PartScope& scope : *scopes) {
      if (const auto known = before->Of(scope.selection.namespace_); !known.empty()) {
        next.push_back(known.front());
        continue;
      }
      next.push_back(MakePart(std::move(scope), next_order_++, fresh));
      for (const IndexSpec& index : specs_) (void)index.add(*next.back()->informer);  // cannot fail without objects
      added.push_back(next.back());
    }
    std::ranges::set_difference(*before, next, std::back_inserter(removed), {}, &Part::Name, &Part::Name);
    for (const Shared<Part>& part : removed) part->BeginRemoval();
    parts_.Publish(MakeShared<Parts>(std::move(next)));
    handlers = handlers_;
    unread = parts_.TakeRetired();
  }
  for (const Shared<Part>& part : removed) part->EndRemoval();
  const std::optional<std::stop_token> until = state_->RunningUntil();
  for (const Shared<Part>& part : added) {
    if (until) part->informer->Start(*until);
    for (const Shared<CacheHandler>& handler : handlers) handler->Attach(part);
  }
}

// The part that has to remember a write, or null. If there is none, one that is being made may have begun without
// knowing of the write.
Shared<Part> KindCache::PartToTell(std::string_view in_namespace) const {
  const PartsView parts = parts_.Read();
  if (Part* const part = parts->Find(in_namespace)) return Shared<Part>(part);
  if (!changes_) return {};
  const MutexLock lock(mutex_);
  return Shared<Part>(parts_.Read()->Find(in_namespace));
}

// ------------------------------------------------------------------------------------------------------- waits

// Waits for one part after the other, which takes no longer than waiting for all at once.
Result<void> KindCache::WaitForEach(const std::stop_token& stop, TimePoint deadline) const {
  Result<void> known = state_->WaitForNamespaces(stop, deadline - state_->connection().clock().Now());
  if (!known) return Fail(known.error().With(Description()));
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    const Nanos limit = deadline - state_->connection().clock().Now();
    Result<void> synced = WaitForPart(*part, stop, limit);
    if (synced || part->removed() || synced.error().code() == Code::kForbidden) continue;
    return synced;
  }
  ready_.store(true, std::memory_order_release);
  return {};
}

Result<void> KindCache::WaitForPart(const Part& part, const std::stop_token& stop, Nanos limit) const {
  // Whoever has added the part may be about to start it.
  if (const auto until = state_->RunningUntil()) part.informer->Start(*until);
  const SyncOptions options{.give_up_after = std::max(Nanos(0), std::min(limit, state_->options().sync_timeout))};
  Result<void> synced = cache::WaitForSync(state_->connection().executor(), stop, {part.informer}, options);
  if (part.removed()) return Fail(Removed(part));
  if (!synced) return Fail(synced.error().With(Description()));
  return synced;
}

// What a read of a namespace waits for that may have been added just now.
Result<void> KindCache::Await(const Part& part, const std::stop_token& stop) const {
  if (part.informer->IsStopped()) return Fail(part.removed() ? Removed(part) : Stopped());
  if (divided_ || part.informer->HasSynced()) return {};
  return WaitForPart(part, stop, Nanos::max());
}

Result<void> KindCache::WaitForHandled(const CacheHandler& handler, const std::stop_token& stop, Nanos limit) const {
  if (Result<void> registered = handler.status(); !registered) return registered;
  Clock& clock = state_->connection().clock();
  const TimePoint deadline = Later(clock.Now(), limit);
  if (Result<void> synced = changes_ ? WaitForSync(stop, limit) : Result<void>(); !synced) return synced;
  while (true) {
    SyncOptions options{.give_up_after = std::max(Nanos(0), Nanos(deadline - clock.Now()))};
    std::vector<CacheHandler::Of> all = handler.all();
    if (changes_)
      std::erase_if(all, [](const auto& of) { return of.part->removed() || !of.part->informer->HasSynced(); });
    for (const CacheHandler::Of& of : all) options.handlers.push_back(&of.held->registration);
    Result<void> handled = cache::WaitForSync(state_->connection().executor(), stop, {}, options);
    if (handled || handled.error().code() != Code::kStopped) return handled;
    if (std::ranges::none_of(all, [](const auto& of) { return of.part->removed(); })) return handled;
  }
}

// -------------------------------------------------------------------------------------------------- all kinds

Result<void> CachesState::MayChangeTo(const std::vector<std::string>& names) const {
  if (Result<void> fine = Check(options_); !fine) return fine;
  if (!MayChange(options_)) {
    const bool all = options_.scopes.empty() || std::ranges::any_of(options_.scopes, [](const InformerScope& scope) {
                       return scope.namespace_.empty();
                     });
    return Fail(Code::kInvalidArgument, std::string("the namespaces of these caches do not change") +
                                            (all ? ", because they hold all of them" : "") +
                                            "; see CachesOptions::changing_namespaces");
  }
  if (source_) {
    return Fail(Code::kInvalidArgument, "the namespaces of these caches are those with the labels " +
                                            Quoted(options_.namespaces_by_label) +
                                            "; change the labels of the namespace instead");
  }
  for (const std::string& name : names) {
    if (!detail::IsDnsLabel(name)) {
      return Fail(Code::kInvalidArgument, Quoted(name) + " is no name of a namespace: it must be a DNS label");
    }
  }
  return {};
}

// Returns the caches that have been told.
Result<std::vector<Shared<KindCache>>> CachesState::Change(const std::function<void(std::set<std::string>&)>& change) {
  std::vector<Shared<KindCache>> live;
  Namespaces now;
  {
    const MutexLock lock(mutex_);
    if (shut_down_) return Fail(Code::kStopped, "the caches have been shut down");
    change(names_);
    now.revision = namespaces_.revision + 1;
    for (const std::string& name : names_) {
      const auto own = std::ranges::find(options_.scopes, name, &InformerScope::namespace_);
      now.scopes.push_back(own != options_.scopes.end() ? *own : InformerScope{.namespace_ = name});
    }
    namespaces_ = now;
    live = Live();
  }
  for (const Shared<KindCache>& kind_cache : live) kind_cache->Follow(now);
  return live;
}

// Blocks until no handler is still to be told of something that has left these namespaces. On a thread for which that
// would wait for itself, it does not.
Result<void> CachesState::AwaitLeft(const std::vector<Shared<KindCache>>& live, const std::set<std::string>& names,
                                    const std::stop_token& stop) {
  Executor& executor = connection_.executor();
  if (executor.InPostedTask() || CacheHandler::IsCalling()) return {};
  for (const Shared<KindCache>& kind_cache : live) {
    for (const Shared<Part>& part : kind_cache->leaving()) {
      if (!names.contains(part->namespace_name())) continue;
      const Shared<Waiter> waiter = executor.MakeWaiter("handlers of namespace " + part->namespace_name());
      const auto watch = part->informer->OnStatusChange([waiter] { waiter->Notify(); });
      while (!part->informer->IsStopped()) {
        Result<void> waited = waiter->Wait(stop);
        if (!waited && !part->informer->IsStopped()) {
          return Fail(waited.error().With("wait until the handlers of " + kind_cache->name() + " know that namespace " +
                                          Quoted(part->namespace_name()) + " has left"));
        }
      }
      if (!part->unused()) return Fail(Code::kStopped, "the caches have been stopped");
    }
  }
  return {};
}

Result<void> CachesState::AddNamespace(std::string_view name) {
  const std::string doing = "add namespace " + Quoted(name);
  if (Result<void> may = MayChangeTo({std::string(name)}); !may) return Fail(may.error().With(doing));
  const auto changed = Change([&](std::set<std::string>& names) { names.emplace(name); });
  if (!changed) return Fail(changed.error().With(doing));
  return {};
}

Result<void> CachesState::RemoveNamespace(std::string_view name, const std::stop_token& stop) {
  const std::string doing = "remove namespace " + Quoted(name);
  if (Result<void> may = MayChangeTo({}); !may) return Fail(may.error().With(doing));
  const auto changed = Change([&](std::set<std::string>& names) { names.erase(std::string(name)); });
  Result<void> left = changed ? AwaitLeft(*changed, {std::string(name)}, stop) : Fail(changed.error());
  if (!left) return Fail(left.error().With(doing));
  return {};
}

Result<void> CachesState::SetNamespaces(const std::vector<std::string>& names, const std::stop_token& stop) {
  const std::string doing = "set the namespaces";
  if (Result<void> may = MayChangeTo(names); !may) return Fail(may.error().With(doing));
  std::set<std::string> gone;
  const auto changed = Change([&](std::set<std::string>& now) {
    const std::set<std::string> next(names.begin(), names.end());
    std::ranges::set_difference(now, next, std::inserter(gone, gone.end()));
    now = next;
  });
  Result<void> left = changed ? AwaitLeft(*changed, gone, stop) : Fail(changed.error());
  if (!left) return Fail(left.error().With(doing));
  return {};
}

void CachesState::FollowNamespaces(const std::set<std::string>& names) {
  (void)Change([&](std::set<std::string>& now) {  // fails after Shutdown() alone
    now = names;
    for (const InformerScope& scope : options_.scopes) now.insert(scope.namespace_);
  });
}

std::vector<std::string> CachesState::namespaces() const {
  const MutexLock lock(mutex_);
  return {names_.begin(), names_.end()};
}

bool CachesState::HasWritten(const KindInfo& kind) const {
  const MutexLock lock(written_mutex_);
  return written_.contains({std::string(kind.group), std::string(kind.resource)});
}

std::optional<std::stop_token> CachesState::RunningUntil() const {
  const MutexLock lock(mutex_);
  if (!started()) return std::nullopt;
  return stop_;
}

}  // namespace kgen::controller
