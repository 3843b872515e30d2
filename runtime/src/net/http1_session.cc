// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/http1_session.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "net/response_buffer.h"

namespace kgen::net {
namespace {

namespace http = boost::beast::http;
constexpr std::size_t kMaxDiscarded = 64 * 1024 * 1024;  // of a body that is too large

// The body of a request, as Beast wants it: a string that grows with what arrives. Beast's own would allocate at once
// what the head announces.
struct GrowingBody {
  using value_type = std::string;
  class reader {  // NOLINT(readability-identifier-naming): Beast calls it so
   public:
    template <typename Head>
    reader(Head&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& length, boost::system::error_code& error) {
      announced_ = length.value_or(0);
      error = {};
    }
    template <typename Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      const std::size_t before = body_.size();
      for (const auto piece : boost::beast::buffers_range_ref(buffers)) {
        Reserve(body_.size() + piece.size());
        body_.append(static_cast<const char*>(piece.data()), piece.size());
      }
      error = {};
      return body_.size() - before;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    // Doubles, but does not go beyond the announced size.
    void Reserve(std::size_t size) {
      if (size <= body_.capacity()) return;
      body_.reserve(std::max<std::size_t>(size, std::min<std::uint64_t>(2 * size, announced_)));
    }

    value_type& body_;
    std::uint64_t announced_ = 0;
  };
};

class Http1SessionImpl;

// The response to one request. A reset breaks the connection, because HTTP/1.1 cannot reset a single request.
class Response final : public ResponseBuffer {
 public:
  // `session` must live until Close().
  Response(Shared<EventLoop> loop, Http1SessionImpl* session) : ResponseBuffer(std::move(loop)), session_(session) {}

  bool begun = false;    // the head has been sent
  bool chunked = false;  // otherwise a content length or the end of the connection delimits the body

 private:
  void OnKick() override;

  Http1SessionImpl* const session_;
};

class Http1SessionImpl final : public Http1Session {
 public:
  Http1SessionImpl(Shared<EventLoop> loop, Shared<Wire> wire, User* user, const Limits& limits)
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
  void Resume() override { Read(); }
  void CloseAfterResponse() override {
    last_ = true;
    keep_alive_ = false;
  }
  void Close() override {
    User* user = std::exchange(user_, nullptr);
    if (user == nullptr || !response_) return;
    std::exchange(response_, {})->Close();
    user->OnHttp1End();
  }
  void OnKick(Response& response) {
    if (user_ == nullptr || &response != response_.get()) return;
    const Shared<Http1SessionImpl> self(this);
    const bool reset = response.Locked([](const Response::State& state) { return state.reset.has_value(); });
    if (reset) return user_->OnHttp1Close();
    Flush();
  }

 private:
  using Parser = http::request_parser<GrowingBody>;

