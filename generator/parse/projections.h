// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads the files of `kgen project`: which members of which kinds a program wants to keep.
//
//   projections:
//   - name: PodAddress
//     apiVersion: v1
//     kind: Pod
//     members:
//     - metadata.labels
//     - spec.nodeName
//     - status.podIPs[].ip
#ifndef KGEN_GENERATOR_PARSE_PROJECTIONS_H_
#define KGEN_GENERATOR_PARSE_PROJECTIONS_H_

#include <string>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/api.h"
#include "generator/parse/source.h"

namespace kgen::generator::parse {

// A part of a kind.
struct Projection {
  struct Step {
    std::string name;         // of a member
    bool of_element = false;  // `[]` follows: the next step is in the elements of the list or map
  };
  // One entry of `members`.
  struct Path {
    std::vector<Step> steps;
    std::string text;  // as written
    Origin origin;
  };

  std::string name;  // of the C++ type
  model::GroupVersionKind kind;
  std::vector<Path> members;
  Origin origin;
};

// Reads everything that can be read; errors go to `diagnostics`. Consumes the texts.
std::vector<Projection> ReadProjections(std::vector<Source> sources, Diagnostics& diagnostics);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_PROJECTIONS_H_
