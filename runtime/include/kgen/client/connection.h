// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One connection to one API server, shared by every client and informer made from it. [D16]
//
//   auto connection = kgen::Must(kgen::Connection::Open(kgen::Must(kgen::rest::LoadConfig())));
//   k8s::Clientset kubernetes(connection);
//   acme::Clientset shop(connection);            // the same TLS connection
//
// Below it stands the Transport (bytes); above it ResourceClient (verbs) and the reflector (streams).
#ifndef KGEN_CLIENT_CONNECTION_H_
#define KGEN_CLIENT_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/client/transport.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace rest {
struct Config;
}
namespace client {
class ConnectionCore;
}

// One API request, before authentication and user agent are added.
struct ApiRequest {
  std::string method = "GET";
  std::string path{};   // "/api/v1/namespaces/default/pods/web-0", segments already escaped; base path is put in front
  std::string query{};  // without '?'
  std::string content_type{};
  std::string body{};
  std::string what{};  // "get pods default/web-0": put before every error
  bool watch = false;  // long-lived: no request timeout
  // A deadline for the whole call: waiting for the limiter, for credentials and for a connection, every attempt and the
  // pauses between them. The call then fails with kTimeout. 0: none but Config::timeout; a negative one has passed
  // already. It replaces Config::timeout. Of a watch it bounds the opening, up to the head of the server's answer.
  Nanos timeout{};
  // How much of an answer Call() and CallAsync() accept, in bytes. A larger one fails with kDecode.
  std::uint64_t max_answer_bytes = std::uint64_t{2} << 30;
  bool json = false;  // the answer is JSON: what is something else fails with kDecode and its media type
};

struct ApiResponse {
  int status = 0;
  std::string body{};
  std::string content_type{};
};

// Receives a streamed response on a strand: every call is a task of it, in order. Non-2xx answers never reach OnBytes:
// they are collected and come as the error of OnEnd, with the server's Status.
class StreamSink : public SharedObject {
 public:
  virtual void OnOpen() = 0;                         // 200 received
  virtual void OnBytes(std::string_view bytes) = 0;  // credit goes back when this returns
  virtual void OnEnd(Result<void> end) = 0;          // exactly once, last; kCancelled after Cancel()
};

// A streamed request under way.
class StreamCall : public SharedObject {
 public:
  virtual void Cancel() noexcept = 0;  // any thread, idempotent; no OnBytes starts after OnEnd
};

// A handle; copies are the same connection. Outlives nothing by itself: clients, informers and requests keep it alive,
// and the last one to go closes it.
//
// Thread safety: all members from any thread.
class Connection {
 public:
  // No network I/O: the first request connects. Equal configs give the same connection, while one is alive.
  // Errors: kConfig  host or certificates malformed, files unreadable
  static Result<Connection> Open(const rest::Config& config);

  // Over given parts: the in-process API server, tests. All shared.
  struct Parts {
    Shared<Transport> transport;
    Shared<Executor> executor;
    Shared<Observer> observer{};  // null: warnings go to standard error
    std::string host = "in-process";
  };
  static Connection Over(Parts parts);

  // The same connection, on which everything that blocks ends with kCancelled once `stop` is requested: calls of
  // clients made from it, pages, the opening of a watch. A request that is on its way then may still take effect.
  //
  //   auto pods = clientset.With(stop).CoreV1().Pods("default");  // in a handler or a main that must end in time
  Connection With(std::stop_token stop) const;

  // Sends and collects the whole answer. `done` runs as posted work of the executor, exactly once, and must not block;
  // an executor that is shut down destroys it unrun, as it does all work. What it throws goes to the observer. Errors:
  // the server's Status as by [CLI ERR], kUnavailable, kTls, kTimeout, kCancelled; each beginning with request.what
  // Retries: a 429 or 5xx with Retry-After (waiting five minutes at most), and for GET a lost connection, up to ten
  // times [CLI REST-18..23]
  void CallAsync(ApiRequest request, std::move_only_function<void(Result<ApiResponse>)> done) const;
  // Blocks until answered, or until `stop` (absent: that of With()) is requested. Refused with kInvalidArgument on a
  // thread that runs posted work.
  Result<ApiResponse> Call(ApiRequest request, std::stop_token stop = {}) const;
  // Streams the answer to `sink` on `strand`. Not retried, except that a 401 to a credential of a plugin is answered
  // with a new one.
  Shared<StreamCall> Stream(ApiRequest request, Shared<Strand> strand, Shared<StreamSink> sink) const;

  Executor& executor() const noexcept;
  Shared<Executor> shared_executor() const noexcept;
  Clock& clock() const noexcept;
  Observer& observer() const noexcept;  // where everything of this connection reports; throttled, see Observer
  std::string_view host() const noexcept;
  std::string_view default_namespace() const noexcept;
  const std::stop_token& stop() const noexcept { return stop_; }  // of With(); without it one that is never requested

  friend bool operator==(const Connection& a, const Connection& b) noexcept { return a.state_ == b.state_; }

 private:
  friend class client::ConnectionCore;
  explicit Connection(Shared<client::ConnectionCore> state) noexcept;
  Shared<client::ConnectionCore> state_;
  std::stop_token stop_{};
};

}  // namespace kgen

#endif  // KGEN_CLIENT_CONNECTION_H_
