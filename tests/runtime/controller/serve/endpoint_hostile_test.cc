// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Hostile clients of the endpoint over loopback. In each case a kubelet's probe is answered promptly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/controller/endpoint.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kClients = 256;  // the connections that an endpoint has at most
constexpr std::size_t kPageBytes = 4'000'000;
constexpr std::size_t kMemory = 64'000'000;  // bytes that unread pages may take together

class HostileClients : public ::testing::TestWithParam<bool> {
 protected:
  using TlsStream = boost::asio::ssl::stream<tcp::socket>;

  // One connection. It does not verify the certificate.
  struct Client {
    explicit Client(boost::asio::io_context& io, boost::asio::ssl::context& context) : stream(io, context) {}
    void Send(bool tls, const std::string& bytes) {
      boost::system::error_code ignored;
      if (tls) {
        boost::asio::write(stream, boost::asio::buffer(bytes), ignored);
      } else {
        boost::asio::write(stream.next_layer(), boost::asio::buffer(bytes), ignored);
      }
    }
    // Waits until something has come back, or the connection was closed; reads next to nothing.
    void AwaitAnswer() {
      char byte = 0;
      boost::system::error_code ignored;
      stream.next_layer().receive(boost::asio::buffer(&byte, 1), tcp::socket::message_peek, ignored);
    }
    TlsStream stream;
  };

