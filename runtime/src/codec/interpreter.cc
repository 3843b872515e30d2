// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Structs and their members; errors.
#include "codec/interpreter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "codec/find_field.h"
#include "codec/sharing/member_block.h"
#include "core/access.h"
#include "core/metadata_table.h"
#include "kgen/core/object_meta.h"

namespace kgen::codec {

namespace {

std::size_t MinOf(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

std::string ApiVersionOf(const KindInfo& kind) {
  return kind.group.empty() ? std::string(kind.version) : std::string(kind.group) + "/" + std::string(kind.version);
}

// Describes a value in a message: by its text, shortened if necessary, or by its kind if it is a container.
std::string Describe(std::string_view raw) {
  constexpr std::size_t kLongest = 64;
  switch (raw.front()) {
    case '{':
      return "an object";
    case '[':
      return "a list";
    case 't':
    case 'f':
      return "boolean " + std::string(raw);
    case 'n':
      return "null";
    default: {
      std::string text(raw.front() == '"' ? "string " : "number ");
      if (raw.size() <= kLongest) return text.append(raw);
      std::size_t size = kLongest;
      while (size > 0 && (raw[size] & 0xC0) == 0x80) --size;  // do not cut a character
      return text.append(raw.substr(0, size)).append("...");
    }
  }
}

}  // namespace

bool IsKindOf(std::string_view text, const TypeTable& table) noexcept {
  return (table.kind != nullptr && text == table.kind->kind) ||
         (detail::IsMetadataOnly(table) && text == "PartialObjectMetadata");
}

bool IsApiVersionOf(std::string_view text, const TypeTable& table) noexcept {
  return (table.kind != nullptr && IsApiVersion(text, *table.kind)) ||
         (detail::IsMetadataOnly(table) && text == "meta.k8s.io/v1");
}

bool IsApiVersion(std::string_view text, const KindInfo& kind) noexcept {
  if (kind.group.empty()) return text == kind.version;
  return text.size() == kind.group.size() + 1 + kind.version.size() && text.starts_with(kind.group) &&
         text[kind.group.size()] == '/' && text.ends_with(kind.version);
}

Interpreter::Interpreter(std::string_view json, const DecodeOptions& options, SharedState* shared, Scratch& scratch,
                         MemberTrace* trace)
    : options_(options),
      json_(json),
      reader_(json, options.max_depth, options.max_fields, scratch.text),
      shared_(shared),
      trace_(trace),
      arena_(scratch.arena) {}

Interpreter::~Interpreter() {
  if (!has_recent_) return;
  for (detail::TextBlock* text : recent_) {
    if (text != nullptr && detail::DropRef(text)) detail::DestroyText(text);
  }
}

Result<void> Interpreter::Run(void* object, const TypeTable& table) {
  top_ = &table;
  if (table.metadata_offset != TypeTable::kNoMetadata) {
    const Field* metadata = table.Find("metadata");
    top_is_object_ =
        metadata != nullptr && metadata->kind == ValueKind::kStruct && detail::IsMetadata(*metadata->table());
  }
  return Whole(object, table, Place::kTop);
}

Result<void> Interpreter::RunConverted(void* object, const TypeTable& table, bool whole) {
  reports_unknown_ = true;
  if (whole) return Run(object, table);
  top_ = &table;
  return Whole(object, table, Place::kPlain);
}

Result<void> Interpreter::Whole(void* object, const TypeTable& table, Place place) {
  const std::size_t limit = MinOf(options_.max_bytes, kBytesCeiling);
  Outcome outcome;
  if (json_.size() > limit) {
    outcome = Refuse("larger than " + std::to_string(limit) + " bytes", limit);
  } else if (reader_.Peek() != '{') {
    outcome = Broken("expected a JSON object");
  } else {
    outcome = Struct(object, table, place);
    if (outcome == Outcome::kOk && !reader_.AtEnd()) outcome = Broken();
  }
  arena_.Trim();
  if (outcome == Outcome::kOk) return {};
  auto failure = Fail(MakeError(object, table));
  detail::ResetStruct(object, table);
  return failure;
}

// Decodes a struct. The reader is at its opening brace.
Interpreter::Outcome Interpreter::Struct(void* object, const TypeTable& table, Place place) {
  if (!reader_.Enter()) return Broken();
  const KeptMark mark = kept_;
  std::uint64_t nulls = 0;  // bit i: member i was received as null
  if (reader_.Peek() != '}') {
    const FieldFinder finder(table);
    std::string_view name;
    if (!reader_.QuickFirstKey(name) && !reader_.Key(name)) return Broken();
    for (;;) {
      const Field* field = finder.Find(name, reader_.end());
      Outcome outcome;
      if (field != nullptr) {
        void* member = detail::MemberOf(object, *field);
        outcome = Member(member, *field, mark);
        if (outcome != Outcome::kOk) [[unlikely]]
          outcome = KeepOdd(outcome, member, *field, table, nulls);
      } else {
        outcome = Unknown(name, table, place);
      }
      if (outcome != Outcome::kOk) [[unlikely]] {
        DropKept(mark);
        return outcome;
      }
      if (reader_.QuickKey(name)) continue;
      const char c = reader_.Peek();
      if (c == '}') break;
      if (c != ',') return Broken("expected ',' or '}'");
      reader_.Skip();
      if (!reader_.Key(name)) return Broken();
    }
  }
  reader_.Skip();
  reader_.Leave();
  if (kept_.unknown != mark.unknown || kept_.known != mark.known) {
    StoreKept(object, table, mark, nulls);
  } else if (nulls != 0) {
    detail::UnknownWord(detail::UnknownOf(object, table)) = nulls << 16 | detail::TableMark(table);
  }
  if (kept_.seen != mark.seen) DropKept(mark);
  return Outcome::kOk;
}

// Decodes into a member that may already have a value, since of two members of one name the last one wins.
//
// Each case ends in a tail call, so that no registers need saving: this runs once per member.
inline Interpreter::Outcome Interpreter::Value(void* member, const Field& field, char c) {
  switch (field.kind) {
    case ValueKind::kBool:
      return BoolMember(*static_cast<Optional<bool>*>(member), c);
    case ValueKind::kInt32:
      return Int32Member(*static_cast<Optional<std::int32_t>*>(member), c);
    case ValueKind::kInt64:
      return Int64Member(*static_cast<Optional<std::int64_t>*>(member), c);
    case ValueKind::kDouble:
      return DoubleMember(*static_cast<Optional<double>*>(member), c);
    case ValueKind::kString:
      return Text(*static_cast<String*>(member), (field.flags & kUnique) != 0, c);
    case ValueKind::kTime:
      return TimeText(detail::TimeAccess::Word(*static_cast<Time*>(member)), detail::TimePrecision::kSeconds, c);
    case ValueKind::kMicroTime:
      return TimeText(detail::TimeAccess::Word(*static_cast<MicroTime*>(member)), detail::TimePrecision::kMicroseconds,
                      c);
    case ValueKind::kDuration:
      return DurationText(*static_cast<Duration*>(member), c);
    case ValueKind::kQuantity:
      return QuantityText(*static_cast<Quantity*>(member), c);
    case ValueKind::kIntOrString:
      return IntOrText(*static_cast<IntOrString*>(member), c);
    case ValueKind::kBytes:
      return Base64(*static_cast<Bytes*>(member), c);
    case ValueKind::kJson:
      return RawMember(*static_cast<Json*>(member), field, c);
    case ValueKind::kStruct:
      return InPlace(member, field, c);
    case ValueKind::kBox:
    case ValueKind::kList:
    case ValueKind::kMap:
      return Block(member, field, c);
  }
  return BadTable();
}

Interpreter::Outcome Interpreter::Member(void* member, const Field& field, const KeptMark& mark) {
  field_ = &field;
  const char c = reader_.PeekQuickly();
  if (c == '\0' || options_.strict || kept_.known != mark.known) [[unlikely]] {
    return CarefulMember(member, field, mark);
  }
  if (c == 'n') return Null(member, field);
  return Value(member, field, c);
}

// Handles white space before the value, checks for duplicates, and forgets kept text that this member replaces.
Interpreter::Outcome Interpreter::CarefulMember(void* member, const Field& field, const KeptMark& mark) {
  if (options_.strict && CheckDuplicate(field, mark) != Outcome::kOk) return Outcome::kError;
  if (kept_.known != mark.known) Forget(field, mark);
  const char c = reader_.Peek();
  if (c == 'n') return Null(member, field);
  return Value(member, field, c);
}

Interpreter::Outcome Interpreter::Null(void* member, const Field& field) {
  if (field.kind == ValueKind::kJson) return Raw(*static_cast<Json*>(member));
  if (!reader_.Literal("null")) return Broken();
  detail::ResetMember(member, field);
  if ((field.flags & kManagedFields) != 0 && options_.drop_managed_fields) return Outcome::kOk;
  if ((field.flags & kNullable) == 0) return Outcome::kNull;
  KeepKnown(field, "null");
  return Outcome::kOk;
}

// Decodes a member that is not in the table. `name` is valid only until the next string is read.
Interpreter::Outcome Interpreter::Unknown(std::string_view name, const TypeTable& table, Place place) {
  field_ = nullptr;
  // An object inside an object (a volume claim template) may have an apiVersion and a kind.
  const bool says_kind = table.kind != nullptr && (name == "apiVersion" || name == "kind");
  if (says_kind && place != Place::kPlain) return Identity(name, table, place);
  if ((table.flags & kProjection) != 0) return SkipMember();
  if (options_.strict && (table.flags & kPreservesUnknown) == 0 && !says_kind) {
    return Refuse(Path(name) + ": unknown member", reader_.OffsetOf(reader_.position()));
  }
  String kept;
  SetText(kept, name, false);
  std::string_view raw;
  if (!reader_.SkipValue(raw)) return Broken();
  if (reports_unknown_) [[unlikely]]
    ReportUnknown(kept, table, raw);
  KeepUnknown(std::move(kept), raw);
  return Outcome::kOk;
}

// Skips the value of a member that a projection does not have, without validating anything but its nesting.
Interpreter::Outcome Interpreter::SkipMember() {
  const char c = reader_.Peek();
  if (c == '{' || c == '[') {
    const char* behind = reader_.position();
    NestingScanner scanner(reader_.depth(), reader_.max_depth());
    if (scanner.Scan(behind, reader_.end()) == NestingScanner::State::kDone) {
      reader_.Rewind(behind);
      return Outcome::kOk;
    }
  }
  std::string_view raw;
  return reader_.SkipValue(raw) ? Outcome::kOk : Broken();
}

void Interpreter::ReportUnknown(const String& name, const TypeTable& table, std::string_view raw) {
  if (raw == "null" || (table.flags & kPreservesUnknown) != 0 || options_.mismatches == nullptr) return;
  options_.mismatches->push_back(
      {Path(name), std::string(table.name) + " has no such member", reader_.OffsetOf(reader_.position())});
}

// Checks the apiVersion or the kind of an object. It may be absent, empty or null.
Interpreter::Outcome Interpreter::Identity(std::string_view name, const TypeTable& table, Place place) {
  const KindInfo& kind = *table.kind;
  const bool is_kind = name == "kind";
  std::string_view found;
  const char c = reader_.Peek();
  if (c == 'n') return reader_.Literal("null") ? Outcome::kOk : Broken();
  const char* start = reader_.position();
  const std::size_t offset = reader_.OffsetOf(start);
  if (c == '"') {
    if (!reader_.String(found)) return Broken();
    if (found.empty() || (is_kind ? IsKindOf(found, table) : IsApiVersionOf(found, table))) return Outcome::kOk;
    reader_.Rewind(start);
  }
  if (!reader_.SkipValue(found)) return Broken();
  std::string expected = is_kind ? std::string(kind.kind) : ApiVersionOf(kind);
  std::string message =
      (is_kind ? "expected kind \"" : "expected apiVersion \"") + expected + "\", found " + Describe(found);
  if (place == Place::kTop) return Refuse(std::move(message), offset);
  pending_ = {Path(is_kind ? "kind" : "apiVersion"), std::move(message), offset};
  return Outcome::kMismatch;
}

// Decodes a struct that is stored in place: the `metadata` of an object.
Interpreter::Outcome Interpreter::InPlace(void* member, const Field& field, char c) {
  if (c != '{') return Mismatch("an object");
  const Step step{path_, field.wire_name(), 0, Step::Kind::kMember};
  const TypeTable& table = *field.table();
  if (path_ == nullptr && top_is_object_ && field.offset == top_->metadata_offset) metadata_path_ = &step;
  path_ = &step;
  if (!detail::IsEmptyStruct(member, table)) detail::ResetStruct(member, table);
  const Outcome outcome = Struct(member, table, Place::kPlain);
  path_ = step.up;
  if (metadata_path_ == &step) metadata_path_ = nullptr;
  // A struct in place cannot be both present and empty, so `{}` is kept as text.
  if (outcome == Outcome::kOk && detail::IsEmptyStruct(member, table)) {
    KeepKnown(field, "{}");
  }
  return outcome;
}

// Decodes a value that has its own block.
Interpreter::Outcome Interpreter::Block(void* member, const Field& field, char c) {
  if (field.kind == ValueKind::kList) {
    if (c != '[') return Mismatch("a list");
    if ((field.flags & kManagedFields) != 0 && options_.drop_managed_fields) {
      std::string_view raw;
      return reader_.SkipValue(raw) ? Outcome::kOk : Broken();
    }
  } else if (c != '{') {
    return Mismatch("an object");
  }
  std::uintptr_t held;  // a box, a list or a map is one pointer
  std::memcpy(&held, member, sizeof held);
  if (held != 0) detail::ResetMember(member, field);
  return IsShared(field) ? SharedBlock(member, field) : FreshBlock(member, field);
}

Interpreter::Outcome Interpreter::SharedBlock(void* member, const Field& field) {
  const std::uint8_t slot = SlotOf(field);
  return slot != MemberSlots::kNone ? TracedBlock(member, field, slot) : MemoisedBlock(member, field);
}

// Decodes a member that has a hash.
Interpreter::Outcome Interpreter::TracedBlock(void* member, const Field& field, std::size_t slot) {
  const bool managed_fields = path_ != nullptr && slot == trace_->slots.OfManagedFields();
  MemberHash& now = trace_->now[slot];
  now = {};  // of two members of one name the last one wins
  if (FindEarlier(slot) && AdoptEarlier(member, field)) {
    for (std::size_t i = 0; managed_fields && i < MemberSlots::kEntries; ++i) {
      const std::size_t entry = trace_->slots.OfEntries() + i;
      trace_->now[entry] = trace_->earlier[entry];
    }
    return TakeEarlier(now, slot);
  }
  const char* const start = reader_.position();
  const std::size_t members = reader_.members();
  at_entries_ = managed_fields;
  const Outcome outcome = MemoisedBlock(member, field);
  at_entries_ = false;
  if (outcome != Outcome::kOk) return outcome;
  if (managed_fields && ShareEntries(member, field)) return outcome;
  const std::string_view raw(start, static_cast<std::size_t>(reader_.position() - start));
  if (HasBlock(field, raw)) now = Hashed(raw, reader_.members() - members);
  return outcome;
}

// If all entries of managedFields have hashes, the list needs no hash, which would read the same bytes again. If every
// entry is unchanged and in the same place, the list shares the block of the earlier one. Returns false if there are
// more entries than hashes.
bool Interpreter::ShareEntries(void* member, const Field& field) noexcept {
  detail::ListBlock*& list = detail::ListOf(member);
  const std::size_t count = list == nullptr ? 0 : list->word;
  if (count > MemberSlots::kEntries) return false;
  if (count == 0 || same_entries_ != count) return true;
  const detail::ListBlock* const before = detail::ListOf(EarlierMember(field));
  if (before == nullptr || before->word != count) return true;
  detail::ReleaseList(std::exchange(list, nullptr), *field.element());
  AdoptEarlier(member, field);
  return true;
}

// Shares the block of the earlier member with `member`, which must be empty. Returns false if the earlier one has none.
bool Interpreter::AdoptEarlier(void* member, const Field& field) noexcept {
  detail::BlockHeader* const block = BlockOf(EarlierMember(field), field);
  if (block == nullptr) return false;
  detail::AddRef(block);
  Adopt(member, field, block);
  return true;
}

// True if the value at the reader, an object or a list, has the same bytes as the earlier one. It then also has the
// same end, because an object or a list ends at its closing bracket.
bool Interpreter::FindEarlier(std::size_t slot) const noexcept {
  if (trace_->earlier.empty()) return false;
  const MemberHash earlier = trace_->earlier[slot];
  if (earlier.hash == 0 || earlier.size > static_cast<std::size_t>(reader_.end() - reader_.position())) return false;
  return Hashed({reader_.position(), earlier.size}, 0).hash == earlier.hash;
}

// Continues after a value that is shared.
Interpreter::Outcome Interpreter::TakeEarlier(MemberHash& now, std::size_t slot) {
  now = trace_->earlier[slot];
  reader_.Rewind(reader_.position() + now.size);
  return reader_.AddMembers(now.members) ? Outcome::kOk : Broken();
}

MemberHash Interpreter::Hashed(std::string_view raw, std::size_t members) const noexcept {
  const std::uint64_t hash = shared_->subtrees.hash().Lane(raw, options_.drop_managed_fields ? 1 : 0);
  return {hash, static_cast<std::uint32_t>(raw.size()), static_cast<std::uint32_t>(members)};
}

// Looks up whether these bytes were decoded before. The quick scan finds the end of the value without validating it; a
// value that is found was validated when it was first decoded.
Interpreter::Outcome Interpreter::MemoisedBlock(void* member, const Field& field) {
  SubtreeMemo::FieldStats* const stats = MayShare(field) ? shared_->subtrees.Try(field) : nullptr;
  if (stats == nullptr) {
    return field.kind == ValueKind::kJson ? Raw(*static_cast<Json*>(member)) : FreshBlock(member, field);
  }
  const char* start = reader_.position();
  const char* behind = start;
  NestingScanner scanner(reader_.depth(), reader_.max_depth());
  if (scanner.Scan(behind, reader_.end()) != NestingScanner::State::kDone) return FreshBlock(member, field);
  const std::string_view raw(start, static_cast<std::size_t>(behind - start));
  const SubtreeMemo::Key key = shared_->subtrees.MakeKey(raw, field, options_.drop_managed_fields);
  const SubtreeMemo::Hit hit = shared_->subtrees.Find(key);
  stats->Count(hit.block != nullptr);  // before anything else is decoded, which may move the statistics
  if (hit.block != nullptr) {
    Adopt(member, field, hit.block);
    reader_.Rewind(behind);
    return reader_.AddMembers(hit.members) ? Outcome::kOk : Broken();
  }
  const std::size_t mismatches = mismatches_;
  const std::size_t members = reader_.members();
  const Outcome outcome = FreshBlock(member, field);
  // A subtree with a field of the wrong type is reported each time, so it is decoded each time.
  if (outcome == Outcome::kOk && mismatches == mismatches_ && reader_.position() == behind && HasBlock(field, raw)) {
    shared_->subtrees.Insert(key, BlockOf(member, field), reader_.members() - members);
  }
  return outcome;
}

Interpreter::Outcome Interpreter::FreshBlock(void* member, const Field& field) {
  const Step step{path_, field.wire_name(), 0, Step::Kind::kMember};
  path_ = &step;
  field_ = nullptr;
  Outcome outcome;
  if (field.kind == ValueKind::kJson) {
    path_ = step.up;
    std::string_view raw;
    if (!reader_.SkipValue(raw)) return Broken();
    *static_cast<Json*>(member) = Json(raw);  // not from the pool: text in both pool and memo would never be swept
    return Outcome::kOk;
  }
  if (field.kind == ValueKind::kBox) {
    detail::BoxBlock* box = detail::NewBox(*field.table(), false);
    detail::BoxOf(member) = box;
    outcome = Struct(box->object(), *field.table(), Place::kPlain);
  } else if (field.kind == ValueKind::kList) {
    outcome = List(detail::ListOf(member), *field.element(), path_->up == nullptr ? top_ : nullptr);
  } else {
    outcome = Map(detail::MapOf(member), *field.element());
  }
  path_ = step.up;
  return respelled_ == nullptr || outcome != Outcome::kOk ? outcome : Outcome::kRespelled;
}

// Handles the outcomes of a member other than kOk.
Interpreter::Outcome Interpreter::KeepOdd(Outcome outcome, void* member, const Field& field, const TypeTable& table,
                                          std::uint64_t& nulls) {
  switch (outcome) {
    case Outcome::kNull: {
      const auto index = static_cast<std::size_t>(&field - table.begin());
      if (index < detail::kMarks) {
        nulls |= std::uint64_t{1} << index;
      } else {
        KeepNote(field, table, "null");
      }
      return Outcome::kOk;
    }
    case Outcome::kRespelled: {
      const char* const start = std::exchange(respelled_, nullptr);
      KeepNote(field, table, {start, static_cast<std::size_t>(reader_.position() - start)});
      return Outcome::kOk;
    }
    case Outcome::kMismatch:
      return KeepMismatch(member, field);
    default:
      return outcome;
  }
}

// Makes the member read as absent, and keeps its text.
Interpreter::Outcome Interpreter::KeepMismatch(void* member, const Field& field) {
  if (top_is_object_) {  // an object without a trustworthy name cannot be kept at all
    const bool is_metadata = path_ == nullptr && field.offset == top_->metadata_offset;
    const bool in_metadata = path_ != nullptr && path_->up == nullptr && path_->name == "metadata";
    if (is_metadata || (in_metadata && (field.wire_name() == "name" || field.wire_name() == "namespace"))) {
      return Refuse(pending_.path + ": " + pending_.message, pending_.offset);
    }
  }
  if (options_.strict) return Refuse(pending_.path + ": " + pending_.message, pending_.offset);
  detail::ResetMember(member, field);
  respelled_ = nullptr;
  std::string_view raw;
  if (!reader_.SkipValue(raw)) return Broken();
  KeepKnown(field, raw);
  ++mismatches_;
  if (options_.mismatches != nullptr) options_.mismatches->push_back(std::move(pending_));
  return Outcome::kOk;
}

void Interpreter::KeepUnknown(String name, std::string_view raw) {
  unknown_.push_back({nullptr, std::move(name), RawText(raw)});
  ++kept_.unknown;
}

void Interpreter::KeepKnown(const Field& field, std::string_view raw) {
  known_.push_back({&field, String(field.wire_name()), RawText(raw)});
  ++kept_.known;
}

void Interpreter::KeepNote(const Field& field, const TypeTable& table, std::string_view raw) {
  String text;
  SetText(text, raw, false);
  UnknownField note =
      detail::MakeNote(detail::TableMark(table), static_cast<std::size_t>(&field - table.begin()), std::move(text));
  known_.push_back({&field, std::move(note.name), std::move(note.value), true});
  ++kept_.known;
}

// Forgets what was kept of an earlier member of the same name, because the later one wins.
void Interpreter::Forget(const Field& field, const KeptMark& mark) {
  const auto first = known_.begin() + mark.known;
  known_.erase(std::remove_if(first, known_.end(), [&](const Kept& kept) { return kept.field == &field; }),
               known_.end());
  kept_.known = static_cast<std::uint32_t>(known_.size());
}

void Interpreter::DropKept(const KeptMark& mark) {
  unknown_.erase(unknown_.begin() + mark.unknown, unknown_.end());
  known_.erase(known_.begin() + mark.known, known_.end());
  seen_.erase(seen_.begin() + mark.seen, seen_.end());
  kept_ = mark;
}

Interpreter::Outcome Interpreter::CheckDuplicate(const Field& field, const KeptMark& mark) {
  if (std::find(seen_.begin() + mark.seen, seen_.end(), &field) != seen_.end()) {
    return Refuse(Path() + ": duplicate member", reader_.OffsetOf(reader_.position()));
  }
  seen_.push_back(&field);
  ++kept_.seen;
  return Outcome::kOk;
}

// Turns the kept members of one struct into its unknown fields, in a block of exactly that size.
void Interpreter::StoreKept(void* object, const TypeTable& table, const KeptMark& mark, std::uint64_t nulls) {
  const auto known = known_.begin() + mark.known;
  for (auto kept = known; kept != known_.end(); ++kept) {  // kept text replaces an earlier null of the same member
    const auto index = static_cast<std::size_t>(kept->field - table.begin());
    if (index < detail::kMarks) nulls &= ~(std::uint64_t{1} << index);
  }
  const std::uintptr_t table_mark = detail::TableMark(table);
  const std::size_t kept = kept_.unknown - mark.unknown + (kept_.known - mark.known);
  detail::ListBlock* list =
      detail::NewList(kept + static_cast<std::size_t>(std::popcount(nulls)), kTypeOf<UnknownField>);
  detail::UnknownWord(detail::UnknownOf(object, table)) = reinterpret_cast<std::uintptr_t>(list);
  const auto append = [list](String name, Json value) {
    ::new (detail::ElementAt(list, list->word++, kTypeOf<UnknownField>))
        UnknownField{std::move(name), std::move(value)};
  };
  for (std::uint64_t left = nulls; left != 0; left &= left - 1) {
    UnknownField note = detail::MakeNote(table_mark, static_cast<std::size_t>(std::countr_zero(left)), String("null"));
    append(std::move(note.name), std::move(note.value));
  }
  // Notes come first, and notes of numbers in the order of the members, because the encoder searches them in that
  // order. Does not use std::stable_sort, because Clang reports that it uses a deprecated function.
  std::uint32_t order = 0;
  for (auto each = known; each != known_.end(); ++each) each->order = order++;
  std::sort(known, known_.end(), [](const Kept& a, const Kept& b) {
    if (a.note != b.note) return a.note;
    return a.note && a.field != b.field ? a.field < b.field : a.order < b.order;
  });
  auto next = known;
  for (; next != known_.end() && next->note; ++next) append(std::move(next->name), std::move(next->value));
  list->hidden = list->word;
  for (std::size_t i = mark.unknown; i < unknown_.size(); ++i)
    append(std::move(unknown_[i].name), std::move(unknown_[i].value));
  for (; next != known_.end(); ++next) append(std::move(next->name), std::move(next->value));
  DropKept(mark);
}

// ---- Errors. ----

Interpreter::Outcome Interpreter::Mismatch(const char* expected) {
  const Position start = Here();
  std::string_view raw;
  if (!reader_.SkipValue(raw)) return Broken();
  Return(start);
  pending_ = {Path(), std::string("expected ") + expected + ", found " + Describe(raw), reader_.OffsetOf(start.p)};
  return Outcome::kMismatch;
}

Interpreter::Outcome Interpreter::Broken() {
  if (error_.empty()) {
    const std::string path = Path();
    error_ =
        (path.empty() ? "" : path + ": ") + reader_.error() + ", at byte " + std::to_string(reader_.error_offset());
  }
  return Outcome::kError;
}

Interpreter::Outcome Interpreter::Broken(const char* message) {
  field_ = nullptr;
  reader_.Fail(message, reader_.position());
  return Broken();
}

Interpreter::Outcome Interpreter::BadTable() {
  return Refuse("unknown kind of value in the table", reader_.OffsetOf(reader_.position()));
}

Interpreter::Outcome Interpreter::Refuse(std::string message, std::size_t offset) {
  if (error_.empty()) error_ = std::move(message) + ", at byte " + std::to_string(offset);
  return Outcome::kError;
}

// Returns a path such as "spec.containers[2].ports", which ends with `last` or else with the member being decoded.
std::string Interpreter::Path(std::string_view last) const {
  std::vector<const Step*> steps;
  for (const Step* step = path_; step != nullptr; step = step->up) steps.push_back(step);
  std::string path;
  const auto member = [&](std::string_view name) { path.append(path.empty() ? "" : ".").append(name); };
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    switch ((*step)->kind) {
      case Step::Kind::kMember:
        member((*step)->name);
        break;
      case Step::Kind::kKey:
        path.append("['").append((*step)->name).append("']");
        break;
      case Step::Kind::kIndex:
        path.append("[").append(std::to_string((*step)->index)).append("]");
        break;
    }
  }
  if (!last.empty()) {
    member(last);
  } else if (field_ != nullptr) {
    member(field_->wire_name());
  }
  return path;
}

// Returns an error such as "Pod default/web-0: spec.nodeName: ..., at byte 17".
Error Interpreter::MakeError(const void* object, const TypeTable& table) const {
  std::string message(table.kind != nullptr ? table.kind->kind : std::string_view(table.name));
  if (top_is_object_) {
    const auto& metadata =
        *reinterpret_cast<const meta::v1::ObjectMeta*>(static_cast<const char*>(object) + table.metadata_offset);
    if (metadata.name.has_value()) {
      message.append(" ");
      if (!metadata.namespace_.empty()) message.append(metadata.namespace_.view()).append("/");
      message.append(metadata.name.view());
    }
  }
  return Error(Code::kDecode, message + ": " + error_);
}

}  // namespace kgen::codec
