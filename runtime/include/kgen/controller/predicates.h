// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Predicate: selects the events of a kind that a controller gets.
//
//   informer --> event --> predicate: pass? --> handler --> work queue
//
//   kgen::Predicate<Pod> on_a_node([](const Pod& pod) { return !pod.spec->nodeName.empty(); });
//   kgen::Predicate<Pod> no_adds({.on_add = [](const kgen::Added<Pod>&) { return false; }});
//   auto both = on_a_node && kgen::LabelsChanged();
//
// A predicate filters events and not memory: the cache holds the object either way. Only the selectors of an informer
// make the cache smaller.
//
// Each predicate judges some events and has no opinion on others: one on labels that changed has none on an object that
// was added. An event on which a predicate has no opinion passes, and !predicate has no opinion on it either, so that a
// negation loses no additions and no deletions. (In controller-runtime the negation of such a predicate drops them.) A
// predicate that drops an event decides a && b, and one that passes it decides a || b; otherwise the combination has no
// opinion if one of the two has none.
//
// Thread safety: predicates are immutable; any thread may copy and evaluate them, several at once. They do not block
// unless a function of the user does.
#ifndef KGEN_CONTROLLER_PREDICATES_H_
#define KGEN_CONTROLLER_PREDICATES_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/client/selector.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace detail {

// Ordered: `&&` is the lesser of two, `||` the greater one.
enum class Verdict : std::int8_t { kDrop = -1, kNone = 0, kPass = 1 };

class Judge : public SharedObject {
 public:
  virtual Verdict Of(const AnyEvent& event) const = 0;
  // Adds the members of the metadata that the predicate reads; "" stands for all.
  virtual void AddNeeds(std::vector<std::string_view>& /*members*/) const {}
};

template <typename F>
class FunctionJudge final : public Judge {
 public:
  explicit FunctionJudge(F function) : function_(std::move(function)) {}
  Verdict Of(const AnyEvent& event) const override { return function_(event); }

 private:
  const F function_;
};

template <typename F>
Shared<const Judge> JudgeOf(F function) {
  return MakeShared<const FunctionJudge<F>>(std::move(function));
}

// A null judge has no opinion.
Shared<const Judge> AndJudge(Shared<const Judge> a, Shared<const Judge> b);
Shared<const Judge> OrJudge(Shared<const Judge> a, Shared<const Judge> b);
Shared<const Judge> NotJudge(Shared<const Judge> a);

constexpr Verdict VerdictOf(bool pass) noexcept { return pass ? Verdict::kPass : Verdict::kDrop; }

// The base of the predicates of all kinds, for the code behind the builder. Events must be of the predicate's kind.
class EventPredicate {
 public:
  // Returns whether the event passes. An exception of a user's function is passed on.
  bool operator()(const AnyEvent& event) const { return !judge_ || judge_->Of(event) != Verdict::kDrop; }
  // Errors: kInvalidArgument if the predicate reads metadata that the objects, of a projection, do not have.
  Result<void> Fits(const TypeTable& table) const;

 protected:
  EventPredicate() noexcept = default;
  explicit EventPredicate(Shared<const Judge> judge) noexcept : judge_(std::move(judge)) {}

  Shared<const Judge> judge_;
};

// A function over an event; copyable. It accepts any type, so that a function of the wrong signature fails with a clear
// message.
template <typename Event>
class EventTest {
 public:
  EventTest() noexcept = default;
  EventTest(std::nullptr_t) noexcept {}
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, EventTest>)
  EventTest(F&& function) {  // implicit, for designated initializers
    constexpr bool kFits = std::is_invocable_r_v<bool, const std::decay_t<F>&, const Event&>;
    static_assert(
        kFits,
        "PredicateFunctions<T>: a function takes `const kgen::Added<T>&` (or Updated, Deleted), returns bool, "
        "and may be called by several threads at once, so its operator() is const");
    if constexpr (kFits) function_ = std::forward<F>(function);
  }

  Verdict Of(const Event& event) const { return function_ ? VerdictOf(function_(event)) : Verdict::kNone; }

 private:
  std::function<bool(const Event&)> function_;
};

}  // namespace detail

// A predicate for objects of any kind, such as those that the functions below return. It converts to a Predicate<T>.
class AnyPredicate : public detail::EventPredicate {
 public:
  // The functions of this header make predicates with this.
  explicit AnyPredicate(Shared<const detail::Judge> judge) noexcept : EventPredicate(std::move(judge)) {}

