// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SteppedTable: a hash table without long pauses. It grows, is searched for unused entries, and shrinks in steps whose
// cost does not depend on its size.
//
// Extendible hashing: the first bits of the hash select a segment, a small table with linear probing; the last bits
// select the slot. A full segment is split in two. A directory has one pointer for each value of the first bits. Only
// the directory is ever copied as a whole: 8 bytes for every hundred entries, each time their number has doubled.
#ifndef KGEN_SRC_CODEC_SHARING_STEPPED_TABLE_H_
#define KGEN_SRC_CODEC_SHARING_STEPPED_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kgen::codec {

// Slot must be movable and free when default-constructed, and have `bool free() const`, `std::uint64_t hash() const`,
// and `const void* memory() const`, the memory that checking the entry will read.
//
// Thread safety: none.
template <typename Slot>
class SteppedTable {
 public:
  static constexpr std::size_t kSegmentSlots = 256;

  SteppedTable() = default;
  SteppedTable(const SteppedTable&) = delete;
  SteppedTable& operator=(const SteppedTable&) = delete;
  ~SteppedTable() {
    ForEachSegment([](Segment* segment) { delete segment; });
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept {
    return directory_.capacity() * sizeof(Segment*) + segments_ * sizeof(Segment) + slots_ * sizeof(Slot);
  }

  // Returns the entry of that hash for which `matches(slot)` is true, or null. Valid until the next Insert() or Look().
  template <typename F>
  Slot* Find(std::uint64_t hash, F matches) noexcept {
    if (directory_.empty()) return nullptr;
    Segment& segment = *directory_[IndexOf(hash)];
    const std::size_t mask = segment.slots.size() - 1;
    for (std::size_t i = hash & mask; !segment.slots[i].free(); i = (i + 1) & mask) {
      if (matches(segment.slots[i])) return &segment.slots[i];
    }
    return nullptr;
  }

  // Adds an entry, which must not be in the table yet.
  void Insert(Slot entry) {
    if (directory_.empty()) AddFirst();
    const std::uint64_t hash = entry.hash();
    while (IsFull(*directory_[IndexOf(hash)])) MakeRoom(hash);
    Segment& segment = *directory_[IndexOf(hash)];
    Place(segment.slots, std::move(entry));
    ++segment.used;
    ++size_;
    ++inserted_;
  }

  // Checks up to `slots` slots, from where the last call ended, and starts over at the end. Removes the entries for
  // which `is_dead(slot)` returns true; that must have freed what the slot owns.
  template <typename F>
  void Look(std::size_t slots, F is_dead) {
    if (directory_.empty()) return;
    Segment* segment = directory_[IndexOf(cursor_)];
    for (; slots > 0; --slots, ++quiet_) {
      if (next_ >= segment->slots.size()) {
        segment = NextSegment(segment);
        next_ = 0;
      }
      const std::size_t mask = segment->slots.size() - 1;
      __builtin_prefetch(segment->slots[(next_ + kAhead) & mask].memory());
      Slot& slot = segment->slots[next_];
      if (slot.free() || !is_dead(slot)) {
        ++next_;
        continue;
      }
      Erase(*segment, next_);  // the entry that moves into its place is checked next
      quiet_ = 0;
    }
  }

  // True if there are no entries and almost no memory is left: passes over an empty table merge its remaining segments.
  bool IsFreed() const noexcept { return size_ == 0 && segments_ <= 1; }

  // The number of entries that were inserted since the last call.
  std::size_t TakeInserted() noexcept { return std::exchange(inserted_, 0); }
  // After this, IsClean() returns true once a pass over every slot has found nothing more to remove.
  void StartLooking() noexcept { quiet_ = 0; }
  bool IsClean() const noexcept { return quiet_ >= slots_; }

  template <typename F>
  void ForEach(F&& f) {
    ForEachSegment([&](Segment* segment) {
      for (Slot& slot : segment->slots) {
        if (!slot.free()) f(slot);
      }
    });
  }

 private:
  static constexpr std::size_t kFirstSlots = 16;
  static constexpr std::size_t kAhead =
      8;  // slots between the prefetch of an entry's memory and the check of the entry

  struct Segment {
    std::vector<Slot> slots;  // a power of two; linear probing
    std::size_t used = 0;
    unsigned depth = 0;  // the number of first bits that its entries have in common
  };

  std::size_t IndexOf(std::uint64_t hash) const noexcept { return depth_ == 0 ? 0 : hash >> (64 - depth_); }
  static bool IsFull(const Segment& segment) noexcept { return (segment.used + 1) * 4 > segment.slots.size() * 3; }

  static void Place(std::vector<Slot>& slots, Slot entry) noexcept {
    const std::size_t mask = slots.size() - 1;
    std::size_t i = entry.hash() & mask;
    while (!slots[i].free()) i = (i + 1) & mask;
    slots[i] = std::move(entry);
  }

  template <typename F>
  void ForEachSegment(F f) {
    for (std::size_t i = 0; i < directory_.size();) {
      Segment* const segment = directory_[i];
      i += std::size_t{1} << (depth_ - segment->depth);
      f(segment);
    }
  }

  void AddFirst() {
    auto first = std::make_unique<Segment>();
    first->slots.resize(kFirstSlots);
    directory_.push_back(first.get());
    first.release();  // the directory owns segments
    slots_ = kFirstSlots;
    segments_ = 1;
    deepest_ = 1;
  }

  // Makes the segment larger or, once it has its full size, splits it in two. If the directory has many more places
  // than there are segments, the hashes are far from random, and a split would not help.
  void MakeRoom(std::uint64_t hash) {
    Segment& segment = *directory_[IndexOf(hash)];
    const bool alike = segment.depth == depth_ && directory_.size() > segments_ * 8;
    if (segment.slots.size() < kSegmentSlots || alike) {
      Resize(segment, segment.slots.size() * 2);
    } else {
      Split(hash);
    }
  }

  void Resize(Segment& segment, std::size_t capacity) {
    std::vector<Slot> slots(capacity);
    for (Slot& slot : segment.slots) {
      if (!slot.free()) Place(slots, std::move(slot));
    }
    slots_ += slots.size();
    slots_ -= segment.slots.size();
    segment.slots.swap(slots);
  }

  void Split(std::uint64_t hash) {
    Segment& segment = *directory_[IndexOf(hash)];
    if (segment.depth == depth_) DoubleDirectory();
    auto upper = std::make_unique<Segment>();
    std::vector<Slot> lower_slots(segment.slots.size());
    upper->slots.resize(segment.slots.size());
    const std::uint64_t bit = std::uint64_t{1} << (63 - segment.depth);
    for (Slot& slot : segment.slots) {
      if (slot.free()) continue;
      const bool is_upper = (slot.hash() & bit) != 0;
      upper->used += is_upper;
      Place(is_upper ? upper->slots : lower_slots, std::move(slot));
    }
    slots_ += segment.slots.size();
    segment.slots.swap(lower_slots);
    segment.used -= upper->used;
    upper->depth = ++segment.depth;
    const std::size_t places = std::size_t{1} << (depth_ - segment.depth);
    const std::size_t first = IndexOf((hash | bit) & ~(bit - 1));
    std::fill_n(directory_.begin() + static_cast<std::ptrdiff_t>(first), places, upper.release());
    ++segments_;
    if (segment.depth == depth_) deepest_ += 2;
  }

  void DoubleDirectory() {
    std::vector<Segment*> twice(directory_.size() * 2);
    for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = directory_[i / 2];
    directory_.swap(twice);
    ++depth_;
    deepest_ = 0;
  }

  // Fills the hole with later entries that may move there, so that no search ends early.
  void Erase(Segment& segment, std::size_t hole) noexcept {
    std::vector<Slot>& slots = segment.slots;
    const std::size_t mask = slots.size() - 1;
    for (std::size_t i = (hole + 1) & mask; !slots[i].free(); i = (i + 1) & mask) {
      const std::size_t home = slots[i].hash() & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;  // it would be before the start of its search
      slots[hole] = std::move(slots[i]);
      hole = i;
    }
    slots[hole] = Slot();
    --segment.used;
    --size_;
  }

  // Called at the end of a segment. Shrinks or merges it if there is little left in it, and returns the segment to
  // check next.
  Segment* NextSegment(Segment* segment) {
    if (ShrinkOrMerge(segment)) return segment;
    const std::uint64_t width = segment->depth == 0 ? 0 : std::uint64_t{1} << (64 - segment->depth);
    cursor_ = width == 0 ? 0 : (cursor_ & ~(width - 1)) + width;  // the last one is followed by the first
    return directory_[IndexOf(cursor_)];
  }

  // Returns true if `segment` must be searched again.
  bool ShrinkOrMerge(Segment* segment) {
    if (segment->slots.size() > kFirstSlots && segment->used * 8 < segment->slots.size() &&
        (segment->depth == 0 || segment->slots.size() > kSegmentSlots)) {
      Resize(*segment, segment->slots.size() / 2);
      quiet_ = 0;
      return false;
    }
    if (segment->depth == 0) return false;
    const std::uint64_t bit = std::uint64_t{1} << (64 - segment->depth);
    if ((cursor_ & bit) != 0) return false;  // the lower one of two segments takes the entries of the upper one
    Segment* const upper = directory_[IndexOf((cursor_ | bit) & ~(bit - 1))];
    if (upper->depth != segment->depth || (segment->used + upper->used) * 8 > kSegmentSlots * 3) return false;
    Merge(segment, upper, bit);
    return true;
  }

  void Merge(Segment* lower, Segment* upper, std::uint64_t bit) {
    for (Slot& slot : upper->slots) {
      if (!slot.free()) Place(lower->slots, std::move(slot));
    }
    const std::size_t places = std::size_t{1} << (depth_ - upper->depth);
    const std::size_t first = IndexOf((cursor_ | bit) & ~(bit - 1));
    std::fill_n(directory_.begin() + static_cast<std::ptrdiff_t>(first), places, lower);
    if (upper->depth == depth_) deepest_ -= 2;
    lower->used += upper->used;
    --lower->depth;
    slots_ -= upper->slots.size();
    --segments_;
    delete upper;
    quiet_ = 0;
    while (depth_ > 0 && deepest_ == 0) HalveDirectory();
  }

  void HalveDirectory() {
    std::vector<Segment*> half(directory_.size() / 2);
    for (std::size_t i = 0; i < half.size(); ++i) half[i] = directory_[i * 2];
    directory_.swap(half);
    --depth_;
    ForEachSegment([&](const Segment* segment) { deepest_ += segment->depth == depth_; });
  }

  std::vector<Segment*> directory_;  // by the first depth_ bits of the hash; several places may share a segment
  unsigned depth_ = 0;
  std::size_t size_ = 0;
  std::size_t slots_ = 0;  // in all segments
  std::size_t segments_ = 0;
  std::size_t deepest_ = 0;   // segments with one place in the directory
  std::size_t inserted_ = 0;  // since TakeInserted()
  std::uint64_t cursor_ = 0;  // a hash in the segment that Look() has reached
  std::size_t next_ = 0;      // the next slot in that segment
  std::size_t quiet_ = 0;     // slots searched since the last change
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SHARING_STEPPED_TABLE_H_
