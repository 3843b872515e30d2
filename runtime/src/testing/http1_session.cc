// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/http1_session.h"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "core/mutex.h"

namespace kgen::testing {
namespace {

namespace http = boost::beast::http;
using net::EventLoop;
using net::Wire;

constexpr std::uint32_t kMaxHeader = 64 * 1024;
constexpr std::size_t kMaxAhead = 1024 * 1024;  // of bytes that a client sends before it has its answer
constexpr std::size_t kOutputBytes = 256 * 1024;

class Session;

// The answer to one request. Its buffer is filled by any thread and emptied by the server's.
class Response final : public ResponseWriter {
 public:
  Response(Shared<EventLoop> loop, Session* session) : loop_(std::move(loop)), session_(session) {}

  void Head(int status, std::vector<HttpHeader> headers) override {
    const MutexLock lock(mutex_);
    status_ = status;
    headers_ = std::move(headers);
    Kick();
  }
  void Write(std::string bytes) override {
    const MutexLock lock(mutex_);
    if (closed_ || ended_) return;
    buffer_ += bytes;
    Kick();
  }
  void End() override {
    const MutexLock lock(mutex_);
    ended_ = true;
    Kick();
  }
  // HTTP/1.1 has no error for one stream: the connection breaks.
  void Reset(std::uint32_t) override {
    const MutexLock lock(mutex_);
    reset_ = true;
    Kick();
  }
  std::size_t backlog() const override {
    const MutexLock lock(mutex_);
    return buffer_.size() - taken_;
  }
  void OnDrained(Task call) override {
    loop_->Post([self = Shared<Response>(this), call = std::move(call)]() mutable {
      if (self->session_ != nullptr) self->drained_ = std::move(call);
    });
  }
  void OnClosed(Task call) override {
    loop_->Post([self = Shared<Response>(this), call = std::move(call)]() mutable {
      if (self->session_ == nullptr) return call();
      self->on_closed_ = std::move(call);
    });
  }
  bool closed() const override {
    const MutexLock lock(mutex_);
    return closed_;
  }

 private:
  friend class Session;
  void Kick() KGEN_REQUIRES(mutex_);
  void Close() {
    session_ = nullptr;
    drained_ = nullptr;
    {
      const MutexLock lock(mutex_);
      closed_ = true;
      buffer_ = {};
      taken_ = 0;
    }
    if (on_closed_) loop_->Post(std::exchange(on_closed_, nullptr));
  }

  const Shared<EventLoop> loop_;
  // On the server's thread.
  Session* session_;  // null after the end
  Task drained_, on_closed_;
  bool begun_ = false;    // the head is sent
  bool chunked_ = false;  // else there is a length, or the end of the connection ends the body

  mutable Mutex mutex_;
  int status_ KGEN_GUARDED_BY(mutex_) = 0;
  std::vector<HttpHeader> headers_ KGEN_GUARDED_BY(mutex_);
  std::string buffer_ KGEN_GUARDED_BY(mutex_);
  std::size_t taken_ KGEN_GUARDED_BY(mutex_) = 0;
  bool ended_ KGEN_GUARDED_BY(mutex_) = false;
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
  bool kicked_ KGEN_GUARDED_BY(mutex_) = false;
  bool reset_ KGEN_GUARDED_BY(mutex_) = false;
};

class Session final : public Http1Session {
 public:
  Session(Shared<EventLoop> loop, Shared<Wire> wire, User* user, std::size_t max_body)
      : loop_(std::move(loop)), wire_(std::move(wire)), user_(user), max_body_(max_body) {}

