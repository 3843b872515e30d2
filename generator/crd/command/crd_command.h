// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The whole program kgen-crd: reads headers, writes CRDs, and C++ for the structs of the headers.
#ifndef KGEN_GENERATOR_CRD_COMMAND_CRD_COMMAND_H_
#define KGEN_GENERATOR_CRD_COMMAND_CRD_COMMAND_H_

#include <string>
#include <vector>

#include "generator/commands/command.h"

namespace kgen::generator::crd {

// Returns a commands::ExitCode. Never throws.
int RunKgenCrd(const std::vector<std::string>& arguments, const commands::Streams& streams);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_COMMAND_CRD_COMMAND_H_
