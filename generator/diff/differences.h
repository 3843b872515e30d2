// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What `kgen diff` finds between two states of an API.
//
//   Api, Api --CompareWire()--------+
//   Plan, Plan --CompareSource()----+--> Differences --> commands/diff
#ifndef KGEN_GENERATOR_DIFF_DIFFERENCES_H_
#define KGEN_GENERATOR_DIFF_DIFFERENCES_H_

#include <string>
#include <vector>

namespace kgen::generator::model {

struct Finding {
  std::string path;  // "shop.example.com/v1 Order.spec.items[].size"
  std::string text;  // "the field is gone"

  friend auto operator<=>(const Finding&, const Finding&) = default;
};

struct Differences {
  std::vector<Finding> source;   // C++ that uses the generated code no longer compiles, or means something else
  std::vector<Finding> wire;     // programs and servers no longer understand each other
  std::vector<Finding> refuses;  // a server refuses what it accepted: limits, patterns and rules
  std::vector<Finding> added;    // what only the new state has
};

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_DIFF_DIFFERENCES_H_
