// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a program as from a terminal: starts it, reads its output line by line, stops it with a signal.
#ifndef KGEN_TESTS_PROGRAMS_PROGRAM_H_
#define KGEN_TESTS_PROGRAMS_PROGRAM_H_

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::test_support {

// A child process. Waiting for it ends with what it prints or with its end, and after kPatience at the latest: then it
// is killed, the test fails, and everything that it printed is in the message. One thread.
class Program {
 public:
  // `environment` ("NAME=value") is put in front of the test's own. Output and errors come through two pipes.
  Program(const std::string& file, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment);
  ~Program();  // kills it if it still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads until this whole line of its output has come, after the one that the last call found. False: it ended, or the
  // patience did.
  bool Prints(std::string_view line);
  void Signal(int number) const;
  // Reads to the end and waits for it: its exit code, or minus the signal that killed it.
  int Wait();

  const std::string& output() const noexcept { return output_; }
  const std::string& errors() const noexcept { return errors_; }

 private:
  bool Read(std::chrono::steady_clock::time_point deadline);  // waits for more; false: all has come, or too late
  void Kill(const std::string& why);

  std::string name_;
  pid_t pid_ = -1;  // -1: it has ended and was waited for
  int pipes_[2] = {-1, -1};
  std::string output_, errors_;
  std::size_t read_ = 0;  // how much of the output Prints() has read
};

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_PROGRAMS_PROGRAM_H_
