// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Joins the pieces in which generated code holds the text of a CRD.
#ifndef KGEN_CLIENT_CRD_TEXT_H_
#define KGEN_CLIENT_CRD_TEXT_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace kgen::crd::internal {

// Returns one text of all pieces, at least one. It is never destroyed, because code may use it while the program exits.
inline std::string_view Joined(std::span<const std::string_view> pieces) {
  if (pieces.size() == 1) return pieces[0];
  std::size_t size = 0;
  for (std::string_view piece : pieces) size += piece.size();
  char* const text = new char[size];
  char* end = text;
  for (std::string_view piece : pieces) end += piece.copy(end, piece.size());
  return {text, size};
}

}  // namespace kgen::crd::internal

#endif  // KGEN_CLIENT_CRD_TEXT_H_
