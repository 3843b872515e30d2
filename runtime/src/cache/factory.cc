// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/factory.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "cache/resolve_options.h"
#include "cache/wait_for_sync.h"
#include "client/verbs/kind_registry.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/cache/dynamic_informer.h"
#include "kgen/client/connection.h"
#include "kgen/client/options.h"

namespace kgen {
namespace {

// What is known about the kind of a dynamic informer. A ForMapping() may add to what an earlier ForResource() knew.
struct NamedKind : SharedObject {
  explicit NamedKind(const KindInfo& of) noexcept : info(&of) {}
  std::atomic<const KindInfo*> info;
};

}  // namespace

// The informers of a factory, one for each kind and scope. Holds no lock while it calls a function of an informer that
// may block.
class FactoryState : public SharedObject {
 public:
  using Informer = Shared<cache::Informer>;

  FactoryState(const Connection& connection, FactoryOptions options)
      : connection_(connection), options_(std::move(options)) {}

  // `scope`: null for the factory's.
  Informer InformerFor(const TypeTable& table, const InformerScope* scope) {
    const KindInfo& kind = *table.kind;
    cache::Selection selection = SelectionFor(kind, scope);
    const MutexLock lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.table == &table && entry.selection == selection) return entry.informer;
    }
    return Add({&table, std::move(selection)}, kind, OptionsOf(kind).transform);
  }

  // Returns the informer for Unstructured objects of this kind.
  Informer DynamicInformerFor(const KindInfo& kind, const InformerScope* scope) {
    cache::Selection selection = SelectionFor(kind, scope);
    const MutexLock lock(mutex_);
    for (Entry& entry : entries_) {
      if (entry.named && entry.selection == selection && Serves(entry, kind)) return entry.informer;
    }
    const auto named = MakeShared<NamedKind>(kind);
    TransformFunction transform =
        cache::AddingKind([named]() -> const KindInfo& { return *named->info.load(); }, OptionsOf(kind).transform);
    return Add({&Unstructured::kTable, std::move(selection), named}, kind, std::move(transform));
  }

  std::string_view namespace_name() const noexcept { return options_.namespace_; }

  void Start(const std::stop_token& stop) {
    std::vector<Informer> fresh;
    {
      const MutexLock lock(mutex_);
      if (shut_down_) return;
      for (Entry& entry : entries_) {
        if (entry.started) continue;
        entry.starting = true;
        fresh.push_back(entry.informer);
      }
    }
    for (const Informer& informer : fresh) informer->Start(stop);  // of concurrent calls only the first has an effect
    const MutexLock lock(mutex_);
    for (Entry& entry : entries_) {
      entry.started = entry.started || std::find(fresh.begin(), fresh.end(), entry.informer) != fresh.end();
    }
  }

  void Shutdown() {
    {
      const MutexLock lock(mutex_);
      shut_down_ = true;
    }
    for (std::size_t i = 0; const Informer informer = At(i); ++i) informer->Stop();
    // On a thread that must not block, Join() fails and this does not wait: the informers end by themselves.
    for (std::size_t i = 0; const Informer informer = At(i); ++i) {
      if (!informer->Join({})) return;
    }
  }

  // The informers that WaitForCacheSync() waits for: all but those that another thread is starting at this moment. They
  // are not yet started, but were not forgotten either.
  std::vector<Informer> ToWaitFor() const {
    const MutexLock lock(mutex_);
    std::vector<Informer> informers;
    for (const Entry& entry : entries_) {
      if (entry.started || !entry.starting) informers.push_back(entry.informer);
    }
    return informers;
  }

  std::vector<cache::InformerStatus> status() const {
    std::vector<Informer> all;
    {
      const MutexLock lock(mutex_);
      for (const Entry& entry : entries_) all.push_back(entry.informer);
    }
    std::vector<cache::InformerStatus> status;
    for (const Informer& informer : all) status.push_back(informer->status());
    return status;
  }

  Executor& executor() const { return connection_.executor(); }

 private:
  struct Entry {
    const TypeTable* table;
    cache::Selection selection;
    Shared<NamedKind> named{};  // of a dynamic informer
    Informer informer{};
    bool starting = false;  // Start() has been called for it
    bool started = false;   // and has returned
  };

  // Null after the last one. The destructor of the factory has no memory for a copy of the list.
  Informer At(std::size_t i) const {
    const MutexLock lock(mutex_);
    return i < entries_.size() ? entries_[i].informer : Informer();
  }

  const InformerOptions& OptionsOf(const KindInfo& kind) const {
    return cache::OptionsOf(kind, options_.defaults, options_.of);
  }

  // The factory's namespace does not apply to cluster-scoped kinds. A scope's namespace does apply, so it is an error
  // for them.
  cache::Selection SelectionFor(const KindInfo& kind, const InformerScope* scope) const {
    InformerScope own;
    if (kind.scope == Scope::kNamespaced) own.namespace_ = options_.namespace_;
    return cache::SelectionOf(scope != nullptr ? *scope : own, OptionsOf(kind));
  }

  // Whether the informer matches what the caller knows of the kind. If the informer does not know the kind yet and has
  // not been started, it adopts the caller's.
  bool Serves(const Entry& entry, const KindInfo& kind) const KGEN_REQUIRES(mutex_) {
    const KindInfo& own = *entry.named->info.load();
    if (own.group != kind.group || own.version != kind.version || own.resource != kind.resource) return false;
    if (kind.kind.empty() || own.kind == kind.kind) return true;  // without a kind, the caller means any
    if (!own.kind.empty() || entry.starting) return false;
    entry.named->info = &kind;
    return true;
  }

  Informer Add(Entry entry, const KindInfo& kind, TransformFunction transform) KGEN_REQUIRES(mutex_) {
    entry.informer = Make(*entry.table, kind, entry.selection, std::move(transform));
    if (shut_down_) entry.informer->Stop();  // so that handlers are rejected instead of waiting forever
    return entries_.emplace_back(std::move(entry)).informer;
  }

  // An informer whose options are wrong never syncs, and says why.
  Informer Make(const TypeTable& table, const KindInfo& kind, const cache::Selection& selection,
                TransformFunction transform) const {
    const InformerOptions& options = OptionsOf(kind);
    Result<cache::InformerSettings> settings = Check(options, kind, selection);
    if (!settings) {
      auto source =
          cache::MakeFailingListWatch(connection_.shared_executor(), kind, selection, std::move(settings).error());
      return MakeShared<cache::Informer>(connection_, std::move(source), table, cache::InformerSettings());
    }
    settings->transform = std::move(transform);
    settings->saved = cache::SavedOf(options, connection_, table, kind, selection);
    auto source = cache::MakeListWatch(connection_, kind, selection, cache::FormOf(table));
    return MakeShared<cache::Informer>(connection_, std::move(source), table, *std::move(settings));
  }

  Result<cache::InformerSettings> Check(const InformerOptions& options, const KindInfo& kind,
                                        const cache::Selection& selection) const {
    Result<cache::InformerSettings> settings = cache::SettingsOf(options, connection_.clock());
    if (!settings) return settings;
    if (Result<void> selects = cache::CheckSelection(kind, selection); !selects) {
      return Fail(std::move(selects).error());
    }
    return settings;
  }

  const Connection connection_;
  const FactoryOptions options_;
  mutable Mutex mutex_;
  std::vector<Entry> entries_ KGEN_GUARDED_BY(mutex_);
  bool shut_down_ KGEN_GUARDED_BY(mutex_) = false;
};

