// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/endpoint_server.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "client/http1_session.h"
#include "client/text.h"
#include "client/wire.h"
#include "client/x509.h"

namespace kgen::controller {
namespace {

using net::TcpStream;
using std::chrono::seconds;

constexpr std::size_t kMaxConnections = 256;
constexpr std::chrono::seconds kSelfSignedFor = std::chrono::days(365);
constexpr net::Http1Session::Limits kLimits = {.max_header = 16 * 1024, .max_body = 16 * 1024, .max_ahead = 64 * 1024};

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
  EndpointConnection(Shared<EndpointServer> server, Shared<TcpStream> stream)
      : server_(std::move(server)),
        wire_(MakeShared<net::Wire>(std::move(stream))),
        activity_(Activity::Token(server_->activity())) {}

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
    if (!tls && server_) OnWireOpen();
  }
  void Close() {
    const Shared<EndpointConnection> self(this);
    const Shared<EndpointServer> server = std::exchange(server_, {});
    if (!server) return;
    limit_.Cancel();
    wire_->Close();
    if (http1_) http1_->Close();
    activity_.reset();
    server->OnClosed(this);
  }
  // Closes the connection once it has no request.
  void Finish() { busy() ? http1_->CloseAfterResponse() : Close(); }
  bool busy() const noexcept { return phase_ == Phase::kBusy; }
  std::uint64_t turn() const noexcept { return turn_; }  // smaller: it has been in its phase for longer

 private:
  enum class Phase : std::uint8_t { kReading, kBusy, kIdle };

  // Each phase has its time limit.
  void Enter(Phase phase) {
    phase_ = phase;
    turn_ = server_->NextTurn();
    const Nanos limit = phase == Phase::kReading ? seconds(32) : seconds(90);
    limit_ = server_->loop()->After(limit, [self = Shared<EndpointConnection>(this)] { self->Close(); });
  }

  // A request that is refused closes the connection inside these calls, and the server then drops it.
  void OnWireOpen() override { http1_ = net::Http1Session::Make(server_->loop(), wire_, this, kLimits); }
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
    if (http1_) http1_->OnDrained();
  }
  void OnWireClosed(Error) override { Close(); }

  void OnHttp1Request(net::ServerRequest request, Shared<net::ResponseWriter> writer) override {
    Enter(Phase::kBusy);
    server_->routes().Handle(std::move(request), writer);
  }
  void OnHttp1End() override {
    if (server_) Enter(Phase::kIdle);
  }
  void OnHttp1Close() override { Close(); }

  Shared<EndpointServer> server_;  // null: closed
  const Shared<net::Wire> wire_;
  std::optional<Activity::Token> activity_;
  Shared<net::Http1Session> http1_;  // null until the wire is open
  Phase phase_ = Phase::kReading;
  std::uint64_t turn_ = 0;
  Timer limit_;
};

EndpointServer::EndpointServer(const EndpointOptions& options, Shared<net::EventLoop> loop)
    : loop_(std::move(loop)),
      executor_(options.executor ? options.executor : DefaultExecutor()),
      routes_(MakeShared<EndpointRoutes>(options, executor_, activity_, loop_)) {}

Result<Shared<EndpointServer>> EndpointServer::Listen(const EndpointOptions& options, Shared<net::EventLoop> loop) {
  auto server = MakeShared<EndpointServer>(options, std::move(loop));
  if (options.address.empty() || options.address == "0") return server;
  if (options.tls) {
    if (auto loaded = server->LoadCertificate(options); !loaded) {
      return Fail(loaded.error().With("the endpoint's certificate"));
    }
  }
  if (auto bound = server->Bind(options.address); !bound) return Fail(bound.error());
  return server;
}

Result<void> EndpointServer::LoadCertificate(const EndpointOptions& options) {
  const TlsFiles& files = *options.tls;
  if (files.certificate_file.empty() != files.key_file.empty()) {
    return Fail(Code::kConfig, "only the file of the " + std::string(files.key_file.empty() ? "certificate" : "key") +
                                   " is named; name both, or none for a certificate that is made in memory");
  }
  if (!files.key_file.empty()) {
    auto watcher = CertificateWatcher::Open(files, executor_, options.metrics);
    if (!watcher) return Fail(watcher.error());
    certificate_ = *std::move(watcher);
    return {};
  }
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  if (const auto address = ParseAddress(options.address); address && !address->ip.empty()) {  // else Bind() reports it
    names.push_back(address->ip.substr(0, address->ip.find('%')));
  }
  const auto identity = net::SelfSignedIdentity(names, kSelfSignedFor);
  if (!identity) return Fail(identity.error());
  auto context = net::TlsContext::ForServer(
      {.certificate_pem = identity->certificate_pem, .key_pem = identity->key_pem, .alpn = ""});
  if (!context) return Fail(context.error());
  self_signed_ = *std::move(context);
  return {};
}

