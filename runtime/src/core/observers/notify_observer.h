// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// NotifyObserver(): calls the observer and ignores its exceptions.
#ifndef KGEN_SRC_CORE_OBSERVERS_NOTIFY_OBSERVER_H_
#define KGEN_SRC_CORE_OBSERVERS_NOTIFY_OBSERVER_H_

#include "kgen/core/observer.h"
#include "kgen/core/shared.h"

namespace kgen {

// Calls `say` with the observer, if there is one.
template <typename Say>
void NotifyObserver(const Shared<Observer>& observer, Say say) noexcept {
  if (!observer) return;
  try {
    say(*observer);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a failing observer must not affect its caller
  }
}

}  // namespace kgen

#endif  // KGEN_SRC_CORE_OBSERVERS_NOTIFY_OBSERVER_H_
