// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// GenerateObject(): an object of a kind as JSON, by chance, from its table. For RoundTrips().
#ifndef KGEN_SRC_TESTING_CHECKS_GENERATED_OBJECT_H_
#define KGEN_SRC_TESTING_CHECKS_GENERATED_OBJECT_H_

#include <random>
#include <string>

#include "kgen/core/type_table.h"

namespace kgen::testing {

struct GenerateOptions {
  const TypeTable* peer = nullptr;  // the other version: what it shares gets nulls and unknown members
  bool unknown_fields = true;
  bool nulls = true;
  std::string annotation{};  // the value of kgen.dev/conversion-data; "": none
};

// Returns an object that depends only on the arguments and the state of `random`, on every platform.
std::string GenerateObject(const TypeTable& table, const GenerateOptions& options, std::mt19937_64& random);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_CHECKS_GENERATED_OBJECT_H_
