// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WebhookCalls: what a webhook server answers. It calls handlers on threads, a limited number at a time, and keeps
// their deadlines.
//
//   HttpPort --Handle(call)--> WebhookCalls --Blocking--> WebhookHandler::Answer() --> ResponseWriter
//
// Admission and conversion have a limit each: a function of an admission webhook may read objects that the API server
// must convert first, and would wait for itself.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_CALLS_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_CALLS_H_

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/http/http_site.h"
#include "controller/http/running_work.h"
#include "controller/webhook/webhook_metrics.h"
#include "controller/webhook/webhook_routes.h"
#include "core/memory/mutex.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "net/event_loop.h"
#include "net/http1_session.h"
#include "net/response_writer.h"

namespace kgen::controller {

// All members on the loop's thread, but for the ones that say something else.
class WebhookCalls final : public HttpSite {
 public:
  struct Limits {
    std::size_t max_review_bytes = 0;
    std::size_t max_conversion_bytes = 0;
    std::size_t max_concurrent = 0;  // of each kind
  };

  // `executor` has threads for all functions that may run. `loop` is the writers'.
  WebhookCalls(Limits limits, Shared<WebhookRoutes> routes, Shared<WebhookMetrics> metrics, Shared<Executor> executor,
               Shared<RunningWork> running, Shared<net::EventLoop> loop);
  ~WebhookCalls() override;

  std::size_t MaxBody(const net::ServerRequest& head) override;
  std::optional<net::Http1Session::Reply> TooLarge(const net::ServerRequest& head) override;
  void Handle(HttpCall http) override;

  // Any thread. Requests the stop of all functions that run.
  void RequestStops();
  // Any thread. The paths whose functions run: "/validate-v1-pod, /convert".
  std::string Running() const;

 private:
  class Call;
  // The calls of one kind.
  struct Group {
    std::size_t running = 0;
    std::deque<Shared<Call>> waiting{};  // the oldest first
  };

  Group& GroupOf(const WebhookHandler& handler);
  void Enter(const Shared<Call>& call);
  void StartSome(Group& group);
  void Run(const Shared<Call>& call);
  std::optional<std::string> Ask(const Call& call);
  void OnDeadline(const Shared<Call>& call);
  void OnTimeout(const Shared<Call>& call);
  void OnGone(const Shared<Call>& call);
  void OnAnswer(const Shared<Call>& call, std::optional<std::string> answer);
  void Drop(const Shared<Call>& call);
  void Forget(const Shared<Call>& call);
  void RequestStop(const Shared<Call>& call);
  void Respond(HttpCall http, int status, std::string_view content_type, std::string body,
               std::vector<HttpHeader> more = {});

  const Limits limits_;
  const Shared<WebhookRoutes> routes_;
  const Shared<WebhookMetrics> metrics_;
  const Shared<Executor> executor_;
  const Shared<RunningWork> running_work_;
  const Shared<net::EventLoop> loop_;
  std::array<Group, 2> groups_;  // admission, conversion
  mutable Mutex mutex_;
  std::vector<Shared<Call>> running_ KGEN_GUARDED_BY(mutex_);  // whose functions run
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_CALLS_H_
