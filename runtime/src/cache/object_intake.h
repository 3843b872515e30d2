// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From the bytes of one object to what goes into the queue: decode, transform, refuse.
#ifndef KGEN_RUNTIME_CACHE_OBJECT_INTAKE_H_
#define KGEN_RUNTIME_CACHE_OBJECT_INTAKE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/cache/shared_informer.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"

namespace kgen::cache {

struct Received {
  ObjectKey key{};        // empty: name or namespace could not be read
  AnyRef object{};        // null: refused, and reported
  std::string version{};  // as the server wrote it, whatever the transform did; "" if it could not be read
  bool foreign = false;   // refused as of another kind
};

// Thread safety: on the informer's strand.
class ObjectIntake {
 public:
  // `stored` returns what the cache holds under a key, or null: what has not changed since then is shared with it.
  ObjectIntake(const TypeTable& table, std::string informer, Shared<Observer> observer, DecodeOptions decode,
               TransformFunction transform, std::function<AnyRef(const ObjectKey&)> stored);

  // Decodes and transforms once. Never fails: errors are reported to the observer.
  Received Take(std::string_view json);
  // An event that is no object of ours, by its text: for unknown event types and bookmarks that do not decode.
  void Report(std::string_view json, const Error& error);
  // Forgets what no object shares any more, in steps: SweepStep() returns true while there may be more of it. The
  // decoder does so by itself as well, a little with each object.
  void StartSweep() { decoder_.StartSweep(); }
  bool SweepStep() { return decoder_.SweepStep(); }
  // Forgets all that objects share, in steps. Returns true while there is more.
  bool FreeStep(std::size_t entries) { return decoder_.FreeStep(entries); }

 private:
  AnyRef Stored(std::string_view json) const;
  Received Refuse(std::string_view json, const Error& error);
  Result<AnyRef> Transform(AnyRef object);
  // The result of a transform, which was made by a copy that shares nothing, with its text and subtrees shared again.
  AnyRef Share(AnyRef changed, const AnyRef& received);
  void ReportMismatches(const ObjectKey& key);

  const TypeTable& table_;
  std::string informer_;
  Shared<Observer> observer_;
  std::vector<FieldMismatch> mismatches_;
  DecodeOptions decode_;
  ObjectDecoder decoder_;
  TransformFunction transform_;
  std::function<AnyRef(const ObjectKey&)> stored_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_OBJECT_INTAKE_H_
