// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/operation.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "client/request/accept.h"
#include "client/request/errors.h"
#include "client/request/url_encoding.h"
#include "client/request/warnings.h"
#include "codec/protobuf_envelope.h"
#include "core/execution/post_timer.h"
#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"
#include "core/secrets.h"
#include "net/duration_text.h"

namespace kgen::client {
namespace {

constexpr std::size_t kLargestRefusal = 1u << 20;
constexpr Nanos kWorthTelling = std::chrono::milliseconds(50);  // shorter waits for the limiter are not reported

// Refuses a request whose `timeout` has become too long while it waited, because the machine was suspended for
// instance.
class TimedGuard final : public SendGuard {
 public:
  TimedGuard(Shared<SendGuard> inner, Nanos limit, Error too_late)
      : inner_(std::move(inner)), limit_(limit), too_late_(std::move(too_late)) {}
  Result<void> MaySend() noexcept override {
    if (Result<void> may = inner_->MaySend(); !may) return may;
    if (inner_->TimeLeft() < limit_) return Fail(too_late_);
    return {};
  }
  Nanos TimeLeft() noexcept override { return inner_->TimeLeft(); }

 private:
  const Shared<SendGuard> inner_;
  const Nanos limit_;
  const Error too_late_;
};

Error TooLate() {
  return Error(Code::kCancelled,
               "not sent, because it has waited for so long that the server might take longer for it "
               "than the guard of the connection allows");
}

Error NoTimeout(Nanos timeout) {
  return Error(Code::kInvalidArgument, "the timeout is " + net::DurationText(timeout) +
                                           ", which leaves no time for the call; leave it out for that of the config, "
                                           "or use kgen::kNoLimit");
}

Error NoAnswerBytes() {
  return Error(Code::kInvalidArgument,
               "max_answer_bytes is 0, which no answer meets; leave it out for 2 GiB, or use kgen::kUnlimited");
}

}  // namespace

// Receives the calls of the transport and posts them to the strand.
class Operation::Sink final : public ResponseSink {
 public:
  Sink(Shared<Operation> operation, int attempt) : operation_(std::move(operation)), attempt_(attempt) {}

  void OnHead(HttpHead head) override {
    if (!std::exchange(counted_, true)) Count(head.status);
    operation_->PostSelf([attempt = attempt_, head = std::move(head)](Operation& op) mutable {
      if (op.ended_ || op.attempt_ != attempt || op.cancelled() || op.given_up_) return;
      op.status_ = head.status;
      op.TellWarnings(head);
      if (op.log_) op.log_->OnHead(head);
      op.OnHead(std::move(head));
    });
  }
  void OnBytes(std::string bytes) override {
    operation_->PostSelf([attempt = attempt_, bytes = std::move(bytes)](Operation& op) mutable {
      op.Deliver(attempt, std::move(bytes));
    });
  }
  void OnEnd(HttpEnd end) override {
    if (!std::exchange(counted_, true)) Count(0);
    operation_->PostSelf([attempt = attempt_, end = std::move(end)](Operation& op) mutable {
      if (op.ended_ || op.attempt_ != attempt) return;
      op.exchange_ = {};
      const std::optional<Error>& why = op.given_up_;
      op.CloseLog(why ? &*why : end.result ? nullptr : &end.result.error());
      if (why) {
        const std::string progress = end.progress.empty() ? "" : ": " + end.progress;
        return op.OnFailed(op.Describe(Error(why->code(), why->message() + progress + op.LastAttempt())));
      }
      if (!op.cancelled()) op.OnEnd(std::move(end));
    });
  }

 private:
  void Count(int status) const { operation_->connection_->requests->Add(operation_->request_.method, status); }

  const Shared<Operation> operation_;
  const int attempt_;
  bool counted_ = false;
};

Operation::Operation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand)
    : connection_(std::move(connection)),
      request_(std::move(request)),
      strand_(std::move(strand)),
      post_cancel_(connection_->executor->ReservePost(strand_)) {
  if (request_.what.empty()) request_.what = request_.method + ' ' + request_.path;
}

