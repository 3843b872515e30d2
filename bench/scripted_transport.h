// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ScriptedTransport: serves prepared bytes. The response to a list is a prepared body; watches send only what Send()
// passes. All responses are in the encoding of the last list that was set.
//
// It has the flow control of the real one: at most kWindow bytes of a response are in flight before the reader has
// consumed them. Measurements over it therefore show only the work and memory of the client.
#ifndef KGEN_BENCH_SCRIPTED_TRANSPORT_H_
#define KGEN_BENCH_SCRIPTED_TRANSPORT_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "kgen/net/transport.h"

namespace kgen::bench {

// Prepared bytes in a mapped file, so that they are not on the heap. The file stays mapped until the process ends.
class MappedItems {
 public:
  // Errors: kNotFound
  static Result<MappedItems> Open(const std::string& path);
  std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

// Thread safety: all members from any thread.
class ScriptedTransport final : public Transport {
 public:
  static constexpr std::size_t kPiece = 16u << 10;    // the size of a frame
  static constexpr std::size_t kWindow = 256u << 10;  // the window of a stream

  // Sets the response to the next lists: `items`, a JSON array, at that resource version. `events` are the same items
  // for streaming lists.
  void SetList(std::string_view kind, const std::string& version, std::string_view items, std::string_view events = {});
  // Sets the responses to the next lists and streaming lists in protobuf: a whole body, and frames with the bookmark.
  void SetProtobuf(std::string_view list, std::string_view events = {});
  // Sends this event to the watch that was opened last.
  void Send(std::string event);
  // Ends that watch as a server does that has forgotten its resource version, so that a list follows.
  void SendExpired();
  // The number of watches that were opened so far.
  int watches() const;

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override;
  void Close() noexcept override {}

 private:
  class Response;

  mutable std::mutex mutex_;
  // All guarded by mutex_. Of protobuf, only items_ and events_ are used.
  bool protobuf_ = false;
  std::string head_;
  std::string_view items_;
  std::string tail_;
  std::string marker_;
  std::string_view events_;
  Shared<Exchange> watch_;
  int watches_ = 0;
};

}  // namespace kgen::bench

#endif  // KGEN_BENCH_SCRIPTED_TRANSPORT_H_
