// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The endpoint over loopback, on threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kgen/controller/endpoint.h"
#include "tests/support/prometheus_parser.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The whole response to one request, "" if there is none.
std::string Fetch(const std::string& address, const std::string& target) {
  const std::size_t colon = address.rfind(':');
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(std::chrono::seconds(60));
  stream.connect(address.substr(0, colon), address.substr(colon + 1));
  stream << "GET " << target << " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  stream.flush();
  return {std::istreambuf_iterator<char>(stream), {}};
}

// With a pool of its own, whose threads end with it.
EndpointOptions Local() {
  return {.address = "127.0.0.1:0", .executor = Must(MakeThreadPool()), .observer = NullObserver()};
}

// Contract: controller 34, 38.
TEST(EndpointSocketTest, ServesUntilItIsStopped) {
  EndpointOptions options = Local();
  Metrics metrics;
  Must(metrics.AddCounter("c_total", "Cats"));
  options.metrics = metrics;
  auto endpoint = Must(Endpoint::Listen(options));
  Must(endpoint.AddHealthCheck("a", [](const std::stop_token&) { return Result<void>(); }));
  Must(endpoint.AddReadyCheck("b",
                              [](const std::stop_token&) -> Result<void> { return Fail(Code::kUnavailable, "x"); }));
  Must(endpoint.AddDebugSection("c", [] { return std::string("d"); }));
  Must(endpoint.Start());
  const std::string address = endpoint.address();
  EXPECT_THAT(address, ::testing::MatchesRegex("127.0.0.1:[1-9][0-9]*"));
  EXPECT_THAT(Fetch(address, "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\n\r\nok")));
  EXPECT_THAT(Fetch(address, "/readyz"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Fetch(address, "/metrics"), HasSubstr("c_total 0\n"));
  EXPECT_THAT(Fetch(address, "/debug"), HasSubstr("# c\nd\n"));
  Must(endpoint.Stop(60s));
  EXPECT_EQ(Fetch(address, "/healthz"), "");
}

// Contract: controller 2.
TEST(EndpointSocketTest, SaysThatTheAddressIsInUse) {
  const auto first = Must(Endpoint::Listen(Local()));
  EndpointOptions options = Local();
  options.address = first.address();
  const auto second = Endpoint::Listen(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kUnavailable);
  EXPECT_THAT(second.error().message(), AllOf(HasSubstr(first.address()), HasSubstr("in use")));
  options.address = "192.0.2.1:0";  // of documentation: no machine has it
  EXPECT_EQ(Endpoint::Listen(options).error().code(), Code::kUnavailable);
}

using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;

// A connection over TLS, which verifies the certificate if it is told which one to trust.
class TlsClient {
 public:
  explicit TlsClient(const std::string& address, X509* trusted = nullptr, const std::string& name = "") {
    if (trusted != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.native_handle()), trusted);
      stream_.set_verify_mode(boost::asio::ssl::verify_peer);
      stream_.set_verify_callback(boost::asio::ssl::host_name_verification(name));
    }
    const std::size_t colon = address.rfind(':');
    const auto ip = boost::asio::ip::make_address(address.substr(0, colon));
    stream_.lowest_layer().connect({ip, static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))});
    (void)stream_.handshake(boost::asio::ssl::stream_base::client, failure_);
  }
  bool open() const { return !failure_; }
  X509Pointer Certificate() { return {SSL_get1_peer_certificate(stream_.native_handle()), &X509_free}; }
  std::string Fetch(const std::string& target) {
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    boost::asio::write(stream_, boost::asio::buffer(request), failure_);
    std::string response;
    boost::asio::read(stream_, boost::asio::dynamic_buffer(response), failure_);
    return response;
  }

 private:
  boost::asio::io_context io_;
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_client};
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_{io_, context_};
  boost::system::error_code failure_;
};

// Contract: controller 39.
TEST(EndpointSocketTest, MakesItsOwnCertificateIfItHasNoFiles) {
  EndpointOptions options = Local();
  options.address = "127.0.0.2:0";
  options.tls = TlsFiles();
  auto endpoint = Must(Endpoint::Listen(options));
  Must(endpoint.Start());
  TlsClient client(endpoint.address());
  ASSERT_TRUE(client.open());
  EXPECT_THAT(client.Fetch("/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\n\r\nok")));
  const X509Pointer certificate = client.Certificate();
  ASSERT_TRUE(certificate);
  EXPECT_EQ(X509_check_host(certificate.get(), "localhost", 0, 0, nullptr), 1);
  for (const char* ip : {"127.0.0.1", "::1", "127.0.0.2"}) {
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), ip, 0), 1) << ip;
  }
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.3", 0), 0);
  int days = 0, seconds = 0;
  ASSERT_EQ(ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate.get())), 1);
  EXPECT_GE(days, 364);
  EXPECT_LE(days, 365);
  char curve[16] = {};
  EXPECT_EQ(EVP_PKEY_get_group_name(X509_get0_pubkey(certificate.get()), curve, sizeof curve, nullptr), 1);
  EXPECT_STREQ(curve, "prime256v1");
  // A client that trusts it finds nothing wrong with it.
  EXPECT_TRUE(TlsClient(endpoint.address(), certificate.get(), "localhost").open());
  EXPECT_FALSE(TlsClient(endpoint.address(), certificate.get(), "other.example").open());
  // Another endpoint has another one.
  auto second = Must(Endpoint::Listen(options));
  Must(second.Start());
  EXPECT_FALSE(TlsClient(second.address(), certificate.get(), "localhost").open());
  Must(second.Stop(60s));
  Must(endpoint.Stop(60s));
}

