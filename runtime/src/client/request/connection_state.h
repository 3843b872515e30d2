// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ConnectionState: the state that the handles of one Connection share.
#ifndef KGEN_SRC_CLIENT_REQUEST_CONNECTION_STATE_H_
#define KGEN_SRC_CLIENT_REQUEST_CONNECTION_STATE_H_

#include <optional>
#include <string>
#include <utility>

#include "client/auth/exec_credential.h"
#include "client/auth/token_source.h"
#include "client/request/rate_limiter.h"
#include "client/request/reconnect_gate.h"
#include "client/request/request_counts.h"
#include "client/request/sent_tokens.h"
#include "core/observers/throttled_observer.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/core/tracer.h"
#include "net/client_identity.h"

namespace kgen::client {

// Thread safety: immutable except for limiter, token, sent, exec, gate and requests, which are thread-safe.
// Ownership: handles and running requests hold references; dropping the last one closes the transport.
class ConnectionState : public SharedObject {
 public:
  struct Settings {
    std::string host;           // for messages and observers
    std::string authorities{};  // the digest of the certificates that it trusts, see net::TrustDigest(); "" without TLS
    std::string base_path{};    // the prefix of every path
    std::string user_agent{};
    std::string default_namespace = "default";
    std::optional<Nanos> timeout{};
    bool protobuf = true;
    std::optional<double> qps{};
    std::optional<int> burst{};
    std::string token{};
    std::string token_file{};
    Shared<ExecCredentials> exec{};          // or null
    Shared<net::ClientIdentity> identity{};  // the transport's, or null
    Shared<Tracer> tracer{};                 // or null
  };
  // Events go to `throttle`, which passes them on to the observer; parts.observer is ignored.
  ConnectionState(Connection::Parts parts, Shared<ThrottledObserver> throttle, Settings settings);
  ~ConnectionState() override;

  static Shared<ConnectionState> Of(const Connection& connection);
  static Connection Handle(Connection::Parts parts, Settings settings);
  static Connection Handle(Connection::Parts parts, Shared<ThrottledObserver> observer, Settings settings);
  // Opens a connection, or returns the open one of an equal config.
  static Result<Connection> Open(const rest::Config& config);
  static Result<Connection> Over(const rest::Config& config, Shared<Transport> transport);

  // Goes on with the credentials of `after`, where this connection was opened with `before`: the token, and the client
  // certificate for connections of the transport that are opened from now on. Watches go on, or resume where they were.
  // Returns false, and does nothing, if the two differ in anything else, or in the kind of their credentials, so that
  // it takes another connection.
  bool ReplaceCredentials(const rest::Config& before, const rest::Config& after);

  const Shared<Transport> transport;
  const Shared<Executor> executor;
  const Shared<Clock> clock;
  const Shared<ThrottledObserver> observer;
  const std::string host;
  const std::string authorities;
  const std::string base_path;
  const std::string user_agent;
  const std::string default_namespace;
  const std::optional<Nanos> timeout;  // of Config; absent or kNoLimit: none
  const bool protobuf;                 // Config::protobuf
  RateLimiter limiter;
  TokenSource token;
  SentTokens sent;
  const Shared<ExecCredentials> exec;          // or null
  const Shared<net::ClientIdentity> identity;  // or null
  const Shared<ReconnectGate> gate;            // of the informers
  const Shared<RequestCounts> requests;
  const Shared<Tracer> tracer;  // or null
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_CONNECTION_STATE_H_
