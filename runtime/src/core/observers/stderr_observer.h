// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_OBSERVERS_STDERR_OBSERVER_H_
#define KGEN_SRC_CORE_OBSERVERS_STDERR_OBSERVER_H_

#include "kgen/core/clock.h"
#include "kgen/core/observer.h"

namespace kgen {

// StderrObserver() with the time of another clock. A new one for each call.
Shared<Observer> MakeStderrObserver(Shared<Clock> clock);

}  // namespace kgen

#endif  // KGEN_SRC_CORE_OBSERVERS_STDERR_OBSERVER_H_
