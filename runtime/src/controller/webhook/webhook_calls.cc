// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/webhook_calls.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <stop_token>
#include <utility>

#include "controller/webhook/review_deadline.h"
#include "kgen/core/clock.h"

namespace kgen::controller {
namespace {

constexpr std::size_t kMaxOtherBody = 64 * 1024;  // of requests that are no reviews
constexpr Nanos kAdmissionTimeout = std::chrono::seconds(10);
constexpr Nanos kConversionTimeout = std::chrono::seconds(30);
constexpr Nanos kGrace = std::chrono::seconds(1);  // after a timeout, for the API server to give up itself
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain; charset=utf-8";

std::string PathIn(std::string_view target) { return std::string(target.substr(0, target.find('?'))); }

bool IsConversion(const WebhookHandler& handler) { return handler.kind() == WebhookHandler::Kind::kConversion; }

// Whether a content type is JSON, with any parameters.
bool IsJson(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return std::ranges::equal(type, kJson, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}

}  // namespace

// One review. On the loop's thread, but for what the function uses.
class WebhookCalls::Call final : public SharedObject {
 public:
  Call(HttpCall of, Shared<WebhookHandler> by, std::string at, const Shared<RunningWork>& running)
      : http(std::move(of)), handler(std::move(by)), path(std::move(at)), running_(running) {}

  enum class State : std::uint8_t { kWaits, kRuns, kEnded };

  HttpCall http;
  const Shared<WebhookHandler> handler;
  const std::string path;
  TimePoint deadline{};
  std::stop_source stop{};
  Timer on_deadline{}, on_timeout{};
  State state = State::kWaits;
  bool late = false;

