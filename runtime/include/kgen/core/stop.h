// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Stopping a program: StopOnSignals() and Wait().
#ifndef KGEN_CORE_STOP_H_
#define KGEN_CORE_STOP_H_

#include <stop_token>

namespace kgen {

// A token that is stopped by the first SIGINT or SIGTERM; the second one exits the process at once, with 128 + its
// number. Installs signal handlers for the whole process at the first call; later calls return the same token. The
// handler itself only writes to a pipe (or exits); stop callbacks run on a thread of the library. In a child of fork()
// that lacks this thread the signals have their default action, and the token is never stopped.
std::stop_token StopOnSignals();

// Blocks until a stop is requested. Returns at once for a token that can never stop, and in such a child. In real time:
// a test on virtual time runs its Cluster instead.
void Wait(std::stop_token stop);

}  // namespace kgen

#endif  // KGEN_CORE_STOP_H_
