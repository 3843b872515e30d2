// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ScriptedTransport: serves prepared bytes. The response to a list is a prepared body; watches send only what Send()
// passes.
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

// The items of a list in a mapped file, so that they are not on the heap. The file stays mapped until the process ends.
class MappedItems {
 public:
  // The file at `path` must contain a JSON array. Errors: kNotFound
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
  // Sends this event to the watch that was opened last.
  void Send(std::string event);
  // The number of watches that were opened so far.
  int watches() const;

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override;
  void Close() noexcept override {}

 private:
  class Response;

  mutable std::mutex mutex_;
  std::string head_;         // guarded by mutex_
  std::string_view items_;   // the same
  std::string marker_;       // the same
  std::string_view events_;  // the same
  Shared<Exchange> watch_;   // the same
  int watches_ = 0;          // the same
};

}  // namespace kgen::bench

#endif  // KGEN_BENCH_SCRIPTED_TRANSPORT_H_
