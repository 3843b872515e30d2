// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_TESTS_INTEGRATION_KIND_KEY_H_
#define KGEN_TESTS_INTEGRATION_KIND_KEY_H_

#include <string>
#include <string_view>

namespace kgen::integration {

// Returns "apps/v1 Deployment", or "v1 Pod" for the legacy group: the apiVersion and kind of an object.
inline std::string KindKey(std::string_view group, std::string_view version, std::string_view kind) {
  std::string key(group);
  if (!key.empty()) key += '/';
  key += version;
  key += ' ';
  return key += kind;
}

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_KIND_KEY_H_
