// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Make rules that tell a build which files a run has read.
#ifndef KGEN_GENERATOR_COMMANDS_DEPFILE_H_
#define KGEN_GENERATOR_COMMANDS_DEPFILE_H_

#include <string>
#include <vector>

namespace kgen::generator::commands {

std::string AbsolutePath(const std::string& path);

// The rule `target: inputs`, with the characters escaped that make treats specially.
std::string Depfile(const std::string& target, const std::vector<std::string>& inputs);

}  // namespace kgen::generator::commands

#endif  // KGEN_GENERATOR_COMMANDS_DEPFILE_H_
