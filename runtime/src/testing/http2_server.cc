// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/http2_server.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "net/event_loop.h"
#include "net/http1_session.h"
#include "net/response_buffer.h"
#include "net/tls.h"
#include "net/wire.h"

namespace kgen::testing {
namespace {

using net::EventLoop;
using net::Http1Session;
using net::ResponseBuffer;
using net::TcpListener;
using net::TcpStream;
using net::TlsContext;
using net::TlsEngine;
using net::Wire;

constexpr std::size_t kOutputBytes = 256 * 1024;
constexpr std::uint32_t kRequestWindow = 1024 * 1024;
constexpr std::size_t kMaxDiscarded = 64 * 1024 * 1024;  // of a body that is too large

// Selects "h2" if the client offers it, otherwise "http/1.1".
int SelectProtocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
                   void*) {
  constexpr std::string_view kProtocols = "\2h2\x8http/1.1";
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(kProtocols.data()),
                                           static_cast<unsigned>(kProtocols.size()), in, in_size);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

class ServerSession;

// The response on one stream. All members on the server's thread.
class Response final : public ResponseBuffer {
 public:
  // `session` must live until Close().
  Response(Shared<EventLoop> loop, ServerSession* session, std::int32_t stream)
      : ResponseBuffer(std::move(loop)), session_(session), stream_(stream) {}

  std::int32_t stream() const noexcept { return stream_; }
  ServerRequest& request() noexcept { return request_; }
  // Takes a piece of the request's body. Responds with 413 to a body that is too large and drops it. Returns false if
  // the client has sent too much of it.
  bool TakeBody(std::string_view piece, std::size_t max_body);
  bool refused() const noexcept { return refused_ > 0; }
  // Copies a piece of the response's body for nghttp2.
  ssize_t Take(std::uint8_t* out, std::size_t size, std::uint32_t* flags);
  bool TakeDrained() { return std::exchange(was_drained_, false) && wants_drained(); }

  bool submitted = false;  // whether nghttp2 has the head

 private:
  void OnKick() override;

  ServerSession* const session_;
  const std::int32_t stream_;
  ServerRequest request_;
  std::size_t refused_ = 0;  // bytes of a body that is too large
  bool was_drained_ = false;
};

class Server;

// One connection.
class ServerSession final : public SharedObject, private Wire::User, private Http1Session::User {
 public:
  ServerSession(Server* server, Shared<EventLoop> loop, Shared<TcpStream> stream)
      : server_(server), loop_(std::move(loop)), wire_(MakeShared<Wire>(std::move(stream))) {}
  ~ServerSession() override { nghttp2_session_del(http2_); }

  void Start(const Shared<TlsContext>& tls, std::optional<std::size_t> cut, bool frozen);
  void OnKick(Response& response);
  void Freeze(bool freeze) { wire_->Freeze(freeze); }
  void GoAway();
  void ResetStreams(std::uint32_t error);
  void Limit(std::uint32_t streams);
  void Cut() { wire_->CutAfter(0); }
  void Close();

 private:
  struct Callbacks;

  void OnWireOpen() override;
  void OnWireBytes(std::string_view plain) override;
  void OnWireBatchEnd() override {
    const Shared<ServerSession> self(this);
    http1_ ? http1_->OnBatchEnd() : Flush();
  }
  void OnWireDrained() override {
    const Shared<ServerSession> self(this);
    http1_ ? http1_->OnDrained() : Flush();
  }
  void OnWireClosed(Error) override { Close(); }
  void OnHttp1Request(ServerRequest request, Shared<ResponseWriter> writer) override;
  void OnHttp1End() override;
  void OnHttp1Close() override { Close(); }
  void OnRequestEnd(Response& response);
  void Flush();

  Server* server_;
  const Shared<EventLoop> loop_;
  const Shared<Wire> wire_;
  nghttp2_session* http2_ = nullptr;
  Shared<Http1Session> http1_;  // instead of http2_
  std::unordered_map<std::int32_t, Shared<Response>> streams_;
  std::string output_;
  bool inside_ = false, closed_ = false;
};

class Server final : public Http2Server, private EventLoop::User {
 public:
  Server(const Http2ServerOptions& options, Shared<HttpHandler> handler, Shared<TlsContext> tls, std::string ca_pem)
      : options_(options),
        handler_(std::move(handler)),
        tls_(std::move(tls)),
        ca_pem_(std::move(ca_pem)),
        loop_(EventLoop::Make()),
        max_streams_(options.max_concurrent_streams) {}
  ~Server() override { Stop(); }

