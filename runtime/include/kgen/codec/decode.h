// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Decodes JSON into structs with tables.
//
//   bytes of a response --Decode--> a value of the caller            (client: get, create, update)
//   bytes of one list item or watch event --ObjectDecoder--> AnyRef   (informers: shares strings and subtrees)
//
// kgen has its own JSON reader: one pass, SSE2 where available, bounds-safe, no padding required of the input.
//
// Guarantees:
//   * A value that was decoded and not assigned is sent back as received: unknown members in order, big integers, the
//     spelling of numbers, times as written, and `null`. (Strings may be escaped differently, and the members of a
//     struct may be in another order.) A number that was assigned, even if to the same value, may be spelled either
//     way.
//   * A member whose JSON does not fit its type reads as absent, keeps its raw text, and is reported once per decode
//     as a FieldMismatch.
//   * An object is refused, with an Error and without leaks, only if it is not a JSON object, its name or namespace
//     cannot be decoded, it has another apiVersion or kind, or it exceeds a limit.
//   * An element of a list or map of structs that is null or not an object keeps its position: it becomes a default
//     struct with the raw text as an unknown field without a name (an unset String), and is written back as that text
//     unless something is assigned in it. Null elements of text and of the well-known types read as unset and are sent
//     back as null; a null among bare numbers makes the whole list or map a mismatch.
//   * Of duplicate members, the last one wins. Null reads as absent, and is sent back until a value is assigned.
//   * Invalid UTF-8, bad escapes and control characters inside strings are errors of the JSON, and so of the object. A
//     lone surrogate escape decodes to U+FFFD, as in Go.
#ifndef KGEN_CODEC_DECODE_H_
#define KGEN_CODEC_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/json.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// A member of the wrong type, whose raw text the decoder kept.
struct FieldMismatch {
  std::string path;     // "spec.template.spec.containers[2].ports[0].containerPort"
  std::string message;  // "expected integer, found string \"80\""
  std::size_t offset;   // in bytes, from the start of the input
};

// How an object is written. Protobuf is for kinds whose tables have wire fields, as in the built-in API.
enum class Encoding : std::uint8_t {
  kJson,
  kProtobuf,  // the message of the object, as a list has it: without the envelope that names its kind
};

// The options of Decode() and of an ObjectDecoder.
struct DecodeOptions {
  // Default: JSON. Protobuf is decoded to what the server's JSON would be decoded to, or not at all (kDecode): not if
  // it has a field that the table does not know, or text that is not UTF-8. It has no mismatches.
  Encoding encoding = Encoding::kJson;
  // Default: false. Mismatches, unknown members and duplicates become errors (kDecode, with path and offset), except
  // for unknown members where the schema says x-kubernetes-preserve-unknown-fields. For linting manifests.
  bool strict = false;
  // Default: false. Does not keep metadata.managedFields.
  bool drop_managed_fields = false;
  // Default: null. The list to which mismatches are added. Not owned.
  std::vector<FieldMismatch>* mismatches = nullptr;
  // Default: 16 MiB, a depth of 256, and a million members. The limits of one object; an object that exceeds one is
  // refused (kDecode). Values above 4 GiB, or above a depth of 1024, have no effect.
  std::size_t max_bytes = 16u << 20;
  std::size_t max_depth = 256;
  std::size_t max_fields = 1'000'000;
};

namespace detail {

// `object` is a default-constructed struct of that table, and is in that state again after an error.
Result<void> DecodeStruct(std::string_view json, void* object, const TypeTable& table, const DecodeOptions& options);

}  // namespace detail

// Decodes one object, which shares nothing with any other.
//
// Errors: kDecode, with the byte offset and the field path in the message.
// Thread safety: pure. Does not block.
template <detail::HasTable T>
Result<T> Decode(std::string_view json, const DecodeOptions& options = {}) {
  Result<T> result{std::in_place};
  if (auto done = detail::DecodeStruct(json, &*result, T::kTable, options); !done) return Fail(std::move(done).error());
  return result;
}

// Checks that the text is exactly one JSON value. Errors: kDecode, with the byte offset.
Result<Json> ParseJson(std::string_view text);