void Operation::Begin() {
  const TimePoint begun = connection_->clock->Now();
  if (connection_->tracer) {
    span_ = OpenSpan(connection_->tracer, {.kind = request_.watch ? SpanKind::kWatch : SpanKind::kRequest,
                                           .name = request_.what,
                                           .parent = request_.parent,
                                           .method = request_.method,
                                           .path = request_.path});
  }
  PostSelf([begun](Operation& op) {
    if (op.request_.max_answer_bytes == 0) return op.OnFailed(op.Describe(NoAnswerBytes()));
    if (const std::optional<Nanos>& limit = op.request_.timeout) {
      if (*limit <= Nanos::zero()) return op.OnFailed(op.Describe(NoTimeout(*limit)));
      op.StartTimeLimit(begun, op.TimeLimit());
    }
    op.Throttle();
  });
}

void Operation::Cancel() noexcept {
  if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
  post_cancel_->Post(OnSelf([](Operation& op) { op.GiveUp(Error(Code::kCancelled, "cancelled")); }));
}

void Operation::GiveUp(Error error) {
  if (ended_ || given_up_) return;
  if (!exchange_) return OnFailed(Describe(Error(error.code(), error.message() + LastAttempt())));
  given_up_ = std::move(error);
  exchange_->Cancel();  // OnEnd() follows soon, with a more detailed error
}

void Operation::Throttle() {
  if (ended_ || cancelled()) return;
  // A watch takes no token of the limiter, because it is one request for a long time.
  const bool exempt = request_.watch || request_.unlimited;
  const Nanos wait = exempt ? Nanos::zero() : connection_->limiter.Take(connection_->clock->Now());
  if (wait <= Nanos::zero()) return Authorize();
  if (wait >= kWorthTelling) {
    NotifyObserver(connection_->observer,
                   [&](Observer& o) { o.OnLimiterWaited({.what = request_.what, .waited = wait}); });
  }
  pause_ = detail::PostAfter(*connection_->executor, strand_, wait, TimerKind::kProgress,
                             OnSelf([](Operation& op) { op.Authorize(); }));
}

void Operation::Authorize() {
  if (ended_ || cancelled()) return;
  // The time limit of the config starts after the first wait for the limiter, so that throttling does not consume it.
  if (!request_.timeout && !deadline_) StartTimeLimit(connection_->clock->Now(), TimeLimit());
  if (connection_->exec) {
    if (Shared<const Credential> credential = connection_->exec->Current()) return OnCredential(std::move(credential));
    waiting_ = connection_->exec->Ask(
        connection_->observer, [self = Shared<Operation>(this)](ExecCredentials::Answer credential) {
          self->PostSelf([credential = std::move(credential)](Operation& op) { op.OnCredential(credential); });
        });
    return;
  }
  if (const std::optional<std::string> token = connection_->token.Current(connection_->clock->Now()))
    return Attempt(*token);
  connection_->executor->BlockingShort("read token file", [self = Shared<Operation>(this)] {
    try {
      self->OnToken(self->connection_->token.Read(self->connection_->clock->Now()));
    } catch (const std::bad_alloc&) {
      self->OnToken(Fail(detail::OutOfMemory()));
    }
  });
}

// Called on any thread.
void Operation::OnToken(Result<std::string> token) {
  PostSelf([token = std::move(token)](Operation& op) {
    if (op.ended_ || op.cancelled() || op.given_up_) return;
    if (!token) return op.OnFailed(op.Describe(token.error()));
    op.Attempt(*token);
  });
}

void Operation::OnCredential(ExecCredentials::Answer credential) {
  if (ended_ || cancelled()) return;
  waiting_ = {};
  if (!credential) return OnFailed(Describe(credential.error()));
  credential_ = *std::move(credential);
  Attempt(credential_->token);
}

bool Operation::AgainWithNewCredential(const HttpHead& head, const Error& why) {
  if (head.status != 401 || !credential_ || std::exchange(refreshed_, true)) return false;
  return connection_->exec->Reject(*credential_) && Again(Nanos::zero(), why);
}

