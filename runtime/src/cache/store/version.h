// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Version: one of a line of versions of persistent maps. Decides which nodes may be freed when.
//
//   the writer    next = a version with aliases of the maps of the current one; changes them; next.Follow(current)
//   anybody       drops the last reference to a version, or frees it in pieces with FreeSome()
//
// Each version has the Remains of the nodes that it was the last to have, see cache/store/persistent_map.h. When it is
// destroyed, the next older live version inherits those that it also has. Of the other versions only the numbers are
// read, so versions may be destroyed in any order, on any threads, and several at once.
#ifndef KGEN_SRC_CACHE_STORE_VERSION_H_
#define KGEN_SRC_CACHE_STORE_VERSION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// `Dead` holds the Remains of all maps of a version. It is movable, and has
//   void Append(Dead) noexcept, bool Free(std::size_t& units, std::uint64_t heir, Dead& inherited) noexcept,
//   void Forget(std::uint64_t version) noexcept
// which do the same as the functions of Remains.
//
// The derived class contains the maps and calls FreeAll() in its destructor.
//
// Thread safety: a version is written, and Begin() or Follow() is called, by one thread at a time. FreeSome() and the
// destructor may be called on any thread, by the holder of the last reference. They hold the lock of the line for a few
// instructions, and free memory without it.
template <typename Dead>
class Version : public SharedObject {
 public:
  // The numbers of a line ascend, and the births of its nodes are such numbers.
  explicit Version(std::uint64_t number) noexcept : number_(number) {}

  std::uint64_t number() const noexcept { return number_; }

  // Receives the nodes and leaves that die while this version is being written.
  Dead& left_behind() noexcept { return dead_; }

  // Makes this the first version of a new line. If it throws, nothing has changed.
  void Begin() {
    line_ = MakeShared<Line>();
    written_ = true;
  }
  // Makes this the next version after `before`, which must be the newest of its line.
  void Follow(Version& before) noexcept {
    line_ = before.line_;
    const MutexLock lock(line_->lock);
    before.dead_.Append(std::exchange(dead_, Dead()));
    before.followed_ = true;
    before.newer_ = this;
    older_ = &before;
    written_ = true;
  }

  // Frees about `units` nodes and leaves that only this version has, and subtracts the number freed from `units`.
  // Returns true when nothing is left. Only for the holder of the last reference; the version must not be read
  // afterwards. If it was never published, the version before it keeps everything.
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
  // Moves all maps to `to`; if `to` is null, only forgets them.
  virtual void TakeMaps(Dead* to) noexcept = 0;

 private:
  // Guards, for all versions of a line, the links between them, leaving_, and the Remains of versions that are not
  // leaving. KGEN_GUARDED_BY cannot express this: members of one version are accessed under the lock of another, and
  // Clang does not know that both have the same line.
  struct Line : SharedObject {
    Mutex lock;
  };

  void Leave() noexcept {
    if (!written_) {
      // This version was not published, so its maps belong to the version before, except for the nodes born here.
      leaving_ = true;
      heir_ = number_ - 1;
      return TakeMaps(&dead_);
    }
    const MutexLock lock(line_->lock);
    leaving_ = true;
    // If this is the newest of its line, its maps belong to no newer version and die as well.
    TakeMaps(followed_ ? nullptr : &dead_);
    heir_ = Heir();
    if (heir_ == 0) Unlink();
  }

  // Moves what is inherited to the heir and returns true. If the heir was destroyed meanwhile, sets the next one and
  // returns false: there may be more to free.
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
  std::uint64_t heir_ = 0;  // while leaving: the number of the next older version that stays, or 0
  Dead inherited_;          // what that version inherits
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_VERSION_H_
