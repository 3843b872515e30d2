// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// List<T>: the array of generated structs. 8 bytes when absent, one block otherwise.
//
//   for (const auto& container : pod.spec->containers) ...      an absent list is empty to read
//   pod.spec->containers.push_back({.name = "web", .image = "nginx"});
//   pod.spec->args = {"--verbose"};
//   pod.spec->args.emplace();                                   present and empty: `[]` on the wire
//   pod.spec->args.reset();                                     absent: not sent. So is `= {}`.
//
// It behaves as std::vector, with these differences: const access past the end reads as the empty element instead of
// being undefined, non-const access past the end throws std::out_of_range, and push_back(list[0]) is safe.
//
// Thread safety and iterator validity: as std::vector.
#ifndef KGEN_CORE_LIST_H_
#define KGEN_CORE_LIST_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/core/memory.h"
#include "kgen/core/value.h"
#include "kgen/core/value_type.h"

namespace kgen {

namespace detail {

// The header's word is the size; elements follow after 16 bytes.
struct ListBlock : BlockHeader {
  std::uint32_t capacity;
  std::uint32_t hidden;  // of unknown fields: the number of elements at the start that are the decoder's (blocks.h)
  void* elements() noexcept { return this + 1; }
  const void* elements() const noexcept { return this + 1; }
};
static_assert(sizeof(ListBlock) == 16);

// Functions that would make a list of more than 2^32 - 1 elements throw std::length_error.
ListBlock* NewList(std::size_t capacity, const ValueType& type);    // empty
ListBlock* CopyList(const ListBlock* list, const ValueType& type);  // deep, exact size; null gives null
void ReleaseList(ListBlock* list, const ValueType& type) noexcept;
bool EqualList(const ListBlock* a, const ListBlock* b, const ValueType& type) noexcept;  // null differs from empty
// Makes room for `capacity` elements; may move the elements into a new block. `list` may be null.
ListBlock* ReserveList(ListBlock* list, std::size_t capacity, const ValueType& type);
[[noreturn]] void ThrowOutOfRange(std::size_t index, std::size_t size);

// Types that convert to an element implicitly: those that convert to T and, for numbers, lose nothing.
template <typename U, typename T>
concept ElementLike = std::convertible_to<U, T> && (!std::is_arithmetic_v<T> || requires(U u) { T{u}; });

}  // namespace detail

// A list of values of T in one block.
template <typename T>
class List {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr List() noexcept = default;  // absent
  List(std::initializer_list<T> items) : List(items.begin(), items.end()) {}
  // Copies any other range of values that convert to T, a std::vector or std::span for instance; present even when it
  // is empty. Text is excluded: it is a range of characters, but is hardly ever meant as one.
  template <typename Range>
    requires(!std::same_as<std::remove_cvref_t<Range>, List> &&
             requires(const Range& r) {
               { *r.begin() } -> detail::ElementLike<T>;
               r.end();
             })
  explicit(std::convertible_to<const Range&, std::string_view>) List(const Range& range)
      : List(range.begin(), range.end()) {
    if (block_ == nullptr) emplace();
  }
  template <typename Iterator, typename Sentinel>
    requires requires(Iterator it) {
      { *it } -> detail::ElementLike<T>;
      ++it;
    }
  List(Iterator first, Sentinel last) : List() {  // delegates, so that the elements are destroyed if one throws
    for (; first != last; ++first) emplace_back(*first);
  }
  List(const List& other) : block_(detail::CopyList(other.block_, kTypeOf<T>)) {}
  List(List&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  ~List() {
    if (block_ != nullptr) detail::ReleaseList(block_, kTypeOf<T>);
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): the copy is made first
  List& operator=(const List& other) { return *this = List(other); }
  List& operator=(List&& other) noexcept {
    List moved(std::move(other));
    std::swap(block_, moved.block_);
    return *this;
  }
  List& operator=(std::initializer_list<T> items) { return *this = List(items); }

  // Presence: whether the member is on the wire.
  bool has_value() const noexcept { return block_ != nullptr; }
  void reset() noexcept { List moved(std::move(*this)); }
  List& emplace() { return *this = List(detail::NewList(0, kTypeOf<T>)); }  // present and empty

  std::size_t size() const noexcept { return block_ != nullptr ? block_->word : 0; }
  bool empty() const noexcept { return size() == 0; }
  // Returns how many elements fit without another allocation.
  std::size_t capacity() const noexcept { return block_ != nullptr ? block_->capacity : 0; }
  void reserve(std::size_t n) { block_ = detail::ReserveList(block_, n, kTypeOf<T>); }

  T* data() noexcept { return block_ != nullptr ? static_cast<T*>(block_->elements()) : nullptr; }
  const T* data() const noexcept KGEN_LIFETIMEBOUND {
    return block_ != nullptr ? static_cast<const T*>(static_cast<const detail::ListBlock*>(block_)->elements())
                             : nullptr;
  }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size(); }
  const T* begin() const noexcept KGEN_LIFETIMEBOUND { return data(); }
  const T* end() const noexcept { return data() + size(); }
  const T* cbegin() const noexcept { return begin(); }
  const T* cend() const noexcept { return end(); }

