// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "net/duration_text.h"
#include "net/printable.h"

namespace kgen::net {
namespace {

constexpr std::size_t kOutputBytes = 256 * 1024;  // bytes framed but not yet passed to the kernel
constexpr int kAttempts = 3;                      // of a request that the server refused without processing it

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

// True for headers that exist only in HTTP/1, or that the session sets itself.
bool Unwanted(std::string_view name) {
  return name == "host" || name == "connection" || name == "transfer-encoding" || name == "keep-alive" ||
         name == "upgrade";
}

std::string NameOf(std::uint32_t http2_error) {
  const std::string_view name = nghttp2_http2_strerror(http2_error);
  return name == "unknown" ? "error code " + std::to_string(http2_error) : std::string(name);
}

// Describes the rule of HTTP/2 that the server broke: "PROTOCOL_ERROR: DATA: invalid padding". nghttp2 has no text for
// some rules.
std::string BrokenRule(std::uint32_t http2_error, std::string_view words) {
  if (words.empty()) {
    switch (http2_error) {
      case NGHTTP2_FLOW_CONTROL_ERROR:
        words = "more data than the window allows";
        break;
      case NGHTTP2_COMPRESSION_ERROR:
        words = "a header block that cannot be decoded";
        break;
      case NGHTTP2_FRAME_SIZE_ERROR:
        words = "a frame of the wrong size";
        break;
      default:
        break;
    }
  }
  const std::string name = NameOf(http2_error);
  return "because the server broke the HTTP/2 protocol: " + (words.empty() ? name : name + ": " + Printable(words));
}

}  // namespace

// nghttp2's callbacks. `user` is the Session; the user data of a stream is the HttpExchange.
struct SessionCallbacks {
  static HttpExchange* Find(nghttp2_session* http2, std::int32_t stream) {
    return static_cast<HttpExchange*>(nghttp2_session_get_stream_user_data(http2, stream));
  }

  static int OnHeader(nghttp2_session* http2, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                      void* user) {
    HttpExchange* exchange = Find(http2, frame->hd.stream_id);
    if (exchange == nullptr || exchange->head_given) return 0;  // trailers
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    exchange->head_bytes += name_size + value_size + 32;
    const std::size_t most = static_cast<Session*>(user)->options_.max_head_bytes;
    if (exchange->head_bytes > most) {
      exchange->fault = "kgen reset the stream because the headers of the response are larger than " +
                        std::to_string(most) + " bytes";
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (key == ":status") {
      std::from_chars(text.data(), text.data() + text.size(), exchange->head.status);
      if (exchange->head.status < 100) {
        exchange->fault = "kgen reset the stream because the response has the status \"" + Printable(text) +
                          "\", which is not an HTTP status";
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      }
    } else {
      exchange->head.headers.push_back({std::string(key), std::string(text)});
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* http2, const nghttp2_frame* frame, void* user) {
    Session& session = *static_cast<Session*>(user);
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) session.OnSettings();
        return 0;
      case NGHTTP2_GOAWAY:
        session.draining_ = session.room_ = true;
        if (frame->goaway.error_code != NGHTTP2_NO_ERROR) {
          const std::string said = Printable(DebugData(frame->goaway));
          session.fault_ = "the server closed the connection: " + NameOf(frame->goaway.error_code) +
                           (said.empty() ? "" : ": " + said);
        }
        return 0;
      case NGHTTP2_RST_STREAM:
        if (HttpExchange* exchange = Find(http2, frame->hd.stream_id); exchange != nullptr) exchange->reset = true;
        return 0;
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA:
        break;
      default:
        return 0;
    }
    HttpExchange* exchange = Find(http2, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) session.OnResponseHead(*exchange);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    // The response is complete, even if the server has not read the whole request.
    if (exchange->body_sent < exchange->request.body.size()) {
      nghttp2_submit_rst_stream(http2, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_CANCEL);
    }
    session.Finish(*exchange, {});
    return 0;
  }

  static int OnData(nghttp2_session* http2, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                    std::size_t size, void* user) {
    Session& session = *static_cast<Session*>(user);
    // All streams share the connection's window, so only the stream's own window holds back a slow reader.
    nghttp2_session_consume_connection(http2, size);
    HttpExchange* exchange = Find(http2, stream);
    if (exchange == nullptr) return 0;
    if (exchange->arrived.empty()) {
      session.dirty_.emplace_back(exchange);
      exchange->arrived = exchange->spares->Take();
    }
    exchange->arrived.append(reinterpret_cast<const char*>(data), size);
    exchange->outstanding += size;
    return 0;
  }

