// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// UniqueFunction and Function: functions as values, like std::move_only_function and std::function.
//
// Public headers use these because <functional> alone takes a tenth of the time in which a user's file compiles. A
// program does not notice: a lambda, a pointer to a function and the function types of the standard library convert to
// both, and both convert to the standard types.
#ifndef KGEN_CORE_FUNCTION_H_
#define KGEN_CORE_FUNCTION_H_

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>

namespace kgen {
namespace detail {

// Holds a function object of any type, without its signature: in place if it is at most three pointers large and moves
// without exceptions, otherwise on the heap.
class FunctionObject {
 public:
  FunctionObject() noexcept = default;
  FunctionObject(FunctionObject&& other) noexcept { TakeFrom(other); }
  FunctionObject(const FunctionObject& other) : manage_(other.manage_) {
    if (manage_ == nullptr) return;
    manage_(Action::kCopy, *this, const_cast<FunctionObject*>(&other));
  }
  FunctionObject& operator=(FunctionObject&& other) noexcept {
    FunctionObject taken(static_cast<FunctionObject&&>(other));
    if (manage_ != nullptr) manage_(Action::kDestroy, *this, nullptr);
    TakeFrom(taken);
    return *this;
  }
  FunctionObject& operator=(const FunctionObject& other) { return *this = FunctionObject(other); }
  ~FunctionObject() {
    if (manage_ != nullptr) manage_(Action::kDestroy, *this, nullptr);
  }

  // Creates the object. Call it once, on an empty FunctionObject.
  template <typename F, bool copyable, typename From>
  void Create(From&& from) {
    if constexpr (InPlace<F>()) {
      new (static_cast<void*>(place_)) F(static_cast<From&&>(from));
    } else {
      place_[0] = new F(static_cast<From&&>(from));
    }
    manage_ = &Manage<F, copyable>;
  }

  // Returns the object, whose type the caller knows.
  template <typename F>
  F& Get() noexcept {
    if constexpr (InPlace<F>()) {
      return *std::launder(reinterpret_cast<F*>(place_));
    } else {
      return *static_cast<F*>(place_[0]);
    }
  }

  bool empty() const noexcept { return manage_ == nullptr; }

 private:
  enum class Action : unsigned char { kMove, kCopy, kDestroy };
  // Moves or copies the object in `from` into the room of `to`, or destroys the one in `to`.
  using Manager = void (*)(Action, FunctionObject& to, FunctionObject* from);

  template <typename F>
  static constexpr bool InPlace() noexcept {
    return sizeof(F) <= sizeof(place_) && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;
  }

  template <typename F, bool copyable>
  static void Manage(Action action, FunctionObject& to, FunctionObject* from) {
    if (action == Action::kDestroy) {
      if constexpr (InPlace<F>()) {
        to.Get<F>().~F();
      } else {
        delete static_cast<F*>(to.place_[0]);
      }
    } else if (action == Action::kMove) {
      if constexpr (InPlace<F>()) {
        new (static_cast<void*>(to.place_)) F(static_cast<F&&>(from->Get<F>()));
        from->Get<F>().~F();
      } else {
        to.place_[0] = from->place_[0];
      }
    } else if constexpr (copyable) {
      const F& original = from->Get<F>();
      if constexpr (InPlace<F>()) {
        new (static_cast<void*>(to.place_)) F(original);
      } else {
        to.place_[0] = new F(original);
      }
    }
  }

  // Leaves `other` empty. This object must be empty.
  void TakeFrom(FunctionObject& other) noexcept {
    manage_ = other.manage_;
    other.manage_ = nullptr;
    if (manage_ != nullptr) manage_(Action::kMove, *this, &other);
  }

