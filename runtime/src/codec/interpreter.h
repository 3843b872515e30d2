// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Interpreter: the decoder. Walks JSON and a table in parallel and stores the values. Use one for each object.
//
//   Interpreter --Reader--> tokens        SharedState (informers only) --> blocks that exist already
//               --Arena---> elements of lists and maps until their number is known
//
// Values are stored in the object as they are read, so destroying the object is all that is needed to abandon it:
// nothing else owns memory.
//
// Facts about the JSON that a value does not show are kept in notes (core/blocks.h): a member was `null`, or a number
// was spelled differently than the encoder would spell it. Such members have separate outcomes, which the enclosing
// struct treats as success. The note of a number in a list or map covers the whole member.
//
// Mismatches: a function that finds a value of the wrong type leaves the reader at the start of the value that it was
// called for and returns kMismatch; the enclosing struct keeps that member's raw text. A mismatched element of a list
// or map of structs instead keeps its position: the struct stays in its default state and contains the raw text as an
// unknown field without a name (an unset String, which no JSON member can have). The encoder writes such a struct as
// that text, unless a value was assigned in it. A null element is kept in the same way, without a report; null elements
// of text and of the well-known types are unset values, which the encoder writes as null inside lists and maps.
#ifndef KGEN_SRC_CODEC_INTERPRETER_H_
#define KGEN_SRC_CODEC_INTERPRETER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/reader.h"
#include "codec/sharing/arena.h"
#include "codec/sharing/member_block.h"
#include "codec/sharing/member_hashes.h"
#include "codec/sharing/sharing.h"
#include "core/access.h"
#include "kgen/codec/decode.h"

namespace kgen::codec {

// Returns whether a text is the apiVersion of a kind: "apps/v1", or "v1" for the legacy group.
bool IsApiVersion(std::string_view text, const KindInfo& kind) noexcept;

// Return whether an object that calls itself so may be of that table. Servers send the metadata of any kind as
// PartialObjectMetadata.
bool IsKindOf(std::string_view text, const TypeTable& table) noexcept;
bool IsApiVersionOf(std::string_view text, const TypeTable& table) noexcept;

// Memory that is reused for the next object.
struct Scratch {
  alignas(16) char first[8192];
  Arena arena{first, sizeof first};
  std::string text;
};

class Interpreter {
 public:
  // `shared` may be null, and so may `trace`, which needs shared subtrees. Everything must outlive the interpreter.
  Interpreter(std::string_view json, const DecodeOptions& options, SharedState* shared, Scratch& scratch,
              MemberTrace* trace = nullptr);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  // `object` must be a default struct of that table. After an error, it is in that state again.
  Result<void> Run(void* object, const TypeTable& table);
  // Does the same for members that Convert() converts through JSON. Members that are not in the table are reported as
  // mismatches, unless they are null or the schema preserves unknown fields. If `whole`, apiVersion and kind must be
  // the table's, as for Run(); otherwise they are ordinary members.
  Result<void> RunConverted(void* object, const TypeTable& table, bool whole);
  // True if a field of the object had the wrong type.
  bool has_mismatches() const noexcept { return mismatches_ != 0; }

 private:
  enum class Outcome : unsigned char {
    kOk,
    kNull,       // the member was null and is absent
    kRespelled,  // decoded, but a number is spelled differently; `respelled_` is the start of the member
    kMismatch,
    kError,
  };

  // The position of a struct, which decides how apiVersion and kind are treated.
  enum class Place : unsigned char {
    kPlain,  // they are ordinary members
    kTop,    // they must match the table
    kItem,   // the same, for an item of the kind's list
  };

  // The path from the object to the current value, for messages.
  struct Step {
    const Step* up;
    std::string_view name;  // of a member or a map key
    std::size_t index;      // of a list element
    enum class Kind : unsigned char { kMember, kKey, kIndex } kind;
  };

  // A member that is kept as raw text because it is unknown (`field` is null), has the wrong type, or is a nullable
  // null; or a note.
  struct Kept {
    const Field* field;
    String name;
    Json value;
    bool note = false;
    std::uint32_t order = 0;  // the order of arrival, for sorting
  };
  struct KeptMark {
    std::uint32_t unknown;
    std::uint32_t known;
    std::uint32_t seen;
  };

