// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/webhooks/forwarder.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"
#include "net/x509.h"
#include "tests/integration/eventually.h"

namespace kgen::integration {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint Loopback(int port) { return {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)}; }

// One connection and the one behind it.
class Pipe : public std::enable_shared_from_this<Pipe> {
 public:
  Pipe(asio::io_context& io, tcp::socket client) : client_(std::move(client)), server_(io) {}
  void Start(int port) {
    server_.async_connect(Loopback(port), [self = shared_from_this()](error_code failure) {
      if (failure) return;  // closes both
      self->Pump(self->client_, self->server_, self->up_);
      self->Pump(self->server_, self->client_, self->down_);
    });
  }

 private:
  using Buffer = std::array<char, 16 * 1024>;

  void Pump(tcp::socket& from, tcp::socket& to, Buffer& buffer) {
    from.async_read_some(asio::buffer(buffer),
                         [this, self = shared_from_this(), &from, &to, &buffer](error_code failure, std::size_t got) {
                           if (failure) return Close();
                           asio::async_write(to, asio::buffer(buffer, got),
                                             [this, self, &from, &to, &buffer](error_code broken, std::size_t) {
                                               broken ? Close() : Pump(from, to, buffer);
                                             });
                         });
  }
  void Close() {
    client_.close();
    server_.close();
  }

  tcp::socket client_, server_;
  Buffer up_, down_;
};

}  // namespace

bool IsReadyAt(const std::string& address) {
  asio::io_context io;
  tcp::socket socket(io);
  error_code failure;
  if (socket.connect(Loopback(std::stoi(address.substr(address.rfind(':') + 1))), failure)) return false;
  asio::write(socket, asio::buffer(std::string("GET /readyz HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n")),
              failure);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), failure);
  return answer.starts_with("HTTP/1.1 200 ");
}

std::string CertificateAt(int port) {
  asio::io_context io;
  ssl::context context(ssl::context::tls_client);
  ssl::stream<tcp::socket> stream(io, context);
  error_code failure;
  if (stream.next_layer().connect(Loopback(port), failure) || stream.handshake(ssl::stream_base::client, failure))
    return {};
  return net::PemOf(SSL_get0_peer_certificate(stream.native_handle()));
}

Forwarder::Forwarder() : acceptor_(io_, Loopback(0)), port_(acceptor_.local_endpoint().port()) {
  Accept();
  forwarding_ = std::jthread([this] { io_.run(); });
  probing_ = std::jthread([this](const std::stop_token& stop) { Probe(stop); });
}

Forwarder::~Forwarder() { io_.stop(); }

void Forwarder::Accept() {
  acceptor_.async_accept([this](error_code failure, tcp::socket client) {
    if (const int port = failure ? 0 : Choose(); port != 0) {
      std::make_shared<Pipe>(io_, std::move(client))->Start(port);
    }
    Accept();
  });
}

// Returns the port of the next replica that is ready, or 0.
int Forwarder::Choose() {
  const std::scoped_lock lock(mutex_);
  for (std::size_t tried = 0; tried < backends_.size(); ++tried) {
    Backend& backend = backends_[next_++ % backends_.size()];
    if (!backend.ready) continue;
    ++backend.connections;
    return backend.port;
  }
  return 0;
}

void Forwarder::Probe(const std::stop_token& stop) {
  const auto pause = DefaultExecutor()->MakeWaiter("probes");
  while (!stop.stop_requested()) {
    std::vector<Backend> asked;
    {
      const std::scoped_lock lock(mutex_);
      asked = backends_;
    }
    for (Backend& each : asked) each.ready = IsReadyAt(each.health);
    {
      const std::scoped_lock lock(mutex_);
      for (std::size_t i = 0; i < asked.size(); ++i) backends_[i].ready = asked[i].ready;
    }
    (void)pause->Wait(stop, DefaultExecutor()->clock()->Now() + std::chrono::milliseconds(100));
  }
}

const Forwarder::Backend* Forwarder::Find(int port) const {
  const auto found = std::ranges::find(backends_, port, &Backend::port);
  return found == backends_.end() ? nullptr : &*found;
}

void Forwarder::Add(int port, std::string health) {
  const std::scoped_lock lock(mutex_);
  backends_.push_back({.port = port, .health = std::move(health)});
}

bool Forwarder::AwaitReady(int port, bool ready) const {
  return Eventually(
      [&] {
        const std::scoped_lock lock(mutex_);
        const Backend* backend = Find(port);
        return backend != nullptr && backend->ready == ready;
      },
      std::chrono::minutes(2));
}

int Forwarder::Connections(int port) const {
  const std::scoped_lock lock(mutex_);
  const Backend* backend = Find(port);
  return backend == nullptr ? 0 : backend->connections;
}

}  // namespace kgen::integration
