// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/http/http_port.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "net/wire.h"

namespace kgen::controller {
namespace {

using net::TcpStream;

constexpr int kReaderTicks = 4;  // that a reader may take nothing
constexpr Nanos kReaderTick = std::chrono::milliseconds(2500);

// The address in `text`. Its ip is "" if the text names no host.
Result<net::Address> ParseAddress(const std::string& text, std::string_view who) {
  const auto refuse = [&](std::string_view why) {
    return Fail(Code::kConfig, std::string(who) + "'s address '" + text + "' " + std::string(why) +
                                   "; write HOST:PORT with an IP address or localhost, or :PORT");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return refuse("has no port");
  net::Address address;
  const std::string_view port = std::string_view(text).substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size()) {
    return refuse("has no port between 0 and 65535");
  }
  std::string host = text.substr(0, colon);
  if (host.empty()) return address;
  if (host == "localhost") host = "127.0.0.1";
  const bool brackets = host.front() == '[' && host.back() == ']' && host.size() > 2;
  address.ip = brackets ? host.substr(1, host.size() - 2) : host;
  if (!net::IsIpAddress(address.ip) || brackets != (address.ip.find(':') != std::string::npos)) {
    return refuse("has a host that is not an IP address");
  }
  return address;
}

}  // namespace

// One connection. All members on the loop's thread.
class HttpConnection final : public SharedObject, private net::Wire::User, private net::Http1Session::User {
 public:
  HttpConnection(Shared<HttpPort> port, const Shared<TcpStream>& stream)
      : port_(std::move(port)),
        peer_(stream->peer().ip),
        wire_(MakeShared<net::Wire>(stream)),
        running_(RunningWork::Token(port_->running())) {}

  // `tls` is null for plain HTTP.
  void Start(const Shared<net::TlsContext>& tls) {
    const Shared<HttpConnection> self(this);
    Enter(Phase::kReading);
    std::optional<net::TlsEngine> engine;
    if (tls) {
      auto made = net::TlsEngine::Server(tls);
      if (!made) return Close();
      engine.emplace(*std::move(made));
    }
    wire_->Start(this, std::move(engine));
    if (!tls && port_) OnWireOpen();
  }
  void Close() {
    const Shared<HttpConnection> self(this);
    const Shared<HttpPort> port = std::exchange(port_, {});
    if (!port) return;
    limit_.Cancel();
    reader_.Cancel();
    wire_->Close();
    if (http1_) http1_->Close();
    bytes_ = {};
    running_.reset();
    port->OnClosed(this);
  }
  // Closes the connection once it has no request. One that is arriving counts if no request may be cut.
  void Finish() { busy() || (begins_ && !port_->options().cuts_requests) ? Drain() : Close(); }
  // Closes the connection after the response to this or the next request.
  void Drain() {
    if (http1_) http1_->CloseAfterResponse();
  }
  // Whether there is room for the body now, which then holds it.
  bool HasRoom() { return bytes_ && bytes_->Grow(wanted_); }
  void ResumeBody() {
    const Shared<HttpConnection> self(this);
    wire_->PauseReading(false);
    http1_->Resume();
  }
  bool busy() const noexcept { return phase_ == Phase::kStays || phase_ == Phase::kYields; }
  bool yields() const noexcept { return phase_ == Phase::kYields; }
  std::uint64_t turn() const noexcept { return turn_; }  // smaller: it has been in its phase for longer
  const std::string& peer() const noexcept { return peer_; }

 private:
  // kReading: no request, or a part of one. kYields: a request that yields. kStays: any other request.
  enum class Phase : std::uint8_t { kReading, kStays, kYields, kIdle };

  // Each phase has its time limit.
  void Enter(Phase phase) {
    phase_ = phase;
    turn_ = port_->NextTurn();
    const HttpPortOptions& options = port_->options();
    const Nanos limit = phase == Phase::kReading ? options.request_limit
                        : phase == Phase::kIdle  ? options.idle_limit
                                                 : options.answer_limit;
    limit_ = port_->loop()->After(limit, [self = Shared<HttpConnection>(this)] { self->Close(); });
  }

  // Watches a reader until it has taken everything.
  void WatchReader() {
    reader_ = port_->loop()->After(kReaderTick, [self = Shared<HttpConnection>(this)] { self->OnReaderTick(); });
  }
  void OnReaderTick() {
    if (!port_) return;
    const std::size_t left = wire_->backlog();
    const auto sent = std::pair(drained_, left);
    still_ = left > 0 && sent == sent_ ? still_ + 1 : 0;
    sent_ = sent;
    if (still_ == kReaderTicks) return Close();
    if (busy() || left > 0) WatchReader();
  }

  // A request that is refused closes the connection inside these calls, and the port then drops it.
  void OnWireOpen() override {
    http1_ = net::Http1Session::Make(port_->loop(), wire_, this, port_->options().limits);
    if (port_->drains()) Drain();
  }
  void OnWireBytes(std::string_view plain) override {
    const Shared<HttpConnection> self(this);
    if (phase_ == Phase::kIdle) Enter(Phase::kReading);
    begins_ = true;
    http1_->OnBytes(plain);
  }
  void OnWireBatchEnd() override {
    const Shared<HttpConnection> self(this);
    http1_->OnBatchEnd();
  }
  void OnWireDrained() override {
    const Shared<HttpConnection> self(this);
    ++drained_;
    if (http1_) http1_->OnDrained();
  }
  void OnWireClosed(Error) override { Close(); }

