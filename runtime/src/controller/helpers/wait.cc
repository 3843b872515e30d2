// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/wait.h"

#include "net/duration_text.h"

namespace kgen::detail {

Result<void> CheckWaitLimit(const ObjectKey& key, Nanos limit) {
  if (limit >= Nanos::zero()) return {};
  return Fail(Code::kInvalidArgument,
              "wait for " + key.str() + ": `limit` is " + net::DurationText(limit) + ", but it must not be negative");
}

}  // namespace kgen::detail
