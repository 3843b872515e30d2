// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Where tests find files. Link line: every target made by kgen_add_test has this.

#ifndef KGEN_TESTS_SUPPORT_PATHS_H_
#define KGEN_TESTS_SUPPORT_PATHS_H_

#include <optional>
#include <string>
#include <string_view>

namespace kgen::test_support {

// An absolute path inside the source tree: SourcePath("examples/crds/orders.yaml").
std::string SourcePath(std::string_view relative);

// A path inside the folder with further inputs, the CMake variable KGEN_SHARED_DIR, or nothing if the variable is empty
// or the folder does not have it. A test that needs it says GTEST_SKIP() and why.
std::optional<std::string> SharedPath(std::string_view relative);

// The whole file. A file that cannot be read ends the test program with a message: a test's own input is missing.
std::string ReadFile(const std::string& path);

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_PATHS_H_
