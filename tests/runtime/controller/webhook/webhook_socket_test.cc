// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhook server over TLS on loopback, on threads: load, rotation, drain and hostile clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "controller/webhook/webhook_server.h"
#include "core/memory/mutex.h"
#include "net/tls.h"
#include "testing/certificates.h"
#include "tests/runtime/controller/webhook/webhook_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using controller::WebhookServer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace ssl = boost::asio::ssl;

tcp::endpoint EndpointOf(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  return {boost::asio::ip::make_address(address.substr(0, colon)),
          static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))};
}

// One connection over TLS that verifies the server if it has an authority.
class TlsConnection {
 public:
  TlsConnection(const std::string& address, const std::string& authority, long newest_version = 0) {
    if (!authority.empty()) {
      context_.add_certificate_authority(boost::asio::buffer(authority));
      stream_.emplace(io_, context_);
      stream_->set_verify_mode(ssl::verify_peer);
      stream_->set_verify_callback(ssl::host_name_verification("127.0.0.1"));
    }
    if (newest_version != 0) {
      SSL_CTX_set_min_proto_version(context_.native_handle(), 0);
      SSL_CTX_set_max_proto_version(context_.native_handle(), newest_version);
      SSL_CTX_set_cipher_list(context_.native_handle(), "DEFAULT:@SECLEVEL=0");
    }
    if (!stream_) stream_.emplace(io_, context_);
    stream_->next_layer().connect(EndpointOf(address));
    timeval limit{60, 0};
    setsockopt(stream_->next_layer().native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)stream_->handshake(ssl::stream_base::client, failure_);
  }
  bool open() const { return !failure_; }
  std::string failure() const { return failure_.message(); }
  int version() { return SSL_version(stream_->native_handle()); }
  void Send(const std::string& bytes) { boost::asio::write(*stream_, boost::asio::buffer(bytes), failure_); }
  // The head and the body of a response; "" if the connection ends before.
  std::string Receive() {
    const std::size_t head =
        boost::asio::read_until(*stream_, boost::asio::dynamic_buffer(input_), "\r\n\r\n", failure_);
    if (failure_) return {};
    std::string lower = input_.substr(0, head);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t length = lower.find("content-length: ");
    const std::size_t size = head + static_cast<std::size_t>(std::stoul(lower.substr(length + 16)));
    while (input_.size() < size && !failure_) {
      char bytes[65536];
      const std::size_t got = stream_->read_some(boost::asio::buffer(bytes), failure_);
      input_.append(bytes, got);
    }
    if (failure_) return {};
    std::string response = input_.substr(0, size);
    input_.erase(0, size);
    return response;
  }
  std::string Ask(const std::string& request) {
    Send(request);
    return failure_ ? std::string() : Receive();
  }
  X509* certificate() { return SSL_get0_peer_certificate(stream_->native_handle()); }

 private:
  boost::asio::io_context io_;
  ssl::context context_{ssl::context::tls_client};
  std::optional<ssl::stream<tcp::socket>> stream_;
  boost::system::error_code failure_;
  std::string input_;
};

class WebhookSocketTest : public ::testing::Test {
 protected:
  using Kind = controller::WebhookHandler::Kind;

  ~WebhookSocketTest() override {
    if (server_) server_->Close();
  }
  void Add(const std::string& path, FakeHandler::Function function = Echo, Kind kind = Kind::kValidating) {
    Must(routes_->Add(path, MakeShared<FakeHandler>(std::move(function), kind)));
  }
  void Serve(WebhookOptions options = {}) {
    options.address = "127.0.0.1:0";
    Renew();
    server_ = Must(WebhookServer::Listen({.options = std::move(options),
                                          .routes = routes_,
                                          .observer = NullObserver(),
                                          .certificates = [this](const std::string&) { return Current(); },
                                          .executor = executor_}));
    Must(server_->Start());
  }
  // Makes another certificate, which new connections get.
  void Renew() {
    const Identity identity = Must(authority_->Issue({.names = {"127.0.0.1"}}));
    auto context = Must(net::TlsContext::ForServer(
        {.certificate_pem = identity.certificate_pem, .key_pem = identity.key_pem, .alpn = ""}));
    const MutexLock lock(mutex_);
    current_ = std::move(context);
  }
  Shared<net::TlsContext> Current() {
    const MutexLock lock(mutex_);
    return current_;
  }
  TlsConnection Dial() { return {server_->address(), authority_->certificate_pem()}; }

  const Shared<Executor> executor_ = Must(MakeThreadPool());  // its threads end with the test
  const Shared<CertificateAuthority> authority_ = Must(CertificateAuthority::Make());
  const Shared<controller::WebhookRoutes> routes_ = MakeShared<controller::WebhookRoutes>();
  Mutex mutex_;
  Shared<net::TlsContext> current_ KGEN_GUARDED_BY(mutex_);
  Shared<WebhookServer> server_;
};

