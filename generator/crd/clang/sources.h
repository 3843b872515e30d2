// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tokens and markers of files, without their meaning in C++.
#ifndef KGEN_GENERATOR_CRD_CLANG_SOURCES_H_
#define KGEN_GENERATOR_CRD_CLANG_SOURCES_H_

#include <string>
#include <string_view>
#include <vector>

#include "clang/Basic/LangOptions.h"
#include "generator/crd/clang/comments.h"
#include "generator/crd/clang/errors.h"

namespace kgen::generator::crd {

// `text` must end with a zero byte behind its end, as the text of a std::string does.
std::vector<FileToken> Tokens(std::string_view text, const clang::LangOptions& language);

// Whether a line of a comment is a marker of kgen-crd, well-formed or not. Text of other comments may begin with a
// plus.
bool IsKnown(const CommentLine& line);

// Takes the markers about the program from a source, which is not compiled.
void ReadSource(const std::string& path, Run& run);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_CLANG_SOURCES_H_
