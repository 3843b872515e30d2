// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A Transport whose server is prepared bytes: lists are answered with a body that lies ready, watches stay silent.
//
// It keeps to the flow control of the real one: no more than kWindow bytes of a response are on the way that the reader
// has not dealt with. So what is measured through it is the client's own work and memory.
#ifndef KGEN_BENCH_SCRIPTED_TRANSPORT_H_
#define KGEN_BENCH_SCRIPTED_TRANSPORT_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "kgen/client/transport.h"

namespace kgen::bench {

// The items of a list in a file, mapped: no part of the heap. Lives to the end of the process.
class MappedItems {
 public:
  // `path` holds a JSON array. Errors: kNotFound
  static Result<MappedItems> Open(const std::string& path);
  std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

// Thread safety: all members from any thread.
class ScriptedTransport final : public Transport {
 public:
  static constexpr std::size_t kPiece = 16u << 10;    // as a frame brings it
  static constexpr std::size_t kWindow = 256u << 10;  // as a stream's window

  // What the next lists answer: `items`, a JSON array, under that resource version. `events` is the same as a streaming
  // list sends it.
  void SetList(std::string_view kind, const std::string& version, std::string_view items, std::string_view events = {});
  // The watch that was opened last gets this event.
  void Send(std::string event);
  // How many watches were opened so far.
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
