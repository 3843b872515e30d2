// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// JSON into tables.
//
//   bytes of a response --Decode--> a value of the caller's          (client: get, create, update)
//   bytes of one list item or watch event --ObjectDecoder--> AnyRef   (informers: shares strings and subtrees)
//
// The reader is our own: one pass, SSE2 where there is, bounds-safe, no padding asked of the input.
//
// What it promises:
//   * What is decoded and not assigned is sent back as it came: unknown members in order, big integers, the spelling of
//     numbers, times as written, and `null`. (A string may be escaped differently, and a struct's members be in another
//     order.) A number that was assigned, even if its value is the one that came, may be spelled either way.
//   * A member whose JSON does not fit its type reads as absent, keeps its raw text, and is reported once per decode
//     as a FieldMismatch.
//   * An object is refused, with an Error and with nothing leaked, only when it is no JSON object, its name or
//     namespace does not decode, its apiVersion or kind is another one's, or a limit is passed.
//   * An element of a list or map of structs that is null or no object stays in its place: a default struct with the
//     raw text as an unknown field without a name (an unset String), written back as that text unless something is
//     assigned in it. Null elements of text and of the well-known types read as unset and go back as null; a null
//     among bare numbers makes the whole list or map a mismatch.
//   * Duplicate members: the last one wins. Null reads as absent, and is sent back until a value is assigned.
//   * Invalid UTF-8, bad escapes and control characters inside strings are errors of the JSON, so of the object. A
//     lone surrogate escape decodes to U+FFFD, as Go does.
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

// A member that was kept raw because it did not fit.
struct FieldMismatch {
  std::string path;     // "spec.template.spec.containers[2].ports[0].containerPort"
  std::string message;  // "expected integer, found string \"80\""
  std::size_t offset;   // in bytes, from the start of the input
};

struct DecodeOptions {
  // Mismatches, unknown members and duplicates become errors (kDecode, with path and offset), except for unknown
  // members where the schema says x-kubernetes-preserve-unknown-fields. For linting manifests.
  bool strict = false;
  // metadata.managedFields is not kept.
  bool drop_managed_fields = false;
  // Where mismatches are reported. Not owned; may be null.
  std::vector<FieldMismatch>* mismatches = nullptr;
  // Limits of one object. Bytes count up to 4 GiB and depth up to 1024, whatever is asked for.
  std::size_t max_bytes = 16u << 20;
  std::size_t max_depth = 256;
  std::size_t max_fields = 1'000'000;
};

namespace detail {

// `object` is a constructed, default struct of that table. On error it is left default again.
Result<void> DecodeStruct(std::string_view json, void* object, const TypeTable& table, const DecodeOptions& options);

}  // namespace detail

// Decodes one object, sharing nothing with any other.
//
// Errors: kDecode, with "line:column"-free byte offset and field path in the message.
// Thread safety: pure. Does not block.
template <detail::HasTable T>
Result<T> Decode(std::string_view json, const DecodeOptions& options = {}) {
  Result<T> result{std::in_place};
  if (auto done = detail::DecodeStruct(json, &*result, T::kTable, options); !done) return Fail(std::move(done).error());
  return result;
}

// The text of exactly one JSON value, checked. Errors: kDecode with byte offset.
Result<Json> ParseJson(std::string_view text);

// Decodes objects for a cache: interns strings and shares equal subtrees between the objects it made.
//
// Equal subtrees are recognised by a keyed 128-bit hash of their raw bytes (key: random per process), never by an
// unkeyed one. A field whose subtrees hardly repeat stops being tried, and is sampled again now and then.
//
// Thread safety: one thread at a time (an informer's strand); the objects are free to go anywhere.
// Ownership: pool and memo hold one reference to each shared block, and drop those that nobody else holds: Decode()
// looks at a few of them each time, in proportion to what the object added.
class ObjectDecoder {
 public:
  struct Sharing {
    bool strings = true;
    bool subtrees = true;
  };
  explicit ObjectDecoder(const TypeTable& table, Sharing sharing = {true, true});
  ObjectDecoder(ObjectDecoder&& other) noexcept;
  ObjectDecoder& operator=(ObjectDecoder&& other) noexcept;
  ~ObjectDecoder();

  const TypeTable& table() const noexcept;

  // One object, as an immutable block. Mismatches go to options.mismatches.
  //
  // `before` may be an earlier state of the object, made by any decoder with the same options: members of the object
  // and of its metadata whose bytes have not changed share their blocks with it and are not decoded again. Any other
  // object, and null, are right as well; they just share nothing.
  // Errors: kDecode (see above); the message holds the object's namespace/name as far as it was read.
  Result<AnyRef> Decode(std::string_view json, const DecodeOptions& options = {}, const AnyRef& before = {});

  // Forgets every shared string and subtree that no object uses any more. Cost: one pass over pool and memo, or a few.
  void Sweep();
  // The same in steps of some tens of microseconds, for a strand on which other work waits: Decode() may come in
  // between. After StartSweep(), SweepStep() returns true while there may be more to forget.
  void StartSweep();
  bool SweepStep();
  // Forgets up to so many shared strings and subtrees, also those that objects use, which keep them. Returns true while
  // there are more. The destructor does all of this at once, which is long where a strand has other work.
  bool FreeStep(std::size_t entries);
  struct Stats {
    std::uint64_t strings = 0, string_hits = 0, subtrees = 0, subtree_hits = 0, subtree_misses = 0;
    std::size_t bytes = 0;  // of the tables of pool and memo
  };
  Stats stats() const noexcept;

 private:
  class Impl;
  Impl* impl_;
};

// Cheap look at one object's identity without decoding it: for an object that was refused. Empty strings where not
// found.
struct Identity {
  std::string name, namespace_, resource_version, api_version, kind;
};
Identity PeekIdentity(std::string_view json) noexcept;

// Namespace and name of an object, found without decoding it. False if they were not found. Cheap where they come
// early.
bool PeekKey(std::string_view json, bool namespaced, ObjectKey& key) noexcept;

}  // namespace kgen

#endif  // KGEN_CODEC_DECODE_H_