  void Read();
  bool Parse();
  std::optional<std::pair<http::status, std::string>> WhyRefused(const boost::system::error_code& error) const;
  bool MayTakeBody();
  bool BeginBody();
  bool Expect();
  void Begin();
  void Refuse(http::status status, std::string_view why);
  void RefuseBody();
  void ReplyAndClose(const std::string& status_line, std::string_view content_type, std::string_view body);
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
  Shared<Response> response_;                               // to the current request
  bool keep_alive_ = true, is_head_ = false, old_ = false;  // of that request; old: HTTP/1.0, which has no chunks
  bool last_ = false;                                       // no request is taken after the response
  bool closing_ = false;                                    // closes once everything has been sent
  // Whether to read and discard until the client closes. The client may still be sending a body, and closing a
  // connection with unread bytes resets it, so that the client loses the response.
  bool discards_ = false;
  std::size_t discarded_ = 0;
};

void Response::OnKick() { session_->OnKick(*this); }

void Http1SessionImpl::Read() {
  const Shared<Http1SessionImpl> self(this);
  while (user_ != nullptr && !response_ && !closing_ && !input_.empty()) {
    if (!parser_) {
      parser_.emplace();
      parser_->header_limit(limits_.max_header);
      parser_->body_limit(boost::none);  // known after the head
    }
    if (!MayTakeBody() || !Parse()) return;
  }
}

// Parses some of the input. Returns whether there may be more to do.
bool Http1SessionImpl::Parse() {
  const bool in_body = parser_->is_header_done();
  boost::system::error_code error;
  const std::size_t used = parser_->put(boost::asio::buffer(input_), error);
  input_.erase(0, used);
  if (error == http::error::body_limit) {
    RefuseBody();
    return false;
  }
  if (const auto why = WhyRefused(error)) {
    Refuse(why->first, why->second);
    return false;
  }
  if (!in_body && parser_->is_header_done() && !parser_->is_done() && !BeginBody()) return false;
  if (parser_->is_done()) {
    Begin();
    return true;
  }
  return error != http::error::need_more && used > 0;
}

std::optional<std::pair<http::status, std::string>> Http1SessionImpl::WhyRefused(
    const boost::system::error_code& error) const {
  const auto exceeds = " exceeds " + std::to_string(limits_.max_header) + " bytes";
  if (error == http::error::header_limit) {
    return std::pair(http::status::request_header_fields_too_large, "the header" + exceeds);
  }
  if (error && error != http::error::need_more) return std::pair(http::status::bad_request, error.message());
  if (error == http::error::need_more && input_.size() > limits_.max_header) {
    return std::pair(http::status::bad_request, "a chunk's header or trailer" + exceeds);
  }
  if (parser_->is_header_done() && parser_->get().count(http::field::transfer_encoding) != 0 && !parser_->chunked()) {
    return std::pair(http::status::bad_request, std::string("the only transfer encoding is chunked"));
  }
  return std::nullopt;
}

// Asks the user before a part of a body is taken from the input.
bool Http1SessionImpl::MayTakeBody() {
  if (!parser_->is_header_done()) return true;
  std::uint64_t next = input_.size();
  if (const auto left = parser_->content_length_remaining()) next = std::min<std::uint64_t>(next, *left);
  return user_->OnHttp1Body(parser_->get().body().size() + static_cast<std::size_t>(next)) && user_ != nullptr;
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

// A request without its body.
template <typename Message>
ServerRequest RequestOf(const Message& message, std::string path) {
  ServerRequest request{.method = std::string(message.method_string()), .path = std::move(path)};
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    request.headers.push_back({std::move(name), std::string(field.value())});
  }
  return request;
}

std::string_view TargetOf(boost::beast::string_view target) { return {target.data(), target.size()}; }

// Called when the head of a request has arrived, and a body follows. Returns whether to read it.
bool Http1SessionImpl::BeginBody() {
  const auto& message = parser_->get();
  const std::string_view target = TargetOf(message.target());
  std::optional<std::uint64_t> length;
  if (const auto announced = parser_->content_length()) length = *announced;
  const ServerRequest head = RequestOf(message, PathOf(target).value_or(std::string(target)));
  const std::size_t limit = user_->OnHttp1Head(head, length).value_or(limits_.max_body);
  if (user_ == nullptr) return false;
  if (length && *length > limit) {
    RefuseBody();
    return false;
  }
  parser_->body_limit(limit);
  parser_->eager(true);
  return Expect();
}

// Meets the expectation of a head. Returns whether it can.
bool Http1SessionImpl::Expect() {
  const auto expect = parser_->get()[http::field::expect];
  if (expect.empty()) return true;
  if (!boost::beast::iequals(expect, "100-continue")) {
    Refuse(http::status::expectation_failed, "the only expectation that is met is 100-continue");
    return false;
  }
  // A client that sends the body already does not wait.
  if (input_.empty()) wire_->Write("HTTP/1.1 100 Continue\r\n\r\n");
  return true;
}

// Called when a whole request has arrived.
void Http1SessionImpl::Begin() {
  Parser::value_type message = parser_->release();
  parser_.reset();
  std::optional<std::string> path = PathOf(TargetOf(message.target()));
  if (!path) return Refuse(http::status::bad_request, "the target of the request is neither a path nor a URL");
  old_ = message.version() < 11;
  if (!old_ && message.count(http::field::host) != 1) {
    return Refuse(http::status::bad_request, "there must be one Host header");
  }
  keep_alive_ = message.keep_alive() && !last_;
  is_head_ = message.method() == http::verb::head;
  ServerRequest request = RequestOf(message, *std::move(path));
  request.body = std::move(message.body());
  response_ = MakeShared<Response>(loop_, this);
  user_->OnHttp1Request(std::move(request), response_);
}

void Http1SessionImpl::Refuse(http::status status, std::string_view why) {
  const std::string line = std::to_string(static_cast<int>(status)) + " " + std::string(http::obsolete_reason(status));
  discards_ = status == http::status::payload_too_large;
  ReplyAndClose(line, "text/plain; charset=utf-8", line + ": " + std::string(why) + "\n");
}

void Http1SessionImpl::RefuseBody() {
  const std::optional<Reply> reply = user_->OnHttp1TooLarge();
  if (user_ == nullptr) return;
  if (!reply) return Refuse(http::status::payload_too_large, "the body exceeds the limit of this server");
  discards_ = true;
  ReplyAndClose(std::to_string(reply->status) + " " +
                    std::string(http::obsolete_reason(static_cast<http::status>(reply->status))),
                reply->content_type, reply->body);
}

void Http1SessionImpl::ReplyAndClose(const std::string& status_line, std::string_view content_type,
                                     std::string_view body) {
  std::string text = "HTTP/1.1 " + status_line + "\r\nContent-Type: ";
  text.append(content_type).append("\r\nConnection: close\r\nContent-Length: ").append(std::to_string(body.size()));
  wire_->Write(text.append("\r\n\r\n").append(body));
  closing_ = true;
  input_ = {};
  CloseOnceSent();
}

void Http1SessionImpl::Discard(std::size_t bytes) {
  discarded_ += bytes;
  if (discards_ && discarded_ > kMaxDiscarded) user_->OnHttp1Close();
}

std::string Http1SessionImpl::HeadOf(const Response::State& state) const {
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

void Http1SessionImpl::AppendBody(std::string& out, std::string_view piece) const {
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
void Http1SessionImpl::Flush() {
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

void Http1SessionImpl::Finish() {
  std::exchange(response_, {})->Close();
  user_->OnHttp1End();
  if (!keep_alive_) {
    closing_ = true;
    return CloseOnceSent();
  }
  // Handles the pipelined input.
  if (!input_.empty()) loop_->Post([self = Shared<Http1SessionImpl>(this)] { self->Read(); });
}

}  // namespace

Shared<Http1Session> Http1Session::Make(Shared<EventLoop> loop, Shared<Wire> wire, User* user, const Limits& limits) {
  return MakeShared<Http1SessionImpl>(std::move(loop), std::move(wire), user, limits);
}

}  // namespace kgen::net
