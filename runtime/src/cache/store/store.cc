// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/store/store.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "cache/store/deliberate_bugs.h"
#include "cache/store/hazard.h"
#include "cache/store/store_replacement.h"

namespace kgen::cache {
namespace {

using State = AnySnapshot::State;

// Collects the index values of one object, without duplicates.
class ValueCollector final : public IndexSink {
 public:
  void Add(String value) override {
    if (!value.has_value()) value = "";
    if (std::ranges::find(values_, value) == values_.end()) values_.push_back(std::move(value));
  }
  const std::vector<String>& values() const noexcept { return values_; }
  void Clear() noexcept { values_.clear(); }

 private:
  std::vector<String> values_;
};

// The stores whose index functions are running on this thread, innermost first. An index function that adds an index to
// its own store would wait for the lock under which it is called.
struct Asking {
  const void* store;
  const Asking* outer;
};
thread_local const Asking* asking = nullptr;

bool IsAsking(const void* store) noexcept {
  for (const Asking* each = asking; each != nullptr; each = each->outer) {
    if (each->store == store) return true;
  }
  return false;
}

class AskingScope {
 public:
  explicit AskingScope(const void* store) noexcept : mine_{store, asking} { asking = &mine_; }
  ~AskingScope() { asking = mine_.outer; }
  AskingScope(const AskingScope&) = delete;
  AskingScope& operator=(const AskingScope&) = delete;

