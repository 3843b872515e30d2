// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads API headers with Clang. The only part of kgen-crd that includes Clang: these headers take ten seconds to
// compile.
#ifndef KGEN_GENERATOR_CRD_CLANG_HEADER_READER_H_
#define KGEN_GENERATOR_CRD_CLANG_HEADER_READER_H_

#include "generator/crd/clang/header_options.h"
#include "generator/crd/description.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

// Empty, with errors in `diagnostics`, if a header does not compile: types that Clang cannot resolve would be read as
// int. With other errors, as of single members whose type Clang refuses, all structs, enums and members that have none.
Description ReadHeaders(const HeaderOptions& options, Diagnostics& diagnostics);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_CLANG_HEADER_READER_H_
