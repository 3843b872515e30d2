// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The events that handlers receive: Added, Updated, Deleted.
//
// Events are aggregates that may grow; name what you use. The objects are the cached ones: immutable, shared, kept
// alive by the Ref.
//
//   [](const kgen::Updated<Pod>& e) { if (e.reason != kgen::Reason::kResync) use(*e.before, *e.now); }
#ifndef KGEN_CACHE_EVENTS_H_
#define KGEN_CACHE_EVENTS_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string_view>

#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/string.h"

namespace kgen {

// Why a handler is called.
enum class Reason : std::uint8_t {
  kInitial,  // part of the first list, or replayed to a handler that was added later
  kWatch,    // an event of the watch
  kRelist,   // found by comparing a new list with the cache: changes in between may have been missed
  kResync,   // nothing changed: the handler's resync period has passed, or a list found the object unchanged
};
std::string_view ToString(Reason reason) noexcept;  // "initial", "watch", "relist", "resync"
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, Reason reason) {
  return os << ToString(reason);
}

template <typename T>
struct Added {
  ObjectKey key{};
  Ref<const T> now{};
  Reason reason{};
  String version{};  // of the store, when this was applied; the store may be newer by now, never older
};

// Both objects always have the same UID: when an object was deleted and re-created, handlers get Deleted and Added.
template <typename T>
struct Updated {
  ObjectKey key{};
  Ref<const T> before{};
  Ref<const T> now{};
  Reason reason{};
  String version{};
};

template <typename T>
struct Deleted {
  ObjectKey key{};                   // always
  Ref<const T> before{};             // as last known; null only if the cache never held it
  bool final_state_unknown = false;  // noticed by a relist: changes between `before` and the deletion were missed
  Reason reason{};
  String version{};
};

// The functions of one registration. Any may be empty. They are called one after the other, in the order of the cache's
// changes, on a thread that may block, never on the I/O thread. An exception goes to the observer, and the event counts
// as handled.
template <typename T>
struct EventHandler {
  std::move_only_function<void(const Added<T>&)> on_add{};
  std::move_only_function<void(const Updated<T>&)> on_update{};
  std::move_only_function<void(const Deleted<T>&)> on_delete{};
};

// The same without a type, inside the pipeline.
struct AnyEvent {
  enum class Type : std::uint8_t { kAdded, kUpdated, kDeleted };
  Type type;
  Reason reason;
  bool final_state_unknown = false;
  bool initial = false;  // counts for the registration's HasSynced
  ObjectKey key{};
  AnyRef before{};
  AnyRef now{};
  String version{};
};
using AnyHandler = std::move_only_function<void(const AnyEvent&)>;

namespace detail {

// Wraps typed functions for the pipeline: the only place where an event changes from erased to typed.
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
        if (handler.on_delete) {
          handler.on_delete({e.key, e.before.template As<T>(), e.final_state_unknown, e.reason, e.version});
        }
        break;
    }
  };
}

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CACHE_EVENTS_H_
