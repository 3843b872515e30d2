// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A Transport that answers from a script, and remembers what it was asked.
//
//   transport->Reply({.status = 200, .body = "{}"});       answers the next request that has no answer yet
//   transport->Hold();                                     the next one is left to the test:
//   transport->last()->Head(200) ... EXPECT_EQ(transport->requests()[0].path, "/api/v1/pods");
#ifndef KGEN_TESTS_SUPPORT_FAKE_TRANSPORT_H_
#define KGEN_TESTS_SUPPORT_FAKE_TRANSPORT_H_

#include <deque>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/net/transport.h"

namespace kgen::testing {

// Tests name the members in this order.
struct FakeReply {  // NOLINT(clang-analyzer-optin.performance.Padding): the order is worth more here
  int status = 200;
  std::string body{};
  std::vector<HttpHeader> headers{};
  std::size_t piece = 0;          // the body comes in pieces of this size; 0: whole
  std::optional<Error> broken{};  // how it ends, if not well; with status 0 there is no head
  bool lost = false;              // because the connection was
  bool throws = false;            // Start() itself throws std::bad_alloc, as where no memory is left
};

// One request under way, for tests that answer step by step.
class FakeExchange final : public Exchange {
 public:
  FakeExchange(HttpRequest request, Shared<ResponseSink> sink) : request_(std::move(request)), sink_(std::move(sink)) {}

  void Consumed(std::size_t bytes) noexcept override { consumed_ += bytes; }
  void Cancel() noexcept override {
    cancelled_ = true;
    End(Fail(Code::kCancelled, "cancelled"));
  }

  void Head(int status, std::vector<HttpHeader> headers = {}) { sink_->OnHead({status, std::move(headers)}); }
  void Bytes(std::string bytes) { sink_->OnBytes(std::move(bytes)); }
  void End(HttpEnd end = {}) {
    if (const Shared<ResponseSink> sink = std::exchange(sink_, {})) sink->OnEnd(std::move(end));
  }

  const HttpRequest& request() const noexcept { return request_; }
  std::size_t consumed() const noexcept { return consumed_; }
  bool cancelled() const noexcept { return cancelled_; }
  bool ended() const noexcept { return !sink_; }

 private:
  const HttpRequest request_;
  Shared<ResponseSink> sink_;
  std::size_t consumed_ = 0;
  bool cancelled_ = false;
};

class FakeTransport final : public Transport {
 public:
  void Reply(FakeReply reply) { script_.push_back(std::move(reply)); }
  void Hold() { script_.push_back(std::nullopt); }

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    exchanges_.push_back(MakeShared<FakeExchange>(std::move(request), std::move(sink)));
    const Shared<FakeExchange> exchange = exchanges_.back();
    if (script_.empty()) {
      exchange->End(Fail(Code::kInternal, "the test has no answer for " + exchange->request().path));
    } else {
      const std::optional<FakeReply> reply = std::move(script_.front());
      script_.pop_front();
      if (reply && reply->throws) throw std::bad_alloc();
      if (reply) Play(*exchange, *reply);
    }
    return exchange;
  }
  // Only remembered: the connections that a test makes one after the other share this transport.
  void Close() noexcept override { closed_ = true; }

  // Ends and drops running exchanges: an exchange holds its creator, which holds the transport.
  void EndAll() {
    for (const Shared<FakeExchange>& exchange : std::exchange(exchanges_, {})) {
      exchange->End(Fail(Code::kCancelled, "the test is over"));
    }
  }

  std::size_t size() const noexcept { return exchanges_.size(); }
  FakeExchange& at(std::size_t i) { return *exchanges_.at(i); }
  FakeExchange& last() { return *exchanges_.back(); }
  const HttpRequest& request(std::size_t i) { return at(i).request(); }
  bool closed() const noexcept { return closed_; }
  std::size_t left() const noexcept { return script_.size(); }

 private:
  static void Play(FakeExchange& exchange, const FakeReply& reply) {
    if (reply.status != 0) exchange.Head(reply.status, reply.headers);
    const std::size_t piece = reply.piece == 0 ? reply.body.size() : reply.piece;
    for (std::size_t at = 0; at < reply.body.size(); at += piece) exchange.Bytes(reply.body.substr(at, piece));
    exchange.End(reply.broken ? HttpEnd(Fail(*reply.broken), reply.lost) : HttpEnd());
  }

  std::deque<std::optional<FakeReply>> script_;
  std::vector<Shared<FakeExchange>> exchanges_;
  bool closed_ = false;
};

inline std::string HeaderOf(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& header : request.headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_FAKE_TRANSPORT_H_
