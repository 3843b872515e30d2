// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "kgen/codec/decode.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codec/interpreter.h"
#include "codec/peek_metadata.h"
#include "codec/protobuf_decoder.h"
#include "codec/protobuf_wire.h"
#include "codec/reader.h"
#include "codec/sharing/member_hashes.h"
#include "codec/sharing/sharing.h"

namespace kgen {

namespace {

constexpr std::size_t kAnyLength = static_cast<std::size_t>(-1);
constexpr std::size_t kDepth = 256;
constexpr std::size_t kSlotsInAStep = 1024;  // slots that one step of a sweep checks

}  // namespace

namespace detail {

Result<void> DecodeStruct(std::string_view json, void* object, const TypeTable& table, const DecodeOptions& options) {
  codec::Scratch scratch;
  if (options.encoding == Encoding::kProtobuf) {
    return codec::ProtobufDecoder(json, options, nullptr, scratch).Run(object, table);
  }
  return codec::Interpreter(json, options, nullptr, scratch).Run(object, table);
}

}  // namespace detail

Result<Json> ParseJson(std::string_view text) {
  std::string scratch;
  codec::Reader reader(text, kDepth, kAnyLength, scratch);
  std::string_view raw;
  if (!reader.SkipValue(raw) || !reader.AtEnd()) {
    return Fail(Code::kDecode,
                std::string("not JSON: ") + reader.error() + ", at byte " + std::to_string(reader.error_offset()));
  }
  return Json(raw);
}

// ---- ObjectDecoder. ----

namespace {

// A struct in scratch memory, from which it moves into a block once it is known how many hashes follow it.
class Draft {
 public:
  Draft(void* memory, const TypeTable& table) noexcept : object_(memory), table_(table) {
    detail::ConstructEmpty(object_, table_);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (object_ != nullptr) detail::ResetStruct(object_, table_);
  }

  void* object() noexcept { return object_; }
  // Moves the struct into raw memory and ends the draft. Values move as bytes: none points into itself.
  void MoveTo(void* memory) noexcept { std::memcpy(memory, std::exchange(object_, nullptr), table_.size); }

 private:
  void* object_;
  const TypeTable& table_;
};

}  // namespace

class ObjectDecoder::Impl {
 public:
  Impl(const TypeTable& table, Sharing sharing)
      : table_(table), slots_(table), hashes_(slots_.count()), draft_(new std::uint64_t[(table.size + 7) / 8]) {
    state_.share_strings = sharing.strings;
    state_.share_subtrees = sharing.subtrees;
  }

  const TypeTable& table() const noexcept { return table_; }
  codec::SharedState& state() noexcept { return state_; }

  Result<AnyRef> Decode(std::string_view json, const DecodeOptions& options, const AnyRef& before, bool sweep) {
    const bool traced = state_.share_subtrees && !options.strict && slots_.count() > 0;
    Draft draft(draft_.get(), table_);
    codec::SharedState* shared = state_.share_strings || state_.share_subtrees ? &state_ : nullptr;
    std::optional<codec::MemberTrace> trace;
    if (traced) {
      std::ranges::fill(hashes_, codec::MemberHash());
      trace.emplace(slots_, hashes_, codec::MemberHashes::Of(before, table_));
      if (!trace->earlier.empty()) trace->before = before.object();
    }
    bool has_mismatches = false;
    auto done = DecodeInto(json, options, shared, trace, draft.object(), has_mismatches);
    if (shared != nullptr && (sweep || !done)) shared->SweepAfterObject();
    if (shared != nullptr && !sweep) shared->SkipSweep();
    if (!done) return Fail(std::move(done).error());
    const bool hashed = traced && !has_mismatches;
    if (hashed) hashes_[slots_.OfWhole()] = WholeHash(BodyOf(json, options).text, options);
    detail::ObjectBlock* const block =
        codec::MemberHashes::NewObject(table_, hashed ? hashes_ : std::span<codec::MemberHash>());
    draft.MoveTo(block->object());
    return AnyRef::Adopt(block);
  }

  bool IsUnchanged(std::string_view json, const DecodeOptions& options, const AnyRef& before) const noexcept {
    const auto earlier = options.strict ? codec::MemberHashes() : codec::MemberHashes::Of(before, table_);
    if (earlier.empty() || slots_.count() == 0) return false;
    const codec::ObjectBody body = BodyOf(json, options);
    const codec::MemberHash known = earlier[slots_.OfWhole()];
    if (body.text.size() != known.size) return false;
    if (!body.kind.empty() && !codec::IsKindOf(body.kind, table_)) return false;
    if (!body.api_version.empty() && !codec::IsApiVersionOf(body.api_version, table_)) return false;
    return WholeHash(body.text, options).hash == known.hash;
  }