SharedInformerFactory::SharedInformerFactory(const Connection& connection) : SharedInformerFactory(connection, {}) {}
SharedInformerFactory::SharedInformerFactory(const Connection& connection, FactoryOptions options)
    : state_(MakeShared<FactoryState>(connection, std::move(options))) {}
SharedInformerFactory::~SharedInformerFactory() { Shutdown(); }

DynamicInformer SharedInformerFactory::ForResource(const GroupVersionResource& resource) const {
  return ForMapping(client::MappingOf(resource, state_->namespace_name()));
}
DynamicInformer SharedInformerFactory::ForResource(const GroupVersionResource& resource,
                                                   const InformerScope& scope) const {
  return ForMapping(client::MappingOf(resource, scope.namespace_), scope);
}
DynamicInformer SharedInformerFactory::ForMapping(const ResourceMapping& mapping) const {
  return DynamicInformer(state_->DynamicInformerFor(client::KindOf(mapping), nullptr));
}
DynamicInformer SharedInformerFactory::ForMapping(const ResourceMapping& mapping, const InformerScope& scope) const {
  return DynamicInformer(state_->DynamicInformerFor(client::KindOf(mapping), &scope));
}

void SharedInformerFactory::Start(std::stop_token stop) {
  if (!detail::ForkedChild()) state_->Start(stop);
}

Result<void> SharedInformerFactory::WaitForCacheSync(std::stop_token stop) const {
  return WaitForCacheSync(std::move(stop), SyncOptions{});
}
Result<void> SharedInformerFactory::WaitForCacheSync(std::stop_token stop, const SyncOptions& options) const {
  return cache::WaitForSync(state_->executor(), std::move(stop), state_->ToWaitFor(), options);
}

void SharedInformerFactory::Shutdown() {
  if (!detail::ForkedChild()) state_->Shutdown();
}
std::vector<cache::InformerStatus> SharedInformerFactory::status() const { return StatusReader()(); }

Function<std::vector<cache::InformerStatus>()> SharedInformerFactory::StatusReader() const {
  return [state = state_]() -> std::vector<cache::InformerStatus> {
    if (detail::ForkedChild()) return {};
    return state->status();
  };
}

Shared<cache::Informer> detail::InformerFor(const Shared<FactoryState>& factory, const TypeTable& table) {
  return factory->InformerFor(table, nullptr);
}
Shared<cache::Informer> detail::InformerFor(const Shared<FactoryState>& factory, const TypeTable& table,
                                            const InformerScope& scope) {
  return factory->InformerFor(table, &scope);
}

}  // namespace kgen
