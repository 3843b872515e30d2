// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Runs and measures other programs.
#ifndef KGEN_BENCH_PROCESS_H_
#define KGEN_BENCH_PROCESS_H_

#include <string>
#include <vector>

#include "kgen/core/result.h"

namespace kgen::bench {

struct Finished {
  int exit_code = 0;
  std::string output;         // standard output and standard error
  double wall_seconds = 0;    // from the start to the end
  double user_seconds = 0;    // of the program and its children
  double system_seconds = 0;  // the same
};

// Blocks until the program has ended. Errors: kNotFound if it cannot be started, kInternal if it ended by a signal.
Result<Finished> RunProgram(const std::vector<std::string>& command);
// Does the same, but an exit code other than zero is an Error with the end of the output.
Result<Finished> RunWell(const std::vector<std::string>& command);

// A temporary folder, which is removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const noexcept { return path_; }
  // Writes a file in it and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

}  // namespace kgen::bench

#endif  // KGEN_BENCH_PROCESS_H_