  Result<void> Listen() {
    auto listener =
        loop_->Listen({"127.0.0.1", options_.port}, [this](Shared<TcpStream> stream) { Accept(std::move(stream)); });
    if (!listener) return Fail(listener.error());
    listener_ = std::move(*listener);
    loop_->Post([this] { loop_->Register(this); });
    return {};
  }

  void Stop() noexcept override { loop_->Stop(); }
  std::uint16_t port() const noexcept override { return listener_->port(); }
  std::string url() const override {
    return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port());
  }
  const std::string& ca_pem() const noexcept override { return ca_pem_; }

  void Freeze(bool freeze) override {
    Each([freeze](ServerSession& session) { session.Freeze(freeze); }, [this, freeze] { frozen_ = freeze; });
  }
  void SendGoAway() override {
    Each([](ServerSession& session) { session.GoAway(); });
  }
  void ResetStreams(std::uint32_t error) override {
    Each([error](ServerSession& session) { session.ResetStreams(error); });
  }
  void RefuseNext(int count) override {
    loop_->Post([this, count] { refuse_ = count; });
  }
  void CutAfter(std::optional<std::size_t> bytes) override {
    loop_->Post([this, bytes] { cut_ = bytes; });
  }
  void CutNow() override {
    Each([](ServerSession& session) { session.Cut(); });
  }
  void SetMaxConcurrentStreams(std::uint32_t streams) override {
    Each([streams](ServerSession& session) { session.Limit(streams); }, [this, streams] { max_streams_ = streams; });
  }

  std::size_t connections() const noexcept override { return connections_; }
  std::size_t open_connections() const noexcept override { return open_connections_; }
  std::size_t open_streams() const noexcept override { return open_streams_; }
  std::size_t peak_streams() const noexcept override { return peak_streams_; }
  std::size_t pings() const noexcept override { return pings_; }

  // ---- For sessions, on the server's thread. ----
  std::uint32_t max_streams() const noexcept { return max_streams_; }
  std::size_t max_body() const noexcept { return options_.max_body; }
  bool http1() const noexcept { return options_.http1; }
  bool TakeRefusal() {
    if (refuse_ == 0) return false;
    --refuse_;
    return true;
  }
  void OnPing() {
    ++pings_;
    Changed();
  }
  void OnStreamOpen(std::size_t on_this_connection) {
    ++open_streams_;
    peak_streams_ = std::max(peak_streams_.load(), on_this_connection);
    Changed();
  }
  void OnStreamClose() {
    --open_streams_;
    Changed();
  }
  void Handle(ServerRequest request, Shared<ResponseWriter> writer) {
    handler_->OnRequest(std::move(request), std::move(writer));
  }
  void OnSessionClosed(ServerSession* session) {
    --open_connections_;
    std::erase_if(sessions_, [&](const auto& each) { return each.get() == session; });
    Changed();
  }

 private:
  void Accept(Shared<TcpStream> stream) {
    ++connections_;
    ++open_connections_;
    Changed();
    auto session = MakeShared<ServerSession>(this, loop_, std::move(stream));
    sessions_.push_back(session);
    session->Start(tls_, cut_, frozen_);
  }

  void Changed() {
    if (options_.on_change) options_.on_change();
  }

  template <typename Call>
  void Each(Call call, Task first = [] {}) {
    loop_->Post([this, call, first = std::move(first)]() mutable {
      first();
      for (const auto& session : std::vector(sessions_)) call(*session);
    });
  }

  void OnLoopStop() noexcept override {
    listener_->Close();
    for (const auto& session : std::exchange(sessions_, {})) session->Close();
  }

  const Http2ServerOptions options_;
  const Shared<HttpHandler> handler_;
  const Shared<TlsContext> tls_;
  const std::string ca_pem_;
  const Shared<EventLoop> loop_;
  Shared<TcpListener> listener_;
  // The members below are used on the server's thread.
  std::vector<Shared<ServerSession>> sessions_;
  std::uint32_t max_streams_;
  int refuse_ = 0;
  bool frozen_ = false;
  std::optional<std::size_t> cut_;

  std::atomic<std::size_t> connections_{0}, open_connections_{0}, open_streams_{0}, peak_streams_{0}, pings_{0};
};

void Response::OnKick() { session_->OnKick(*this); }

bool Response::TakeBody(std::string_view piece, std::size_t max_body) {
  if (refused_ == 0 && request_.body.size() + piece.size() <= max_body) {
    request_.body += piece;
    return true;
  }
  if (refused_ == 0) {
    request_.body = {};
    Head(413, {{"content-type", "text/plain; charset=utf-8"}});
    Write("the body exceeds the limit of this server\n");
    End();
  }
  refused_ += piece.size();
  return refused_ <= kMaxDiscarded;
}

