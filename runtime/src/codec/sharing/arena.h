// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Scratch memory for list elements and map entries while their number is not yet known.
//
// Elements are decoded here one after the other, and then moved into a block of exactly their size. A cache of a
// million objects needs blocks without slack, and counting the elements first would read the text twice.
#ifndef KGEN_SRC_CODEC_SHARING_ARENA_H_
#define KGEN_SRC_CODEC_SHARING_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/blocks.h"

namespace kgen::codec {

// A stack of bytes whose content never moves. Lists nest, so it is used strictly last in, first out.
class Arena {
 public:
  Arena(char* first, std::size_t size) noexcept
      : top_(first), limit_(first + size), first_(first), first_limit_(limit_) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  struct Mark {
    std::size_t chunk;
    char* top;
    char* limit;
  };
  Mark mark() const noexcept { return {used_, top_, limit_}; }
  void Release(const Mark& mark) noexcept {
    used_ = mark.chunk;
    top_ = mark.top;
    limit_ = mark.limit;
  }
  char* Top() noexcept { return top_; }
  std::size_t room() const noexcept { return static_cast<std::size_t>(limit_ - top_); }
  void Advance(std::size_t bytes) noexcept { top_ += bytes; }
  void Align() noexcept {
    const auto past = reinterpret_cast<std::size_t>(top_) % 8;
    if (past != 0) top_ = std::min(top_ + (8 - past), limit_);
  }
  // Continues in a chunk with room for at least `bytes`.
  void NextChunk(std::size_t bytes) {
    while (used_ < chunks_.size() && chunks_[used_].size < bytes)
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(used_));
    if (used_ == chunks_.size()) {
      const std::size_t size = std::max<std::size_t>(bytes, 32u << 10);
      chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    }
    top_ = chunks_[used_].memory.get();
    limit_ = top_ + chunks_[used_].size;
    ++used_;
  }
  // Called when the stack is empty, so that one unusually large object does not keep its memory.
  void Trim() noexcept {
    top_ = first_;
    limit_ = first_limit_;
    used_ = 0;
    if (chunks_.size() > 4 || (!chunks_.empty() && chunks_.back().size > 256u << 10)) chunks_.clear();
  }

 private:
  struct Chunk {
    std::unique_ptr<char[]> memory;
    std::size_t size;
  };
  char* top_;
  char* limit_;
  char* first_;
  char* first_limit_;
  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;
};

// The elements of one list, or the entries of one map, on the arena. Destroys them unless Take() was called.
class Elements {
 public:
  Elements(Arena& arena, const ValueType& type, bool entries)
      : arena_(arena),
        mark_(arena.mark()),
        type_(type),
        stride_(entries ? detail::EntrySize(type) : type.size),
        entries_(entries) {
    arena_.Align();
    base_ = arena_.Top();
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() {
    for (std::size_t i = 0; i < count_; ++i) {
      char* element = base_ + i * stride_;
      if (entries_) detail::KeyOf(element).~String();
      detail::DestroyValue(entries_ ? detail::ValueOf(element) : element, type_);
    }
    arena_.Release(mark_);
  }

  // Appends a default-constructed element (for a map, an entry with an unset key). May move the elements before it.
  void* Append() {
    if (arena_.room() < stride_) Grow();
    char* element = arena_.Top();
    arena_.Advance(stride_);
    if (entries_) {
      ::new (static_cast<void*>(element)) String();
      detail::ConstructEmpty(detail::ValueOf(element), type_);
    } else {
      detail::ConstructEmpty(element, type_);
    }
    ++count_;
    return element;
  }
  std::size_t count() const noexcept { return count_; }
  // Returns the memory of all elements and hands over the duty to destroy them. The memory is valid until ~Elements.
  void* Take() noexcept {
    count_ = 0;
    return base_;
  }

 private:
  void Grow() {
    char* old = base_;
    arena_.NextChunk((count_ + 1) * 2 * stride_);
    base_ = arena_.Top();
    if (entries_) {
      for (std::size_t i = 0; i < count_; ++i) {
        char* from = old + i * stride_;
        char* to = base_ + i * stride_;
        ::new (static_cast<void*>(to)) String(std::move(detail::KeyOf(from)));
        detail::KeyOf(from).~String();
        detail::Relocate(detail::ValueOf(to), detail::ValueOf(from), 1, type_);
      }
    } else {
      detail::Relocate(base_, old, count_, type_);
    }
    arena_.Advance(count_ * stride_);
  }

  Arena& arena_;
  Arena::Mark mark_;
  const ValueType& type_;
  std::size_t stride_;
  bool entries_;
  char* base_;
  std::size_t count_ = 0;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SHARING_ARENA_H_
