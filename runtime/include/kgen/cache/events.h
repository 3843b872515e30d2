// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Added, Updated, Deleted and Left: the events that handlers receive.
//
// Events are aggregates that may grow; name what you use. The objects are the cached ones: immutable, shared, kept
// alive by the Ref.
//
//   [](const kgen::Updated<Pod>& e) { if (e.reason != kgen::Reason::kResync) use(*e.before, *e.now); }
#ifndef KGEN_CACHE_EVENTS_H_
#define KGEN_CACHE_EVENTS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/core/function.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/string.h"

namespace kgen {

// Why a handler is called.
enum class Reason : std::uint8_t {
  kInitial,  // part of the first list, or replayed to a handler that was added later
  kWatch,    // an event of the watch
  kRelist,   // found by comparing a new list with the cache: changes in between may have been missed
  // The resource version did not change: the handler's resync period has passed, or a list or the watch contained the
  // object unchanged.
  kResync,
  // Part of a state that an earlier process has saved (InformerOptions::warm_start), and that may be outdated.
  kSaved,
};
std::string_view ToString(Reason reason) noexcept;  // "initial", "watch", "relist", "resync", "saved"
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, Reason reason) {
  return os << ToString(reason);
}

// A new object, or one that is there when the handler begins.
template <typename T>
struct Added {
  ObjectKey key{};     // of the object
  Ref<const T> now{};  // the object; never null
  Reason reason{};     // why the handler is called
  String version{};    // the store's version after this change; the store may be newer by now, never older
};

// A change of an object. `before` and `now` have the same UID: if an object was deleted and re-created, handlers get
// Deleted and Added.
template <typename T>
struct Updated {
  ObjectKey key{};        // of the object
  Ref<const T> before{};  // the state that the handler knows
  Ref<const T> now{};     // the new state
  Reason reason{};        // why the handler is called
  String version{};       // the store's version after this change, as in Added
};

// A deletion of an object, seen or noticed later.
template <typename T>
struct Deleted {
  ObjectKey key{};        // always set
  Ref<const T> before{};  // the last known state; null if the cache never held the object and the server's
                          // last state could not be decoded
  // `before` may be older than the object's last state, because a relist noticed the deletion, another object took the
  // name, or the last state could not be decoded.
  bool final_state_unknown = false;
  Reason reason{};
  String version{};
};

// An object that the informer no longer holds, although it was not deleted: its namespace was taken out of the caches,
// or its shard went to another process. It has the members of a deletion, of which `before` is the object. The same
// type, because each type costs every unit that adds a handler.
template <typename T>
using Left = Deleted<T>;

namespace detail {

template <typename Event>
inline constexpr int kHandlerMember = 0;
template <typename T>
inline constexpr int kHandlerMember<Added<T>> = 1;
template <typename T>
inline constexpr int kHandlerMember<Updated<T>> = 2;
template <typename T>
inline constexpr int kHandlerMember<Deleted<T>> = 3;

// One function of a handler, which fails with a clear message if it has the wrong signature.
template <typename Event>
class HandlerFunction : public UniqueFunction<void(const Event&)> {
 public:
  HandlerFunction() noexcept = default;
  HandlerFunction(std::nullptr_t) noexcept {}
  template <typename F>
    requires(!std::same_as<std::decay_t<F>, HandlerFunction>)
  HandlerFunction(F&& function) {  // implicit, for designated initializers
    if constexpr (CallableAs<std::decay_t<F>, void, const Event&>) {
      this->Hold(static_cast<F&&>(function));
    } else {
      constexpr int kMember = kHandlerMember<Event>;
      static_assert(kMember != 1, "EventHandler<T>::on_add is a function that takes `const kgen::Added<T>&`");
      static_assert(kMember != 2, "EventHandler<T>::on_update is a function that takes `const kgen::Updated<T>&`");
      static_assert(kMember != 3,
                    "EventHandler<T>::on_delete is a function that takes `const kgen::Deleted<T>&`, and so is on_left");
    }
  }
};

}  // namespace detail

// The functions of one registration. Any may be empty. They are called one after the other, in the order of the cache's
// changes, on a thread that may block, never on the I/O thread. An exception goes to the observer, and the event counts
// as handled.
template <typename T>
struct EventHandler {
  detail::HandlerFunction<Added<T>> on_add{};       // an object has come
  detail::HandlerFunction<Updated<T>> on_update{};  // an object has changed
  detail::HandlerFunction<Deleted<T>> on_delete{};  // an object is gone
  // For handlers that keep something for each object. Only caches whose scope changes while they run call it.
  detail::HandlerFunction<Left<T>> on_left{};
};

// AnyEvent: one of the four events with its type erased. The library's pipeline uses it.
struct AnyEvent {
  // Which of the four it is. The other members are as in Added, Updated, Deleted and Left.
  enum class Type : std::uint8_t { kAdded, kUpdated, kDeleted, kLeft };
  Type type;
  Reason reason;
  bool final_state_unknown = false;
  ObjectKey key{};
  AnyRef before{};
  AnyRef now{};
  String version{};
};
using AnyHandler = UniqueFunction<void(const AnyEvent&)>;

namespace detail {

// Wraps typed functions for the pipeline: the only place where erased events become typed.
template <typename T>
AnyHandler EraseHandler(EventHandler<T> handler) {
  return [handler = std::move(handler)](const AnyEvent& e) mutable {
    switch (e.type) {
      case AnyEvent::Type::kAdded:
        if (handler.on_add) handler.on_add({e.key, e.now.template As<T>(), e.reason, e.version});
        break;
      case AnyEvent::Type::kUpdated:
        if (handler.on_update) {
          handler.on_update({e.key, e.before.template As<T>(), e.now.template As<T>(), e.reason, e.version});
        }
        break;
      case AnyEvent::Type::kDeleted:
      case AnyEvent::Type::kLeft:
        if (auto& function = e.type == AnyEvent::Type::kLeft ? handler.on_left : handler.on_delete) {
          function({e.key, e.before.template As<T>(), e.final_state_unknown, e.reason, e.version});
        }
        break;
    }
  };
}

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CACHE_EVENTS_H_
