// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The common part of HTTP/1.1 and HTTP/2 responses. Any thread fills the buffer; the server's thread empties
// it.
//
//   HttpHandler --Head, Write, End--> ResponseBuffer --OnKick (server's thread)--> session --Locked--> the wire
#ifndef KGEN_SRC_NET_RESPONSE_BUFFER_H_
#define KGEN_SRC_NET_RESPONSE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/mutex.h"
#include "net/event_loop.h"
#include "net/response_writer.h"

namespace kgen::net {

// Thread safety: the members of ResponseWriter and Locked() from any thread; the rest on the server's thread.
class ResponseBuffer : public ResponseWriter {
 public:
  struct State {
    int status = 0;  // 0: no head yet
    std::vector<HttpHeader> headers{};
    std::string buffer{};
    Shared<const SharedText> shared{};  // instead of `buffer`, or null
    std::size_t taken = 0;              // the part of the body that is already sent
    bool ended = false, closed = false, kicked = false;
    std::optional<std::uint32_t> reset{};

    std::string_view rest() const noexcept { return std::string_view(shared ? shared->text : buffer).substr(taken); }
    // Returns true if nothing is left.
    bool Take(std::size_t bytes);
  };

  void Head(int status, std::vector<HttpHeader> headers) final;
  void Write(std::string bytes) final;
  void End() final;
  void EndWith(Shared<const SharedText> body) final;
  void Reset(std::uint32_t error) final;
  std::size_t backlog() const final;
  void OnDrained(Task call) final;
  void OnClosed(Task call) final;
  bool closed() const final;

  // Calls `read` with the state, under the lock.
  template <typename Read>
  auto Locked(Read read) {
    const MutexLock lock(mutex_);
    return read(state_);
  }
  bool wants_drained() const noexcept { return drained_ != nullptr; }
  void CallDrained() { drained_(); }
  // Ends the response for any reason. Posts the OnClosed() callback.
  void Close();

 protected:
  explicit ResponseBuffer(Shared<EventLoop> loop) : loop_(std::move(loop)) {}

 private:
  // Called when the state has changed since the last call, but not after Close().
  virtual void OnKick() = 0;
  void Kick() KGEN_REQUIRES(mutex_);

  const Shared<EventLoop> loop_;
  // The next three are used on the server's thread.
  Task drained_, on_closed_;
  bool open_ = true;

  mutable Mutex mutex_;
  State state_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_RESPONSE_BUFFER_H_
