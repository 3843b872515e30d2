// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FindCondition, IsConditionTrue and SetCondition: read and set the conditions of a status, as the functions of meta in
// apimachinery do.
//
//   kgen::SetCondition(order.status->conditions, {.reason = "Shipped", .status = "True", .type = "Ready"});
//   if (kgen::IsConditionTrue(pod.status->conditions, "Ready")) ...
//
// They take a List of anything that looks like a condition: meta::v1::Condition, PodCondition, DeploymentCondition, the
// struct of a CRD. Such a struct has the text members `type` and `status`; others may be there or not.
//
// Thread safety: pure, apart from the clock; SetCondition writes to its list. Does not block.
#ifndef KGEN_CORE_CONDITIONS_H_
#define KGEN_CORE_CONDITIONS_H_

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/list.h"
#include "kgen/core/time.h"
#include "kgen/core/type_table.h"
#include "kgen/core/value.h"

namespace kgen {

namespace detail {

template <typename C>
concept LooksLikeCondition = HasTable<C> && requires(const C& c) {
  { c.type } -> std::convertible_to<std::string_view>;
  { c.status } -> std::convertible_to<std::string_view>;
};

// Checks the concept, with a message where it does not hold.
template <typename C>
constexpr bool IsCondition() {
  static_assert(LooksLikeCondition<C>, "a condition is a struct with the text members `type` and `status`");
  return LooksLikeCondition<C>;
}

}  // namespace detail

// Returns the first condition of that type, or null. The pointer is valid until the list changes.
template <typename C>
  requires(detail::IsCondition<C>())
const C* FindCondition(const List<C>& conditions, std::string_view type) {
  for (const C& each : conditions) {
    if (std::string_view(each.type) == type) return &each;
  }
  return nullptr;
}
template <typename C>
  requires(detail::IsCondition<C>())
C* FindCondition(List<C>& conditions, std::string_view type) {
  return const_cast<C*>(FindCondition(std::as_const(conditions), type));
}

// Returns whether there is a condition of that type and its status is "True".
template <typename C>
  requires(detail::IsCondition<C>())
bool IsConditionTrue(const List<C>& conditions, std::string_view type) {
  const C* found = FindCondition(conditions, type);
  return found != nullptr && std::string_view(found->status) == "True";
}

// Replaces the condition of the same type, or appends the new one. Returns whether something changed, so that the
// status is worth an update; absent and empty text are the same here.
//
// lastTransitionTime changes only together with the status: to the time in `condition` if it has one, otherwise to the
// time of the machine's clock. Unknown fields stay if `condition` has none. A message that is absent is sent as "",
// because most APIs require one; the caller gives the reason, which must not be empty.
template <typename C>
  requires(detail::IsCondition<C>())
bool SetCondition(List<C>& conditions, std::type_identity_t<C> condition) {
  C* found = FindCondition(conditions, condition.type);
  const bool same = found != nullptr && std::string_view(found->status) == std::string_view(condition.status);
  if constexpr (requires { condition.lastTransitionTime; }) {
    auto& time = condition.lastTransitionTime;
    if (same) {
      time = found->lastTransitionTime;
    } else if (!time.has_value()) {
      const Time now = SystemClock()->WallNow();
      if constexpr (std::assignable_from<decltype(time), SysMicros>) {
        time = now.value();
      } else {
        time = now.str();
      }
    }
  }
  if constexpr (requires { condition.message = ""; }) {
    if (!condition.message.has_value()) condition.message = "";
  }
  if (found == nullptr) return conditions.push_back(std::move(condition)), true;
  if (condition.unknown_fields.empty()) condition.unknown_fields = found->unknown_fields;
  if (SemanticEqual(*found, condition)) return false;
  *found = std::move(condition);
  return true;
}

}  // namespace kgen

#endif  // KGEN_CORE_CONDITIONS_H_
