// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Known errors of the published API documents, corrected before anything is resolved. One table; each entry says why.
// An entry whose place exists but no longer has the error is reported with a note.
#ifndef KGEN_GENERATOR_MODEL_FIXUPS_H_
#define KGEN_GENERATOR_MODEL_FIXUPS_H_

#include "generator/diagnostic.h"
#include "generator/model/raw_schema.h"

namespace kgen::generator::model {

void ApplyFixups(Draft& draft, Diagnostics& diagnostics);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_FIXUPS_H_
