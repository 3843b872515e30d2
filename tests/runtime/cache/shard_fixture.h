// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One informer of a shard, over a source that the test controls and that sends everything.
#ifndef KGEN_TESTS_RUNTIME_CACHE_SHARD_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CACHE_SHARD_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "kgen/client/shard_ranges.h"
#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {

// The ranges of keys: namespaces or UIDs.
inline ShardRanges RangesOf(const std::vector<std::string>& keys) {
  std::vector<ShardRange> ranges;
  for (const std::string& key : keys) ranges.push_back({ShardHash(key), ShardHash(key)});
  return ShardRanges(std::move(ranges));
}

class ShardInformerTest : public InformerFixture {
 protected:
  ShardInformerTest() { options_.shard_by = ShardBy::kUid; }

  // The ranges of the objects of these names.
  static ShardRanges Of(const std::vector<std::string>& names) {
    std::vector<std::string> uids;
    for (const std::string& name : names) uids.push_back("uid-" + name);
    return RangesOf(uids);
  }
  static std::string SelectorOf(const std::vector<std::string>& names) {
    return Must(Of(names).Selector(ShardBy::kUid));
  }
  std::uint64_t Hold(const std::vector<std::string>& names) {
    const std::uint64_t number = Core()->Hold(Of(names));
    Run();
    return number;
  }
  // Holds these of the listed objects, and watches.
  void SyncShard(const std::vector<std::string>& names, std::string_view version,
                 const std::vector<std::string>& items) {
    Core()->Hold(Of(names));
    Sync(version, items);
  }
  std::string State() { return std::string(ToString(Core()->status().state)); }
  const ListOptions& LastOptions() { return source_->last().options; }
};

}  // namespace kgen::cache

#endif  // KGEN_TESTS_RUNTIME_CACHE_SHARD_FIXTURE_H_
