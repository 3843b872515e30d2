// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Process: a child process whose output is collected. Credential plugins run in it.
#ifndef KGEN_SRC_CLIENT_AUTH_PROCESS_H_
#define KGEN_SRC_CLIENT_AUTH_PROCESS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::client {

struct ProcessOptions {
  std::vector<std::string> argv{};         // argv[0] is a path; see FindProgram()
  std::vector<std::string> environment{};  // "NAME=value", all of it
  // If true, the child shares our standard input, and what it writes to standard error also appears on ours. Otherwise
  // it has no input, and leads a separate process group, which is killed as a whole.
  bool interactive = false;
  // Without a terminal: receives what the child has written to standard error, at most kMaxErrors bytes, once the child
  // waits for something (it has been silent for a moment), and at its successful end; with all of its standard output
  // until then. Called by Run().
  std::function<void(std::string_view, const std::string& output)> on_errors{};
  std::size_t max_output = 1u << 20;  // bytes of standard output; more is an error
};

// The path of a program: a name with a '/' is one, any other is looked up in PATH. As in Go, a program that is found in
// a folder of PATH that is relative (".", or an empty entry) is an error: whoever can write into the current directory
// would get the credentials.
// Errors: kConfig  with a message as of Process::Run()
Result<std::string> FindProgram(const std::string& name);

struct ProcessOutcome {
  std::string output{};  // standard output
  std::string errors{};  // the end of standard error, at most kMaxErrors bytes
  int exit_code = 0;     // if `signal` is 0
  int signal = 0;        // the signal that ended the child, or 0
  static constexpr std::size_t kMaxErrors = 4096;
};

// One run of one child. The child inherits only the three standard descriptors and no blocked signals.
class Process : public SharedObject {
 public:
  // Kill() makes Run() return soon, even if it is called first.
  static Result<Shared<Process>> Make();
  ~Process() override;

  // Blocks until the child has ended, but does not wait for the child's own children. Call it once.
  // Errors: kConfig     it cannot be started; the message is the system's alone ("No such file or directory")
  //         kCancelled  Kill() was called
  //         kDecode     the output is larger than max_output
  Result<ProcessOutcome> Run(const ProcessOptions& options);
  void Kill() noexcept;  // any thread, idempotent

 private:
  explicit Process(int wake) noexcept : wake_(wake) {}
  template <typename T, typename... Args>
  friend Shared<T> kgen::MakeShared(Args&&... args);

  const int wake_;  // an eventfd that Kill() makes readable
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_AUTH_PROCESS_H_
