// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/stop.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

#include <atomic>

#include "core/execution/sleeper.h"
#include "core/execution/thread.h"
#include "core/memory/fork.h"
#include "kgen/core/waiter.h"

namespace kgen {
namespace {

// Set before the handlers are installed, never changed afterwards.
int signal_pipe = -1;
pid_t signal_process = 0;
std::atomic<int> signals_seen{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void KgenOnStopSignal(int number) {
  // A forked child shares the pipe with its parent, which must not stop. The signal comes again, with its default
  // action, when this handler returns. The flag of a forked child is set too late for a signal that comes first.
  if (getpid() != signal_process) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  if (signals_seen.fetch_add(1) > 0) _exit(128 + number);
  const int saved = errno;
  const char byte = 0;
  [[maybe_unused]] const auto written = write(signal_pipe, &byte, 1);
  errno = saved;
}

// The source is never destroyed, because a signal may come at any time.
std::stop_source& InstallOnce() {
  auto& source = *new std::stop_source;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return source;  // out of descriptors: the signals keep their default action, which also ends the process
  signal_pipe = ends[1];
  signal_process = getpid();
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
  if (detail::ForkedChild()) return {};
  static std::stop_source& source = InstallOnce();
  return source.get_token();
}

void Wait(std::stop_token stop) {
  if (!stop.stop_possible() || detail::ForkedChild()) return;
  const Shared<detail::Sleeper> sleeper = detail::MakeSleeper();
  const std::stop_callback wake(stop, [sleeper] { sleeper->Wake(); });
  while (!stop.stop_requested()) sleeper->SleepUntil(Waiter::kNoDeadline);
}

}  // namespace kgen
