// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Watcher: a raw watch, which returns the events of one resource as the server sends them.
//
//   auto watcher = kgen::Must(pods.Watch({.resource_version = list.metadata.resourceVersion}));
//   while (auto event = watcher.Next(stop)) std::cout << event->type << ' ' << event->object->metadata.name << '\n';
//
// A watcher neither reconnects nor keeps state; an informer does both.
#ifndef KGEN_CLIENT_WATCHER_H_
#define KGEN_CLIENT_WATCHER_H_

#include <cstdint>
#include <iosfwd>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/client/raw_resource.h"
#include "kgen/core/function.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen {

// What an event of a watch says about its object.
enum class WatchType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark };
std::string_view ToString(WatchType type) noexcept;  // "ADDED"
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, WatchType type) {
  return os << ToString(type);
}

// The type-erased form of Watcher, which describes it.
class AnyWatcher {
 public:
  // One event, as Next() returns it.
  struct Event {
    WatchType type;  // added, modified, deleted, or a bookmark
    AnyRef object;   // of a bookmark only metadata.resourceVersion is meaningful
  };
  // Open a watch of objects of that table.
  static Result<AnyWatcher> Open(const RawResource& resource, const TypeTable& table, const ListOptions& options);
  static void OpenAsync(const RawResource& resource, const TypeTable& table,
                        UniqueFunction<void(Result<AnyWatcher>)> done, const ListOptions& options);
  AnyWatcher(AnyWatcher&&) noexcept = default;
  AnyWatcher& operator=(AnyWatcher&& other) noexcept;
  ~AnyWatcher();  // ends the watch; never blocks
  Result<Event> Next(std::stop_token stop);

 private:
  class State;
  explicit AnyWatcher(Shared<State> state) noexcept;
  Shared<State> state_;
};

// An open watch. Destroying it ends the watch.
//
// Thread safety: one thread at a time. Back-pressure: at most one flow-control window is read ahead of Next().
template <typename T>
class Watcher {
 public:
  // One event, as Next() returns it.
  struct Event {
    WatchType type;       // added, modified, deleted, or a bookmark
    Ref<const T> object;  // of a bookmark only metadata.resourceVersion is meaningful
  };

  // Blocks until the server has answered. Errors: as ResourceClient.
  static Result<Watcher> Open(const RawResource& resource, const ListOptions& options) {
    Result<AnyWatcher> any = AnyWatcher::Open(resource, T::kTable, options);
    if (!any) return Fail(std::move(any).error());
    return Watcher(std::move(*any));
  }

  // Opens the watch without blocking: `done` runs exactly once, as posted work, and must not block.
  static void OpenAsync(const RawResource& resource, UniqueFunction<void(Result<Watcher>)> done,
                        const ListOptions& options) {
    AnyWatcher::OpenAsync(
        resource, T::kTable,
        [done = std::move(done)](Result<AnyWatcher> any) mutable {
          if (!any) return done(Fail(std::move(any).error()));
          done(Watcher(std::move(*any)));
        },
        options);
  }

  // Blocks until there is an event, and returns it.
  // Errors: kDecode       an event that cannot be read; call again. If the stream itself cannot be read (not JSON, an
  //                       event over 17 MiB) the watch is over, and the next call returns kUnavailable
  //         kExpired ...  an ERROR event, with its Status; call again
  //         kCancelled    `stop`; call again
  //         kStopped      the end: the server ended the stream, as it does every few minutes; watch again from the last
  //                       version
  //         kUnavailable  the end: the connection was lost, or the stream ended inside an event or could not be read
  // Once the watch has ended, every later call returns the same result.
  Result<Event> Next(std::stop_token stop = {}) {
    Result<AnyWatcher::Event> event = any_.Next(std::move(stop));
    if (!event) return Fail(std::move(event).error());
    return Event{event->type, event->object.template As<T>()};
  }

 private:
  explicit Watcher(AnyWatcher any) noexcept : any_(std::move(any)) {}
  AnyWatcher any_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_WATCHER_H_
