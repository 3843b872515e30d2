// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KGEN_OBJECT: makes a struct of your own an API type, like the structs that kgen generates.
//
//   // What a customer wants.
//   struct OrderSpec {
//     kgen::String item{};
//     kgen::Optional<std::int32_t> quantity{};
//     KGEN_OBJECT(OrderSpec)
//   };
//
// kgen-crd reads the header and defines kTable in generated code, so a program that uses the struct links the target
// of kgen_add_api(HEADERS ...). The struct remains an aggregate with designated initializers and standard layout.
//
// Every member begins as absent: write `{}`, or `= kgen::kAbsent` for an Optional<struct>. An empty struct must be
// empty on the wire, so no member has another initial value; the marker +kgen:default sets a default at the server.
#ifndef KGEN_CORE_OBJECT_H_
#define KGEN_CORE_OBJECT_H_

#include <iosfwd>

#include "kgen/core/type_table.h"
#include "kgen/core/unknown_fields.h"
#include "kgen/core/value.h"

// The last member of a struct; Type is the struct. Equality is equality on the wire (kgen/core/value.h), and << prints
// YAML.
#define KGEN_OBJECT(Type)                                                 \
  kgen::UnknownFields unknown_fields{};                                   \
  static const kgen::TypeTable kTable;                                    \
  friend bool operator==(const Type& a, const Type& b) noexcept {         \
    return kgen::detail::EqualStruct(&a, &b, Type::kTable);               \
  }                                                                       \
  friend std::ostream& operator<<(std::ostream& os, const Type& object) { \
    return kgen::detail::PrintStruct(os, &object, Type::kTable);          \
  }

#endif  // KGEN_CORE_OBJECT_H_
