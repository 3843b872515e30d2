// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Where tests find kubectl.
#ifndef KGEN_TESTS_INTEGRATION_MEMORY_KUBECTL_H_
#define KGEN_TESTS_INTEGRATION_MEMORY_KUBECTL_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace kgen::testing {

// Returns the path of the kubectl that ./dev integration builds, or else of one in the PATH; "" if there is none.
inline std::string FindKubectl() {
  if (const char* given = std::getenv("KGEN_TEST_KUBECTL"); given != nullptr) return given;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path built = cache != nullptr
                                          ? std::filesystem::path(cache) / "kgen"
                                          : std::filesystem::path(home != nullptr ? home : "/") / ".cache" / "kgen";
  std::error_code error;
  for (const auto& folder : std::filesystem::directory_iterator(built, error)) {
    if (const auto kubectl = folder.path() / "kubectl"; std::filesystem::exists(kubectl)) return kubectl.string();
  }
  for (std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : ""; !path.empty();) {
    const auto colon = path.find(':');
    const auto kubectl = std::filesystem::path(path.substr(0, colon)) / "kubectl";
    if (std::filesystem::exists(kubectl, error)) return kubectl.string();
    path.erase(0, colon == std::string::npos ? colon : colon + 1);
  }
  return {};
}

}  // namespace kgen::testing

#endif  // KGEN_TESTS_INTEGRATION_MEMORY_KUBECTL_H_
