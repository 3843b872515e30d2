// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/schemas.h"

#include <algorithm>
#include <cstddef>

#include "generator/emit/spelling/names.h"

namespace kgen::generator::emit {
namespace {

constexpr std::size_t kLongestName = 32767;  // a table has 16 bits for the length

}  // namespace

bool IsTableName(std::string_view wire_name) {
  const auto escaped = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; };
  return !wire_name.empty() && wire_name.size() <= kLongestName &&
         std::none_of(wire_name.begin(), wire_name.end(), escaped);
}

const model::Schema& Resolved(const model::Api& api, const model::Schema& schema) {
  const model::Schema* at = &schema;
  // The bound ends the loop if aliases refer to each other in a cycle.
  for (std::size_t i = 0; at->kind == model::Kind::kRef && i <= api.types.size(); ++i) {
    const model::NamedType& type = api.types[at->ref];
    if (type.runtime || type.schema.kind == model::Kind::kObject) break;
    at = &type.schema;
  }
  return *at;
}

std::vector<std::string> SortedValues(const model::Schema& schema) {
  std::vector<std::string> values;
  values.reserve(schema.enum_values.size());
  for (const model::EnumValue& value : schema.enum_values) values.push_back(value.text);
  std::sort(values.begin(), values.end());
  return values;
}

std::function<std::string(std::string_view)> NameObjects(const model::Api& api,
                                                         const std::vector<const model::Field*>& fields,
                                                         const std::set<std::string, std::less<>>& taken) {
  std::vector<std::string> names;
  std::set<std::string, std::less<>> elements;
  names.reserve(fields.size());
  for (const model::Field* field : fields) {
    names.push_back(field->name);
    if (Resolved(api, *field->schema).element != nullptr) elements.insert(field->name);
  }
  return [=](std::string_view name) {
    return elements.contains(name) ? ElementTypeIdentifier(name, names, taken) : TypeIdentifier(name);
  };
}

}  // namespace kgen::generator::emit
