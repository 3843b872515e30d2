// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FieldErrors: what is wrong with the members of an object, all at once, in the words of the API server.
//
//   kgen::FieldErrors errors;
//   if (order.spec->quantity < 1) errors.Invalid("spec.quantity", order.spec->quantity, "must be positive");
//   if (!order.spec->item) errors.Required("spec.item");
//
// Paths are spelled as servers do: "spec.lines[2].item", "metadata.labels[tier]".
#ifndef KGEN_CORE_FIELD_ERRORS_H_
#define KGEN_CORE_FIELD_ERRORS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/core/json.h"

namespace kgen {

// One member that is wrong. Source: field.Error of k8s.io/apimachinery.
struct FieldError {
  // What is wrong, by the names of field.ErrorType.
  enum class Kind : std::uint8_t {
    kRequired,
    kInvalid,
    kTypeInvalid,
    kDuplicate,
    kForbidden,
    kNotSupported,
    kNotFound,
    kTooLong,
    kTooMany,
    kInternal,
  };
  Kind kind = Kind::kInvalid;  // what is wrong
  std::string field{};         // the path
  std::string message{};       // without the path: "Invalid value: 0: must be positive"

  // Returns the reason of a StatusCause: "FieldValueInvalid".
  std::string_view reason() const noexcept;
  // Returns "spec.quantity: Invalid value: 0: must be positive".
  std::string ToString() const;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

// A list of them, in the order in which they were added. Thread safety: as a standard container.
class FieldErrors {
 public:
  // Each adds an error at `field`. `why` may be empty. A `value` is text, a bool, a number, an Optional of these or a
  // Json; it is part of the message, so never pass a secret.
  void Required(std::string_view field, std::string_view why = {});
  template <typename V>
  void Invalid(std::string_view field, const V& value, std::string_view why) {
    AddValue(FieldError::Kind::kInvalid, field, ValueText(value), why);
  }
  template <typename V>
  void TypeInvalid(std::string_view field, const V& value, std::string_view why) {
    AddValue(FieldError::Kind::kTypeInvalid, field, ValueText(value), why);
  }
  template <typename V>
  void Duplicate(std::string_view field, const V& value) {
    AddValue(FieldError::Kind::kDuplicate, field, ValueText(value), {});
  }
  template <typename V>
  void NotFound(std::string_view field, const V& value) {
    AddValue(FieldError::Kind::kNotFound, field, ValueText(value), {});
  }
  template <typename V>
  void NotSupported(std::string_view field, const V& value, const std::vector<std::string>& supported) {
    AddNotSupported(field, ValueText(value), supported);
  }
  void Forbidden(std::string_view field, std::string_view why);
  void TooLong(std::string_view field, std::size_t most_bytes);
  void TooMany(std::string_view field, std::size_t actual, std::size_t most);
  void Internal(std::string_view field, std::string_view why);
  // Adds an error whose message is ready.
  void Add(FieldError error) { errors_.push_back(std::move(error)); }
  // Adds the errors of a part of the object, with `prefix` before their paths: "spec.template", "spec.lines[2]".
  void Add(std::string_view prefix, const FieldErrors& part);

  bool empty() const noexcept { return errors_.empty(); }
  std::size_t size() const noexcept { return errors_.size(); }
  auto begin() const noexcept { return errors_.begin(); }
  auto end() const noexcept { return errors_.end(); }
  // Returns the errors as the message of a Status lists them: one as it is, several in brackets with commas between
  // them, each text once. "" if there are none.
  std::string ToString() const;
  friend bool operator==(const FieldErrors&, const FieldErrors&) = default;

 private:
  static std::string ValueText(const Json& value);
  static std::string ValueText(std::string_view value);  // quoted as Go's %q
  static std::string ValueText(bool value);
  static std::string ValueText(double value);
  static std::string ValueText(std::int64_t value);
  template <std::integral V>
    requires(!std::same_as<V, bool> && !std::same_as<V, std::int64_t>)
  static std::string ValueText(V value) {
    return ValueText(static_cast<std::int64_t>(value));
  }
  template <typename V>
    requires std::convertible_to<const V&, std::string_view>
  static std::string ValueText(const V& value) {
    return ValueText(std::string_view(value));
  }
  // An Optional; an absent one is "null".
  template <typename V>
    requires requires(const V& value) {
      { value.has_value() } -> std::same_as<bool>;
      *value;
    } && (!std::convertible_to<const V&, std::string_view>) && (!std::same_as<V, Json>)
  static std::string ValueText(const V& value) {
    return value.has_value() ? ValueText(*value) : "null";
  }
  void AddValue(FieldError::Kind kind, std::string_view field, const std::string& value, std::string_view why);
  void AddNotSupported(std::string_view field, const std::string& value, const std::vector<std::string>& supported);

  std::vector<FieldError> errors_;
};

}  // namespace kgen

#endif  // KGEN_CORE_FIELD_ERRORS_H_
