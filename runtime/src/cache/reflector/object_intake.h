// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ObjectIntake: turns the bytes of one object into an element of the queue. It decodes, transforms and refuses objects.
#ifndef KGEN_SRC_CACHE_REFLECTOR_OBJECT_INTAKE_H_
#define KGEN_SRC_CACHE_REFLECTOR_OBJECT_INTAKE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/reflector/shard_filter.h"
#include "kgen/cache/transform.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"

namespace kgen::cache {

struct Received {
  ObjectKey key{};         // empty: name or namespace could not be read
  AnyRef object{};         // null: refused, and reported
  std::string version{};   // as the server wrote it, not changed by the transform; "" if it could not be read
  bool foreign = false;    // refused because it is of another kind
  bool unchanged = false;  // the object is the stored one
  bool left_out = false;   // it is outside of the ranges that are held; only the version was read, and only of a watch
  std::optional<Error> json_needed{};  // why this protobuf cannot be used; nothing was reported
};

// What the text of an object belongs to.
enum class Origin : std::uint8_t { kFirstList, kLaterList, kWatch };

// Thread safety: on the informer's strand.
class ObjectIntake {
 public:
  // `stored` returns the cached object of a key, or null. A new object shares its unchanged parts with the cached one.
  ObjectIntake(const TypeTable& table, std::string informer, Shared<Observer> observer, DecodeOptions decode,
               TransformFunction transform, std::function<AnyRef(const ObjectKey&)> stored);

  const TypeTable& table() const noexcept { return table_; }
  const DecodeOptions& decode_options() const noexcept { return decode_; }

  // Decodes and transforms once. Never fails: errors are reported to the observer. kFirstList is for a list before
  // which nothing was taken; an object of a later list that has not changed is not decoded.
  Received Take(std::string_view bytes, Origin origin, Encoding encoding = Encoding::kJson);
  // Decodes an object that was saved, and so was transformed before. It shares text and subtrees as the first list
  // does. Errors: kDecode, with the key as far as it could be read.
  Result<AnyRef> TakeSaved(std::string_view bytes, Encoding encoding);
  // From now on, Take() leaves out what is outside of the ranges.
  void Hold(ShardBy by, ShardRanges ranges) { shard_.emplace(by, std::move(ranges)); }
  // Reports an event that carries no object of this kind, with its text: for unknown event types and for bookmarks that
  // cannot be decoded.
  void Report(std::string_view json, const Error& error);
  // Forgets strings and subtrees that no object shares any more, in steps; SweepStep() returns true while there may be
  // more. The decoder also sweeps by itself, a little with each object.
  void StartSweep() { decoder_.StartSweep(); }
  bool SweepStep() { return decoder_.SweepStep(); }
  // Forgets all shared strings and subtrees, in steps. Returns true while there are more.
  bool FreeStep(std::size_t entries) { return decoder_.FreeStep(entries); }

 private:
  Received LeaveOut(std::string_view bytes, Origin origin, Encoding encoding) const;
  AnyRef Stored(std::string_view bytes, Encoding encoding) const;
  Received Refuse(std::string_view json, const Error& error);
  Result<AnyRef> Transform(AnyRef object);
  // A transform works on a copy that shares nothing. This shares the strings and subtrees of its result again.
  AnyRef Share(const AnyRef& changed, const AnyRef& received);
  void ReportMismatches(const ObjectKey& key);

  const TypeTable& table_;
  std::string informer_;
  Shared<Observer> observer_;
  std::vector<FieldMismatch> mismatches_;
  DecodeOptions decode_;
  ObjectDecoder decoder_;
  TransformFunction transform_;
  std::function<AnyRef(const ObjectKey&)> stored_;
  std::optional<ShardFilter> shard_;  // absent: everything is taken
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_OBJECT_INTAKE_H_
