// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/http1_session.h"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "net/response_buffer.h"

namespace kgen::net {
namespace {

namespace http = boost::beast::http;
constexpr std::size_t kMaxDiscarded = 64 * 1024 * 1024;  // of a body that is too large

class Session;

// The response to one request. A reset breaks the connection, because HTTP/1.1 cannot reset a single request.
class Response final : public ResponseBuffer {
 public:
  // `session` must live until Close().
  Response(Shared<EventLoop> loop, Session* session) : ResponseBuffer(std::move(loop)), session_(session) {}

  bool begun = false;    // the head has been sent
  bool chunked = false;  // otherwise a content length or the end of the connection delimits the body

 private:
  void OnKick() override;

  Session* const session_;
};

class Session final : public Http1Session {
 public:
  Session(Shared<EventLoop> loop, Shared<Wire> wire, User* user, const Limits& limits)
      : loop_(std::move(loop)), wire_(std::move(wire)), user_(user), limits_(limits) {}

  void OnBytes(std::string_view plain) override {
    if (user_ == nullptr) return;
    if (closing_) return Discard(plain.size());
    if (response_ && input_.size() + plain.size() > limits_.max_ahead) return user_->OnHttp1Close();
    input_ += plain;
  }
  void OnBatchEnd() override { Read(); }
  void OnDrained() override {
    if (closing_) return CloseOnceSent();
    Flush();
  }
  void CloseAfterResponse() override { keep_alive_ = false; }
  void Close() override {
    User* user = std::exchange(user_, nullptr);
    if (user == nullptr || !response_) return;
    std::exchange(response_, {})->Close();
    user->OnHttp1End();
  }
  void OnKick(Response& response) {
    if (user_ == nullptr || &response != response_.get()) return;
    const Shared<Session> self(this);
    const bool reset = response.Locked([](const Response::State& state) { return state.reset.has_value(); });
    if (reset) return user_->OnHttp1Close();
    Flush();
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  void Read();
  void Begin();
  void Refuse(http::status status, std::string_view why);
  void Discard(std::size_t bytes);
  void Flush();
  std::string HeadOf(const Response::State& state) const;
  void AppendBody(std::string& out, std::string_view piece) const;
  void Finish();
  void CloseOnceSent() {
    if (user_ == nullptr || wire_->backlog() > 0) return;
    discards_ ? wire_->FinishSending() : user_->OnHttp1Close();
  }

  const Shared<EventLoop> loop_;
  const Shared<Wire> wire_;
  User* user_;  // null after Close()
  const Limits limits_;
  std::string input_;  // not parsed yet
  std::optional<Parser> parser_;
  bool continued_ = false;                                  // 100 Continue has been sent
  Shared<Response> response_;                               // to the current request
  bool keep_alive_ = true, is_head_ = false, old_ = false;  // of that request; old: HTTP/1.0, which has no chunks
  bool closing_ = false;                                    // closes once everything has been sent
  // Whether to read and discard until the client closes. The client may still be sending a body, and closing a
  // connection with unread bytes resets it, so that the client loses the response.
  bool discards_ = false;
  std::size_t discarded_ = 0;
};

void Response::OnKick() { session_->OnKick(*this); }

void Session::Read() {
  while (user_ != nullptr && !response_ && !closing_ && !input_.empty()) {
    if (!parser_) {
      parser_.emplace();
      parser_->eager(true);
      parser_->header_limit(limits_.max_header);
      parser_->body_limit(limits_.max_body);
      continued_ = false;
    }
    boost::system::error_code error;
    const std::size_t used = parser_->put(boost::asio::buffer(input_), error);
    input_.erase(0, used);
    if (error == http::error::header_limit) {
      return Refuse(http::status::request_header_fields_too_large,
                    "the header exceeds " + std::to_string(limits_.max_header) + " bytes");
    }
    if (error == http::error::body_limit) {
      return Refuse(http::status::payload_too_large, "the body exceeds the limit of this server");
    }
    if (error && error != http::error::need_more) return Refuse(http::status::bad_request, error.message());
    if (error == http::error::need_more && input_.size() > limits_.max_header) {
      return Refuse(http::status::bad_request,
                    "a chunk's header or trailer exceeds " + std::to_string(limits_.max_header) + " bytes");
    }
    if (parser_->is_header_done() && parser_->get().count(http::field::transfer_encoding) != 0 && !parser_->chunked()) {
      return Refuse(http::status::bad_request, "the only transfer encoding is chunked");
    }
    if (parser_->is_done()) {
      Begin();
      continue;
    }
    if (parser_->is_header_done() && !std::exchange(continued_, true)) {
      const auto expect = parser_->get()[http::field::expect];
      if (boost::beast::iequals(expect, "100-continue")) {
        wire_->Write("HTTP/1.1 100 Continue\r\n\r\n");
      } else if (!expect.empty()) {
        return Refuse(http::status::expectation_failed, "the only expectation that is met is 100-continue");
      }
    }
    if (error == http::error::need_more || used == 0) return;
  }
}

// Returns the path and the query of a target in origin form ("/api") or, as for a proxy, in absolute form
// ("http://host:80/api").
std::optional<std::string> PathOf(std::string_view target) {
  if (target.starts_with('/')) return std::string(target);
  const std::size_t authority = target.find("://");
  if (authority == std::string_view::npos) return std::nullopt;
  const std::string_view before = target.substr(0, authority);
  const boost::beast::string_view scheme(before.data(), before.size());
  if (!boost::beast::iequals(scheme, "http") && !boost::beast::iequals(scheme, "https")) return std::nullopt;
  target.remove_prefix(authority + 3);
  const std::size_t end = std::min(target.find_first_of("/?"), target.size());
  if (end == 0) return std::nullopt;
  target.remove_prefix(end);
  return (target.starts_with('/') ? "" : "/") + std::string(target);
}

// Called when a whole request has arrived.
void Session::Begin() {
  Parser::value_type message = parser_->release();
  parser_.reset();
  const std::string_view target(message.target().data(), message.target().size());
  const std::optional<std::string> path = PathOf(target);
  if (!path) return Refuse(http::status::bad_request, "the target of the request is neither a path nor a URL");
  old_ = message.version() < 11;
  if (!old_ && message.count(http::field::host) != 1) {
    return Refuse(http::status::bad_request, "there must be one Host header");
  }
  keep_alive_ = message.keep_alive();
  is_head_ = message.method() == http::verb::head;
  ServerRequest request{.method = std::string(message.method_string()), .path = *path};
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    request.headers.push_back({std::move(name), std::string(field.value())});
  }
  request.body = std::move(message.body());
  response_ = MakeShared<Response>(loop_, this);
  user_->OnHttp1Request(std::move(request), response_);
}

void Session::Refuse(http::status status, std::string_view why) {
  const std::string line = std::to_string(static_cast<int>(status)) + " " + std::string(http::obsolete_reason(status));
  const std::string body = line + ": " + std::string(why) + "\n";
  wire_->Write("HTTP/1.1 " + line +
               "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  closing_ = true;
  discards_ = status == http::status::payload_too_large;
  input_ = {};
  CloseOnceSent();
}

void Session::Discard(std::size_t bytes) {
  discarded_ += bytes;
  if (discards_ && discarded_ > kMaxDiscarded) user_->OnHttp1Close();
}

std::string Session::HeadOf(const Response::State& state) const {
  std::string head = "HTTP/1.1 " + std::to_string(state.status) + " " +
                     std::string(http::obsolete_reason(static_cast<http::status>(state.status))) + "\r\n";
  for (const HttpHeader& header : state.headers) head += header.name + ": " + header.value + "\r\n";
  if (state.ended) {
    head += "content-length: " + std::to_string(state.rest().size()) + "\r\n";
  } else if (response_->chunked) {
    head += "transfer-encoding: chunked\r\n";
  }
  return head + (keep_alive_ ? "\r\n" : "connection: close\r\n\r\n");
}

void Session::AppendBody(std::string& out, std::string_view piece) const {
  if (piece.empty() || is_head_) return;
  if (!response_->chunked) {
    out += piece;
    return;
  }
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
  out.append(size).append(piece).append("\r\n");
}

// Passes as much of the response to the network as it accepts.
void Session::Flush() {
  if (user_ == nullptr || !response_) return;
  const Shared<Response> response = response_;
  std::string out;
  bool over = false, drained = false;
  response->Locked([&](Response::State& state) {
    if (state.status == 0) return;
    if (!std::exchange(response->begun, true)) {
      if (!state.ended && old_) keep_alive_ = false;
      response->chunked = !state.ended && !old_;
      out = HeadOf(state);
    }
    const std::size_t held = wire_->backlog() + out.size();
    const std::size_t size = held < limits_.max_output ? std::min(limits_.max_output - held, state.rest().size()) : 0;
    AppendBody(out, state.rest().substr(0, size));
    if (!state.Take(size)) return;
    drained = size > 0;
    over = state.ended;
    if (over && response->chunked && !is_head_) out += "0\r\n\r\n";
  });
  if (!out.empty()) wire_->Write(out);
  if (over) return Finish();
  if (drained && response->wants_drained()) response->CallDrained();
}

void Session::Finish() {
  std::exchange(response_, {})->Close();
  user_->OnHttp1End();
  if (!keep_alive_) {
    closing_ = true;
    return CloseOnceSent();
  }
  // Handles the pipelined input.
  if (!input_.empty()) loop_->Post([self = Shared<Session>(this)] { self->Read(); });
}

}  // namespace

Shared<Http1Session> Http1Session::Make(Shared<EventLoop> loop, Shared<Wire> wire, User* user, const Limits& limits) {
  return MakeShared<Session>(std::move(loop), std::move(wire), user, limits);
}

}  // namespace kgen::net
