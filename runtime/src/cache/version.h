// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Version: one of a line of versions of persistent maps, and when it may free what.
//
//   the writer    next = a version with aliases of the maps of the current one; changes them; next.Follow(current)
//   anybody       drops the last reference to a version, or frees it in pieces with FreeSome()
//
// Each version has the Remains of what it was the last to have, see cache/persistent_map.h. When it goes, the next
// older one that still lives inherits what it has of that as well. The others are asked only for their numbers, so
// versions may go in any order, on any threads, several at once.
#ifndef KGEN_RUNTIME_CACHE_VERSION_H_
#define KGEN_RUNTIME_CACHE_VERSION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/mutex.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// `Dead` holds the Remains of all maps of a version. It is movable, and has
//   void Append(Dead) noexcept, bool Free(std::size_t& units, std::uint64_t heir, Dead& inherited) noexcept,
//   void Forget(std::uint64_t version) noexcept
// as these have them.
//
// The derived class has the maps, and calls FreeAll() in its destructor.
//
// Thread safety: Begin(), Follow() and what leads to them on one thread at a time, the writer's. FreeSome() and the
// destructor on any thread, by whoever holds the last reference. They hold a lock of the line for some instructions,
// and free without it.
template <typename Dead>
class Version : public SharedObject {
 public:
  // Numbers of a line ascend, and all of its births are of this order.
  explicit Version(std::uint64_t number) noexcept : number_(number) {}

  std::uint64_t number() const noexcept { return number_; }

  // What the maps leave behind while this version is being written.
  Dead& left_behind() noexcept { return dead_; }

  // This is the first of a new line. May throw, and has done nothing then.
  void Begin() {
    line_ = MakeShared<Line>();
    written_ = true;
  }
  // This is the one after `before`, the newest of its line.
  void Follow(Version& before) noexcept {
    line_ = before.line_;
    const MutexLock lock(line_->lock);
    before.dead_.Append(std::exchange(dead_, Dead()));
    before.followed_ = true;
    before.newer_ = this;
    older_ = &before;
    written_ = true;
  }

  // Frees about `units` nodes and leaves of what this version alone has, and takes what it did from `units`. True when
  // nothing is left. Only for whoever holds the last reference; nothing may be read any more. One that was never
  // published leaves everything as it was before.
  bool FreeSome(std::size_t& units) noexcept {
    if (gone_) return true;
    if (!leaving_) Leave();
    while (dead_.Free(units, heir_, inherited_)) {
      gone_ = Settle();
      if (gone_) return true;
      dead_ = std::exchange(inherited_, Dead());
    }
    return false;
  }

 protected:
  void FreeAll() noexcept {
    std::size_t all = std::numeric_limits<std::size_t>::max();
    while (!FreeSome(all)) {
    }
  }
  // Gives all maps to `to`, or only forgets them if that is null.
  virtual void TakeMaps(Dead* to) noexcept = 0;

 private:
  // Guards the links between the versions of a line, who is leaving, and the remains of those that are not. The members
  // cannot say so: that of another version is reached under the lock of this one, and Clang does not know that the line
  // is the same.
  struct Line : SharedObject {
    Mutex lock;
  };

  void Leave() noexcept {
    if (!written_) {
      // Before that its maps are those of the version before, which lives, but for what was born in this one.
      leaving_ = true;
      heir_ = number_ - 1;
      return TakeMaps(&dead_);
    }
    const MutexLock lock(line_->lock);
    leaving_ = true;
    // After the last of a line nobody has anything of it.
    TakeMaps(followed_ ? nullptr : &dead_);
    heir_ = Heir();
    if (heir_ == 0) Unlink();
  }

  // Hands over what is inherited, unless the heir went meanwhile. Then there is more to free.
  bool Settle() noexcept {
    if (!written_) {
      inherited_.Forget(number_);
      return true;
    }
    if (heir_ == 0) return true;
    const MutexLock lock(line_->lock);
    const std::uint64_t heir = Heir();
    if (heir == heir_) OlderThatStays()->dead_.Append(std::exchange(inherited_, Dead()));
    if (heir == heir_ || heir == 0) Unlink();
    return std::exchange(heir_, heir) == heir;
  }

  Version* OlderThatStays() const noexcept KGEN_REQUIRES(line_->lock) {
    Version* older = older_;
    while (older != nullptr && older->leaving_) older = older->older_;
    return older;
  }
  std::uint64_t Heir() const noexcept KGEN_REQUIRES(line_->lock) {
    const Version* const older = OlderThatStays();
    return older != nullptr ? older->number_ : 0;
  }
  void Unlink() noexcept KGEN_REQUIRES(line_->lock) {
    if (older_ != nullptr) older_->newer_ = newer_;
    if (newer_ != nullptr) newer_->older_ = older_;
  }

  const std::uint64_t number_;
  Shared<Line> line_;
  Version* older_ = nullptr;
  Version* newer_ = nullptr;
  Dead dead_;
  bool written_ = false;
  bool followed_ = false;
  bool leaving_ = false;
  bool gone_ = false;
  std::uint64_t heir_ = 0;  // when leaving: the next older version that stays, or 0
  Dead inherited_;          // by that
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_VERSION_H_
