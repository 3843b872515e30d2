// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Markers: lines of a comment that begin with +, as in kubebuilder.
//
//   // +kgen:minimum=1
//   // +kubebuilder:validation:Minimum=1                         the same
//   // +kgen:printcolumn:name=Item,type=string,jsonPath=.spec.item
//   // +listType=map
//
// Prefixes (kgen:, kubebuilder:, validation:) may be left out, and case does not matter. Values are text as it is, or
// in double quotes or back quotes; lists are a;b or {a,b}. items: and values: before the name mean the elements of a
// list and the values of a map, and may be repeated for what is inside of these.
#ifndef KGEN_GENERATOR_CRD_MARKERS_H_
#define KGEN_GENERATOR_CRD_MARKERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/marker_table.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

// One line of a comment without the comment's own signs and the spaces around it.
struct CommentLine {
  std::string text;
  Origin origin;
};

// From a list to its elements, or from a map to its values. kEach, of +k8s:eachVal, is either. kKeys, of +k8s:eachKey,
// is the keys of a map, and the last one.
enum class Step : std::uint8_t { kItems, kValues, kEach, kKeys };

struct Marker {
  std::string_view name;                                      // of the table: "minlength", "subresource:scale"
  std::string written = {};                                   // "+kubebuilder:validation:MinLength", for messages
  std::vector<Step> steps = {};                               // where inside of its place: +kgen:items:...
  std::string value;                                          // unquoted; of a JSON value: compact JSON
  bool quoted = false;                                        // the value was in quotes
  std::vector<std::string> list = {};                         // for markers whose value is a list
  std::map<std::string, std::string, std::less<>> args = {};  // by the name in the table: "jsonPath"
  std::map<std::string, std::vector<std::string>, std::less<>> list_args = {};
  Origin origin = {};

  // The argument, or `otherwise`.
  std::string Arg(std::string_view name, std::string_view otherwise = {}) const {
    const auto found = args.find(name);
    return found == args.end() ? std::string(otherwise) : found->second;
  }
};

// Whether a line of a comment is meant as a marker: + and a letter.
bool IsMarker(std::string_view line);

// Reads one marker. Nothing, with an error in `diagnostics`, if it is unknown, malformed or in the wrong place; nothing
// without an error for the markers that only Go needs, such as +kubebuilder:object:root=true.
std::optional<Marker> ParseMarker(const CommentLine& line, MarkerPlace place, Diagnostics& diagnostics);

// Whether a line is about the program as a whole, with any prefix: +kgen:rbac, +kgen:webhook and
// +kgen:webhookconfiguration.
bool IsAboutProgram(const CommentLine& line);

// The first marker of that name that is about its place itself, not about elements; or null.
const Marker* FindMarker(const std::vector<Marker>& markers, std::string_view name);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_MARKERS_H_
