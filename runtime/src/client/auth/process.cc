// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/auth/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/files/file_handle.h"

namespace kgen::client {
namespace {

constexpr int kPollMilliseconds = 20;    // used if the kernel does not support pidfd_open
constexpr int kQuietMilliseconds = 250;  // after which a child that has written something waits for somebody

std::unexpected<Error> SystemFailed(int error) { return Fail(Code::kConfig, std::generic_category().message(error)); }

using Handle = detail::FileHandle;

struct Pipe {
  Handle reader, writer;
};

// Creates a pipe. Children that other threads start meanwhile do not inherit its ends. The ends are never among the
// first three descriptors, even if the program has closed those, because there they would collide with the child's own.
Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SystemFailed(errno);
  const Handle first(ends[0]), second(ends[1]);
  Pipe pipe{Handle(::fcntl(ends[0], F_DUPFD_CLOEXEC, 3)), Handle(::fcntl(ends[1], F_DUPFD_CLOEXEC, 3))};
  if (pipe.reader.get() < 0 || pipe.writer.get() < 0) return SystemFailed(errno);
  ::fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Uses posix_spawn instead of fork, because a process with several threads may do almost nothing between fork and exec.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  Result<pid_t> Spawn(const ProcessOptions& options, int output, int errors) {
    if (!options.interactive) posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, 1);
    posix_spawn_file_actions_adddup2(&actions_, errors, 2);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);  // also those that the program lets children inherit
#endif
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    // A separate process group would be in the background of the terminal and could not read from it.
    const int group = options.interactive ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
    pid_t child = 0;
    const int error = posix_spawn(&child, options.argv.front().c_str(), &actions_, &attributes_,
                                  Pointers(options.argv).data(), Pointers(options.environment).data());
    if (error != 0) return SystemFailed(error);
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// One run of a child, from its start to its end, on one thread.
class Run {
 public:
  Run(const ProcessOptions& options, int wake) : options_(options), wake_(wake) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    if (child_ > 0) {  // not reaped yet
      Kill();
      while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  Result<ProcessOutcome> ToEnd() {
    if (Killed()) return Fail(Code::kCancelled, "stopped");
    if (auto started = Start(); !started) return Fail(started.error());
    while (!Ended()) {
      pollfd watched[] = {
          {wake_, POLLIN, 0}, {output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {ending_.get(), POLLIN, 0}};
      const int limit = ending_.get() < 0 ? kPollMilliseconds : unread_.empty() ? -1 : kQuietMilliseconds;
      const int count = ::poll(watched, std::size(watched), limit);
      if (count < 0 && errno != EINTR) return SystemFailed(errno);
      if (Killed()) return Fail(Code::kCancelled, "stopped");
      if (count == 0) PassErrors();
      ReadErrors();
      if (auto read = ReadOutput(); !read) return Fail(read.error());
    }
    // Reads what the child wrote before it ended.
    ReadErrors();
    if (auto read = ReadOutput(); !read) return Fail(read.error());
    if (outcome_.exit_code == 0 && outcome_.signal == 0) PassErrors();
    return std::move(outcome_);
  }

 private:
  Result<void> Start() {
    Result<Pipe> output = MakePipe(), errors = MakePipe();
    if (!output) return Fail(output.error());
    if (!errors) return Fail(errors.error());
    Result<pid_t> child = SpawnPlan().Spawn(options_, output->writer.get(), errors->writer.get());
    if (!child) return Fail(child.error());
    child_ = *child;
    output_ = std::move(output->reader);
    errors_ = std::move(errors->reader);
#ifdef SYS_pidfd_open
    ending_ = Handle(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)));
#endif
    return {};
  }

  bool Killed() const noexcept {
    pollfd wake{wake_, POLLIN, 0};
    return ::poll(&wake, 1, 0) == 1;
  }

  // Reaps the child once it has ended.
  bool Ended() noexcept {
    int status = 0;
    const pid_t found = ::waitpid(child_, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) return false;
    child_ = 0;
    // If other code has reaped it (a program that ignores SIGCHLD), only its output shows whether it succeeded.
    if (found < 0) return true;
    if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
    if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
    return true;
  }

  void Kill() const noexcept {
    if (!options_.interactive) ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
  }

  // Reads everything that is available now. Closes the handle at the end of the file, so that poll() does not return
  // for it forever.
  template <typename Take>
  static void ReadAll(Handle& from, Take take) {
    char piece[4096];
    while (from.get() >= 0) {
      const ssize_t size = ::read(from.get(), piece, sizeof piece);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (size <= 0) return from.Close();
      take(std::string_view(piece, static_cast<std::size_t>(size)));
    }
  }

  Result<void> ReadOutput() {
    ReadAll(output_, [&](std::string_view bytes) {
      const std::size_t room = options_.max_output + 1 - outcome_.output.size();
      outcome_.output.append(bytes.substr(0, room));
      if (outcome_.output.size() > options_.max_output) output_.Close();
    });
    if (outcome_.output.size() <= options_.max_output) return {};
    return Fail(Code::kDecode, "its output is larger than " + std::to_string(options_.max_output) + " bytes");
  }

  void ReadErrors() {
    ReadAll(errors_, [&](std::string_view bytes) {
      if (options_.interactive) std::ignore = ::write(STDERR_FILENO, bytes.data(), bytes.size());
      if (!options_.interactive) AppendEnd(bytes, unread_);
      AppendEnd(bytes, outcome_.errors);
    });
  }

  static void AppendEnd(std::string_view bytes, std::string& to) {
    to.append(bytes);
    if (to.size() > ProcessOutcome::kMaxErrors) to.erase(0, to.size() - ProcessOutcome::kMaxErrors);
  }

  void PassErrors() {
    if (!unread_.empty() && options_.on_errors) options_.on_errors(unread_, outcome_.output);
    unread_.clear();
  }

  const ProcessOptions& options_;
  const int wake_;
  pid_t child_ = 0;
  Handle output_, errors_;
  Handle ending_;         // readable once the child has ended; none if the kernel is older than 5.3
  std::string unread_{};  // of standard error: what on_errors has not received
  ProcessOutcome outcome_{};
};

bool IsProgram(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> FindProgram(const std::string& name) {
  if (name.contains('/')) return name;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  bool more = !rest.empty();
  while (more) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    more = colon != std::string_view::npos;
    rest.remove_prefix(more ? colon + 1 : rest.size());
    std::string found = std::string(folder.empty() ? "." : folder) + '/' + name;
    if (!IsProgram(found)) continue;
    if (folder.starts_with('/')) return found;
    return Fail(Code::kConfig, "it was found as " + found +
                                   ", in a folder of PATH that depends on the current directory, and is not run from "
                                   "there; write its path");
  }
  return Fail(Code::kConfig, "no such program in PATH");
}

Result<Shared<Process>> Process::Make() {
  const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return SystemFailed(errno);
  return MakeShared<Process>(wake);
}

Process::~Process() { ::close(wake_); }

Result<ProcessOutcome> Process::Run(const ProcessOptions& options) { return client::Run(options, wake_).ToEnd(); }

void Process::Kill() noexcept {
  const std::uint64_t one = 1;
  std::ignore = ::write(wake_, &one, sizeof one);
}

}  // namespace kgen::client
