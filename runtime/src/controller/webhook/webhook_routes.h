// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WebhookRoutes: which handler answers a path. The same handlers answer the API server, through WebhookServer, and the
// in-memory cluster of tests, in virtual time.
//
//   WebhookServer, testing::Cluster --path--> WebhookRoutes --> WebhookHandler --review in, review out-->
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_ROUTES_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_ROUTES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/controller/cached_client.h"
#include "kgen/core/clock.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// What a call has beside its bytes.
struct WebhookCall {
  std::stop_token stop{};  // requested at `deadline`
  TimePoint deadline{};
};

// Answers reviews of one path. Thread safety: all members from any thread.
class WebhookHandler : public SharedObject {
 public:
  enum class Kind : std::uint8_t { kMutating, kValidating, kRaw, kConversion };
  virtual Kind kind() const noexcept = 0;
  // Answers a review with a review, which is always sent with the HTTP status 200, whatever `review` is. Never throws.
  // Blocks as long as the functions of the user.
  virtual std::string Answer(std::string_view review, const WebhookCall& call) = 0;
  // Answers a review that was not read, because it has more than `limit` bytes: code 413.
  virtual std::string AnswerTooLarge(std::size_t limit) = 0;
  // Answers a body that is no review, for instance because of its content type: code 400, or a failed conversion. `why`
  // is a sentence for the caller.
  virtual std::string AnswerMalformed(std::string_view why);
  // What is counted: reviews whose function threw.
  virtual std::uint64_t panics() const noexcept = 0;
};

// Thread safety: all members from any thread. None blocks.
class WebhookRoutes final : public SharedObject {
 public:
  // What handlers need of the manager. Given once, before the first review.
  struct Context {
    std::optional<CachedClient> client{};
    Shared<Observer> observer{};
  };
  void SetContext(Context context);
  Context context() const;
  // Whether the context was given: the manager runs, and nothing can be added any more.
  bool running() const { return surrounds_->Get() != nullptr; }

  // Where handlers find the context. They share it, because the routes hold them and not the other way round.
  class Surrounds final : public SharedObject {
   public:
    // The context lives as long as this object. Null before the manager runs.
    const Context* Get() const noexcept { return given_.load(std::memory_order_acquire); }
    void Set(Context context);  // the first call counts

   private:
    std::optional<Context> context_{};
    std::atomic_flag taken_{};
    std::atomic<const Context*> given_{nullptr};
  };
  const Shared<Surrounds>& surrounds() const noexcept { return surrounds_; }

  // Adds a handler. Errors: kInvalidArgument  the path is taken or does not begin with '/', or the manager runs
  Result<void> Add(const std::string& path, Shared<WebhookHandler> handler);
  Shared<WebhookHandler> Find(std::string_view path) const;  // null: none
  // Drops the handlers. Their functions often hold the manager, which holds the routes.
  void Clear();
  std::vector<std::string> paths() const;  // sorted
  // Keeps the first error of a declaration, which Manager::Run() returns.
  void Refuse(Error error);
  Result<void> declared() const;

 private:
  const Shared<Surrounds> surrounds_ = MakeShared<Surrounds>();
  mutable Mutex mutex_;
  std::map<std::string, Shared<WebhookHandler>, std::less<>> handlers_ KGEN_GUARDED_BY(mutex_);
  std::optional<Error> refused_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_ROUTES_H_
