// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/resolve_options.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "cache/field_selector.h"
#include "cache/reflector/with_kind.h"
#include "client/request/connection_state.h"
#include "core/execution/jitter.h"
#include "kgen/client/selector.h"
#include "net/duration_text.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kDefaultResync = 10h;
constexpr Nanos kDefaultSaveEvery = 10s;
constexpr Nanos kShortestResync = 1s;
constexpr Nanos kLongestResync = std::chrono::years(10);  // beyond it, a tenth more would not fit

Result<Nanos> ResyncOf(const InformerOptions& options, Clock& clock) {
  const Nanos period = options.resync.value_or(kDefaultResync);
  if (period == kNever) return kNever;
  if (period <= Nanos(0)) {
    return Fail(Code::kInvalidArgument, "InformerOptions::resync is " + net::DurationText(period) +
                                            ", but a period must be positive; kgen::kNever means no resync");
  }
  const Nanos bounded = std::clamp(period, kShortestResync, kLongestResync);
  return Jitter(SeedFrom(clock)).Between(bounded - bounded / 10, bounded + bounded / 10);
}

Result<void> CheckWarmStart(const InformerOptions& options) {
  if (!options.warm_start) return {};
  const WarmStart& warm = *options.warm_start;
  if (warm.folder.empty()) {
    return Fail(Code::kInvalidArgument,
                "InformerOptions::warm_start has no folder; leave it absent for an informer that saves nothing");
  }
  if (options.transform && warm.transform.empty()) {
    return Fail(Code::kInvalidArgument,
                "InformerOptions::warm_start has no name for the transform; set WarmStart::transform, and change it "
                "with what the transform does");
  }
  if (warm.save_every && *warm.save_every <= Nanos(0)) {
    return Fail(Code::kInvalidArgument,
                "WarmStart::save_every is " + net::DurationText(*warm.save_every) + ", but a period must be positive");
  }
  return {};
}

}  // namespace

const InformerOptions& OptionsOf(const KindInfo& kind, const InformerOptions& defaults, const InformerOptionsOf& of) {
  const auto own = std::ranges::find_if(of, [&](const auto& each) {
    const KindInfo* const named = each.first != nullptr ? each.first->kind : nullptr;
    return named != nullptr && named->group == kind.group && named->resource == kind.resource;
  });
  return own != of.end() ? own->second : defaults;
}

Selection SelectionOf(const InformerScope& scope, const InformerOptions& options) {
  return {scope.namespace_, scope.label_selector.value_or(options.label_selector),
          scope.field_selector.value_or(options.field_selector)};
}

Result<void> CheckSelection(const KindInfo& kind, const Selection& selection) {
  if (kind.scope == Scope::kCluster && !selection.namespace_.empty()) {
    return Fail(Code::kInvalidArgument,
                "the kind is cluster-scoped, so its scope must not name namespace \"" + selection.namespace_ + "\"");
  }
  if (const auto labels = Selector::Parse(selection.label_selector); !labels) {
    return Fail(labels.error().With("label selector \"" + selection.label_selector + "\""));
  }
  if (const auto fields = FieldSelector::Parse(selection.field_selector); !fields) return Fail(fields.error());
  return {};
}

Result<InformerSettings> SettingsOf(const InformerOptions& options, Clock& clock) {
  const Result<Nanos> resync = ResyncOf(options, clock);
  if (!resync) return Fail(resync.error());
  if (options.page_size && *options.page_size <= 0) {
    return Fail(Code::kInvalidArgument, "InformerOptions::page_size is " + std::to_string(*options.page_size) +
                                            ", but it must be positive; leave it absent for the default");
  }
  if (Result<void> warm = CheckWarmStart(options); !warm) return Fail(std::move(warm).error());
  return InformerSettings{.resync = *resync,
                          .page_size = options.page_size.value_or(0),
                          .streaming_list = options.streaming_list,
                          .drop_managed_fields = options.drop_managed_fields,
                          .transform = options.transform};
}

std::optional<SavedSettings> SavedOf(const InformerOptions& options, const Connection& connection,
                                     const TypeTable& table, const KindInfo& kind, const Selection& selection) {
  if (!options.warm_start) return std::nullopt;
  const WarmStart& warm = *options.warm_start;
  // In any form: annotations of a Secret may hold a copy of its data.
  if (kind.group.empty() && kind.resource == "secrets" && !warm.secrets) return std::nullopt;
  SavedBinding binding{.server = std::string(connection.host()),
                       .authorities = client::ConnectionState::Of(connection)->authorities,
                       .resource = std::string(kind.resource),
                       .namespace_ = kind.scope == Scope::kCluster ? std::string() : selection.namespace_,
                       .label_selector = selection.label_selector,
                       .field_selector = selection.field_selector,
                       .form = FormText(table),
                       .transform = warm.transform,
                       .drop_managed_fields = options.drop_managed_fields};
  if (!kind.group.empty()) binding.resource.append(".").append(kind.group).append("/").append(kind.version);
  return SavedSettings{.files = MakeSavedFiles(warm.folder),
                       .binding = std::move(binding),
                       .every = warm.save_every.value_or(kDefaultSaveEvery)};
}

TransformFunction AddingKind(std::function<const KindInfo&()> kind, TransformFunction own) {
  return [kind = std::move(kind), own = std::move(own)](AnyRef object) -> Result<AnyRef> {
    object = WithKind(std::move(object), kind());
    return own ? own(std::move(object)) : object;
  };
}

}  // namespace kgen::cache
