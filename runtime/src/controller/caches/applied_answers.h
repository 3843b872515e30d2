// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// AppliedAnswers: what a server has made of the objects that were applied.
//
//   ApplyIfChanged() --the text, and the values of the answer--> AppliedAnswers <--Has()-- the next ApplyIfChanged()
#ifndef KGEN_SRC_CONTROLLER_CACHES_APPLIED_ANSWERS_H_
#define KGEN_SRC_CONTROLLER_CACHES_APPLIED_ANSWERS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/memory/mutex.h"
#include "net/keyed_hash.h"

namespace kgen::controller {

// Keeps one hash for each owner of fields: an object and a field manager. What is kept stays true, so it only has to be
// forgotten to save memory: of more than `limit` owners, the ones that were not asked for recently.
//
// Thread safety: all members from any thread.
class AppliedAnswers {
 public:
  explicit AppliedAnswers(std::size_t limit = 20'000) : limit_(limit) {}

  // `exchange` is all that was sent and answered.
  void Add(std::string_view owner, std::string_view exchange) {
    std::string hash = hash_.Of(exchange);
    if (hash.empty()) return;
    const MutexLock lock(mutex_);
    Keep(KeyOf(owner), std::move(hash));
  }
  // Whether it is the last exchange of that owner.
  bool Has(std::string_view owner, std::string_view exchange) {
    std::string hash = hash_.Of(exchange);
    if (hash.empty()) return false;
    const MutexLock lock(mutex_);
    const std::size_t key = KeyOf(owner);
    if (const auto found = recent_.find(key); found != recent_.end()) return found->second == hash;
    const auto found = older_.find(key);
    if (found == older_.end() || found->second != hash) return false;
    Keep(key, std::move(hash));
    return true;
  }
  std::size_t size() const {
    const MutexLock lock(mutex_);
    return recent_.size() + older_.size();
  }

 private:
  // Two owners with the same key replace each other, which costs a request and nothing else: the owner has to be a part
  // of the exchange.
  static std::size_t KeyOf(std::string_view owner) { return std::hash<std::string_view>()(owner); }
  void Keep(std::size_t key, std::string hash) KGEN_REQUIRES(mutex_) {
    if (!recent_.contains(key) && recent_.size() >= limit_ / 2) older_ = std::exchange(recent_, {});
    recent_.insert_or_assign(key, std::move(hash));
  }

  const std::size_t limit_;
  const net::KeyedHash hash_;
  mutable Mutex mutex_;
  std::unordered_map<std::size_t, std::string> recent_ KGEN_GUARDED_BY(mutex_);
  std::unordered_map<std::size_t, std::string> older_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_APPLIED_ANSWERS_H_