  const T& operator[](std::size_t i) const noexcept KGEN_LIFETIMEBOUND {
    return i < size() ? data()[i] : detail::Empty<T>();
  }
  T& operator[](std::size_t i) { return at(i); }
  T& at(std::size_t i) {
    if (i >= size()) detail::ThrowOutOfRange(i, size());
    return data()[i];
  }
  const T& at(std::size_t i) const KGEN_LIFETIMEBOUND {
    if (i >= size()) detail::ThrowOutOfRange(i, size());
    return data()[i];
  }
  const T& front() const noexcept KGEN_LIFETIMEBOUND { return (*this)[0]; }
  const T& back() const noexcept KGEN_LIFETIMEBOUND { return (*this)[size() - 1]; }
  T& front() { return at(0); }
  T& back() { return at(size() - 1); }

  // The value is read before anything moves, so it may be an element of this list.
  T& push_back(T value) {
    Grow();
    T* slot = ::new (static_cast<void*>(end())) T(std::move(value));
    ++block_->word;
    return *slot;
  }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    return push_back(T(std::forward<Args>(args)...));
  }
  void pop_back() {
    if (empty()) detail::ThrowOutOfRange(0, 0);
    erase(end() - 1);
  }
  T* insert(const T* before, T value) {
    const std::size_t at = static_cast<std::size_t>(before - begin());
    push_back(std::move(value));
    for (std::size_t i = size() - 1; i > at; --i) std::swap(data()[i], data()[i - 1]);
    return begin() + at;
  }
  T* erase(const T* position) { return erase(position, position + 1); }
  T* erase(const T* first, const T* last) {
    T* to = begin() + (first - begin());
    T* from = begin() + (last - begin());
    T* const result = to;
    while (from != end()) *to++ = std::move(*from++);
    while (end() != to) {
      (end() - 1)->~T();
      --block_->word;
    }
    return result;
  }
  void resize(std::size_t n) {
    while (size() > n) pop_back();
    reserve(n);
    while (size() < n) push_back(T());
  }
  void clear() noexcept {  // a present list stays present
    if (!empty()) erase(begin(), end());
  }
  void swap(List& other) noexcept { std::swap(block_, other.block_); }

 private:
  friend struct detail::BlockAccess;

  explicit List(detail::ListBlock* block) noexcept : block_(block) {}
  void Grow() {
    if (size() == capacity()) reserve(size() < 2 ? size() + 2 : size() * 2);
  }

  detail::ListBlock* block_ = nullptr;
};

// Compares element by element; absent differs from empty, as on the wire.
template <typename T>
bool operator==(const List<T>& a, const List<T>& b) noexcept {
  return detail::EqualList(detail::BlockAccess::Of(a), detail::BlockAccess::Of(b), kTypeOf<T>);
}

// Work as std::erase_if and std::erase for a vector: they return the number of erased elements. A present list stays
// present.
template <typename T, typename Predicate>
std::size_t erase_if(List<T>& list, Predicate predicate) {
  T* kept = list.begin();
  for (T* item = kept; item != list.end(); ++item) {
    if (predicate(std::as_const(*item))) continue;
    if (kept != item) *kept = std::move(*item);
    ++kept;
  }
  const std::size_t erased = static_cast<std::size_t>(list.end() - kept);
  list.erase(kept, list.end());
  return erased;
}
template <typename T, typename U = T>
std::size_t erase(List<T>& list, const U& value) {
  return kgen::erase_if(list, [&](const T& item) { return item == value; });
}

// Prints the list as YAML, or "absent". PrintTo is for GoogleTest, which would print a container in its own way.
template <typename T>
std::ostream& operator<<(std::ostream& os, const List<T>& list) {
  return detail::PrintValue(os, &list, kTypeOf<List<T>>);
}
template <typename T>
void PrintTo(const List<T>& list, std::ostream* os) {
  *os << list;
}

}  // namespace kgen

#endif  // KGEN_CORE_LIST_H_
