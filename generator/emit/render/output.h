// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Writes generated files to disk. Unchanged files keep their time stamp, files that only an earlier run generated are
// deleted, and files that the generator did not write are left alone.
//
// Each set (a namespace) has a manifest beside its files, `.kgen-manifest-acme`: the path and the hash of every file of
// its last run. A file that no longer has the hash was edited by hand and is not overwritten without `force`; a file
// that no manifest names and that does not begin with kgen's first line is not kgen's.
//
// All or nothing: every new text is on disk under a temporary name before the first file is replaced. A run that is
// killed while it replaces files leaves a manifest with the old and the new hashes, and the next run continues from
// there. Runs that write to the same folder wait for each other.
#ifndef KGEN_GENERATOR_EMIT_RENDER_OUTPUT_H_
#define KGEN_GENERATOR_EMIT_RENDER_OUTPUT_H_

#include <functional>
#include <string>
#include <vector>

#include "generator/emit/render/emitter.h"

namespace kgen::generator::emit {

struct OutputOptions {
  std::string folder;
  std::string set;       // names the manifest: "acme"
  std::string settings;  // recorded in the manifest: the options that change the output
  bool force = false;    // overwrite files that were edited by hand
  bool write = true;     // false: only report what a run would do
  std::function<void(const std::string& path)> before_change = {};  // for tests, which end a run there
};

struct OutputResult {
  std::vector<std::string> written, removed;  // paths below the folder
  std::vector<std::string> warnings;
  std::vector<std::string> errors;  // when not empty, nothing was changed
};

OutputResult WriteOutput(const Files& files, const OutputOptions& options);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_RENDER_OUTPUT_H_