 private:
  const RunningWork::Token running_;
};

WebhookCalls::WebhookCalls(Limits limits, Shared<WebhookRoutes> routes, Shared<WebhookMetrics> metrics,
                           Shared<Executor> executor, Shared<RunningWork> running, Shared<net::EventLoop> loop)
    : limits_(limits),
      routes_(std::move(routes)),
      metrics_(std::move(metrics)),
      executor_(std::move(executor)),
      running_work_(std::move(running)),
      loop_(std::move(loop)) {}

WebhookCalls::~WebhookCalls() = default;

// ------------------------------------------------------------------------------------------------- before the function

std::size_t WebhookCalls::MaxBody(const net::ServerRequest& head) {
  const Shared<WebhookHandler> handler = head.method == "POST" ? routes_->Find(PathIn(head.path)) : nullptr;
  if (!handler) return kMaxOtherBody;
  return IsConversion(*handler) ? limits_.max_conversion_bytes : limits_.max_review_bytes;
}

std::optional<net::Http1Session::Reply> WebhookCalls::TooLarge(const net::ServerRequest& head) {
  const std::string path = PathIn(head.path);
  const Shared<WebhookHandler> handler = head.method == "POST" ? routes_->Find(path) : nullptr;
  if (!handler) return std::nullopt;
  metrics_->End(path, 200, Nanos::zero(), false);
  return net::Http1Session::Reply{
      .status = 200, .content_type = std::string(kJson), .body = handler->AnswerTooLarge(MaxBody(head))};
}

void WebhookCalls::Handle(HttpCall http) {
  std::string path = PathIn(http.request.path);
  Shared<WebhookHandler> handler = routes_->Find(path);
  if (!handler) return Respond(std::move(http), 404, kText, "404 no webhook has this path\n");
  if (http.request.method != "POST") {
    metrics_->End(path, 405, Nanos::zero(), false);
    return Respond(std::move(http), 405, kText, "405 a review is sent with POST\n", {{"allow", "POST"}});
  }
  if (const std::string_view type = http.request.Header("content-type"); !IsJson(type)) {
    metrics_->End(path, 200, Nanos::zero(), false);
    std::string answer = handler->AnswerMalformed("the content type is '" + std::string(type.substr(0, 100)) +
                                                  "', but a review is sent as application/json");
    return Respond(std::move(http), 200, kJson, std::move(answer));
  }
  Enter(MakeShared<Call>(std::move(http), std::move(handler), std::move(path), running_work_));
}

WebhookCalls::Group& WebhookCalls::GroupOf(const WebhookHandler& handler) {
  return groups_[IsConversion(handler) ? 1 : 0];
}

void WebhookCalls::Enter(const Shared<Call>& call) {
  const Shared<WebhookCalls> self(this);
  const ReviewTime time =
      ReviewTimeOf(call->http.request.path, IsConversion(*call->handler) ? kConversionTimeout : kAdmissionTimeout);
  const TimePoint now = executor_->clock()->Now();
  call->deadline = Later(call->http.begun, time.limit);
  call->on_deadline =
      loop_->After(std::max(Nanos(0), Nanos(call->deadline - now)), [self, call] { self->OnDeadline(call); });
  call->on_timeout = loop_->After(std::max(Nanos(0), Nanos(Later(call->http.begun, time.timeout + kGrace) - now)),
                                  [self, call] { self->OnTimeout(call); });
  call->http.writer->OnClosed([self, call] { self->OnGone(call); });
  metrics_->Begin(call->path);
  Group& group = GroupOf(*call->handler);
  group.waiting.push_back(call);
  StartSome(group);
}

void WebhookCalls::StartSome(Group& group) {
  while (group.running < limits_.max_concurrent && !group.waiting.empty()) {
    const Shared<Call> call = std::move(group.waiting.front());
    group.waiting.pop_front();
    ++group.running;
    Run(call);
  }
}

// ------------------------------------------------------------------------------------------------------- the function

void WebhookCalls::Run(const Shared<Call>& call) {
  call->state = Call::State::kRuns;
  {
    const MutexLock lock(mutex_);
    running_.push_back(call);
  }
  try {
    executor_->Blocking("webhook " + call->path, [self = Shared<WebhookCalls>(this), call] {
      std::optional<std::string> answer = self->Ask(*call);
      self->loop_->Post(
          [self, call, answer = std::move(answer)]() mutable { self->OnAnswer(call, std::move(answer)); });
    });
  } catch (const std::bad_alloc&) {
    OnAnswer(call, std::nullopt);
  }
}

// On a thread of the executor. Nothing: there is not enough memory.
std::optional<std::string> WebhookCalls::Ask(const Call& call) {
  std::optional<std::string> answer;
  try {
    answer = call.handler->Answer(call.http.request.body, {.stop = call.stop.get_token(), .deadline = call.deadline});
  } catch (...) {  // NOLINT(bugprone-empty-catch): only for want of memory; nothing is sent, and the slot is free again
  }
  metrics_->CountPanics(call.path, *call.handler);
  return answer;
}

// Callbacks of a stop may be the user's.
void WebhookCalls::RequestStop(const Shared<Call>& call) {
  executor_->Blocking("stop webhook " + call->path, [call] { call->stop.request_stop(); });
}

// The function has no time left. Its connection stays a little longer, so that the API server says that it was too slow
// and not that the connection broke.
void WebhookCalls::OnDeadline(const Shared<Call>& call) {
  if (call->state == Call::State::kEnded) return;
  call->late = true;
  call->state == Call::State::kRuns ? RequestStop(call) : Drop(call);
}

void WebhookCalls::OnTimeout(const Shared<Call>& call) { call->http.writer->Reset(0); }

// The response was sent, or the client is gone.
void WebhookCalls::OnGone(const Shared<Call>& call) {
  call->on_timeout.Cancel();
  call->on_deadline.Cancel();
  if (call->state == Call::State::kWaits) return Drop(call);
  if (call->state == Call::State::kRuns) RequestStop(call);
}

// Ends a call whose function has not run, and frees its memory.
void WebhookCalls::Drop(const Shared<Call>& call) {
  std::erase(GroupOf(*call->handler).waiting, call);
  Forget(call);
  metrics_->End(call->path, WebhookMetrics::kTooLate, executor_->clock()->Now() - call->http.begun);
}

void WebhookCalls::Forget(const Shared<Call>& call) {
  call->state = Call::State::kEnded;
  call->on_deadline.Cancel();
  call->http.request = {};
  call->http.bytes->Set(0);
}

void WebhookCalls::OnAnswer(const Shared<Call>& call, std::optional<std::string> answer) {
  {
    const MutexLock lock(mutex_);
    std::erase(running_, call);
  }
  Forget(call);
  const bool sends = answer && !call->late;
  metrics_->End(call->path, sends ? 200 : WebhookMetrics::kTooLate, executor_->clock()->Now() - call->http.begun);
  if (sends) {
    call->on_timeout.Cancel();
    call->http.bytes->Set(answer->size());
    call->http.writer->Head(200, {{"content-type", std::string(kJson)}});
    call->http.writer->EndWith(MakeShared<net::SharedText>(*std::move(answer)));
  } else if (!call->late) {
    call->http.writer->Reset(0);
  }  // else OnTimeout() closes the connection, as OnDeadline() says
  Group& group = GroupOf(*call->handler);
  --group.running;
  StartSome(group);
}

// Posted, so that the whole response is there when the session looks at it, and its length is known.
void WebhookCalls::Respond(HttpCall http, int status, std::string_view content_type, std::string body,
                           std::vector<HttpHeader> more) {
  more.insert(more.begin(), {"content-type", std::string(content_type)});
  loop_->Post([writer = std::move(http.writer), status, body = std::move(body), more = std::move(more)]() mutable {
    writer->Head(status, std::move(more));
    writer->EndWith(MakeShared<net::SharedText>(std::move(body)));
  });
}

// ---------------------------------------------------------------------------------------------------------- any thread

void WebhookCalls::RequestStops() {
  std::vector<Shared<Call>> running;
  {
    const MutexLock lock(mutex_);
    running = running_;
  }
  for (const auto& call : running) RequestStop(call);
}

std::string WebhookCalls::Running() const {
  std::vector<std::string> paths;
  {
    const MutexLock lock(mutex_);
    for (const auto& call : running_) paths.push_back(call->path);
  }
  std::ranges::sort(paths);
  paths.erase(std::ranges::unique(paths).begin(), paths.end());
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + path;
  return text;
}

}  // namespace kgen::controller
