// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The budgets: a row is a name, a limit and a function that measures. `./dev bench budget` runs as many rows at a time
// as the machine has processors, and prints a line for each:
//
//   name value limit unit ok        or ... SHORT, if it misses its limit or, with the reason, could not be measured
//
// Lower is better in every row. Each measurement of instructions and memory runs in a child process, so that
// measurements do not affect each other. For that, the program starts itself as `kgen_budget --child NAME
// ARGUMENTS...`.
#ifndef KGEN_BENCH_BUDGET_H_
#define KGEN_BENCH_BUDGET_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"

namespace kgen::bench {

using Figures = std::map<std::string, double>;

struct Row {
  std::string name;
  double bar;  // the limit: the largest acceptable value
  std::string unit;
  std::function<Result<double>()> measure;  // called on any thread, while other rows are measured
};

// Measures in a separate process; the result is passed to the parent. An Error ends the child with exit code 1.
struct Child {
  std::string name;
  std::function<Result<Figures>(const std::vector<std::string>& arguments)> run;
};

// Thread safety: one thread.
class Budget {
 public:
  void Add(Row row) { rows_.push_back(std::move(row)); }
  void Add(Child child) { children_.push_back(std::move(child)); }

  // The main function. Arguments: parts of the names of the rows to run; without any, all rows. Returns exit code 1 if
  // a row misses its limit.
  int Main(int argc, char** argv) const;

 private:
  int RunChild(std::string_view name, const std::vector<std::string>& arguments) const;
  // Returns whether the row meets its limit.
  static bool Print(const Row& row, const Result<double>& value);

  std::vector<Row> rows_;
  std::vector<Child> children_;
};

// Runs a Child and returns its figures.
Result<Figures> RunChild(const std::string& name, const std::vector<std::string>& arguments);
// What is counted: the whole process, or the code between CALLGRIND_START_INSTRUMENTATION and _STOP_.
enum class Counting : unsigned char { kAll, kWhenAsked };
// Does the same under callgrind, and returns the number of instructions that the process executed on all its threads.
Result<double> InstructionsOfChild(const std::string& name, const std::vector<std::string>& arguments,
                                   Counting counting = Counting::kAll);

// The rows of each part.
void AddCodecRows(Budget& budget);
void AddFirstSyncRows(Budget& budget);
void AddUpdateRows(Budget& budget);
void AddQueueRows(Budget& budget);
void AddWarmRows(Budget& budget);
void AddBuildRows(Budget& budget);

}  // namespace kgen::bench

#endif  // KGEN_BENCH_BUDGET_H_
