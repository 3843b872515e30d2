// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/endpoint_server.h"

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "controller/http/http_site.h"
#include "net/duration_text.h"
#include "net/x509.h"

namespace kgen::controller {
namespace {

constexpr std::string_view kWho = "the endpoint";
constexpr std::chrono::seconds kSelfSignedFor = std::chrono::days(365);
constexpr std::size_t kMaxPages = 64;   // connections with a request for a page
constexpr std::size_t kMaxAnswers = 8;  // large answers that are held because they are not sent yet
constexpr std::size_t kMaxBody = 16 * 1024;

// The part of the routes that one address serves. A request for a page (/metrics, /debug, ...) may wait for user code,
// for the API server or for a client that does not read. It may not keep a probe of the kubelet out, so it yields; and
// a new connection, which may be a probe, is never refused.
class EndpointSite final : public HttpSite {
 public:
  EndpointSite(Shared<EndpointRoutes> routes, EndpointRoutes::Pages pages)
      : routes_(std::move(routes)), pages_(pages) {}

  bool Yields(const net::ServerRequest& request) const noexcept override { return routes_->IsPage(request); }
  bool Crowded() const noexcept override { return routes_->large_answers() >= kMaxAnswers; }
  std::size_t MaxBody(const net::ServerRequest&) override { return kMaxBody; }
  void Handle(HttpCall call) override { routes_->Handle(call.request, pages_, call.writer); }

