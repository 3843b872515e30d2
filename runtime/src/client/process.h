// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A child process whose output is collected: what a credential plugin runs as.
#ifndef KGEN_SRC_CLIENT_PROCESS_H_
#define KGEN_SRC_CLIENT_PROCESS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::client {

struct ProcessOptions {
  std::vector<std::string> argv{};         // argv[0] is looked up in PATH unless it holds a '/'
  std::vector<std::string> environment{};  // "NAME=value", all of it
  // The child shares our standard input, and what it writes to standard error appears on ours, too. Otherwise it reads
  // nothing, and is the leader of a process group of its own, which is killed as a whole.
  bool interactive = false;
  std::size_t max_output = 1u << 20;  // of standard output; more is an error
};

struct ProcessOutcome {
  std::string output{};  // standard output
  std::string errors{};  // the end of standard error, at most kMaxErrors bytes
  int exit_code = 0;     // where `signal` is 0
  int signal = 0;        // that ended it
  static constexpr std::size_t kMaxErrors = 4096;
};

// One run of one child. The child inherits no file of ours but the three standard ones, and no blocked signals.
class Process : public SharedObject {
 public:
  // Kill() makes Run() return soon, also if it comes first.
  static Result<Shared<Process>> Make();
  ~Process() override;

  // Blocks until the child has ended; once. What the child's own children still do afterwards is not waited for.
  // Errors: kConfig     it cannot be started; the message is the system's ("No such file or directory"), no more
  //         kCancelled  Kill() was called
  //         kDecode     the output is larger than the bound
  Result<ProcessOutcome> Run(const ProcessOptions& options);
  void Kill() noexcept;  // any thread, idempotent

 private:
  explicit Process(int wake) noexcept : wake_(wake) {}
  template <typename T, typename... Args>
  friend Shared<T> kgen::MakeShared(Args&&... args);

  const int wake_;  // an eventfd that becomes readable with Kill()
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_PROCESS_H_
