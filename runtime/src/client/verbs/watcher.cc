// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/watcher.h"

#include <new>
#include <utility>

#include "client/request/errors.h"
#include "client/request/stream_queue.h"
#include "client/verbs/watch_decoder.h"
#include "core/out_of_memory.h"
#include "kgen/codec/decode.h"
#include "kgen/core/function.h"

namespace kgen {

std::string_view ToString(WatchType type) noexcept {
  switch (type) {
    case WatchType::kAdded:
      return "ADDED";
    case WatchType::kModified:
      return "MODIFIED";
    case WatchType::kDeleted:
      return "DELETED";
    case WatchType::kBookmark:
      return "BOOKMARK";
  }
  return "UNKNOWN";
}

namespace {

// The type of an event that has an object.
WatchType TypeOf(WatchEventType type) noexcept {
  switch (type) {
    case WatchEventType::kModified:
      return WatchType::kModified;
    case WatchEventType::kDeleted:
      return WatchType::kDeleted;
    case WatchEventType::kBookmark:
      return WatchType::kBookmark;
    default:
      return WatchType::kAdded;
  }
}

// An event that Next() has not taken.
struct RawEvent {
  WatchEventType type;
  std::string word;  // of an unknown type
  std::string object;
  std::size_t credit = 0;  // bytes of the stream that may come once this event is taken
};

class WatchQueue final : public client::StreamQueue<RawEvent> {
 public:
  WatchQueue(const Connection& connection, std::string what)
      : StreamQueue(connection, std::move(what), "watch"), decoder_([this](const WatchEvent& event) {
          const bool known = event.type != WatchEventType::kUnknown;
          fresh_.push_back({event.type, std::string(known ? "" : event.word), std::string(event.object)});
          return Result<void>();
        }) {}

 private:
  Result<void> Split(std::string_view bytes) override { return decoder_.Feed(bytes); }
  std::string_view Flush() override { return decoder_.at_boundary() ? "" : "an event"; }

  WatchDecoder decoder_;  // strand only
};

}  // namespace

class AnyWatcher::State : public client::StreamReader<WatchQueue> {
 public:
  State(Connection connection, std::string what, const TypeTable& table)
      : StreamReader(std::move(connection), std::move(what)), decoder_(table, {false, false}) {}

  Result<Event> Next(std::stop_token stop) {
    Result<RawEvent> raw = Take(std::move(stop));
    if (!raw) return Fail(raw.error());
    if (raw->type == WatchEventType::kError) return Failed(client::WatchError(raw->object));
    if (raw->type == WatchEventType::kUnknown) {
      return Failed(Error(Code::kDecode, "the event has the unknown type \"" + raw->word + '"'));
    }
    try {
      Result<AnyRef> object = decoder_.Decode(raw->object);
      if (!object) return Failed(object.error());
      return Event{TypeOf(raw->type), *std::move(object)};
    } catch (const std::bad_alloc&) {
      return Fail(detail::OutOfMemory(what_));
    }
  }

 private:
  std::unexpected<Error> Failed(const Error& error) const { return Fail(error.With(what_)); }

  ObjectDecoder decoder_;  // shares nothing between objects, because there is no cache of similar objects
};

AnyWatcher::AnyWatcher(Shared<State> state) noexcept : state_(std::move(state)) {}
AnyWatcher::~AnyWatcher() = default;
AnyWatcher& AnyWatcher::operator=(AnyWatcher&& other) noexcept = default;

Result<AnyWatcher> AnyWatcher::Open(const RawResource& resource, const TypeTable& table, const ListOptions& options) {
  auto state = client::OpenStream<State, WatchQueue>(resource.connection(), resource.Watch(options), table);
  if (!state) return Fail(std::move(state).error());
  return AnyWatcher(*std::move(state));
}

void AnyWatcher::OpenAsync(const RawResource& resource, const TypeTable& table,
                           UniqueFunction<void(Result<AnyWatcher>)> done, const ListOptions& options) {
  client::OpenStreamAsync<State, WatchQueue>(
      resource.connection(), resource.Watch(options),
      [done = std::move(done)](Result<Shared<State>> state) mutable {
        if (!state) return done(Fail(std::move(state).error()));
        done(AnyWatcher(*std::move(state)));
      },
      table);
}

Result<AnyWatcher::Event> AnyWatcher::Next(std::stop_token stop) { return state_->Next(std::move(stop)); }

}  // namespace kgen
