// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Optional<T>: a scalar (a value and a flag) or a struct (one pointer to a block) that may be absent.
//
//   pod.status->phase                         an absent struct reads as the empty one
//   order.status->replicas = 3;               writing through it creates it
//   *order.spec->quantity                     an absent scalar reads as zero
//   order.spec->suspend = false;              false and 0 are values; `order.spec->suspend.reset()` removes it
//   volume.emptyDir = {};                     a present, empty struct; so is Volume{.emptyDir = {}}
//   volume.emptyDir = kgen::kAbsent;          absent
//
// A struct that only a non-const access created, and in which nothing was ever set, counts as absent: for has_value(),
// on the wire and in comparisons. emplace(), `= {}` and a decoded `{}` make it present.
//
// Thread safety: as a standard container, and note that non-const access is a write: `if (pod.spec->nodeName == "a")`
// on a non-const Pod may create the spec. Objects from a cache are const.
#ifndef KGEN_CORE_OPTIONAL_H_
#define KGEN_CORE_OPTIONAL_H_

#include <compare>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <type_traits>
#include <utility>

#include "kgen/core/memory.h"
#include "kgen/core/type_table.h"
#include "kgen/core/value.h"

namespace kgen {

// The type of kAbsent.
struct Absent {
  // No braces convert to it, so `{}` never means absent.
  explicit constexpr Absent(int) {}
};
// Stands for a member that is absent.
inline constexpr Absent kAbsent{0};

template <typename T>
class Optional;

namespace detail {

// A struct in a block of its own. The header's word is 1 while the box exists only because of a non-const access.
struct BoxBlock : BlockHeader {
  void* object() noexcept { return this + 1; }
  const void* object() const noexcept { return this + 1; }
};
static_assert(sizeof(BoxBlock) == 8);

BoxBlock* NewBox(const TypeTable& table, bool accessed);         // default-constructed struct
BoxBlock* CopyBox(const BoxBlock* box, const TypeTable& table);  // deep; null gives null
void ReleaseBox(BoxBlock* box, const TypeTable& table) noexcept;
bool EqualBox(const BoxBlock* a, const BoxBlock* b, const TypeTable& table) noexcept;
bool BoxHasValue(const BoxBlock* box, const TypeTable& table) noexcept;  // false for null, or empty and only accessed

// The element type of an initializer list that can only be empty.
class Nothing {
  Nothing() = default;
};

}  // namespace detail

// A scalar: bool, std::int32_t, std::int64_t or double. Value and flag, no heap.
template <typename T>
  requires std::is_arithmetic_v<T>
class Optional<T> {
 public:
  using value_type = T;

  constexpr Optional() noexcept = default;
  // Make an absent one, and one with a value, which may be zero.
  constexpr Optional(Absent) noexcept {}
  constexpr Optional(T value) noexcept : value_(value), has_(true) {}
  // Pointers do not convert to bool, nor fractions to integers.
  template <typename U>
    requires(std::is_pointer_v<U> || (std::is_floating_point_v<U> && !std::is_floating_point_v<T>))
  Optional(U) = delete;

  constexpr bool has_value() const noexcept { return has_; }
  constexpr void reset() noexcept { *this = Optional(); }
  constexpr T value_or(T fallback) const noexcept { return has_ ? value_ : fallback; }
  // Returns the value, or zero when absent. Read-only even on a non-const object, so that reading never creates a
  // value; assign to write.
  constexpr T operator*() const noexcept { return value_; }

  // Returns whether a number is present. There is none for bool, where it would be mistaken for the value.
  constexpr explicit operator bool() const noexcept
    requires(!std::same_as<T, bool>)
  {
    return has_;
  }

  // Absent differs from zero, as on the wire.
  friend constexpr bool operator==(Optional a, Optional b) noexcept { return a.has_ == b.has_ && a.value_ == b.value_; }
  friend constexpr bool operator==(Optional a, T b) noexcept { return a.has_ && a.value_ == b; }
  friend constexpr bool operator==(Optional a, Absent) noexcept { return !a.has_; }

  // Prints the value, with true and false for bool; "absent" when there is none.
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, Optional o) {
    if (!o.has_) return os << "absent";
    if constexpr (std::same_as<T, bool>) {
      return os << (o.value_ ? "true" : "false");
    } else {
      return os << o.value_;
    }
  }

