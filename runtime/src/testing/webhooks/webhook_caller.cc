// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/webhooks/webhook_caller.h"

#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

#include "kgen/core/quantity.h"
#include "testing/webhooks/https_post.h"
#include "testing/webhooks/webhook_review.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

constexpr int kEveryCall = 0x7FFFFFFF;  // kAlways, which is in a header that includes more

std::string WordIn(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Where a WebhookClientConfig points to.
struct Destination {
  std::string service;  // "namespace/name"; "" for a URL
  std::string address;  // "https://name.namespace.svc:443", or the part of the URL before its path
  std::string path = "/";
};

std::optional<Destination> ReadDestination(const json& config) {
  Destination to;
  if (const std::string url = WordIn(config, "url"); !url.empty()) {
    const std::size_t scheme = url.find("://");
    const std::size_t slash = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
    to.address = url.substr(0, slash);
    if (slash != std::string::npos) to.path = url.substr(slash);
    return to;
  }
  const json service = config.is_object() ? config.value("service", json()) : json();
  const std::string name = WordIn(service, "name"), space = WordIn(service, "namespace"),
                    path = WordIn(service, "path");
  if (name.empty() || space.empty()) return std::nullopt;
  const json port = service.value("port", json());
  to.service = space + "/" + name;
  to.address = "https://" + name + "." + space + ".svc:" + (port.is_number_integer() ? port.dump() : "443");
  if (!path.empty()) to.path = path.front() == '/' ? path : "/" + path;
  return to;
}

// The message of a client of the API for an answer with this status.
std::string StatusText(int status) {
  switch (status) {
    case 401:
      return "the server has asked for the client to provide credentials";
    case 403:
      return "forbidden";
    case 404:
      return "the server could not find the requested resource";
    case 413:
      return "Request entity too large: limit is 3145728";
    case 429:
      return "the server has received too many requests and has asked us to try again later";
    case 503:
      return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be processing the request";
    default:
      return status >= 500 ? "an error on the server (\"unknown\") has prevented the request from succeeding"
                           : "the server rejected our request for an unknown reason";
  }
}

}  // namespace

// One call. All members are used on the strand of the caller only.
class WebhookCaller::Flight final : public SharedObject {
 public:
  Flight(Shared<WebhookCaller> caller, WebhookRequest request, std::function<void(WebhookOutcome)> done)
      : caller_(std::move(caller)), request_(std::move(request)), done_(std::move(done)) {}

  void Start() {
    const std::optional<Destination> to = ReadDestination(request_.client_config);
    if (!to) return Finish({.failure = "the clientConfig has neither a url nor a service"});
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(request_.timeout).count();
    where_ = "Post \"" + to->address + to->path + "?timeout=" + std::to_string(seconds) + "s\": ";
    const std::string path = to->path.substr(0, to->path.find('?'));
    if (auto fault = caller_->TakeFault(request_.name)) fault_ = *std::move(fault);
    if (fault_.refuse) return Finish({.failure = where_ + "dial tcp: connect: connection refused"});
    if (fault_.status) return Finish({.failure = StatusText(*fault_.status)});
    const auto [handler, served] = caller_->Find(to->service, path);
    if (handler) {
      return Ask([handler](const std::string& review, const controller::WebhookCall& call) -> WebhookOutcome {
        return {.answer = handler->Answer(review, call)};
      });
    }
    if (served) return Finish({.failure = StatusText(404)});
    if (auto post = PostTo(*to))
      return Ask([post = *std::move(post)](const std::string&, const auto&) { return Send(post); });
    const std::string name = to->service.substr(to->service.find('/') + 1);
    Finish({.failure = where_ + (to->service.empty() ? "dial tcp: connect: connection refused"
                                                     : "service \"" + name + "\" not found")});
  }

 private:
  // Where to call over the network, if there is anything.
  std::optional<HttpsPost> PostTo(const Destination& to) const {
    if (!caller_->network_) return std::nullopt;
    std::string address = to.service.empty() ? to.address : "https://" + caller_->AddressOf(to.service);
    if (!address.starts_with("https://") || address.size() == 8) return std::nullopt;
    address.erase(0, 8);
    const std::size_t colon = address.rfind(':');
    const bool has_port = colon != std::string::npos && address.find(']', colon) == std::string::npos;
    HttpsPost post{.host = address.substr(0, has_port ? colon : std::string::npos),
                   .port = has_port ? address.substr(colon + 1) : "443",
                   .path = where_.substr(where_.find(to.address) + to.address.size()),
                   .server_name = {},
                   .ca_pem = Bytes::FromBase64(WordIn(request_.client_config, "caBundle")).Decode(),
                   .body = request_.review,
                   .timeout = std::chrono::ceil<std::chrono::seconds>(request_.timeout)};
    post.path = post.path.substr(0, post.path.find('"'));
    if (post.host.starts_with('[')) post.host = post.host.substr(1, post.host.size() - 2);
    const std::size_t slash = to.service.find('/');
    post.server_name =
        to.service.empty() ? post.host : to.service.substr(slash + 1) + "." + to.service.substr(0, slash) + ".svc";
    return post;
  }

