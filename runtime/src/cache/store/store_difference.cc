// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/store/store_difference.h"

#include <string>
#include <utility>

#include "cache/store/store_state.h"

namespace kgen::cache {

Store::Difference::Difference(Store& store) : store_(store) {
  const MutexLock lock(store_.writer_);
  next_ = store_.NextState();
  base_ = store_.current_owner_->number();
}

Store::Difference::~Difference() {
  if (!next_) return;
  const MutexLock lock(store_.writer_);
  store_.faults_.clear();
}

void Store::Difference::Put(Change change) {
  const MutexLock lock(store_.writer_);
  ++next_->changes;
  store_.Put(*next_, std::move(change));
}

bool Store::Difference::Publish(const std::string& version) {
  {
    const MutexLock lock(store_.writer_);
    if (store_.current_owner_->number() != base_) return false;
    if (!version.empty()) next_->version = next_->changed = version;
    store_.PublishNext(std::move(next_));
  }
  store_.ReportFaults();
  return true;
}

}  // namespace kgen::cache
