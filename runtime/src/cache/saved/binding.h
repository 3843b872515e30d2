// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SavedBinding: what a saved cache belongs to.
#ifndef KGEN_SRC_CACHE_SAVED_BINDING_H_
#define KGEN_SRC_CACHE_SAVED_BINDING_H_

#include <string>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::cache {

// An informer uses a file only if its binding equals the binding in the file, member by member. The cluster's UID is
// compared by the reflector instead, because it must ask the server for it (docs/decisions/0023-warm-start.md).
struct SavedBinding {
  std::string server{};       // host of the connection
  std::string authorities{};  // a digest of the certificates that the connection trusts; "" without TLS
  std::string resource{};     // "pods", "deployments.apps/v1", with the version
  std::string namespace_{};   // "": all
  std::string label_selector{};
  std::string field_selector{};
  std::string form{};       // see FormText()
  std::string transform{};  // WarmStart::transform
  bool drop_managed_fields = false;

  friend bool operator==(const SavedBinding&, const SavedBinding&) = default;

  // Returns the binding as JSON, for the header of a file.
  std::string ToJson() const;
  // Errors: kDecode.
  static Result<SavedBinding> FromJson(std::string_view json);
  // Returns the name of the file: readable, and safe as a file name. Informers that one program may have at the same
  // time have different names. Certificates, the transform and dropped fields make no difference, because a program
  // whose next version changes them has no use for the old file.
  std::string FileName() const;
  // Returns the first difference to the binding of an informer in words: `it was saved with server "a", and this
  // informer has "b"`; "" if they are equal.
  std::string DifferenceTo(const SavedBinding& informer) const;
};

// Returns what distinguishes the objects of this table from whole objects of its kind: "" for whole objects, "metadata"
// or "unstructured" for these two, and for a projection the paths of all of its members, so that a file with fewer
// members is not used.
std::string FormText(const TypeTable& table);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_SAVED_BINDING_H_
