// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Converts the plan to the values of the templates, one view per generated file. templates/README.md lists the names.
//
//   Plan --View...()--> ViewMap --TemplateEngine--> text
#ifndef KGEN_GENERATOR_EMIT_RENDER_VIEW_H_
#define KGEN_GENERATOR_EMIT_RENDER_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/emit/plan/plan.h"
#include "generator/emit/render/view_value.h"

namespace kgen::generator::emit {

// The values that all files have.
struct FileHeader {
  std::vector<std::string> lines;    // the user's comment for the top of the file; may be empty
  std::string fingerprint;           // the path of fingerprint.h, which every other header includes
  std::string manifest_fingerprint;  // the path of manifest_fingerprint.h, which the headers of CRDs include instead
};

ViewMap ViewShapes(const PlannedGroup& group, const FileHeader& header);
enum class TypesHeader : std::uint8_t { kCommon, kTypes };
ViewMap ViewTypes(const Plan& plan, const PlannedVersion& version, TypesHeader which, const FileHeader& header);
// The header with all types of a plan of projections.
ViewMap ViewProjections(const Plan& plan, const FileHeader& header);
ViewMap ViewClient(const PlannedVersion& version, const FileHeader& header);
ViewMap ViewInformers(const PlannedVersion& version, const FileHeader& header);
ViewMap ViewClientset(const Plan& plan, const FileHeader& header);
ViewMap ViewFactory(const Plan& plan, const FileHeader& header);
ViewMap ViewScheme(const Plan& plan, const FileHeader& header);
ViewMap ViewFingerprint(const Plan& plan, const std::string& path, bool of_manifests, const FileHeader& header,
                        std::string value);

// The tables of some structs of one header: of its top-level structs [first, last).
struct TablePart {
  const PlannedGroup* group = nullptr;      // set if the header is its shapes.h
  const PlannedVersion* version = nullptr;  // set if the header is its types.h
  std::size_t first = 0, last = 0;

  const std::vector<PlannedStruct>& structs() const { return group != nullptr ? group->structs : version->structs; }
};

// Returns the tables of all structs, one part for each header, ordered by group and version.
std::vector<TablePart> AllTables(const Plan& plan);

// A source file. If `with_scheme` is true, it also defines Kinds().
ViewMap ViewSource(const Plan& plan, const std::vector<TablePart>& parts, bool with_scheme, const FileHeader& header);
// The header with one CRD.
ViewMap ViewManifest(const PlannedManifest& manifest, const FileHeader& header);
// The source file of Manifests().
ViewMap ViewManifests(const Plan& plan, const FileHeader& header);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_RENDER_VIEW_H_