ssize_t Response::Take(std::uint8_t* out, std::size_t size, std::uint32_t* flags) {
  return Locked([&](State& state) -> ssize_t {
    size = std::min(size, state.rest().size());
    std::memcpy(out, state.rest().data(), size);
    if (state.Take(size)) {
      was_drained_ = was_drained_ || size > 0;
      if (state.ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (size == 0 && !state.ended) return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(size);
  });
}

struct ServerSession::Callbacks {
  static ServerSession& Self(void* user) { return *static_cast<ServerSession*>(user); }
  static Response* Find(nghttp2_session* http2, std::int32_t stream) {
    return static_cast<Response*>(nghttp2_session_get_stream_user_data(http2, stream));
  }

  static int OnBegin(nghttp2_session* http2, const nghttp2_frame* frame, void* user) {
    ServerSession& self = Self(user);
    const std::int32_t stream = frame->hd.stream_id;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    if (self.server_->TakeRefusal()) {
      nghttp2_submit_rst_stream(http2, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
      return 0;
    }
    auto response = MakeShared<Response>(self.loop_, &self, stream);
    nghttp2_session_set_stream_user_data(http2, stream, response.get());
    self.streams_.emplace(stream, std::move(response));
    self.server_->OnStreamOpen(self.streams_.size());
    return 0;
  }

  static int OnHeader(nghttp2_session* http2, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t, void*) {
    Response* response = Find(http2, frame->hd.stream_id);
    if (response == nullptr) return 0;
    ServerRequest& request = response->request();
    std::string key(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":method") {
      request.method = std::move(text);
    } else if (key == ":path") {
      request.path = std::move(text);
    } else {
      request.headers.push_back({std::move(key), std::move(text)});
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* http2, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) Self(user).server_->OnPing();
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (Response* response = Find(http2, frame->hd.stream_id); response != nullptr) Self(user).OnRequestEnd(*response);
    return 0;
  }

  static int OnData(nghttp2_session* http2, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                    std::size_t size, void* user) {
    Response* response = Find(http2, stream);
    if (response == nullptr) return 0;
    if (!response->TakeBody({reinterpret_cast<const char*>(data), size}, Self(user).server_->max_body())) {
      nghttp2_submit_rst_stream(http2, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    }
    return 0;
  }

  static int OnClose(nghttp2_session* http2, std::int32_t stream, std::uint32_t, void* user) {
    ServerSession& self = Self(user);
    Response* response = Find(http2, stream);
    if (response == nullptr) return 0;
    const auto found = self.streams_.find(stream);
    const Shared<Response> held = std::move(found->second);
    self.streams_.erase(found);
    self.server_->OnStreamClose();
    held->Close();
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size, std::uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    return static_cast<Response*>(source->ptr)->Take(out, size, flags);
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, OnBegin);
    nghttp2_session_callbacks_set_on_header_callback(made, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, OnClose);
    return made;
  }
};

void ServerSession::Start(const Shared<TlsContext>& tls, std::optional<std::size_t> cut, bool frozen) {
  const Shared<ServerSession> self(this);
  if (frozen) wire_->Freeze(true);
  std::optional<TlsEngine> engine;
  if (tls) {
    auto made = TlsEngine::Server(tls);
    if (!made) return Close();
    engine.emplace(std::move(*made));
  }
  wire_->Start(this, std::move(engine));
  if (cut) wire_->CutAfter(*cut);
  if (!tls && !closed_) OnWireOpen();
}

void ServerSession::OnWireOpen() {
  if (server_->http1() && wire_->alpn() != "h2") {
    http1_ = Http1Session::Make(loop_, wire_, this, {.max_body = server_->max_body()});
    return;
  }
  static nghttp2_session_callbacks* const kCallbacks = Callbacks::Make();
  if (nghttp2_session_server_new(&http2_, kCallbacks, this) != 0) return Close();
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, server_->max_streams()},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kRequestWindow}};
  nghttp2_submit_settings(http2_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(http2_, NGHTTP2_FLAG_NONE, 0, 16 * kRequestWindow);
  Flush();
}

void ServerSession::OnHttp1Request(ServerRequest request, Shared<ResponseWriter> writer) {
  server_->OnStreamOpen(1);
  server_->Handle(std::move(request), std::move(writer));
}

void ServerSession::OnHttp1End() { server_->OnStreamClose(); }

void ServerSession::OnWireBytes(std::string_view plain) {
  const Shared<ServerSession> self(this);
  if (http1_) return http1_->OnBytes(plain);
  if (http2_ == nullptr || closed_) return;
  inside_ = true;
  const ssize_t taken =
      nghttp2_session_mem_recv(http2_, reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size());
  inside_ = false;
  if (taken < 0) Close();
}

void ServerSession::OnRequestEnd(Response& response) {
  // Posted, because the handler may respond immediately, which is not allowed in a callback of nghttp2.
  loop_->Post([self = Shared<ServerSession>(this), held = Shared<Response>(&response)] {
    if (!self->closed_ && !held->refused()) self->server_->Handle(std::move(held->request()), held);
  });
}

void ServerSession::OnKick(Response& response) {
  std::optional<std::uint32_t> reset;
  int status = 0;
  std::vector<HttpHeader> headers;
  response.Locked([&](Response::State& state) {
    reset = state.reset;
    status = state.status;
    if (!response.submitted) headers = std::move(state.headers);
  });
  if (reset) {
    nghttp2_submit_rst_stream(http2_, NGHTTP2_FLAG_NONE, response.stream(), *reset);
  } else if (response.submitted) {
    nghttp2_session_resume_data(http2_, response.stream());
  } else if (status != 0) {
    response.submitted = true;
    const std::string text = std::to_string(status);
    std::vector<nghttp2_nv> fields = {Field(":status", text)};
    for (const HttpHeader& header : headers) fields.push_back(Field(header.name, header.value));
    nghttp2_data_provider body{};
    body.source.ptr = &response;
    body.read_callback = Callbacks::ReadBody;
    nghttp2_submit_response(http2_, response.stream(), fields.data(), fields.size(), &body);
  }
  Flush();
}

void ServerSession::Flush() {
  if (inside_ || closed_ || http2_ == nullptr) return;
  const Shared<ServerSession> self(this);
  inside_ = true;
  output_.clear();
  ssize_t size = 0;
  while (wire_->backlog() + output_.size() < kOutputBytes) {
    const std::uint8_t* data = nullptr;
    size = nghttp2_session_mem_send(http2_, &data);
    if (size <= 0) break;
    output_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  inside_ = false;
  wire_->Write(output_);
  std::vector<Shared<Response>> drained;
  for (const auto& [stream, response] : streams_) {
    if (response->TakeDrained()) drained.push_back(response);
  }
  for (const auto& response : drained) response->CallDrained();
  // Waits until the kernel has everything, because closing the wire drops the bytes that it still holds.
  const bool over = nghttp2_session_want_read(http2_) == 0 && nghttp2_session_want_write(http2_) == 0;
  if (size < 0 || (over && wire_->backlog() == 0)) Close();
}

void ServerSession::GoAway() {
  if (http2_ == nullptr || closed_) return;
  nghttp2_submit_goaway(http2_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(http2_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  Flush();
}

void ServerSession::ResetStreams(std::uint32_t error) {
  if (http2_ == nullptr || closed_) return;
  for (const auto& [stream, response] : streams_) nghttp2_submit_rst_stream(http2_, NGHTTP2_FLAG_NONE, stream, error);
  Flush();
}

void ServerSession::Limit(std::uint32_t streams) {
  if (http2_ == nullptr || closed_) return;
  const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams};
  nghttp2_submit_settings(http2_, NGHTTP2_FLAG_NONE, &setting, 1);
  Flush();
}

void ServerSession::Close() {
  if (std::exchange(closed_, true)) return;
  const Shared<ServerSession> self(this);
  wire_->Close();
  if (http1_) http1_->Close();
  for (const auto& [stream, response] : std::exchange(streams_, {})) {
    server_->OnStreamClose();
    response->Close();
  }
  server_->OnSessionClosed(this);
}

}  // namespace

Result<Shared<Http2Server>> Http2Server::Start(const Http2ServerOptions& options, Shared<HttpHandler> handler) {
  Shared<TlsContext> tls;
  std::string ca_pem;
  if (options.tls) {
    Shared<CertificateAuthority> authority = options.authority;
    if (!authority) {
      auto made = CertificateAuthority::Make();
      if (!made) return Fail(made.error());
      authority = std::move(*made);
    }
    ca_pem = authority->certificate_pem();
    const auto identity = authority->Issue(options.certificate.value_or(CertificateOptions()));
    if (!identity) return Fail(identity.error());
    auto context = TlsContext::ForServer({.certificate_pem = identity->certificate_pem,
                                          .key_pem = identity->key_pem,
                                          .client_ca_pem = options.client_certificate ? ca_pem : "",
                                          .alpn = options.alpn});
    if (!context) return Fail(context.error());
    tls = std::move(*context);
    if (options.http1) SSL_CTX_set_alpn_select_cb(tls->get(), SelectProtocol, nullptr);
  }
  auto server = MakeShared<Server>(options, std::move(handler), std::move(tls), std::move(ca_pem));
  if (auto listening = server->Listen(); !listening) return Fail(listening.error());
  return Shared<Http2Server>(std::move(server));
}

}  // namespace kgen::testing
