// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TypeTable: the table of fields from which the runtime knows a generated struct.
//
// A generated type is a plain aggregate plus one TypeTable. One interpreter walks tables to construct, copy, destroy,
// compare, hash, decode and encode (kgen/core/value.h, kgen/codec/), so generated code is data.
//
//   generated .cc:  constinit const kgen::TypeTable Order::kTable = {...};      read-only, no start-up code
//   runtime:        for (const Field& f : table.fields()) ... base + f.offset ...
//
// Users see tables only as `T::kTable`. The layout below is a contract between generator and runtime, versioned by
// kTableVersion: generated headers contain a static_assert on it.
#ifndef KGEN_CORE_TYPE_TABLE_H_
#define KGEN_CORE_TYPE_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <new>
#include <string_view>
#include <type_traits>

namespace kgen {

// Incremented with every change to the structs below or to the meaning of their members.
inline constexpr std::uint32_t kTableVersion = 3;

// Says how a value is stored. Values of the first group are Optional<scalar> in fields, and plain in lists and maps.
enum class ValueKind : std::uint8_t {
  kBool,    // bool
  kInt32,   // std::int32_t
  kInt64,   // std::int64_t
  kDouble,  // double
  kString,
  kTime,
  kMicroTime,
  kDuration,
  kQuantity,
  kIntOrString,
  kBytes,
  kJson,
  kStruct,  // in place: list and map elements, and the field `metadata` of a kind
  kBox,     // Optional<struct>: 8 bytes, a block of its own
  kList,
  kMap,
};

struct TypeTable;

// The type of a list's or map's element, or of a whole field. One constant per type: kTypeOf<T> (value_type.h).
struct ValueType {
  ValueKind kind;            // what a value of it is
  std::uint32_t size;        // of the value in memory
  const TypeTable* table;    // kStruct, kBox; else null
  const ValueType* element;  // kList, kMap; else null
};

enum FieldFlags : std::uint8_t {
  kNullable = 1,       // the schema allows `null`: kept among the unknown fields, where users see it
  kUnique = 2,         // differs in every object (uid, resourceVersion): neither interned nor memoised
  kNoMemo = 4,         // a subtree that rarely repeats (status, managedFields): the memo does not try it
  kManagedFields = 8,  // dropped by DecodeOptions::drop_managed_fields
};

enum TableFlags : std::uint8_t {
  kPreservesUnknown = 1,  // the schema allows members that it does not name, so strict decoding accepts them
  kProjection = 2,        // has a part of the schema's members: the decoder skips all others
  kMetadataPart = 4,      // of a projection: the struct has the layout of ObjectMeta
};

// A member of a struct. Scalars are Optional<scalar>, structs are Optional<struct> (kBox) except `metadata` (kStruct).
struct Field {
  const char* name;  // the wire name
  std::uint16_t name_size;
  std::uint16_t offset;
  ValueKind kind;
  std::uint8_t flags;
  std::uint16_t reserved;
  const void* detail;  // kStruct, kBox: const TypeTable*; kList, kMap: const ValueType* of the element; else null

