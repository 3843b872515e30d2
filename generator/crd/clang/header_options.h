// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which headers kgen-crd reads, and how Clang compiles them.
#ifndef KGEN_GENERATOR_CRD_CLANG_HEADER_OPTIONS_H_
#define KGEN_GENERATOR_CRD_CLANG_HEADER_OPTIONS_H_

#include <string>
#include <vector>

namespace kgen::generator::crd {

struct HeaderOptions {
  std::vector<std::string> headers;  // paths; their structs are the API
  // Paths; only their markers +kgen:rbac and +kgen:webhook are read, and nothing is compiled.
  std::vector<std::string> sources = {};
  std::string root;                // code includes headers relative to this folder
  std::vector<std::string> flags;  // of the compiler: -I..., -D..., -std=...
  // Headers of this folder ("acme/") that do not exist are skipped: kgen-crd itself generates them.
  std::string generated;
  // The namespaces of other APIs, whose types may be members: "k8s". kgen::meta::v1 always is one. Structs with
  // KGEN_OBJECT are read as if they were in `headers`; of generated ones, only the names are.
  std::vector<std::string> uses;
  std::string resource_dir;  // Clang's own headers; empty: where Clang 22 is installed
};

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_CLANG_HEADER_OPTIONS_H_
