// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Validate(): what an API server would say about an object of a custom kind, without a server.
//
//   #include <acme/shop/orders_manifest.h>   // the CRD that Order was made from
//   #include <kgen/validation/validate.h>    // link kgen::validation
//
//   const kgen::Validation result = kgen::Validate(order);
//   if (!result.valid()) return Refuse(result.errors.ToString());
//
// It does what a server of Kubernetes 1.36 does when the object is created: it drops unknown members, sets defaults,
// and then checks types, required members, bounds, lengths, patterns, enums, formats, allOf, anyOf, oneOf, not, sets
// and keyed lists, embedded resources, the metadata, and the replicas of a scale subresource. The errors have the
// server's reasons, fields and messages, and its order, with the members of an object by name: a server visits them in
// any order.
//
// It differs from a server as follows.
// * Rules in CEL (x-kubernetes-validations) are not evaluated; Validation::unchecked lists them.
// * A server ignores the status of an object that is created or updated, if the kind has a status subresource. Here, a
//   status is checked whenever it is present.
// * A server accepts an update that leaves an invalid value as it is (ratcheting). Here, every value is checked.
// * The namespace may be absent: clients set it from the request. A name that a server would generate ends in "xxxxx".
// See docs/validation.md.
#ifndef KGEN_VALIDATION_VALIDATE_H_
#define KGEN_VALIDATION_VALIDATE_H_

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/encode.h"
#include "kgen/core/field_errors.h"
#include "kgen/core/json.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

namespace validation {
class CompiledSchema;
}

// A rule in CEL that applies to a value of the object, and was not evaluated.
struct UncheckedRule {
  std::string field;  // the path of the value; "" is the object itself
  std::string rule;   // "self.min <= self.max"
  friend bool operator==(const UncheckedRule&, const UncheckedRule&) = default;
};

// What Validate() found. A plain value.
struct Validation {
  // Empty: the object fits its schema. An error that concerns several members has the field "<nil>", as on servers.
  FieldErrors errors{};
  // In the order of the values. A server evaluates these after its other checks, and only if those found nothing wrong
  // with types, required members, enums, lengths and counts.
  std::vector<UncheckedRule> unchecked{};

  // Returns whether nothing is wrong. Rules in `unchecked` are not counted.
  bool valid() const noexcept { return errors.empty(); }
};

// The schema of one version of a custom kind, compiled. Immutable: any number of threads may use one. Copies share the
// compiled form, so they are cheap.
class Schema {
 public:
  // Compiles the schema of `version` ("v1") in a CustomResourceDefinition, which is JSON. Validation refers to the
  // schema only, so `crd` need not outlive the call. Takes milliseconds for large schemas; keep the result.
  //
  // Errors: kInvalidArgument  `crd` is not JSON or not a CRD of apiextensions.k8s.io/v1; it has no such version, or no
  //                           schema for it; a keyword has a value of the wrong type; a pattern is not in the syntax of
  //                           Go. The message has the path in the CRD.
  // Thread safety: pure. Does not block.
  static Result<Schema> FromCrd(std::string_view crd, std::string_view version);

  // Validates an object, which has apiVersion and kind. An object that is no JSON, or is nested deeper than 256, has
  // one error, at "<nil>".
  //
  // Thread safety: pure. Does not block. Takes time linear in the size of the object, for a given schema.
  Validation Validate(const Json& object) const;

 private:
  explicit Schema(Shared<const validation::CompiledSchema> compiled) noexcept;
  Shared<const validation::CompiledSchema> compiled_;
};

namespace detail {

// The result of Validate() without a schema: the object cannot be judged.
Validation NotValidated(const Error& why);

// Found by argument-dependent lookup: the header of a CRD declares one for the type of each version.
template <typename T>
concept HasCrd = requires(const T* type) {
  { KgenCrdOf(type) } -> std::same_as<std::string_view>;
};

}  // namespace detail

// Validates an object against `schema`. The object is encoded, with its unknown members.
template <detail::HasTable T>
  requires(!detail::IsProjection<T>)
Validation Validate(const T& object, const Schema& schema) {
  return schema.Validate(Json(Encode(object)));
}

// Validates an object of a kind whose CRD is known: include the header of the CRD, such as acme/shop/orders_manifest.h.
// Kinds of your own structs (KGEN_OBJECT) have such headers too. The first call for a type compiles the schema, which
// every later call uses. If the CRD cannot be compiled, each result has one error of the kind kInternal, which says
// why, as Schema::FromCrd() does.
//
// Thread safety: any thread. Threads that call it for the same type wait for the first one to compile the schema.
template <detail::HasTable T>
  requires(!detail::IsProjection<T>)
Validation Validate(const T& object) {
  static_assert(
      detail::HasCrd<T>,
      "The CRD of this type is not known here. Include the header of its CRD, such as "
      "<acme/shop/orders_manifest.h>, or pass a kgen::Schema, which an Unstructured needs. Built-in kinds have "
      "no CRD: only a server can validate them");
  if constexpr (detail::HasCrd<T>) {
    // Never destroyed, because threads may still validate when the program ends.
    static const Result<Schema>& schema =
        *new Result<Schema>(Schema::FromCrd(KgenCrdOf(static_cast<const T*>(nullptr)), T::kTable.kind->version));
    return schema ? Validate(object, *schema) : detail::NotValidated(schema.error());
  } else {
    return {};
  }
}

}  // namespace kgen

#endif  // KGEN_VALIDATION_VALIDATE_H_
