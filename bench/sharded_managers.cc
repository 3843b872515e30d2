// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_shards: managers that divide the ConfigMaps of a real API server, as processes: what each needs, against their
// number, and what happens to their work when they are suspended, killed and stopped. tests/integration/shards has the
// replicas, and the judge that sees every stored version.
//
//   ./dev bench shards gate=off|on          whether the server filters; default: off
//                      objects=100000 namespaces=100 bytes=1000 beat=2000 (ms) workers=8
//                      processes=1,2,4,8    one has no shards
//                      updates=10000        objects that are changed at once, in each step
//                      stop=600             s; with the last number of processes, one is suspended for so long, and
//                                           others are killed and leave meanwhile; 0: none
//
// It prints what each replica needs after the start and for the updates, what each fault did, and each second of the
// faults: how many namespaces nobody has written to for three beats. Exits with 1 if a promise was broken.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/process.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/core/result.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/shards/fleet.h"
#include "tests/integration/shards/judge.h"

namespace kgen::bench {
namespace {

using namespace std::chrono_literals;
using integration::Fleet;
using integration::FleetOptions;
using integration::Judge;
using integration::RealApiServer;
using integration::Replica;
using Time = std::chrono::steady_clock::time_point;

constexpr int kEndedWithAnError = 3;  // of a replica
constexpr auto kPatience = 300s;

class ShardsBench {
 public:
  explicit ShardsBench(std::map<std::string, std::string> given) : given_(std::move(given)) {}

  int Run() {
    const bool gate = Text("gate", "off") == "on";
    if (gate) RealApiServer::RestartWithFlags("--feature-gates=ShardedListAndWatch=true");
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    FleetOptions options{.namespaces = Number("namespaces", 100),
                         .bytes = static_cast<std::size_t>(Number("bytes", 1000)),
                         .reconciled = true,
                         .beat = std::chrono::milliseconds(Number("beat", 2000)),
                         .workers = Number("workers", 8),
                         .name = "shards",
                         .program = KGEN_SHARD_REPLICA,
                         .folder = folder_.path()};
    options.objects = Number("objects", 100'000) / options.namespaces;
    silence_ = 3 * std::chrono::duration<double>(options.beat).count();
    namespaces_ = options.namespaces;
    std::printf("%-8s %4s %9s %8s %7s %10s %8s %8s %8s %8s\n", "step", "gate", "processes", "process", "spaces",
                "objects", "RSS MB", "PSS MB", "peak MB", "CPU s");
    std::istringstream numbers(Text("processes", "1,2,4,8"));
    for (std::string number; std::getline(numbers, number, ',');) {
      Fleet fleet(*connection_, options);
      Judge judge(*connection_, options.name);
      fleet_ = &fleet;
      judge_ = &judge;
      Measure(std::stoi(number));
      if (numbers.eof() && Number("stop", 600) > 0) Faults();
      End();
    }
    return broken_ ? 1 : 0;
  }

 private:
  std::string Text(const std::string& name, const std::string& otherwise) const {
    const auto found = given_.find(name);
    return found == given_.end() ? otherwise : found->second;
  }
  int Number(const std::string& name, int otherwise) const { return std::stoi(Text(name, std::to_string(otherwise))); }

  void Break(const std::string& what) {
    std::printf("BROKEN %s\n", what.c_str());
    broken_ = true;
  }
  // Looks every half second. False: it has not come true.
  bool Await(const std::function<bool()>& condition, std::chrono::seconds limit = kPatience) {
    const Time end = std::chrono::steady_clock::now() + limit;
    for (; !condition(); std::this_thread::sleep_for(500ms)) {
      if (std::chrono::steady_clock::now() >= end) return false;
      Sample();
    }
    return true;
  }
  void Pause(std::chrono::seconds time) {
    (void)Await([] { return false; }, time);
  }
  // During the faults, once a second.
  void Sample() {
    const Time now = std::chrono::steady_clock::now();
    if (begun_ == Time() || now - sampled_ < 1s) return;
    sampled_ = now;
    std::printf("sample %.0f %zu\n", Since(begun_), judge_->Silent(silence_));
  }
  static double Since(Time time) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
  }

  void Print(const char* step, const std::map<std::string, double>& before) {
    const auto owners = judge_->Owners();
    for (const auto& [name, replica] : fleet_->replicas()) {
      const Replica::Figures figures = replica->Measure();
      const std::size_t spaces = owners.contains(name) ? owners.at(name) : 0;
      std::printf("%-8s %4s %9zu %8s %7zu %10zu %8.1f %8.1f %8.1f %8.2f\n", step, Text("gate", "off").c_str(),
                  fleet_->replicas().size(), name.c_str(), spaces, spaces * fleet_->size() / namespaces_,
                  figures.resident, figures.shared, figures.peak, figures.cpu - before.at(name));
    }
    std::fflush(stdout);
  }
  std::map<std::string, double> Cpu() const {
    std::map<std::string, double> cpu;
    for (const auto& [name, replica] : fleet_->replicas()) cpu[name] = replica->Measure().cpu;
    return cpu;
  }

  // No replica has more than 1.2 of its share, and nothing has moved for a while.
  bool AwaitBalance() {
    const std::size_t processes = fleet_->replicas().size() - (suspended_.empty() ? 0 : 1);
    std::map<std::string, std::size_t> owners;
    Time since = std::chrono::steady_clock::now();
    return Await([&] {
      auto now = judge_->Owners();
      if (now != owners) since = std::chrono::steady_clock::now();
      owners = std::move(now);
      const auto most = std::ranges::max_element(owners, {}, [](const auto& each) { return each.second; });
      return owners.size() == processes && judge_->Silent(silence_) == 0 &&
             static_cast<double>(most->second * processes) <= 1.2 * namespaces_ && Since(since) > 15;
    });
  }

