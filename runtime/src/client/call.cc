// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/call.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "client/errors.h"
#include "core/tell.h"

namespace kgen::client {
namespace {

constexpr Nanos kAfterLostConnection = std::chrono::seconds(1);
// A server, or whatever stands before it, that says "tomorrow" must not keep a caller until then: it is asked again
// after this, and its error goes to the caller after kMaxRetries such waits.
constexpr Nanos kLongestRetryAfter = std::chrono::minutes(5);

}  // namespace

CallOperation::CallOperation(Shared<ConnectionCore> core, ApiRequest request, Shared<Strand> strand, Done done)
    : Operation(std::move(core), std::move(request), std::move(strand)), done_(std::move(done)) {}

void CallOperation::OnHead(HttpHead head) {
  head_ = std::move(head);
  body_.clear();
}

void CallOperation::OnBytes(std::string bytes) {
  if (!Succeeded()) {
    if (!CollectRefusal(bytes)) Answered();
    return;
  }
  if (body_.size() + bytes.size() > request().max_answer_bytes) {
    return Finish(Fail(Describe(TooLarge())));
  }
  if (body_.empty()) {
    body_ = std::move(bytes);
  } else {
    body_ += bytes;
  }
}

void CallOperation::OnEnd(HttpEnd end) {
  if (end.result && head_.status != 0) return Answered();
  const Error error = end.result ? Error(Code::kUnavailable, "the answer has no head") : end.result.error();
  // Anything but a GET may have been carried out by the server before the connection went.
  if (request().method == "GET" && end.connection_lost && MayRetry()) {
    ++retries_;
    head_ = {};
    if (Again(kAfterLostConnection, error)) return;
  }
  Finish(Fail(Describe(error)));
}

Error CallOperation::TooLarge() const {
  return {Code::kDecode, "the answer is larger than the " + std::to_string(request().max_answer_bytes) +
                             " bytes of max_answer_bytes; list in pages, or raise the bound"};
}

void CallOperation::Answered() {
  if (Succeeded()) {
    if (const std::optional<Error> failure = FailureIn(body_)) return Finish(Fail(Describe(*failure)));
    if (const std::optional<Error> wrong = NotAsAsked(head_, body_)) return Finish(Fail(Describe(*wrong)));
    ApiResponse response;
    response.status = head_.status;
    response.content_type = head_.Header("content-type");
    response.body = std::move(body_);
    return Finish(std::move(response));
  }
  Error error = RefusalOf(head_);
  const std::optional<std::int32_t> wait = ParseRetryAfter(head_.Header("retry-after"));
  if ((head_.status == 429 || head_.status >= 500) && wait && MayRetry()) {
    ++retries_;
    head_ = {};
    if (Again(std::min<Nanos>(std::chrono::seconds(*wait), kLongestRetryAfter), error)) return;
  }
  Finish(Fail(std::move(error)));
}

void CallOperation::Finish(Result<ApiResponse> result) {
  End();
  Done done = std::move(done_);
  done_ = nullptr;
  if (!done) return;
  try {
    done(std::move(result));
  } catch (const std::exception& thrown) {
    Tell(core().observer, [&](Observer& o) { o.OnHandlerFailed({.informer = request().what, .what = thrown.what()}); });
  } catch (...) {
    Tell(core().observer,
         [&](Observer& o) { o.OnHandlerFailed({.informer = request().what, .what = "an exception of unknown type"}); });
  }
}

}  // namespace kgen::client
