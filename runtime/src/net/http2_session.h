// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Session: the client side of one HTTP/2 connection, with its frames, windows, streams and PINGs. Knows nothing about
// other connections.
//
//   Pool --Submit(exchange)--> Session --> Wire;   Wire --> Session --> exchange.sink
#ifndef KGEN_SRC_NET_HTTP2_SESSION_H_
#define KGEN_SRC_NET_HTTP2_SESSION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"
#include "net/event_loop.h"
#include "net/http2_options.h"
#include "net/spare_buffers.h"
#include "net/wire.h"

struct nghttp2_session;

namespace kgen::net {

class Pool;
class Session;
struct SessionCallbacks;

// One request from Start() to its end. The overrides may be called from any thread, everything else on the
// loop's thread.
class HttpExchange final : public Exchange {
 public:
  HttpExchange(Shared<EventLoop> loop, Shared<Pool> pool, Shared<SpareBuffers> spares, HttpRequest request,
               Shared<ResponseSink> sink);
  ~HttpExchange() override;
  void Consumed(std::size_t bytes) noexcept override;
  void Recycle(std::string&& bytes) noexcept override { spares->Keep(std::move(bytes)); }
  void Cancel() noexcept override;

  // Passes on what has arrived, then the end. Called once.
  void Finish(HttpEnd end);
  void Deliver();

  const Shared<EventLoop> loop;
  Shared<Pool> pool;                  // null after the end
  const Shared<SpareBuffers> spares;  // of the transport
  HttpRequest request;
  Shared<ResponseSink> sink;  // null after the end
  Session* session = nullptr;
  std::int32_t stream = -1;
  int attempts = 0;
  std::size_t body_sent = 0;

  HttpHead head{};
  std::size_t head_bytes = 0;
  bool head_given = false;
  std::string arrived{};        // body not yet given to the sink
  std::size_t outstanding = 0;  // bytes given but not yet consumed, and bytes arrived
  std::string broken_rule{};    // the rule of HTTP/2 that the server broke, in nghttp2's words
  std::string fault{};          // why we reset the stream
  bool reset = false;           // by the server, in this attempt

 private:
  friend class Session;
  std::atomic<std::size_t> consumed_{0};
  std::atomic<bool> cancelled_{false};
};

// All members on the loop's thread.
class Session final : public SharedObject, private Wire::User {
 public:
  class Owner {
   public:
    virtual void OnSessionReady(Session& session) = 0;                 // the server's settings are known
    virtual void OnSessionRoom(Session& session) = 0;                  // a stream ended or the limit changed
    virtual void OnSessionRefused(Shared<HttpExchange> exchange) = 0;  // not processed by the server: try elsewhere
    virtual void OnSessionUnauthorized() = 0;                          // the server responded with 401
    virtual void OnSessionEnded(Session& session, const Error* error) = 0;  // null: ended in an orderly way

   protected:
    ~Owner() = default;
  };

  Session(Owner* owner, Shared<EventLoop> loop, Shared<Clock> clock, std::string name, const Http2Options& options);
  ~Session() override;

  void Start(Shared<TcpStream> stream, std::optional<TlsEngine> tls);

  // True if a request may start now. False before the server's settings, after GOAWAY and after Retire().
  bool HasRoom(bool long_lived) const;
  // True if a request may start now or once short requests end. Streams of short requests become free; streams of
  // watches do not.
  bool WillHaveRoom(bool long_lived) const;

  void Submit(Shared<HttpExchange> exchange, const std::string& scheme, const std::string& authority);
  void Cancel(HttpExchange& exchange);
  void Credit(HttpExchange& exchange);
  // For a connection that was opened with certificates that have since been replaced: starts no new requests, and lets
  // running ones finish. A watch would never finish, so it ends as if the server had ended it, and its reader reopens
  // it. A watch without a response yet moves to another connection.
  void Retire();
  // Describes the progress of opening the session, as part of a message.
  std::string_view Progress() const;
  // Ends every exchange and the connection with `why`. Does not notify the owner.
  void Close(const Error& why);

 private:
  friend struct SessionCallbacks;

  void OnWireOpen() override;
  void OnWireBytes(std::string_view plain) override;
  void OnWireBatchEnd() override;
  void OnWireDrained() override { Flush(); }
  void OnWireClosed(Error why) override;

  bool OpenHttp2();
  // The error that ends the connection: a lost connection or, before the server's settings, not_connected().
  Error Broken(std::string_view why, Code code = Code::kUnavailable) const;
  void OnSettings();
  void OnResponseHead(HttpExchange& exchange);
  void OnStreamEnd(HttpExchange& exchange, std::uint32_t error);
  void Finish(HttpExchange& exchange, HttpEnd end);
  Shared<HttpExchange> Detach(HttpExchange& exchange);
  std::uint32_t Limit() const;
  std::uint32_t LongLimit() const;
  void Flush();
  void ReportRoom();
  void Arm(Nanos delay);
  void OnTick();
  void WatchSilence();
  void SayGoodbye();
  void End(const Error* error);

  Owner* owner_;
  const Shared<EventLoop> loop_;
  const Shared<Clock> clock_;
  const std::string name_;  // of the server, for messages
  const Http2Options options_;
  Shared<Wire> wire_;
  nghttp2_session* http2_ = nullptr;
  std::unordered_map<std::int32_t, Shared<HttpExchange>> streams_;
  std::uint32_t long_streams_ = 0;
  std::vector<Shared<HttpExchange>> dirty_;  // with bytes of this batch
  std::string output_;
  std::string detail_;  // nghttp2's text about what it will refuse next
  std::string fault_;   // why the connection ends, if either side sent a GOAWAY

  Timer timer_;
  TimePoint armed_for_{};
  TimePoint last_received_{};  // when the last bytes of the peer arrived
  TimePoint idle_since_{};     // when the last request ended
  TimePoint ping_sent_{};
  bool ping_open_ = false;  // a PING is unanswered, and nothing has arrived since
  bool tls_ = false, ready_ = false, draining_ = false, retired_ = false, ended_ = false;
  bool inside_ = false;  // nghttp2 is calling back
  bool room_ = false;    // the owner must be notified
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_HTTP2_SESSION_H_
