// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/fixups.h"

#include <algorithm>
#include <array>

namespace kgen::generator::model {
namespace {

// A property that a document calls required although servers send and accept objects without it.
struct NotRequired {
  std::string_view definition;
  std::string_view property;
};

constexpr std::array<NotRequired, 3> kNotRequired = {{
    // Core events seen through this group carry null.
    {"io.k8s.api.events.v1.Event", "eventTime"},
    // Required by the document up to 1.33: an artefact of the Go type, absent means "all pods".
    {"io.k8s.api.networking.v1.NetworkPolicySpec", "podSelector"},
    // Required by the document up to 1.32: may be empty, and Go clients leave it out then.
    {"io.k8s.api.apps.v1.StatefulSetSpec", "serviceName"},
}};

// Errors that current documents still have. Others are fixed in newer documents, which needs no note.
constexpr std::string_view kStillWrong = "io.k8s.api.events.v1.Event";

}  // namespace

void ApplyFixups(Draft& draft, Diagnostics& diagnostics) {
  for (const NotRequired& entry : kNotRequired) {
    const auto found = draft.definitions.find(entry.definition);
    if (found == draft.definitions.end()) continue;
    RawSchema& schema = *found->second.schema;
    const std::size_t removed =
        std::erase_if(schema.required, [&](const RawRequired& r) { return r.name == entry.property; });
    if (removed == 0 && entry.definition == kStillWrong) {
      diagnostics.Note("fixup-unused", found->second.origin,
                       "the document no longer requires " + Quote(entry.property) + "; remove its correction",
                       schema.path);
    }
  }
}

}  // namespace kgen::generator::model
