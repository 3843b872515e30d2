// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/predicates.h"

#include <algorithm>

#include "kgen/core/object_meta.h"

namespace kgen {
namespace detail {
namespace {

Verdict Of(const Shared<const Judge>& judge, const AnyEvent& event) {
  return judge ? judge->Of(event) : Verdict::kNone;
}

}  // namespace

Shared<const Judge> AndJudge(Shared<const Judge> a, Shared<const Judge> b) {
  return JudgeOf([a = std::move(a), b = std::move(b)](const AnyEvent& event) {
    const Verdict first = Of(a, event);
    return first == Verdict::kDrop ? first : std::min(first, Of(b, event));
  });
}

Shared<const Judge> OrJudge(Shared<const Judge> a, Shared<const Judge> b) {
  return JudgeOf([a = std::move(a), b = std::move(b)](const AnyEvent& event) {
    const Verdict first = Of(a, event);
    return first == Verdict::kPass ? first : std::max(first, Of(b, event));
  });
}

Shared<const Judge> NotJudge(Shared<const Judge> a) {
  return JudgeOf(
      [a = std::move(a)](const AnyEvent& event) { return static_cast<Verdict>(-static_cast<int>(Of(a, event))); });
}

}  // namespace detail

namespace {

using detail::Verdict;
using meta::v1::ObjectMeta;

template <typename F>
AnyPredicate PredicateOf(F function) {
  return AnyPredicate(detail::JudgeOf(std::move(function)));
}

// A predicate on updates: whether the metadata differ in what `changed` compares.
template <typename F>
AnyPredicate UpdatesThat(F changed) {
  return PredicateOf([changed](const AnyEvent& event) {
    if (event.type != AnyEvent::Type::kUpdated) return Verdict::kNone;
    const ObjectMeta* before = event.before.metadata();
    const ObjectMeta* now = event.now.metadata();
    // The informer sends no update without both objects.
    return detail::VerdictOf(before != nullptr && now != nullptr && changed(*before, *now));
  });
}

// A predicate on objects: whether the new one, or the last known one of a deletion, is one that `matches` accepts.
template <typename F>
AnyPredicate ObjectsThat(F matches) {
  return PredicateOf([matches = std::move(matches)](const AnyEvent& event) {
    const ObjectMeta* object = (event.type == AnyEvent::Type::kDeleted ? event.before : event.now).metadata();
    return object != nullptr ? detail::VerdictOf(matches(*object)) : Verdict::kNone;
  });
}

bool Differ(const Map<String>& a, const Map<String>& b) noexcept { return !(a.empty() && b.empty()) && !(a == b); }

}  // namespace

AnyPredicate GenerationChanged() {
  return UpdatesThat([](const ObjectMeta& a, const ObjectMeta& b) { return *a.generation != *b.generation; });
}

AnyPredicate ResourceVersionChanged() {
  return UpdatesThat([](const ObjectMeta& a, const ObjectMeta& b) { return a.resourceVersion != b.resourceVersion; });
}

AnyPredicate LabelsChanged() {
  return UpdatesThat([](const ObjectMeta& a, const ObjectMeta& b) { return Differ(a.labels, b.labels); });
}

AnyPredicate AnnotationsChanged() {
  return UpdatesThat([](const ObjectMeta& a, const ObjectMeta& b) { return Differ(a.annotations, b.annotations); });
}

AnyPredicate MatchesLabels(Selector selector) {
  return ObjectsThat(
      [selector = std::move(selector)](const ObjectMeta& object) { return selector.Matches(object.labels); });
}

Result<AnyPredicate> MatchesLabels(std::string_view selector) {
  Result<Selector> parsed = Selector::Parse(selector);
  if (!parsed) return Fail(std::move(parsed).error());
  return MatchesLabels(*std::move(parsed));
}

AnyPredicate MatchesMetadata(std::function<bool(const ObjectMeta&)> matches) { return ObjectsThat(std::move(matches)); }

AnyPredicate InNamespaces(std::vector<std::string> namespaces) {
  return PredicateOf([namespaces = std::move(namespaces)](const AnyEvent& event) {
    return detail::VerdictOf(std::ranges::find(namespaces, event.key.namespace_.view()) != namespaces.end());
  });
}

}  // namespace kgen
