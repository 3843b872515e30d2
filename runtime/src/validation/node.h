// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A compiled schema: the tree of a JSON schema in a CRD, with its patterns compiled and its formats looked up. The
// functions of complete.h, value_check.h and structure_check.h use it.
#ifndef KGEN_SRC_VALIDATION_NODE_H_
#define KGEN_SRC_VALIDATION_NODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "validation/formats.h"
#include "validation/pattern.h"

namespace kgen::validation {

enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

// One schema and what is in it. Immutable after Compile(); any thread.
struct Node {
  // The keyword type, and "integer" and "string" for an int-or-string; empty: any type.
  std::vector<std::string> types{};
  std::string format{};                // "" if servers ignore it
  FormatCheck check_format = nullptr;  // of a format of strings
  bool nullable = false;
  bool keeps_unknown = false;  // x-kubernetes-preserve-unknown-fields
  bool embedded = false;       // x-kubernetes-embedded-resource
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  bool has_additional = false;  // additionalProperties, which may be true
  ListType list_type = ListType::kAtomic;
  std::optional<double> minimum{}, maximum{}, multiple_of{};
  std::optional<std::int64_t> min_length{}, max_length{}, min_items{}, max_items{}, min_properties{}, max_properties{};
  std::optional<Pattern> pattern{};
  std::vector<nlohmann::json> allowed{};  // enum
  std::vector<std::string> required{};
  std::vector<std::string> map_keys{};
  std::vector<std::string> rules{};  // x-kubernetes-validations
  nlohmann::json initial{};          // default; null: none
  std::map<std::string, std::unique_ptr<const Node>, std::less<>> properties{};
  std::unique_ptr<const Node> items{};
  std::unique_ptr<const Node> additional{};  // null if additionalProperties is true
  std::unique_ptr<const Node> banned{};      // not
  std::vector<std::unique_ptr<const Node>> all_of{}, any_of{}, one_of{};

  bool HasType(std::string_view type) const noexcept;
  // The schema of a member, as it is declared or by additionalProperties; null if there is none.
  const Node* FindMember(std::string_view name) const noexcept;
};

// Compiles a schema. `path` is its place, for errors.
//
// Errors: kInvalidArgument  a keyword has a value of the wrong type; a pattern is not in the syntax of Go
Result<std::unique_ptr<const Node>> Compile(const nlohmann::json& schema, std::string path);

// Whether a member of a resource has rules of its own: apiVersion, kind and metadata.
bool IsTypeMeta(std::string_view name) noexcept;

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_NODE_H_