  // ---- interpreter.cc: structs and their members. ----
  Result<void> Whole(void* object, const TypeTable& table, Place place);
  void ReportUnknown(const String& name, const TypeTable& table, std::string_view raw);
  Outcome Struct(void* object, const TypeTable& table, Place place);
  Outcome Member(void* object, const Field& field, const KeptMark& mark);
  [[gnu::noinline]] Outcome CarefulMember(void* member, const Field& field, const KeptMark& mark);
  [[gnu::always_inline]] inline Outcome Value(void* member, const Field& field, char c);
  Outcome Null(void* member, const Field& field);
  Outcome Unknown(std::string_view name, const TypeTable& table, Place place);
  Outcome SkipMember();
  Outcome Identity(std::string_view name, const TypeTable& table, Place place);
  Outcome InPlace(void* member, const Field& field, char c);
  Outcome Block(void* member, const Field& field, char c);
  // True if the member may share its block with a member of another object.
  bool IsShared(const Field& field) const noexcept { return SlotOf(field) != MemberSlots::kNone || MayShare(field); }
  Outcome SharedBlock(void* member, const Field& field);
  Outcome TracedBlock(void* member, const Field& field, std::size_t slot);
  Outcome MemoisedBlock(void* member, const Field& field);
  bool ShareEntries(void* member, const Field& field) noexcept;
  bool FindEarlier(std::size_t slot) const noexcept;
  bool AdoptEarlier(void* member, const Field& field) noexcept;
  Outcome TakeEarlier(MemberHash& now, std::size_t slot);
  MemberHash Hashed(std::string_view raw, std::size_t members) const noexcept;
  Outcome FreshBlock(void* member, const Field& field);
  Outcome KeepMismatch(void* member, const Field& field);
  void KeepUnknown(String name, std::string_view raw);
  void KeepKnown(const Field& field, std::string_view raw);
  void Forget(const Field& field, const KeptMark& mark);
  void DropKept(const KeptMark& mark);
  Outcome CheckDuplicate(const Field& field, const KeptMark& mark);
  Outcome KeepOdd(Outcome outcome, void* member, const Field& field, const TypeTable& table, std::uint64_t& nulls);
  void KeepNote(const Field& field, const TypeTable& table, std::string_view raw);
  void StoreKept(void* object, const TypeTable& table, const KeptMark& mark, std::uint64_t nulls);

  // ---- interpreter_elements.cc: lists and maps. At the opening bracket. ----
  Outcome List(detail::ListBlock*& list, const ValueType& type, const TypeTable* owner);
  Outcome Map(detail::MapBlock*& map, const ValueType& type);
  Outcome ListElements(Elements& elements, const ValueType& type, Place place, Step& step);
  Outcome MapEntries(Elements& entries, const ValueType& type, Step& step, bool& nulls);
  Outcome Element(void* element, const ValueType& type, Place place);
  Outcome ManagedFieldsEntry(void* element, const ValueType& type, std::size_t index);
  Outcome StructElement(void* element, const ValueType& type, Place place, char c);
  Outcome NullElement(void* element, const ValueType& type);
  Outcome KeepElement(void* element, const ValueType& type);

