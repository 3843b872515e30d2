// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FieldPath: a field of an object by its path, looked up through the tables. For indexes and messages.
//
//   kgen::FieldPath("spec.nodeName")                          one value, or none when absent
//   kgen::FieldPath("spec.containers.image")                  a list in the path: the value of every element
//   kgen::FieldPath("metadata.labels['app.kubernetes.io/name']")      one map entry
//   kgen::FieldPath("metadata.labels")                        every value of the map
#ifndef KGEN_CORE_FIELD_PATH_H_
#define KGEN_CORE_FIELD_PATH_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Thread safety: immutable.
class FieldPath {
 public:
  explicit FieldPath(std::string_view path) : text_(path) {}
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// A path resolved against a table: what an index keeps.
class ResolvedPath {
 public:
  // kInvalidArgument: bad syntax, or no such field; the message names the step and the nearest field name.
  static Result<ResolvedPath> Resolve(const FieldPath& path, const TypeTable& table);

  // Calls `sink` with the text of each present scalar at the path (text as it is, numbers in decimal, booleans as true
  // and false, times and quantities as written). Structs, lists of structs and Json values at the end give nothing.
  void Visit(const void* object, const std::function<void(std::string_view)>& sink) const;

 private:
  struct Step {
    const Field* field = nullptr;        // a member of a struct
    const ValueType* element = nullptr;  // a list's or a map's elements
    std::string key{};                   // of a map; empty for all
    bool has_key = false;
  };
  std::vector<Step> steps_;
};

}  // namespace kgen

#endif  // KGEN_CORE_FIELD_PATH_H_