Result<void> EndpointServer::Bind(const std::string& text) {
  auto address = ParseAddress(text);
  if (!address) return Fail(address.error());
  const auto listen = [this](const net::Address& at) {
    return loop_->Listen(
        at, [self = Shared<EndpointServer>(this)](Shared<TcpStream> stream) { self->Accept(std::move(stream)); });
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
    return Fail(listener.error().code(),
                "the endpoint: " + listener.error().message() + "; choose another address, or \"0\" to turn it off");
  }
  address->port = (*listener)->port();
  address_ = address->ToString();
  // On the loop's thread, which may accept connections already.
  const bool running = loop_->Post([self = Shared<EndpointServer>(this), listener = *listener]() mutable {
    self->listener_ = std::move(listener);
    if (self->closed_) return std::exchange(self->listener_, {})->Close();
    self->loop_->Register(self.get());
  });
  if (!running) return Fail(Code::kStopped, "the endpoint cannot listen: the process is ending");
  return {};
}

Result<void> EndpointServer::Add(EndpointRoutes::Kind kind, std::string_view name, SharedCall::Function function) {
  const MutexLock lock(mutex_);
  if (state_ != State::kNew) {
    return Fail(Code::kInvalidArgument, "endpoint: '" + std::string(name) + "' was added after Start()");
  }
  return routes_->Add(kind, name, std::move(function));
}

Result<void> EndpointServer::Start() {
  {
    const MutexLock lock(mutex_);
    if (state_ == State::kStopped) return Fail(Code::kStopped, "the endpoint has been stopped");
    if (state_ == State::kStarted) return Fail(Code::kInvalidArgument, "the endpoint was started before");
    state_ = State::kStarted;
  }
  if (address_.empty()) return {};
  if (certificate_) {
    certificate_->Start([routes = routes_](const Error& error) { routes->Report("certificate", error); });
  }
  loop_->Post([self = Shared<EndpointServer>(this)] {
    self->open_ = true;
    for (auto& stream : std::exchange(self->early_, {})) self->Open(std::move(stream));
  });
  return {};
}

void EndpointServer::Accept(Shared<TcpStream> stream) {
  if (closed_) return stream->Close();
  if (open_) return Open(std::move(stream));
  if (early_.size() == kMaxConnections) return stream->Close();
  early_.push_back(std::move(stream));
}

void EndpointServer::Open(Shared<TcpStream> stream) {
  if (closed_) return stream->Close();
  if (connections_.size() >= kMaxConnections) {
    const auto turn = [](const auto& each) { return std::pair(each->busy(), each->turn()); };
    const Shared<EndpointConnection> oldest = *std::ranges::min_element(connections_, {}, turn);
    if (oldest->busy()) return stream->Close();
    oldest->Close();
  }
  auto connection = MakeShared<EndpointConnection>(Shared<EndpointServer>(this), std::move(stream));
  connections_.push_back(connection);
  connection->Start(certificate_ ? certificate_->Current() : self_signed_);
}

void EndpointServer::OnClosed(EndpointConnection* connection) {
  std::erase_if(connections_, [connection](const auto& each) { return each.get() == connection; });
}

Result<void> EndpointServer::Stop(Nanos limit) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(state_, State::kStopped) == State::kStopped) return {};
  }
  if (address_.empty()) return {};  // nothing runs, and a simulation must not touch the I/O thread
  const TimePoint deadline = Later(executor_->clock()->Now(), limit);
  loop_->Post([self = Shared<EndpointServer>(this), busy = Activity::Token(activity_)] { self->BeginStop(); });
  routes_->Stop();
  if (certificate_) certificate_->Stop();
  Result<void> ended;
  if (limit > Nanos::zero()) ended = activity_->AwaitNone(*executor_, deadline);
  std::string running = ended ? std::string() : routes_->Running();
  Close();
  if (ended || ended.error().code() != Code::kTimeout) return ended;
  return Fail(Code::kTimeout,
              "the endpoint at " + address_ + " did not stop within " + client::DurationText(limit) + ": " +
                  (running.empty() ? "a client has not read its response" : "still running: " + running));
}

void EndpointServer::BeginStop() {
  closed_ = true;
  if (listener_) listener_->Close();
  for (auto& stream : std::exchange(early_, {})) stream->Close();
  for (const auto& connection : std::vector(connections_)) connection->Finish();
}

void EndpointServer::Close() {
  if (address_.empty()) return;
  routes_->Stop();
  if (certificate_) certificate_->Stop();
  loop_->Post([self = Shared<EndpointServer>(this)] { self->CloseAll(); });
}

void EndpointServer::CloseAll() {
  const Shared<EndpointServer> self(this);
  BeginStop();
  for (const auto& connection : std::vector(connections_)) connection->Close();
  if (std::exchange(listener_, {})) loop_->Unregister(this);
}

}  // namespace kgen::controller
