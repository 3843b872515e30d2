// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The text form of durations in requests and messages.
#ifndef KGEN_SRC_NET_DURATION_TEXT_H_
#define KGEN_SRC_NET_DURATION_TEXT_H_

#include <string>

#include "kgen/core/clock.h"

namespace kgen::net {

// Returns Go's text form, which servers read: "32s", "1m30s", "250ms".
std::string DurationText(Nanos duration);

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_DURATION_TEXT_H_