  std::optional<std::size_t> OnHttp1Head(const net::ServerRequest& head, std::optional<std::uint64_t> length) override {
    begun_ = port_->Now();
    const std::size_t limit = port_->site().MaxBody(head);
    if (length.value_or(0) > limit || !length) head_ = head;  // for TooLarge()
    const std::size_t most = static_cast<std::size_t>(std::min<std::uint64_t>(length.value_or(limit), limit));
    bytes_ = MakeShared<ByteBudget::Share>(port_->budget(), most);
    return limit;
  }
  std::optional<net::Http1Session::Reply> OnHttp1TooLarge() override {
    bytes_ = {};
    return port_->site().TooLarge(head_);
  }
  bool OnHttp1Body(std::size_t bytes) override {
    if (bytes_->Grow(bytes)) return true;
    wanted_ = bytes;
    wire_->PauseReading(true);
    port_->WaitForBytes(this);
    return false;
  }
  void OnHttp1Request(net::ServerRequest request, Shared<net::ResponseWriter> writer) override {
    if (!bytes_) {  // no body
      begun_ = port_->Now();
      bytes_ = MakeShared<ByteBudget::Share>(port_->budget(), 0);
    }
    bytes_->Set(request.body.size());
    begins_ = false;
    const bool yields = port_->site().Yields(request);
    Enter(yields ? Phase::kYields : Phase::kStays);
    WatchReader();
    if (yields) port_->MakeRoomToYield(this);
    port_->site().Handle({std::move(request), std::move(writer), begun_, std::exchange(bytes_, {})});
  }
  void OnHttp1End() override {
    if (!port_) return;
    Enter(Phase::kIdle);
    port_->OnIdle();
  }
  void OnHttp1Close() override { Close(); }

  Shared<HttpPort> port_;  // null: closed
  const std::string peer_;
  const Shared<net::Wire> wire_;
  std::optional<RunningWork::Token> running_;
  Shared<net::Http1Session> http1_;  // null until the wire is open
  Phase phase_ = Phase::kReading;
  std::uint64_t turn_ = 0;
  bool begins_ = false;  // a part of a request has arrived
  Timer limit_, reader_;
  net::ServerRequest head_;                          // of a body that may be too large
  TimePoint begun_{};                                // when the head arrived
  Shared<ByteBudget::Share> bytes_;                  // of the body that arrives, or null
  std::size_t wanted_ = 0;                           // what the body needs to go on
  std::uint64_t drained_ = 0;                        // how often the kernel has taken everything
  std::pair<std::uint64_t, std::size_t> sent_ = {};  // `drained_` and the backlog at the last tick
  int still_ = 0;                                    // ticks without a change of it
};

namespace {

// Returns the connection to close: the oldest one of the address that has the most.
Shared<HttpConnection> OldestOfMost(const std::vector<Shared<HttpConnection>>& some) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& each : some) ++counts[each->peer()];
  return *std::ranges::max_element(some, {},
                                   [&](const auto& each) { return std::pair(counts[each->peer()], ~each->turn()); });
}

}  // namespace

HttpPort::HttpPort(HttpPortOptions options, Shared<net::EventLoop> loop, Shared<Clock> clock, Shared<HttpSite> site,
                   Shared<RunningWork> running)
    : options_(std::move(options)),
      loop_(std::move(loop)),
      clock_(std::move(clock)),
      site_(std::move(site)),
      running_(std::move(running)),
      budget_(MakeShared<ByteBudget>(options_.max_bytes)) {}

Result<std::string> HttpPort::IpOf(const std::string& address, std::string_view who) {
  auto parsed = ParseAddress(address, who);
  if (!parsed) return Fail(std::move(parsed).error());
  return parsed->ip.substr(0, parsed->ip.find('%'));
}

Result<Shared<HttpPort>> HttpPort::Bind(HttpPortOptions options, Shared<net::EventLoop> loop, Shared<Clock> clock,
                                        Shared<HttpSite> site, Shared<RunningWork> running) {
  auto port =
      MakeShared<HttpPort>(std::move(options), std::move(loop), std::move(clock), std::move(site), std::move(running));
  if (auto listens = port->Listen(); !listens) return Fail(std::move(listens).error());
  return port;
}

