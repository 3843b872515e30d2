// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TerminalError: marks a failure that another attempt would not mend.
//
//   if (order->spec.image.empty()) return kgen::TerminalError({kgen::Code::kInvalid, "spec.image is missing"});
#ifndef KGEN_CONTROLLER_TERMINAL_ERROR_H_
#define KGEN_CONTROLLER_TERMINAL_ERROR_H_

#include "kgen/core/result.h"

namespace kgen {

// Returns the same failure, marked so that a controller or WorkQueue::Process() does not repeat the call: it reports
// the error, and the key comes back only when something happens to it. The mark stays when callers add to the message
// with Error::With(). It corresponds to reconcile.TerminalError of controller-runtime.
Error TerminalError(const Error& error);

// Returns whether `error` has that mark.
bool IsTerminal(const Error& error) noexcept;

}  // namespace kgen

#endif  // KGEN_CONTROLLER_TERMINAL_ERROR_H_
