// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/webhook_routes.h"

#include <utility>

#include "core/json/quote.h"

namespace kgen::controller {

std::string WebhookHandler::AnswerMalformed(std::string_view why) {
  const std::string message = kgen::detail::QuoteJson(why);
  if (kind() == Kind::kConversion) {
    return R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"","convertedObjects":)"
           R"([],"result":{"status":"Failure","message":)" +
           message + "}}}";
  }
  return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"","allowed":false,"status":)"
         R"({"status":"Failure","message":)" +
         message + R"(,"reason":"BadRequest","code":400}}})";
}

void WebhookRoutes::Surrounds::Set(Context context) {
  if (taken_.test_and_set()) return;
  context_.emplace(std::move(context));
  given_.store(&*context_, std::memory_order_release);
}

void WebhookRoutes::SetContext(Context context) { surrounds_->Set(std::move(context)); }

WebhookRoutes::Context WebhookRoutes::context() const {
  const Context* const given = surrounds_->Get();
  return given != nullptr ? *given : Context();
}

Result<void> WebhookRoutes::Add(const std::string& path, Shared<WebhookHandler> handler) {
  if (!path.starts_with('/')) {
    return Fail(Code::kInvalidArgument, "webhook: the path '" + path + "' does not begin with '/'");
  }
  if (running()) {
    return Fail(Code::kInvalidArgument,
                "webhook: the path '" + path + "' was added after Manager::Run(); add webhooks before it");
  }
  const MutexLock lock(mutex_);
  if (!handlers_.emplace(path, std::move(handler)).second) {
    return Fail(Code::kInvalidArgument, "webhook: the path '" + path +
                                            "' is taken; choose another one with MutatingPath() or ValidatingPath()");
  }
  return {};
}

Shared<WebhookHandler> WebhookRoutes::Find(std::string_view path) const {
  const MutexLock lock(mutex_);
  const auto found = handlers_.find(path);
  return found == handlers_.end() ? Shared<WebhookHandler>() : found->second;
}

void WebhookRoutes::Clear() {
  std::map<std::string, Shared<WebhookHandler>, std::less<>> dropped;  // after the lock, since they are the user's
  const MutexLock lock(mutex_);
  dropped.swap(handlers_);
}

std::vector<std::string> WebhookRoutes::paths() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, handler] : handlers_) paths.push_back(path);
  return paths;
}

void WebhookRoutes::Refuse(Error error) {
  const MutexLock lock(mutex_);
  if (!refused_) refused_ = std::move(error);
}

Result<void> WebhookRoutes::declared() const {
  const MutexLock lock(mutex_);
  if (refused_) return Fail(*refused_);
  return {};
}

}  // namespace kgen::controller
