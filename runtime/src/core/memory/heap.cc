// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/memory/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <thread>

#include "core/memory/mutex.h"

namespace kgen::detail {
namespace {

constexpr std::size_t kPage = 4096;

constexpr std::size_t RoundUp(std::size_t value, std::size_t to) noexcept { return (value + to - 1) / to * to; }

// Returns `bytes` of address space that start at a multiple of `alignment`, or null if there is none.
void* Map(std::size_t bytes, std::size_t alignment) noexcept {
  void* const mapped =
      ::mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(mapped);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(start) % alignment) % alignment;
  if (before != 0) ::munmap(start, before);
  if (before != alignment) ::munmap(start + before + bytes, alignment - before);
  // If the system uses huge pages by default, the first block of a span would cost 2 MiB, and memory that was returned
  // would be filled again in the background.
  ::madvise(start + before, bytes, MADV_NOHUGEPAGE);
  return start + before;
}

bool Bit(const std::uint64_t* words, std::size_t i) noexcept { return (words[i / 64] >> (i % 64) & 1) != 0; }
void SetBit(std::uint64_t* words, std::size_t i) noexcept { words[i / 64] |= std::uint64_t{1} << (i % 64); }
void ClearBit(std::uint64_t* words, std::size_t i) noexcept { words[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

}  // namespace

void SpinLock::Wait() noexcept {
  constexpr int kSpins = 64;
  for (;;) {
    for (int i = 0; i < kSpins; ++i) {
      if (!taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire)) return;
    }
    std::this_thread::yield();  // the holder of the lock may wait for this core
  }
}

// ---- Blocks. ----

Heap::Region* Heap::RegionOf(const void* address) noexcept {
  return reinterpret_cast<Region*>(reinterpret_cast<std::uintptr_t>(address) & ~(kRegionBytes - 1));
}

Heap::Span* Heap::SpanOf(const void* block) noexcept {
  return &RegionOf(block)->spans[reinterpret_cast<std::uintptr_t>(block) % kRegionBytes / kSpanBytes];
}

char* Heap::StartOf(Span* span) noexcept {
  Region* const region = RegionOf(span);
  return reinterpret_cast<char*>(region) + static_cast<std::size_t>(span - region->spans) * kSpanBytes;
}

void Heap::Link(SizeClass& in, Span* span) noexcept {
  span->previous = nullptr;
  span->next = in.with_room;
  if (span->next != nullptr) span->next->previous = span;
  in.with_room = span;
}

void Heap::Unlink(SizeClass& in, Span* span) noexcept {
  (span->previous != nullptr ? span->previous->next : in.with_room) = span->next;
  if (span->next != nullptr) span->next->previous = span->previous;
  span->next = span->previous = nullptr;
}

Heap::Span* Heap::AddSpan(SizeClass& to) {
  Span* const span = TakeSpans(1);
  *span = {.of = &to, .free = nullptr, .untouched = StartOf(span), .next = nullptr, .previous = nullptr, .used = 0};
  Link(to, span);
  return span;
}

void* Heap::Take(std::size_t bytes) {
  if (bytes > kLargestInClass) return TakeLarge(bytes);
  SizeClass& of = classes_[ClassOf(bytes)];
  const MutexLock lock(of.lock);
  Span* span = of.with_room;
  if (span == nullptr) [[unlikely]]
    span = AddSpan(of);
  void* block = span->free;
  if (block != nullptr) {
    span->free = span->free->next;
  } else {
    block = span->untouched;
    span->untouched += of.size;
  }
  ++of.taken;
  if (++span->used == of.capacity) Unlink(of, span);
  return block;
}

// A span that was full is put first in the list, so that the fullest spans are filled up and the others become empty.
void Heap::Give(void* block) noexcept {
  Span* const span = SpanOf(block);
  if (span->of == nullptr) return GiveLarge(span);
  SizeClass& of = *span->of;
  bool is_free = false;
  bool is_due = false;
  {
    const MutexLock lock(of.lock);
    span->free = ::new (block) FreeBlock{span->free};
    is_due = (++of.given & of.due_mask) == 0;
    if (span->used-- == of.capacity) Link(of, span);
    const bool alone = span->next == nullptr && span->previous == nullptr;
    is_free = span->used == 0 && !alone;
    if (is_free) Unlink(of, span);
  }
  if (is_free) GiveSpans(span, 1);
  if (is_due) GiveBack(1);
}

bool Heap::GiveBack(std::size_t most) noexcept {
  for (; at_hand_.load(std::memory_order_relaxed) > kMostAtHand; --most) {
    if (most == 0) return true;
    Span* span = nullptr;
    {
      const MutexLock lock(spans_lock_);
      if (at_hand_.load(std::memory_order_relaxed) <= kMostAtHand) return false;
      span = oldest_;
      MarkTaken(span, 1);
    }
    ReturnSpans(span, 1);
  }
  return false;
}

void* Heap::TakeLarge(std::size_t bytes) {
  const std::size_t pages = RoundUp(bytes, kPage);
  if (pages < bytes) throw std::bad_alloc();
  const std::size_t count = RoundUp(pages, kSpanBytes) / kSpanBytes;
  if (count >= kSpansInRegion) return TakeHuge(pages);
  Span* const span = TakeSpans(count);
  *span = {.of = nullptr, .free = nullptr, .untouched = nullptr, .next = nullptr, .previous = nullptr, .used = pages};
  const MutexLock lock(spans_lock_);
  ++large_taken_;
  large_bytes_ += pages;
  return StartOf(span);
}

// Allocates blocks larger than a region. Each gets a separate mapping, which begins with the part of a Region that
// Give() reads.
void* Heap::TakeHuge(std::size_t pages) {
  if (pages > std::size_t{1} << 46) throw std::bad_alloc();
  auto* const region = static_cast<Region*>(Map(kSpanBytes + pages, kRegionBytes));
  if (region == nullptr) throw std::bad_alloc();
  Span* const span = ::new (&region->spans[1]) Span{};
  span->used = pages;
  const MutexLock lock(spans_lock_);
  ++large_taken_;
  large_bytes_ += pages;
  reserved_.fetch_add(pages, std::memory_order_relaxed);
  return StartOf(span);
}

void Heap::GiveLarge(Span* span) noexcept {
  const std::size_t pages = span->used;
  const std::size_t count = RoundUp(pages, kSpanBytes) / kSpanBytes;
  {
    const MutexLock lock(spans_lock_);
    ++large_given_;
    large_bytes_ -= pages;
  }
  if (count < kSpansInRegion) {
    GiveSpans(span, count);
    GiveBack(1);
    return;
  }
  reserved_.fetch_sub(pages, std::memory_order_relaxed);
  ::munmap(RegionOf(span), kSpanBytes + pages);
}

// ---- Spans. ----

void Heap::List(Region* region) noexcept {
  region->listed = true;
  region->previous = nullptr;
  region->next = regions_;
  if (regions_ != nullptr) regions_->previous = region;
  regions_ = region;
}

void Heap::Unlist(Region* region) noexcept {
  region->listed = false;
  (region->previous != nullptr ? region->previous->next : regions_) = region->next;
  if (region->next != nullptr) region->next->previous = region->previous;
}

Heap::Region* Heap::AddRegion() {
  void* const memory = Map(kRegionBytes, kRegionBytes);
  if (memory == nullptr) throw std::bad_alloc();
  auto* const region = static_cast<Region*>(memory);  // all zeros; parts that are never written need no page
  region->longest = kSpansInRegion - 1;
  std::fill_n(region->free, kWords, ~std::uint64_t{0});
  ClearBit(region->free, 0);
  List(region);
  return region;
}

// Returns the first of `count` adjacent free spans, or 0 if there are none.
std::size_t Heap::FindRun(const Region& region, std::size_t count) noexcept {
  std::size_t run = 0;
  for (std::size_t i = 1; i < kSpansInRegion; ++i) {
    run = Bit(region.free, i) ? run + 1 : 0;
    if (run == count) return i + 1 - count;
  }
  return 0;
}

// Prefers a span that still has its memory.
Heap::Span* Heap::TakeSpans(std::size_t count) {
  const MutexLock lock(spans_lock_);
  Span* first = count == 1 ? newest_ : nullptr;
  for (Region* region = regions_; first == nullptr && region != nullptr; region = region->next) {
    if (region->longest < count) continue;
    if (const std::size_t found = FindRun(*region, count)) {
      first = &region->spans[found];
    } else {
      region->longest = count - 1;
    }
  }
  if (first == nullptr) first = &AddRegion()->spans[1];
  const std::size_t before = at_hand_.load(std::memory_order_relaxed);
  MarkTaken(first, count);
  const std::size_t had_memory = before - at_hand_.load(std::memory_order_relaxed);
  reserved_.fetch_add((count - had_memory) * kSpanBytes, std::memory_order_relaxed);
  return first;
}

void Heap::MarkTaken(Span* first, std::size_t count) noexcept {
  Region* const region = RegionOf(first);
  const auto index = static_cast<std::size_t>(first - region->spans);
  for (std::size_t i = index; i < index + count; ++i) {
    ClearBit(region->free, i);
    if (!Bit(region->at_hand, i)) continue;
    ClearBit(region->at_hand, i);
    at_hand_.fetch_sub(1, std::memory_order_relaxed);
    Span& span = region->spans[i];
    (span.previous != nullptr ? span.previous->next : oldest_) = span.next;
    (span.next != nullptr ? span.next->previous : newest_) = span.previous;
  }
  if (std::all_of(region->free, region->free + kWords, [](std::uint64_t word) { return word == 0; })) Unlist(region);
}

void Heap::MarkFree(Span* first, std::size_t count, bool at_hand) noexcept {
  Region* const region = RegionOf(first);
  const auto index = static_cast<std::size_t>(first - region->spans);
  for (std::size_t i = index; i < index + count; ++i) {
    SetBit(region->free, i);
    if (!at_hand) continue;
    SetBit(region->at_hand, i);
    at_hand_.fetch_add(1, std::memory_order_relaxed);
    Span& span = region->spans[i];
    span.next = nullptr;
    span.previous = newest_;
    (newest_ != nullptr ? newest_->next : oldest_) = &span;
    newest_ = &span;
  }
  region->longest = kSpansInRegion - 1;
  if (region->listed) Unlist(region);
  List(region);
}

// Frees the spans of a large block. They are returned to the system at once, unless they can be kept.
void Heap::GiveSpans(Span* first, std::size_t count) noexcept {
  {
    const MutexLock lock(spans_lock_);
    if (count == 1 || at_hand_.load(std::memory_order_relaxed) + count <= kMostAtHand) {
      return MarkFree(first, count, true);
    }
  }
  ReturnSpans(first, count);
}

void Heap::ReturnSpans(Span* first, std::size_t count) noexcept {
  ::madvise(StartOf(first), count * kSpanBytes, MADV_DONTNEED);
  reserved_.fetch_sub(count * kSpanBytes, std::memory_order_relaxed);
  const MutexLock lock(spans_lock_);
  MarkFree(first, count, false);
}

void Heap::BeforeFork() noexcept {
  for (SizeClass& of : classes_) of.lock.lock();
  spans_lock_.lock();
}

void Heap::AfterFork() noexcept {
  spans_lock_.unlock();
  for (SizeClass& of : classes_) of.lock.unlock();
}

HeapUse Heap::Use() noexcept {
  HeapUse use;
  for (SizeClass& of : classes_) {
    const MutexLock lock(of.lock);
    use.allocations += static_cast<std::int64_t>(of.taken);
    use.blocks += static_cast<std::int64_t>(of.taken - of.given);
    use.bytes += static_cast<std::int64_t>((of.taken - of.given) * of.size);
  }
  const MutexLock lock(spans_lock_);
  use.allocations += static_cast<std::int64_t>(large_taken_);
  use.blocks += static_cast<std::int64_t>(large_taken_ - large_given_);
  use.bytes += static_cast<std::int64_t>(large_bytes_);
  use.reserved = static_cast<std::int64_t>(reserved_.load(std::memory_order_relaxed));
  return use;
}

}  // namespace kgen::detail
