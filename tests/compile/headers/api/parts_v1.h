// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An API whose types another API of headers uses.
#ifndef KGEN_TESTS_COMPILE_HEADERS_API_PARTS_V1_H_
#define KGEN_TESTS_COMPILE_HEADERS_API_PARTS_V1_H_

#include <kgen/core/enum.h>
#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>

#include <cstdint>

namespace base::parts::v1 {

// How good a part is.
enum class Grade { kFine, kRough };

// Who is behind an object. It is inlined, so it is no object of its own.
// +kgen:XValidation:rule="!has(self.team) || self.team != self.owner",message="the team is not the owner"
struct Ownership {
  // +required
  kgen::String owner{};
  kgen::String team{};
};

// A size in millimetres.
struct Size {
  // +kgen:minimum=1
  // +required
  kgen::Optional<std::int64_t> width{};
  kgen::Enum<Grade> grade{};
  KGEN_OBJECT(Size)
};

// +kgen:resource:group=parts.example.com,version=v1
struct Part {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<Size> spec = kgen::kAbsent;
  KGEN_OBJECT(Part)
};

}  // namespace base::parts::v1

#endif  // KGEN_TESTS_COMPILE_HEADERS_API_PARTS_V1_H_
