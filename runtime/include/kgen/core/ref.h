// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Ref<const T> and AnyRef: shared, immutable objects.
//
// They are the references that caches hold and return. A decoder creates an object in one block, and from then on
// nothing can change it:
//
//   decoder --> Ref<const Pod> --> queue --> indexer --> listers, handlers, the user's own variables
//
//   auto pod = pods.Lister().Pods("default").Get("web-0");     // Ref<const Pod>: 8 bytes, valid as long as you keep it
//   Pod mine = *pod;                                           // a deep copy
//
// AnyRef is the same pointer without the type, since the block knows its table. With it, the whole pipeline is compiled
// only once.
//
// Block: count, flags, const TypeTable*, then the struct.
#ifndef KGEN_CORE_REF_H_
#define KGEN_CORE_REF_H_

#include <cstddef>
#include <iosfwd>
#include <new>
#include <type_traits>
#include <utility>

#include "kgen/core/memory.h"
#include "kgen/core/type_table.h"

namespace kgen {

namespace meta::v1 {
struct ObjectMeta;
}

namespace detail {

// The header's word holds flags of the decoder, 0 for an object that it did not create.
struct ObjectBlock : BlockHeader {
  const TypeTable* table;
  void* object() noexcept { return this + 1; }
  const void* object() const noexcept { return this + 1; }
};
static_assert(sizeof(ObjectBlock) == 16);

// Returns a block with one reference. Its struct is raw memory, which the caller constructs.
ObjectBlock* NewObjectBlock(const TypeTable& table);
void ReleaseObject(ObjectBlock* block) noexcept;

}  // namespace detail

template <typename T>
class Ref;

// A shared immutable object of any type with a table.
//
// Thread safety: several threads may use copies; one AnyRef object behaves like any other value. Never blocks.
class AnyRef {
 public:
  constexpr AnyRef() noexcept = default;
  AnyRef(const AnyRef& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) detail::AddRef(block_);
  }
  AnyRef(AnyRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  AnyRef& operator=(AnyRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~AnyRef() {
    if (block_ != nullptr) detail::ReleaseObject(block_);
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  const TypeTable& table() const noexcept { return *block_->table; }  // only when not null
  const void* object() const noexcept { return static_cast<const detail::ObjectBlock*>(block_)->object(); }
  // Returns the metadata of an object of a kind: name, namespace, resource version, labels. Null for an object without
  // metadata, and for a null AnyRef.
  const meta::v1::ObjectMeta* metadata() const noexcept;

  // Returns the typed reference, or null if the object is of another type. This is the only way back to the type, and
  // it is checked.
  template <typename T>
  Ref<const T> As() const noexcept {
    if (block_ == nullptr || block_->table != &T::kTable) return {};
    return Ref<const T>(*this);
  }

  // Compares identity: the same block, not equal content.
  friend bool operator==(const AnyRef& a, const AnyRef& b) noexcept { return a.block_ == b.block_; }

  // Takes over one reference to a block whose struct is constructed. For the decoder.
  static AnyRef Adopt(detail::ObjectBlock* block) noexcept {
    AnyRef ref;
    ref.block_ = block;
    return ref;
  }

 private:
  detail::ObjectBlock* block_ = nullptr;
};

// Prints the object as YAML, or "null" for a null reference; also used for Ref<const T>. It is compiled in the codec
// layer, see type_table.h.
std::ostream& operator<<(std::ostream& os, const AnyRef& object);

// A shared immutable T: an AnyRef with the type.
template <typename T>
class Ref<const T> {
 public:
  using element_type = const T;

  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}  // null

  explicit operator bool() const noexcept { return static_cast<bool>(any_); }
  const T& operator*() const noexcept KGEN_LIFETIMEBOUND { return *get(); }
  const T* operator->() const& noexcept KGEN_LIFETIMEBOUND { return get(); }
  const T* operator->() const&&
    requires detail::NoArrowOnATemporaryGiveTheObjectANameFirst<T>
  = delete;
  const T* get() const noexcept KGEN_LIFETIMEBOUND { return any_ ? static_cast<const T*>(any_.object()) : nullptr; }
  // An object in a loop variable `const Pod& pod : view.ByIndex(...)` reads as the object itself.
  // A temporary does not convert, because the reference would outlive the Ref that keeps the object alive. Keep the
  // Ref, or copy: `Pod mine = *ref`.
  operator const T&() const& noexcept KGEN_LIFETIMEBOUND { return *get(); }
  operator const T&() const&& = delete;

  // Returns the same reference without its type.
  const AnyRef& any() const noexcept { return any_; }
  operator AnyRef() const noexcept { return any_; }

  // Compares identity, as for pointers; `*a == *b` compares the objects.
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.any_ == b.any_; }

 private:
  friend class AnyRef;
  explicit Ref(AnyRef any) noexcept : any_(std::move(any)) {}
  AnyRef any_;
};

// Makes a shared, immutable object from a value.
template <detail::HasTable T>
Ref<const T> MakeRef(T value) {
  detail::ObjectBlock* block = detail::NewObjectBlock(T::kTable);
  ::new (block->object()) T(std::move(value));
  return AnyRef::Adopt(block).template As<T>();
}

}  // namespace kgen

#endif  // KGEN_CORE_REF_H_
