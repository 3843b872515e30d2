// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The difference of two values of one type as a JSON merge patch (RFC 7386). Users call kgen::MergePatch(before,
// after) of kgen/client/options.h, which makes the body of a request of it.
//
// Thread safety: pure. Does not block.
#ifndef KGEN_CODEC_MERGE_PATCH_H_
#define KGEN_CODEC_MERGE_PATCH_H_

#include <string>

#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::detail {

// The patch that turns the JSON of `before` into the JSON of `after`: members that differ, and null for those that
// are gone; lists are whole. "{}" where nothing differs.
// Errors: kInvalidArgument, with the path of a member that is null in `after` only: a merge patch cannot say that.
//         kDecode: text in a Json or an unknown field that is no JSON.
Result<std::string> DiffStructs(const void* before, const void* after, const TypeTable& table);

}  // namespace kgen::detail

#endif  // KGEN_CODEC_MERGE_PATCH_H_