TEST(EndpointSocketTest, ClosesItsAddressWithTheLastHandle) {
  std::string address;
  {
    auto endpoint = Must(Endpoint::Listen(Local()));
    const Endpoint copy = endpoint;
    Must(endpoint.Start());
    address = copy.address();
    EXPECT_THAT(Fetch(address, "/healthz"), HasSubstr("200 OK"));
  }
  // The loop closes it soon.
  EndpointOptions options = Local();
  options.address = address;
  while (!Endpoint::Listen(options)) std::this_thread::yield();
}

TEST(EndpointSocketTest, AnswersManyRequestsAtOnce) {
  EndpointOptions options = Local();
  Metrics metrics;
  auto counter = Must(metrics.AddCounter("c_total", "Cats"));
  options.metrics = metrics;
  auto endpoint = Must(Endpoint::Listen(options));
  Must(endpoint.AddReadyCheck("a", [&](const std::stop_token&) {
    counter.Add();
    return Result<void>();
  }));
  Must(endpoint.AddDebugSection("c", [] { return std::string(100'000, 'd'); }));
  Must(endpoint.Start());
  while (!Fetch(endpoint.address(), "/readyz").starts_with("HTTP/1.1 200 ")) {  // until the first run has ended
  }
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([address = endpoint.address()] {
      for (int j = 0; j < 25; ++j) {
        EXPECT_THAT(Fetch(address, "/readyz?verbose"),
                    AllOf(HasSubstr("[+]a ok"), HasSubstr("\nreadyz check passed\n")));
        const std::string text = Fetch(address, "/metrics");
        test_support::ParsePrometheus(text.substr(text.find("\r\n\r\n") + 4));
        EXPECT_GT(Fetch(address, "/debug").size(), 100'000u);
      }
    });
  }
  clients.clear();
  Must(endpoint.Stop(60s));
}

TEST(EndpointSocketTest, StopWaitsForFunctionsThatEndAtItsRequest) {
  const auto executor = Must(MakeThreadPool());
  EndpointOptions options = Local();
  options.executor = executor;
  auto endpoint = Must(Endpoint::Listen(options));
  const auto never = executor->MakeWaiter("the test"), begun = executor->MakeWaiter("the test");
  std::atomic<bool> returned = false;
  Must(endpoint.AddReadyCheck("slow", [&](const std::stop_token& stop) {
    begun->Notify();
    (void)never->Wait(stop);
    returned = true;
    return Result<void>();
  }));
  Must(endpoint.Start());
  Must(begun->Wait());
  Must(endpoint.Stop(60s));
  EXPECT_TRUE(returned);
}

TEST(EndpointSocketTest, StopWaitsForRequests) {
  EndpointOptions options = Local();
  auto endpoint = Must(Endpoint::Listen(options));
  const auto release = options.executor->MakeWaiter("the test"), begun = options.executor->MakeWaiter("the test");
  Must(endpoint.AddDebugSection("slow", [&] {
    begun->Notify();
    (void)release->Wait();
    return std::string("page");
  }));
  Must(endpoint.Start());
  std::string response;
  std::jthread client([&, address = endpoint.address()] { response = Fetch(address, "/debug"); });
  Must(begun->Wait());
  std::jthread stop([&] { Must(endpoint.Stop(60s)); });
  release->Notify();
  stop.join();
  client.join();
  EXPECT_THAT(response, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("page\n")));
}

TEST(EndpointSocketTest, StopCutsWhatHangs) {
  const auto executor = Must(MakeThreadPool());
  EndpointOptions options = Local();
  options.executor = executor;
  std::optional<Endpoint> endpoint = Must(Endpoint::Listen(options));
  options = {};
  const auto release = executor->MakeWaiter("the test"), begun = executor->MakeWaiter("the test");
  const auto gone = executor->MakeWaiter("the end of the check");
  std::shared_ptr<void> last(nullptr, [gone](void*) { gone->Notify(); });
  Must(endpoint->AddReadyCheck("hangs", [release, begun, last = std::move(last)](const std::stop_token&) {
    begun->Notify();
    return release->Wait();
  }));
  Must(endpoint->Start());
  Must(begun->Wait());
  const auto stopped = endpoint->Stop(20ms);
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message(), HasSubstr("/readyz/hangs"));
  release->Notify();
  endpoint.reset();
  Must(gone->Wait());  // the pool ends on this thread, which joins its threads
}

}  // namespace
}  // namespace kgen
