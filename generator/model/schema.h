// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The typed model, part one: shapes of values.
//
// The input of the emitter: every keyword of OpenAPI and of CRDs is mapped to one of a few kinds, every reference is
// resolved, and nothing is spelled in C++ yet.
//
//   parse/* -> Draft (raw_schema.h) -> fixups -> resolve -> Api (api.h), made of the Schemas here -> emit/*
//
// Names are wire names, with arbitrary bytes. They become identifiers only through emit/spelling/names.h and literals
// only through emit/spelling/escaping.h.
#ifndef KGEN_GENERATOR_MODEL_SCHEMA_H_
#define KGEN_GENERATOR_MODEL_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/diagnostic.h"

namespace kgen::generator::model {

// The kinds of values. The set is closed: a switch over it has no default.
enum class Kind : std::uint8_t {
  kObject,  // `fields`; an anonymous struct, or the body of a NamedType. May have no field: it keeps presence
  kList,    // of `element`
  kMap,     // text to `element`
  kString,  // `enum_values` may list the known values; others are legal
  kBool,
  kInt32,
  kInt64,  // `enum_values` may list the known values, as for kInt32
  kDouble,
  kBytes,      // base64 on the wire
  kTime,       // RFC 3339
  kMicroTime,  // the same with six digits of fraction
  kDuration,   // Go syntax ("1h30m"), only where the document says format: duration or meta/v1 Duration
  kQuantity,
  kIntOrString,
  kJson,  // any JSON; `json_shape` narrows it
  kRef,   // a NamedType, `ref`
};

// The values that a kJson may have.
enum class JsonShape : std::uint8_t {
  kAny,     // anything, also scalars and null
  kObject,  // an object, as RawExtension, FieldsV1 and `type: object` with preserve-unknown-fields are
};

// Index into Api::types.
using TypeId = std::uint32_t;
inline constexpr TypeId kNoType = 0xFFFFFFFF;

// One value of an enum: the text of a string ("Always"), or the digits of an integer ("301").
struct EnumValue {
  std::string text;
  Origin origin;
};

// Limits that a server checks, in their JSON spelling, empty when not given. They are data for validation and comments
// and never change a type.
struct Facets {
  std::string minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::string min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::string pattern;  // Go RE2 syntax

  friend bool operator==(const Facets&, const Facets&) = default;
};

// One CEL rule; carried, never evaluated.
struct ValidationRule {
  std::string rule, message;

  friend bool operator==(const ValidationRule&, const ValidationRule&) = default;
};

// How server-side apply and strategic merge treat a list or map.
struct MergeInfo {
  std::string list_type;                   // "", "atomic", "set", "map"
  std::string map_type;                    // "", "atomic", "granular"
  std::vector<std::string> list_map_keys;  // wire names, in order of the input
  std::string patch_merge_key;

  friend bool operator==(const MergeInfo&, const MergeInfo&) = default;
};

// What a description says about a member beside its text; for comments only.
struct Notes {
  std::string default_json;  // what a server stores if the member is absent
  std::string unit;          // "seconds"
  std::string set_by;        // who writes it: "server", "kubelet"; empty: the user
  bool immutable = false;    // a server refuses to change it
};

// How a member of a built-in type is encoded in protobuf.
struct ProtobufField {
  std::vector<std::uint16_t> numbers;  // of the field, after the numbers of the messages around it; empty: none
  bool zero_is_absent = false;         // the server writes zeros, and this one means that the member is absent
};

struct Schema;

// A property of an object.
struct Field {
  std::string name;                      // wire name, any bytes but invalid UTF-8; may be empty text
  bool required = false;                 // as the document says; does not change the type
  std::vector<std::string> description;  // of this use, in lines; empty when the document has none
  Notes notes;                           // the same
  ProtobufField protobuf = {};
  std::unique_ptr<Schema> schema;  // never null
  Origin origin;                   // of the key
};

// The shape of one value. A tree: children are owned, except through kRef.
struct Schema {
  Kind kind = Kind::kJson;
  JsonShape json_shape = JsonShape::kAny;

  // null is a value of its own and does not mean "absent".
  bool nullable = false;

  bool deprecated = false;  // appears in comments only

  // kObject: the server keeps members that the schema does not name (x-kubernetes-preserve-unknown-fields, or
  // properties beside additionalProperties). The runtime keeps unknown members in any case.
  bool preserve_unknown = false;

  // kObject: has a part of an object's properties. The decoder skips the others.
  bool projection = false;

  TypeId ref = kNoType;             // kRef
  std::unique_ptr<Schema> element;  // kList, kMap; never null there
  std::vector<Field> fields;        // kObject; in byte order of the wire names, each name once

  std::vector<EnumValue> enum_values;  // kString, kInt32, kInt64; each once, in order of the input
  std::string default_json;  // compact JSON, keys sorted; empty: none, or the zero value of an API document's type.
                             // Never applied
  std::vector<std::string> description;  // of the type itself, in lines: emitted where a struct is declared
  MergeInfo merge;
  std::unique_ptr<Facets> facets;  // null when there are none
  std::vector<ValidationRule> validations;
  Origin origin;  // of the schema object

  const Field* Find(std::string_view name) const;
};

// "list", "integer (32 bit)", ...: for messages.
std::string_view Describe(Kind kind);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_SCHEMA_H_
