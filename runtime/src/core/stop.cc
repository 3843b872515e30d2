// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/stop.h"

#include <unistd.h>
#include <cerrno>
#include <csignal>

#include <atomic>

#include "core/sleeper.h"
#include "core/thread.h"
#include "kgen/core/waiter.h"

namespace kgen {
namespace {

// Set before the handlers are installed, never changed afterwards.
int signal_pipe = -1;
std::atomic<int> signals_seen{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void KgenOnStopSignal(int number) {
  if (signals_seen.fetch_add(1) > 0) _exit(128 + number);
  const int saved = errno;
  const char byte = 0;
  [[maybe_unused]] const auto written = write(signal_pipe, &byte, 1);
  errno = saved;
}

// Never destroyed: a signal may come at any time.
std::stop_source& InstallOnce() {
  auto& source = *new std::stop_source;
  int ends[2];
  if (pipe(ends) != 0)
    return source;  // out of descriptors: the signals keep their default action, which also ends the process
  signal_pipe = ends[1];
  auto reader = detail::Thread::Start([&source, from = ends[0]] {
    char byte;
    while (read(from, &byte, 1) < 0 && errno == EINTR) {
    }
    source.request_stop();
  });
  if (!reader) return source;
  reader.Release();
  struct sigaction action = {};
  action.sa_handler = KgenOnStopSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return source;
}

}  // namespace

std::stop_token StopOnSignals() {
  static std::stop_source& source = InstallOnce();
  return source.get_token();
}

void Wait(std::stop_token stop) {
  if (!stop.stop_possible()) return;
  const Shared<detail::Sleeper> sleeper = detail::MakeSleeper();
  const std::stop_callback wake(stop, [sleeper] { sleeper->Wake(); });
  while (!stop.stop_requested()) sleeper->SleepUntil(Waiter::kNoDeadline);
}

}  // namespace kgen
