// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/snapshot.h"

#include <algorithm>
#include <utility>

#include "cache/store/store.h"
#include "cache/store/store_state.h"

namespace kgen::cache {
namespace {

using State = AnySnapshot::State;

// Returns the entry of that value, or null.
const ValueLeaf* FindByIndex(const State& state, std::string_view index, std::string_view value) noexcept {
  const Index* const found = state.FindIndex(index);
  return found != nullptr ? found->values.Find(value, HashValue(value)) : nullptr;
}

}  // namespace

AnyRef GetFrom(const State& state, const KeyView& key) {
  const ObjectLeaf* leaf = state.Find(key);
  return leaf != nullptr ? leaf->object() : AnyRef();
}

AnyRef OneFrom(const State& state, std::string_view index, std::string_view value) noexcept {
  const ValueLeaf* const leaf = FindByIndex(state, index, value);
  return leaf != nullptr ? leaf->first()->object() : AnyRef();
}

std::vector<AnyRef> ListFrom(const State& state, std::string_view namespace_, const Selector* selector) {
  std::vector<AnyRef> result;
  if (selector != nullptr && selector->is_nothing()) return result;
  const bool all = selector == nullptr || selector->is_everything();
  const auto add_from = [&](const auto& source) {
    if (all) result.reserve(source.size());
    source.ForEach([&](const ObjectLeaf& leaf) {
      if (all || selector->Matches(leaf.object().metadata()->labels)) result.push_back(leaf.object());
    });
  };
  if (namespace_.empty()) {
    add_from(state.objects);
  } else if (const ValueLeaf* leaf = state.indexes.front().values.Find(namespace_, HashValue(namespace_))) {
    add_from(*leaf);
  }
  return result;
}

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
  const ValueLeaf* const leaf = state_ ? FindByIndex(*state_, index, value) : nullptr;
  if (leaf == nullptr) return result;
  result.reserve(leaf->size());
  leaf->ForEach([&](const ObjectLeaf& each) { result.push_back(each.object()); });
  return result;
}

std::vector<String> AnySnapshot::IndexValues(std::string_view index) const {
  std::vector<String> result;
  if (const Index* found = state_ ? state_->FindIndex(index) : nullptr) {
    result.reserve(found->values.size());
    found->values.ForEach([&](const ValueLeaf& leaf) { result.push_back(leaf.value()); });
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

}  // namespace kgen::cache

namespace kgen::detail {

cache::AnySnapshot TakeSnapshot(const Shared<cache::Store>& store) noexcept { return store->Snapshot(); }

AnyRef GetByIndex(const Shared<cache::Store>& store, std::string_view index, std::string_view value) noexcept {
  return store->LookByIndex(index, value);
}

}  // namespace kgen::detail
