// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A JSON value that is being built: keys in byte order, so that the result does not depend on the order of the work.
#ifndef KGEN_GENERATOR_CRD_TREE_H_
#define KGEN_GENERATOR_CRD_TREE_H_

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/yaml.h"

namespace kgen::yaml {
class TreeBuilder;
}

namespace kgen::generator::crd {

class Tree {
 public:
  Tree() = default;                    // an empty object
  static Tree Json(std::string json);  // any value that is JSON already
  static Tree Text(std::string_view text);
  static Tree Bool(bool value) { return Json(value ? "true" : "false"); }
  static Tree List(std::vector<Tree> elements = {});
  static Tree Texts(const std::vector<std::string>& texts);

  // The member of an object; made if it is not there.
  Tree& operator[](std::string_view key) {
    const auto found = members_.find(key);
    return found != members_.end() ? found->second : members_[std::string(key)];
  }
  const Tree* Find(std::string_view key) const {
    const auto found = members_.find(key);
    return found == members_.end() ? nullptr : &found->second;
  }
  // Whether this is an object whose member `key` is true.
  bool IsTrue(std::string_view key) const;
  void Erase(std::string_view key) { members_.erase(std::string(key)); }
  void Add(Tree element) { elements_.push_back(std::move(element)); }
  const std::map<std::string, Tree, std::less<>>& members() const { return members_; }
  const std::vector<Tree>& elements() const { return elements_; }
  bool empty() const { return members_.empty() && elements_.empty() && json_.empty(); }

  std::string ToJson() const;
  std::string ToText() const;  // of a text
  // The only document of a stream, without positions. Errors: a value of Json() is no JSON, or the tree is beyond a
  // limit of yaml::Options.
  std::expected<yaml::Stream, yaml::SyntaxError> ToStream() const;

 private:
  void Append(std::string& out) const;
  bool AddTo(yaml::TreeBuilder& builder) const;

  std::string json_;  // when not empty, the value
  bool list_ = false;
  std::map<std::string, Tree, std::less<>> members_;
  std::vector<Tree> elements_;
};

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_TREE_H_
