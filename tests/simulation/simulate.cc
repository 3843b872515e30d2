// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_simulate --seeds N [--seed S]     runs N seeds, beginning with S; stops at the first failure, and shrinks it
// kgen_simulate --seed S --replay TRACE  runs one trace again, and prints what happens
// kgen_simulate --find-bug B --seeds N   passes if a seed finds the deliberate bug (only where those are built in)
//
// Each seed is one of the informer, and one of processes whose informer saves its cache. With --informers it is one of
// the informer alone, with --restarts of such processes, with --elections of leader election, with --shards of replicas
// that divide their work, with --managers of managers that do so.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/deliberate_bugs.h"
#include "controller/caches/deliberate_bugs.h"
#include "controller/election/deliberate_bugs.h"
#include "controller/shards/deliberate_bugs.h"
#include "tests/simulation/election_run.h"
#include "tests/simulation/informer_run.h"
#include "tests/simulation/manager_run.h"
#include "tests/simulation/restart_run.h"
#include "tests/simulation/shard_run.h"

namespace kgen::simulation {
namespace {

using testing::Trace;

struct Program {
  std::string_view flag;
  RunResult (*run)(std::uint64_t seed, const Trace& replay);
};
constexpr Program kPrograms[] = {{"--informers", RunInformer},
                                 {"--restarts", RunRestarts},
                                 {"--elections", RunElection},
                                 {"--shards", RunShards},
                                 {"--managers", RunManagers}};

struct Arguments {
  std::uint64_t seeds = 1, seed = 0;
  int bug = 0;
  std::vector<const Program*> programs;
  bool replay = false;
  bool good = true;
  Trace trace;
};

Trace ParseTrace(std::string_view text) {
  Trace trace;
  while (!text.empty()) {
    std::uint32_t choice = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), choice);
    trace.push_back(choice);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  return trace;
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const auto* const program = std::ranges::find(kPrograms, name, &Program::flag);
    if (program != std::end(kPrograms)) {
      arguments.programs.push_back(program);
      --i;
      continue;
    }
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    const auto number = [&](auto& into) {
      const char* const end = value.data() + value.size();
      arguments.good &= std::from_chars(value.data(), end, into).ptr == end;
    };
    if (value.empty()) arguments.good = false;
    if (name == "--seeds") {
      number(arguments.seeds);
    } else if (name == "--seed") {
      number(arguments.seed);
    } else if (name == "--find-bug") {
      number(arguments.bug);
    } else if (name == "--replay") {
      arguments.replay = true;
      arguments.trace = ParseTrace(value);
    } else {
      arguments.good = false;
    }
  }
  if (arguments.programs.empty()) arguments.programs = {&kPrograms[0], &kPrograms[1]};
  if (arguments.replay && arguments.programs.size() != 1) arguments.good = false;
  return arguments;
}

std::string ToText(const Trace& trace) {
  std::string text;
  for (const std::uint32_t choice : trace) text += (text.empty() ? "" : ",") + std::to_string(choice);
  return text;
}

// Finds fewer and smaller choices that still fail, with any failure: truncates the trace, then replaces choices by the
// first one.
Trace Shrink(const Program& program, std::uint64_t seed, Trace trace) {
  const auto fails = [&](const Trace& candidate) { return !program.run(seed, candidate).failure.empty(); };
  int budget = 400;
  for (std::size_t cut = trace.size() / 2; cut > 0 && budget > 0; --budget) {
    Trace shorter(trace.begin(), trace.end() - static_cast<std::ptrdiff_t>(std::min(cut, trace.size())));
    if (shorter.size() < trace.size() && !shorter.empty() && fails(shorter)) {
      trace = std::move(shorter);
    } else {
      cut /= 2;
    }
  }
  for (std::size_t size = trace.size() / 2; size > 0 && budget > 0; size /= 2) {
    for (std::size_t at = 0; at < trace.size() && budget > 0; at += size, --budget) {
      Trace calmer = trace;
      std::fill(calmer.begin() + static_cast<std::ptrdiff_t>(at),
                calmer.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, calmer.size())), 0);
      if (calmer != trace && fails(calmer)) trace = std::move(calmer);
    }
  }
  return trace;
}

int Report(const Arguments& arguments, const Program& program, std::uint64_t seed, const RunResult& result) {
  // Printed before shrinking, which takes a while.
  std::cout << result.log << program.flag << " --seed " << seed << " fails: " << result.failure << "\n" << std::flush;
  const Trace shrunk = Shrink(program, seed, result.trace);
  const RunResult again = program.run(seed, shrunk);
  std::cout << "\nshrunk from " << result.trace.size() << " to " << shrunk.size() << " choices:\n"
            << again.log << again.failure << "\n\nagain: kgen_simulate " << program.flag << " --seed " << seed
            << " --replay " << ToText(shrunk) << "\n"
            << "(" << arguments.seeds << " seeds from " << arguments.seed << " were asked for)\n";
  return 1;
}

int Main(int argc, char** argv) {
  const Arguments arguments = Parse(argc, argv);
  if (!arguments.good) {
    std::cerr << "usage: kgen_simulate [--informers|--restarts|--elections|--shards|--managers] [--seeds N] "
                 "[--seed S] [--replay TRACE] [--find-bug B]\n";
    return 2;
  }
#if defined(KGEN_DELIBERATE_BUG)
  if (arguments.programs.front()->run == RunElection) {
    controller::InjectBug(static_cast<controller::Bug>(arguments.bug));
  } else if (arguments.programs.front()->run == RunShards) {
    controller::InjectBug(static_cast<controller::ShardBug>(arguments.bug));
  } else if (arguments.programs.front()->run == RunManagers) {
    controller::InjectBug(static_cast<controller::ManagerBug>(arguments.bug));
  } else {
    cache::InjectBug(static_cast<cache::Bug>(arguments.bug));
  }
#else
  if (arguments.bug != 0) {
    std::cerr << "no deliberate bugs are built in here; use kgen_simulate_bugs\n";
    return 2;
  }
#endif
  if (arguments.replay) {
    const RunResult result = arguments.programs.front()->run(arguments.seed, arguments.trace);
    std::cout << result.log << (result.failure.empty() ? "passed" : result.failure) << "\n";
    return result.failure.empty() ? 0 : 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t choices = 0;
  for (std::uint64_t seed = arguments.seed; seed < arguments.seed + arguments.seeds; ++seed) {
    for (const Program* program : arguments.programs) {
      const RunResult result = program->run(seed, {});
      choices += result.trace.size();
      if (result.failure.empty()) continue;
      if (arguments.bug == 0) return Report(arguments, *program, seed, result);
      std::cout << "bug " << arguments.bug << " found by " << program->flag << " --seed " << seed << ": "
                << result.failure << "\n";
      return 0;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << arguments.seeds << " seeds, " << choices << " choices, " << seconds << " s: ";
  std::cout << (arguments.bug == 0 ? "no fault found" : "the bug was NOT found") << "\n";
  return arguments.bug == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kgen::simulation

int main(int argc, char** argv) { return kgen::simulation::Main(argc, argv); }
