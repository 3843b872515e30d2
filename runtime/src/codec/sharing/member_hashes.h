// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// MemberHashes: hashes of the bytes that each member of an object was decoded from.
//
// An update or a relist repeats most of an object. A decoder that is given the earlier state of an object compares a
// keyed hash of the bytes of each member with the one of the earlier state; if they are equal, the new object shares
// the member's block, which costs neither parsing nor memory.
//
//   object block: header | struct | hashes        (header.word: which members have one)
//
// A member here is one of the object, or one of its metadata, that holds a block: a box, a list, a map or raw JSON.
// `kind` and `apiVersion` have no hash, because the items of a list lack them. The entries of managedFields have
// separate hashes, since an update usually changes only one of them.
//
// One more hash is of the object as a whole, without its `kind` and `apiVersion` if they come first: a relist finds by
// it what has not changed at all.
//
// A hash identifies the bytes that the block was decoded from, independently of their object, so sharing is correct for
// any earlier state that a decoder is given. 64 bits are enough, because a hash is compared with only one other, and
// the keys never leave the process (codec/sharing/sharing.h).
//
// The members of a projection have no hashes; the object as a whole does.
//
// An object with a field of the wrong type has no hashes, because the field must be reported each time, so the object
// is decoded each time.
#ifndef KGEN_SRC_CODEC_SHARING_MEMBER_HASHES_H_
#define KGEN_SRC_CODEC_SHARING_MEMBER_HASHES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kgen/core/ref.h"
#include "kgen/core/type_table.h"

namespace kgen::codec {

// Maps the members of a type that have hashes to their slots.
//
// Thread safety: immutable, so safe on any thread.
class MemberSlots {
 public:
  static constexpr std::uint8_t kNone = 0xFF;
  static constexpr std::size_t kEntries = 4;  // the first entries of managedFields

  explicit MemberSlots(const TypeTable& table);

  // The slot of a member of the object, or of its metadata; kNone if it has no hash.
  std::uint8_t OfObject(const Field& field) const noexcept { return object_[Index(field, *table_)]; }
  std::uint8_t OfMetadata(const Field& field) const noexcept { return metadata_[Index(field, *metadata_table_)]; }
  // The slot of metadata.managedFields, and the slot of its first entry; the other entries follow. Only if the object
  // has metadata.
  std::uint8_t OfManagedFields() const noexcept { return managed_fields_; }
  std::uint8_t OfEntries() const noexcept { return entries_; }

  // The slot of the object as a whole. Only if count() is not 0.
  std::uint8_t OfWhole() const noexcept { return static_cast<std::uint8_t>(count_ - 1); }

  std::size_t count() const noexcept { return count_; }

 private:
  static std::size_t Index(const Field& field, const TypeTable& table) noexcept {
    return static_cast<std::size_t>(&field - table.begin());
  }
  void AddTable(const TypeTable& table, std::vector<std::uint8_t>& slots);
  void AddMetadata(const TypeTable& table);

  const TypeTable* table_;
  const TypeTable* metadata_table_ = nullptr;  // null: the object has no ObjectMeta
  std::vector<std::uint8_t> object_;
  std::vector<std::uint8_t> metadata_;
  std::uint8_t managed_fields_ = kNone;
  std::uint8_t entries_ = kNone;
  std::size_t count_ = 0;
};

// The bytes that one member was decoded from.
struct MemberHash {
  std::uint64_t hash = 0;  // 0: none
  std::uint32_t size = 0;  // in bytes
  // JSON members in it, which count against DecodeOptions::max_fields. Of an object as a whole: kFromProtobuf or 0.
  std::uint32_t members = 0;
};
inline constexpr std::uint32_t kFromProtobuf = 0xFFFFFFFF;

// Returns whether the object, as it is, was decoded from protobuf. False also for objects without hashes.
bool IsFromProtobuf(const AnyRef& object) noexcept;

// A view of the hashes after the struct in an object's block, by slot.
class MemberHashes {
 public:
  MemberHashes() = default;

  // Returns a block with the hashes that are set, by slot; none for an object that must be decoded each time.
  // The struct is raw memory, which the caller must construct.
  static detail::ObjectBlock* NewObject(const TypeTable& table, std::span<const MemberHash> hashes);
  // Returns the hashes of an object; empty if it has none or is of another type.
  static MemberHashes Of(const AnyRef& object, const TypeTable& table) noexcept;

  bool empty() const noexcept { return present_ == 0; }
  // Returns the hash of a slot, which is unset if there is none.
  MemberHash operator[](std::size_t slot) const noexcept;
  // Returns the hash of the last slot that has one, which is the object as a whole. Only if not empty().
  MemberHash Whole() const noexcept;

 private:
  MemberHashes(const MemberHash* hashes, std::uint32_t present) noexcept : hashes_(hashes), present_(present) {}

  const MemberHash* hashes_ = nullptr;
  std::uint32_t present_ = 0;  // bit i: slot i has a hash
};

// The text of an object without `kind` and `apiVersion`, which servers write first and the items of a list lack.
struct ObjectBody {
  std::string_view kind{};         // empty: absent
  std::string_view api_version{};  // empty: absent
  std::string_view text{};
};
// For a type with a KindInfo whose struct has no such members; for any other, `text` is the whole.
ObjectBody BodyOf(std::string_view json, const TypeTable& table) noexcept;

// One decoding: the object that is being decoded, and the earlier one.
struct MemberTrace {
  const MemberSlots& slots;
  std::span<MemberHash> now;     // by slot
  MemberHashes earlier{};        // may be empty
  const void* before = nullptr;  // its struct, if not empty
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SHARING_MEMBER_HASHES_H_