 private:
  T value_ = 0;  // zero when absent
  bool has_ = false;
};

// A struct that may be absent. It has 8 bytes, and owns a block or nothing. Copies are deep. There is no default
// constructor, so that `{}` can mean the present, empty struct everywhere; write kAbsent for an absent one.
template <typename T>
  requires(!std::is_arithmetic_v<T>)
class Optional<T> {
 public:
  using value_type = T;

  // Make an absent one, and for `{}` an empty one.
  Optional(Absent) noexcept {}
  Optional(std::initializer_list<detail::Nothing>) { emplace(); }
  template <typename U>
    requires std::same_as<std::remove_cvref_t<U>, T>
  Optional(U&& value) : Optional(kAbsent) {
    block_ = detail::NewBox(T::kTable, false);
    Object() = std::forward<U>(value);
  }
  Optional(const Optional& other) : block_(detail::CopyBox(other.block_, T::kTable)) {}
  Optional(Optional&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  ~Optional() {
    if (block_ != nullptr) detail::ReleaseBox(block_, T::kTable);
  }

  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): the copy is made first
  Optional& operator=(const Optional& other) { return *this = Optional(other); }
  Optional& operator=(Optional&& other) noexcept {
    Optional moved(std::move(other));
    std::swap(block_, moved.block_);
    return *this;
  }
  Optional& operator=(Absent) noexcept {
    reset();
    return *this;
  }
  template <typename U = T>
    requires std::same_as<std::remove_cvref_t<U>, T>
  Optional& operator=(U&& value) {
    return *this = Optional(std::forward<U>(value));
  }

  bool has_value() const noexcept { return detail::BoxHasValue(block_, T::kTable); }
  explicit operator bool() const noexcept { return has_value(); }
  void reset() noexcept { Optional moved(std::move(*this)); }
  // Makes it present and empty, discarding any earlier value.
  T& emplace() {
    *this = Optional(T());
    return Object();
  }

  // Const access creates nothing: it reads the empty struct when absent.
  const T& operator*() const noexcept KGEN_LIFETIMEBOUND { return block_ != nullptr ? Object() : detail::Empty<T>(); }
  const T* operator->() const& noexcept KGEN_LIFETIMEBOUND { return &**this; }
  const T* operator->() const&&
    requires detail::NoArrowOnATemporaryGiveTheObjectANameFirst<T>
  = delete;
  // Non-const access creates the struct if it is absent; a struct that stays empty counts as absent.
  T& operator*() KGEN_LIFETIMEBOUND {
    if (block_ == nullptr) block_ = detail::NewBox(T::kTable, true);
    return Object();
  }
  T* operator->() & KGEN_LIFETIMEBOUND { return &**this; }

 private:
  friend struct detail::BlockAccess;

  T& Object() noexcept { return *static_cast<T*>(block_->object()); }
  const T& Object() const noexcept {
    return *static_cast<const T*>(static_cast<const detail::BoxBlock*>(block_)->object());
  }

  detail::BoxBlock* block_ = nullptr;
};

template <typename T>
  requires(!std::is_arithmetic_v<T>)
bool operator==(const Optional<T>& a, const Optional<T>& b) noexcept {
  return detail::EqualBox(detail::BlockAccess::Of(a), detail::BlockAccess::Of(b), T::kTable);
}
template <typename T>
  requires(!std::is_arithmetic_v<T>)
bool operator==(const Optional<T>& a, const std::type_identity_t<T>& b) noexcept {
  return a.has_value() && detail::EqualStruct(detail::BlockAccess::Of(a)->object(), &b, T::kTable);
}
template <typename T>
  requires(!std::is_arithmetic_v<T>)
bool operator==(const Optional<T>& a, Absent) noexcept {
  return !a.has_value();
}

// Prints the struct as YAML, or "absent".
template <typename T>
  requires(!std::is_arithmetic_v<T>)
std::ostream& operator<<(std::ostream& os, const Optional<T>& o) {
  return detail::PrintStruct(os, o.has_value() ? detail::BlockAccess::Of(o)->object() : nullptr, T::kTable);
}

static_assert(sizeof(Optional<bool>) == 2 && sizeof(Optional<std::int32_t>) == 8 && sizeof(Optional<double>) == 16);

}  // namespace kgen

#endif  // KGEN_CORE_OPTIONAL_H_
