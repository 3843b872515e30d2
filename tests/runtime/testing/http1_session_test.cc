// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 as a client sees it, byte by byte. Without TLS, which the tests with Python's client cover.
#include "net/http1_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include "testing/http2_server.h"

namespace kgen::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Answers with what came in. /hold: the writer is kept; the next request, to /release, ends it.
class Echo final : public HttpHandler {
 public:
  void OnRequest(ServerRequest request, Shared<ResponseWriter> writer) override {
    writer->Head(200, {{"content-type", "text/plain"}});
    if (request.path == "/hold") {
      writer->Write("one\n");
      const std::lock_guard lock(mutex_);
      held_ = std::move(writer);
      return;
    }
    if (request.path == "/release") {
      const std::lock_guard lock(mutex_);
      held_->Write("two\n");
      held_->End();
    }
    if (request.path == "/reset") return writer->Reset(0);
    writer->Write(request.path == "/big"
                      ? std::string(3'000'000, 'x')
                      : request.method + " " + request.path + " " + std::string(request.Header("x-a")) + " " +
                            std::to_string(request.body.size()) + " " + request.body.substr(0, 20));
    writer->End();
  }

 private:
  std::mutex mutex_;
  Shared<ResponseWriter> held_;  // guarded by mutex_
};

class Client {
 public:
  explicit Client(std::uint16_t port) : stream_("127.0.0.1", std::to_string(port)) {
    stream_.expires_after(std::chrono::seconds(60));
  }
  void Send(std::string_view bytes) {
    stream_ << bytes;
    stream_.flush();
  }
  // The head with the empty line.
  std::string Head() {
    std::string head, line;
    while (std::getline(stream_, line) && line != "\r") head += line + "\n";
    return head;
  }
  std::string Bytes(std::size_t size) {
    std::string bytes(size, '\0');
    stream_.read(bytes.data(), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(stream_.gcount()));
    return bytes;
  }
  std::string Chunk() {
    std::string size;
    std::getline(stream_, size);
    const std::string bytes = Bytes(std::stoul(size, nullptr, 16));
    Bytes(2);
    return bytes;
  }
  std::string UntilClosed() { return {std::istreambuf_iterator<char>(stream_), {}}; }
  // One whole answer: its body, by length or in chunks.
  std::string Answer() {
    const std::string head = Head();
    const auto length = head.find("content-length: ");
    if (length != std::string::npos) return Bytes(std::stoul(head.substr(length + 16)));
    std::string body;
    for (std::string chunk; !(chunk = Chunk()).empty();) body += chunk;
    return body;
  }

 private:
  boost::asio::ip::tcp::iostream stream_;
};

class Http1Test : public ::testing::Test {
 protected:
  ~Http1Test() override { server_->Stop(); }

  Client Connect() { return Client(server_->port()); }
  std::string Refusal(std::string_view request) {
    Client client = Connect();
    client.Send(request);
    return client.UntilClosed();
  }

  Shared<Http2Server> server_ =
      Must(Http2Server::Start({.tls = false, .max_body = 4'000'000, .http1 = true}, MakeShared<Echo>()));
};

