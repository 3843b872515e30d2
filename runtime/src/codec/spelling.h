// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tells whether the text in a member's note (core/blocks.h) is still a spelling of its value.
#ifndef KGEN_SRC_CODEC_SPELLING_H_
#define KGEN_SRC_CODEC_SPELLING_H_

#include <string_view>

#include "kgen/core/type_table.h"

namespace kgen::codec {

// True if the member, a number or a list or map of numbers, has exactly the value that `raw` decodes to. That is so
// unless another value has been assigned since.
bool IsSpelling(std::string_view raw, const void* member, const Field& field);

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SPELLING_H_
