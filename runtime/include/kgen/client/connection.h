// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Connection: one connection to one API server, shared by every client and informer made from it.
//
//   auto connection = kgen::Must(kgen::Connection::Open(kgen::Must(kgen::rest::LoadConfig())));
//   k8s::Clientset kubernetes(connection);
//   acme::Clientset shop(connection);            // the same TLS connection
//
// Below it is the Transport (bytes); above it are ResourceClient (verbs) and the reflector (streams).
#ifndef KGEN_CLIENT_CONNECTION_H_
#define KGEN_CLIENT_CONNECTION_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/tracer.h"
#include "kgen/net/transport.h"

namespace kgen {

namespace rest {
struct Config;
}
namespace client {
class ConnectionState;
}

// An API request, before authentication and user agent are added.
struct ApiRequest {
  std::string method = "GET";  // of HTTP
  std::string path{};   // "/api/v1/namespaces/default/pods/web-0", segments already escaped; base path is put in front
  std::string query{};  // without '?'
  std::string content_type{};
  std::string body{};
  std::string what{};      // "get pods default/web-0": put before every error
  bool watch = false;      // long-lived: no request timeout
  bool unlimited = false;  // does not wait for Config::qps: for the few requests that keep a lease
  // A deadline for the whole call: waiting for the limiter, for credentials and for a connection, every attempt and the
  // pauses between them. When it passes, the call fails with kTimeout. It replaces Config::timeout. Absent:
  // Config::timeout, but no limit for a watch; kgen::kNoLimit: no limit. With zero or less the call fails with
  // kInvalidArgument, and nothing is sent. For a watch it bounds the opening, until the response headers arrive.
  std::optional<Nanos> timeout{};
  // Default: 2 GiB. The largest response that Call() and CallAsync() accept, in bytes. A larger one fails with kDecode.
  // kUnlimited: any. With zero every call fails with kInvalidArgument, and nothing is sent.
  std::uint64_t max_answer_bytes = std::uint64_t{2} << 30;
  bool json = false;          // the response must be JSON; another media type fails with kDecode
  bool text = false;          // the response must be plain text, and is not looked into
  std::string accept{};       // media types to ask for; "": application/json
  Shared<SendGuard> guard{};  // null: the guard of Connection::With(), which is asked for writes only
  TraceContext parent{};      // of the span of the request; not valid: Connection::trace()
};

// A whole response.
struct ApiResponse {
  int status = 0;  // of HTTP, 2xx
  std::string body{};
  std::string content_type{};  // the header, "" without one
};

// Receives a streamed response on a strand: every call is a task of that strand, in order. A response other than 2xx
// never reaches OnBytes: it becomes the error of OnEnd, with the server's Status.
class StreamSink : public SharedObject {
 public:
  virtual void OnContentType(std::string_view) {}    // of the response, before OnOpen()
  virtual void OnOpen() = 0;                         // the server has answered 200
  virtual void OnBytes(std::string_view bytes) = 0;  // credit goes back when this returns
  virtual void OnEnd(Result<void> end) = 0;          // exactly once, last; kCancelled after Cancel()
};

// A handle to a streamed request that is under way.
class StreamCall : public SharedObject {
 public:
  virtual void Cancel() noexcept = 0;  // any thread, idempotent; no OnBytes starts after OnEnd
};

// A handle to a connection; copies share it. Clients, informers and requests keep the connection alive; it closes with
// the last of them. In a child of fork() a connection that was used before fails with kInvalidArgument, and sends
// nothing on its parent's socket (docs/lifetimes.md).
//
// Thread safety: all members from any thread.
class Connection {
 public:
  // Opens a connection without network I/O: the first request connects. Equal configs share one connection while it is
  // alive.
  // Errors: kConfig  host or certificates malformed, files unreadable, a limit of zero or less
  static Result<Connection> Open(const rest::Config& config);

