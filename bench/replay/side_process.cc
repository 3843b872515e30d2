// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/replay/side_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "kgen/core/memory.h"

extern char** environ;

namespace kgen::bench {
namespace {

constexpr double kMegabyte = 1e6;

}  // namespace

SideProcess::SideProcess(std::vector<std::string> arguments) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) return;
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<char*> words = {program.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  if (::posix_spawn(&child_, program.c_str(), &actions, nullptr, words.data(), environ) != 0) child_ = 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  commands_ = ::fdopen(to[1], "w");
  answers_ = ::fdopen(from[0], "r");
}

SideProcess::SideProcess(SideProcess&& from) noexcept
    : child_(std::exchange(from.child_, 0)),
      commands_(std::exchange(from.commands_, nullptr)),
      answers_(std::exchange(from.answers_, nullptr)) {}

SideProcess::~SideProcess() {
  if (commands_ != nullptr) std::fclose(commands_);
  if (child_ != 0) ::waitpid(child_, nullptr, 0);
  if (answers_ != nullptr) std::fclose(answers_);
}

std::vector<std::string> SideProcess::Answer() {
  char line[512];
  std::vector<std::string> words;
  if (answers_ == nullptr || std::fgets(line, sizeof line, answers_) == nullptr) return words;
  std::istringstream text(line);
  for (std::string word; text >> word;) words.push_back(std::move(word));
  return words;
}

void SideProcess::Tell(const std::string& command) {
  std::fprintf(commands_, "%s\n", command.c_str());
  std::fflush(commands_);
}

Memory MeasureMemory() {
  Memory memory;
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  memory.resident = pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kMegabyte;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  memory.peak = static_cast<double>(usage.ru_maxrss) * 1024 / kMegabyte;
  const struct mallinfo2 info = ::mallinfo2();
  const HeapUse use = GetHeapUse();
  memory.blocks = static_cast<double>(use.bytes) / kMegabyte;
  memory.reserved = static_cast<double>(use.reserved) / kMegabyte;
  memory.alive = memory.blocks + static_cast<double>(info.uordblks + info.hblkhd) / kMegabyte;
  return memory;
}

CpuSeconds MeasureCpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

CpuSeconds MeasureCpu(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  constexpr int kBefore = 13;  // words before utime; the name of this program has no blank
  for (int i = 0; i < kBefore; ++i) file >> word;
  double user = 0, system = 0;
  file >> user >> system;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {user / ticks, system / ticks};
}

}  // namespace kgen::bench
