// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/webhook_server.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observers/notify_observer.h"
#include "net/duration_text.h"
#include "net/x509.h"

namespace kgen::controller {
namespace {

constexpr std::string_view kServer = "the webhook server";
constexpr std::chrono::seconds kOwnCertificateFor = std::chrono::days(365);
constexpr std::size_t kMaxHead = 64 * 1024;
// API servers hold up to 25 idle connections each. One that is open takes about 100 KiB.
constexpr std::size_t kMaxConnections = 512;
// Longer than the 90 s after which an API server closes an idle connection, so that it never sends a review on a
// connection that this server is closing.
constexpr Nanos kIdleLimit = std::chrono::seconds(120);
constexpr Nanos kRequestLimit = std::chrono::seconds(30);

// Threads that nobody else can fill. There are never more of them than functions that may run.
Shared<Executor> ThreadsOfItsOwn() {
  return *MakeThreadPool({.threads = 1, .max_threads = std::numeric_limits<int>::max()});
}

Result<void> CheckLimits(const WebhookOptions& options) {
  const auto refuse = [](std::string_view option, const std::string& value, std::string_view why) {
    return Fail(Code::kInvalidArgument,
                "WebhookOptions::" + std::string(option) + " is " + value + ", but " + std::string(why));
  };
  if (options.max_review_bytes == 0) return refuse("max_review_bytes", "0", "a review has at least one byte");
  if (options.max_conversion_bytes == 0) return refuse("max_conversion_bytes", "0", "a review has at least one byte");
  const std::size_t largest = std::max(options.max_review_bytes, options.max_conversion_bytes);
  if (options.max_bytes < largest) {
    return refuse("max_bytes", std::to_string(options.max_bytes),
                  "the largest review alone may have " + std::to_string(largest) +
                      "; raise it, or lower max_review_bytes and max_conversion_bytes");
  }
  if (options.max_concurrent < 1) {
    return refuse("max_concurrent", std::to_string(options.max_concurrent), "at least one function must run");
  }
  if (options.drain < Nanos::zero()) {
    return refuse("drain", net::DurationText(options.drain), "a time is not negative");
  }
  return {};
}

}  // namespace

WebhookServer::WebhookServer(Setup setup, Shared<net::EventLoop> loop, Shared<Executor> executor)
    : setup_(std::move(setup)),
      loop_(std::move(loop)),
      executor_(std::move(executor)),
      reports_(executor_->MakeStrand("reports of the webhook server")),
      metrics_(MakeShared<WebhookMetrics>(setup_.metrics)),
      calls_(MakeShared<WebhookCalls>(
          WebhookCalls::Limits{.max_review_bytes = setup_.options.max_review_bytes,
                               .max_conversion_bytes = setup_.options.max_conversion_bytes,
                               .max_concurrent = static_cast<std::size_t>(setup_.options.max_concurrent)},
          setup_.routes, metrics_, executor_, running_, loop_)) {}

Result<Shared<WebhookServer>> WebhookServer::Listen(Setup setup) {
  if (auto fine = CheckLimits(setup.options); !fine) return Fail(fine.error());
  Shared<net::EventLoop> loop = setup.loop ? setup.loop : net::EventLoop::ForWebhooks();
  Shared<Executor> executor = setup.executor ? setup.executor : ThreadsOfItsOwn();
  auto server = MakeShared<WebhookServer>(std::move(setup), std::move(loop), std::move(executor));
  if (auto opened = server->Open(); !opened) return Fail(std::move(opened).error());
  return server;
}

Result<void> WebhookServer::Open() {
  const WebhookOptions& options = setup_.options;
  HttpPortOptions port{.address = options.address,
                       .who = std::string(kServer),
                       .remedy = "choose another address in WebhookOptions::address",
                       .max_connections = kMaxConnections,
                       .cuts_requests = false,
                       .max_bytes = options.max_bytes,
                       .request_limit = kRequestLimit,
                       .idle_limit = kIdleLimit};
  port.limits.max_header = kMaxHead;
  if (!setup_.plain) {
    if (auto loaded = LoadCertificate(); !loaded) return Fail(loaded.error().With("the webhook server's certificate"));
    port.certificate = [files = files_, certificates = setup_.certificates] {
      return certificates ? certificates(files->client_ca()) : files->Current();
    };
  }
  readiness_->has_certificate = [certificate = port.certificate] { return !certificate || certificate(); };
  auto bound = HttpPort::Bind(std::move(port), loop_, executor_->clock(), calls_, running_);
  if (!bound) return Fail(std::move(bound).error());
  port_ = *std::move(bound);
  address_ = port_->address();
  return {};
}

Result<void> WebhookServer::LoadCertificate() {
  const WebhookOptions& options = setup_.options;
  CertificateSource source{.who = std::string(kServer), .client_ca_file = options.client_ca_file};
  if (options.certificate && !setup_.certificates) {
    source.certificate_file = options.certificate->certificate_file;
    source.key_file = options.certificate->key_file;
  }
  const bool own = source.certificate_file.empty() && source.key_file.empty();
  if (own) {
    std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
    const auto ip = HttpPort::IpOf(options.address, kServer);
    if (ip && !ip->empty()) names.push_back(*ip);  // else Bind() fails
    auto identity = net::SelfSignedIdentity(names, kOwnCertificateFor);
    if (!identity) return Fail(identity.error());
    source.identity = *std::move(identity);
  }
  auto files = CertificateWatcher::Open(std::move(source), executor_, own ? std::optional<Metrics>() : setup_.metrics);
  if (!files) return Fail(files.error());
  files_ = *std::move(files);
  return {};
}

void WebhookServer::WatchCertificate() {
  if (!files_) return;
  files_->Start([executor = executor_, reports = reports_, observer = setup_.observer](const Error& error) {
    executor->BlockingOn(reports, [observer, error] {
      NotifyObserver(observer,
                     [&](Observer& o) { o.OnCheckFailed({.check = "webhooks/certificate", .error = &error}); });
    });
  });
}

Result<void> WebhookServer::Start() {
  {
    const MutexLock lock(mutex_);
    if (state_ == State::kStopped) return Fail(Code::kStopped, "the webhook server has been stopped");
    if (state_ == State::kStarted) return Fail(Code::kInvalidArgument, "the webhook server was started before");
    state_ = State::kStarted;
  }
  for (const std::string& path : setup_.routes->paths()) {
    if (auto added = metrics_->AddPath(path); !added) return Fail(added.error().With("the webhook server"));
  }
  WatchCertificate();
  port_->Open();
  readiness_->serves.store(true);
  return {};
}

std::function<Result<void>(std::stop_token)> WebhookServer::ReadyCheck() const {
  return [readiness = readiness_](const std::stop_token&) -> Result<void> {
    if (!readiness->serves.load()) return Fail(Code::kUnavailable, "the webhook server does not serve, or is stopping");
    if (!readiness->has_certificate()) return Fail(Code::kUnavailable, "the webhook server has no certificate yet");
    return {};
  };
}

void WebhookServer::Drain() {
  readiness_->serves.store(false);
  port_->Drain();
}

Result<void> WebhookServer::Stop(Nanos limit) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(state_, State::kStopped) == State::kStopped) return {};
  }
  readiness_->serves.store(false);
  const TimePoint deadline = Later(executor_->clock()->Now(), limit);
  if (files_) files_->Stop();
  port_->Drain();
  port_->Finish();
  Result<void> ended;
  if (limit > Nanos::zero()) ended = running_->AwaitNone(*executor_, deadline);
  const std::string running = ended ? std::string() : calls_->Running();
  Close();
  if (ended || ended.error().code() != Code::kTimeout) return ended;
  return Fail(Code::kTimeout, "the webhook server at " + address_ + " did not stop within " + net::DurationText(limit) +
                                  ": " +
                                  (running.empty() ? "a client has not sent its request or not read its response"
                                                   : "still running: " + running));
}

void WebhookServer::Close() {
  readiness_->serves.store(false);
  if (files_) files_->Stop();
  calls_->RequestStops();
  port_->Close();
}

}  // namespace kgen::controller
