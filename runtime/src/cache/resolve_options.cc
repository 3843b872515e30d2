// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/resolve_options.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "cache/field_selector.h"
#include "cache/reflector/with_kind.h"
#include "core/execution/jitter.h"
#include "kgen/client/selector.h"
#include "net/duration_text.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kDefaultResync = 10h;
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
  return InformerSettings{.resync = *resync,
                          .page_size = options.page_size.value_or(0),
                          .streaming_list = options.streaming_list,
                          .drop_managed_fields = options.drop_managed_fields,
                          .transform = options.transform};
}

TransformFunction AddingKind(std::function<const KindInfo&()> kind, TransformFunction own) {
  return [kind = std::move(kind), own = std::move(own)](AnyRef object) -> Result<AnyRef> {
    object = WithKind(std::move(object), kind());
    return own ? own(std::move(object)) : object;
  };
}

}  // namespace kgen::cache
