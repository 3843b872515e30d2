// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Runs callbacks of the user and reports their exceptions to the observer.
#ifndef KGEN_SRC_CLIENT_REQUEST_CALLBACK_H_
#define KGEN_SRC_CLIENT_REQUEST_CALLBACK_H_

#include <exception>
#include <string_view>

#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"

namespace kgen::client {

// `what` names the call that the callback belongs to.
template <typename Callback>
void RunCallback(const Shared<Observer>& observer, std::string_view what, Callback callback) noexcept {
  try {
    callback();
  } catch (const std::exception& thrown) {
    NotifyObserver(observer, [&](Observer& o) { o.OnHandlerFailed({.informer = what, .what = thrown.what()}); });
  } catch (...) {
    NotifyObserver(observer, [&](Observer& o) {
      o.OnHandlerFailed({.informer = what, .what = "an exception that is not a std::exception"});
    });
  }
}

// In a forked child no task runs, so for a call with a callback this calls `done` at once, with the error, and returns
// true.
template <typename Done>
bool RefuseInForkedChild(const Shared<Observer>& observer, std::string_view what, Done& done) noexcept {
  if (!detail::ForkedChild()) return false;
  RunCallback(observer, what, [&] { done(Fail(detail::ForkedError())); });
  return true;
}

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_CALLBACK_H_