  static int OnClose(nghttp2_session* http2, std::int32_t stream, std::uint32_t error, void* user) {
    Session& session = *static_cast<Session*>(user);
    session.room_ = true;
    if (HttpExchange* exchange = Find(http2, stream); exchange != nullptr) session.OnStreamEnd(*exchange, error);
    return 0;
  }

  // Called right before OnInvalidFrame() for a header that is not allowed.
  static int OnFault(nghttp2_session*, int, const char* message, std::size_t size, void* user) {
    static_cast<Session*>(user)->detail_.assign(message, size);
    return 0;
  }

  static int OnInvalidFrame(nghttp2_session* http2, const nghttp2_frame* frame, int error, void* user) {
    HttpExchange* exchange = Find(http2, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    const std::string& detail = static_cast<Session*>(user)->detail_;
    exchange->broken_rule = error == NGHTTP2_ERR_HTTP_HEADER ? detail : std::string(nghttp2_strerror(error));
    return 0;
  }

  // nghttp2 resets streams and ends the connection by itself if the server breaks a rule. This is called before the
  // stream's OnClose(), which does not tell who reset the stream.
  static int OnFrameSent(nghttp2_session* http2, const nghttp2_frame* frame, void* user) {
    Session& session = *static_cast<Session*>(user);
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      session.fault_ = "kgen closed the connection " + BrokenRule(frame->goaway.error_code, DebugData(frame->goaway));
      if (!session.ready_) session.fault_ += "; is this the address of an API server?";
    }
    if (frame->hd.type != NGHTTP2_RST_STREAM) return 0;
    HttpExchange* exchange = Find(http2, frame->hd.stream_id);
    if (exchange == nullptr || !exchange->fault.empty()) return 0;
    std::string& rule = exchange->broken_rule;
    if (rule.empty() && frame->rst_stream.error_code == NGHTTP2_PROTOCOL_ERROR) {
      rule = "the body is not as long as its content-length says";  // nghttp2 does not report this one
    }
    exchange->fault = "kgen reset the stream " + BrokenRule(frame->rst_stream.error_code, rule);
    return 0;
  }

  static std::string_view DebugData(const nghttp2_goaway& goaway) {
    return {reinterpret_cast<const char*>(goaway.opaque_data), goaway.opaque_data_len};
  }

  static ssize_t ReadBody(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size, std::uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    auto& exchange = *static_cast<HttpExchange*>(source->ptr);
    const std::string& body = exchange.request.body;
    size = std::min(size, body.size() - exchange.body_sent);
    std::memcpy(out, body.data() + exchange.body_sent, size);
    exchange.body_sent += size;
    if (exchange.body_sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_header_callback(made, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, OnClose);
    nghttp2_session_callbacks_set_error_callback2(made, OnFault);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, OnInvalidFrame);
    nghttp2_session_callbacks_set_on_frame_send_callback(made, OnFrameSent);
    return made;
  }
};

HttpExchange::HttpExchange(Shared<EventLoop> the_loop, Shared<Pool> the_pool, Shared<SpareBuffers> the_spares,
                           HttpRequest the_request, Shared<ResponseSink> the_sink)
    : loop(std::move(the_loop)),
      pool(std::move(the_pool)),
      spares(std::move(the_spares)),
      request(std::move(the_request)),
      sink(std::move(the_sink)) {}

HttpExchange::~HttpExchange() = default;

void HttpExchange::Consumed(std::size_t bytes) noexcept {
  if (bytes == 0 || consumed_.fetch_add(bytes) != 0) return;  // a task is already posted
  loop->Post([self = Shared<HttpExchange>(this)] {
    if (self->session != nullptr) self->session->Credit(*self);
  });
}

void HttpExchange::Finish(HttpEnd end) {
  if (!sink) return;
  const Shared<HttpExchange> self(this);
  Deliver();
  const Shared<ResponseSink> to = std::exchange(sink, {});
  const Shared<Pool> held = std::exchange(pool, {});
  to->OnEnd(std::move(end));
}

void HttpExchange::Deliver() {
  if (sink && !arrived.empty()) sink->OnBytes(std::exchange(arrived, {}));
}

Session::Session(Owner* owner, Shared<EventLoop> loop, Shared<Clock> clock, std::string name,
                 const Http2Options& options)
    : owner_(owner), loop_(std::move(loop)), clock_(std::move(clock)), name_(std::move(name)), options_(options) {}

Session::~Session() { nghttp2_session_del(http2_); }

void Session::Start(Shared<TcpStream> stream, std::optional<TlsEngine> tls) {
  tls_ = tls.has_value();
  wire_ = MakeShared<Wire>(std::move(stream));
  Arm(options_.handshake_timeout);
  wire_->Start(this, std::move(tls));
  if (!tls_) OpenHttp2();
}

void Session::OnWireOpen() {
  if (wire_->alpn() != "h2") {
    const Error error = Broken(
        "the server does not speak HTTP/2 (it did not choose h2 in the TLS handshake); does a proxy in between speak "
        "HTTP/1 only?",
        Code::kTls);
    return End(&error);
  }
  if (!OpenHttp2()) {
    const Error error(Code::kInternal, "nghttp2: out of memory");
    End(&error);
  }
}

Error Session::Broken(std::string_view why, Code code) const {
  if (!ready_) return Error::NotConnected("cannot connect to " + name_ + ": " + std::string(why), code);
  return Error(code, name_ + ": connection lost: " + std::string(why));
}

bool Session::OpenHttp2() {
  static nghttp2_session_callbacks* const kCallbacks = SessionCallbacks::Make();
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) return false;
  nghttp2_option_set_no_auto_window_update(option, 1);
  const int made = nghttp2_session_client_new2(&http2_, kCallbacks, this, option);
  nghttp2_option_del(option);
  if (made != 0) return false;
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(options_.max_head_bytes)}};
  nghttp2_submit_settings(http2_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(http2_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(options_.connection_window));
  Flush();
  return true;
}