  void Measure(int processes) {
    std::map<std::string, double> zero;
    for (int i = 1; i <= processes; ++i) {
      const std::string name = NextName();
      fleet_->Start(name, processes == 1);
      zero[name] = 0;
    }
    if (!AwaitBalance()) Break("no balance between " + std::to_string(processes));
    Print("start", zero);
    const auto idle = Cpu();
    Pause(30s);
    Print("idle", idle);
    const auto before = Cpu();
    Change("updates");
    Print("updates", before);
  }

  std::string NextName() { return "p" + std::to_string(++names_); }

  // Changes some objects, and waits until all are reconciled.
  void Change(const std::string& after) {
    const int of_each = Number("updates", 10'000) / namespaces_;
    fleet_->Want(++wanted_, of_each);
    const auto all = static_cast<std::size_t>(of_each) * namespaces_;
    if (!Await([&] { return judge_->Done(wanted_) == all; })) {
      Break("only " + std::to_string(judge_->Done(wanted_)) + " of " + std::to_string(all) +
            " were reconciled: " + after);
    }
  }

  // Does something to a replica, changes objects, and prints for how long a namespace was left alone.
  void Fault(const char* what, const std::string& name, int signal, double bound) {
    std::printf("fault %.0f %s %s\n", Since(begun_), what, name.c_str());
    const std::size_t had = judge_->NamespacesOf(name).size();
    judge_->Mark();
    fleet_->at(name).Signal(signal);
    Change(what);
    (void)Await([&] { return judge_->Silent(silence_) == 0; }, 60s);
    const Judge::Gap gap = judge_->LongestGap();
    std::printf("gap %-20s %5.1f s, of %zu namespaces\n", what, gap.seconds, had);
    if (gap.seconds > bound) Break(std::string(what) + ": " + gap.in_namespace + " was left alone");
  }
  std::string Pick(bool assigner) const {
    const std::string makes_the_map = fleet_->Assigner();
    if (assigner) return makes_the_map;
    for (const auto& [name, count] : judge_->Owners()) {
      if (name != makes_the_map && name != suspended_ && fleet_->replicas().contains(name)) return name;
    }
    return "";
  }
  void Replace(const std::string& name) {
    fleet_->Drop(name);
    (void)fleet_->Start(NextName());
    if (!AwaitBalance()) Break("no balance after " + name);
  }

  void Faults() {
    const double beat = silence_ / 3;
    const double after_death = 20 + 5 + beat, after_leaving = 3 + 5 + beat;
    suspended_ = Pick(false);
    fleet_->Hold(judge_->NamespacesOf(suspended_).front(), suspended_, ++wanted_);
    (void)Await([&] { return fleet_->at(suspended_).HasPrinted("holds "); });
    begun_ = std::chrono::steady_clock::now();
    Fault("SIGSTOP", suspended_, SIGSTOP, after_death);
    const std::string killed = Pick(false);
    Fault("kill -9", killed, SIGKILL, after_death);
    Replace(killed);
    const std::string assigner = Pick(true);
    Fault("kill -9, assigner", assigner, SIGKILL, after_death);
    Replace(assigner);
    const std::string leaves = Pick(false);
    Fault("SIGTERM", leaves, SIGTERM, after_leaving);
    if (fleet_->at(leaves).Wait(20s) != 0) Break("the one that left has failed");
    Replace(leaves);
    for (const double stop = Number("stop", 600); Since(begun_) < stop; Pause(20s)) Change("while one is suspended");
    std::printf("fault %.0f SIGCONT %s\n", Since(begun_), suspended_.c_str());
    Replica& late = fleet_->at(suspended_);
    late.Signal(SIGCONT);
    if (late.Wait(30s) != kEndedWithAnError) Break("the suspended one has not ended with an error");
    if (!late.HasPrinted("refused ")) Break("no write of the suspended one was refused");
    std::printf("late %s\n", late.Log().c_str());
    fleet_->Drop(std::exchange(suspended_, ""));
    Pause(10s);
    begun_ = Time();
  }

  void End() {
    for (const auto& [name, replica] : fleet_->replicas()) replica->Signal(SIGTERM);
    for (const auto& [name, replica] : fleet_->replicas()) {
      if (replica->Wait(60s) != 0) Break(name + " has failed: " + replica->Log());
    }
    std::printf("judge %zu versions, %zu faults\n", judge_->versions(), judge_->Faults().size());
    for (const std::string& fault : judge_->Faults()) Break(fault);
    fleet_->DeleteMap();  // so that the next ones begin anew
  }

  const std::map<std::string, std::string> given_;
  const TemporaryFolder folder_;
  std::optional<Connection> connection_;
  Fleet* fleet_ = nullptr;
  Judge* judge_ = nullptr;
  double silence_ = 0;  // seconds
  int namespaces_ = 0, names_ = 0, wanted_ = 1;
  std::string suspended_;  // "": none
  bool broken_ = false;
  Time begun_{}, sampled_{};
};

}  // namespace
}  // namespace kgen::bench

int main(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || !kgen::integration::RealApiServer::Present()) {
      std::fprintf(stderr, "usage: ./dev bench shards [NAME=VALUE...]; see bench/sharded_managers.cc\n");
      return 2;
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  return kgen::bench::ShardsBench(std::move(given)).Run();
}
