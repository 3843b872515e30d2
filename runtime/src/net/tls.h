// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TlsEngine: TLS on byte strings, without a socket, a thread or a clock. The only part of the client that uses
// OpenSSL's handshake.
//
//   TcpStream --Feed()--> TlsEngine --Read()--> HTTP/2;   HTTP/2 --Write()--> TlsEngine --TakeOutput()--> TcpStream
//
// Every error message says what the user can do about it.
#ifndef KGEN_SRC_NET_TLS_H_
#define KGEN_SRC_NET_TLS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/net/tls_config.h"

struct ssl_st;
struct ssl_ctx_st;
struct x509_store_ctx_st;

namespace kgen::net {

// The certificates, the key and the trusted CAs, read and checked. Immutable; any thread.
class TlsContext : public SharedObject {
 public:
  // Reads the files that `config` names, so it may block. Data wins over files.
  // Errors: kConfig  a file cannot be read, PEM is malformed, the key does not match the certificate, or a CA is given
  //                  together with insecure_skip_verify
  static Result<Shared<TlsContext>> ForClient(const rest::TlsConfig& config);
  // A context from the current files, if they have changed since ForClient(config) created this one. Null if they have
  // not changed or cannot be used: then this one stays in use. May block.
  Shared<TlsContext> Renewed(const rest::TlsConfig& config) const;

  struct Server {
    std::string certificate_pem{};  // the chain
    std::string key_pem{};
    std::string client_ca_pem{};  // not empty: clients must present a certificate of this authority
    std::string alpn = "h2";      // "": no protocol is selected
  };
  static Result<Shared<TlsContext>> ForServer(const Server& server);

  ~TlsContext() override;
  ssl_ctx_st* get() const noexcept { return context_; }
  bool verifies() const noexcept { return verifies_; }

 private:
  struct Pems;
  explicit TlsContext(ssl_ctx_st* context) noexcept : context_(context) {}
  static Result<Shared<TlsContext>> Make(const rest::TlsConfig& config, const Pems& pems);
  template <typename T, typename... Args>
  friend Shared<T> kgen::MakeShared(Args&&... args);

  ssl_ctx_st* context_;
  std::string alpn_;    // of a server: the protocol that it selects
  std::string digest_;  // of the data that ForClient() read
  bool verifies_ = false;
};

// Returns a digest, in hexadecimal, of the certificates that TlsContext::ForClient() trusts with this config;
// "insecure" or "system" if it names none. May block. Errors: kConfig (the file cannot be read), kInternal (OpenSSL
// failed), kCancelled (the process is ending)
Result<std::string> TrustDigest(const rest::TlsConfig& config);

// Errors: kConfig  a blank or a control character, such as a NUL, at which OpenSSL would cut the name off
Result<void> CheckServerName(std::string_view name);

// One connection. Thread safety: one thread at a time.
class TlsEngine {
 public:
  // The server's certificate must be valid for `name`, which is a host name (sent as SNI) or an IP address. Host names
  // are compared as Go does it: see tls_names.h.
  static Result<TlsEngine> Client(const Shared<TlsContext>& context, const std::string& name);
  static Result<TlsEngine> Server(const Shared<TlsContext>& context);
  TlsEngine(TlsEngine&& other) noexcept;
  TlsEngine& operator=(TlsEngine&&) = delete;
  ~TlsEngine();

  void Feed(std::string_view encrypted);
  // True once the handshake is complete; false while it needs more data from the peer. Call after each Feed, and send
  // TakeOutput() in any case: a failure has an alert for the peer. Errors: kTls
  Result<bool> Handshake();
  // Reads up to out.size() bytes; 0 if there are no more for now.
  // Errors: kTls  the peer sent an alert (in TLS 1.3, if it refused a client certificate) or invalid data
  Result<std::size_t> Read(std::span<char> out);
  Result<void> Write(std::string_view plain);
  // Tells the peer that no more data follows.
  void Shutdown();
  std::string TakeOutput();

  bool peer_closed() const noexcept { return peer_closed_; }  // in an orderly way
  std::string_view alpn() const noexcept;

 private:
  TlsEngine(Shared<TlsContext> context, ssl_st* ssl, std::string name);
  Error Failure(int result, std::string_view doing);

  // The result of the verification. Set in OpenSSL's callback, where the invalid certificate is known.
  struct Check {
    std::string name;  // the expected name
    std::string problem{};
    bool is_host_name = false;  // which OnVerify() compares with the certificate; OpenSSL compares an address
    bool fits = false;
  };
  static int OnVerify(int ok, x509_store_ctx_st* store);

  Shared<TlsContext> context_;
  ssl_st* ssl_;
  Check* check_;  // owned; its address is known to ssl_
  bool peer_closed_ = false;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_TLS_H_
