// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A request whose whole answer is collected, with retries.
#ifndef KGEN_SRC_CLIENT_CALL_H_
#define KGEN_SRC_CLIENT_CALL_H_

#include <functional>
#include <string>

#include "client/operation.h"

namespace kgen::client {

class CallOperation final : public Operation {
 public:
  using Done = std::move_only_function<void(Result<ApiResponse>)>;
  CallOperation(Shared<ConnectionCore> core, ApiRequest request, Shared<Strand> strand, Done done);

 private:
  void OnHead(HttpHead head) override;
  void OnBytes(std::string bytes) override;
  void OnEnd(HttpEnd end) override;
  void OnFailed(Error error) override { Finish(Fail(std::move(error))); }

  void Answered();
  Error TooLarge() const;
  bool MayRetry() const noexcept { return retries_ < kMaxRetries; }
  bool Succeeded() const noexcept { return head_.status >= 200 && head_.status <= 206; }
  void Finish(Result<ApiResponse> result);

  static constexpr int kMaxRetries = 10;
  Done done_;
  HttpHead head_{};
  std::string body_{};
  int retries_ = 0;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_CALL_H_