  // Makes a connection over a transport of your own, which otherwise behaves like one from Open(): `config` gives the
  // path prefix, authentication, user agent, limits and timeouts. The result is not shared with equal configs. To
  // count, trace or change requests, wrap the transport that MakeHttpTransport() returns. The last handle closes the
  // transport.
  //
  //   auto counting = kgen::MakeShared<CountingTransport>(kgen::Must(kgen::MakeHttpTransport(config)));
  //   k8s::Clientset clientset(kgen::Must(kgen::Connection::Over(config, counting)));
  //
  // Errors: as Open(). Requests fail with kConfig if a credential plugin returns nothing but a client certificate,
  // because only the transport of Open() can use that.
  static Result<Connection> Over(const rest::Config& config, Shared<Transport> transport);

  // The parts of a connection without authentication, for the in-process API server and for tests. The connection
  // shares them with the caller.
  struct Parts {
    // Required.
    Shared<Transport> transport;
    Shared<Executor> executor;
    Shared<Observer> observer{};  // null: warnings go to standard error
    std::string host = "in-process";
    Shared<Tracer> tracer{};  // null: no spans
  };
  static Connection Over(Parts parts);

  // Returns this connection in a form in which everything that blocks ends with kCancelled once `stop` is requested:
  // calls of clients made from it, pages, the opening of a watch. A request that was already sent may still take
  // effect.
  //
  //   auto pods = clientset.With(stop).CoreV1().Pods("default");  // in a handler or a main that must end in time
  Connection With(std::stop_token stop) const;
  // Returns this connection in a form in which writes (every method but GET) ask `guard` immediately before they are
  // sent. One that may not be sent fails with the guard's error.
  Connection With(Shared<SendGuard> guard) const;
  // Returns this connection in a form in which the spans of requests are children of the span `parent`. The client of a
  // reconcile function has such a connection; a program with spans of its own makes one. No use without Config::tracer.
  Connection With(const TraceContext& parent) const;

  // Sends the request and collects the whole response. `done` runs exactly once, as posted work of the executor, and
  // must not block; an executor that shuts down destroys it without running it, like all its work. Its exceptions go to
  // the observer.
  // Errors: the server's Status (see Code), kUnavailable, kTls, kTimeout, kCancelled; each message begins with
  // request.what.
  // Retries: up to ten times, a 429 or 5xx with Retry-After (waiting five minutes at most), and a lost connection for
  // GET.
  void CallAsync(ApiRequest request, UniqueFunction<void(Result<ApiResponse>)> done) const;
  // Blocks until the response has arrived, or until `stop` (absent: the token of With()) is requested. Fails with
  // kInvalidArgument on a thread that runs posted work.
  Result<ApiResponse> Call(ApiRequest request, std::stop_token stop = {}) const;
  // Streams the response to `sink` on `strand`. The request is not retried, except once with a new credential when the
  // server rejects a plugin's credential with 401.
  Shared<StreamCall> Stream(ApiRequest request, Shared<Strand> strand, Shared<StreamSink> sink) const;

  // Return what the connection works with. References are valid as long as the connection or a copy lives.
  Executor& executor() const noexcept;
  Shared<Executor> shared_executor() const noexcept;
  Clock& clock() const noexcept;
  Observer& observer() const noexcept;  // where everything of this connection reports; throttled, see Observer
  std::string_view host() const noexcept;
  std::string_view default_namespace() const noexcept;
  const std::stop_token& stop() const noexcept { return stop_; }  // of With(); without it one that is never requested
  const TraceContext& trace() const noexcept { return trace_; }   // of With(); without it not valid

  friend bool operator==(const Connection& a, const Connection& b) noexcept { return a.state_ == b.state_; }

 private:
  friend class client::ConnectionState;
  explicit Connection(Shared<client::ConnectionState> state) noexcept;
  void Complete(ApiRequest& request) const;
  Shared<client::ConnectionState> state_;
  std::stop_token stop_{};
  Shared<SendGuard> guard_{};
  TraceContext trace_{};
};

// The transport of Connection::Open(): HTTP/2 to the host of `config`, over TLS for https://, with its certificates and
// proxy. It adds no authentication and no path prefix; Connection::Over() does. Connects to nothing yet, but reads the
// certificate files. It works on config.executor, and reports reconnects to config.observer.
// Errors: kConfig  host, proxy or certificates malformed, files unreadable
Result<Shared<Transport>> MakeHttpTransport(const rest::Config& config);

}  // namespace kgen

#endif  // KGEN_CLIENT_CONNECTION_H_
