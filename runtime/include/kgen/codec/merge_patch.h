// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the difference of two values of one type as a JSON merge patch (RFC 7386). Users call
// kgen::MergePatch(before, after) in kgen/client/options.h, which returns it as the body of a request.
//
// Thread safety: pure. Does not block.
#ifndef KGEN_CODEC_MERGE_PATCH_H_
#define KGEN_CODEC_MERGE_PATCH_H_

#include <string>

#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::detail {

// Returns the patch that turns the JSON of `before` into the JSON of `after`: the members that differ, null for members
// that are gone, and lists as a whole; "{}" if nothing differs.
// Errors: kInvalidArgument, with the path of a member that is null in `after` only: a merge patch cannot say that.
//         kDecode: text in a Json or an unknown field that is no JSON.
Result<std::string> DiffStructs(const void* before, const void* after, const TypeTable& table);

}  // namespace kgen::detail

#endif  // KGEN_CODEC_MERGE_PATCH_H_