void Session::OnSettings() {
  room_ = true;
  if (std::exchange(ready_, true)) return;
  idle_since_ = clock_->Now();
  Arm(options_.idle_timeout);
  owner_->OnSessionReady(*this);
}

std::uint32_t Session::Limit() const {
  return nghttp2_session_get_remote_settings(http2_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

// Four fifths of the limit, but at least one if there is any.
std::uint32_t Session::LongLimit() const {
  const std::uint32_t limit = Limit();
  return limit == 0 ? 0 : std::max<std::uint32_t>(1, limit / 5 * 4 + limit % 5 * 4 / 5);
}

bool Session::HasRoom(bool long_lived) const {
  if (!ready_ || draining_ || ended_ || streams_.size() >= Limit()) return false;
  return !long_lived || long_streams_ < LongLimit();
}

bool Session::WillHaveRoom(bool long_lived) const {
  if (!ready_ || draining_ || ended_) return false;
  // If the server allows no streams at the moment, requests wait instead of opening another connection.
  return long_streams_ < std::max<std::uint32_t>(1, long_lived ? LongLimit() : Limit());
}

void Session::Submit(Shared<HttpExchange> exchange, const std::string& scheme, const std::string& authority) {
  const HttpRequest& request = exchange->request;
  if (request.guard) {
    if (Result<void> may = request.guard->MaySend(); !may) return exchange->Finish(Fail(std::move(may).error()));
  }
  std::vector<nghttp2_nv> fields = {Field(":method", request.method), Field(":scheme", scheme),
                                    Field(":authority", authority), Field(":path", request.path)};
  for (const HttpHeader& header : request.headers) {
    if (!Unwanted(header.name)) fields.push_back(Field(header.name, header.value));
  }
  nghttp2_data_provider body{};
  body.source.ptr = exchange.get();
  body.read_callback = SessionCallbacks::ReadBody;
  exchange->body_sent = 0;
  ++exchange->attempts;
  const std::int32_t stream = nghttp2_submit_request(http2_, nullptr, fields.data(), fields.size(),
                                                     request.body.empty() ? nullptr : &body, exchange.get());
  if (stream < 0) {
    draining_ = draining_ || stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE;
    return exchange->Finish(Fail(draining_ ? Code::kUnavailable : Code::kInvalidArgument,
                                 name_ + ": the request cannot be sent: " + nghttp2_strerror(stream)));
  }
  exchange->session = this;
  exchange->stream = stream;
  exchange->reset = false;
  if (request.long_lived) ++long_streams_;
  const bool first = streams_.empty();
  streams_.emplace(stream, std::move(exchange));
  if (first) WatchSilence();
  Flush();
}

Shared<HttpExchange> Session::Detach(HttpExchange& exchange) {
  nghttp2_session_set_stream_user_data(http2_, exchange.stream, nullptr);
  if (exchange.request.long_lived) --long_streams_;
  const auto found = streams_.find(exchange.stream);
  Shared<HttpExchange> held = std::move(found->second);
  streams_.erase(found);
  held->session = nullptr;
  room_ = true;
  if (streams_.empty()) idle_since_ = clock_->Now();
  return held;
}

void Session::Finish(HttpExchange& exchange, HttpEnd end) { Detach(exchange)->Finish(std::move(end)); }

void Session::Cancel(HttpExchange& exchange) {
  nghttp2_submit_rst_stream(http2_, NGHTTP2_FLAG_NONE, exchange.stream, NGHTTP2_CANCEL);
  HttpEnd end = Fail(Code::kCancelled, "the request was cancelled");
  end.progress = name_ + (exchange.head_given ? " had not sent its whole response" : " had not answered yet");
  Finish(exchange, std::move(end));
  Flush();
  ReportRoom();
}

void Session::Credit(HttpExchange& exchange) {
  const std::size_t bytes = std::min(exchange.consumed_.exchange(0), exchange.outstanding - exchange.arrived.size());
  exchange.outstanding -= bytes;
  nghttp2_session_consume_stream(http2_, exchange.stream, bytes);
  Flush();
}

void Session::Retire() {
  if (ended_ || http2_ == nullptr || std::exchange(retired_, true)) return;
  const Shared<Session> self(this);
  draining_ = true;
  std::vector<Shared<HttpExchange>> watches;
  for (const auto& [stream, exchange] : streams_) {
    // A watch is opened again where it ended. Any other stream, such as the log of a container, would lose its rest, so
    // it stays, as short requests do.
    const bool resumes = exchange->request.path.find("watch=") != std::string::npos;
    if (exchange->request.long_lived && (resumes || !exchange->head_given)) watches.push_back(exchange);
  }
  for (const auto& watch : watches) {
    nghttp2_submit_rst_stream(http2_, NGHTTP2_FLAG_NONE, watch->stream, NGHTTP2_CANCEL);
    if (watch->head_given || owner_ == nullptr) {
      Finish(*watch, {});
    } else {
      Shared<HttpExchange> held = Detach(*watch);
      held->stream = -1;
      owner_->OnSessionRefused(std::move(held));
    }
  }
  // Ends the connection with the last stream.
  nghttp2_submit_goaway(http2_, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
  Flush();
}

void Session::OnResponseHead(HttpExchange& exchange) {
  if (exchange.head_given) return;  // trailers
  if (exchange.head.status < 200) {
    exchange.head = {};
    return;
  }
  exchange.head_given = true;
  if (exchange.head.status == 401 && owner_ != nullptr) owner_->OnSessionUnauthorized();
  exchange.sink->OnHead(std::move(exchange.head));
}

void Session::OnStreamEnd(HttpExchange& exchange, std::uint32_t error) {
  const bool unprocessed = error == NGHTTP2_REFUSED_STREAM && !exchange.head_given && exchange.fault.empty();
  if (unprocessed && exchange.attempts < kAttempts) {
    Shared<HttpExchange> held = Detach(exchange);
    held->stream = -1;
    return owner_->OnSessionRefused(std::move(held));
  }
  std::string what = exchange.fault;
  const std::string times = std::to_string(exchange.attempts) + " times";
  if (unprocessed && exchange.reset) {
    what = "the server refused the request " + times + " without processing it (REFUSED_STREAM)";
  } else if (unprocessed) {  // nghttp2 gives the same error to what a GOAWAY leaves out
    what = fault_.empty() ? "the server closed the connection (GOAWAY)" : fault_;
    what += "; this happened " + times + " before it had processed the request";
  } else if (what.empty()) {
    what = "the server reset the stream: " + NameOf(error);
  }
  Finish(exchange, Fail(Code::kUnavailable, name_ + ": " + what));
}

void Session::OnWireBytes(std::string_view plain) {
  if (http2_ == nullptr || ended_) return;
  last_received_ = clock_->Now();
  // Any bytes show that the peer is alive.
  if (std::exchange(ping_open_, false) && !streams_.empty()) WatchSilence();
  if (!ready_ && plain.starts_with("HTTP/1")) {
    const Error error = Broken(
        "the server does not speak HTTP/2, it responded with HTTP/1; is it an API server, or a proxy in between?",
        tls_ ? Code::kTls : Code::kUnavailable);
    return End(&error);
  }
  if (!ready_ && !tls_ && plain.starts_with("\x15\x03")) {  // a TLS alert
    const Error error = Broken("the server speaks TLS; its address begins with https://, not http://");
    return End(&error);
  }
  inside_ = true;
  const ssize_t taken =
      nghttp2_session_mem_recv(http2_, reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size());
  inside_ = false;
  if (taken < 0) {
    const Error error = Broken(std::string("kgen closed the connection: ") + nghttp2_strerror(static_cast<int>(taken)));
    End(&error);
  }
}

void Session::OnWireBatchEnd() {
  const Shared<Session> self(this);
  for (const auto& exchange : std::exchange(dirty_, {})) exchange->Deliver();
  Flush();
  ReportRoom();
}

void Session::OnWireClosed(Error why) {
  const Shared<Session> self(this);
  for (const auto& exchange : std::exchange(dirty_, {})) exchange->Deliver();
  const Error error = Broken(fault_.empty() ? why.message() : fault_, why.code());
  // After a GOAWAY, the server may close the connection once all requests have ended.
  End(draining_ && streams_.empty() && why.code() != Code::kTls ? nullptr : &error);
}

void Session::Flush() {
  if (inside_ || ended_ || http2_ == nullptr) return;
  const Shared<Session> self(this);
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
  if (size < 0) fault_ = std::string("kgen closed the connection: ") + nghttp2_strerror(static_cast<int>(size));
  const bool over = nghttp2_session_want_read(http2_) == 0 && nghttp2_session_want_write(http2_) == 0;
  if (size < 0 || over) {
    const bool orderly = streams_.empty() && fault_.empty();
    const Error error = Broken(fault_.empty() ? "ended" : fault_);
    End(orderly ? nullptr : &error);
  }
}

void Session::ReportRoom() {
  if (ended_ || !std::exchange(room_, false)) return;
  owner_->OnSessionRoom(*this);
}

std::string_view Session::Progress() const {
  return tls_ && http2_ == nullptr ? "no answer to the TLS handshake" : "no answer to the HTTP/2 preface";
}

void Session::Arm(Nanos delay) {
  armed_for_ = clock_->Now() + delay;
  timer_ = loop_->After(delay, [self = Shared<Session>(this)] { self->OnTick(); });
}

void Session::OnTick() {
  if (ended_) return;
  if (!ready_) {
    const Error error = Broken(std::string(Progress()) + " within " + DurationText(options_.handshake_timeout));
    return End(&error);
  }
  const TimePoint now = clock_->Now();
  if (ping_open_) {
    if (now - ping_sent_ < options_.ping_timeout) return Arm(options_.ping_timeout - (now - ping_sent_));
    const Error error = Broken("the server did not answer a PING within " + DurationText(options_.ping_timeout));
    return End(&error);
  }
  if (!streams_.empty()) {
    WatchSilence();
    return Flush();
  }
  if (now - idle_since_ < options_.idle_timeout) return Arm(options_.idle_timeout - (now - idle_since_));
  SayGoodbye();
  End(nullptr);
}

// Runs while there are requests. Silence counts from the last received byte, even if that came before the requests:
// otherwise requests that all time out sooner than the interval would use a dead connection forever.
void Session::WatchSilence() {
  if (ping_open_) return;
  const TimePoint now = clock_->Now();
  const TimePoint due = last_received_ + options_.ping_interval;
  if (now < due) {
    if (armed_for_ <= now || armed_for_ > due) Arm(due - now);
    return;
  }
  ping_open_ = true;
  ping_sent_ = now;
  nghttp2_submit_ping(http2_, NGHTTP2_FLAG_NONE, nullptr);
  Arm(options_.ping_timeout);
}

void Session::SayGoodbye() {
  if (http2_ == nullptr || inside_ || ended_) return;
  nghttp2_session_terminate_session(http2_, NGHTTP2_NO_ERROR);
  const std::uint8_t* data = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(http2_, &data)) > 0;) {
    wire_->Write(std::string_view(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)));
  }
}

void Session::Close(const Error& why) {
  if (ended_) return;
  const Shared<Session> self(this);
  SayGoodbye();
  owner_ = nullptr;
  End(&why);
}

void Session::End(const Error* error) {
  if (std::exchange(ended_, true)) return;
  const Shared<Session> self(this);
  timer_.Cancel();
  if (wire_) wire_->Close();
  const Error why = error != nullptr ? *error : Broken("ended");
  for (auto& [stream, exchange] : std::exchange(streams_, {})) {
    exchange->session = nullptr;
    exchange->Finish({Fail(why), why.code() == Code::kUnavailable});
  }
  long_streams_ = 0;
  if (owner_ != nullptr) std::exchange(owner_, nullptr)->OnSessionEnded(*this, error);
}

}  // namespace kgen::net
