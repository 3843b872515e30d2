// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WebhookFault: what goes wrong when the in-memory API server calls a webhook.
#ifndef KGEN_TESTING_WEBHOOK_FAULT_H_
#define KGEN_TESTING_WEBHOOK_FAULT_H_

#include <optional>
#include <string>

#include "kgen/core/clock.h"

namespace kgen::testing {

// A fault that hits calls of webhooks. By default it hits the next call of any webhook, once.
struct WebhookFault {
  // The name of the webhook ("order.shop.example"), or of the CustomResourceDefinition whose objects are converted
  // ("orders.shop.example"); "" any.
  std::string webhook{};
  int times = 1;  // how many calls it hits; kAlways: all, until ClearFaults(); at least 1
  int skip = 0;   // so many matching calls succeed first

  bool refuse = false;          // connection refused; the webhook is not called
  std::optional<int> status{};  // an answer with this HTTP status of an error; the webhook is not called
  // The webhook is called, and its answer comes so much later. If that is after the timeout, the server gives up.
  Nanos delay{};
  bool wrong_uid = false;    // the answer belongs to another request
  bool wrong_count = false;  // of conversions: one object is missing in the answer
  bool malformed = false;    // the answer is not a review
};

}  // namespace kgen::testing

#endif  // KGEN_TESTING_WEBHOOK_FAULT_H_
