// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The markers and their arguments. A test gives each of them two values, and demands that the output tells one from the
// other: what nothing reads cannot stay in this table.
#ifndef KGEN_GENERATOR_CRD_MARKER_TABLE_H_
#define KGEN_GENERATOR_CRD_MARKER_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace kgen::generator::crd {

// What a marker may describe; a set.
enum MarkerPlace : std::uint8_t {
  kOnStruct = 1,
  kOnMember = 2,
  kOnEnum = 4,
  kOnEnumValue = 8,
  kOnAlias = 16,  // using Name = kgen::String;
  kOnNamespace = 32,
};

// kIgnored: only Go's programs read it.
enum class ValueForm : std::uint8_t { kNone, kBool, kInteger, kNumber, kText, kList, kJson, kArgs, kIgnored };

struct MarkerArgument {
  std::string_view name;
  enum Need : std::uint8_t { kOptional, kRequired } need = kOptional;
  enum Shape : std::uint8_t { kOne, kMany } shape = kOne;
};

// One marker: where it may stand, and its value.
struct MarkerRow {
  std::string_view name;  // in lower case, without prefixes
  int places;             // of MarkerPlace
  ValueForm form;
  std::string_view example;
  std::span<const MarkerArgument> args = {};
};

// All markers, in byte order of their names.
std::span<const MarkerRow> MarkerTable();

// The row of a name in lower case, which may be another spelling ("structtype"); null if there is none.
const MarkerRow* FindMarkerRow(std::string_view name);

// What to write instead of a marker of Kubernetes' declarative validation that a CRD cannot say; empty for others. The
// name is in lower case, and may have arguments: "k8s:subfield(name)".
std::string_view InsteadOfK8s(std::string_view name);

// Whether the marker is about the program as a whole, so that it may stand anywhere: +kgen:rbac, +kgen:webhook and
// +kgen:webhookconfiguration.
bool IsOfTheProgram(std::string_view name);

// Whether the marker may describe the elements of a list or map: +kgen:items:maxLength=3.
bool FitsElements(const MarkerRow& row);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_MARKER_TABLE_H_
