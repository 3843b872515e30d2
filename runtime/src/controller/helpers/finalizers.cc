// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/finalizers.h"

#include <algorithm>

#include "core/thrown.h"
#include "kgen/controller/terminal_error.h"

namespace kgen::detail {

bool HasFinalizer(const meta::v1::ObjectMeta& object, std::string_view name) noexcept {
  return std::ranges::find(object.finalizers, name) != object.finalizers.end();
}

bool AddFinalizer(meta::v1::ObjectMeta& object, std::string_view name) {
  if (HasFinalizer(object, name)) return false;
  object.finalizers.push_back(name);
  return true;
}

bool RemoveFinalizer(meta::v1::ObjectMeta& object, std::string_view name) {
  return kgen::erase(object.finalizers, name) > 0;
}

Error JoinFinalizerErrors(const std::vector<std::pair<std::string, Error>>& errors) {
  const auto& [first, error] = errors.front();
  if (errors.size() == 1) return error.With("finalizer " + first);
  std::string text;
  for (const auto& [name, each] : errors) {
    text += (text.empty() ? "finalizer " : "; finalizer ") + name + ": " + each.ToString();
  }
  Error joined(error.code(), text);
  const bool terminal = std::ranges::all_of(errors, [](const auto& each) { return IsTerminal(each.second); });
  return terminal ? TerminalError(joined) : joined;
}

Error FinalizerThrew() noexcept { return detail::ErrorOfThrown("its function"); }

}  // namespace kgen::detail
