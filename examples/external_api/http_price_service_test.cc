// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the real client against a socket that gives one prepared response.
#include "http_price_service.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

namespace {

// Listens on a port of the loopback interface. Serve() answers the next connection; until then a client waits.
class PreparedServer {
 public:
  PreparedServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0) throw std::runtime_error("no socket for the test");
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/v1";
  }
  ~PreparedServer() { ::close(socket_); }
  PreparedServer(const PreparedServer&) = delete;
  PreparedServer& operator=(const PreparedServer&) = delete;

  const std::string& url() const { return url_; }

  // Answers one request of `service`, and keeps the request.
  kgen::Result<Quote> Serve(HttpPriceService& service, const std::string& response) {
    const std::jthread answering([&] {
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      std::array<char, 4096> bytes{};
      while (!request_.contains("\r\n\r\n")) {
        const ssize_t count = ::read(peer, bytes.data(), bytes.size());
        if (count <= 0) break;
        request_.append(bytes.data(), static_cast<std::size_t>(count));
      }
      std::string_view rest = response;
      while (!rest.empty()) {
        const ssize_t count = ::send(peer, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (count <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(count));
      }
      ::close(peer);
    });
    return service.Fetch("EUR-USD", {}, 10s);
  }
  const std::string& request() const { return request_; }

 private:
  int socket_;
  std::string url_;
  std::string request_;
};

std::string Response(std::string_view head, std::string_view body) {
  return "HTTP/1.1 " + std::string(head) + "\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

TEST(HttpPriceService, ReadsThePriceAndItsTime) {
  PreparedServer server;
  HttpPriceService service(server.url());
  const auto quote = server.Serve(service, Response("200 OK", R"({"price":"1.0834","time":"2026-11-24T12:00:00Z"})"));
  ASSERT_TRUE(quote) << quote;
  EXPECT_EQ(quote->price, "1.0834");
  EXPECT_EQ(quote->time.str(), "2026-11-24T12:00:00Z");
  EXPECT_THAT(server.request(), StartsWith("GET /v1/EUR-USD HTTP/1.1\r\n"));
}

TEST(HttpPriceService, PassesOnThePauseThatTheServiceAsksFor) {
  PreparedServer server;
  HttpPriceService service(server.url());
  const auto quote = server.Serve(service, Response("429 Too Many Requests\r\nretry-after: 90", "{}"));
  ASSERT_FALSE(quote);
  EXPECT_EQ(quote.error().code(), kgen::Code::kUnavailable);
  EXPECT_EQ(quote.error().retry_after_seconds(), 90);
  EXPECT_THAT(quote.error().message(), HasSubstr("/v1/EUR-USD: the service answered HTTP 429"));
}

TEST(HttpPriceService, SaysWhatIsWrongWithAResponse) {
  for (const char* body :
       {"", "[]", "{", R"({"price":1.08,"time":"2026-11-24T12:00:00Z"})", R"({"price":"1","time":"noon"})"}) {
    PreparedServer server;
    HttpPriceService service(server.url());
    const auto quote = server.Serve(service, Response("200 OK", body));
    ASSERT_FALSE(quote) << body;
    EXPECT_EQ(quote.error().code(), kgen::Code::kDecode);
    EXPECT_THAT(quote.error().message(), HasSubstr("but begins \"" + std::string(body)));
  }
}

TEST(HttpPriceService, RefusesAResponseThatIsTooLarge) {
  PreparedServer server;
  HttpPriceService service(server.url());
  const auto quote = server.Serve(service, Response("200 OK", std::string(std::size_t{80} << 10, ' ')));
  ASSERT_FALSE(quote);
  EXPECT_THAT(quote.error().message(), HasSubstr("larger than 64 KiB"));
}

TEST(HttpPriceService, GivesUpAtTheTimeout) {
  const PreparedServer silent;
  const auto quote = HttpPriceService(silent.url()).Fetch("EUR-USD", {}, 50ms);
  ASSERT_FALSE(quote);
  EXPECT_EQ(quote.error().code(), kgen::Code::kTimeout);
}

TEST(HttpPriceService, GivesUpWhenItIsStopped) {
  const PreparedServer silent;
  std::stop_source stop;
  stop.request_stop();
  const auto quote = HttpPriceService(silent.url()).Fetch("EUR-USD", stop.get_token(), 1min);
  ASSERT_FALSE(quote);
  EXPECT_EQ(quote.error().code(), kgen::Code::kCancelled);
}

TEST(HttpPriceService, SpeaksNothingButHttp) {
  const auto quote = HttpPriceService("file:///etc").Fetch("hostname", {}, 1s);
  ASSERT_FALSE(quote);
  EXPECT_EQ(quote.error().message(), "GET file:///etc/hostname: Unsupported protocol");
}

}  // namespace
