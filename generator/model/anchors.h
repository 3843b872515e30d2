// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Finds the built-in type that an object of a CRD repeats. CRDs have no references: they repeat a pod template field by
// field, in the version of Kubernetes that their author built with, and often without fields that the author did not
// want.
//
// An object matches a built-in type if the type can hold all values of the object:
//
//   * every field of the object is a field of the type, with the same kind of value, and so on in all objects below.
//     Integers may differ in width, and an IntOrString matches a Quantity, because neither loses a value;
//   * if a value may be null, or an object may have members that the schema does not declare, the same holds for the
//     built-in type, so that these are kept;
//   * the object has at least 60 % of the fields of the type, including those that distinguish the type from others.
//   The
//     objects below may have any part of the fields of their types;
//   * the type is in the list of anchors (anchors.cc), which is fixed.
//
// `metadata` is an ObjectMeta if the built-in type has an ObjectMeta there, even if the CRD describes only a part of
// it.
#ifndef KGEN_GENERATOR_MODEL_ANCHORS_H_
#define KGEN_GENERATOR_MODEL_ANCHORS_H_

#include <expected>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/model/api.h"

namespace kgen::generator::model {

// The built-in type that an object of a CRD matches.
struct Fit {
  TypeId type = kNoType;  // in the built-in API
  // The fields that the CRD lacks somewhere at or below the object, by the name of their type.
  std::map<std::string, std::set<std::string>> lacks;
};

class Anchors {
 public:
  // `built_in` has the anchors and must outlive this object. Anchors that it does not have are ignored.
  explicit Anchors(const Api& built_in);

  // Returns the anchor that `object`, of a CRD in `api`, matches. If it matches several, returns the one of which it
  // has the most fields. The error says why the object does not match an anchor that it resembles: "it is no PodSpec,
  // because containers[].size is no field of Container". It is empty if the object resembles none.
  std::expected<Fit, std::string> Find(const Api& api, const Schema& object) const;

  // Checks that a user may choose the built-in `type` for `object`. The type need not be an anchor, and the object may
  // have any part of its fields. A value that the schema leaves open, as any JSON, matches any value. The error names
  // the difference: "containers[].size is no field of Container".
  std::expected<Fit, std::string> Check(const Api& api, const Schema& object, TypeId type) const;

  // Returns the anchors that the built-in API has, in the order of the list.
  std::vector<TypeId> Types() const;

  // The groups, names and required fields of all anchors, in the order of the list. For documentation and tests.
  struct Anchor {
    std::string_view group, name;
    std::vector<std::string_view> telling;  // fields that an object must have to match
  };
  static const std::vector<Anchor>& All();

 private:
  class Match;
  struct Candidate {
    const Anchor* anchor;
    TypeId type;
  };
  const Candidate* FindCandidate(TypeId type) const;
  bool Tells(const Api& api, const Schema& object, const Candidate& candidate) const;

  const Api& built_in_;
  std::vector<Candidate> candidates_;
};

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_ANCHORS_H_
