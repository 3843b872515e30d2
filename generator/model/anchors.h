// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which built-in type an object of a CRD is. CRDs have no references: they repeat a pod template field by field, in the
// version of Kubernetes that their author built with, and often without the fields that the author did not want.
//
// An object is a built-in type if nothing distinguishes its values from values of that type:
//
//   * every field of the object is one of the type, of the same kind, and so are the fields of all objects below.
//     Integers may differ in width, and an IntOrString is a Quantity, since none of this loses a value;
//   * where a value may be null, or an object may have members that the schema does not name, the same holds for the
//     built-in type, so that these survive;
//   * at least 60 % of the type's fields are there, and the ones that tell the type from others; below, any part is
//     enough;
//   * the type is in the list of anchors (anchors.cc), which is closed.
//
// `metadata` is ObjectMeta where the built-in type has an ObjectMeta, whatever part of it the CRD describes.
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

// What a CRD takes from a built-in type.
struct Fit {
  TypeId type = kNoType;  // in the built-in API
  // Fields that the CRD, in some place at or below the object, does not have: by the name of their type.
  std::map<std::string, std::set<std::string>> lacks;
};

class Anchors {
 public:
  // `built_in` has the anchors, and outlives this. Those that it does not have are left out.
  explicit Anchors(const Api& built_in);

  // The anchor that `object`, of a CRD in `api`, is. Of several, the one of which the object has the most. Otherwise
  // the error says what is in the way of an anchor that it looks like: "it is no PodSpec, because containers[].size is
  // no field of Container"; empty if it looks like none.
  std::expected<Fit, std::string> Find(const Api& api, const Schema& object) const;

  // Whether a user may take `object` for the built-in `type`, which need not be an anchor and of which any part is
  // enough; what the schema leaves open, as any JSON, is of the built-in type. The error says what is in the way:
  // "containers[].size is no field of Container".
  std::expected<Fit, std::string> Check(const Api& api, const Schema& object, TypeId type) const;

  // Group, name and telling fields of all anchors, in the order of the list: for documentation and tests.
  struct Anchor {
    std::string_view group, name;
    std::vector<std::string_view> telling;  // fields without which nothing is taken for the type
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
