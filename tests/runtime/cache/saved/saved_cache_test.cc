// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/saved/saved_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kgen/core/object_meta.h"
#include "kgen/testing/simulation.h"
#include "tests/runtime/cache/saved/saved_fixture.h"

namespace kgen::cache {
namespace {

using ::testing::IsEmpty;

// Every so many objects have a member of the wrong type.
constexpr int kWrongEvery = 97;

bool IsWrong(const SavedItem& item) { return item.bytes.find("no boolean") != std::string_view::npos; }

// A file of some 13 batches that is read.
class SavedCacheTest : public ::testing::Test {
 protected:
  SavedCacheTest() {
    for (int i = 0; i < 6000; ++i) {
      const std::string wrong = i % kWrongEvery == 0 ? R"(,"spec":{"suspend":"no boolean"})" : "";
      saved_.Put("n" + std::to_string(i), wrong + R"(,"more":")" + std::string(500, 'x') + '"');
    }
    SavedWriter writer(files_, kBinding);
    Must(writer.Save(saved_.Snapshot(), "uid", true, 5));
  }

  void Read() {
    cache_->Read({.table = sample::Sample::kTable,
                  .options = {},
                  .on_batch = [this](SavedBatch batch) { batches_.push_back(std::move(batch)); },
                  .on_end = [this](Result<SavedState> end) { ends_.push_back(std::move(end)); }});
    (void)simulation_.RunUntilIdle();
  }
  void TakeAll() {
    for (std::size_t taken = 0; taken < batches_.size(); ++taken) {
      cache_->Taken({});
      (void)simulation_.RunUntilIdle();
    }
  }

  testing::Simulation simulation_{1};
  const Shared<test_support::SimulatedFiles> files_ = MakeFiles();
  SavedStore saved_;
  const Shared<SavedCache> cache_ = MakeShared<SavedCache>(
      SavedSettings{.files = files_, .binding = kBinding, .every = std::chrono::seconds(10)}, "samples",
      simulation_.executor(), simulation_.executor()->MakeStrand("samples"), MakeShared<Observer>());
  std::vector<SavedBatch> batches_;
  std::vector<Result<SavedState>> ends_;
};

TEST_F(SavedCacheTest, DecodesOnTheReadingThreadWhatComesAfterFourBatchesThatWait) {
  Read();
  ASSERT_EQ(batches_.size(), 8U);
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    for (const SavedItem& item : batches_[i].items) {
      ASSERT_EQ(static_cast<bool>(item.object), i >= 4 && !IsWrong(item)) << "batch " << i << ": " << item.bytes;
      if (!item.object) continue;
      ASSERT_EQ(CanonicalJson(Encode(item.object)), CanonicalJson(item.bytes));
    }
  }
  EXPECT_THAT(ends_, IsEmpty());
}

TEST_F(SavedCacheTest, ReadsOnWhenBatchesAreTaken) {
  Read();
  TakeAll();
  ASSERT_EQ(ends_.size(), 1U);
  ASSERT_TRUE(ends_.front()) << ends_.front().error().ToString();
  Objects objects;
  for (const SavedBatch& batch : batches_) {
    for (const SavedItem& item : batch.items) {
      const auto object = Must(Decode<sample::Sample>(item.bytes));
      objects["default/" + object.metadata.name.str()] = item.bytes;
    }
  }
  EXPECT_TRUE(objects == saved_.objects) << objects.size() << " objects";
}

TEST_F(SavedCacheTest, EndsReadingWhileItWaits) {
  Read();
  cache_->EndReading();
  (void)simulation_.RunUntilIdle();
  EXPECT_FALSE(cache_->busy());
  EXPECT_EQ(batches_.size(), 8U);
  EXPECT_THAT(ends_, IsEmpty());
}

}  // namespace
}  // namespace kgen::cache
