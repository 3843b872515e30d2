// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Requests that return the whole response, with retries: as bytes, or as a list that is decoded while it arrives.
#ifndef KGEN_SRC_CLIENT_REQUEST_CALL_H_
#define KGEN_SRC_CLIENT_REQUEST_CALL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/request/operation.h"
#include "codec/list_decoder.h"
#include "kgen/core/function.h"
#include "kgen/core/ref.h"

namespace kgen::client {

// The common part of both. T is the type of the result.
template <typename T>
class AnswerOperation : public Operation {
 public:
  using Answer = T;
  using Done = UniqueFunction<void(Result<T>)>;

 protected:
  AnswerOperation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand, Done done)
      : Operation(std::move(connection), std::move(request), std::move(strand)), done_(std::move(done)) {}

  // Called for a successful response: at its start, to forget what arrived of an earlier one; for its bytes; and at its
  // end.
  virtual void Restart() = 0;
  virtual Result<void> Add(std::string bytes) = 0;
  virtual Result<T> Complete() = 0;

  const HttpHead& head() const noexcept { return head_; }

 private:
  void OnHead(HttpHead head) final;
  void OnBytes(std::string bytes) final;
  void OnEnd(HttpEnd end) final;
  void OnFailed(Error error) final { Finish(Fail(std::move(error))); }

  void Refused();
  bool MayRetry() const noexcept { return retries_ < kMaxRetries; }
  bool Succeeded() const noexcept { return head_.status >= 200 && head_.status <= 206; }
  void Finish(Result<T> result);

  static constexpr int kMaxRetries = 10;
  Done done_;
  HttpHead head_{};
  std::uint64_t bytes_ = 0;  // of this response
  int retries_ = 0;
};

class CallOperation final : public AnswerOperation<ApiResponse> {
 public:
  CallOperation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand, Done done)
      : AnswerOperation(std::move(connection), std::move(request), std::move(strand), std::move(done)) {}

 private:
  void Restart() override { body_.clear(); }
  Result<void> Add(std::string bytes) override;
  Result<ApiResponse> Complete() override;

  std::string body_{};
};

// Returns a list. The caller has the only reference to it.
class ListOperation final : public AnswerOperation<AnyRef> {
 public:
  ListOperation(Shared<ConnectionState> connection, ApiRequest request, Shared<Strand> strand, Done done,
                const TypeTable& table, const KindInfo& kind)
      : AnswerOperation(std::move(connection), std::move(request), std::move(strand), std::move(done)),
        table_(table),
        kind_(kind) {}

 private:
  void Restart() override { decoder_.emplace(table_); }
  Result<void> Add(std::string bytes) override { return decoder_->Feed(bytes); }
  Result<AnyRef> Complete() override;

  const TypeTable& table_;
  const KindInfo& kind_;
  std::optional<codec::ListDecoder> decoder_{};  // of the current response
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_CALL_H_
