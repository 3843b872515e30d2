// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// StreamOperation: a request whose response is passed on as it arrives.
#ifndef KGEN_SRC_CLIENT_REQUEST_STREAM_H_
#define KGEN_SRC_CLIENT_REQUEST_STREAM_H_

#include <cstddef>
#include <string>

#include "client/request/operation.h"

namespace kgen::client {

class StreamOperation final : public Operation {
 public:
  StreamOperation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand,
                  Shared<StreamSink> sink);

  // Call it before Begin(). Credit is then returned only by Consumed().
  void KeepCredit() noexcept { keeps_credit_ = true; }
  void Consumed(std::size_t bytes);  // any thread

 private:
  void OnHead(HttpHead head) override;
  void OnBytes(std::string bytes) override;
  void OnEnd(HttpEnd end) override;
  void OnFailed(Error error) override { Finish(Fail(std::move(error))); }

  bool Succeeded() const noexcept {
    // No log at all is 204.
    const bool watches = request().watch && !request().text;
    return watches ? head_.status == 200 : head_.status >= 200 && head_.status <= 299;
  }
  void Refused();
  void Finish(Result<void> end);

  Shared<StreamSink> sink_;
  HttpHead head_{};
  bool begun_ = false;  // the body has begun
};

// The handle that users of Connection::Stream() hold.
class StreamHandle final : public StreamCall {
 public:
  explicit StreamHandle(Shared<StreamOperation> operation) : operation_(std::move(operation)) {}
  void Cancel() noexcept override { operation_->Cancel(); }

 private:
  const Shared<StreamOperation> operation_;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_STREAM_H_