void Operation::StartTimeLimit(TimePoint from, std::optional<Nanos> limit) {
  if (!limit) return;
  deadline_ = Later(from, *limit);
  time_limit_ = detail::PostAt(*connection_->executor, strand_, *deadline_, TimerKind::kProgress,
                               OnSelf([](Operation& op) { op.OnTimeLimit(); }));
}

// Each attempt has what is left then, but for some time to wait for its turn, and no more than what is left of the
// request's own limit.
void Operation::LimitToGuard() {
  const Nanos left = request_.guard->TimeLeft();
  if (left == kNoLimit) return;
  guarded_limit_ = std::max<Nanos>(left - left / 10, std::chrono::milliseconds(1));
  const TimePoint until = Later(attempt_started_, guarded_limit_);
  if (!deadline_ || until < *deadline_) StartTimeLimit(attempt_started_, guarded_limit_);
}

void Operation::OnTimeLimit() {
  if (ended_ || cancelled() || !deadline_) return;
  GiveUp(Error(Code::kTimeout, "no answer within " + net::DurationText(TimeLimit().value_or(Nanos::zero()))));
}

void Operation::TellWarnings(const HttpHead& head) const {
  for (const HttpHeader& header : head.headers) {
    if (header.name != "warning") continue;
    for (const std::string& text : ParseWarnings(header.value)) {
      NotifyObserver(connection_->observer,
                     [&](Observer& o) { o.OnServerWarned({.what = request_.what, .message = text}); });
    }
  }
}

std::optional<Nanos> Operation::TimeLimit() const noexcept {
  std::optional<Nanos> limit = request_.timeout;
  if (!limit && !request_.watch) limit = connection_->timeout;
  if (guarded_limit_ != kNoLimit) limit = std::min(limit.value_or(kNoLimit), guarded_limit_);
  return limit == kNoLimit ? std::nullopt : limit;
}

std::string Operation::LastAttempt() const {
  std::string text;
  if (waiting_) text = "; " + std::string(connection_->exec->name()) + " has not answered";
  if (last_failure_) text += "; the attempt before failed: " + last_failure_->message();
  return text;
}

Error Operation::FailureOfException() const {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return detail::OutOfMemory(request_.what);
  } catch (const std::length_error&) {
    return detail::OutOfMemory(request_.what);
  } catch (const std::exception& thrown) {
    return Describe(Error(Code::kUserCode, std::string("an exception was thrown: ") + thrown.what()));
  } catch (...) {
    return Describe(Error(Code::kUserCode, "an exception that is not a std::exception was thrown"));
  }
}

HttpRequest Operation::Compose(const std::string& token) const {
  HttpRequest http;
  http.method = request_.method;
  http.path = connection_->base_path + request_.path;
  std::string query = request_.query;
  if (const std::optional<Nanos> limit = TimeLimit(); limit && !request_.watch) {
    // The server should not work longer than the client waits.
    query = WithQueryPair(std::move(query), "timeout", net::DurationText(*limit));
  }
  if (!query.empty()) http.path += '?' + query;
  http.headers.push_back({"accept", request_.accept.empty() ? "application/json" : request_.accept});
  http.headers.push_back({"user-agent", connection_->user_agent});
  if (!token.empty()) http.headers.push_back({"authorization", "Bearer " + token});
  if (!request_.content_type.empty()) http.headers.push_back({"content-type", request_.content_type});
  if (span_) http.headers.push_back({"traceparent", span_.context().Traceparent()});
  http.body = request_.body;
  http.long_lived = request_.watch;
  http.guard = request_.guard;
  if (request_.guard && guarded_limit_ != kNoLimit) {
    http.guard = MakeShared<TimedGuard>(request_.guard, *TimeLimit(), Describe(TooLate()));
  }
  return http;
}

