// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SideProcess: this program once more, as a process of its own that takes commands and prints lines. And what a process
// has used so far.
#ifndef KGEN_BENCH_REPLAY_SIDE_PROCESS_H_
#define KGEN_BENCH_REPLAY_SIDE_PROCESS_H_

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace kgen::bench {

// Thread safety: one thread at a time. The destructor closes the standard input of the process and waits for its end.
class SideProcess {
 public:
  explicit SideProcess(std::vector<std::string> arguments);
  SideProcess(SideProcess&& from) noexcept;
  SideProcess& operator=(SideProcess&&) = delete;
  ~SideProcess();

  // Returns the words of the next line, or none if the process has ended. Blocks.
  std::vector<std::string> Answer();
  void Tell(const std::string& command);
  std::vector<std::string> Ask(const std::string& command) {
    Tell(command);
    return Answer();
  }
  pid_t pid() const noexcept { return child_; }

 private:
  pid_t child_ = 0;
  std::FILE* commands_ = nullptr;
  std::FILE* answers_ = nullptr;
};

// All in megabytes (10^6 bytes).
struct Memory {
  double resident = 0;
  double peak = 0;      // the most that was ever resident
  double alive = 0;     // blocks, and memory allocated with malloc
  double blocks = 0;    // of kgen values
  double reserved = 0;  // address space of the heap of blocks
};
Memory MeasureMemory();

// The CPU time of a process, in user mode and in the kernel. MeasureCpu() without an argument is about this process.
struct CpuSeconds {
  double user = 0;
  double system = 0;
  double both() const noexcept { return user + system; }
};
CpuSeconds MeasureCpu();
CpuSeconds MeasureCpu(pid_t process);

}  // namespace kgen::bench

#endif  // KGEN_BENCH_REPLAY_SIDE_PROCESS_H_
