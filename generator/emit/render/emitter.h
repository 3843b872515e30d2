// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Generates the texts of all files of a run, from plan, views and templates.
//
//   model::Api --Emit()--> {path: text} --WriteOutput()--> disk
#ifndef KGEN_GENERATOR_EMIT_RENDER_EMITTER_H_
#define KGEN_GENERATOR_EMIT_RENDER_EMITTER_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/plan/plan.h"
#include "generator/emit/plan/projections.h"
#include "generator/emit/plan/runtime_api.h"
#include "generator/emit/spelling/group_names.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

struct EmitOptions {
  std::string name_space;       // "acme", "acme::shop": IsNamespace() holds
  std::size_t shards = 1;       // source files that the tables are spread over
  bool split_by_group = false;  // instead: one source file per group version, beside its headers
  GroupNaming group_naming = {};
  std::vector<std::string> distinct = {};  // positions with types of their own: "orders.shop.example.com:spec.template"
  std::vector<std::string> header = {};    // lines of a file header, not yet comments; may be empty
  std::vector<OwnTypes> own = {};          // group versions whose structs a user wrote
};

// Texts by path relative to the output folder, with '/'. Depends only on the input's content and the options.
using Files = std::map<std::string, std::string>;

// Empty if something cannot be emitted; the errors are in `diagnostics`.
Files Emit(const model::Api& api, const EmitOptions& options, Diagnostics& diagnostics);

// The types of one header of the runtime, with their tables. Restores `api` before it returns. `lines` are as in
// EmitOptions::header.
Files EmitRuntime(model::Api& api, const RuntimeHeader& runtime, const std::vector<std::string>& lines,
                  Diagnostics& diagnostics);

// The header and the source with all projections. Modifies the models of `apis`.
Files EmitProjections(const std::vector<parse::Projection>& projections, std::vector<UsedApi>& apis,
                      const std::string& name_space, const std::vector<std::string>& lines, Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_RENDER_EMITTER_H_
