// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Objects of any kind, without generated code: Unstructured and PartialObjectMetadata.
//
//   kgen::Unstructured order = kgen::Must(orders.Get("first"));                     // kgen/client/dynamic_client.h
//   std::int64_t quantity = order.GetInt64("spec.quantity").value_or(0);
//   kgen::Must(order.Set("spec.lines[0].item", "kettle"));                          // creates what is missing
//   order.metadata.labels["tier"] = "gold";
//
// Both are ordinary types with tables, like generated ones.
#ifndef KGEN_CORE_UNSTRUCTURED_H_
#define KGEN_CORE_UNSTRUCTURED_H_

#include <concepts>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <type_traits>

#include "kgen/core/json.h"
#include "kgen/core/list.h"
#include "kgen/core/map.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"
#include "kgen/core/string.h"

namespace kgen {

namespace detail {
Json JsonOfText(std::string_view text);  // quoted and escaped
Json JsonOf(std::int64_t value);
Json JsonOf(std::uint64_t value);
Json JsonOf(double value);  // unset if it is not finite: JSON has no such numbers
}  // namespace detail

// An object of any kind. apiVersion, kind and metadata are typed; everything else is in `unknown_fields`, in order, as
// JSON text.
//
// Paths are spelled as in kgen::FieldPath, with indexes: "spec.containers[0].image", "data['tls.crt']". If a name
// occurs twice, the last member counts. Copies share text: a Set() on one copy leaves the others as they are. Get and
// Set cost time in proportion to the text of the first step of the path, so a program that changes many members of one
// large `spec` should change a JSON value of its own and set that once.
//
// Thread safety: as any value type.
struct Unstructured {
  meta::v1::ObjectMeta metadata{};  // typed, because every kind has it
  String apiVersion{};              // "apps/v1"
  String kind{};                    // "Deployment"
  UnknownFields unknown_fields{};

  // Returns the whole object as a JSON value, built by each call.
  nlohmann::json json() const;

  // Return the value at `path`, of the type in the function's name.
  // Errors: kNotFound         there is no value, or null
  //         kDecode           a value of another type, here or on the path; a number that is not a 64-bit integer
  //         kInvalidArgument  the path is malformed
  Result<Json> Get(std::string_view path) const;  // any type
  Result<String> GetString(std::string_view path) const;
  Result<std::int64_t> GetInt64(std::string_view path) const;
  Result<double> GetDouble(std::string_view path) const;
  Result<bool> GetBool(std::string_view path) const;
  Result<List<Json>> GetList(std::string_view path) const;
  Result<Map<Json>> GetMap(std::string_view path) const;

  // Replaces the value at `path`, or adds one; objects on the path that are missing or null are created. An index names
  // an element, or is the number of elements, which appends. `value` is a Json, text, a bool or a number.
  // Errors: kInvalidArgument  the path is malformed, leads into `metadata` (which is typed: assign to its members), or
  //                           to an element that does not exist; the Json is unset, the number not finite
  //         kDecode           a value on the path is neither an object nor a list
  template <typename V>
  Result<void> Set(std::string_view path, const V& value) {
    if constexpr (std::same_as<V, Json>) {
      return SetJson(path, value);
    } else if constexpr (std::same_as<V, bool>) {
      return SetJson(path, Json(value ? std::string_view("true") : std::string_view("false")));
    } else if constexpr (std::signed_integral<V>) {
      return SetJson(path, detail::JsonOf(std::int64_t{value}));
    } else if constexpr (std::unsigned_integral<V>) {
      return SetJson(path, detail::JsonOf(std::uint64_t{value}));
    } else if constexpr (std::floating_point<V>) {
      return SetJson(path, detail::JsonOf(static_cast<double>(value)));
    } else {
      static_assert(std::is_convertible_v<const V&, std::string_view>, "Set() takes a Json, text, a bool or a number");
      return SetJson(path, detail::JsonOfText(value));
    }
  }
  // Removes the member or element at `path`. Returns true if there was one. Errors: as Set().
  Result<bool> Remove(std::string_view path);

  static const TypeTable kTable;
  friend bool operator==(const Unstructured& a, const Unstructured& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }

 private:
  Result<void> SetJson(std::string_view path, const Json& value);
};

// A list of objects of any kind.
struct UnstructuredList {
  meta::v1::ListMeta metadata{};  // of the list: its version, and where the next page begins
  List<Unstructured> items{};     // this page of them
  String apiVersion{};            // "apps/v1"
  String kind{};                  // "DeploymentList"
  UnknownFields unknown_fields{};

  const Unstructured* begin() const noexcept { return items.begin(); }
  const Unstructured* end() const noexcept { return items.end(); }

  static const TypeTable kTable;
};

// The response to `as=PartialObjectMetadata`: the metadata of an object of any kind.
struct PartialObjectMetadata {
  meta::v1::ObjectMeta metadata{};  // all of it
  // As in the response: "meta.k8s.io/v1" and "PartialObjectMetadata" from a server.
  String apiVersion{};
  String kind{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const PartialObjectMetadata& a, const PartialObjectMetadata& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

}  // namespace kgen

#endif  // KGEN_CORE_UNSTRUCTURED_H_
