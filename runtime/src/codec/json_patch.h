// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: the difference of two JSON texts as a JSON patch (RFC 6902), for the answers of mutating webhooks.
//
// Values are compared as Json compares them: numbers by value, strings by their characters, and of several members of
// one name the last counts. So a text that was only written in another way gives no operation.
#ifndef KGEN_SRC_CODEC_JSON_PATCH_H_
#define KGEN_SRC_CODEC_JSON_PATCH_H_

#include <string>
#include <string_view>

#include "kgen/core/result.h"

namespace kgen::codec {

// Returns the patch that turns `before` into `after`: a JSON list of "add", "remove" and "replace"; "" if there is
// nothing to do. A member whose parents are missing is added with the first of these. In lists the elements at the
// front and at the end that are equal stay as they are; the elements between them are compared one by one, and what is
// left of the longer list is added or removed. Values are written as they are spelled in `after`.
//
// Errors: kDecode  one of them is not JSON, or nested deeper than 1024; the message says which, with the byte offset
// Thread safety: pure. Does not block. The time is linear in both texts, except that elements of lists that differ are
// compared once more at each level of lists in lists.
Result<std::string> DiffJson(std::string_view before, std::string_view after);

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_JSON_PATCH_H_
