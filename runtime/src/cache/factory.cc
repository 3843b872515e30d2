// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/factory.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "cache/reflector/informer_options.h"
#include "cache/reflector/list_watch.h"
#include "cache/reflector/with_kind.h"
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

// The informers of one scope. Holds no lock while it calls a function of an informer that may block.
class FactoryState : public SharedObject {
 public:
  using Core = Shared<cache::InformerCore>;

  FactoryState(const Connection& connection, FactoryOptions options)
      : connection_(connection), options_(std::move(options)) {}

  Core InformerFor(const TypeTable& table) {
    const MutexLock lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.table == &table) return entry.core;
    }
    return Add(table, *table.kind, options_.transform);
  }

  // Returns the informer for Unstructured objects of this kind.
  Core DynamicInformerFor(const KindInfo& kind) {
    const MutexLock lock(mutex_);
    for (Entry& entry : entries_) {
      if (entry.named && Serves(entry, kind)) return entry.core;
    }
    auto named = MakeShared<NamedKind>(kind);
    Core core = Add(Unstructured::kTable, kind, [named, own = options_.transform](AnyRef object) -> Result<AnyRef> {
      object = cache::WithKind(std::move(object), *named->info.load());
      return own ? own(std::move(object)) : object;
    });
    entries_.back().named = std::move(named);
    return core;
  }

  std::string_view namespace_name() const noexcept { return options_.namespace_; }

  void Start(const std::stop_token& stop) {
    std::vector<Core> fresh;
    {
      const MutexLock lock(mutex_);
      if (shut_down_) return;
      for (Entry& entry : entries_) {
        if (entry.started) continue;
        entry.starting = true;
        fresh.push_back(entry.core);
      }
    }
    for (const Core& core : fresh) core->Start(stop);  // of concurrent calls only the first has an effect
    const MutexLock lock(mutex_);
    for (Entry& entry : entries_) {
      entry.started = entry.started || std::find(fresh.begin(), fresh.end(), entry.core) != fresh.end();
    }
  }

  void Shutdown() {
    {
      const MutexLock lock(mutex_);
      shut_down_ = true;
    }
    for (std::size_t i = 0; const Core core = At(i); ++i) core->Stop();
    // On a thread that must not block, Join() fails and this does not wait: the informers end by themselves.
    for (std::size_t i = 0; const Core core = At(i); ++i) {
      if (!core->Join({})) return;
    }
  }

  // The informers that WaitForCacheSync() waits for: all but those that another thread is starting at this moment. They
  // are not yet started, but were not forgotten either.
  std::vector<Core> ToWaitFor() const {
    const MutexLock lock(mutex_);
    std::vector<Core> cores;
    for (const Entry& entry : entries_) {
      if (entry.started || !entry.starting) cores.push_back(entry.core);
    }
    return cores;
  }

  std::vector<cache::InformerStatus> status() const {
    std::vector<Core> all;
    {
      const MutexLock lock(mutex_);
      for (const Entry& entry : entries_) all.push_back(entry.core);
    }
    std::vector<cache::InformerStatus> status;
    for (const Core& core : all) status.push_back(core->status());
    return status;
  }

  Executor& executor() const { return connection_.executor(); }

 private:
  struct Entry {
    const TypeTable* table;
    Core core;
    Shared<NamedKind> named{};  // of a dynamic informer
    bool starting = false;      // Start() has been called for it
    bool started = false;       // and has returned
  };

  // Null after the last one. The destructor of the factory has no memory for a copy of the list.
  Core At(std::size_t i) const {
    const MutexLock lock(mutex_);
    return i < entries_.size() ? entries_[i].core : Core();
  }

  // Whether the informer matches what the caller knows of the kind. If the informer does not know the kind yet and has
  // not been started, it adopts that of the caller.
  bool Serves(const Entry& entry, const KindInfo& kind) const KGEN_REQUIRES(mutex_) {
    const KindInfo& own = *entry.named->info.load();
    if (own.group != kind.group || own.version != kind.version || own.resource != kind.resource) return false;
    if (kind.kind.empty()) return true;  // the caller names only the resource: any kind matches
    if (own.scope != kind.scope && !options_.namespace_.empty()) return false;
    if (own.kind == kind.kind) return true;
    if (!own.kind.empty() || entry.starting) return false;
    entry.named->info = &kind;
    return true;
  }

  Core Add(const TypeTable& table, const KindInfo& kind, const TransformFunction& transform) KGEN_REQUIRES(mutex_) {
    entries_.push_back({.table = &table, .core = Make(table, kind, transform)});
    if (shut_down_) entries_.back().core->Stop();  // so that handlers are rejected instead of waiting forever
    return entries_.back().core;
  }

  Core Make(const TypeTable& table, const KindInfo& kind, const TransformFunction& transform) const {
    cache::InformerOptions options;
    const auto own = std::find_if(options_.resync_of.begin(), options_.resync_of.end(),
                                  [&](const auto& of) { return of.first == &table; });
    options.resync = own != options_.resync_of.end() ? own->second : options_.resync;
    options.page_size = options_.page_size;
    options.streaming_list = options_.streaming_list;
    options.drop_managed_fields = options_.drop_managed_fields;
    options.transform = transform;
    options.apply_delay = options_.apply_delay;
    auto source = cache::MakeListWatch(connection_, kind, options_.namespace_, options_.tweak_list_options);
    return MakeShared<cache::InformerCore>(connection_, std::move(source), table, std::move(options));
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
DynamicInformer SharedInformerFactory::ForMapping(const ResourceMapping& mapping) const {
  return DynamicInformer(state_->DynamicInformerFor(client::KindOf(mapping)));
}

void SharedInformerFactory::Start(std::stop_token stop) {
  if (!detail::ForkedChild()) state_->Start(stop);
}

Result<void> SharedInformerFactory::WaitForCacheSync(std::stop_token stop) const {
  return WaitForCacheSync(std::move(stop), SyncOptions{});
}
Result<void> SharedInformerFactory::WaitForCacheSync(std::stop_token stop, const SyncOptions& options) const {
  return detail::WaitForSync(state_->executor(), std::move(stop), state_->ToWaitFor(), options);
}

void SharedInformerFactory::Shutdown() {
  if (!detail::ForkedChild()) state_->Shutdown();
}
std::vector<cache::InformerStatus> SharedInformerFactory::status() const {
  if (detail::ForkedChild()) return {};
  return state_->status();
}

Shared<cache::InformerCore> detail::InformerFor(const Shared<FactoryState>& factory, const TypeTable& table) {
  return factory->InformerFor(table);
}

}  // namespace kgen
