// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WebhookServer: the life of the server of webhooks, with its address and its certificate.
//
//   HttpPort --requests--> WebhookCalls --> WebhookRoutes --> WebhookHandler
//
// Its event loop, its threads and its memory are its own, so that neither the endpoint nor a reconcile can keep the API
// server waiting.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_SERVER_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "controller/http/certificate_watcher.h"
#include "controller/http/http_port.h"
#include "controller/http/running_work.h"
#include "controller/webhook/webhook_calls.h"
#include "controller/webhook/webhook_metrics.h"
#include "controller/webhook/webhook_routes.h"
#include "core/memory/mutex.h"
#include "kgen/controller/metrics.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/event_loop.h"
#include "net/tls.h"

namespace kgen::controller {

// Thread safety: all members from any thread; Stop() blocks, and Listen() while it reads files.
class WebhookServer final : public SharedObject {
 public:
  // Returns the certificate for a new connection, which must ask clients for a certificate of `client_ca_pem` unless
  // that is "". Null: there is none yet, and connections are closed. Called for each connection on the loop's thread,
  // so it keeps what it has made; it must not block.
  using Certificates = std::function<Shared<net::TlsContext>(const std::string& client_ca_pem)>;

  struct Setup {
    WebhookOptions options{};
    Shared<WebhookRoutes> routes{};
    std::optional<Metrics> metrics{};
    Shared<Observer> observer{};  // gets certificates that cannot be read
    Certificates certificates{};  // instead of WebhookOptions::certificate
    // ---- For tests. ----
    Shared<net::EventLoop> loop{};  // default: one for all webhook servers of the process
    Shared<Executor> executor{};    // default: threads that nobody else can fill
    bool plain = false;             // without TLS
  };

  // Binds the address. Connections are accepted, and wait until Start().
  // Errors: kConfig           the address is malformed, or a file cannot be read or used
  //         kInvalidArgument  an option is out of its range
  //         kUnavailable      the address is in use or not one of this machine
  static Result<Shared<WebhookServer>> Listen(Setup setup);

  // Errors: kInvalidArgument  called twice, or the registry of metrics has other families of the server's names
  //         kStopped          Stop() was called before
  Result<void> Start();
  // Fails unless the server serves and has a certificate, and from Drain() on. Holds only what it needs for that.
  std::function<Result<void>(std::stop_token)> ReadyCheck() const;
  // Makes the check fail, and closes each connection after its next response.
  void Drain();
  // Stops accepting, closes connections without a request, and waits until requests are answered and functions have
  // returned. After `limit` it requests the stop of functions, closes all connections and fails. Zero does not wait,
  // and does not fail. A second call does nothing.
  // Errors: kTimeout                     a request or a function was still running; the message names the paths
  //         kInvalidArgument, kDeadlock  as for Waiter::Wait(); everything is closed
  Result<void> Stop(Nanos limit);
  // Closes everything. Running functions go on until they return.
  void Close();
  const std::string& address() const noexcept { return address_; }

  WebhookServer(Setup setup, Shared<net::EventLoop> loop, Shared<Executor> executor);

 private:
  // What the check needs.
  struct Readiness : SharedObject {
    std::atomic<bool> serves{false};
    std::function<bool()> has_certificate{};
  };

  Result<void> Open();
  Result<void> LoadCertificate();
  void WatchCertificate();

  const Setup setup_;
  const Shared<net::EventLoop> loop_;
  const Shared<Executor> executor_;
  const Shared<Strand> reports_;  // the observer's
  const Shared<RunningWork> running_ = MakeShared<RunningWork>("the webhook server");
  const Shared<WebhookMetrics> metrics_;
  const Shared<WebhookCalls> calls_;
  const Shared<Readiness> readiness_ = MakeShared<Readiness>();
  // Set by Listen().
  Shared<CertificateWatcher> files_;  // or null
  Shared<HttpPort> port_;
  std::string address_;
  Mutex mutex_;
  enum class State : std::uint8_t { kNew, kStarted, kStopped } state_ KGEN_GUARDED_BY(mutex_) = State::kNew;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_SERVER_H_