// Decodes objects for a cache: interns strings and shares equal subtrees between the objects that it decoded.
//
// Equal subtrees are recognised by a 128-bit hash of their raw bytes with a random key for each process. Fields whose
// subtrees rarely repeat are no longer tried, and are sampled again from time to time.
//
// Thread safety: one thread at a time (an informer's strand); the objects may be used on any thread.
// Ownership: pool and memo hold one reference to each shared block, and drop those that no object holds: each Decode()
// checks a few of them, in proportion to what the object added; DecodeAdded() does not.
class ObjectDecoder {
 public:
  // What the decoded objects share with each other.
  struct Sharing {
    bool strings = true;   // equal texts
    bool subtrees = true;  // equal members that are structs, lists or maps
  };
  // Decodes objects of that table.
  explicit ObjectDecoder(const TypeTable& table, Sharing sharing = {true, true});
  ObjectDecoder(ObjectDecoder&& other) noexcept;
  ObjectDecoder& operator=(ObjectDecoder&& other) noexcept;
  ~ObjectDecoder();

  const TypeTable& table() const noexcept;  // the one of the constructor

  // Decodes one object into an immutable block. Mismatches go to options.mismatches.
  //
  // `before` may be an earlier state of the object, decoded by any decoder with the same options: members of the object
  // and of its metadata whose bytes have not changed share their blocks with it and are not decoded again. Any other
  // object, or null, is allowed as well; then nothing is shared.
  // Errors: kDecode (see above); the message contains the object's namespace/name as far as they were read.
  Result<AnyRef> Decode(std::string_view json, const DecodeOptions& options = {}, const AnyRef& before = {});

  // Decodes one object as Decode() does, without the search for shared blocks that no object holds. For a first list,
  // while all objects that were decoded are kept: the search would find nothing.
  Result<AnyRef> DecodeAdded(std::string_view json, const DecodeOptions& options = {});

  // Returns whether `before` was decoded with these options from the same bytes, so that decoding them again would make
  // an equal object. `kind` and `apiVersion` at the front may be missing in one of them. Compares a 64-bit hash with a
  // random key for each process. False also if `before` is null, or had fields of the wrong type.
  bool IsUnchanged(std::string_view json, const DecodeOptions& options, const AnyRef& before) const noexcept;

  // Drops every shared string and subtree that no object uses any more. Cost: one or a few passes over pool and memo.
  void Sweep();
  // Sweeps in steps of some tens of microseconds, for a strand on which other work waits; Decode() may be called in
  // between. After StartSweep(), SweepStep() returns true while there may be more to drop.
  void StartSweep();
  bool SweepStep();
  // Drops up to `entries` shared strings and subtrees, even those that objects use (which keep them alive). Returns
  // true while there are more. The destructor drops all of them at once, which may delay other work of a strand.
  bool FreeStep(std::size_t entries);
  // What is shared now, and how often a search for it succeeded and failed.
  struct Stats {
    // How many strings and subtrees are shared, and the searches for them.
    std::uint64_t strings = 0, string_hits = 0, subtrees = 0, subtree_hits = 0, subtree_misses = 0;
    std::size_t bytes = 0;  // of the tables of pool and memo
  };
  Stats stats() const noexcept;

 private:
  class Impl;
  Impl* impl_;
};

// Reads the identity of an object without decoding it, for objects that were refused. Members that were not found are
// empty.
struct Identity {
  std::string name, namespace_, resource_version, api_version, kind;  // "" if the object has none
};
Identity PeekIdentity(std::string_view json) noexcept;
// Reads the identity of an object in protobuf, whose envelope has apiVersion and kind.
Identity PeekProtobufIdentity(std::string_view message) noexcept;

// Finds namespace and name of an object without decoding it. Returns false if they were not found. Cheap if they are
// near the beginning.
bool PeekKey(std::string_view json, bool namespaced, ObjectKey& key, Encoding encoding = Encoding::kJson) noexcept;

}  // namespace kgen

#endif  // KGEN_CODEC_DECODE_H_
