// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/webhooks/https_post.h"

#include <netdb.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "kgen/net/tls_config.h"
#include "net/tls.h"

namespace kgen::testing {
namespace {

// A TCP connection that blocks, each step for a limited time.
class Socket {
 public:
  explicit Socket(int fd) noexcept : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }

  static Result<Socket> Connect(const HttpsPost& post) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = getaddrinfo(post.host.c_str(), post.port.c_str(), &hints, &found); code != 0) {
      return Fail(Code::kUnavailable, "dial tcp: lookup " + post.host + ": " + gai_strerror(code));
    }
    std::string why = "no address";
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      Socket socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
      const timeval limit{.tv_sec = static_cast<time_t>(post.timeout.count()), .tv_usec = 0};
      for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        setsockopt(socket.fd_, SOL_SOCKET, option, &limit, sizeof limit);
      }
      if (connect(socket.fd_, each->ai_addr, each->ai_addrlen) == 0) {
        freeaddrinfo(found);
        return socket;
      }
      why = std::strerror(errno);
    }
    freeaddrinfo(found);
    return Fail(Code::kUnavailable, "dial tcp " + post.host + ":" + post.port + ": connect: " + why);
  }

  Result<void> Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return Fail(Code::kUnavailable, std::string("write: ") + std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }
  // "": the peer has closed the connection.
  Result<std::string> Receive() {
    std::array<char, 16384> buffer;
    const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
    if (size < 0) return Fail(Code::kUnavailable, std::string("read: ") + std::strerror(errno));
    return std::string(buffer.data(), static_cast<std::size_t>(size));
  }

 private:
  int fd_;
};

Result<net::TlsEngine> EngineFor(const HttpsPost& post) {
  constexpr unsigned char kHttp1[] = "\x08http/1.1";  // what servers speak with a Service
  auto context = net::TlsContext::ForClient({.ca_data = post.ca_pem});
  if (!context) return Fail(context.error());
  SSL_CTX_set_alpn_protos((*context)->get(), kHttp1, sizeof kHttp1 - 1);
  return net::TlsEngine::Client(*context, post.server_name);
}

Result<void> Shake(Socket& socket, net::TlsEngine& tls) {
  for (;;) {
    const Result<bool> done = tls.Handshake();
    if (Result<void> sent = socket.Send(tls.TakeOutput()); !sent && done) return sent;
    if (!done) return Fail(done.error());
    if (*done) return {};
    auto bytes = socket.Receive();
    if (!bytes) return Fail(bytes.error());
    if (bytes->empty()) return Fail(Code::kUnavailable, "EOF during the handshake");
    tls.Feed(*bytes);
  }
}

// Reads until the peer, which was asked to close the connection, has done so.
Result<std::string> ReadAll(Socket& socket, net::TlsEngine& tls) {
  std::string all;
  std::array<char, 16384> buffer;
  for (;;) {
    const auto size = tls.Read(buffer);
    if (!size) return Fail(size.error());
    if (*size > 0) {
      all.append(buffer.data(), *size);
      continue;
    }
    if (tls.peer_closed()) return all;
    auto bytes = socket.Receive();
    if (!bytes) return Fail(bytes.error());
    if (bytes->empty()) return all;
    tls.Feed(*bytes);
  }
}

// Joins the chunks of a body.
std::string Unchunk(std::string_view body) {
  std::string whole;
  while (!body.empty()) {
    const std::size_t line = body.find("\r\n");
    std::size_t size = 0;
    if (line == std::string_view::npos ||
        std::from_chars(body.data(), body.data() + line, size, 16).ec != std::errc() || size == 0) {
      break;
    }
    whole += body.substr(line + 2, size);
    body.remove_prefix(std::min(body.size(), line + 2 + size + 2));
  }
  return whole;
}

Result<HttpsAnswer> ReadAnswer(const std::string& text) {
  const std::size_t end = text.find("\r\n\r\n");
  HttpsAnswer answer;
  const bool known = text.starts_with("HTTP/1.1 ") && end != std::string::npos;
  if (!known || std::from_chars(text.data() + 9, text.data() + 12, answer.status).ec != std::errc()) {
    return Fail(Code::kUnavailable, "malformed HTTP response");
  }
  std::string head = text.substr(0, end);
  for (char& c : head) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const std::string_view body = std::string_view(text).substr(end + 4);
  answer.body = head.find("\r\ntransfer-encoding: chunked") != std::string::npos ? Unchunk(body) : std::string(body);
  return answer;
}

}  // namespace

Result<HttpsAnswer> SendHttpsPost(const HttpsPost& post) {
  auto tls = EngineFor(post);
  if (!tls) return Fail(tls.error());
  auto socket = Socket::Connect(post);
  if (!socket) return Fail(socket.error());
  if (Result<void> shaken = Shake(*socket, *tls); !shaken) return Fail(shaken.error());
  const std::string request = "POST " + post.path + " HTTP/1.1\r\nhost: " + post.server_name +
                              "\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: " +
                              std::to_string(post.body.size()) + "\r\nconnection: close\r\n\r\n" + post.body;
  if (Result<void> written = tls->Write(request); !written) return Fail(written.error());
  if (Result<void> sent = socket->Send(tls->TakeOutput()); !sent) return Fail(sent.error());
  const auto text = ReadAll(*socket, *tls);
  if (!text) return Fail(text.error());
  return ReadAnswer(*text);
}

}  // namespace kgen::testing
