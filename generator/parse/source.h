// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The inputs of a run as text: files, folders, standard input, compressed or not.
//
//   command line --LoadSources()--> Source{name, text} --ParseSources()--> Draft
//
// Reads nothing but the named files: does not use the network, and follows no links out of a folder. A folder with a
// kustomization stands for the resources that this names.
#ifndef KGEN_GENERATOR_PARSE_SOURCE_H_
#define KGEN_GENERATOR_PARSE_SOURCE_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"

namespace kgen::generator::parse {

struct Source {
  std::string name;                         // as given or found; "<stdin>"
  std::string text;                         // uncompressed
  std::uint32_t file = 0;                   // its number in Diagnostics
  bool found = false;                       // in a folder, and not named on the command line
  std::vector<std::string> converted = {};  // of a kustomization: see ConvertedByPatches()
};

struct SourceOptions {
  std::size_t max_bytes = 256u << 20;      // per file, uncompressed
  std::istream* standard_input = nullptr;  // what "-" reads; null: std::cin
};

// Loads each path in order; a folder's files by byte order of their paths, recursively, with the endings .yaml, .yml,
// .json, each also with .gz. Of a folder with a kustomization, those are its resources, bases and components instead;
// patches are not applied, but those
// that configure a conversion are noticed, and URLs are left out with an info. A kustomization that is
// named itself stands for its folder. The same file named twice is loaded once. What cannot be read becomes an error in
// `diagnostics`, the others are returned.
std::vector<Source> LoadSources(const std::vector<std::string>& paths, Diagnostics& diagnostics,
                                const SourceOptions& options = {});

// True for gzip's magic bytes.
bool IsGzip(std::string_view bytes);

// Uncompresses all members of a gzip text. Nothing, with the reason in `error`, if it is damaged, cut off or larger
// than `max_bytes`.
std::optional<std::string> Gunzip(std::string_view bytes, std::size_t max_bytes, std::string& error);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_SOURCE_H_