TEST_F(WebhookSocketTest, AnswersUntilItIsStopped) {
  Add("/v");
  Serve();
  TlsConnection client = Dial();
  ASSERT_TRUE(client.open()) << client.failure();
  EXPECT_THAT(client.Ask(Post("/v?timeout=10s", "{}")),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("{\"got\":2}")));
  EXPECT_THAT(client.Ask(Post("/w", "{}")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(client.Ask(Post("/v", std::string(1 << 20, 'x'))), HasSubstr("{\"got\":1048576}"));
  Must(server_->Stop(60s));
  EXPECT_EQ(client.Ask(Post("/v", "{}")), "");
}

TEST_F(WebhookSocketTest, SpeaksTls12AndNewer) {
  Add("/v");
  Serve();
  for (const auto& [version, accepted] : {std::pair(TLS1_VERSION, false), std::pair(TLS1_1_VERSION, false),
                                          std::pair(TLS1_2_VERSION, true), std::pair(TLS1_3_VERSION, true)}) {
    TlsConnection client(server_->address(), "", version);
    EXPECT_EQ(client.open(), accepted) << version << " " << client.failure();
    if (accepted) {
      EXPECT_EQ(client.version(), version);
      EXPECT_THAT(client.Ask(Post("/v", "{}")), HasSubstr("200 OK"));
    } else {
      EXPECT_THAT(client.failure(), HasSubstr("alert protocol version")) << version;  // the server's words
    }
  }
}

TEST_F(WebhookSocketTest, RotatesItsCertificateUnderLoadWithoutAFailedRequest) {
  constexpr int kThreads = 4, kReviews = 60;
  Add("/v");
  Serve();
  std::atomic<int> answered = 0, failed = 0;
  std::atomic<bool> done = false;
  const Shared<net::TlsContext> first = Current();
  std::vector<std::jthread> clients;
  for (int i = 0; i < kThreads; ++i) {
    clients.emplace_back([&, keeps = i % 2 == 0] {
      std::optional<TlsConnection> connection;
      for (int j = 0; j < kReviews; ++j) {
        if (!connection || !keeps) connection.emplace(server_->address(), authority_->certificate_pem());
        ++(connection->Ask(Post("/v", "{}")).starts_with("HTTP/1.1 200 ") ? answered : failed);
      }
    });
  }
  std::jthread rotation([&] {
    for (int seen = 0; !done.load(); std::this_thread::yield()) {
      if (answered.load() < seen + 5) continue;
      seen = answered.load();
      Renew();
    }
  });
  clients.clear();
  done = true;
  rotation.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(answered, kThreads * kReviews);
  EXPECT_NE(Current(), first);
}

TEST_F(WebhookSocketTest, DrainsUnderLoadWithoutAFailedRequest) {
  constexpr int kThreads = 6;
  Add("/v");
  Serve();
  std::atomic<int> answered = 0, failed = 0, told = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < kThreads; ++i) {
    clients.emplace_back([&] {
      TlsConnection connection = Dial();
      for (;;) {
        const std::string response = connection.Ask(Post("/v", "{}"));
        ++(response.starts_with("HTTP/1.1 200 ") ? answered : failed);
        if (response.empty()) return;
        if (response.find("connection: close") == std::string::npos) continue;
        ++told;
        return;
      }
    });
  }
  while (answered.load() < 20 * kThreads) std::this_thread::yield();
  server_->Drain();
  EXPECT_THAT(Dial().Ask(Post("/v", "{}")), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("connection: close")));
  clients.clear();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(told, kThreads);
  Must(server_->Stop(60s));
}

TEST_F(WebhookSocketTest, AThousandSilentConnectionsAreNotInTheWayOfAWorkingOne) {
  constexpr int kSilent = 1000;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 2 * kSilent) GTEST_SKIP() << "the process may open only " << files.rlim_cur << " files";
  Add("/v");
  Serve();
  TlsConnection worker = Dial();
  boost::asio::io_context io;
  std::vector<std::unique_ptr<tcp::socket>> silent;
  for (int i = 0; i < kSilent; ++i) {
    silent.push_back(std::make_unique<tcp::socket>(io));
    silent.back()->connect(EndpointOf(server_->address()));
    if (i % 3 == 1) silent.back()->send(boost::asio::buffer("\x16\x03\x01\x02\x00\x01", 6));  // half a handshake
    if (i % 100 != 0) continue;
    ASSERT_THAT(worker.Ask(Post("/v", "{}")), HasSubstr("200 OK")) << i;
  }
  EXPECT_THAT(worker.Ask(Post("/v", "{}")), HasSubstr("200 OK"));
  EXPECT_THAT(Dial().Ask(Post("/v", "{}")), HasSubstr("200 OK"));
  silent.clear();
  Must(server_->Stop(60s));
}

TEST_F(WebhookSocketTest, AnswersAHugeReviewWhileItIsStillBeingSent) {
  Add("/v");
  Serve({.max_review_bytes = 1000});
  TlsConnection client = Dial();
  client.Send("POST /v HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 40000000\r\n\r\n");
  const std::string piece(1'000'000, 'x');
  for (int i = 0; i < 40; ++i) client.Send(piece);
  EXPECT_THAT(client.Receive(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("{\"larger_than\":1000}")));
}

TEST_F(WebhookSocketTest, ConvertsAListOfManyMegabytes) {
  Add(
      "/convert", [](std::string_view review, const controller::WebhookCall&) { return std::string(review); },
      Kind::kConversion);
  Serve();
  TlsConnection client = Dial();
  const std::string list(30'000'000, 'x');
  const std::string response = client.Ask(Post("/convert?timeout=30s", list));
  EXPECT_EQ(response.size() - response.find("\r\n\r\n") - 4, list.size());
}

// Together they have ten times the bytes that the server holds at once.
TEST_F(WebhookSocketTest, AnswersAllReviewsThatDoNotFitTogether) {
  constexpr int kThreads = 10, kReviews = 4;
  Add("/v");
  Serve({.max_review_bytes = 1'000'000, .max_conversion_bytes = 1'000'000, .max_bytes = 1'000'000});
  std::atomic<int> answered = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < kThreads; ++i) {
    clients.emplace_back([&] {
      TlsConnection connection = Dial();
      for (int j = 0; j < kReviews; ++j) {
        if (connection.Ask(Post("/v?timeout=30s", std::string(1'000'000, 'x'))).ends_with("{\"got\":1000000}"))
          ++answered;
      }
    });
  }
  clients.clear();
  EXPECT_EQ(answered, kThreads * kReviews);
}

}  // namespace
}  // namespace kgen::testing
