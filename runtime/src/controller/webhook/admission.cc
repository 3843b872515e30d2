// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/admission.h"

#include <utility>

#include "controller/webhook/admission_context.h"
#include "kgen/net/transport.h"

namespace kgen {
namespace {

class RefuseWrites final : public SendGuard {
 public:
  Result<void> MaySend() noexcept override { return Fail(refusal_); }

 private:
  const Error refusal_{Code::kForbidden,
                       "the request is a dry run, so the client of the webhook does not write: check "
                       "Admission::dry_run() before a write"};
};

}  // namespace

std::string_view ToString(AdmissionOperation operation) noexcept {
  switch (operation) {
    case AdmissionOperation::kCreate:
      return "CREATE";
    case AdmissionOperation::kUpdate:
      return "UPDATE";
    case AdmissionOperation::kDelete:
      return "DELETE";
    case AdmissionOperation::kConnect:
      break;
  }
  return "CONNECT";
}

const std::string& Admission::uid() const noexcept { return context_->request.uid; }
AdmissionOperation Admission::operation() const noexcept { return context_->request.operation; }
const GroupVersionKind& Admission::kind() const noexcept { return context_->request.kind; }
const GroupVersionKind& Admission::request_kind() const noexcept { return context_->request.request_kind; }
const GroupVersionResource& Admission::resource() const noexcept { return context_->request.resource; }
const GroupVersionResource& Admission::request_resource() const noexcept { return context_->request.request_resource; }
const std::string& Admission::subresource() const noexcept { return context_->request.subresource; }
const std::string& Admission::request_subresource() const noexcept { return context_->request.request_subresource; }
const ObjectKey& Admission::key() const noexcept { return context_->request.key; }
const AdmissionUser& Admission::user() const noexcept { return context_->request.user; }
bool Admission::dry_run() const noexcept { return context_->request.dry_run; }
const Json& Admission::options() const noexcept { return context_->request.options; }

void Admission::Warn(std::string_view text) const { context_->warnings.Add(text); }

void Admission::Audit(std::string_view key, std::string_view value) const {
  context_->audit.insert_or_assign(std::string(key), std::string(value));
}

const CachedClient& Admission::client() const {
  const std::optional<CachedClient>& client = context_->surrounds.client;
  if (!client) {
    detail::ThrowError(Error(Code::kInvalidArgument,
                             "webhook " + context_->path +
                                 ": there is no client before Manager::Run() is called; run the manager in the test"));
  }
  if (!dry_run()) return *client;
  if (!context_->reading) context_->reading = client->With(MakeShared<RefuseWrites>());
  return *context_->reading;
}

std::stop_token Admission::stop() const noexcept { return context_->call.stop; }
TimePoint Admission::deadline() const noexcept { return context_->call.deadline; }

void Admission::Log(std::string_view message) const { context_->Report(LogLevel::kInfo, message); }

void controller::AdmissionContext::Report(LogLevel level, std::string_view message) const noexcept {
  if (!surrounds.observer) return;
  try {
    const std::string key = request.key.str();
    surrounds.observer->OnLogged({.source = path, .key = key, .message = message, .level = level, .id = request.uid});
  } catch (...) {  // no memory, or an exception of the observer, which counts for nothing
    return;
  }
}

}  // namespace kgen