  void Listen(EndpointOptions options) {
    options.address = "127.0.0.1:0";
    options.observer = NullObserver();
    if (tls_) options.tls = TlsFiles();
    endpoint_ = Must(Endpoint::Listen(options));
  }
  Client& Dial(bool handshake = true) {
    clients_.push_back(std::make_unique<Client>(io_, context_));
    tcp::socket& socket = clients_.back()->stream.next_layer();
    socket.open(tcp::v4());
    socket.set_option(boost::asio::socket_base::receive_buffer_size(4096));
    const std::string& address = endpoint_->address();
    const std::size_t colon = address.rfind(':');
    socket.connect({boost::asio::ip::make_address(address.substr(0, colon)),
                    static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))});
    boost::system::error_code ignored;
    if (tls_ && handshake) (void)clients_.back()->stream.handshake(TlsStream::client, ignored);
    return *clients_.back();
  }
  static std::string Request(const std::string& target, const std::string& more = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + more + "\r\n";
  }
  void DialMany(int count, const std::string& target, const std::string& more = "") {
    for (int i = 0; i < count; ++i) Dial().Send(tls_, Request(target, more));
  }
  // What a probe gets that has five seconds; "" if it gets nothing.
  std::string Probe(const std::string& target) {
    Client& client = Dial();
    timeval limit{5, 0};
    setsockopt(client.stream.next_layer().native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    client.Send(tls_, Request(target, "Connection: close\r\n"));
    std::string response(4096, '\0');
    boost::system::error_code failure;
    const std::size_t size = tls_ ? client.stream.read_some(boost::asio::buffer(response), failure)
                                  : client.stream.next_layer().receive(boost::asio::buffer(response), 0, failure);
    response.resize(size);
    return response;
  }
  void ExpectHealth() {
    EXPECT_THAT(Probe("/healthz"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(Probe("/readyz?verbose"), StartsWith("HTTP/1.1 "));
  }
  // What the process has allocated, without the kernel's buffers. 0 under a sanitizer, which has its own heap.
  static std::size_t Allocated() {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
  }

  const bool tls_ = GetParam();
  boost::asio::io_context io_;
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_client};
  std::vector<std::unique_ptr<Client>> clients_;
  std::optional<Endpoint> endpoint_;
};
INSTANTIATE_TEST_SUITE_P(Tls, HostileClients, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Plain"; });

TEST_P(HostileClients, WaitForASlowCheckAndKeepNoProbeOut) {
  const auto executor = Must(MakeThreadPool());
  Listen({.executor = executor});
  const auto never = executor->MakeWaiter("the test"), begun = executor->MakeWaiter("the test");
  Must(endpoint_->AddReadyCheck("slow", [never, begun](const std::stop_token& stop) {
    begun->Notify();
    return never->Wait(stop);
  }));
  Must(endpoint_->Start());
  DialMany(kClients, "/readyz");
  Must(begun->Wait());
  ExpectHealth();
  EXPECT_THAT(Probe("/readyz"), HasSubstr("[-]slow failed"));
  clients_.clear();
  Must(endpoint_->Stop(60s));
}

TEST_P(HostileClients, ReadNoPageAndTakeNoMemory) {
  Listen({.executor = Must(MakeThreadPool())});
  Must(endpoint_->AddDebugSection("large", [] { return std::string(kPageBytes, 'x'); }));
  Must(endpoint_->Start());
  for (int i = 0; i < kClients; ++i) Dial();
  const std::size_t before = Allocated();
  for (int i = 0; i < kClients; ++i) clients_[static_cast<std::size_t>(i)]->Send(tls_, Request("/debug"));
  for (int i = 0; i < kClients; ++i) clients_[static_cast<std::size_t>(i)]->AwaitAnswer();
  ExpectHealth();
  EXPECT_LT(Allocated(), before + kMemory);
  clients_.clear();
  Must(endpoint_->Stop(60s));
}

// An API server that takes requests and never answers.
class Silent final : public Transport {
 public:
  Shared<Exchange> Start(HttpRequest, Shared<ResponseSink> sink) override {
    ++requests;
    return MakeShared<Waiting>(std::move(sink));
  }
  void Close() noexcept override {}
  std::atomic<int> requests{0};

 private:
  class Waiting final : public Exchange {
   public:
    explicit Waiting(Shared<ResponseSink> sink) : sink_(std::move(sink)) {}
    void Consumed(std::size_t) noexcept override {}
    void Cancel() noexcept override {
      if (!done_.exchange(true)) sink_->OnEnd(HttpEnd(Fail(Code::kCancelled, "cancelled")));
    }

   private:
    const Shared<ResponseSink> sink_;
    std::atomic<bool> done_{false};
  };
};

TEST_P(HostileClients, SendTokensThatNobodyCanReview) {
  const auto server = MakeShared<Silent>();
  const auto executor = Must(MakeThreadPool());
  Metrics metrics;
  Listen({.metrics = metrics,
          .authorize = Must(Connection::Over(rest::Config{.host = "http://silent", .executor = executor}, server)),
          .executor = executor});
  Must(endpoint_->Start());
  for (int i = 0; i < 300; ++i) {
    Dial().Send(tls_, Request("/metrics", "Authorization: Bearer random" + std::to_string(i) + "\r\n"));
  }
  ExpectHealth();
  EXPECT_LE(server->requests.load(), 16);
  EXPECT_THAT(Probe("/metrics"), StartsWith("HTTP/1.1 401 "));
  clients_.clear();
  Must(endpoint_->Stop(0s));
  endpoint_.reset();
}

TEST_P(HostileClients, SendRequestsThatNeverEnd) {
  Listen({.executor = Must(MakeThreadPool())});
  Must(endpoint_->Start());
  for (int i = 0; i < 300; ++i) Dial().Send(tls_, "GET /healthz HTTP/1.1\r\nHost: h\r\nX: ");
  ExpectHealth();
  clients_.clear();
  Must(endpoint_->Stop(60s));
}

TEST_P(HostileClients, StopInTheMiddleOfAHandshake) {
  Listen({.executor = Must(MakeThreadPool())});
  Must(endpoint_->Start());
  for (int i = 0; i < 300; ++i) Dial(false).Send(false, std::string("\x16\x03\x01\x02\x00\x01", 6));
  ExpectHealth();
  clients_.clear();
  Must(endpoint_->Stop(60s));
}

}  // namespace
}  // namespace kgen
