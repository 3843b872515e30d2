// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The schemas of structs that other generated APIs declare, such as k8s::core::v1::PodTemplateSpec: from the documents
// that these APIs were generated from.
//
//   --use NS=PATH --LoadUsedApis()--> UsedApis --SchemaOf(C++ name)--> schema
#ifndef KGEN_GENERATOR_CRD_USED_APIS_H_
#define KGEN_GENERATOR_CRD_USED_APIS_H_

#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/leaf_schema.h"
#include "generator/crd/tree.h"
#include "generator/diagnostic.h"
#include "generator/emit/spelling/group_names.h"

namespace kgen::generator::crd {

// One API of --use.
struct UsedApi {
  std::string name_space;
  std::vector<std::string> inputs = {};  // empty: an API of headers, which Clang reads
  emit::GroupNaming group_naming = {};
};

// Reads the values of --use (NS=PATH, NS) and --use-group-names. `k8s` without a path means the documents that belong
// to this program. The error is a message for the user.
std::expected<std::vector<UsedApi>, std::string> ParseUses(const std::vector<std::string>& uses,
                                                           const std::vector<std::string>& group_names);

class UsedApis {
 public:
  // The structural schema of a struct; nothing if no document describes it. A definition that contains itself ends
  // with an object of any members. Adds the number of schemas in it to `nodes`.
  std::optional<Tree> SchemaOf(std::string_view cpp_name, const SchemaOptions& options, std::size_t& nodes) const;

  // Definitions of an API document by their long names, with {"$ref": "LONG NAME"} for other definitions.
  std::map<std::string, Tree, std::less<>> definitions = {};
  // The name of a definition, by C++ name: "k8s::core::v1::PodSpec".
  std::map<std::string, std::string, std::less<>> names = {};
  // Schemas of CRDs, by C++ name: "acme::shop::v1::Order::Spec".
  std::map<std::string, Tree, std::less<>> custom = {};
};

// Loads the documents, and adds their paths to `files`. The types of kgen::meta::v1 come from the first document that
// has them, or else from those that belong to this program.
UsedApis LoadUsedApis(const std::vector<UsedApi>& uses, std::vector<std::string>& files, Diagnostics& diagnostics);

// The folder of Kubernetes' documents that belongs to this program, installed or built; empty if there is none.
std::string KubernetesDocuments();

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_USED_APIS_H_
