// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FieldSelector: whether the server's field selector of a cache selects an object that was just written.
#ifndef KGEN_SRC_CACHE_FIELD_SELECTOR_H_
#define KGEN_SRC_CACHE_FIELD_SELECTOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/json_path.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// Thread safety: immutable.
class FieldSelector {
 public:
  FieldSelector() = default;  // selects everything
  // "spec.nodeName=n1,status.phase!=Failed". Errors: kInvalidArgument.
  static Result<FieldSelector> Parse(std::string_view text);

  bool is_everything() const noexcept { return requirements_.empty(); }
  // `object` is JSON. An absent field is "", or "false" if that is what the selector names. Text that is no JSON
  // object matches.
  bool Matches(std::string_view object) const;

 private:
  struct Requirement {
    std::vector<detail::JsonStep> path;
    std::string value;
    bool equal = true;
  };
  std::vector<Requirement> requirements_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_FIELD_SELECTOR_H_