  void OnBytes(std::string_view plain) override {
    if (user_ == nullptr || closing_) return;
    if (response_ && input_.size() + plain.size() > kMaxAhead) return user_->OnHttp1Close();
    input_ += plain;
  }
  void OnBatchEnd() override { Read(); }
  void OnDrained() override {
    if (closing_) return CloseOnceSent();
    Flush();
  }
  void Close() override {
    User* user = std::exchange(user_, nullptr);
    if (user == nullptr || !response_) return;
    std::exchange(response_, {})->Close();
    user->OnHttp1End();
  }
  void OnKick(Response& response) {
    bool reset;
    {
      const MutexLock lock(response.mutex_);
      response.kicked_ = false;
      reset = response.reset_;
    }
    if (user_ == nullptr || &response != response_.get()) return;
    const Shared<Session> self(this);
    if (reset) return user_->OnHttp1Close();
    Flush();
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  void Read();
  void Begin();
  void Refuse(http::status status, std::string_view why);
  void Flush();
  std::string HeadOf(Response& response, bool whole) const KGEN_REQUIRES(response.mutex_);
  void AppendBody(std::string& out, std::string_view piece) const;
  void Finish();
  void CloseOnceSent() {
    if (user_ != nullptr && wire_->backlog() == 0) user_->OnHttp1Close();
  }

  const Shared<EventLoop> loop_;
  const Shared<Wire> wire_;
  User* user_;  // null after Close()
  const std::size_t max_body_;
  std::string input_;  // not parsed yet
  std::optional<Parser> parser_;
  bool continued_ = false;                                  // the client was told to send the body
  Shared<Response> response_;                               // of the request under way
  bool keep_alive_ = true, is_head_ = false, old_ = false;  // of that request; old: HTTP/1.0, which knows no chunks
  bool closing_ = false;                                    // once everything is sent
};

void Response::Kick() {
  if (std::exchange(kicked_, true)) return;
  loop_->Post([self = Shared<Response>(this)] {
    if (self->session_ != nullptr) self->session_->OnKick(*self);
  });
}

void Session::Read() {
  while (user_ != nullptr && !response_ && !closing_ && !input_.empty()) {
    if (!parser_) {
      parser_.emplace();
      parser_->eager(true);
      parser_->header_limit(kMaxHeader);
      parser_->body_limit(max_body_);
      continued_ = false;
    }
    boost::system::error_code error;
    const std::size_t used = parser_->put(boost::asio::buffer(input_), error);
    input_.erase(0, used);
    if (error == http::error::header_limit) {
      return Refuse(http::status::request_header_fields_too_large, "the header exceeds 64 KiB");
    }
    if (error == http::error::body_limit) {
      return Refuse(http::status::payload_too_large, "the body exceeds the limit of this server");
    }
    if (error && error != http::error::need_more) return Refuse(http::status::bad_request, error.message());
    if (error == http::error::need_more && input_.size() > kMaxHeader) {
      return Refuse(http::status::bad_request, "a chunk's header or trailer exceeds 64 KiB");
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

// A whole request is there.
void Session::Begin() {
  Parser::value_type message = parser_->release();
  parser_.reset();
  const std::string_view target(message.target().data(), message.target().size());
  if (!target.starts_with('/')) return Refuse(http::status::bad_request, "the target of the request is not a path");
  old_ = message.version() < 11;
  if (!old_ && message.count(http::field::host) != 1) {
    return Refuse(http::status::bad_request, "there must be one Host header");
  }
  keep_alive_ = message.keep_alive();
  is_head_ = message.method() == http::verb::head;
  ServerRequest request{.method = std::string(message.method_string()), .path = std::string(target)};
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
  CloseOnceSent();
}

std::string Session::HeadOf(Response& response, bool whole) const {
  std::string head = "HTTP/1.1 " + std::to_string(response.status_) + " " +
                     std::string(http::obsolete_reason(static_cast<http::status>(response.status_))) + "\r\n";
  for (const HttpHeader& header : response.headers_) head += header.name + ": " + header.value + "\r\n";
  if (whole) {
    head += "content-length: " + std::to_string(response.buffer_.size()) + "\r\n";
  } else if (response.chunked_) {
    head += "transfer-encoding: chunked\r\n";
  }
  return head + (keep_alive_ ? "\r\n" : "connection: close\r\n\r\n");
}

void Session::AppendBody(std::string& out, std::string_view piece) const {
  if (piece.empty() || is_head_) return;
  if (!response_->chunked_) {
    out += piece;
    return;
  }
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
  out.append(size).append(piece).append("\r\n");
}

// Hands the network what there is of the answer, as far as it takes it.
void Session::Flush() {
  if (user_ == nullptr || !response_) return;
  const Shared<Response> response = response_;
  std::string out;
  bool over = false, drained = false;
  {
    const MutexLock lock(response->mutex_);
    if (response->status_ == 0) return;
    if (!std::exchange(response->begun_, true)) {
      if (!response->ended_ && old_) keep_alive_ = false;
      response->chunked_ = !response->ended_ && !old_;
      out = HeadOf(*response, response->ended_);
    }
    const std::size_t held = wire_->backlog() + out.size();
    const std::size_t size =
        held < kOutputBytes ? std::min(kOutputBytes - held, response->buffer_.size() - response->taken_) : 0;
    AppendBody(out, std::string_view(response->buffer_).substr(response->taken_, size));
    response->taken_ += size;
    if (response->taken_ == response->buffer_.size()) {
      response->buffer_.clear();
      response->taken_ = 0;
      drained = size > 0;
      over = response->ended_;
      if (over && response->chunked_ && !is_head_) out += "0\r\n\r\n";
    }
  }
  if (!out.empty()) wire_->Write(out);
  if (over) return Finish();
  if (drained && response->drained_) response->drained_();
}

void Session::Finish() {
  std::exchange(response_, {})->Close();
  user_->OnHttp1End();
  if (!keep_alive_) {
    closing_ = true;
    return CloseOnceSent();
  }
  // What the client has sent ahead.
  if (!input_.empty()) loop_->Post([self = Shared<Session>(this)] { self->Read(); });
}

}  // namespace

Shared<Http1Session> Http1Session::Make(Shared<EventLoop> loop, Shared<Wire> wire, User* user, std::size_t max_body) {
  return MakeShared<Session>(std::move(loop), std::move(wire), user, max_body);
}

}  // namespace kgen::testing
