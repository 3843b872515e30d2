// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a part of a test in a child of fork(). The child reports by a text and by how it ends. If it hangs, a signal
// ends it, and the test fails.
#ifndef KGEN_TESTS_RUNTIME_FORK_FORKED_H_
#define KGEN_TESTS_RUNTIME_FORK_FORKED_H_

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/core/result.h"

namespace kgen::test_support {

inline constexpr unsigned kChildSeconds = 20;
inline constexpr std::string_view kForked = "this process was forked after kgen had started threads";

struct Ending {
  std::string said{};  // what the body returned, "" if it did not
  int exit_code = -1;
  int signal = 0;  // SIGALRM: it hung
};

inline Ending WaitFor(pid_t child) {
  Ending ending;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  return ending;
}

// `body` returns a text. The child then ends without running exit handlers, as it does between fork and exec.
template <typename Body>
Ending InChild(Body body) {
  int ends[2];
  if (::pipe(ends) != 0) return {.said = "no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kChildSeconds);
    const std::string said = body();
    for (std::string_view left = said; !left.empty();) {
      const ssize_t written = ::write(ends[1], left.data(), left.size());
      if (written <= 0) break;
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 4096> piece;
  for (ssize_t size = 0; child > 0 && (size = ::read(ends[0], piece.data(), piece.size())) > 0;) {
    said.append(piece.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  Ending ending = WaitFor(child);
  ending.said = std::move(said);
  return ending;
}

template <typename T>
std::string Text(const Result<T>& result) {
  return result ? "success" : result.error().ToString();
}

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_RUNTIME_FORK_FORKED_H_