Result<void> HttpPort::Listen() {
  auto address = ParseAddress(options_.address, options_.who);
  if (!address) return Fail(address.error());
  const auto listen = [this](const net::Address& at) {
    return loop_->Listen(
        at, [self = Shared<HttpPort>(this)](Shared<TcpStream> stream) { self->Accept(std::move(stream)); });
  };
  // Without a host: all addresses, which a socket of IPv6 serves, too. There may be no IPv6.
  const bool any = address->ip.empty();
  if (any) address->ip = "::";
  auto listener = listen(*address);
  if (!listener && any) {
    address->ip = "0.0.0.0";
    listener = listen(*address);
  }
  if (!listener) {
    return Fail(listener.error().code(), options_.who + ": " + listener.error().message() + "; " + options_.remedy);
  }
  address->port = (*listener)->port();
  address_ = address->ToString();
  // Continues on the loop's thread, which may accept connections already.
  const bool running = loop_->Post([self = Shared<HttpPort>(this), listener = *listener]() mutable {
    self->listener_ = std::move(listener);
    if (self->closed_) return std::exchange(self->listener_, {})->Close();
    self->budget_->OnRoom([self] { self->OnRoomForBytes(); });
    self->loop_->Register(self.get());
  });
  if (!running) return Fail(Code::kStopped, options_.who + " cannot listen: the process is ending");
  return {};
}

void HttpPort::Open() {
  loop_->Post([self = Shared<HttpPort>(this)] {
    self->open_ = true;
    self->ServeWaiting();
  });
}

void HttpPort::Accept(Shared<TcpStream> stream) {
  if (closed_) return stream->Close();
  if (waiting_.size() == options_.max_connections) {
    waiting_.front()->Close();
    waiting_.erase(waiting_.begin());
  }
  waiting_.push_back(std::move(stream));
  if (open_) ServeWaiting();
}

void HttpPort::AdmitWaiting() {
  if (!waiting_.empty()) loop_->Post([self = Shared<HttpPort>(this)] { self->ServeWaiting(); });
}

void HttpPort::ServeWaiting() {
  while (!closed_ && !waiting_.empty() && (connections_.size() < options_.max_connections || MakeRoom())) {
    const Shared<TcpStream> stream = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    Serve(stream);
  }
}

void HttpPort::Serve(const Shared<TcpStream>& stream) {
  Shared<net::TlsContext> certificate;
  if (options_.certificate && !(certificate = options_.certificate())) return stream->Close();
  auto connection = MakeShared<HttpConnection>(Shared<HttpPort>(this), stream);
  connections_.push_back(connection);
  connection->Start(certificate);
}

template <typename Which>
HttpPort::Connections HttpPort::Select(Which which) const {
  Connections selected;
  std::ranges::copy_if(connections_, std::back_inserter(selected), which);
  return selected;
}

// Returns whether there is room now.
bool HttpPort::MakeRoom() {
  Connections candidates = Select([](const auto& each) { return !each->busy(); });
  if (candidates.empty()) {
    if (!options_.cuts_requests) return false;
    candidates = Select([](const auto& each) { return each->yields(); });
  }
  OldestOfMost(candidates.empty() ? connections_ : candidates)->Close();
  return true;
}

void HttpPort::MakeRoomToYield(const HttpConnection* connection) {
  for (;;) {
    const Connections others =
        Select([connection](const auto& each) { return each->yields() && each.get() != connection; });
    const bool room = others.size() < options_.max_yielding && !site_->Crowded();
    if (room || others.empty()) return;
    OldestOfMost(others)->Close();
  }
}

void HttpPort::OnClosed(HttpConnection* connection) {
  const auto is = [connection](const auto& each) { return each.get() == connection; };
  std::erase_if(short_of_bytes_, is);
  std::erase_if(connections_, is);
  AdmitWaiting();
}

void HttpPort::WaitForBytes(HttpConnection* connection) {
  const bool waits = std::ranges::any_of(short_of_bytes_, [&](const auto& each) { return each.get() == connection; });
  if (!waits) short_of_bytes_.push_back(Shared<HttpConnection>(connection));
}

// On any thread.
void HttpPort::OnRoomForBytes() {
  loop_->Post([self = Shared<HttpPort>(this)] { self->ResumeWaiting(); });
}

void HttpPort::ResumeWaiting() {
  for (const auto& connection : Connections(short_of_bytes_)) {
    if (!connection->HasRoom()) continue;
    std::erase_if(short_of_bytes_, [&](const auto& each) { return each == connection; });
    connection->ResumeBody();  // which may have to wait again
  }
}

void HttpPort::Drain() {
  loop_->Post([self = Shared<HttpPort>(this)] {
    self->drains_ = true;
    for (const auto& connection : Connections(self->connections_)) connection->Drain();
  });
}

// The token keeps a stop waiting until the task has run.
void HttpPort::Finish() {
  loop_->Post([self = Shared<HttpPort>(this), busy = RunningWork::Token(running_)] { self->BeginStop(); });
}

void HttpPort::BeginStop() {
  closed_ = true;
  if (listener_) listener_->Close();
  for (auto& stream : std::exchange(waiting_, {})) stream->Close();
  for (const auto& connection : Connections(connections_)) connection->Finish();
}

void HttpPort::Close() {
  loop_->Post([self = Shared<HttpPort>(this)] { self->CloseAll(); });
}

void HttpPort::CloseAll() {
  const Shared<HttpPort> self(this);
  BeginStop();
  for (const auto& connection : Connections(connections_)) connection->Close();
  budget_->OnRoom({});
  if (std::exchange(listener_, {})) loop_->Unregister(this);
}

}  // namespace kgen::controller