  static WebhookOutcome Send(const HttpsPost& post) {
    Result<HttpsAnswer> answer = SendHttpsPost(post);
    if (!answer)
      return {.failure = "Post \"https://" + post.server_name + post.path + "\": " + answer.error().ToString()};
    if (answer->status != 200) return {.failure = StatusText(answer->status)};
    return {.answer = std::move(answer->body)};
  }

  using Question = std::function<WebhookOutcome(const std::string& review, const controller::WebhookCall& call)>;
  void Ask(Question question) {
    const Shared<Flight> self(this);
    const Shared<Clock> clock = caller_->executor_->clock();
    const controller::WebhookCall call{.stop = stop_.get_token(), .deadline = Later(clock->Now(), request_.timeout)};
    timeout_ =
        clock->At(call.deadline, TimerKind::kProgress, [self] { self->caller_->Post([self] { self->GiveUp(); }); });
    caller_->executor_->Blocking("webhook " + request_.name, [self, question = std::move(question), call] {
      WebhookOutcome outcome;
      try {
        outcome = question(self->request_.review, call);
      } catch (const std::exception&) {
        outcome.failure = StatusText(500);
      }
      self->caller_->Post([self, outcome = std::move(outcome)]() mutable { self->OnAnswer(std::move(outcome)); });
    });
  }

  void OnAnswer(WebhookOutcome outcome) {
    if (!outcome.failure.empty()) return Finish(std::move(outcome));
    if (fault_.wrong_uid) outcome.answer = WithWrongUid(outcome.answer);
    if (fault_.wrong_count) outcome.answer = WithoutOneObject(outcome.answer);
    if (fault_.malformed) outcome.answer = "no review";
    if (fault_.delay <= Nanos::zero()) return Finish(std::move(outcome));
    const Shared<Flight> self(this);
    late_ = std::move(outcome);
    delay_ = caller_->executor_->clock()->After(fault_.delay, TimerKind::kProgress, [self] {
      self->caller_->Post([self] { self->Finish(std::move(self->late_)); });
    });
  }

  void GiveUp() {
    if (!done_) return;
    Finish({.failure = where_ + "context deadline exceeded"});
    stop_.request_stop();
  }

  void Finish(WebhookOutcome outcome) {
    if (!done_) return;
    timeout_.Cancel();
    delay_.Cancel();
    std::exchange(done_, {})(std::move(outcome));
  }

  const Shared<WebhookCaller> caller_;
  const WebhookRequest request_;
  std::function<void(WebhookOutcome)> done_;  // empty: called
  std::string where_;
  WebhookFault fault_;
  std::stop_source stop_;
  WebhookOutcome late_;
  Timer timeout_, delay_;
};

WebhookCaller::WebhookCaller(Shared<Executor> executor, bool network)
    : executor_(std::move(executor)), strand_(executor_->MakeStrand("api server: webhooks")), network_(network) {}

void WebhookCaller::Serve(Shared<controller::WebhookRoutes> routes, std::string_view service) {
  const MutexLock lock(mutex_);
  services_.emplace_back(service, std::move(routes));
}

void WebhookCaller::ServeAt(std::string_view service, std::string_view address) {
  const MutexLock lock(mutex_);
  addresses_[std::string(service)] = address;
}

std::string WebhookCaller::AddressOf(std::string_view service) const {
  const MutexLock lock(mutex_);
  const auto found = addresses_.find(service);
  return found == addresses_.end() ? std::string() : found->second;
}

void WebhookCaller::Inject(WebhookFault fault) {
  const MutexLock lock(mutex_);
  faults_.push_back(std::move(fault));
}

void WebhookCaller::ClearFaults() {
  const MutexLock lock(mutex_);
  faults_.clear();
}

void WebhookCaller::Close() {
  std::vector<std::pair<std::string, Shared<controller::WebhookRoutes>>> services;  // destroyed without the lock
  const MutexLock lock(mutex_);
  closed_ = true;
  services.swap(services_);
}

void WebhookCaller::Call(WebhookRequest request, std::function<void(WebhookOutcome)> done) {
  auto flight = MakeShared<Flight>(Shared<WebhookCaller>(this), std::move(request), std::move(done));
  Post([flight = std::move(flight)] { flight->Start(); });
}

void WebhookCaller::Post(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
  }
  executor_->Post(strand_, std::move(task));
}

std::pair<Shared<controller::WebhookHandler>, bool> WebhookCaller::Find(std::string_view service,
                                                                        std::string_view path) const {
  const MutexLock lock(mutex_);
  bool served = false;
  for (const auto& [name, routes] : services_) {
    if (!name.empty() && name != service) continue;
    served = true;
    if (Shared<controller::WebhookHandler> handler = routes->Find(path)) return {std::move(handler), true};
  }
  return {{}, served};
}

std::optional<WebhookFault> WebhookCaller::TakeFault(std::string_view name) {
  const MutexLock lock(mutex_);
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (!fault->webhook.empty() && fault->webhook != name) continue;
    if (fault->skip > 0) {
      --fault->skip;
      continue;
    }
    WebhookFault taken = *fault;
    if (fault->times != kEveryCall && --fault->times == 0) faults_.erase(fault);
    return taken;
  }
  return std::nullopt;
}

}  // namespace kgen::testing