void Operation::Attempt(const std::string& token) {
  ++attempt_;
  attempt_started_ = connection_->clock->Now();
  refusal_.clear();
  connection_->sent.Add(token);
  if (request_.guard) {
    if (const Result<void> may = request_.guard->MaySend(); !may) return OnFailed(Describe(may.error()));
    LimitToGuard();
  }
  ++sent_;
  HttpRequest http = Compose(token);
  if (connection_->observer->IsEnabled(LogComponent::kClient, LogLevel::kDebug)) [[unlikely]] {
    log_ = RequestLog::Begin(connection_->observer, *connection_->clock, request_, http, connection_->host, sent_);
  }
  exchange_ = connection_->transport->Start(std::move(http), MakeShared<Sink>(Shared<Operation>(this), attempt_));
}

void Operation::CloseLog(const Error* error) noexcept {
  if (!log_) return;
  log_->Report(error);
  log_.reset();
}

void Operation::Deliver(int attempt, std::string bytes) {
  if (ended_ || attempt_ != attempt || cancelled() || given_up_) return;
  const std::size_t size = bytes.size();
  if (log_) log_->OnBytes(bytes);
  OnBytes(std::move(bytes));
  if (!keeps_credit_) Consume(size);
}

void Operation::Consume(std::size_t bytes) noexcept {
  if (exchange_ && bytes != 0) exchange_->Consumed(bytes);
}

void Operation::Recycle(std::string&& bytes) noexcept {
  if (exchange_) exchange_->Recycle(std::move(bytes));
}

bool Operation::CollectRefusal(std::string_view bytes) {
  refusal_.append(bytes.substr(0, kLargestRefusal - refusal_.size()));
  return refusal_.size() < kLargestRefusal;
}

Error Operation::RefusalOf(const HttpHead& head) {
  if (head.status == 401) connection_->token.Reject(attempt_started_);
  Answer answer;
  answer.content_type = head.Header("content-type");
  if (IsProtobuf(answer.content_type)) {
    const Result<codec::Envelope> envelope = codec::ReadEnvelope(refusal_);
    Result<std::string> status = envelope ? codec::StatusToJson(envelope->raw) : Fail(envelope.error());
    refusal_ = status ? *std::move(status) : std::string();
    answer.content_type = "application/json";
  }
  answer.method = request_.method;
  answer.status = head.status;
  // Secrets are hidden before an excerpt is made, which could cut a token off in the middle.
  std::string location(head.Header("location"));
  detail::HideSecrets(location);
  detail::HideSecrets(refusal_);
  answer.location = location;
  answer.retry_after_seconds = ParseRetryAfter(head.Header("retry-after"));
  answer.body = refusal_;
  return Describe(WithHint(request_.path, ErrorOf(answer)));
}

std::optional<Error> Operation::NotAsAsked(const HttpHead& head, std::string_view body) const {
  Answer answer = {.status = head.status, .content_type = head.Header("content-type"), .body = body};
  if (IsProtobuf(answer.content_type) && request_.accept.starts_with(kProtobufType)) return std::nullopt;
  const auto check = [&] {
    if (request_.text) return NotText(answer);
    return request_.json ? NotJson(answer) : std::nullopt;
  };
  std::optional<Error> wrong = check();
  if (!wrong) return wrong;
  std::string shown(body);
  detail::HideSecrets(shown);
  answer.body = shown;
  return check();
}

bool Operation::Again(Nanos delay, const Error& why) {
  last_failure_ = why;
  if (deadline_ && connection_->clock->Now() + delay >= *deadline_) return false;
  CloseLog(nullptr);
  if (exchange_) exchange_->Cancel();
  exchange_ = {};
  ++attempt_;  // ignores later events of the old attempt
  pause_ = detail::PostAfter(*connection_->executor, strand_, delay, TimerKind::kProgress,
                             OnSelf([](Operation& op) { op.Throttle(); }));
  return true;
}

void Operation::End(const Error* error) noexcept {
  ended_ = true;
  span_.End({.error = error, .status = status_, .attempts = sent_});
  pause_.Cancel();
  time_limit_.Cancel();
  CloseLog(nullptr);
  if (exchange_) exchange_->Cancel();
  exchange_ = {};
  if (waiting_) connection_->exec->Leave(*waiting_);
  waiting_ = {};
}

}  // namespace kgen::client
