// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The passes of a request (request_run.h).
#include <exception>
#include <utility>

#include "kgen/core/waiter.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

// Tells the server which run the current pass belongs to.
class Entered {
 public:
  Entered(RequestRun*& current, RequestRun& run) : current_(current), before_(std::exchange(current, &run)) {
    run.StartPass();
  }
  ~Entered() { current_ = before_; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  RequestRun*& current_;
  RequestRun* const before_;
};

}  // namespace

// A run that waits for webhooks. Its members are used by one thread at a time: by the pass, or by the answers, which
// come one after the other.
struct ApiServer::KeptRun : SharedObject {
  RequestRun run;
  HttpRequest request;
  std::function<void(Reply)> later;
  std::size_t open = 0;  // questions
};

Reply ApiServer::Pass(const HttpRequest& request, RequestRun& run) {
  const MutexLock lock(mutex_);
  const Entered entered(run_, run);
  return Answer(request);
}

std::optional<Reply> ApiServer::Handle(const HttpRequest& request, std::function<void(Reply)> later) {
  RequestRun run;
  Reply reply = Pass(request, run);
  if (!run.waits()) return reply;
  auto kept = MakeShared<KeptRun>();
  kept->run = std::move(run);
  kept->request = request;
  kept->later = std::move(later);
  Continue(kept);
  return std::nullopt;
}

void ApiServer::Continue(const Shared<KeptRun>& kept) {
  AskAll(kept, [self = Shared<ApiServer>(this), kept] {
    Reply reply = self->Pass(kept->request, kept->run);
    if (kept->run.waits()) return self->Continue(kept);
    kept->later(std::move(reply));
  });
}

// Asks all questions of the run at once, and calls `done` after the last answer.
void ApiServer::AskAll(const Shared<KeptRun>& kept, std::function<void()> done) {
  const auto questions = std::exchange(kept->run.questions, {});
  const auto batches = std::exchange(kept->run.batches, {});
  kept->open = questions.size() + batches.size();
  const auto answered = [kept, done = std::move(done)] {
    if (--kept->open == 0) done();
  };
  for (const RequestRun::Question& question : questions) {
    if (question.condition.empty()) {
      caller_->Call(question.call, [kept, answered, key = question.key](WebhookOutcome outcome) {
        kept->run.answers[key] = std::move(outcome);
        answered();
      });
      continue;
    }
    // The function of the test may do anything but block, as the function of a matcher may.
    caller_->Post([self = Shared<ApiServer>(this), kept, answered, question] {
      WebhookOutcome outcome;
      try {
        outcome.answer = self->options_.match_condition(question.condition, question.call.review) ? "true" : "false";
      } catch (const std::exception& error) {
        outcome.failure = error.what();
      }
      kept->run.answers[question.key] = std::move(outcome);
      answered();
    });
  }
  for (const ConversionBatch& batch : batches) AskConversion(kept, batch, answered);
}

void ApiServer::AskConversion(const Shared<KeptRun>& kept, const ConversionBatch& batch,
                              const std::function<void()>& answered) {
  std::string uid;
  {
    const MutexLock lock(mutex_);
    uid = ReviewUid(batch.crd);
  }
  caller_->Call(ConversionCall(batch, uid), [kept, answered, batch, uid](WebhookOutcome outcome) {
    const auto converted = ReadConversion(batch, uid, outcome);
    for (std::size_t i = 0; i < batch.keys.size(); ++i) {
      RequestRun::Conversion& conversion = kept->run.conversions[batch.keys[i]];
      conversion = converted ? RequestRun::Conversion{.object = (*converted)[i], .failure = {}}
                             : RequestRun::Conversion{.object = {}, .failure = converted.error()};
    }
    answered();
  });
}

ApiResult<void> ApiServer::RunHere(const std::function<ApiResult<void>()>& pass) {
  auto kept = MakeShared<KeptRun>();
  for (;;) {
    ApiResult<void> result;
    {
      const MutexLock lock(mutex_);
      const Entered entered(run_, kept->run);
      result = pass();
    }
    if (!kept->run.waits()) return result;
    const Shared<Waiter> waiter = executor_->MakeWaiter("the webhooks of the in-memory cluster");
    AskAll(kept, [waiter] { waiter->Notify(); });
    if (Result<void> waited = waiter->Wait({}, Waiter::kNoDeadline); !waited) {
      return Refuse(InternalError(waited.error().message()));
    }
  }
}

}  // namespace kgen::testing
