// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads and writes whole files. Errors are values.
#ifndef KGEN_GENERATOR_DISK_H_
#define KGEN_GENERATOR_DISK_H_

#include <expected>
#include <string>
#include <string_view>

namespace kgen::generator {

// The bytes of the file, or why they cannot be read ("Is a directory").
std::expected<std::string, std::string> ReadFile(const std::string& path);

// Creates a file without following links; removes what an earlier run left under that name. Returns false, with the
// reason in `error`, on failure; part of the file may exist then.
bool WriteNewFile(const std::string& path, std::string_view text, std::string& error);

}  // namespace kgen::generator

#endif  // KGEN_GENERATOR_DISK_H_
