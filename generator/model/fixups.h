// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Corrects known errors of the published API documents before anything is resolved. One table; each entry has its
// reason. An entry whose property exists but no longer has the error is reported with a note.
#ifndef KGEN_GENERATOR_MODEL_FIXUPS_H_
#define KGEN_GENERATOR_MODEL_FIXUPS_H_

#include "generator/diagnostic.h"
#include "generator/model/raw_schema.h"

namespace kgen::generator::model {

void ApplyFixups(Draft& draft, Diagnostics& diagnostics);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_FIXUPS_H_
