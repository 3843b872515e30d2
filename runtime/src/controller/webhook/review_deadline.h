// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How long a review may take, as the API server says it in the query of its request: POST /validate?timeout=10s
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_REVIEW_DEADLINE_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_REVIEW_DEADLINE_H_

#include <string_view>

#include "kgen/core/clock.h"

namespace kgen::controller {

struct ReviewTime {
  Nanos timeout{};  // after which the API server has given up
  Nanos limit{};    // of the function: less, so that its answer arrives in time
};

// `target` is the path with the query. Without a timeout there, or with one that is malformed or not positive, it is
// `otherwise`; the most is 30 seconds, as servers allow it.
ReviewTime ReviewTimeOf(std::string_view target, Nanos otherwise);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_REVIEW_DEADLINE_H_