TEST_F(Http1Test, AnswersManyRequestsOnOneConnection) {
  Client client = Connect();
  for (int i = 0; i < 3; ++i) {
    client.Send("GET /a?b=c HTTP/1.1\r\nHost: h\r\nX-A: y\r\n\r\n");
    EXPECT_EQ(client.Answer(), "GET /a?b=c y 0 ");
  }
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(Http1Test, AnswersPipelinedRequestsInOrder) {
  Client client = Connect();
  client.Send(
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nPOST /3 HTTP/1.1\r\nHost: h\r\nContent-Le");
  EXPECT_EQ(client.Answer(), "GET /1  0 ");
  EXPECT_EQ(client.Answer(), "GET /2  0 ");
  client.Send("ngth: 2\r\n\r\nabGET /4 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.Answer(), "POST /3  2 ab");
  EXPECT_EQ(client.Answer(), "GET /4  0 ");
}

TEST_F(Http1Test, ReadsABodyOfAGivenLengthAndOneInChunks) {
  Client client = Connect();
  client.Send("POST /l HTTP/1.1\r\nHost: h\r\nContent-Length: 3000000\r\n\r\n" + std::string(3'000'000, 'y'));
  EXPECT_EQ(client.Answer(), "POST /l  3000000 " + std::string(20, 'y'));
  client.Send("PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.Send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.Answer(), "PUT /c  5 abcde");
}

TEST_F(Http1Test, SendsAnAnswerWithoutAnEndInChunksAsItComes) {
  Client watcher = Connect();
  watcher.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(watcher.Head(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("transfer-encoding: chunked\r\n")));
  EXPECT_EQ(watcher.Chunk(), "one\n");
  Client other = Connect();
  other.Send("GET /release HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(watcher.Chunk(), "two\n");
  EXPECT_EQ(watcher.Chunk(), "");
  watcher.Send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(watcher.Answer(), "GET /next  0 ");
}

TEST_F(Http1Test, SendsAnAnswerThatIsLargerThanItsBuffers) {
  Client client = Connect();
  client.Send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.Answer(), std::string(3'000'000, 'x'));
}

TEST_F(Http1Test, SendsContinueToAClientThatWaitsForIt) {
  Client client = Connect();
  client.Send("POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.Head(), "HTTP/1.1 100 Continue\r\n");
  client.Send("ab");
  EXPECT_EQ(client.Answer(), "POST /e  2 ab");
}

TEST_F(Http1Test, ClosesTheConnectionWhenAsked) {
  EXPECT_THAT(Refusal("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("connection: close\r\n"), HasSubstr("GET /a  0 ")));
  EXPECT_THAT(Refusal("GET /a HTTP/1.0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), ::testing::Not(HasSubstr("chunked")), HasSubstr("GET /a  0 ")));
}

TEST_F(Http1Test, AResetBreaksTheConnection) { EXPECT_EQ(Refusal("GET /reset HTTP/1.1\r\nHost: h\r\n\r\n"), ""); }

TEST_F(Http1Test, GivesNoBodyToAHeadRequest) {
  Client client = Connect();
  client.Send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  client.Head();
  EXPECT_EQ(client.Answer(), "GET /b  0 ");
}

TEST_F(Http1Test, RefusesABadRequestAndCloses) {
  for (const char* request : {
           "rubbish\r\n\r\n",
           "GET /a HTTP/3.0\r\nHost: h\r\n\r\n",
           "GET /a HTTP/1.1\r\n\r\n",
           "GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
           "GET ftp://h/a HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET /a HTTP/1.1\r\nHost: h\r\nBad Name: 1\r\n\r\n",
           "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
           "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
           "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
       }) {
    EXPECT_THAT(Refusal(request), AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"), HasSubstr("Connection: close\r\n")))
        << request;
  }
}

TEST_F(Http1Test, BoundsHeaderAndBody) {
  EXPECT_THAT(Refusal("GET /a HTTP/1.1\r\nHost: h\r\nX: " + std::string(70'000, 'x')), StartsWith("HTTP/1.1 431 "));
  const std::string chunked = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(Refusal(chunked + "5;" + std::string(70'000, 'x')), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Refusal(chunked + "0\r\nX: " + std::string(70'000, 'x')), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Refusal("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Refusal("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\nContent-Length: 5\r\n\r\n"),
              StartsWith("HTTP/1.1 417 "));
}

TEST_F(Http1Test, AnswersARequestWithALargeBodyAlthoughTheClientGoesOnSending) {
  for (const char* framing : {"Content-Length: 30000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1c9c380\r\n"}) {
    Client client = Connect();
    client.Send("POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(framing));
    const std::string megabyte(1'000'000, 'x');
    for (int i = 0; i < 30; ++i) client.Send(megabyte);
    EXPECT_THAT(client.UntilClosed(), StartsWith("HTTP/1.1 413 "));
  }
}

TEST_F(Http1Test, TakesTargetsInAbsoluteForm) {
  Client client = Connect();
  for (const auto& [target, path] : {std::pair("http://h/a?b=c", "/a?b=c"), std::pair("HTTPS://h:6443/a/b", "/a/b"),
                                     std::pair("http://h", "/"), std::pair("http://h?x=1", "/?x=1")}) {
    client.Send("GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client.Answer(), StartsWith("GET " + std::string(path) + " ")) << target;
  }
  for (const char* target : {"h:80", "ftp://h/a", "http:///a", "*"}) {
    EXPECT_THAT(Refusal("GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 400 "))
        << target;
  }
}

}  // namespace
}  // namespace kgen::testing