  void* place_[3];
  Manager manage_ = nullptr;
};

// Returns whether a function object holds nothing, such as an empty std::function or a null pointer. (A lambda without
// captures converts to a pointer, and is never null.)
template <typename F>
constexpr bool IsNullFunction(const F& function) noexcept {
  if constexpr (std::is_pointer_v<F> || (std::is_class_v<F> && !std::is_empty_v<F> && requires {
                  { function == nullptr } -> std::convertible_to<bool>;
                })) {
    return function == nullptr;
  } else {
    return false;
  }
}

template <typename F, typename R, typename... Args>
concept CallableAs = requires(F& function, Args&&... args) {
  function(static_cast<Args&&>(args)...);
  requires std::is_void_v<R> || std::is_convertible_v<decltype(function(static_cast<Args&&>(args)...)), R>;
};

template <typename F, typename R, typename... Args>
R CallFunction(FunctionObject& object, Args&&... args) {
  if constexpr (std::is_void_v<R>) {
    object.Get<F>()(static_cast<Args&&>(args)...);
  } else {
    return object.Get<F>()(static_cast<Args&&>(args)...);
  }
}

}  // namespace detail

// A function object that moves and does not copy. Empty by default, after a move, and when it is made from something
// empty, such as an empty std::function. Calling an empty one is undefined. A pointer to a member does not convert.
//
// Thread safety: one thread at a time. Ownership: owns the function object. Moving it neither throws nor allocates;
// making it allocates if the object is larger than three pointers or its move may throw.
template <typename Signature>
class UniqueFunction;

// A UniqueFunction that takes Args and returns R.
template <typename R, typename... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}  // an empty one
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, UniqueFunction>)
  UniqueFunction(F&& function) {  // implicit, as a lambda is an argument
    constexpr bool kFits = detail::CallableAs<std::decay_t<F>, R, Args...>;
    static_assert(kFits,
                  "kgen::UniqueFunction<R(Args...)>: this cannot be called with Args, or what it returns is not an R");
    if constexpr (kFits) Hold(static_cast<F&&>(function));
  }
  UniqueFunction(UniqueFunction&&) noexcept = default;
  UniqueFunction& operator=(UniqueFunction&&) noexcept = default;
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() = default;

  explicit operator bool() const noexcept { return !object_.empty(); }
  friend bool operator==(const UniqueFunction& function, std::nullptr_t) noexcept { return !function; }

  R operator()(Args... args) { return call_(object_, static_cast<Args&&>(args)...); }

 protected:
  // For constructors: takes a function that is known to fit. This object is empty.
  template <typename F>
  void Hold(F&& function) {
    using Object = std::decay_t<F>;
    if (detail::IsNullFunction<Object>(function)) return;
    object_.template Create<Object, false>(static_cast<F&&>(function));
    call_ = &detail::CallFunction<Object, R, Args...>;
  }

 private:
  detail::FunctionObject object_;
  R (*call_)(detail::FunctionObject&, Args&&...) = nullptr;
};

// A UniqueFunction that copies: each copy has a function object of its own, which must be copyable.
//
// Thread safety: calls from several threads are as safe as calls of the function object. Copying allocates as making
// does, and throws what copying the object throws.
template <typename Signature>
class Function;

// A Function that takes Args and returns R.
template <typename R, typename... Args>
class Function<R(Args...)> {
 public:
  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}  // an empty one
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, Function>)
  Function(F&& function) {  // implicit, as a lambda is an argument
    using Object = std::decay_t<F>;
    constexpr bool kFits = detail::CallableAs<Object, R, Args...>;
    constexpr bool kCopies = std::is_copy_constructible_v<Object>;
    static_assert(kFits, "kgen::Function<R(Args...)>: this cannot be called with Args, or what it returns is not an R");
    static_assert(kCopies, "kgen::Function<R(Args...)>: this cannot be copied, perhaps because of what it captures");
    if constexpr (kFits && kCopies) {
      if (detail::IsNullFunction<Object>(function)) return;
      object_.template Create<Object, true>(static_cast<F&&>(function));
      call_ = &detail::CallFunction<Object, R, Args...>;
    }
  }
  Function(Function&&) noexcept = default;
  Function(const Function&) = default;
  Function& operator=(Function&&) noexcept = default;
  Function& operator=(const Function&) = default;
  ~Function() = default;

  explicit operator bool() const noexcept { return !object_.empty(); }
  friend bool operator==(const Function& function, std::nullptr_t) noexcept { return !function; }

  R operator()(Args... args) const { return call_(object_, static_cast<Args&&>(args)...); }

 private:
  mutable detail::FunctionObject object_;  // a call may change the object, as with std::function
  R (*call_)(detail::FunctionObject&, Args&&...) = nullptr;
};

}  // namespace kgen

#endif  // KGEN_CORE_FUNCTION_H_
