// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FieldPath: names a field of an object by its path, which is looked up through the tables. Indexes and messages use
// it.
//
//   kgen::FieldPath("spec.nodeName")                          one value, or none when absent
//   kgen::FieldPath("spec.containers.image")                  a list in the path: the value of every element
//   kgen::FieldPath("metadata.labels['app.kubernetes.io/name']")      one map entry
//   kgen::FieldPath("metadata.labels")                        every value of the map
#ifndef KGEN_CORE_FIELD_PATH_H_
#define KGEN_CORE_FIELD_PATH_H_

#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/string.h"
#include "kgen/core/type_table.h"

namespace kgen {

// The path of a field. Thread safety: immutable.
class FieldPath {
 public:
  // Takes the text of a path, which is checked when it is resolved.
  explicit FieldPath(std::string_view path) : text_(path) {}
  // Returns the path as it was given.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// A path that was resolved against a table, as an index keeps it.
class ResolvedPath {
 public:
  // Resolves a path. Errors: kInvalidArgument for bad syntax or a field that does not exist; the message names the step
  // and the nearest field name.
  static Result<ResolvedPath> Resolve(const FieldPath& path, const TypeTable& table);

  // Calls `sink` with the text of each present scalar at the path (text as it is, numbers in decimal, booleans as true
  // and false, times and quantities as written). Structs, lists of structs and Json values at the end give nothing.
  void Visit(const void* object, const Function<void(const String&)>& sink) const;

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