 private:
  const Shared<EndpointRoutes> routes_;
  const EndpointRoutes::Pages pages_;
};

// Threads that nobody else can fill. There are never more of them than functions, since each runs at most once at a
// time, and none while nobody asks.
Shared<Executor> OwnThreads() {
  return *MakeThreadPool({.threads = 1, .max_threads = std::numeric_limits<int>::max()});
}

}  // namespace

EndpointServer::EndpointServer(const EndpointOptions& options, Shared<net::EventLoop> loop)
    : loop_(std::move(loop)),
      executor_(options.executor ? options.executor : OwnThreads()),
      routes_(MakeShared<EndpointRoutes>(options, executor_, running_, loop_)) {}

Result<Shared<EndpointServer>> EndpointServer::Listen(const EndpointOptions& options, Shared<net::EventLoop> loop) {
  auto server = MakeShared<EndpointServer>(options, std::move(loop));
  auto opened = server->Open(options);
  if (!opened) {
    server->Close();  // the addresses before the one that failed
    return Fail(std::move(opened).error());
  }
  return server;
}

Result<void> EndpointServer::Open(const EndpointOptions& options) {
  using Pages = EndpointRoutes::Pages;
  const bool apart = !options.health_address.empty();
  if (!options.address.empty()) {
    HttpPortOptions port{.address = options.address};
    if (options.tls) {
      if (auto loaded = LoadCertificate(options); !loaded) {
        return Fail(loaded.error().With("the endpoint's certificate"));
      }
      port.certificate = [files = certificate_] { return files->Current(); };
    }
    auto bound = Bind(apart ? Pages::kOthers : Pages::kAll, std::move(port));
    if (!bound) return Fail(std::move(bound).error());
    address_ = health_address_ = *std::move(bound);
  }
  if (!options.debug_address.empty()) {
    if (auto opened = OpenDebug(options.debug_address); !opened) return opened;
  }
  if (!apart) return {};
  auto bound = Bind(Pages::kHealth, {.address = options.health_address});
  if (!bound) return Fail(std::move(bound).error());
  health_address_ = *std::move(bound);
  return {};
}

Result<void> EndpointServer::OpenDebug(const std::string& address) {
  auto ip = HttpPort::IpOf(address, kWho);
  if (!ip) return Fail(std::move(ip).error());
  if (!IsLoopbackHost(*ip)) {
    return Fail(Code::kConfig, "the endpoint's debug_address '" + address +
                                   "' is no loopback address, and everybody could read /debug there; write "
                                   "127.0.0.1:PORT, or leave it empty and use `address`");
  }
  auto bound = Bind(EndpointRoutes::Pages::kDebug, {.address = address});
  if (!bound) return Fail(std::move(bound).error());
  debug_address_ = *std::move(bound);
  return {};
}

Result<void> EndpointServer::LoadCertificate(const EndpointOptions& options) {
  const TlsFiles& files = *options.tls;
  CertificateSource source{
      .who = std::string(kWho), .certificate_file = files.certificate_file, .key_file = files.key_file};
  const bool own = files.certificate_file.empty() && files.key_file.empty();
  if (own) {
    std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
    const auto ip = HttpPort::IpOf(options.address, kWho);
    if (ip && !ip->empty()) names.push_back(*ip);  // else Bind() fails
    auto identity = net::SelfSignedIdentity(names, kSelfSignedFor);
    if (!identity) return Fail(identity.error());
    source.identity = *std::move(identity);
  }
  auto watcher =
      CertificateWatcher::Open(std::move(source), executor_, own ? std::optional<Metrics>() : options.metrics);
  if (!watcher) return Fail(watcher.error());
  certificate_ = *std::move(watcher);
  return {};
}

Result<std::string> EndpointServer::Bind(EndpointRoutes::Pages pages, HttpPortOptions options) {
  options.who = kWho;
  options.remedy = "choose another address, or leave it empty to turn the endpoint off";
  options.max_yielding = kMaxPages;
  auto port =
      HttpPort::Bind(std::move(options), loop_, executor_->clock(), MakeShared<EndpointSite>(routes_, pages), running_);
  if (!port) return Fail(std::move(port).error());
  ports_.push_back(*port);
  return (*port)->address();
}

Result<void> EndpointServer::Add(EndpointRoutes::Kind kind, std::string_view name, EndpointRoutes::Function function) {
  const MutexLock lock(mutex_);
  if (auto fits = CheckNew(name); !fits) return fits;
  return routes_->Add(kind, name, std::move(function));
}

Result<void> EndpointServer::AddSection(std::string_view name, EndpointRoutes::Section section) {
  const MutexLock lock(mutex_);
  if (auto fits = CheckNew(name); !fits) return fits;
  return routes_->AddSection(name, std::move(section));
}

Result<void> EndpointServer::AddPage(std::string_view path, Endpoint::Page page) {
  const MutexLock lock(mutex_);
  if (auto fits = CheckNew(path); !fits) return fits;
  return routes_->AddPage(path, std::move(page));
}

Result<void> EndpointServer::CheckNew(std::string_view name) const {
  if (state_ == State::kNew) return {};
  return Fail(Code::kInvalidArgument, "endpoint: '" + std::string(name) + "' was added after Start()");
}

Result<void> EndpointServer::Start() {
  {
    const MutexLock lock(mutex_);
    if (state_ == State::kStopped) return Fail(Code::kStopped, "the endpoint has been stopped");
    if (state_ == State::kStarted) return Fail(Code::kInvalidArgument, "the endpoint was started before");
    state_ = State::kStarted;
  }
  if (ports_.empty()) return {};
  if (certificate_) {
    certificate_->Start([routes = routes_](const Error& error) { routes->Report("certificate", error); });
  }
  routes_->Start();
  for (const auto& port : ports_) port->Open();
  return {};
}

Result<void> EndpointServer::Stop(Nanos limit) {
  if (limit < Nanos::zero()) {
    return Fail(Code::kInvalidArgument,
                "stop the endpoint: `limit` is " + net::DurationText(limit) + ", but it must not be negative");
  }
  {
    const MutexLock lock(mutex_);
    if (std::exchange(state_, State::kStopped) == State::kStopped) return {};
  }
  if (ports_.empty()) return {};  // nothing runs, and a simulation must not touch the I/O thread
  const TimePoint deadline = Later(executor_->clock()->Now(), limit);
  for (const auto& port : ports_) port->Finish();
  StopFunctions();
  Result<void> ended;
  if (limit > Nanos::zero()) ended = running_->AwaitNone(*executor_, deadline);
  std::string running = ended ? std::string() : routes_->Running();
  Close();
  if (ended || ended.error().code() != Code::kTimeout) return ended;
  const std::string& at = !address_.empty() ? address_ : !health_address_.empty() ? health_address_ : debug_address_;
  return Fail(Code::kTimeout,
              "the endpoint at " + at + " did not stop within " + net::DurationText(limit) + ": " +
                  (running.empty() ? "a client has not read its response" : "still running: " + running));
}

void EndpointServer::StopFunctions() {
  routes_->Stop();
  if (certificate_) certificate_->Stop();
}

void EndpointServer::Close() {
  if (ports_.empty()) return;
  StopFunctions();
  for (const auto& port : ports_) port->Close();
}

}  // namespace kgen::controller
