// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "cache/deliberate_bugs.h"
#include "cache/hazard.h"
#include "cache/store_state.h"
#include "kgen/cache/indexer.h"
#include "kgen/cache/lister.h"

namespace kgen::cache {
namespace {

using State = AnySnapshot::State;

std::uint64_t HashValue(std::string_view value) noexcept { return std::hash<std::string_view>()(value); }

// Collects the values of one object, each once.
class ValueCollector final : public IndexSink {
 public:
  void Add(std::string_view value) override {
    if (std::find(values_.begin(), values_.end(), value) == values_.end()) values_.emplace_back(value);
  }
  std::vector<std::string>& values() noexcept { return values_; }

 private:
  std::vector<std::string> values_;
};

void AddToIndex(ValueMap& values, std::string_view value, const ObjectLeaf& leaf) {
  const std::uint64_t hash = HashValue(value);
  const ValueLeaf* present = values.Find(value, hash);
  ObjectMap objects = present != nullptr ? present->objects() : ObjectMap();
  objects.Set(leaf);
  values.Set(ValueLeaf(String(value), hash, std::move(objects)));
}

// An empty set goes with its value. [INF ST-08]
bool RemoveFromIndex(ValueMap& values, std::string_view value, const KeyView& key) {
  const std::uint64_t hash = HashValue(value);
  const ValueLeaf* present = values.Find(value, hash);
  if (present == nullptr) return false;
  ObjectMap objects = present->objects();
  if (!objects.Erase(key, LeafHash(key))) return false;
  if (objects.empty()) {
    values.Erase(value, hash);
  } else {
    values.Set(ValueLeaf(String(value), hash, std::move(objects)));
  }
  return true;
}

// The slow way, for an index function that is seen not to give the same values twice. [INF ST-07]
void RemoveEverywhere(ValueMap& values, const KeyView& key) {
  std::vector<std::string> all;
  values.ForEach([&](const ValueLeaf& leaf) { all.emplace_back(leaf.key()); });
  for (const std::string& value : all) RemoveFromIndex(values, value, key);
}

}  // namespace

AnyRef GetFrom(const State& state, const KeyView& key) {
  const ObjectLeaf* leaf = state.Find(key);
  return leaf != nullptr ? leaf->object() : AnyRef();
}

std::vector<AnyRef> ListFrom(const State& state, std::string_view namespace_, const Selector* selector) {
  std::vector<AnyRef> result;
  if (selector != nullptr && selector->is_nothing()) return result;  // [INF LS-03]
  const bool all = selector == nullptr || selector->is_everything();
  const ObjectMap* source = &state.objects;
  if (!namespace_.empty()) {
    const ValueLeaf* leaf = state.indexes.front().values.Find(namespace_, HashValue(namespace_));
    if (leaf == nullptr) return result;
    source = &leaf->objects();
  }
  if (all) result.reserve(source->size());
  source->ForEach([&](const ObjectLeaf& leaf) {
    if (all || selector->Matches(leaf.object().metadata()->labels)) result.push_back(leaf.object());
  });
  return result;
}

// ----------------------------------------------------------------------------------------------------------------
// AnySnapshot

AnySnapshot::AnySnapshot(Shared<const State> state) noexcept : state_(std::move(state)) {}
AnySnapshot::~AnySnapshot() = default;
AnySnapshot::AnySnapshot(const AnySnapshot&) noexcept = default;
AnySnapshot::AnySnapshot(AnySnapshot&&) noexcept = default;
AnySnapshot& AnySnapshot::operator=(AnySnapshot other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

AnyRef AnySnapshot::Get(const ObjectKey& key) const {
  return state_ ? GetFrom(*state_, {key.namespace_, key.name}) : AnyRef();
}

std::vector<AnyRef> AnySnapshot::List() const { return InNamespace(""); }

std::vector<AnyRef> AnySnapshot::InNamespace(std::string_view namespace_) const {
  return state_ ? ListFrom(*state_, namespace_, nullptr) : std::vector<AnyRef>();
}

std::vector<AnyRef> AnySnapshot::ByIndex(std::string_view index, std::string_view value) const {
  std::vector<AnyRef> result;
  const Index* found = state_ ? state_->FindIndex(index) : nullptr;
  const ValueLeaf* leaf = found != nullptr ? found->values.Find(value, HashValue(value)) : nullptr;
  if (leaf == nullptr) return result;
  result.reserve(leaf->objects().size());
  leaf->objects().ForEach([&](const ObjectLeaf& object) { result.push_back(object.object()); });
  return result;
}

std::vector<String> AnySnapshot::IndexValues(std::string_view index) const {
  std::vector<String> result;
  if (const Index* found = state_ ? state_->FindIndex(index) : nullptr) {
    result.reserve(found->values.size());
    found->values.ForEach([&](const ValueLeaf& leaf) { result.emplace_back(leaf.key()); });
    std::sort(result.begin(), result.end());
  }
  return result;
}

bool AnySnapshot::HasIndex(std::string_view index) const noexcept {
  return state_ && state_->FindIndex(index) != nullptr;
}

std::vector<ObjectKey> AnySnapshot::Keys() const {
  std::vector<ObjectKey> result;
  if (!state_) return result;
  result.reserve(state_->objects.size());
  state_->objects.ForEach([&](const ObjectLeaf& leaf) {
    const meta::v1::ObjectMeta& meta = *leaf.object().metadata();
    result.push_back({meta.namespace_, meta.name});
  });
  return result;
}

std::size_t AnySnapshot::size() const noexcept { return state_ ? state_->objects.size() : 0; }
String AnySnapshot::version() const { return state_ ? String(state_->version) : String(""); }

const State& AnySnapshot::state() const noexcept { return *state_; }

bool AnySnapshot::IsStale(const ObjectKey& key) const noexcept {
  const ObjectLeaf* leaf = state_ ? state_->Find({key.namespace_, key.name}) : nullptr;
  return leaf != nullptr && leaf->stale();
}

// ----------------------------------------------------------------------------------------------------------------------
// Store

class Store::Impl {
 public:
  Impl() {
    auto definition = MakeShared<IndexDefinition>();
    definition->name = kNamespaceIndex;
    definition->function = [](const AnyRef& object, IndexSink& sink) {
      if (!object.metadata()->namespace_.empty()) sink.Add(object.metadata()->namespace_);
    };
    auto first = MakeShared<State>();
    first->indexes.push_back({std::move(definition), {}});
    current_owner_ = std::move(first);
    current_.store(current_owner_.get(), std::memory_order_release);
  }

  const std::atomic<const State*>& current() const noexcept { return current_; }

  AnySnapshot Snapshot() const noexcept {
    const HazardGuard<State> guard(current_);
    return AnySnapshot(Shared<const State>(&*guard));
  }

  void Apply(Transaction transaction) {
    const std::lock_guard lock(writer_);
    auto next = NextState();
    if (transaction.replace) {
      Replace(*next, std::move(transaction.changes));
    } else {
      for (Change& change : transaction.changes) Put(*next, std::move(change));
    }
    if (!transaction.version.empty()) next->version = std::move(transaction.version);
    Publish(std::move(next));
  }

  Result<void> AddIndex(std::string_view name, IndexFunction function) {
    const std::lock_guard lock(writer_);
    if (current_owner_->FindIndex(name) != nullptr) {
      return Fail(Code::kInvalidArgument, "an index named \"" + std::string(name) + "\" exists already");
    }
    auto definition = MakeShared<IndexDefinition>();
    definition->name = name;
    definition->function = std::move(function);
    Index index{definition, {}};
    std::string failure;
    current_owner_->objects.ForEach([&](const ObjectLeaf& leaf) {
      ValueCollector collector;
      if (!failure.empty()) return;
      if (!Collect(*definition, leaf.object(), collector, failure)) return;
      for (const std::string& value : collector.values()) AddToIndex(index.values, value, leaf);
    });
    if (!failure.empty()) return Fail(Code::kUserCode, "index \"" + std::string(name) + "\": " + failure);
    auto next = NextState();
    next->indexes.push_back(std::move(index));
    Publish(std::move(next));
    return {};
  }

  void SetOnThrow(std::function<void(const ObjectKey&, std::string_view)> on_throw) {
    const std::lock_guard lock(writer_);
    on_throw_ = std::move(on_throw);
  }

 private:
  Shared<State> NextState() const {
    auto next = MakeShared<State>();
    next->objects = current_owner_->objects;
    next->indexes = current_owner_->indexes;
    next->version = current_owner_->version;
    return next;
  }

  void Publish(Shared<State> next) {
    current_.store(next.get(), std::memory_order_seq_cst);
    retired_.push_back(std::exchange(current_owner_, std::move(next)));
    const std::vector<const void*> announced = AnnouncedPointers();
    std::erase_if(retired_, [&](const Shared<const State>& state) {
      return std::find(announced.begin(), announced.end(), static_cast<const void*>(state.get())) == announced.end();
    });
  }

  void Put(State& state, Change change) {
    const KeyView key{change.key.namespace_, change.key.name};
    const std::uint64_t hash = LeafHash(key);
    const ObjectLeaf* present = state.objects.Find(key, hash);
    const AnyRef before = present != nullptr ? present->object() : AnyRef();
    if (change.stale && !change.object) {
      if (before) SetEverywhere(state, before, ObjectLeaf(before, hash, true));
      return;
    }
    if (!change.object) {
      if (!before) return;  // [INF ST: deleting what is not there is no error]
      for (Index& index : state.indexes) Unindex(index, before, key, {});
      state.objects.Erase(key, hash);
      return;
    }
    if (!HasKey(change.object, key)) {
      Report(change.key, "an object was put under a key that is not its own");
      return;
    }
    SetEverywhere(state, before, ObjectLeaf(std::move(change.object), hash, change.stale));
  }

  void SetEverywhere(State& state, const AnyRef& before, const ObjectLeaf& leaf) {
    for (Index& index : state.indexes) {
      const std::vector<std::string> values = ValuesOf(index, leaf);
      if (before && !Injected(Bug::kIndexValueKept)) Unindex(index, before, leaf.key(), values);
      for (const std::string& value : values) AddToIndex(index.values, value, leaf);
    }
    state.objects.Set(leaf);
  }

  // Builds the whole content anew and shows it at once. [INF ST-05, CT-09]
  void Replace(State& state, std::vector<Change> changes) {
    const ObjectMap old = std::move(state.objects);
    state.objects = ObjectMap();
    for (Index& index : state.indexes) index.values = ValueMap();
    for (Change& change : changes) {
      const KeyView key{change.key.namespace_, change.key.name};
      const std::uint64_t hash = LeafHash(key);
      if (change.stale && !change.object) {
        const ObjectLeaf* kept = old.Find(key, hash);
        if (kept == nullptr) continue;
        change.object = kept->object();
      }
      if (!change.object) continue;
      if (!HasKey(change.object, key)) {
        Report(change.key, "an object was put under a key that is not its own");
        continue;
      }
      const ObjectLeaf* twice = state.objects.Find(key, hash);
      const AnyRef before = twice != nullptr ? twice->object() : AnyRef();
      SetEverywhere(state, before, ObjectLeaf(std::move(change.object), hash, change.stale));
    }
  }

  std::vector<std::string> ValuesOf(const Index& index, const ObjectLeaf& leaf) const {
    ValueCollector collector;
    std::string failure;
    if (!Collect(*index.definition, leaf.object(), collector, failure)) {
      const meta::v1::ObjectMeta& meta = *leaf.object().metadata();
      Report({meta.namespace_, meta.name}, "index \"" + index.definition->name + "\": " + failure);
    }
    return std::move(collector.values());
  }

  // Takes the object out of every value that it had and does not keep.
  static void Unindex(Index& index, const AnyRef& before, const KeyView& key, const std::vector<std::string>& kept) {
    ValueCollector collector;
    std::string failure;
    bool consistent = Collect(*index.definition, before, collector, failure);
    for (const std::string& value : collector.values()) {
      if (std::find(kept.begin(), kept.end(), value) != kept.end()) continue;
      consistent = RemoveFromIndex(index.values, value, key) && consistent;
    }
    if (!consistent) RemoveEverywhere(index.values, key);
  }

  static bool Collect(const IndexDefinition& definition, const AnyRef& object, ValueCollector& collector,
                      std::string& failure) {
    try {
      definition.function(object, collector);
      return true;
    } catch (const std::exception& e) {
      failure = e.what();
    } catch (...) {
      failure = "an exception of an unknown type";
    }
    collector.values().clear();
    return false;
  }

  static bool HasKey(const AnyRef& object, const KeyView& key) noexcept {
    const meta::v1::ObjectMeta* meta = object.metadata();
    return meta != nullptr && meta->name == key.name && meta->namespace_ == key.namespace_;
  }

  void Report(const ObjectKey& key, std::string_view what) const {
    if (on_throw_) on_throw_(key, what);
  }

  std::mutex writer_;  // strand and AddIndex(); never held while waiting
  std::atomic<const State*> current_{nullptr};
  Shared<const State> current_owner_;  // guarded by writer_
  std::vector<Shared<const State>>
      retired_;  // guarded by writer_: replaced, and announced by a reader when last looked at
  std::function<void(const ObjectKey&, std::string_view)> on_throw_;  // guarded by writer_
  friend class Store;
};

Store::Store() : impl_(new Impl()) {}
Store::~Store() { delete impl_; }
AnySnapshot Store::Snapshot() const noexcept { return impl_->Snapshot(); }
void Store::Apply(Transaction transaction) { impl_->Apply(std::move(transaction)); }
Result<void> Store::AddIndex(std::string_view name, IndexFunction function) {
  return impl_->AddIndex(name, std::move(function));
}
void Store::SetOnThrow(std::function<void(const ObjectKey&, std::string_view)> on_throw) {
  impl_->SetOnThrow(std::move(on_throw));
}

AnyRef Store::Look(const ObjectKey& key) const { return Look(key.namespace_, key.name); }
AnyRef Store::Look(std::string_view namespace_, std::string_view name) const {
  const HazardGuard<State> guard(impl_->current());
  return GetFrom(*guard, {namespace_, name});
}

}  // namespace kgen::cache

namespace kgen::detail {

std::vector<AnyRef> ListFromStore(const cache::Store& store, std::string_view namespace_, const Selector* selector) {
  return cache::ListFrom(store.Snapshot().state(), namespace_, selector);
}

AnyRef GetFromStore(const cache::Store& store, std::string_view namespace_, std::string_view name) {
  return store.Look(namespace_, name);
}

}  // namespace kgen::detail
