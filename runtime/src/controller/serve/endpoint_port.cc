// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/endpoint_port.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "net/http1_session.h"
#include "net/wire.h"

namespace kgen::controller {
namespace {

using net::TcpStream;
using std::chrono::seconds;

constexpr std::size_t kMaxConnections = 256;
constexpr std::size_t kMaxPages = 64;   // connections with a request for a page
constexpr std::size_t kMaxAnswers = 8;  // large answers that are held because they are not sent yet
constexpr int kReaderTicks = 4;         // that a reader may take nothing
constexpr Nanos kReaderTick = std::chrono::milliseconds(2500);
constexpr net::Http1Session::Limits kLimits = {
    .max_header = 16 * 1024, .max_body = 16 * 1024, .max_ahead = 64 * 1024, .max_output = 64 * 1024};

// The address in `text`. Its ip is "" if the text names no host.
Result<net::Address> ParseAddress(const std::string& text) {
  const auto refuse = [&](std::string_view why) {
    return Fail(Code::kConfig, "the endpoint's address '" + text + "' " + std::string(why) +
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
class EndpointConnection final : public SharedObject, private net::Wire::User, private net::Http1Session::User {
 public:
  EndpointConnection(Shared<EndpointPort> port, const Shared<TcpStream>& stream)
      : port_(std::move(port)),
        peer_(stream->peer().ip),
        wire_(MakeShared<net::Wire>(stream)),
        running_(RunningWork::Token(port_->running())) {}

  void Start(const Shared<net::TlsContext>& tls) {
    const Shared<EndpointConnection> self(this);
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
    const Shared<EndpointConnection> self(this);
    const Shared<EndpointPort> port = std::exchange(port_, {});
    if (!port) return;
    limit_.Cancel();
    reader_.Cancel();
    wire_->Close();
    if (http1_) http1_->Close();
    running_.reset();
    port->OnClosed(this);
  }
  // Closes the connection once it has no request.
  void Finish() { busy() ? http1_->CloseAfterResponse() : Close(); }
  bool busy() const noexcept { return phase_ == Phase::kHealth || phase_ == Phase::kPage; }
  bool has_page() const noexcept { return phase_ == Phase::kPage; }
  std::uint64_t turn() const noexcept { return turn_; }  // smaller: it has been in its phase for longer
  const std::string& peer() const noexcept { return peer_; }

 private:
  // kReading: no request, or a part of one. kPage: a request for a page. kHealth: any other request.
  enum class Phase : std::uint8_t { kReading, kHealth, kPage, kIdle };

  // Each phase has its time limit.
  void Enter(Phase phase) {
    phase_ = phase;
    turn_ = port_->NextTurn();
    const Nanos limit = phase == Phase::kReading ? seconds(32) : seconds(90);
    limit_ = port_->loop()->After(limit, [self = Shared<EndpointConnection>(this)] { self->Close(); });
  }

  // Watches a reader until it has taken everything.
  void WatchReader() {
    reader_ = port_->loop()->After(kReaderTick, [self = Shared<EndpointConnection>(this)] { self->OnReaderTick(); });
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
  void OnWireOpen() override { http1_ = net::Http1Session::Make(port_->loop(), wire_, this, kLimits); }
  void OnWireBytes(std::string_view plain) override {
    const Shared<EndpointConnection> self(this);
    if (phase_ == Phase::kIdle) Enter(Phase::kReading);
    http1_->OnBytes(plain);
  }
  void OnWireBatchEnd() override {
    const Shared<EndpointConnection> self(this);
    http1_->OnBatchEnd();
  }
  void OnWireDrained() override {
    const Shared<EndpointConnection> self(this);
    ++drained_;
    if (http1_) http1_->OnDrained();
  }
  void OnWireClosed(Error) override { Close(); }

  void OnHttp1Request(net::ServerRequest request, Shared<net::ResponseWriter> writer) override {
    const bool page = port_->routes().IsPage(request);
    Enter(page ? Phase::kPage : Phase::kHealth);
    WatchReader();
    if (page) port_->MakeRoomForPage(this);
    port_->routes().Handle(request, port_->pages(), writer);
  }
  void OnHttp1End() override {
    if (port_) Enter(Phase::kIdle);
  }
  void OnHttp1Close() override { Close(); }

  Shared<EndpointPort> port_;  // null: closed
  const std::string peer_;
  const Shared<net::Wire> wire_;
  std::optional<RunningWork::Token> running_;
  Shared<net::Http1Session> http1_;  // null until the wire is open
  Phase phase_ = Phase::kReading;
  std::uint64_t turn_ = 0;
  Timer limit_, reader_;
  std::uint64_t drained_ = 0;                        // how often the kernel has taken everything
  std::pair<std::uint64_t, std::size_t> sent_ = {};  // `drained_` and the backlog at the last tick
  int still_ = 0;                                    // ticks without a change of it
};

namespace {

// Returns the connection to close: the oldest one of the address that has the most.
Shared<EndpointConnection> OldestOfMost(const std::vector<Shared<EndpointConnection>>& some) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& each : some) ++counts[each->peer()];
  return *std::ranges::max_element(some, {},
                                   [&](const auto& each) { return std::pair(counts[each->peer()], ~each->turn()); });
}

}  // namespace

EndpointPort::EndpointPort(PortOptions options, Shared<net::EventLoop> loop, Shared<EndpointRoutes> routes,
                           Shared<RunningWork> running)
    : options_(std::move(options)), loop_(std::move(loop)), routes_(std::move(routes)), running_(std::move(running)) {}

Result<std::string> EndpointPort::IpOf(const std::string& address) {
  auto parsed = ParseAddress(address);
  if (!parsed) return Fail(std::move(parsed).error());
  return parsed->ip.substr(0, parsed->ip.find('%'));
}

Result<Shared<EndpointPort>> EndpointPort::Bind(PortOptions options, Shared<net::EventLoop> loop,
                                                Shared<EndpointRoutes> routes, Shared<RunningWork> running) {
  auto port = MakeShared<EndpointPort>(std::move(options), std::move(loop), std::move(routes), std::move(running));
  if (auto listens = port->Listen(); !listens) return Fail(std::move(listens).error());
  return port;
}

Result<void> EndpointPort::Listen() {
  auto address = ParseAddress(options_.address);
  if (!address) return Fail(address.error());
  const auto listen = [this](const net::Address& at) {
    return loop_->Listen(
        at, [self = Shared<EndpointPort>(this)](Shared<TcpStream> stream) { self->Accept(std::move(stream)); });
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
    return Fail(listener.error().code(), "the endpoint: " + listener.error().message() +
                                             "; choose another address, or leave it empty to turn the endpoint off");
  }
  address->port = (*listener)->port();
  address_ = address->ToString();
  // Continues on the loop's thread, which may accept connections already.
  const bool running = loop_->Post([self = Shared<EndpointPort>(this), listener = *listener]() mutable {
    self->listener_ = std::move(listener);
    if (self->closed_) return std::exchange(self->listener_, {})->Close();
    self->loop_->Register(self.get());
  });
  if (!running) return Fail(Code::kStopped, "the endpoint cannot listen: the process is ending");
  return {};
}

void EndpointPort::Open() {
  loop_->Post([self = Shared<EndpointPort>(this)] {
    self->open_ = true;
    for (const auto& stream : std::exchange(self->early_, {})) self->Serve(stream);
  });
}

void EndpointPort::Accept(Shared<TcpStream> stream) {
  if (closed_) return stream->Close();
  if (open_) return Serve(stream);
  if (early_.size() == kMaxConnections) {
    early_.front()->Close();
    early_.erase(early_.begin());
  }
  early_.push_back(std::move(stream));
}

void EndpointPort::Serve(const Shared<TcpStream>& stream) {
  if (closed_) return stream->Close();
  if (connections_.size() >= kMaxConnections) MakeRoom();
  auto connection = MakeShared<EndpointConnection>(Shared<EndpointPort>(this), stream);
  connections_.push_back(connection);
  connection->Start(options_.certificate ? options_.certificate() : Shared<net::TlsContext>());
}

template <typename Which>
EndpointPort::Connections EndpointPort::Select(Which which) const {
  Connections selected;
  std::ranges::copy_if(connections_, std::back_inserter(selected), which);
  return selected;
}

void EndpointPort::MakeRoom() {
  Connections candidates = Select([](const auto& each) { return !each->busy(); });
  if (candidates.empty()) candidates = Select([](const auto& each) { return each->has_page(); });
  OldestOfMost(candidates.empty() ? connections_ : candidates)->Close();
}

void EndpointPort::MakeRoomForPage(const EndpointConnection* connection) {
  for (;;) {
    const Connections others =
        Select([connection](const auto& each) { return each->has_page() && each.get() != connection; });
    const bool room = others.size() < kMaxPages && routes_->large_answers() < kMaxAnswers;
    if (room || others.empty()) return;
    OldestOfMost(others)->Close();
  }
}

void EndpointPort::OnClosed(EndpointConnection* connection) {
  std::erase_if(connections_, [connection](const auto& each) { return each.get() == connection; });
}

// The token keeps Stop() waiting until the task has run.
void EndpointPort::Finish() {
  loop_->Post([self = Shared<EndpointPort>(this), busy = RunningWork::Token(running_)] { self->BeginStop(); });
}

void EndpointPort::BeginStop() {
  closed_ = true;
  if (listener_) listener_->Close();
  for (auto& stream : std::exchange(early_, {})) stream->Close();
  for (const auto& connection : Connections(connections_)) connection->Finish();
}

void EndpointPort::Close() {
  loop_->Post([self = Shared<EndpointPort>(this)] { self->CloseAll(); });
}

void EndpointPort::CloseAll() {
  const Shared<EndpointPort> self(this);
  BeginStop();
  for (const auto& connection : Connections(connections_)) connection->Close();
  if (std::exchange(listener_, {})) loop_->Unregister(this);
}

}  // namespace kgen::controller