 private:
  Result<void> DecodeInto(std::string_view bytes, const DecodeOptions& options, codec::SharedState* shared,
                          std::optional<codec::MemberTrace>& trace, void* object, bool& has_mismatches) {
    codec::MemberTrace* const traced = trace ? &*trace : nullptr;
    if (options.encoding == Encoding::kProtobuf) {
      return codec::ProtobufDecoder(bytes, options, shared, scratch_, traced).Run(object, table_);
    }
    codec::Interpreter interpreter(bytes, options, shared, scratch_, traced);
    auto done = interpreter.Run(object, table_);
    has_mismatches = interpreter.has_mismatches();
    return done;
  }

  codec::ObjectBody BodyOf(std::string_view bytes, const DecodeOptions& options) const noexcept {
    if (options.encoding == Encoding::kProtobuf) return {.text = bytes};
    return codec::BodyOf(bytes, table_);
  }

  codec::MemberHash WholeHash(std::string_view text, const DecodeOptions& options) const noexcept {
    return {state_.subtrees.hash().Lane(text, options.drop_managed_fields ? 1 : 0),
            static_cast<std::uint32_t>(text.size()),
            options.encoding == Encoding::kProtobuf ? codec::kFromProtobuf : 0};
  }

  const TypeTable& table_;
  const codec::MemberSlots slots_;
  codec::SharedState state_;
  codec::Scratch scratch_;
  std::vector<codec::MemberHash> hashes_;   // of the object that is being decoded, by slot
  std::unique_ptr<std::uint64_t[]> draft_;  // its struct
};

ObjectDecoder::ObjectDecoder(const TypeTable& table, Sharing sharing) : impl_(new Impl(table, sharing)) {}
ObjectDecoder::ObjectDecoder(ObjectDecoder&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
ObjectDecoder& ObjectDecoder::operator=(ObjectDecoder&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
ObjectDecoder::~ObjectDecoder() { delete impl_; }

const TypeTable& ObjectDecoder::table() const noexcept { return impl_->table(); }

Result<AnyRef> ObjectDecoder::Decode(std::string_view json, const DecodeOptions& options, const AnyRef& before) {
  return impl_->Decode(json, options, before, true);
}

Result<AnyRef> ObjectDecoder::DecodeAdded(std::string_view json, const DecodeOptions& options) {
  return impl_->Decode(json, options, {}, false);
}

void ObjectDecoder::Sweep() {
  StartSweep();
  while (SweepStep()) {
  }
}

void ObjectDecoder::StartSweep() { impl_->state().StartSweep(); }

bool ObjectDecoder::SweepStep() { return impl_->state().SweepStep(kSlotsInAStep); }

bool ObjectDecoder::FreeStep(std::size_t entries) { return impl_->state().FreeStep(entries); }

ObjectDecoder::Stats ObjectDecoder::stats() const noexcept {
  const codec::SharedState& state = impl_->state();
  return {.strings = state.strings.size(),
          .string_hits = state.strings.hits(),
          .subtrees = state.subtrees.size(),
          .subtree_hits = state.subtrees.hits(),
          .subtree_misses = state.subtrees.misses(),
          .bytes = state.strings.bytes() + state.subtrees.bytes()};
}

bool ObjectDecoder::IsUnchanged(std::string_view json, const DecodeOptions& options,
                                const AnyRef& before) const noexcept {
  return impl_->IsUnchanged(json, options, before);
}

// ---- PeekIdentity. ----

namespace {

// Reads a string member; skips any other value.
bool ReadText(codec::Reader& reader, std::string& out) {
  if (reader.Peek() == '"') {
    std::string_view text;
    if (!reader.String(text)) return false;
    out = text;
    return true;
  }
  std::string_view raw;
  return reader.SkipValue(raw);
}

// Calls `member(name)` for each member of the object at the reader; `member` consumes the value.
template <typename F>
bool ForEachMember(codec::Reader& reader, F member) {
  if (reader.Peek() != '{' || !reader.Enter()) return false;
  if (!reader.Take('}')) {
    do {
      std::string_view name;
      if (!reader.Key(name) || !member(name)) return false;
    } while (reader.Take(','));
    if (!reader.Take('}')) return false;
  }
  reader.Leave();
  return true;
}

}  // namespace

namespace {

// Calls `field(number, bytes)` for each field of a message that has bytes, until it returns false.
template <typename F>
void ForEachBytes(std::string_view message, F field) {
  codec::WireReader reader(message);
  std::uint32_t number = 0;
  codec::WireType type{};
  while (!reader.AtEnd() && reader.Tag(number, type)) {
    std::string_view bytes;
    if (type != codec::WireType::kBytes) {
      if (!reader.Skip(type)) return;
    } else if (!reader.Bytes(bytes) || !field(number, bytes)) {
      return;
    }
  }
}

// The metadata of an object are the first field of its message, whatever its kind.
template <typename F>
void ForEachMetadata(std::string_view message, F field) {
  ForEachBytes(message, [&](std::uint32_t number, std::string_view bytes) {
    if (number == 1) ForEachBytes(bytes, field);
    return number != 1;
  });
}

bool PeekProtobufKey(std::string_view message, bool namespaced, ObjectKey& key) {
  bool has_name = false, has_namespace = !namespaced;
  ForEachMetadata(message, [&](std::uint32_t number, std::string_view text) {
    if (number == 1) {
      key.name = text;
      has_name = true;
    } else if (number == 3 && namespaced) {
      key.namespace_ = text;
      has_namespace = true;
    }
    return !has_name || !has_namespace;
  });
  return has_name && has_namespace;
}

}  // namespace

Identity PeekProtobufIdentity(std::string_view message) noexcept try {
  Identity identity;
  ForEachMetadata(message, [&](std::uint32_t number, std::string_view text) {
    if (number == 1) identity.name = text;
    if (number == 3) identity.namespace_ = text;
    if (number == 6) identity.resource_version = text;
    return true;
  });
  return identity;
} catch (const std::bad_alloc&) {
  return {};
}

bool PeekKey(std::string_view json, bool namespaced, ObjectKey& key, Encoding encoding) noexcept try {
  if (encoding == Encoding::kProtobuf) return PeekProtobufKey(json, namespaced, key);
  std::string scratch;
  codec::Reader reader(json, kDepth, kAnyLength, scratch);
  std::string_view raw;
  bool has_name = false;
  bool has_namespace = !namespaced;
  const auto read = [&](String& out, bool& has) {
    std::string_view text;
    if (reader.Peek() != '"' || !reader.String(text)) return false;
    out = text;
    has = true;
    return !has_name || !has_namespace;  // stops once both were found
  };
  ForEachMember(reader, [&](std::string_view name) {
    if (name != "metadata" || reader.Peek() != '{') return reader.SkipValue(raw);
    ForEachMember(reader, [&](std::string_view member) {
      if (member == "name") return read(key.name, has_name);
      if (member == "namespace" && namespaced) return read(key.namespace_, has_namespace);
      return reader.SkipValue(raw);
    });
    return false;
  });
  return has_name && has_namespace;
} catch (const std::bad_alloc&) {
  return false;
}

bool codec::PeekMetadata(std::string_view bytes, MetadataText which, std::string& text, Encoding encoding) noexcept
    try {
  struct Member {
    std::string_view name;
    std::uint32_t number;  // of the field of ObjectMeta
  };
  constexpr Member kMembers[] = {{"namespace", 3}, {"uid", 5}, {"resourceVersion", 6}};
  const Member& wanted = kMembers[static_cast<std::size_t>(which)];
  bool found = false;
  if (encoding == Encoding::kProtobuf) {
    ForEachMetadata(bytes, [&](std::uint32_t number, std::string_view value) {
      if (number == wanted.number) text = value;
      found = number == wanted.number;
      return !found;
    });
    return found;
  }
  std::string scratch;
  codec::Reader reader(bytes, kDepth, kAnyLength, scratch);
  std::string_view raw;
  ForEachMember(reader, [&](std::string_view name) {
    if (name != "metadata" || reader.Peek() != '{') return reader.SkipValue(raw);
    ForEachMember(reader, [&](std::string_view member) {
      if (member != wanted.name) return reader.SkipValue(raw);
      std::string_view value;
      found = reader.Peek() == '"' && reader.String(value);
      if (found) text = value;
      return false;
    });
    return false;
  });
  return found;
} catch (const std::bad_alloc&) {
  return false;
}

Identity PeekIdentity(std::string_view json) noexcept {
  Identity identity;
  std::string scratch;
  codec::Reader reader(json, kDepth, kAnyLength, scratch);
  std::string_view raw;
  // An error, or running out of memory, ends the search. Members that were found before are still returned.
  const auto read = [&](std::string_view name) {
    if (name == "apiVersion") return ReadText(reader, identity.api_version);
    if (name == "kind") return ReadText(reader, identity.kind);
    if (name != "metadata" || reader.Peek() != '{') return reader.SkipValue(raw);
    return ForEachMember(reader, [&](std::string_view member) {
      if (member == "name") return ReadText(reader, identity.name);
      if (member == "namespace") return ReadText(reader, identity.namespace_);
      if (member == "resourceVersion") return ReadText(reader, identity.resource_version);
      return reader.SkipValue(raw);
    });
  };
  try {
    ForEachMember(reader, read);
  } catch (const std::bad_alloc&) {
    return identity;
  }
  return identity;
}

}  // namespace kgen
