// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/call.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "client/request/callback.h"
#include "client/request/errors.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"

namespace kgen::client {
namespace {

constexpr Nanos kAfterLostConnection = std::chrono::seconds(1);
// The longest wait that a server or a proxy can request with Retry-After. A longer one is cut to this, and after
// kMaxRetries such waits the caller gets the error.
constexpr Nanos kLongestRetryAfter = std::chrono::minutes(5);

}  // namespace

template <typename T>
void AnswerOperation<T>::OnHead(HttpHead head) {
  head_ = std::move(head);
  bytes_ = 0;
  Restart();
}

template <typename T>
void AnswerOperation<T>::OnBytes(std::string bytes) {
  if (!Succeeded()) {
    if (!CollectRefusal(bytes)) Refused();
    return;
  }
  if (bytes_ == 0) {
    if (const std::optional<Error> wrong = NotAsAsked(head_, bytes)) return Finish(Fail(Describe(*wrong)));
  }
  bytes_ += bytes.size();
  if (bytes_ > request().max_answer_bytes) {
    const std::string advice = std::is_same_v<T, AnyRef> ? "; list in pages, or raise the bound" : "";
    return Finish(Fail(
        Describe(Error(Code::kDecode, "the response is larger than the " + std::to_string(request().max_answer_bytes) +
                                          " bytes of max_answer_bytes" + advice))));
  }
  if (auto added = Add(std::move(bytes)); !added) Finish(Fail(Describe(added.error())));
}

template <typename T>
void AnswerOperation<T>::OnEnd(HttpEnd end) {
  if (end.result && Succeeded()) {
    Result<T> answer = Complete();
    if (!answer) return Finish(Fail(Describe(answer.error())));
    return Finish(std::move(answer));
  }
  if (end.result && head_.status != 0) return Refused();
  const Error error = end.result ? Error(Code::kUnavailable, "the response has no headers") : end.result.error();
  // Any other request than a GET may have been executed by the server before the connection was lost.
  if (request().method == "GET" && end.connection_lost && MayRetry()) {
    ++retries_;
    head_ = {};
    if (Again(kAfterLostConnection, error)) return;
  }
  Finish(Fail(Describe(error)));
}

template <typename T>
void AnswerOperation<T>::Refused() {
  Error error = RefusalOf(head_);
  const std::optional<std::int32_t> wait = ParseRetryAfter(head_.Header("retry-after"));
  if ((head_.status == 429 || head_.status >= 500) && wait && MayRetry()) {
    ++retries_;
    head_ = {};
    if (Again(std::min<Nanos>(std::chrono::seconds(*wait), kLongestRetryAfter), error)) return;
  }
  if (AgainWithNewCredential(head_, error)) {
    head_ = {};
    return;
  }
  Finish(Fail(std::move(error)));
}

template <typename T>
void AnswerOperation<T>::Finish(Result<T> result) {
  End(result ? nullptr : &result.error());
  Done done = std::move(done_);
  done_ = nullptr;
  if (done) RunCallback(connection().observer, request().what, [&] { done(std::move(result)); });
}

template class AnswerOperation<ApiResponse>;
template class AnswerOperation<AnyRef>;

Result<void> CallOperation::Add(std::string bytes) {
  if (body_.empty()) {
    body_ = std::move(bytes);
  } else {
    body_ += bytes;
  }
  return {};
}

Result<ApiResponse> CallOperation::Complete() {
  if (!request().text) {  // which may quote a Status
    if (std::optional<Error> failure = FailureIn(body_)) return Fail(*std::move(failure));
  }
  ApiResponse response;
  response.status = head().status;
  response.content_type = head().Header("content-type");
  response.body = std::move(body_);
  return response;
}

namespace {

// Sets apiVersion and kind of the items, which servers omit in lists of built-in resources.
void NameItems(UnstructuredList& list, const KindInfo& kind) {
  std::string_view name = kind.kind;
  if (name.empty() && list.kind.view().ends_with("List")) {
    name = list.kind.view().substr(0, list.kind.view().size() - std::string_view("List").size());
  }
  for (Unstructured& item : list.items) {
    if (item.kind.empty() && !name.empty()) item.kind = name;
    if (item.apiVersion.empty()) item.apiVersion = list.apiVersion;
  }
}

}  // namespace

Result<AnyRef> ListOperation::Complete() {
  Result<AnyRef> list = decoder_->Finish();
  // A response that is not a list may be a Status with the reason.
  if (std::optional<Error> failure = FailureIn(decoder_->envelope())) return Fail(*std::move(failure));
  if (!list) return list;
  if (Result<void> fits = CheckListKind(decoder_->envelope(), &kind_, decoder_->has_items()); !fits)
    return Fail(std::move(fits).error());
  if (&table_ == &UnstructuredList::kTable) {
    // There are no other references to it yet.
    NameItems(*const_cast<UnstructuredList*>(static_cast<const UnstructuredList*>(list->object())), kind_);
  }
  return list;
}

}  // namespace kgen::client
