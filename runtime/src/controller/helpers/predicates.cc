// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/predicates.h"

#include <algorithm>

#include "core/metadata_table.h"
#include "kgen/core/object_meta.h"

namespace kgen {
namespace detail {
namespace {

Verdict Of(const Shared<const Judge>& judge, const AnyEvent& event) {
  return judge ? judge->Of(event) : Verdict::kNone;
}

struct Judges {
  Shared<const Judge> a, b;
};

// A judge that asks others.
template <typename F>
class CombinedJudge final : public Judge {
 public:
  CombinedJudge(Judges judges, F verdict) : judges_(std::move(judges)), verdict_(verdict) {}
  Verdict Of(const AnyEvent& event) const override { return verdict_(judges_, event); }
  void AddNeeds(std::vector<std::string_view>& members) const override {
    if (judges_.a) judges_.a->AddNeeds(members);
    if (judges_.b) judges_.b->AddNeeds(members);
  }

 private:
  const Judges judges_;
  const F verdict_;
};

template <typename F>
Shared<const Judge> Combine(Shared<const Judge> a, Shared<const Judge> b, F verdict) {
  return MakeShared<const CombinedJudge<F>>(Judges{std::move(a), std::move(b)}, verdict);
}

}  // namespace

Shared<const Judge> AndJudge(Shared<const Judge> a, Shared<const Judge> b) {
  return Combine(std::move(a), std::move(b), [](const Judges& both, const AnyEvent& event) {
    const Verdict first = Of(both.a, event);
    return first == Verdict::kDrop ? first : std::min(first, Of(both.b, event));
  });
}

Shared<const Judge> OrJudge(Shared<const Judge> a, Shared<const Judge> b) {
  return Combine(std::move(a), std::move(b), [](const Judges& both, const AnyEvent& event) {
    const Verdict first = Of(both.a, event);
    return first == Verdict::kPass ? first : std::max(first, Of(both.b, event));
  });
}

Shared<const Judge> NotJudge(Shared<const Judge> a) {
  return Combine(std::move(a), {}, [](const Judges& both, const AnyEvent& event) {
    return static_cast<Verdict>(-static_cast<int>(Of(both.a, event)));
  });
}

Result<void> EventPredicate::Fits(const TypeTable& table) const {
  if (!judge_ || (table.flags & kProjection) == 0) return {};
  std::vector<std::string_view> members;
  judge_->AddNeeds(members);
  for (const std::string_view member : members) {
    if (member.empty()) {
      return Fail(Code::kInvalidArgument, std::string("a predicate reads the whole metadata, of which ") + table.name +
                                              " has a part; use a Predicate of that type");
    }
    if (KeepsMetadata(table, member)) continue;
    const std::string path = "metadata." + std::string(member);
    return Fail(Code::kInvalidArgument, "a predicate reads " + path + ", which " + table.name + " does not have; add " +
                                            path + " to the members of the projection");
  }
  return {};
}

}  // namespace detail

namespace {

using detail::Verdict;
using meta::v1::ObjectMeta;

// Judges by a member of the metadata, or by all of them: "".
template <typename F>
class MetadataJudge final : public detail::Judge {
 public:
  MetadataJudge(std::string_view member, F function) : member_(member), function_(std::move(function)) {}
  Verdict Of(const AnyEvent& event) const override { return function_(event); }
  void AddNeeds(std::vector<std::string_view>& members) const override { members.push_back(member_); }

 private:
  const std::string_view member_;
  const F function_;
};

// `member` is a literal.
template <typename F>
AnyPredicate PredicateOf(std::string_view member, F function) {
  return AnyPredicate(MakeShared<const MetadataJudge<F>>(member, std::move(function)));
}

// A predicate on updates: whether the metadata differ in what `changed` compares.
template <typename F>
AnyPredicate UpdatesThat(std::string_view member, F changed) {
  return PredicateOf(member, [changed](const AnyEvent& event) {
    if (event.type != AnyEvent::Type::kUpdated) return Verdict::kNone;
    const ObjectMeta* before = event.before.metadata();
    const ObjectMeta* now = event.now.metadata();
    // The informer sends no update without both objects.
    return detail::VerdictOf(before != nullptr && now != nullptr && changed(*before, *now));
  });
}

// A predicate on objects: whether the new one, or the last known one of a deletion, is one that `matches` accepts.
template <typename F>
AnyPredicate ObjectsThat(std::string_view member, F matches) {
  return PredicateOf(member, [matches = std::move(matches)](const AnyEvent& event) {
    const ObjectMeta* object = (event.type == AnyEvent::Type::kDeleted ? event.before : event.now).metadata();
    return object != nullptr ? detail::VerdictOf(matches(*object)) : Verdict::kNone;
  });
}

bool Differ(const Map<String>& a, const Map<String>& b) noexcept { return !(a.empty() && b.empty()) && !(a == b); }

}  // namespace

AnyPredicate GenerationChanged() {
  return UpdatesThat("generation",
                     [](const ObjectMeta& a, const ObjectMeta& b) { return *a.generation != *b.generation; });
}

AnyPredicate ResourceVersionChanged() {
  return UpdatesThat("resourceVersion",
                     [](const ObjectMeta& a, const ObjectMeta& b) { return a.resourceVersion != b.resourceVersion; });
}

AnyPredicate LabelsChanged() {
  return UpdatesThat("labels", [](const ObjectMeta& a, const ObjectMeta& b) { return Differ(a.labels, b.labels); });
}

AnyPredicate AnnotationsChanged() {
  return UpdatesThat("annotations",
                     [](const ObjectMeta& a, const ObjectMeta& b) { return Differ(a.annotations, b.annotations); });
}

AnyPredicate MatchesLabels(Selector selector) {
  return ObjectsThat(
      "labels", [selector = std::move(selector)](const ObjectMeta& object) { return selector.Matches(object.labels); });
}

Result<AnyPredicate> MatchesLabels(std::string_view selector) {
  Result<Selector> parsed = Selector::Parse(selector);
  if (!parsed) return Fail(std::move(parsed).error());
  return MatchesLabels(*std::move(parsed));
}

AnyPredicate MatchesMetadata(std::function<bool(const ObjectMeta&)> matches) {
  return ObjectsThat("", std::move(matches));
}

AnyPredicate InNamespaces(std::vector<std::string> namespaces) {
  return PredicateOf("namespace", [namespaces = std::move(namespaces)](const AnyEvent& event) {
    return detail::VerdictOf(std::ranges::find(namespaces, event.key.namespace_.view()) != namespaces.end());
  });
}

}  // namespace kgen