  // Returns the name in JSON and YAML.
  constexpr std::string_view wire_name() const noexcept { return {name, name_size}; }
  // Returns the table of a struct; for kStruct and kBox only.
  const TypeTable* table() const noexcept { return static_cast<const TypeTable*>(detail); }
  // Returns the type of the elements; for kList and kMap only.
  const ValueType* element() const noexcept { return static_cast<const ValueType*>(detail); }
};

// Whether objects of a kind have a namespace.
enum class Scope : std::uint8_t { kCluster, kNamespaced };

// Identifies a Kubernetes kind, on the wire and in URLs. TypeTable::kind is null for structs that are no kind.
struct KindInfo {
  std::string_view group;    // "" for the legacy group
  std::string_view version;  // "v1"
  std::string_view kind;     // "Pod"
  std::string_view list_kind;
  std::string_view resource;  // the plural as in URLs: "pods"
  std::string_view singular;
  Scope scope;
  const TypeTable* list;  // the table of the list type, or null
};

// A field of a protobuf message, for built-in types. JSON has the members of an embedded struct among the members of
// the struct around it, while protobuf has a message of its own for them.
struct WireField {
  std::uint16_t number;  // of the field in the message
  std::uint8_t index;   // in field_data; of an embedded message, the position of its first WireField in TypeTable::wire
  std::uint8_t count;   // how many WireFields an embedded message has; 0: this is no embedded message
  bool zero_is_absent;  // servers write zeros too; this one means that the member is absent
};

// The table of one struct. Fields are in the order of encoding, which is the fixed order of the struct's members.
//
// Look-up of a wire name (decoder): h = ((first8 ^ rotl(last8, 23) ^ size) * (kHashMultiplier + 2 * hash_seed)) >> 32,
// where first8 and last8 are the first and last min(size, 8) bytes as a little-endian integer; slot = h >> (32 -
// hash_bits); hash_slots[slot] is a field index + 1, or 0. The generator searches for a seed without collisions; if it
// finds none, hash_slots is null and the look-up is linear. A hit is confirmed by length and bytes, so hostile names
// are merely unknown.
struct TypeTable {
  std::uint32_t version;  // kTableVersion of the generator
  std::uint32_t size;     // sizeof the struct
  const char* name;       // "k8s.core.v1.Pod", for messages
  const Field* field_data;
  std::uint16_t field_count;
  std::uint16_t unknown_offset;   // of the UnknownFields member, the last one
  std::uint16_t metadata_offset;  // of the ObjectMeta or ListMeta of a kind or a list; kNoMetadata otherwise
  std::uint8_t hash_bits;
  std::uint8_t flags;  // TableFlags
  std::uint32_t hash_seed;
  const std::uint8_t* hash_slots;
  const KindInfo* kind;  // kinds and their lists; null for plain structs
  const void* empty;     // the value of an absent struct: zeros of its size
  // The fields of its protobuf message, by number; the fields of embedded messages follow these. Null: the type, or
  // one that it contains, cannot be decoded from protobuf.
  const WireField* wire = nullptr;
  std::uint16_t wire_count = 0;

  static constexpr std::uint16_t kNoMetadata = 0xFFFF;  // offset of a type without metadata
  static constexpr std::uint16_t kNoUnknown = 0xFFFF;   // unknown_offset of UnknownField itself, the only such struct
  static constexpr std::uint64_t kHashMultiplier = 0x9E3779B97F4A7C15u;

  const Field* begin() const noexcept { return field_data; }
  const Field* end() const noexcept { return field_data + field_count; }
  // Returns the field of that wire name, or null. Names compare as bytes, without case folding.
  const Field* Find(std::string_view wire_name) const noexcept;
};

namespace detail {

// The value of an absent T: zeros in read-only memory, which exist before the first static object and after the last.
// Every value type of kgen, and so every struct of them, is empty when all its bytes are zero. This is not a
// constructed T: a variable with a destructor would add start-up code to each program, and each translation unit would
// instantiate the constructors of every type that it mentions. Types of similar size share one block of zeros.
template <std::size_t bytes>
alignas(16) constinit inline const unsigned char kZerosOf[bytes] = {};
template <typename T>
inline constexpr const unsigned char* kZeros = kZerosOf<std::bit_ceil(sizeof(T))>;

template <typename T>
const T& Empty() noexcept {
  static_assert(alignof(T) <= 16);
  return *std::launder(static_cast<const T*>(static_cast<const void*>(kZeros<T>)));
}

// Structs with a table. Generated types, and the runtime's own (ObjectMeta, Unstructured, ...).
template <typename T>
concept HasTable = requires { T::kTable; };

// Kinds that have a part of the members (kgen project), and so can be read but not written.
template <typename T>
concept IsProjection = HasTable<T> && requires { requires T::kIsProjection; };

// Print values as YAML, without a newline after the last line; "absent" for null, and for an unset value. These
// functions are compiled in the codec layer, whose encoder they use, so a program that prints links kgen::codec.
std::ostream& PrintStruct(std::ostream& os, const void* object, const TypeTable& table);
std::ostream& PrintValue(std::ostream& os, const void* value, const ValueType& type);
std::ostream& PrintEntry(std::ostream& os, const void* entry, const ValueType& type);  // of a map

}  // namespace detail

// Prints any struct with a table as YAML, without absent members. Namespaces of such structs have a using-declaration
// for it, because argument-dependent lookup does not find it from there.
template <detail::HasTable T>
std::ostream& operator<<(std::ostream& os, const T& object) {
  return detail::PrintStruct(os, &object, T::kTable);
}

}  // namespace kgen

#endif  // KGEN_CORE_TYPE_TABLE_H_
