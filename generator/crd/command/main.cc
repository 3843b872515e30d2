// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/command/crd_command.h"

#ifdef __SANITIZE_ADDRESS__
// The archives of LLVM are built without ASan, and do not unpoison what LLVM's allocator, inlined here, has poisoned.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is ASan's.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0"; }
#endif

namespace {

// A header can keep Clang busy forever, or crash it: by templates that never end, or constants that are computed.
// A usual header takes a second and 100 MB.
constexpr rlim_t kMostSeconds = 30;
[[maybe_unused]] constexpr rlim_t kMostBytes = rlim_t{2} << 30;

extern "C" void Stop(int signal) {
  constexpr std::string_view kTooLong =
      "kgen-crd: error: Clang did not finish the headers within the limit of time; look for templates or constants "
      "that never end\n";
  constexpr std::string_view kCrash =
      "kgen-crd: error: Clang crashed on the headers, or needed more than 2 GiB; look for very deep nesting, or see "
      "which header it is by leaving out others\n";
  const bool late = signal == SIGXCPU || signal == SIGALRM;
  const std::string_view message = late ? kTooLong : kCrash;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  _exit(late ? kgen::generator::commands::kBadInput : kgen::generator::commands::kInternalError);
}

// Lowers a limit of the process; one that is lower already stays.
void Limit(int resource, rlim_t most) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  setrlimit(resource, &limit);
}

void SetLimits() {
  static std::array<char, 64 << 10> stack;  // for the handler: the usual one may be what was exhausted
  stack_t other = {};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = Stop;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGBUS, SIGILL, SIGSEGV, SIGTRAP, SIGALRM, SIGXCPU})
    sigaction(signal, &action, nullptr);
  std::set_new_handler([] { Stop(SIGABRT); });
  Limit(RLIMIT_CPU, kMostSeconds);
  alarm(10 * kMostSeconds);   // for an #include that waits, as of a named pipe
#ifndef __SANITIZE_ADDRESS__  // its shadow is larger
  Limit(RLIMIT_AS, kMostBytes);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  SetLimits();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return kgen::generator::crd::RunKgenCrd(arguments, {std::cin, std::cout, std::cerr});
}
