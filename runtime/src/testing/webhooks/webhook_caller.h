// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WebhookCaller: calls webhooks for the in-memory API server. Handlers in this process run as Blocking work, so that in
// a simulation the time that they take is virtual.
//
//   ApiServer --Call(review, done)--> WebhookCaller --Blocking--> WebhookHandler
//        ^                                 | timeout, faults          |
//        +----------- done(outcome) -------+-------- answer ----------+
#ifndef KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_CALLER_H_
#define KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_CALLER_H_

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/webhook/webhook_routes.h"
#include "core/memory/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "kgen/testing/webhook_fault.h"

namespace kgen::testing {

struct WebhookRequest {
  std::string name;              // of the webhook or the CRD, for faults
  nlohmann::json client_config;  // WebhookClientConfig
  std::string review;
  Nanos timeout{};
};

struct WebhookOutcome {
  std::string answer{};   // a body with the status 200
  std::string failure{};  // not "": there was no such answer, and why
};

// Thread safety: all members from any thread. None blocks.
class WebhookCaller final : public SharedObject {
 public:
  // `network`: a URL, or a service of ServeAt(), that has no handlers in this process is called over TLS.
  WebhookCaller(Shared<Executor> executor, bool network);

  // Adds handlers for a service, "namespace/name", or for all that have none ("").
  void Serve(Shared<controller::WebhookRoutes> routes, std::string_view service);
  // The service listens there: "127.0.0.1:9443".
  void ServeAt(std::string_view service, std::string_view address);
  void Inject(WebhookFault fault);
  void ClearFaults();
  void Close();  // calls that are under way, and later ones, are never answered

  // Calls a webhook. `done` is called once, later, in a posted task; such calls come one after the other.
  void Call(WebhookRequest request, std::function<void(WebhookOutcome)> done);
  // Calls `task` like a `done`.
  void Post(std::function<void()> task);

 private:
  class Flight;

  // Returns the handler of a path of a service, and whether anybody serves that service at all.
  std::pair<Shared<controller::WebhookHandler>, bool> Find(std::string_view service, std::string_view path) const;
  std::string AddressOf(std::string_view service) const;  // "": it listens nowhere
  std::optional<WebhookFault> TakeFault(std::string_view name);

  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const bool network_;
  mutable Mutex mutex_;
  std::vector<std::pair<std::string, Shared<controller::WebhookRoutes>>> services_ KGEN_GUARDED_BY(mutex_);
  std::map<std::string, std::string, std::less<>> addresses_ KGEN_GUARDED_BY(mutex_);  // by service
  std::vector<WebhookFault> faults_ KGEN_GUARDED_BY(mutex_);
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_CALLER_H_
