// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue beside a model that is too simple to be wrong: a list of items, searched from end to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "kgen/controller/work_queue.h"
#include "tests/support/manual_executor.h"

namespace kgen {
namespace {

class Model {
 public:
  static constexpr Nanos kBase{3};
  static constexpr Nanos kLimit{40};

  void Add(int key, TimePoint now, Nanos after, int priority) {
    Entry& entry = EntryOf(key);
    if (entry.pending == kNo) {
      entry.priority = priority;
    } else if (priority > entry.priority) {
      entry.priority = priority;
      if (entry.pending == kReady) entry.order = ++order_;
    }
    const TimePoint due = now + after;
    if (after <= Nanos::zero()) {
      if (entry.pending != kReady) MakeReady(entry);
    } else if (entry.pending == kNo || (entry.pending == kDelayed && due < entry.due)) {
      entry.pending = kDelayed;
      entry.due = due;
      entry.order = ++order_;
    }
  }

  void PassTime(TimePoint now) {
    for (;;) {
      Entry* first = nullptr;
      for (Entry& entry : entries_) {
        if (entry.pending != kDelayed || entry.due > now) continue;
        if (first == nullptr || entry.due < first->due || (entry.due == first->due && entry.order < first->order)) {
          first = &entry;
        }
      }
      if (first == nullptr) return;
      MakeReady(*first);
    }
  }

  // Adds the key after the delay of the queue's limiter, or after `after` if that is set and shorter.
  void AddRateLimited(int key, TimePoint now, std::optional<Nanos> after, int priority) {
    const Nanos delay = std::min(kBase * (1 << std::min(EntryOf(key).failures++, 10)), kLimit);
    Add(key, now, after ? std::min(delay, *after) : delay, priority);
  }
  void Forget(int key) { EntryOf(key).failures = 0; }
  int NumRequeues(int key) { return EntryOf(key).failures; }
  // Only what is being processed stays, until it is done.
  void ShutDown() {
    for (Entry& entry : entries_) {
      entry.pending = kNo;
      if (!entry.processing) entry.failures = 0;
    }
  }

  std::optional<std::pair<int, int>> TryGet() {
    Entry* best = nullptr;
    const bool fair = (taken_ + 1) % 16 == 0;
    for (Entry& entry : entries_) {
      if (entry.pending != kReady || entry.processing) continue;
      const bool higher = best != nullptr && !fair && entry.priority != best->priority
                              ? entry.priority > best->priority
                              : best == nullptr || entry.order < best->order;
      if (higher) best = &entry;
    }
    if (best == nullptr) return std::nullopt;
    ++taken_;
    best->processing = true;
    best->pending = kNo;
    return std::pair(best->key, best->priority);
  }

  void Done(int key) {
    Entry& entry = EntryOf(key);
    if (!entry.processing) return;
    entry.processing = false;
    if (entry.pending == kReady) entry.order = ++order_;
  }

  std::size_t size() const {
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                  [](const Entry& e) { return e.pending == kReady && !e.processing; }));
  }

 private:
  enum Pending : std::uint8_t { kNo, kDelayed, kReady };
  struct Entry {
    int key;
    Pending pending = kNo;
    bool processing = false;
    int priority = 0;
    int failures = 0;
    TimePoint due{};
    std::uint64_t order = 0;
  };
  Entry& EntryOf(int key) {
    for (Entry& entry : entries_) {
      if (entry.key == key) return entry;
    }
    return entries_.emplace_back(Entry{.key = key});
  }
  void MakeReady(Entry& entry) {
    entry.pending = kReady;
    entry.order = ++order_;
  }

  std::vector<Entry> entries_;
  std::uint64_t order_ = 0;
  std::uint64_t taken_ = 0;
};

class QueueBesideModel {
 public:
  explicit QueueBesideModel(std::uint64_t seed) : random_(seed), keys_(1 + Choose(40)) {}

  void Step() {
    switch (Choose(9)) {
      case 0:
      case 1:
      case 2:
        return Add();
      case 3:
      case 4:
        return Get();
      case 5:
      case 6:
        return Done();
      case 7:
        return Forget();
      default:
        executor_->Advance(Nanos(Choose(20)));
        model_.PassTime(executor_->clock()->Now());
    }
  }
  void Check() {
    ASSERT_EQ(queue_.size(), model_.size());
    const int key = Choose(keys_);
    ASSERT_EQ(queue_.NumRequeues(key), model_.NumRequeues(key));
  }
  // Nothing comes out any more, and nothing can be added.
  void ShutDown() {
    queue_.ShutDown();
    model_.ShutDown();
    queue_.Add(0);
    queue_.AddRateLimited(0);
    Check();
    EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
    Finish();
    for (int key = 0; key < keys_; ++key) EXPECT_EQ(queue_.NumRequeues(key), model_.NumRequeues(key));
  }
  // Everything comes out in the end, in the model's order.
  void Finish() {
    executor_->Advance(Nanos(1000));
    model_.PassTime(executor_->clock()->Now());
    for (int round = 0; round < 1000 && (queue_.size() > 0 || !taken_.empty()); ++round) {
      Get();
      Done();
    }
    EXPECT_EQ(model_.size(), 0u);
    EXPECT_FALSE(queue_.TryGet());
    EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  }

 private:
  int Choose(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  void Add() {
    const int key = Choose(keys_);
    std::optional<Nanos> after;
    if (Choose(3) == 0) after = Nanos(Choose(50));
    const int priority = Choose(3) > 0 ? 0 : Choose(5) - 2;
    const bool rate_limited = Choose(4) == 0;
    queue_.Add(key, {.after = after, .rate_limited = rate_limited, .priority = priority});
    const TimePoint now = executor_->clock()->Now();
    rate_limited ? model_.AddRateLimited(key, now, after, priority)
                 : model_.Add(key, now, after.value_or(Nanos::zero()), priority);
  }
  void Forget() {
    const int key = Choose(keys_);
    queue_.Forget(key);
    model_.Forget(key);
  }
  void Get() {
    const auto item = queue_.TryGet();
    const auto expected = model_.TryGet();
    ASSERT_EQ(item.has_value(), expected.has_value());
    if (!item) return;
    ASSERT_EQ(item->key, expected->first);
    ASSERT_EQ(item->priority, expected->second);
    taken_.push_back(item->key);
  }
  void Done() {
    if (taken_.empty()) return;
    const auto at = taken_.begin() + Choose(static_cast<int>(taken_.size()));
    queue_.Done(*at);
    model_.Done(*at);
    taken_.erase(at);
  }

  std::mt19937_64 random_;
  const int keys_;
  Shared<testing::ManualExecutor> executor_ = MakeShared<testing::ManualExecutor>();
  WorkQueue<int> queue_{{.executor = executor_, .rate_limiter = *ExponentialRateLimiter(Model::kBase, Model::kLimit)}};
  Model model_;
  std::vector<int> taken_;
};

TEST(QueuePropertyTest, HandsOutTheSameItemsInTheSameOrderAsASimpleModel) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    QueueBesideModel both(seed);
    for (int i = 0; i < 1000 && !::testing::Test::HasFailure(); ++i) {
      both.Step();
      both.Check();
    }
    seed % 3 == 0 ? both.ShutDown() : both.Finish();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace kgen
