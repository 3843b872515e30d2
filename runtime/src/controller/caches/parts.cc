// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/parts.h"

#include <map>

#include "cache/resolve_options.h"
#include "core/quoted.h"

namespace kgen::controller {

using detail::Quoted;

Result<std::vector<PartScope>> ResolveScopes(const KindInfo& kind, const std::vector<InformerScope>& scopes,
                                             const InformerOptions& options) {
  std::map<std::string, cache::Selection> selections;
  std::string elsewhere;
  for (const InformerScope& each : scopes) {
    if (!selections.try_emplace(each.namespace_, cache::SelectionOf(each, options)).second) {
      return Fail(Code::kInvalidArgument, "the options have two scopes for " +
                                              (each.namespace_.empty() ? std::string("all namespaces")
                                                                       : "namespace " + Quoted(each.namespace_)));
    }
    if (!each.namespace_.empty()) {
      elsewhere += (elsewhere.empty() ? "metadata.namespace!=" : ",metadata.namespace!=") + each.namespace_;
    }
  }
  std::vector<PartScope> all;
  for (auto& [name, selection] : selections) {
    if (name.empty() && !elsewhere.empty()) {
      selection.field_selector += (selection.field_selector.empty() ? "" : ",") + elsewhere;
    }
    if (Result<void> valid = cache::CheckSelection(kind, selection); !valid) return Fail(std::move(valid).error());
    Selector labels = *Selector::Parse(selection.label_selector);
    cache::FieldSelector fields = *cache::FieldSelector::Parse(selection.field_selector);
    all.push_back({std::move(selection), std::move(labels), std::move(fields)});
  }
  return all;
}

void LeavingParts::Remove(const Part& part) {
  Shared<Part> dropped;  // without the lock
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(parts_, &part, &Shared<Part>::get);
  if (found == parts_.end()) return;
  dropped = std::move(*found);
  parts_.erase(found);
}

}  // namespace kgen::controller
