// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The types of the API that the runtime itself contains. The runtime includes no generated API, and kgen is built from
// it, so these types are generated into the sources of the runtime and committed.
//
//   runtime/wire_types.txt --ParseRuntimeList()--> RuntimeHeader --OnlyTypes()--> model::Api of one header
#ifndef KGEN_GENERATOR_EMIT_PLAN_RUNTIME_API_H_
#define KGEN_GENERATOR_EMIT_PLAN_RUNTIME_API_H_

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// A header of the runtime and the source with its tables.
struct RuntimeHeader {
  std::string header, source;      // below the output folder: "src/controller/election/lease.h"
  std::string include;             // as code includes the header: "controller/election/lease.h"
  std::string name_space;          // "kgen::controller"
  std::vector<std::string> types;  // "coordination.k8s.io/v1/Lease"; of the core group: "v1/ObjectReference"
};

// A line has the header, the source, the namespace and the types, with spaces between them; # begins a comment. The
// error begins with the number of the line.
std::expected<std::vector<RuntimeHeader>, std::string> ParseRuntimeList(std::string_view text);

// While it exists, the API has one group version: the types of the header and those that they contain. Types of meta/v1
// are left out of the headers of other groups. The kinds have neither lists nor verbs.
class OnlyTypes {
 public:
  OnlyTypes(model::Api& api, const RuntimeHeader& header, Diagnostics& diagnostics);
  OnlyTypes(const OnlyTypes&) = delete;
  OnlyTypes& operator=(const OnlyTypes&) = delete;
  ~OnlyTypes();

 private:
  model::Api& api_;
  std::vector<model::Group> groups_;         // of the whole API
  std::vector<model::TypeId> runtime_ = {};  // the types whose `runtime` was true
};

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_RUNTIME_API_H_
