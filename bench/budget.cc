// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/budget.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <sstream>
#include <thread>

#include "bench/process.h"

namespace kgen::bench {
namespace {

constexpr std::string_view kChildFlag = "--child";

std::vector<std::string> ChildCommand(const std::string& name, const std::vector<std::string>& arguments) {
  std::error_code error;
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe", error).string(),
                                   std::string(kChildFlag), name};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Parses lines of the form "name value".
Figures ParseFigures(const std::string& output) {
  Figures figures;
  std::istringstream lines(output);
  std::string name;
  double value = 0;
  while (lines >> name >> value) figures[name] = value;
  return figures;
}

bool Wanted(const std::string& name, int argc, char** argv) {
  if (argc < 2) return true;
  for (int i = 1; i < argc; ++i) {
    if (name.find(argv[i]) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

// Several rows at a time: what is counted does not depend on other work of the machine.
int Budget::Main(int argc, char** argv) const {
  if (argc >= 3 && argv[1] == kChildFlag) return RunChild(argv[2], {argv + 3, argv + argc});
  std::vector<const Row*> wanted;
  for (const Row& row : rows_) {
    if (Wanted(row.name, argc, argv)) wanted.push_back(&row);
  }
  std::vector<std::promise<Result<double>>> values(wanted.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < wanted.size(); i = next++) values[i].set_value(wanted[i]->measure());
  };
  std::vector<std::jthread> workers(std::max(1u, std::thread::hardware_concurrency()));
  for (std::jthread& worker : workers) worker = std::jthread(work);
  bool good = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) good = Print(*wanted[i], values[i].get_future().get()) && good;
  return good ? 0 : 1;
}

int Budget::RunChild(std::string_view name, const std::vector<std::string>& arguments) const {
  for (const Child& child : children_) {
    if (child.name != name) continue;
    const Result<Figures> figures = child.run(arguments);
    if (!figures) {
      std::fprintf(stderr, "%s\n", figures.error().ToString().c_str());
      return 1;
    }
    for (const auto& [figure, value] : *figures) std::printf("%s %.17g\n", figure.c_str(), value);
    return 0;
  }
  std::fprintf(stderr, "no child of that name\n");
  return 2;
}

bool Budget::Print(const Row& row, const Result<double>& value) {
  if (!value) {
    std::printf("%-36s %12s %12.6g %-18s SHORT (%s)\n", row.name.c_str(), "-", row.bar, row.unit.c_str(),
                value.error().ToString().c_str());
  } else {
    const bool good = *value <= row.bar;
    std::printf("%-36s %12.6g %12.6g %-18s %s\n", row.name.c_str(), *value, row.bar, row.unit.c_str(),
                good ? "ok" : "SHORT");
  }
  std::fflush(stdout);
  return value && *value <= row.bar;
}

Result<Figures> RunChild(const std::string& name, const std::vector<std::string>& arguments) {
  Result<Finished> finished = RunWell(ChildCommand(name, arguments));
  if (!finished) return Fail(std::move(finished).error());
  return ParseFigures(finished->output);
}

Result<double> InstructionsOfChild(const std::string& name, const std::vector<std::string>& arguments,
                                   Counting counting) {
  std::vector<std::string> command{"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"};
  if (counting == Counting::kWhenAsked) command.emplace_back("--instr-atstart=no");
  for (std::string& word : ChildCommand(name, arguments)) command.push_back(std::move(word));
  Result<Finished> finished = RunWell(command);
  if (!finished) return Fail(std::move(finished).error());
  constexpr std::string_view kTotal = "Collected : ";
  const std::size_t at = finished->output.find(kTotal);
  if (at == std::string::npos) return Fail(Code::kInternal, "callgrind printed no total");
  return std::stod(finished->output.substr(at + kTotal.size()));
}

}  // namespace kgen::bench
