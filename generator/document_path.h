// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A position inside a document, for diagnostics: "spec.versions[0].schema.openAPIV3Schema.properties.port".
#ifndef KGEN_GENERATOR_DOCUMENT_PATH_H_
#define KGEN_GENERATOR_DOCUMENT_PATH_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "generator/diagnostic.h"

namespace kgen::generator {

// One step, linked to the steps above it. Lives on the stack of the code that walks a document, so a walk costs nothing
// until something is wrong. Keys and parents must outlive it.
class DocumentPath {
 public:
  DocumentPath() = default;
  // Starts with a given path: "items[3]", or the result of an earlier Text().
  explicit DocumentPath(std::string_view start) : key_(start) {}

  DocumentPath Key(std::string_view key) const { return DocumentPath(this, key, kNoIndex); }
  DocumentPath Index(std::size_t index) const { return DocumentPath(this, {}, index); }

  std::string Text() const {
    std::string out = parent_ != nullptr ? parent_->Text() : std::string(key_);
    if (parent_ == nullptr) return out;
    if (index_ != kNoIndex) return out + "[" + std::to_string(index_) + "]";
    if (IsSimple(key_)) return out.empty() ? std::string(key_) : out + "." + std::string(key_);
    return out + "[" + Quote(key_) + "]";
  }

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  DocumentPath(const DocumentPath* parent, std::string_view key, std::size_t index)
      : parent_(parent), key_(key), index_(index) {}

  static bool IsSimple(std::string_view key) {
    for (char c : key) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!letter && c != '_' && c != '-' && c != '$') return false;
    }
    return !key.empty();
  }

  const DocumentPath* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = kNoIndex;
};

}  // namespace kgen::generator

#endif  // KGEN_GENERATOR_DOCUMENT_PATH_H_
