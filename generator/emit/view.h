// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Turns the plan into the values of the templates, one view per emitted file. templates/README.md lists the names.
//
//   Plan --View...()--> ViewMap --TemplateEngine--> text
#ifndef KGEN_GENERATOR_EMIT_VIEW_H_
#define KGEN_GENERATOR_EMIT_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "generator/emit/plan.h"
#include "generator/emit/view_value.h"

namespace kgen::generator::emit {

// The values of every file.
struct FileHeader {
  std::vector<std::string> lines;  // comments of the user's own for the top; may be empty
  std::string fingerprint;         // the path of fingerprint.h, which every other header includes
};

ViewMap ViewShapes(const PlannedGroup& group, const FileHeader& header);
ViewMap ViewTypes(const Plan& plan, const PlannedVersion& version, const FileHeader& header);
ViewMap ViewClient(const PlannedVersion& version, const FileHeader& header);
ViewMap ViewInformers(const PlannedVersion& version, const FileHeader& header);
ViewMap ViewClientset(const Plan& plan, const FileHeader& header);
ViewMap ViewFactory(const Plan& plan, const FileHeader& header);
ViewMap ViewScheme(const Plan& plan, const FileHeader& header);
ViewMap ViewFingerprint(const Plan& plan, const FileHeader& header, std::string value);

// Tables of some structs of one header: [first, last) of its top-level structs.
struct TablePart {
  const PlannedGroup* group = nullptr;      // the header is its shapes.h, or
  const PlannedVersion* version = nullptr;  // types.h
  std::size_t first = 0, last = 0;

  const std::vector<PlannedStruct>& structs() const { return group != nullptr ? group->structs : version->structs; }
};

// All of them, one part for each header, in an order of groups and versions.
std::vector<TablePart> AllTables(const Plan& plan);

// A source file. `with_scheme`: Kinds() too.
ViewMap ViewSource(const Plan& plan, const std::vector<TablePart>& parts, bool with_scheme, const FileHeader& header);
// The source file with the CRDs.
ViewMap ViewManifests(const Plan& plan, const FileHeader& header);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_VIEW_H_
