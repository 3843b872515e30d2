// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/stream.h"

#include <utility>

namespace kgen::client {

StreamOperation::StreamOperation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand,
                                 Shared<StreamSink> sink)
    : Operation(std::move(connection), std::move(request), std::move(strand)), sink_(std::move(sink)) {}

void StreamOperation::OnHead(HttpHead head) {
  head_ = std::move(head);
  if (!Succeeded()) return;
  if (request().watch) StopTimeLimit();
  const Shared<StreamSink> sink = sink_;  // the calls may drop sink_
  sink->OnContentType(head_.Header("content-type"));
  sink->OnOpen();
}

void StreamOperation::OnBytes(std::string bytes) {
  if (Succeeded()) {
    if (!std::exchange(begun_, true)) {
      if (const std::optional<Error> wrong = NotAsAsked(head_, bytes)) return Finish(Fail(Describe(*wrong)));
    }
    const Shared<StreamSink> sink = sink_;  // the call may drop sink_
    sink->OnBytes(bytes);
    Recycle(std::move(bytes));
    return;
  }
  const bool more = CollectRefusal(bytes);
  if (keeps_credit_) Consume(bytes.size());
  if (!more) Refused();
}

void StreamOperation::Refused() {
  Error error = RefusalOf(head_);
  if (AgainWithNewCredential(head_, error)) {
    head_ = {};
    return;
  }
  Finish(Fail(std::move(error)));
}

void StreamOperation::OnEnd(HttpEnd end) {
  if (!end.result) return Finish(Fail(Describe(end.result.error())));
  if (head_.status == 0) return Finish(Fail(Describe(Error(Code::kUnavailable, "the response has no headers"))));
  if (!Succeeded()) return Refused();
  Finish({});
}

void StreamOperation::Consumed(std::size_t bytes) {
  PostSelf([this, bytes](Operation&) { Consume(bytes); });
}

void StreamOperation::Finish(Result<void> end) {
  End(end ? nullptr : &end.error());
  const Shared<StreamSink> sink = std::exchange(sink_, {});
  if (sink) sink->OnEnd(std::move(end));
}

}  // namespace kgen::client
