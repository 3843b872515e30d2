// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Shared<T>: the intrusive reference behind every handle of the public surface.
//
// A std::shared_ptr would be twice the size and bring <memory> into every user's translation unit.
#ifndef KGEN_CORE_SHARED_H_
#define KGEN_CORE_SHARED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kgen {

// Base class of the objects that handles share. Destroyed on the thread that drops the last reference; not at all in a
// child of fork(), where it may own threads and sockets of the parent (docs/lifetimes.md).
class SharedObject {
 public:
  SharedObject() noexcept = default;
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  virtual ~SharedObject();

 private:
  template <typename T>
  friend class Shared;
  static void Destroy(const SharedObject* object) noexcept;
  mutable std::atomic<std::uint32_t> refs_{0};
};

// Thread safety: the count is atomic; one Shared object is not for several threads at once.
// T may be incomplete except where an object is made or used, so that handles can hide their state.
template <typename T>
class Shared {
 public:
  constexpr Shared() noexcept = default;
  constexpr Shared(std::nullptr_t) noexcept {}  // null
  // Adds a reference to an object on the heap.
  explicit Shared(T* object) noexcept : base_(object) { Add(); }
  Shared(const Shared& other) noexcept : base_(other.base_) { Add(); }
  Shared(Shared&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  // Converts as a pointer does, to a base or to const.
  template <typename U>
    requires(!std::is_same_v<U, T> && std::is_convertible_v<U*, T*>)
  Shared(Shared<U> other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }
  // Returns a new reference, or null if the last one was dropped and the destructor waits for the registry's lock. For
  // registries of plain pointers whose objects remove themselves in their destructor, under that lock.
  static Shared TryAdd(T* object) noexcept {
    std::uint32_t refs = object->Base::refs_.load(std::memory_order_relaxed);
    while (refs != 0 && !object->Base::refs_.compare_exchange_weak(refs, refs + 1, std::memory_order_acquire)) {
    }
    Shared shared;
    if (refs != 0) shared.base_ = object;
    return shared;
  }
  ~Shared() {
    if (base_ != nullptr && base_->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) SharedObject::Destroy(base_);
  }

  // Drops this reference unless it is the last one. Returns false if it is the last one: no other thread can reach the
  // object any more, and the caller may take it apart.
  bool ReleaseUnlessLast() noexcept {
    std::uint32_t refs = base_->refs_.load(std::memory_order_acquire);
    while (refs > 1) {
      if (!base_->refs_.compare_exchange_weak(refs, refs - 1, std::memory_order_acq_rel)) continue;
      base_ = nullptr;
      return true;
    }
    return false;
  }

  T* get() const noexcept { return static_cast<T*>(const_cast<Base*>(base_)); }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  explicit operator bool() const noexcept { return base_ != nullptr; }
  friend bool operator==(const Shared& a, const Shared& b) noexcept { return a.base_ == b.base_; }

 private:
  template <typename U>
  friend class Shared;
  using Base = std::conditional_t<std::is_const_v<T>, const SharedObject, SharedObject>;

  void Add() const noexcept {
    if (base_ != nullptr) base_->refs_.fetch_add(1, std::memory_order_relaxed);
  }
  const SharedObject* base_ = nullptr;
};

// Makes an object on the heap and returns the first reference to it.
template <typename T, typename... Args>
Shared<T> MakeShared(Args&&... args) {
  return Shared<T>(new T(std::forward<Args>(args)...));
}

}  // namespace kgen

#endif  // KGEN_CORE_SHARED_H_
