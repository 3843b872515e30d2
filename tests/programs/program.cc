// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/programs/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/support/signal.h"

namespace kgen::test_support {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::chrono::steady_clock::time_point Deadline() { return std::chrono::steady_clock::now() + kPatience; }

}  // namespace

// posix_spawn, because the test has threads: the cluster's.
Program::Program(const std::string& file, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment)
    : name_(file) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipe: " << std::strerror(errno);
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);

  std::vector<std::string> words = {file};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // The first of two variables of one name is the one that getenv finds.
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const int error =
      posix_spawn(&pid_, file.c_str(), &actions, nullptr, Pointers(words).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  pipes_[0] = out[0];
  pipes_[1] = err[0];
  if (error != 0) {
    pid_ = -1;
    ADD_FAILURE() << file << " does not start: " << std::strerror(error);
  }
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const int pipe : pipes_) {
    if (pipe >= 0) close(pipe);
  }
}

bool Program::Prints(std::string_view line) {
  const auto deadline = Deadline();
  do {
    for (std::size_t end; (end = output_.find('\n', read_)) != std::string::npos;) {
      const bool found = std::string_view(output_).substr(read_, end - read_) == line;
      read_ = end + 1;
      if (found) return true;
    }
  } while (Read(deadline));
  Kill("it has not printed \"" + std::string(line) + '"');
  return false;
}

void Program::Signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

int Program::Wait() {
  const auto deadline = Deadline();
  while (Read(deadline)) {
  }
  if (pid_ > 0 && (pipes_[0] >= 0 || pipes_[1] >= 0)) Kill("it has not ended");
  if (pid_ <= 0) return -SIGKILL;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool Program::Read(std::chrono::steady_clock::time_point deadline) {
  pollfd ready[2] = {{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}};  // one that is -1 is passed over
  if (pipes_[0] < 0 && pipes_[1] < 0) return false;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  const int count = poll(ready, 2, static_cast<int>(std::max<long>(left, 0)));
  if (count < 0) return errno == EINTR;
  if (count == 0) return false;
  for (int i = 0; i < 2; ++i) {
    if (ready[i].revents == 0) continue;
    char buffer[4096];
    const ssize_t size = read(pipes_[i], buffer, sizeof buffer);
    if (size > 0) {
      (i == 0 ? output_ : errors_).append(buffer, static_cast<std::size_t>(size));
    } else {
      close(pipes_[i]);
      pipes_[i] = -1;
    }
  }
  return true;
}

void Program::Kill(const std::string& why) {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  while (Read(Deadline())) {
  }
  ADD_FAILURE() << name_ << ": " << why << "\n-- output:\n" << output_ << "-- errors:\n" << errors_;
}

}  // namespace kgen::test_support
