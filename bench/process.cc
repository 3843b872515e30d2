// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

extern char** environ;

namespace kgen::bench {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::string ReadAll(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

Result<Finished> RunProgram(const std::vector<std::string>& command) {
  int ends[2];
  // A child that another thread starts meanwhile must not keep the end of this one's output open.
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(Code::kInternal, "no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return Fail(Code::kNotFound, "cannot start " + command[0]);
  }
  Finished finished;
  finished.output = ReadAll(ends[0]);
  ::close(ends[0]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  finished.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  finished.user_seconds = Seconds(usage.ru_utime);
  finished.system_seconds = Seconds(usage.ru_stime);
  if (!WIFEXITED(status)) return Fail(Code::kInternal, command[0] + " ended by a signal");
  finished.exit_code = WEXITSTATUS(status);
  return finished;
}

Result<Finished> RunWell(const std::vector<std::string>& command) {
  Result<Finished> finished = RunProgram(command);
  if (!finished || finished->exit_code == 0) return finished;
  constexpr std::size_t kEnd = 400;
  const std::string& output = finished->output;
  const std::string end = output.size() > kEnd ? output.substr(output.size() - kEnd) : output;
  return Fail(Code::kInternal, command[0] + " failed: " + end);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "kgen-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& text) const {
  std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace kgen::bench
