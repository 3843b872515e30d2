// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_OBSERVERS_TEXT_LOG_H_
#define KGEN_SRC_CORE_OBSERVERS_TEXT_LOG_H_

#include "kgen/core/clock.h"
#include "kgen/core/log.h"
#include "kgen/core/shared.h"

namespace kgen::detail {

// As MakeLogObserver() with these settings and else its defaults. A program that makes no other log does not contain
// the code of the other formats. A null clock: SystemClock().
Shared<LogObserver> MakeTextLog(Shared<Clock> clock);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OBSERVERS_TEXT_LOG_H_
