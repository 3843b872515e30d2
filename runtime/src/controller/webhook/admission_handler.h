// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The handlers of admission reviews: of the typed functions of a kind at one path, and of a raw function.
//
//   bytes --ReviewHandler--> Admission --TypedAdmission: decode, functions, patch--> AdmissionVerdict --> bytes
//                                      --RawAdmissionHandler: the function-------->
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_HANDLER_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_HANDLER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/webhook/admission_context.h"
#include "controller/webhook/admission_review.h"
#include "controller/webhook/webhook_routes.h"
#include "core/memory/mutex.h"
#include "kgen/controller/admission.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// What is the same for all admission webhooks: reading the review, writing the answer, and what becomes of failures.
// Thread safety: all members from any thread.
class ReviewHandler : public WebhookHandler {
 public:
  ReviewHandler(std::string path, Shared<WebhookRoutes::Surrounds> surrounds);

  std::string Answer(std::string_view review, const WebhookCall& call) final;
  std::string AnswerTooLarge(std::size_t limit) final;
  std::uint64_t panics() const noexcept final { return panics_.load(std::memory_order_relaxed); }

 protected:
  // Decides a review that could be read. May throw std::bad_alloc.
  virtual void Decide(const AdmissionContext& context, AdmissionVerdict& verdict) = 0;

  const std::string& path() const noexcept { return path_; }
  // Why a function of the user has no result. An exception is a fault of the webhook, whatever it holds.
  struct Failure {
    Error error;
    bool threw = false;
  };
  template <typename F>
  auto CallUser(const F& function) noexcept -> std::expected<typename decltype(function())::value_type, Failure>;
  // Denies with the Status of the error, or with 500 for what no client must see, which is reported.
  void Deny(const AdmissionContext& context, const Failure& failure, AdmissionVerdict& verdict) const;
  // Denies because of the webhook itself: with 500 and a message without the cause, which is reported.
  void DenyFault(const AdmissionContext& context, const Error& error, AdmissionVerdict& verdict) const;
  // Denies a review that the webhook cannot decide: with 400 and the message, which is reported as well.
  void DenyBadRequest(const AdmissionContext& context, std::string_view message, AdmissionVerdict& verdict) const;

 private:
  void ReadAndDecide(std::string_view review, const WebhookCall& call, AdmissionRequest& request,
                     AdmissionVerdict& verdict);

  const std::string path_;
  const Shared<WebhookRoutes::Surrounds> surrounds_;
  std::atomic<std::uint64_t> panics_{0};
};

// The functions of one kind at one path: either all of Default(), or all that validate.
class TypedAdmission final : public ReviewHandler {
 public:
  using Spec = detail::WebhookSpec;

  // `spec` is the first function.
  TypedAdmission(std::string path, Shared<WebhookRoutes::Surrounds> surrounds, Spec spec);

  Kind kind() const noexcept override { return mutating_ ? Kind::kMutating : Kind::kValidating; }
  // Adds another function. Errors: kInvalidArgument  the path has functions of another kind, type or sort
  Result<void> Add(Spec spec);

 protected:
  void Decide(const AdmissionContext& context, AdmissionVerdict& verdict) override;

 private:
  struct Function {
    Spec::Role role;
    decltype(Spec::function) call;
  };
  // Never changed, so that a call needs the lock only to take a reference.
  struct Functions final : SharedObject {
    std::vector<Function> list{};
  };
  class Object;  // one object of the table

  void Default(const AdmissionContext& context, const Functions& functions, AdmissionVerdict& verdict);
  void Validate(const AdmissionContext& context, const Functions& functions, Spec::Role role,
                AdmissionVerdict& verdict);
  Shared<const Functions> functions() const;
  bool IsOfKind(const AdmissionContext& context, AdmissionVerdict& verdict) const;

  const Spec type_;  // without its function
  const GroupVersionKind gvk_;
  const bool mutating_;
  mutable Mutex mutex_;
  Shared<const Functions> functions_ KGEN_GUARDED_BY(mutex_);
};

class RawAdmissionHandler final : public ReviewHandler {
 public:
  RawAdmissionHandler(std::string path, Shared<WebhookRoutes::Surrounds> surrounds, RawWebhookFunction function);
  Kind kind() const noexcept override { return Kind::kRaw; }

 protected:
  void Decide(const AdmissionContext& context, AdmissionVerdict& verdict) override;

 private:
  const RawWebhookFunction function_;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_HANDLER_H_
