// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/admission_handler.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "codec/json_patch.h"
#include "controller/webhook/admission_status.h"
#include "core/json_path.h"
#include "core/out_of_memory.h"
#include "core/thrown.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace kgen::controller {
namespace {

using Role = detail::WebhookSpec::Role;

std::optional<Role> RoleOf(AdmissionOperation operation) noexcept {
  switch (operation) {
    case AdmissionOperation::kCreate:
      return Role::kCreate;
    case AdmissionOperation::kUpdate:
      return Role::kUpdate;
    case AdmissionOperation::kDelete:
      return Role::kDelete;
    case AdmissionOperation::kConnect:
      break;
  }
  return std::nullopt;
}

}  // namespace

// ---- ReviewHandler. ----

ReviewHandler::ReviewHandler(std::string path, Shared<WebhookRoutes::Surrounds> surrounds)
    : path_(std::move(path)), surrounds_(std::move(surrounds)) {}

std::string ReviewHandler::Answer(std::string_view review, const WebhookCall& call) {
  AdmissionRequest request;
  AdmissionVerdict verdict;
  try {
    try {
      ReadAndDecide(review, call, request, verdict);
      return WriteAdmissionReview(request, verdict);
    } catch (...) {  // no memory, since functions of the user cannot throw through CallUser()
      verdict = {.allowed = false,
                 .status = DeniedStatus(500, "InternalError", "webhook " + path_ + ": out of memory")};
      return WriteAdmissionReview(request, verdict);
    }
  } catch (...) {
    return {};  // not even for that; the server counts it as a call that failed
  }
}

std::string ReviewHandler::AnswerTooLarge(std::size_t limit) {
  try {
    return WriteAdmissionReview(
        {}, {.allowed = false,
             .status = DeniedStatus(413, "RequestEntityTooLarge",
                                    "request entity is too large; limit is " + std::to_string(limit) +
                                        " bytes, which WebhookOptions::max_review_bytes of the webhook sets")});
  } catch (...) {
    return {};
  }
}

void ReviewHandler::ReadAndDecide(std::string_view review, const WebhookCall& call, AdmissionRequest& request,
                                  AdmissionVerdict& verdict) {
  static const WebhookRoutes::Context& none = *new WebhookRoutes::Context;  // read until the process ends
  const WebhookRoutes::Context* const given = surrounds_->Get();
  const AdmissionContext context{
      .request = request, .call = call, .path = path_, .surrounds = given != nullptr ? *given : none};
  if (Result<void> read = ReadAdmissionReview(review, request); !read) {
    // Not reported: anybody may send anything.
    verdict = {.allowed = false, .status = DeniedStatus(400, "BadRequest", read.error().message())};
    return;
  }
  Decide(context, verdict);
  verdict.warnings = context.warnings.Fitting();
  verdict.audit = std::move(context.audit);
}

template <typename F>
auto ReviewHandler::CallUser(const F& function) noexcept
    -> std::expected<typename decltype(function())::value_type, Failure> {
  try {
    auto result = function();
    if (!result) return std::unexpected(Failure{.error = std::move(result).error()});
    return *std::move(result);
  } catch (...) {
    panics_.fetch_add(1, std::memory_order_relaxed);
    return std::unexpected(Failure{.error = detail::ErrorOfThrown("its function"), .threw = true});
  }
}

void ReviewHandler::Deny(const AdmissionContext& context, const Failure& failure, AdmissionVerdict& verdict) const {
  std::optional<meta::v1::Status> status;
  if (!failure.threw) status = StatusOf(failure.error);
  if (!status) return DenyFault(context, failure.error, verdict);
  verdict.allowed = false;
  verdict.status = *std::move(status);
}

void ReviewHandler::DenyFault(const AdmissionContext& context, const Error& error, AdmissionVerdict& verdict) const {
  context.Report(LogLevel::kError, "the webhook failed, so the request was denied: " + error.ToString());
  verdict.allowed = false;
  verdict.status = DeniedStatus(
      500, "InternalError", "webhook " + path_ + " failed; its log has the cause, with the id " + context.request.uid);
}

