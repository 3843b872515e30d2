// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the versions of a CRD do to each other's objects. Private to generator/model.
#ifndef KGEN_GENERATOR_MODEL_VERSIONS_H_
#define KGEN_GENERATOR_MODEL_VERSIONS_H_

#include "generator/diagnostic.h"
#include "generator/model/api.h"
#include "generator/model/raw_schema.h"

namespace kgen::generator::model {

// Warns about fields that objects lose between two versions of a CRD without conversion: a server then only replaces
// `apiVersion`, and removes what the schema of the other version does not declare. Looks at the versions that are
// served or stored, and warns once for each pair. `api` has the types of the CRD's versions.
void CheckVersions(const RawCustomResource& crd, const Api& api, Diagnostics& diagnostics);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_VERSIONS_H_
