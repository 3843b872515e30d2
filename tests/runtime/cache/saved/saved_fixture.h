// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Stores that are saved, and what a file holds.
#ifndef KGEN_TESTS_RUNTIME_CACHE_SAVED_SAVED_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CACHE_SAVED_SAVED_FIXTURE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/saved/saved_file.h"
#include "cache/store/store.h"
#include "codec/protobuf_encoder.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/simulated_files.h"

namespace kgen::cache {

// JSON by key.
using Objects = std::map<std::string, std::string>;

inline const SavedBinding kBinding{.server = "api.test:6443", .authorities = "sha256:1", .resource = "samples.test/v1"};

inline Shared<test_support::SimulatedFiles> MakeFiles(std::uint64_t seed = 1) {
  return MakeShared<test_support::SimulatedFiles>(
      [random = std::mt19937_64(seed)](std::uint32_t n) mutable { return static_cast<std::uint32_t>(random() % n); });
}

// A store, and what it is to hold.
class SavedStore {
 public:
  void Put(const std::string& name, const std::string& rest = "") {
    const std::string json = R"({"apiVersion":"test.kgen.dev/v1","kind":"Sample","metadata":{"name":")" + name +
                             R"(","namespace":"default"})" + rest + "}";
    Apply({{"default", name}, MakeRef(Must(Decode<sample::Sample>(json))), false});
    objects["default/" + name] = json;
  }
  // Puts an object that came as protobuf.
  void PutProtobuf(const std::string& name, const std::string& rest = "") {
    Put(name, rest);
    const auto object = Must(Decode<sample::Sample>(objects["default/" + name]));
    const std::string message = Must(codec::EncodeProtobuf(&object, sample::Sample::kTable));
    Apply({{"default", name}, Must(decoder_.Decode(message, {.encoding = Encoding::kProtobuf})), false});
  }
  void Remove(const std::string& name) {
    Apply({{"default", name}, {}, false});
    objects.erase("default/" + name);
  }
  AnySnapshot Snapshot() { return store_->Snapshot(); }

  Objects objects;
  int version = 100;

 private:
  void Apply(Change change) {
    Transaction transaction;
    transaction.changes.push_back(std::move(change));
    transaction.version = std::to_string(++version);
    store_->Apply(std::move(transaction));
  }
  Shared<Store> store_ = MakeShared<Store>();
  ObjectDecoder decoder_{sample::Sample::kTable};
};

// The last state in a file.
struct Found {
  SavedState state;
  Objects objects;
};

// Reads as the informer does: keeps elements apart until their commit.
inline Result<Found> ReadBack(SavedFiles& files, const SavedBinding& binding = kBinding) {
  Found found;
  Objects next;
  auto state = SavedReader::Read(files, binding, [&](const SavedBatch& batch) {
    for (const SavedItem& item : batch.items) {
      if (item.bytes.empty()) {
        next.erase(item.key.str());
      } else {
        const auto object = Must(Decode<sample::Sample>(item.bytes, {.encoding = item.encoding}));
        const bool json = item.encoding == Encoding::kJson;
        next[ObjectKey(object.metadata.namespace_, object.metadata.name).str()] = json ? item.bytes : Encode(object);
      }
    }
    if (batch.committed) found.objects = next;
    return true;
  });
  if (!state) return Fail(std::move(state).error());
  found.state = *std::move(state);
  return found;
}

// Saves with what few tests care about.
inline Result<AnySnapshot> SaveIn(SavedWriter& writer, AnySnapshot snapshot, std::int64_t now = 1) {
  return writer.Save(std::move(snapshot), "uid-of-kube-system", true, now);
}

}  // namespace kgen::cache

#endif  // KGEN_TESTS_RUNTIME_CACHE_SAVED_SAVED_FIXTURE_H_
