// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Finalizers: names in metadata.finalizers that keep a deleted object until its controllers have cleaned up.
//
//   if (kgen::IsBeingDeleted(order)) {
//     ... release what belongs to it ...
//     if (kgen::RemoveFinalizer(order, "shop.example.com/stock")) client.Update(order);
//   } else if (kgen::AddFinalizer(order, "shop.example.com/stock")) {
//     client.Update(order);                       // before anything is made that has to be released
//   }
//
// Finalizers<T> does the same for several names.
//
// Thread safety: the functions work on the values that they are given. None blocks.
#ifndef KGEN_CONTROLLER_FINALIZERS_H_
#define KGEN_CONTROLLER_FINALIZERS_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/controller/status_part.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"
#include "kgen/core/value.h"

namespace kgen {

namespace detail {
bool AddFinalizer(meta::v1::ObjectMeta& object, std::string_view name);
bool RemoveFinalizer(meta::v1::ObjectMeta& object, std::string_view name);
bool HasFinalizer(const meta::v1::ObjectMeta& object, std::string_view name) noexcept;
// Joins errors, at least one, into one that gives each with the name of its finalizer.
Error JoinFinalizerErrors(const std::vector<std::pair<std::string, Error>>& errors);
// Returns what a function threw, as an error. Call it in a catch block.
Error FinalizerThrew() noexcept;
template <typename T>
Result<void> CallFinalizer(const std::function<Result<void>(T& object)>& function, T& object) noexcept {
  try {
    return function(object);
  } catch (...) {
    return Fail(FinalizerThrew());
  }
}
}  // namespace detail

// Adds a finalizer. Returns whether the object changed: false if it has that finalizer already. The server refuses new
// finalizers of an object that is being deleted.
template <typename T>
bool AddFinalizer(T& object, std::string_view name) {
  return detail::AddFinalizer(object.metadata, name);
}

// Removes every entry of that name. Returns whether the object changed.
template <typename T>
bool RemoveFinalizer(T& object, std::string_view name) {
  return detail::RemoveFinalizer(object.metadata, name);
}

// Returns whether the object has that finalizer.
template <typename T>
bool HasFinalizer(const T& object, std::string_view name) noexcept {
  return detail::HasFinalizer(object.metadata, name);
}

// Returns whether the object has been deleted and only waits for its finalizers.
template <typename T>
bool IsBeingDeleted(const T& object) noexcept {
  return object.metadata.deletionTimestamp.has_value();
}

// The result of Finalizers<T>::Run(). The changes hold even if `result` is an error.
struct Finalized {
  bool updated = false;         // something other than the status changed: update the object
  bool status_updated = false;  // the status changed: update the status
  // The errors of the functions that failed, as one: with the code of the first, and terminal if all of them are.
  Result<void> result{};
};

// The finalizers of one controller, each with the function that cleans up.
//
//   kgen::Finalizers<Order> finalizers;
//   kgen::Must(finalizers.Register("shop.example.com/stock", [](Order& order) -> kgen::Result<void> { ... }));
//   const kgen::Finalized done = finalizers.Run(order);          // in each reconcile
//   if (done.updated) ... update `order` ...
//
// Thread safety: Run() from any thread once the last Register() has returned. Blocks as far as the functions do.
template <typename T>
class Finalizers {
 public:
  // Cleans up after an object that is being deleted, and may change it, its status for instance. It is called again
  // until it succeeded and the server knows that its finalizer is gone, so it must accept that there is nothing left
  // to do. Several threads may call it at once. An exception is an error of this function alone: kUserCode, or the
  // error in a kgen::Exception.
  using Function = std::function<Result<void>(T& object)>;

  // Errors: kAlreadyExists    the name is registered
  //         kInvalidArgument  the name or the function is empty
  Result<void> Register(std::string name, Function function) {
    if (name.empty() || !function) {
      return Fail(Code::kInvalidArgument, "Finalizers::Register: the name or the function is empty");
    }
    for (const auto& [known, ignored] : functions_) {
      if (known == name) return Fail(Code::kAlreadyExists, "finalizer " + name + " is registered already");
    }
    functions_.emplace_back(std::move(name), std::move(function));
    return {};
  }

  // Adds the missing finalizers to an object that is alive. For one that is being deleted, calls the functions whose
  // finalizers it has, in the order of registration, and removes the finalizers of those that succeeded. Writes nothing
  // to the server.
  Finalized Run(T& object) const {
    const T before = object;
    std::vector<std::pair<std::string, Error>> errors;
    for (const auto& [name, function] : functions_) {
      if (!IsBeingDeleted(before)) {
        AddFinalizer(object, name);
      } else if (HasFinalizer(object, name)) {
        if (Result<void> done = detail::CallFinalizer(function, object)) {
          RemoveFinalizer(object, name);
        } else {
          errors.emplace_back(name, std::move(done).error());
        }
      }
    }
    const T with_status = detail::WithStatusOf(before, object);
    Finalized done{.updated = !SemanticEqual(with_status, object),
                   .status_updated = !SemanticEqual(before, with_status)};
    if (!errors.empty()) done.result = Fail(detail::JoinFinalizerErrors(errors));
    return done;
  }

 private:
  std::vector<std::pair<std::string, Function>> functions_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_FINALIZERS_H_
