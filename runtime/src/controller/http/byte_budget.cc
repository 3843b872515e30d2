// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/http/byte_budget.h"

#include <algorithm>
#include <new>
#include <utility>

namespace kgen::controller {

ByteBudget::Share::Share(Shared<ByteBudget> budget, std::size_t most)
    : budget_(std::move(budget)), most_(std::min(most, budget_->limit_)) {
  const MutexLock lock(budget_->mutex_);
  budget_->reading_.push_back(this);
  reads_ = true;
}

bool ByteBudget::Share::Grow(std::size_t bytes) {
  const MutexLock lock(budget_->mutex_);
  const std::size_t wanted = std::min(bytes, most_);  // the frames of chunks do not count
  if (wanted <= held_) return true;
  const std::size_t more = wanted - held_, before = held_;
  if (budget_->held_ <= budget_->limit_ - more) {
    held_ = wanted;
    if (budget_->CanAllComplete()) {
      budget_->held_ += more;
      return true;
    }
    held_ = before;
  }
  budget_->short_ = true;
  return false;
}

void ByteBudget::Share::Set(std::size_t bytes) noexcept {
  bool room = false;
  {
    const MutexLock lock(budget_->mutex_);
    room = bytes < held_ || reads_;  // one that is complete will need no more
    if (std::exchange(reads_, false)) std::erase(budget_->reading_, this);
    budget_->held_ = budget_->held_ - held_ + bytes;
    held_ = bytes;
  }
  if (room) budget_->TellOfRoom();
}

void ByteBudget::OnRoom(std::function<void()> call) {
  const MutexLock lock(mutex_);
  on_room_.swap(call);
}

void ByteBudget::TellOfRoom() noexcept {
  bool told = false;
  try {
    std::function<void()> call;
    {
      const MutexLock lock(mutex_);
      if (!short_) return;
      call = on_room_;
      short_ = false;  // before the call, which may lead to another share that cannot grow
    }
    told = true;
    if (call) call();
  } catch (const std::bad_alloc&) {  // the next time tries again
    const MutexLock lock(mutex_);
    short_ = short_ || told;
  }
}

std::size_t ByteBudget::held() const {
  const MutexLock lock(mutex_);
  return held_;
}

// What complete requests and answers hold becomes free by itself, so it counts as free here.
bool ByteBudget::CanAllComplete() const {
  std::size_t read = 0, largest = 0;
  for (const Share* share : reading_) {
    read += share->held_;
    largest = std::max(largest, share->most_ - share->held_);
  }
  if (read > limit_) return false;
  std::size_t free = limit_ - read;
  if (largest <= free) return true;
  std::vector<const Share*> order(reading_.begin(), reading_.end());
  std::ranges::sort(order, {}, [](const Share* share) { return share->most_ - share->held_; });
  for (const Share* share : order) {
    if (share->most_ - share->held_ > free) return false;
    free += share->held_;
  }
  return true;
}

}  // namespace kgen::controller
