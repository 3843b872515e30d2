// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Makes what an informer works with from the options that the user gave.
#ifndef KGEN_SRC_CACHE_RESOLVE_OPTIONS_H_
#define KGEN_SRC_CACHE_RESOLVE_OPTIONS_H_

#include <functional>
#include <optional>

#include "cache/reflector/informer_settings.h"
#include "cache/reflector/list_watch.h"
#include "kgen/cache/informer_options.h"
#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::cache {

// Returns the options of a kind: those in `of` for its group and resource, or else `defaults`.
const InformerOptions& OptionsOf(const KindInfo& kind, const InformerOptions& defaults, const InformerOptionsOf& of);

// Returns what an informer of that scope selects.
Selection SelectionOf(const InformerScope& scope, const InformerOptions& options);

// Errors: kInvalidArgument (a malformed selector, a namespace for a cluster-scoped kind).
Result<void> CheckSelection(const KindInfo& kind, const Selection& selection);

// Errors: kInvalidArgument, with the name of the option.
Result<InformerSettings> SettingsOf(const InformerOptions& options, Clock& clock);

// Returns where the informer saves its cache, or nothing if the options name no folder, or exclude the kind. The
// options are those that SettingsOf() has checked.
std::optional<SavedSettings> SavedOf(const InformerOptions& options, const Connection& connection,
                                     const TypeTable& table, const KindInfo& kind, const Selection& selection);

// Returns a transform that gives objects the apiVersion and kind of `kind()`, which the items of built-in lists lack,
// and then calls `own`, if it is set.
TransformFunction AddingKind(std::function<const KindInfo&()> kind, TransformFunction own);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_RESOLVE_OPTIONS_H_
