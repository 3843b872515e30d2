// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Classes of characters, in ASCII whatever the locale is.
#ifndef KGEN_SRC_CODEC_YAML_CHARACTERS_H_
#define KGEN_SRC_CODEC_YAML_CHARACTERS_H_

namespace kgen::yaml {

constexpr bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace kgen::yaml

#endif  // KGEN_SRC_CODEC_YAML_CHARACTERS_H_
