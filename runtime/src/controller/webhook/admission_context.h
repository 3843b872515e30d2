// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What an Admission refers to: the request of a review, and what its functions leave behind.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_CONTEXT_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_CONTEXT_H_

#include <map>
#include <optional>
#include <string>

#include "controller/webhook/admission_review.h"
#include "controller/webhook/admission_warnings.h"
#include "controller/webhook/webhook_routes.h"
#include "kgen/controller/cached_client.h"
#include "kgen/core/log_record.h"

namespace kgen::controller {

// Lives as long as one call of a handler. Thread safety: one thread at a time.
struct AdmissionContext {
  const AdmissionRequest& request;
  const WebhookCall& call;
  const std::string& path;                  // of the webhook
  const WebhookRoutes::Context& surrounds;  // empty before the manager runs
  mutable AdmissionWarnings warnings{};
  mutable std::map<std::string, std::string> audit{};
  mutable std::optional<CachedClient> reading{};  // the client of a dry run, once it is asked for

  // Tells the observer, if there is one.
  void Report(LogLevel level, std::string_view message) const noexcept;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_CONTEXT_H_