  // ---- interpreter_scalars.cc: values without members. At the first byte, which is `c`. ----
  Outcome BoolMember(Optional<bool>& member, char c);
  Outcome Int32Member(Optional<std::int32_t>& member, char c);
  Outcome Int64Member(Optional<std::int64_t>& member, char c);
  Outcome DoubleMember(Optional<double>& member, char c);
  Outcome Bool(bool& value, char c);
  Outcome Integer(std::int64_t& value, std::int64_t min, std::int64_t max, char c);
  Outcome Double(double& value, char c);
  Outcome Text(String& text, bool unique, char c);
  detail::TextBlock* RecentText(std::string_view value);
  [[gnu::noinline]] Outcome LongText(String& text, bool unique, char c);
  Outcome TimeText(detail::TimeWord& word, detail::TimePrecision precision, char c);
  Outcome DurationText(Duration& value, char c);
  Outcome QuantityText(Quantity& value, char c);
  Outcome IntOrText(IntOrString& value, char c);
  Outcome Base64(Bytes& value, char c);
  Outcome Raw(Json& value);
  Outcome RawMember(Json& value, const Field& field, char c);
  // Sets a String to text from the input.
  void SetText(String& text, std::string_view value, bool unique) {
    if (text.has_value()) text.reset();
    if (value.size() <= kInlineText) {
      detail::StringAccess::SetInline(text, value.data(), value.size());
    } else {
      SetLongText(text, value, unique);
    }
  }
  void SetLongText(String& text, std::string_view value, bool unique);
  bool MayShare(const Field& field) const noexcept {
    return shared_ != nullptr && shared_->share_subtrees && (field.flags & (kNoMemo | kUnique)) == 0 &&
           !options_.strict;
  }
  // Returns the slot of the hash of a member of the object or of its metadata; kNone for other members, and if there is
  // no trace.
  std::uint8_t SlotOf(const Field& field) const noexcept {
    if (trace_ == nullptr) return MemberSlots::kNone;
    if (path_ == nullptr) return trace_->slots.OfObject(field);
    return path_ == metadata_path_ ? trace_->slots.OfMetadata(field) : MemberSlots::kNone;
  }
  // Returns the same member of the earlier object. Only if there is one.
  const void* EarlierMember(const Field& field) const noexcept {
    const std::size_t metadata = path_ == nullptr ? 0 : top_->metadata_offset;
    return static_cast<const char*>(trace_->before) + metadata + field.offset;
  }
  Json RawText(std::string_view raw);

  // ---- Errors (interpreter.cc). ----
  Outcome Mismatch(const char* expected);  // at the value
  Outcome Broken();                        // the reader has failed
  Outcome Broken(const char* message);     // reports an error at the reader's position
  Outcome Refuse(std::string message, std::size_t offset);
  Outcome BadTable();
  std::string Path(std::string_view last = {}) const;
  Error MakeError(const void* object, const TypeTable& table) const;

  // A state to return to if a value has the wrong type.
  struct Position {
    const char* p;
    std::size_t depth;
    std::size_t members;
  };
  Position Here() const noexcept { return {reader_.position(), reader_.depth(), reader_.members()}; }
  void Return(const Position& position) noexcept {
    reader_.Rewind(position.p, position.depth);
    reader_.set_members(position.members);
  }

  const DecodeOptions& options_;
  std::string_view json_;
  Reader reader_;
  SharedState* shared_;
  MemberTrace* trace_;
  Arena& arena_;
  const Step* path_ = nullptr;
  const Step* metadata_path_ = nullptr;  // while in the metadata of the object
  bool at_entries_ = false;              // about to decode its managedFields
  std::size_t same_entries_ = 0;         // how many of these are unchanged and in the same place
  const Field* field_ = nullptr;         // the member being decoded, for paths
  const TypeTable* top_ = nullptr;
  bool top_is_object_ = false;  // its metadata is an ObjectMeta
  bool reports_unknown_ = false;
  std::size_t mismatches_ = 0;
  kgen::FieldMismatch pending_;     // the last one found; reported where its text is kept
  std::vector<Kept> unknown_;       // of all open structs
  std::vector<Kept> known_;         // mismatches and nulls of all open structs
  std::vector<const Field*> seen_;  // strict only
  // Used if there is no pool: the most recent long texts of this object, with one reference each. Objects repeat text
  // (images, paths, names of volumes), and immutable text may be shared.
  static constexpr std::size_t kRecent = 64;
  detail::TextBlock* recent_[kRecent] = {};
  bool has_recent_ = false;
  KeptMark kept_{0, 0, 0};           // the sizes of these vectors, cached because every member reads them
  const char* respelled_ = nullptr;  // a number that was spelled differently, or the member that it is in
  std::string error_;                // complete, with path and offset
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_INTERPRETER_H_
