// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A request as a server receives it, and the interface for the response to it. They do not depend on the version of
// HTTP.
#ifndef KGEN_SRC_NET_RESPONSE_WRITER_H_
#define KGEN_SRC_NET_RESPONSE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"

namespace kgen::net {

struct ServerRequest {
  std::string method{};
  std::string path{};  // with the query
  std::vector<HttpHeader> headers{};
  std::string body{};
  // Returns the first header of that name (lower case), or "".
  std::string_view Header(std::string_view name) const noexcept;
};

// Text that several responses may send at the same time. Immutable; any thread.
struct SharedText : SharedObject {
  explicit SharedText(std::string of) : text(std::move(of)) {}
  const std::string text;
};

// The response to one request. Thread safety: all members from any thread; none blocks. After End(), Reset() or the
// loss of the connection every call does nothing. Destroying the writer without End() leaves the stream open.
class ResponseWriter : public SharedObject {
 public:
  // Must be called once, before Write() and End().
  virtual void Head(int status, std::vector<HttpHeader> headers) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual void End() = 0;
  // Write(body->text) and End(), without a copy.
  virtual void EndWith(Shared<const SharedText> body) = 0;
  virtual void Reset(std::uint32_t http2_error) = 0;

  // The number of bytes written that flow control or the network holds back.
  virtual std::size_t backlog() const = 0;
  // `call` runs on the server's thread whenever the backlog becomes empty; it must not block.
  virtual void OnDrained(Task call) = 0;
  // `call` runs once, on the server's thread, when the stream ends for any reason; immediately if it has
  // already ended.
  virtual void OnClosed(Task call) = 0;
  virtual bool closed() const = 0;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_RESPONSE_WRITER_H_