  friend AnyPredicate operator&&(const AnyPredicate& a, const AnyPredicate& b) {
    return AnyPredicate(detail::AndJudge(a.judge_, b.judge_));
  }
  friend AnyPredicate operator||(const AnyPredicate& a, const AnyPredicate& b) {
    return AnyPredicate(detail::OrJudge(a.judge_, b.judge_));
  }
  friend AnyPredicate operator!(const AnyPredicate& a) { return AnyPredicate(detail::NotJudge(a.judge_)); }

 private:
  template <typename T>
  friend class Predicate;
};

// The functions of a predicate, each for one sort of event. An empty function has no opinion.
template <typename T>
struct PredicateFunctions {
  detail::EventTest<Added<T>> on_add{};       // an object has come
  detail::EventTest<Updated<T>> on_update{};  // an object has changed
  // `before` is null if nothing is known of the deleted object but its key.
  detail::EventTest<Deleted<T>> on_delete{};
};

// A predicate for objects of kind T: `true` lets an event pass.
template <typename T>
class Predicate : public detail::EventPredicate {
 public:
  Predicate() noexcept = default;  // everything passes
  Predicate(const AnyPredicate& any) noexcept : EventPredicate(any.judge_) {}
  Predicate(PredicateFunctions<T> functions)
      : EventPredicate(detail::JudgeOf([functions = std::move(functions)](const AnyEvent& e) -> detail::Verdict {
          switch (e.type) {
            case AnyEvent::Type::kAdded:
              return functions.on_add.Of({e.key, e.now.As<T>(), e.reason, e.version});
            case AnyEvent::Type::kUpdated:
              return functions.on_update.Of({e.key, e.before.As<T>(), e.now.As<T>(), e.reason, e.version});
            case AnyEvent::Type::kDeleted:
              return functions.on_delete.Of({e.key, e.before.As<T>(), e.final_state_unknown, e.reason, e.version});
            case AnyEvent::Type::kLeft:
              break;  // controllers do not get it
          }
          return detail::Verdict::kNone;
        })) {}
  // Makes a predicate from a function of the object: the new one for updates, the last known one for deletions. It has
  // no opinion on the deletion of an object of which nothing is known, so that such a deletion is not lost. Several
  // threads may call it at once.
  template <typename F>
    requires(std::is_invocable_r_v<bool, const std::decay_t<F>&, const T&>)
  Predicate(F&& function)  // implicit, as for std::function
      : EventPredicate(detail::JudgeOf([function = std::decay_t<F>(std::forward<F>(function))](const AnyEvent& e) {
          const Ref<const T> object = (e.now ? e.now : e.before).template As<T>();
          return object ? detail::VerdictOf(function(*object)) : detail::Verdict::kNone;
        })) {}

  friend Predicate operator&&(const Predicate& a, const Predicate& b) {
    return Predicate(detail::AndJudge(a.judge_, b.judge_));
  }
  friend Predicate operator||(const Predicate& a, const Predicate& b) {
    return Predicate(detail::OrJudge(a.judge_, b.judge_));
  }
  friend Predicate operator!(const Predicate& a) { return Predicate(detail::NotJudge(a.judge_)); }

 private:
  explicit Predicate(Shared<const detail::Judge> judge) noexcept : EventPredicate(std::move(judge)) {}
};

// Passes updates that changed metadata.generation, which the server increments when it changes the spec. It hides
// changes of the status, of labels, annotations and finalizers, and resyncs. It hides every update of a kind without
// generations (ConfigMap, Secret, ServiceAccount, Event, ...), where it is therefore of no use, and updates of the
// status of a kind whose status your controller has to see.
AnyPredicate GenerationChanged();
// Passes updates that changed metadata.resourceVersion: all but resyncs. Versions are compared for equality only.
AnyPredicate ResourceVersionChanged();
AnyPredicate LabelsChanged();
AnyPredicate AnnotationsChanged();

// Passes events of objects with these labels: for updates the labels of the new object, for deletions the last known
// ones. An update that removes such a label from an object therefore does not pass. It has no opinion on the deletion
// of an object of which nothing is known.
AnyPredicate MatchesLabels(Selector selector);
// Takes a selector in its text form, "app=web,tier in (a, b)". Errors: kInvalidArgument, as for Selector::Parse().
Result<AnyPredicate> MatchesLabels(std::string_view selector);

// Passes events of objects of any kind for whose metadata `matches` returns true: for updates the metadata of the new
// object, for deletions the last known metadata. It has no opinion on the deletion of an object of which nothing is
// known. Several threads may call it at once.
AnyPredicate MatchesMetadata(std::function<bool(const meta::v1::ObjectMeta&)> matches);

// Passes events of objects in one of these namespaces; "" stands for objects without a namespace. An empty list passes
// none.
AnyPredicate InNamespaces(std::vector<std::string> namespaces);

}  // namespace kgen

#endif  // KGEN_CONTROLLER_PREDICATES_H_
