// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/raw_schema.h"

#include <algorithm>

namespace kgen::generator::model {
namespace {

class Comparison {
 public:
  explicit Comparison(std::string* where) : where_(where) {}

  bool Same(const RawSchema& a, const RawSchema& b) {
    return Same("type", a.type, b.type) && Same("format", a.format, b.format) && Same("$ref", a.ref, b.ref) &&
           Same("nullable", a.nullable, b.nullable) && SameProperties(a, b) && SameRequired(a, b) &&
           SamePointer("items", a.items, b.items) && Same("items", a.items_is_list, b.items_is_list) &&
           SamePointer("additionalProperties", a.additional_properties, b.additional_properties) &&
           Same("additionalProperties", a.additional_allowed, b.additional_allowed) &&
           SameBranches("allOf", a.all_of, b.all_of) && SameBranches("anyOf", a.any_of, b.any_of) &&
           SameBranches("oneOf", a.one_of, b.one_of) && Same("not", a.has_not, b.has_not) &&
           Same("enum", a.enum_values, b.enum_values) && Same("default", a.default_json, b.default_json) &&
           Same("its limits", a.facets, b.facets) && Same("uniqueItems", a.unique_items, b.unique_items) &&
           SameExtensions(a, b);
  }

 private:
  template <typename T>
  bool Same(std::string_view keyword, const T& a, const T& b) {
    if (a == b) return true;
    Blame(keyword);
    return false;
  }

  void Blame(std::string_view step) {
    if (where_ != nullptr) *where_ = where_->empty() ? std::string(step) : std::string(step) + "." + *where_;
  }

  bool SameExtensions(const RawSchema& a, const RawSchema& b) {
    return Same("x-kubernetes-int-or-string", a.int_or_string, b.int_or_string) &&
           Same("x-kubernetes-preserve-unknown-fields", a.preserve_unknown, b.preserve_unknown) &&
           Same("x-kubernetes-embedded-resource", a.embedded_resource, b.embedded_resource) &&
           Same("x-kubernetes-list-type", a.merge, b.merge) &&
           Same("x-kubernetes-validations", a.validations, b.validations);
  }

  bool SamePointer(std::string_view keyword, const RawSchemaPtr& a, const RawSchemaPtr& b) {
    if ((a == nullptr) == (b == nullptr) && (a == nullptr || Same(*a, *b))) return true;
    Blame(keyword);
    return false;
  }

  bool SameBranches(std::string_view keyword, const std::vector<RawSchemaPtr>& a, const std::vector<RawSchemaPtr>& b) {
    if (a.size() == b.size() &&
        std::equal(a.begin(), a.end(), b.begin(), [&](const auto& x, const auto& y) { return Same(*x, *y); })) {
      return true;
    }
    Blame(keyword);
    return false;
  }

  // Order does not matter.
  bool SameProperties(const RawSchema& a, const RawSchema& b) {
    std::vector<const RawProperty*> left = Sorted(a.properties);
    std::vector<const RawProperty*> right = Sorted(b.properties);
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (left[i]->name == right[i]->name && Same(*left[i]->schema, *right[i]->schema)) continue;
      Blame(std::min(left[i]->name, right[i]->name));
      return false;
    }
    if (left.size() == right.size()) return true;
    Blame((left.size() > right.size() ? left[right.size()] : right[left.size()])->name);
    return false;
  }

  template <typename T>
  static std::vector<const T*> Sorted(const std::vector<T>& list) {
    std::vector<const T*> out;
    for (const T& item : list) out.push_back(&item);
    std::sort(out.begin(), out.end(), [](const T* x, const T* y) { return x->name < y->name; });
    return out;
  }

  bool SameRequired(const RawSchema& a, const RawSchema& b) {
    const auto left = Sorted(a.required);
    const auto right = Sorted(b.required);
    const auto same_name = [](const RawRequired* x, const RawRequired* y) { return x->name == y->name; };
    if (left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(), same_name)) return true;
    Blame("required");
    return false;
  }

  std::string* where_;
};

}  // namespace

bool SameShape(const RawSchema& a, const RawSchema& b, std::string* where) { return Comparison(where).Same(a, b); }

}  // namespace kgen::generator::model
