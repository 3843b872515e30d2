// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CRDs as sets of single values, for comparisons.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_CRD_LEAVES_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_CRD_LEAVES_H_

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kgen/codec/yaml.h"

namespace kgen::integration {

// Where each value is: "/spec/versions/v1/schema/openAPIV3Schema/properties/spec/type".
using Leaves = std::map<std::string, std::string>;

inline void Flatten(const yaml::Node& node, const std::string& path, Leaves& out) {
  for (const yaml::Entry& entry : node.entries()) Flatten(entry.value, path + "/" + std::string(entry.key), out);
  std::size_t index = 0;
  for (const yaml::Node& element : node.items()) {
    // Versions by name, since controller-gen has them in another order.
    const yaml::Node* name = path == "/spec/versions" ? element.Find("name") : nullptr;
    Flatten(element, path + "/" + (name != nullptr ? std::string(name->text()) : std::to_string(index++)), out);
  }
  if (node.entries().empty() && node.items().empty()) out[path] = yaml::ToJson(node);
}

// The CRDs of a YAML stream by their names.
inline std::map<std::string, Leaves> ReadCrds(const std::string& text) {
  std::map<std::string, Leaves> out;
  const auto stream = yaml::Parse(text);
  EXPECT_TRUE(stream.has_value()) << text.substr(0, 2000);
  for (std::size_t i = 0; stream && i < stream->documents().size(); ++i) {
    const yaml::Node& document = stream->documents()[i];
    const yaml::Node* metadata = document.Find("metadata");
    const yaml::Node* name = metadata == nullptr ? nullptr : metadata->Find("name");
    if (name != nullptr) Flatten(document, "", out[std::string(name->text())]);
  }
  return out;
}

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_CRD_LEAVES_H_