void ReviewHandler::DenyBadRequest(const AdmissionContext& context, std::string_view message,
                                   AdmissionVerdict& verdict) const {
  context.Report(LogLevel::kWarning, message);
  verdict.allowed = false;
  verdict.status = DeniedStatus(400, "BadRequest", message);
}

// ---- TypedAdmission. ----

// Destroys what it has made.
class TypedAdmission::Object {
 public:
  explicit Object(const Spec& type) : type_(type) {}
  ~Object() {
    if (object_ != nullptr) type_.destroy(object_);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Members of the wrong type are kept as they are.
  Result<void> Decode(std::string_view json, std::string_view member) {
    if (json.empty()) return Fail(Code::kDecode, "the review has no " + std::string(member));
    object_ = type_.make();
    Result<void> decoded = detail::DecodeStruct(json, object_, *type_.table, {});
    if (!decoded) return Fail(Code::kDecode, std::string(member) + ": " + decoded.error().message());
    return {};
  }
  void* get() const noexcept { return object_; }

 private:
  const Spec& type_;
  void* object_ = nullptr;
};

TypedAdmission::TypedAdmission(std::string path, Shared<WebhookRoutes::Surrounds> surrounds, Spec spec)
    : ReviewHandler(std::move(path), std::move(surrounds)),
      type_{.table = spec.table, .kind = spec.kind, .make = spec.make, .destroy = spec.destroy},
      gvk_(spec.kind != nullptr ? GroupVersionKind{spec.kind->group, spec.kind->version, spec.kind->kind}
                                : std::move(spec.dynamic)),
      mutating_(spec.role == Role::kDefault) {
  auto functions = MakeShared<Functions>();
  functions->list.push_back({spec.role, std::move(spec.function)});
  functions_ = std::move(functions);
}

Result<void> TypedAdmission::Add(Spec spec) {
  const GroupVersionKind gvk = spec.kind != nullptr
                                   ? GroupVersionKind{spec.kind->group, spec.kind->version, spec.kind->kind}
                                   : std::move(spec.dynamic);
  if (spec.table != type_.table || gvk != gvk_ || (spec.role == Role::kDefault) != mutating_) {
    return Fail(Code::kInvalidArgument, "webhook: the path '" + path() + "' has functions that " +
                                            (mutating_ ? "set defaults" : "validate") + " for " + gvk_.str() + " as " +
                                            type_.table->name +
                                            "; choose another one with MutatingPath() or ValidatingPath()");
  }
  const MutexLock lock(mutex_);
  auto functions = MakeShared<Functions>();
  functions->list = functions_->list;
  functions->list.push_back({spec.role, std::move(spec.function)});
  functions_ = std::move(functions);
  return {};
}

Shared<const TypedAdmission::Functions> TypedAdmission::functions() const {
  const MutexLock lock(mutex_);
  return functions_;
}

bool TypedAdmission::IsOfKind(const AdmissionContext& context, AdmissionVerdict& verdict) const {
  if (context.request.kind == gvk_) return true;
  DenyBadRequest(context,
                 "webhook " + path() + " takes " + gvk_.str() + ", and the review has " + context.request.kind.str() +
                     ": let the rules of the webhook configuration name only resources of that kind and version, and "
                     "leave matchPolicy at Equivalent, so that the server converts the other versions",
                 verdict);
  return false;
}

void TypedAdmission::Decide(const AdmissionContext& context, AdmissionVerdict& verdict) {
  if (!IsOfKind(context, verdict)) return;
  const std::optional<Role> role = RoleOf(context.request.operation);
  const Shared<const Functions> functions = this->functions();
  if (!mutating_) {
    if (role) Validate(context, *functions, *role, verdict);
  } else if (role == Role::kCreate || role == Role::kUpdate) {
    Default(context, *functions, verdict);
  }
}

void TypedAdmission::Default(const AdmissionContext& context, const Functions& functions, AdmissionVerdict& verdict) {
  Object now(type_);
  if (Result<void> decoded = now.Decode(context.request.object, "object"); !decoded) {
    return DenyBadRequest(context, decoded.error().message(), verdict);
  }
  const Admission admission(&context);
  for (const Function& each : functions.list) {
    const auto done = CallUser([&] { return each.call(nullptr, now.get(), admission); });
    if (!done) return Deny(context, done.error(), verdict);
    if (done->empty()) continue;
    verdict.allowed = false;
    verdict.status = InvalidStatus(gvk_, context.request.key.name, *done);
    return;
  }
  std::string changed;
  detail::EncodeStruct(now.get(), *type_.table, changed);
  Result<std::string> patch = codec::DiffJson(context.request.object, changed);
  if (!patch) return DenyFault(context, patch.error().With("the object with its defaults"), verdict);
  verdict.patch = *std::move(patch);
}

void TypedAdmission::Validate(const AdmissionContext& context, const Functions& functions, Role role,
                              AdmissionVerdict& verdict) {
  const auto has_role = [role](const Function& each) { return each.role == role; };
  if (std::ranges::none_of(functions.list, has_role)) return;
  Object before(type_);
  Object now(type_);
  if (role != Role::kCreate) {
    if (Result<void> decoded = before.Decode(context.request.old_object, "oldObject"); !decoded) {
      return DenyBadRequest(context, decoded.error().message(), verdict);
    }
  }
  if (role != Role::kDelete) {
    if (Result<void> decoded = now.Decode(context.request.object, "object"); !decoded) {
      return DenyBadRequest(context, decoded.error().message(), verdict);
    }
  }
  const Admission admission(&context);
  FieldErrors errors;
  std::optional<Failure> failed;
  for (const Function& each : functions.list) {
    if (!has_role(each)) continue;
    auto done = CallUser([&] { return each.call(before.get(), now.get(), admission); });
    if (done) {
      errors.Add("", *done);
    } else if (!failed) {
      failed = std::move(done).error();
    }
  }
  if (failed) return Deny(context, *failed, verdict);
  if (errors.empty()) return;
  verdict.allowed = false;
  verdict.status = InvalidStatus(gvk_, context.request.key.name, errors);
}

// ---- RawAdmissionHandler. ----

RawAdmissionHandler::RawAdmissionHandler(std::string path, Shared<WebhookRoutes::Surrounds> surrounds,
                                         RawWebhookFunction function)
    : ReviewHandler(std::move(path), std::move(surrounds)), function_(std::move(function)) {}

namespace {

// Returns the Status of a raw function's denial.
meta::v1::Status StatusOfAnswer(const AdmissionRequest& request, const AdmissionAnswer& answer) {
  meta::v1::Status status = answer.errors.empty() ? DeniedStatus(403, "Forbidden", "")
                                                  : InvalidStatus(request.kind, request.key.name, answer.errors);
  if (answer.code >= 400) status.code = answer.code;
  if (!answer.reason.empty()) status.reason = answer.reason;
  if (!answer.message.empty()) status.message = answer.message;
  return status;
}

// Returns the patch of a raw function's answer; "" if there is none, or it is empty.
Result<std::string> PatchOfAnswer(const AdmissionRequest& request, const AdmissionAnswer& answer) {
  if (!answer.patch.has_value()) return std::string();
  if (request.operation == AdmissionOperation::kDelete) {
    return Fail(Code::kInvalidArgument, "it returned a patch for a DELETE, where there is no object to change");
  }
  const Result<Json> parsed = ParseJson(answer.patch.text());
  if (!parsed) return Fail(parsed.error().With("the patch that it returned"));
  if (detail::KindOfJson(parsed->text()) != "a list") {
    return Fail(Code::kInvalidArgument, "the patch that it returned is " +
                                            std::string(detail::KindOfJson(parsed->text())) +
                                            "; a JSON patch is a list of operations");
  }
  bool empty = true;
  if (Result<void> read = detail::ForEachJson(parsed->text(), [&](auto, auto) { empty = false; }); !read) {
    return Fail(std::move(read).error());
  }
  return empty ? std::string() : std::string(parsed->text());
}

}  // namespace

void RawAdmissionHandler::Decide(const AdmissionContext& context, AdmissionVerdict& verdict) {
  const AdmissionRequest& request = context.request;
  const Json object = request.object.empty() ? Json() : Json(request.object);
  const Json old_object = request.old_object.empty() ? Json() : Json(request.old_object);
  const Admission admission(&context);
  const RawAdmission raw{.request = admission, .object = object, .old_object = old_object};
  const auto answer = CallUser([&] { return function_(raw); });
  if (!answer) return Deny(context, answer.error(), verdict);
  if (!answer->allowed || !answer->errors.empty()) {
    verdict.allowed = false;
    verdict.status = StatusOfAnswer(request, *answer);
    return;
  }
  Result<std::string> patch = PatchOfAnswer(request, *answer);
  if (!patch) return DenyFault(context, patch.error(), verdict);
  verdict.patch = *std::move(patch);
}

// ---- Declarations. ----

namespace {

// controller-runtime's: "/mutate-apps-v1-deployment", "/mutate--v1-pod".
std::string DefaultPath(bool mutating, const GroupVersionKind& kind) {
  std::string path = mutating ? "/mutate-" : "/validate-";
  path.append(kind.group).append("-").append(kind.version).append("-").append(kind.kind);
  for (char& c : path) {
    if (c == '.') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return path;
}

Result<void> AddTyped(WebhookRoutes& routes, detail::WebhookSpec spec) {
  const GroupVersionKind kind =
      spec.kind != nullptr ? GroupVersionKind{spec.kind->group, spec.kind->version, spec.kind->kind} : spec.dynamic;
  if (kind.kind.empty() || kind.version.empty()) {
    return Fail(Code::kInvalidArgument,
                std::string("webhook: ") + spec.table->name +
                    " names no kind; write Manager::Webhook(kgen::GroupVersionKind{group, version, kind})");
  }
  std::string path = spec.path.empty() ? DefaultPath(spec.role == Role::kDefault, kind) : spec.path;
  if (!spec.function) {
    return Fail(Code::kInvalidArgument, "webhook " + path + ": a function of " + kind.str() + " is empty");
  }
  if (routes.running()) {
    return Fail(Code::kInvalidArgument,
                "webhook: the path '" + path + "' was added after Manager::Run(); add webhooks before it");
  }
  const Shared<WebhookHandler> there = routes.Find(path);
  if (auto* const typed = dynamic_cast<TypedAdmission*>(there.get()); typed != nullptr) {
    return typed->Add(std::move(spec));
  }
  Shared<WebhookHandler> handler = MakeShared<TypedAdmission>(path, routes.surrounds(), std::move(spec));
  return routes.Add(path, std::move(handler));
}

}  // namespace
}  // namespace kgen::controller

namespace kgen::detail {

void AddWebhook(const Shared<controller::WebhookRoutes>& routes, WebhookSpec spec) {
  Result<void> added = controller::AddTyped(*routes, std::move(spec));
  if (added) return;
  // Once the manager runs, nobody asks for the declaration any more.
  if (const Shared<Observer> observer = routes->context().observer; observer) {
    observer->OnLogged(
        {.source = "webhooks", .key = {}, .message = added.error().message(), .level = LogLevel::kError});
  }
  routes->Refuse(std::move(added).error());
}

Result<void> AddRawWebhook(const Shared<controller::WebhookRoutes>& routes, std::string path,
                           RawWebhookFunction function) {
  if (!function) return Fail(Code::kInvalidArgument, "webhook " + path + ": its function is empty");
  Shared<controller::WebhookHandler> handler =
      MakeShared<controller::RawAdmissionHandler>(path, routes->surrounds(), std::move(function));
  return routes->Add(path, std::move(handler));
}

}  // namespace kgen::detail
