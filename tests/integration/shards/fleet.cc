// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/shards/fleet.h"

#include <fcntl.h>
#include <k8s/coordination/v1/client.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/client.h>
#include <k8s/core/v1/types.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "kgen/client/async_client.h"
#include "kgen/core/result.h"

extern char** environ;

namespace kgen::integration {

using k8s::core::v1::ConfigMap;

namespace {

constexpr std::string_view kGroup = "replicas";  // the name of the Lease with the map, as replica/main.cc has it

std::string TextOf(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The number after a name at the beginning of a line, in megabytes; the file has kilobytes.
double MegabytesOf(const std::string& text, const std::string& name) {
  const std::size_t at = ("\n" + text).find("\n" + name);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + name.size(), nullptr) * 1024 / 1e6;
}

// Requests, so many at a time.
class Window {
 public:
  static constexpr int kMost = 16;
  // Blocks until there is room. Call the result, from any thread, when the request has ended.
  std::function<void()> Enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ < kMost; });
    ++open_;
    return [this] {
      const std::scoped_lock leaving(mutex_);
      --open_;
      changed_.notify_all();
    };
  }
  ~Window() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
};

}  // namespace

// ------------------------------------------------------------------------------------------------------------- Replica

Replica::Replica(const std::string& program, const std::vector<std::string>& arguments, std::string log)
    : log_(std::move(log)) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, words.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
}

Replica::~Replica() {
  Signal(SIGKILL);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

void Replica::Signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

std::optional<int> Replica::Wait(std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (pid_ > 0) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return std::nullopt;
}

std::string Replica::Log() const { return TextOf(log_); }

Replica::Figures Replica::Measure() const {
  const std::string folder = "/proc/" + std::to_string(pid_) + "/";
  const std::string memory = TextOf(folder + "smaps_rollup");
  std::istringstream stat(TextOf(folder + "stat"));
  std::string word;
  constexpr int kBefore = 13;  // words before the times; the name of the program has no blank
  for (int i = 0; i < kBefore; ++i) stat >> word;
  double user = 0, system = 0;
  stat >> user >> system;
  return {.resident = MegabytesOf(memory, "Rss:"),
          .shared = MegabytesOf(memory, "Pss:"),
          .peak = MegabytesOf(TextOf(folder + "status"), "VmHWM:"),
          .cpu = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

// --------------------------------------------------------------------------------------------------------------- Fleet

Fleet::Fleet(const Connection& connection, FleetOptions options)
    : connection_(connection), options_(std::move(options)) {
  if (!k8s::core::v1::Client(connection_).Namespaces().Get(options_.name)) Create();
}

void Fleet::Create() const {
  const k8s::core::v1::Client core(connection_);
  for (int i = 0; i < options_.namespaces; ++i) {
    Must(core.Namespaces().Create({.metadata = {.name = Namespace(i)}}));
  }
  {
    Window window;
    for (int i = 0; i < options_.namespaces; ++i) {
      const auto maps = core.ConfigMaps(Namespace(i)).Async();
      for (int j = -1; j < options_.objects; ++j) {
        ConfigMap map{.metadata = {.name = j < 0 ? "beat" : "map-" + std::to_string(j)}};
        map.data["wanted"] = "1";
        if (options_.reconciled) map.data["done"] = "1";
        map.data["text"] = std::string(options_.bytes, 'x');
        maps.Create(map, [left = window.Enter()](const Result<ConfigMap>& created) {
          (void)Must(created);
          left();
        });
      }
    }
  }
  Must(core.Namespaces().Create({.metadata = {.name = options_.name}}));  // last: it says that all is there
}

Replica& Fleet::Start(const std::string& identity, bool alone) {
  std::vector<std::string> arguments = {"--identity=" + identity, "--beat=" + std::to_string(options_.beat.count()),
                                        "--workers=" + std::to_string(options_.workers)};
  if (!alone) arguments.push_back("--namespace=" + options_.name);
  auto& replica = replicas_[identity];
  replica = std::make_unique<Replica>(options_.program, arguments, options_.folder + "/" + identity + ".log");
  return *replica;
}

// A server that is too busy refuses some.
void Fleet::Patch(const std::string& in_namespace, const std::string& name, const std::string& data,
                  std::function<void()> done) const {
  const auto begin = std::chrono::steady_clock::now();
  auto answered = [=, this](const Result<ConfigMap>& patched) {
    const std::int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    for (std::int64_t before = slowest_; before < took && !slowest_.compare_exchange_weak(before, took);) {
    }
    if (patched) return done();
    Patch(in_namespace, name, data, done);
  };
  const auto maps = k8s::core::v1::Client(connection_).ConfigMaps(in_namespace).Async();
  maps.Patch(name, MergePatch(R"({"data":{)" + data + "}}"), std::move(answered));
}

// Across the namespaces, so that all replicas have something to do.
void Fleet::Want(int number, int of_each) const {
  Window window;
  for (int j = 0; j < of_each; ++j) {
    for (int i = 0; i < options_.namespaces; ++i) {
      Patch(Namespace(i), "map-" + std::to_string(j), R"("wanted":")" + std::to_string(number) + '"', window.Enter());
    }
  }
}

void Fleet::Hold(const std::string& in_namespace, const std::string& identity, int wanted) const {
  Window window;
  Patch(in_namespace, "map-0", R"("hold":")" + identity + R"(","wanted":")" + std::to_string(wanted) + '"',
        window.Enter());
}

double Fleet::TakeSlowest() const { return static_cast<double>(slowest_.exchange(0)) / 1e9; }

std::string Fleet::Assigner() const {
  const auto lease = k8s::coordination::v1::Client(connection_).Leases(options_.name).Get(kGroup);
  const std::string holder = lease ? lease->spec->holderIdentity.str() : "";
  return holder.empty() ? holder : holder.substr(kGroup.size() + 1);
}

void Fleet::DeleteMap() const { (void)k8s::coordination::v1::Client(connection_).Leases(options_.name).Delete(kGroup); }

std::string Fleet::Namespace(int number) const { return options_.name + "-" + std::to_string(number); }

}  // namespace kgen::integration