 private:
  const Asking mine_;
};

// A new index catches up with the store without the lock for at least kRoundsBeside rounds and until at most
// kFewChanges changes are left; the writer waits only for those. If the index function is so slow that this never
// happens, AddIndex() takes the lock after kMostRoundsBeside rounds: the function delays the writer at every change
// anyway.
constexpr int kRoundsBeside = 2;
constexpr int kMostRoundsBeside = 16;
constexpr std::uint64_t kFewChanges = 256;

bool Has(const ObjectMap& objects, const ObjectLeaf& leaf) noexcept {
  const ObjectLeaf* present = objects.Find(leaf.key(), leaf.hash());
  return present != nullptr && present->object() == leaf.object() && present->stale() == leaf.stale();
}

// Changes the map of a value in place if only this version has it, so that a list does not copy the map for every
// object.
void AddToIndex(ValueMap& values, const String& value, const ObjectLeaf& leaf, const StateEdit& edit) {
  const std::uint64_t hash = HashValue(value);
  ValueLeaf* const present = values.FindToWrite(value, hash, edit.values);
  if (present == nullptr || (present->single() && present->first()->Is(leaf.key()))) {
    values.Set(ValueLeaf(value, hash, leaf), edit.values);
  } else if (present->single()) {
    ObjectMap objects;
    objects.Set(*present->first(), edit.objects);
    objects.Set(leaf, edit.objects);
    values.Set(ValueLeaf(value, hash, std::move(objects)), edit.values);
  } else {
    present->objects().Set(leaf, edit.objects);
  }
}

// A value is removed with its last object.
bool RemoveFromIndex(ValueMap& values, std::string_view value, const KeyView& key, const StateEdit& edit) {
  const std::uint64_t hash = HashValue(value);
  const ValueLeaf* present = values.Find(value, hash);
  if (present == nullptr || present->Find(key) == nullptr) return false;
  if (present->single()) return values.Erase(value, hash, edit.values);
  ValueLeaf& shrinking = *values.FindToWrite(value, hash, edit.values);
  shrinking.objects().Erase(key, LeafHash(key), edit.objects);
  if (shrinking.size() == 1) {
    // The leaf with the map may be older than this version. The map goes first, or else what was born in this version
    // would live as long as the version before.
    const ObjectLeaf last = *shrinking.first();
    shrinking.objects().Erase(last.key(), last.hash(), edit.objects);
    values.Set(ValueLeaf(shrinking.value(), hash, last), edit.values);
  }
  return true;
}

// The slow way, for an index function that did not return the same values twice.
void RemoveEverywhere(ValueMap& values, const KeyView& key, const StateEdit& edit) {
  std::vector<String> all;
  values.ForEach([&](const ValueLeaf& leaf) { all.push_back(leaf.value()); });
  for (const String& value : all) RemoveFromIndex(values, value, key, edit);
}

Result<void> Taken(std::string_view name) {
  return Fail(Code::kInvalidArgument, "an index named \"" + std::string(name) + "\" exists already");
}

Result<void> Threw(const IndexDefinition& definition, std::string_view what) {
  return Fail(Code::kUserCode, "index \"" + definition.name + "\": " + std::string(what));
}

bool HasKey(const AnyRef& object, const KeyView& key) noexcept {
  const meta::v1::ObjectMeta* meta = object.metadata();
  return meta != nullptr && meta->name == key.name && meta->namespace_ == key.namespace_;
}

StoreFault FunctionThrew(const IndexDefinition& definition, const ObjectLeaf& leaf, std::string_view what) {
  const meta::v1::ObjectMeta& meta = *leaf.object().metadata();
  return {StoreFault::Kind::kIndexFunctionThrew,
          {meta.namespace_, meta.name},
          "index \"" + definition.name + "\": " + std::string(what)};
}

StoreFault Misplaced(const Change& change) {
  const meta::v1::ObjectMeta* meta = change.object.metadata();
  const std::string object = meta != nullptr ? "the object " + ObjectKey{meta->namespace_, meta->name}.str()
                                             : std::string("no object with metadata");
  return {StoreFault::Kind::kMisplacedObject, change.key,
          "bug in kgen: " + object + " was given the key " + change.key.str() + " and was left out"};
}

// Calls the index function. If it throws, returns what it threw, and the object has no value in this index.
std::optional<std::string> Ask(const Store& store, const IndexDefinition& definition, const AnyRef& object,
                               ValueCollector& collector) {
  std::optional<std::string> thrown;
  try {
    const AskingScope scope(&store);
    definition.function(object, collector);
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "an exception that is not a std::exception";
  }
  if (thrown) collector.Clear();
  return thrown;
}

// Removes the object from every value that it had and that is not in `kept`. Not for objects for which the function
// threw.
void Unindex(const Store& store, Index& index, const StateEdit& edit, const AnyRef& before, const KeyView& key,
             const std::vector<String>& kept) {
  ValueCollector collector;
  bool consistent = !Ask(store, *index.definition, before, collector);
  for (const String& value : collector.values()) {
    if (std::ranges::find(kept, value) != kept.end()) continue;
    consistent = RemoveFromIndex(index.values, value, key, edit) && consistent;
  }
  if (!consistent) RemoveEverywhere(index.values, key, edit);
}

// If the function throws, calls `on_throw` with the object and the message; it returns whether to continue.
template <typename OnThrow>
ValueMap Build(const Store& store, const IndexDefinition& definition, const ObjectMap& objects, const StateEdit& edit,
               OnThrow on_throw) {
  ValueMap values;
  ValueCollector collector;
  bool go_on = true;
  objects.ForEach([&](const ObjectLeaf& leaf) {
    if (!go_on) return;
    collector.Clear();
    if (const auto thrown = Ask(store, definition, leaf.object(), collector)) go_on = on_throw(leaf, *thrown);
    for (const String& value : collector.values()) AddToIndex(values, value, leaf, edit);
  });
  return values;
}

// Updates the index from the objects `from`, of which it was built, to the objects `to`.
Result<void> CatchUp(const Store& store, Index& index, const StateEdit& edit, const ObjectMap& from,
                     const ObjectMap& to) {
  from.ForEachNotShared(to, [&](const ObjectLeaf& before) {
    if (!Has(to, before)) Unindex(store, index, edit, before.object(), before.key(), {});
  });
  Result<void> result;
  ValueCollector collector;
  to.ForEachNotShared(from, [&](const ObjectLeaf& after) {
    if (!result || Has(from, after)) return;
    collector.Clear();
    if (const auto thrown = Ask(store, *index.definition, after.object(), collector))
      result = Threw(*index.definition, *thrown);
    for (const String& value : collector.values()) AddToIndex(index.values, value, after, edit);
  });
  return result;
}

}  // namespace

// ----------------------------------------------------------------------------------------------------------------------
// Store

Store::Store() {
  auto definition = MakeShared<IndexDefinition>();
  definition->name = kNamespaceIndex;
  definition->function = [](const AnyRef& object, IndexSink& sink) {
    if (!object.metadata()->namespace_.empty()) sink.Add(object.metadata()->namespace_);
  };
  auto first = MakeShared<State>(NextNumber());
  first->indexes.push_back({std::move(definition), {}});
  first->Begin();
  current_owner_ = std::move(first);
  current_.store(current_owner_.get(), std::memory_order_release);
}

Store::~Store() = default;

AnySnapshot Store::Snapshot() const noexcept {
  const HazardGuard<State> guard(current_);
  return AnySnapshot(Shared<const State>(&*guard));
}

AnyRef Store::Look(const ObjectKey& key) const { return Look(key.namespace_, key.name); }
AnyRef Store::Look(std::string_view namespace_, std::string_view name) const {
  const HazardGuard<State> guard(current_);
  return GetFrom(*guard, {namespace_, name});
}

AnyRef Store::LookByIndex(std::string_view index, std::string_view value) const noexcept {
  const HazardGuard<State> guard(current_);
  return OneFrom(*guard, index, value);
}

void Store::Apply(Transaction transaction) {
  {
    const MutexLock lock(writer_);
    Shared<State> next = NextState();
    next->changes += transaction.changes.size();
    const bool changed = !transaction.changes.empty() && !transaction.version.empty();
    for (Change& change : transaction.changes) Put(*next, std::move(change));
    if (!transaction.version.empty()) next->version = std::move(transaction.version);
    if (changed) next->changed = next->version;
    PublishNext(std::move(next));
  }
  ReportFaults();
}

void Store::ReportFaults() {
  std::vector<StoreFault> faults;
  std::function<void(const StoreFault&)> on_fault;
  {
    const MutexLock lock(writer_);
    faults.swap(faults_);
    if (!faults.empty()) on_fault = on_fault_;
  }
  if (!on_fault) return;
  for (const StoreFault& fault : faults) on_fault(fault);
}

bool Store::HasUnindexed() const {
  const MutexLock lock(writer_);
  return std::ranges::any_of(threw_, [](const IdentitySet& threw) { return !threw.empty(); });
}

// Calls the function for all objects without holding the lock; the writer waits only while the last few changes are
// added. Each round goes from one version to the next and visits only what they do not share.
Result<void> Store::AddIndex(std::string_view name, IndexFunction function) {
  if (IsAsking(this)) {
    return Fail(Code::kInvalidArgument, "index \"" + std::string(name) +
                                            "\": an index function cannot add an index to the store that calls it");
  }
  AnySnapshot seen = Snapshot();
  if (seen.HasIndex(name)) return Taken(name);
  auto definition = MakeShared<IndexDefinition>();
  definition->name = name;
  definition->function = std::move(function);
  Index index{definition, {}};
  const StateEdit edit = EditBeside();
  Result<void> built;
  index.values = Build(*this, *definition, seen.state().objects, edit, [&](const ObjectLeaf&, std::string_view what) {
    built = Threw(*definition, what);
    return false;
  });
  for (int round = 0; built; ++round) {
    if (round >= kRoundsBeside) {
      const MutexLock lock(writer_);
      if (current_owner_->FindIndex(name) != nullptr) return Taken(name);
      if (round == kMostRoundsBeside || current_owner_->changes - seen.state().changes <= kFewChanges) {
        built = CatchUp(*this, index, edit, seen.state().objects, current_owner_->objects);
        if (built) ShowIndex(std::move(index));
        return built;
      }
    }
    AnySnapshot now = Snapshot();
    built = CatchUp(*this, index, edit, seen.state().objects, now.state().objects);
    seen = std::move(now);
  }
  return built;
}

bool Store::Show(Replacement& replacement, const std::string& version) {
  const MutexLock lock(writer_);
  const State& current = *current_owner_;
  if (const std::size_t indexed = replacement.indexes_.size(); indexed < current.indexes.size()) {
    replacement.indexes_.push_back({current.indexes[indexed].definition, {}});
    replacement.threw_.emplace_back();
    replacement.cursor_ = ObjectMap::Cursor(replacement.objects_);
    return false;
  }
  auto next = MakeShared<State>(NextNumber());
  next->version = version.empty() ? current.version : version;
  next->changed = next->version;
  retired_.reserve(retired_.size() + 1);
  next->Begin();  // shares nothing with the current version, so it starts a new line
  next->changes = current.changes + current.objects.size() + replacement.objects_.size();
  next->objects = std::exchange(replacement.objects_, {});
  next->indexes = std::exchange(replacement.indexes_, {});
  std::swap(threw_, replacement.threw_);
  Publish(std::move(next), true);
  return true;
}

void Store::Bury(Replacement& replacement) {
  const MutexLock lock(writer_);
  for (IdentitySet& threw : replacement.threw_) old_threw_.Add(std::exchange(threw, {}));
  old_maps_.Add(std::exchange(replacement.objects_, {}));
  for (Index& index : replacement.indexes_) old_maps_.Add(std::exchange(index.values, {}));
}

void Store::Report(const StoreFault& fault) {
  std::function<void(const StoreFault&)> on_fault;
  {
    const MutexLock lock(writer_);
    on_fault = on_fault_;
  }
  if (on_fault) on_fault(fault);
}

void Store::Drop(AnySnapshot snapshot) {
  if (!snapshot.state_) return;
  const MutexLock lock(writer_);
  retired_.push_back({std::move(snapshot.state_), true});
  SettleRetired();
}

bool Store::FreeSome(std::size_t& units) {
  const MutexLock lock(writer_);
  SettleRetired();
  if (!old_maps_.Free(units) || !old_threw_.Free(units)) return false;
  for (; !leaving_.empty(); leaving_.pop_back()) {
    // There are no other references to it.
    if (!const_cast<State&>(*leaving_.back()).FreeSome(units)) return false;
  }
  return std::none_of(retired_.begin(), retired_.end(), [](const Retired& each) { return each.whole; });
}

void Store::SetOnFault(std::function<void(const StoreFault&)> on_fault) {
  const MutexLock lock(writer_);
  on_fault_ = std::move(on_fault);
}

std::uint64_t Store::NextNumber() noexcept { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }

StateEdit Store::EditBeside() noexcept {
  const std::uint64_t number = NextNumber();
  return {{number, nullptr}, {number, nullptr}};
}

Shared<State> Store::NextState() {
  auto next = MakeShared<State>(NextNumber());
  const State& current = *current_owner_;
  next->indexes.reserve(current.indexes.size() + 1);
  next->objects = current.objects.Alias();
  for (const Index& index : current.indexes) next->indexes.push_back({index.definition, index.values.Alias()});
  next->version = current.version;
  next->changed = current.changed;
  next->changes = current.changes;
  return next;
}

void Store::ShowIndex(Index index) {
  Shared<State> next = NextState();
  threw_.reserve(next->indexes.size() + 1);
  retired_.reserve(retired_.size() + 1);
  next->indexes.push_back(std::move(index));
  threw_.emplace_back();
  PublishNext(std::move(next));
}

void Store::PublishNext(Shared<State> next) {
  retired_.reserve(retired_.size() + 1);
  next->Follow(const_cast<State&>(*current_owner_));
  Publish(std::move(next), false);
}

void Store::Publish(Shared<State> next, bool whole) {
  current_.store(next.get(), std::memory_order_seq_cst);
  retired_.push_back({std::exchange(current_owner_, std::move(next)), whole});
  SettleRetired();
}

void Store::SettleRetired() {
  if (retired_.empty()) return;
  const std::vector<const void*> announced = AnnouncedPointers();
  std::erase_if(retired_, [&](Retired& each) KGEN_REQUIRES(writer_) {
    if (std::find(announced.begin(), announced.end(), static_cast<const void*>(each.state.get())) != announced.end())
      return false;
    // If a snapshot still holds it, dropping the last one frees it.
    if (each.whole && !each.state.ReleaseUnlessLast()) leaving_.push_back(std::move(each.state));
    return true;
  });
}

void Store::Put(State& state, Change change) {
  const StateEdit edit = state.Edit();
  const KeyView key{change.key.namespace_, change.key.name};
  const std::uint64_t hash = LeafHash(key);
  const ObjectLeaf* present = state.objects.Find(key, hash);
  const AnyRef before = present != nullptr ? present->object() : AnyRef();
  if (change.stale && !change.object) {
    if (before) SetEverywhere(state, before, ObjectLeaf(before, hash, true));
    return;
  }
  if (!change.object) {
    if (!before) return;  // deleting an absent object is not an error
    for (std::size_t i = 0; i < state.indexes.size(); ++i) {
      if (!ForgetThrew(i, before)) Unindex(*this, state.indexes[i], edit, before, key, {});
    }
    state.objects.Erase(key, hash, edit.objects);
    return;
  }
  if (!HasKey(change.object, key)) return faults_.push_back(Misplaced(change));
  SetEverywhere(state, before, ObjectLeaf(std::move(change.object), hash, change.stale));
}

void Store::SetEverywhere(State& state, const AnyRef& before, const ObjectLeaf& leaf) {
  const StateEdit edit = state.Edit();
  for (std::size_t i = 0; i < state.indexes.size(); ++i) {
    Index& index = state.indexes[i];
    const bool stands = before && !ForgetThrew(i, before);
    ValueCollector collector;
    if (const auto thrown = Ask(*this, *index.definition, leaf.object(), collector)) {
      threw_[i].Set(IdentityLeaf(leaf.object().object()));
      faults_.push_back(FunctionThrew(*index.definition, leaf, *thrown));
    }
    if (stands && !Injected(Bug::kIndexValueKept)) Unindex(*this, index, edit, before, leaf.key(), collector.values());
    for (const String& value : collector.values()) AddToIndex(index.values, value, leaf, edit);
  }
  state.objects.Set(leaf, edit.objects);
}

bool Store::ForgetThrew(std::size_t index, const AnyRef& before) {
  IdentitySet& threw = threw_[index];
  return !threw.empty() && threw.Erase(before.object(), IdentityLeaf::HashOf(before.object()));
}

// ----------------------------------------------------------------------------------------------------------------------
// Replacement

Store::Replacement::~Replacement() { store_.Bury(*this); }

void Store::Replacement::Put(Change change) {
  const KeyView key{change.key.namespace_, change.key.name};
  if (!HasKey(change.object, key)) return faults_.push_back(Misplaced(change));
  objects_.Set(ObjectLeaf(std::move(change.object), LeafHash(key), change.stale));
}

bool Store::Replacement::Publish(const std::string& version, std::size_t& units) {
  while (IndexSome(units)) {
    if (store_.Show(*this, version)) return true;
  }
  return false;
}

bool Store::Replacement::IndexSome(std::size_t& units) {
  ValueCollector collector;
  for (; units > 0; --units) {
    const ObjectLeaf* leaf = cursor_.Next();
    if (leaf == nullptr) return true;
    Index& index = indexes_.back();
    collector.Clear();
    if (const auto thrown = Ask(store_, *index.definition, leaf->object(), collector)) {
      threw_.back().Set(IdentityLeaf(leaf->object().object()));
      faults_.push_back(FunctionThrew(*index.definition, *leaf, *thrown));
    }
    for (const String& value : collector.values()) AddToIndex(index.values, value, *leaf, {});
  }
  return false;
}

bool Store::Replacement::ReportFaults(std::size_t& units) {
  for (; units > 0 && !faults_.empty(); --units) {
    store_.Report(faults_.front());
    faults_.pop_front();
  }
  return faults_.empty();
}

}  // namespace kgen::cache
