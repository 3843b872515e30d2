// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What is saved is read again: bases, logs, deletions, compaction; and what damage does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cache/saved/record.h"
#include "tests/runtime/cache/saved/saved_fixture.h"
#include "tests/support/paths.h"

namespace kgen::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kName = kBinding.FileName();

// Members that a decoder could lose or spell in another way.
constexpr const char* kSpellings =
    R"(,"spec":{"amount":"1000m","big":9007199254740993,"ratio":1.50e3,"replicas":3,"tree":null,)"
    R"("when":"2024-01-01T00:00:00.000Z","exact":"2024-01-01T00:00:00.1Z","blob":"AAE=","suspend":"no boolean",)"
    R"("extra":{"b": 1.0,"a":[null,{}]},"unknown":{"z":12345678901234567890,"a":null}},"more":[1,2.0]})";

TEST(SavedFile, KeepsEverythingThatWasReceived) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("spelled", std::string(kSpellings).substr(0, std::string_view(kSpellings).size() - 1));
  store.Put("null-status", R"(,"status":null)");
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  const Found found = Must(ReadBack(*files));
  ASSERT_EQ(found.objects.size(), 2U);
  for (const auto& [key, json] : found.objects) EXPECT_EQ(CanonicalJson(json), CanonicalJson(store.objects[key]));
  for (const char* spelling : {"9007199254740993", "1.50e3", "\"1000m\"", "2024-01-01T00:00:00.000Z", "no boolean",
                               "{\"b\": 1.0,\"a\":[null,{}]}", "12345678901234567890", "\"tree\":null", "2.0"}) {
    EXPECT_THAT(found.objects.at("default/spelled"), HasSubstr(spelling));
  }
}

TEST(SavedFile, HasTheStateOfTheLastSave) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  SavedWriter writer(files, kBinding);
  Must(writer.Save(store.Snapshot(), "", false, 5));
  store.Put("b");
  Must(writer.Save(store.Snapshot(), "uid", true, 1'700'000'000'000'000'000));
  const Found found = Must(ReadBack(*files));
  EXPECT_EQ(found.state.version, "102");
  EXPECT_EQ(found.state.cluster, "uid");
  EXPECT_TRUE(found.state.resumable);
  EXPECT_EQ(found.state.saved_at, 1'700'000'000'000'000'000);
  EXPECT_EQ(found.state.objects, 2U);
  EXPECT_EQ(found.state.bytes, files->Content(kName).size());
  EXPECT_LT(found.state.base_bytes, found.state.bytes);
}

TEST(SavedFile, OfManyObjectsIsReadInBatches) {
  const auto files = MakeFiles();
  SavedStore store;
  for (int i = 0; i < 3000; ++i) store.Put("n" + std::to_string(i), R"(,"more":")" + std::string(500, 'x') + '"');
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  std::size_t batches = 0, largest = 0;
  Must(SavedReader::Read(*files, kBinding, [&](const SavedBatch& batch) {
    std::size_t bytes = 0;
    for (const SavedItem& item : batch.items) bytes += item.bytes.size();
    largest = std::max(largest, bytes);
    ++batches;
    return true;
  }));
  EXPECT_GT(batches, 6U);
  EXPECT_LT(largest, kUsualPayload + 1000);
  const Found found = Must(ReadBack(*files));
  EXPECT_EQ(found.objects, store.objects);
}

TEST(SavedFile, HasObjectsThatCameAsProtobufInThatEncoding) {
  const auto files = MakeFiles();
  SavedStore store;
  store.PutProtobuf("a", R"(,"spec":{"amount":"1","replicas":3,"when":"2024-01-01T00:00:00Z","tree":{"name":"t"}})");
  store.Put("b", R"(,"spec":{"replicas":3})");
  store.PutProtobuf("c");
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  std::vector<Encoding> encodings;
  Must(SavedReader::Read(*files, kBinding, [&](const SavedBatch& batch) {
    for (const SavedItem& item : batch.items) encodings.push_back(item.encoding);
    return true;
  }));
  EXPECT_THAT(encodings, ElementsAre(Encoding::kProtobuf, Encoding::kJson, Encoding::kProtobuf));
  const Found found = Must(ReadBack(*files));
  ASSERT_EQ(found.objects.size(), 3U);
  for (const auto& [key, json] : found.objects) EXPECT_EQ(CanonicalJson(json), CanonicalJson(store.objects[key]));
}

TEST(SavedFile, HasObjectsInTheOrderOfTheirNames) {
  const auto files = MakeFiles();
  SavedStore store;
  for (int i = 99; i >= 10; --i) store.Put("n" + std::to_string(i));
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  std::vector<std::string> objects, expected;
  Must(SavedReader::Read(*files, kBinding, [&](const SavedBatch& batch) {
    for (const SavedItem& item : batch.items) objects.emplace_back(item.bytes);
    return true;
  }));
  for (const auto& [key, json] : store.objects) expected.push_back(json);
  EXPECT_EQ(objects, expected);
}

TEST(SavedFile, TakesAnObjectThatIsLargerThanABatch) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("large", R"(,"more":")" + std::string(3u << 20, 'x') + '"');
  store.Put("small");
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects);
}

TEST(SavedFile, IsNotWrittenWithAnObjectThatCouldNotBeReadAgain) {
  const auto files = MakeFiles();
  SavedStore store;
  sample::Sample large = Must(Decode<sample::Sample>(R"({"metadata":{"name":"large","namespace":"default"}})"));
  large.metadata.labels["text"] = std::string(17u << 20, 'x');
  const auto holder = MakeShared<Store>();
  Transaction transaction;
  transaction.changes.push_back({{"default", "large"}, MakeRef(std::move(large)), false});
  holder->Apply(std::move(transaction));
  SavedWriter writer(files, kBinding);
  const auto saved = SaveIn(writer, holder->Snapshot());
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message(), HasSubstr("default/large has 17825"));
  EXPECT_THAT(files->Names(), IsEmpty());
}

TEST(SavedFile, AppendsOnlyWhatChanged) {
  const auto files = MakeFiles();
  SavedStore store;
  for (int i = 0; i < 200; ++i) store.Put("n" + std::to_string(i), R"(,"more":")" + std::string(1000, 'x') + '"');
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  const std::size_t base = files->Content(kName).size();
  store.Put("n7", R"(,"more":"changed")");
  store.Remove("n8");
  store.Put("new");
  Must(SaveIn(writer, store.Snapshot()));
  EXPECT_LT(files->Content(kName).size(), base + 1000);
  EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects);
}

TEST(SavedFile, ReturnsTheSnapshotThatWasSavedBefore) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  SavedWriter writer(files, kBinding);
  EXPECT_EQ(Must(SaveIn(writer, store.Snapshot())).version(), "");
  store.Put("b");
  EXPECT_EQ(Must(SaveIn(writer, store.Snapshot())).version(), "101");
  EXPECT_EQ(Must(SaveIn(writer, store.Snapshot())).version(), "102");
}

TEST(SavedFile, IsWrittenAnewWhenTheLogIsLongerThanTheBase) {
  const auto files = MakeFiles();
  SavedStore store;
  const std::string text = R"(,"more":")" + std::string(100'000, 'x') + '"';
  for (int i = 0; i < 20; ++i) store.Put("n" + std::to_string(i), text);
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  const std::uint64_t base = Must(ReadBack(*files)).state.base_bytes;
  std::uint64_t longest = 0;
  int bases = 0;
  for (int round = 0; round < 60; ++round) {
    store.Put("n0", text + R"(,"round":)" + std::to_string(round));
    Must(SaveIn(writer, store.Snapshot()));
    const Found found = Must(ReadBack(*files));
    EXPECT_EQ(found.objects, store.objects);
    longest = std::max(longest, found.state.bytes);
    if (found.state.bytes == found.state.base_bytes) ++bases;
  }
  EXPECT_EQ(bases, 2);
  EXPECT_LT(longest, 2 * base + 200'000);
  EXPECT_THAT(files->Names(), ElementsAre(kName));
}

TEST(SavedFile, OfFewObjectsIsNotWrittenAnewAllTheTime) {
  const auto files = MakeFiles();
  SavedStore store;
  SavedWriter writer(files, kBinding);
  for (int round = 0; round < 50; ++round) {
    store.Put("n");
    Must(SaveIn(writer, store.Snapshot()));
  }
  const Found found = Must(ReadBack(*files));
  EXPECT_LT(found.state.base_bytes * 10, found.state.bytes);
}

TEST(SavedFile, IsContinuedByTheNextProcess) {
  const auto files = MakeFiles();
  SavedStore store;
  for (int i = 0; i < 50; ++i) store.Put("n" + std::to_string(i), R"(,"more":")" + std::string(1000, 'x') + '"');
  Must(SaveIn(*std::make_unique<SavedWriter>(files, kBinding), store.Snapshot()));
  files->SetContent(kName, files->Content(kName) + "the tail that a crash left");
  const Found found = Must(ReadBack(*files));
  SavedWriter next(files, kBinding);
  next.Continue(found.state, store.Snapshot());
  store.Put("n1", R"(,"more":1)");
  store.Remove("n2");
  Must(SaveIn(next, store.Snapshot()));
  const Found again = Must(ReadBack(*files));
  EXPECT_EQ(again.objects, store.objects);
  EXPECT_EQ(again.state.base_bytes, found.state.base_bytes);
  EXPECT_LT(again.state.bytes, found.state.bytes + 600);
}

TEST(SavedFile, IsReplacedIfAnotherProcessHasWrittenItSinceItWasRead) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  auto other = std::make_unique<SavedWriter>(files, kBinding);
  Must(SaveIn(*other, store.Snapshot()));
  const Found found = Must(ReadBack(*files));
  SavedWriter next(files, kBinding);
  next.Continue(found.state, store.Snapshot());
  SavedStore theirs;
  theirs.Put("b");
  other.reset();
  Must(SaveIn(*std::make_unique<SavedWriter>(files, kBinding), theirs.Snapshot()));  // a new base
  store.Put("c");
  Must(SaveIn(next, store.Snapshot()));
  EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects);
}

TEST(SavedFile, IsWrittenByOneWriterAtATime) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  auto first = std::make_unique<SavedWriter>(files, kBinding);
  SavedWriter second(files, kBinding);
  Must(SaveIn(*first, store.Snapshot()));
  const auto refused = SaveIn(second, store.Snapshot());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kConfig);
  first.reset();
  store.Put("b");
  Must(SaveIn(second, store.Snapshot()));
  EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects);
}

TEST(SavedFile, KeepsItsLastStateWhenTheDiskIsFull) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto files = MakeFiles(seed);
    SavedStore store;
    store.Put("a");
    SavedWriter writer(files, kBinding);
    Must(SaveIn(writer, store.Snapshot()));
    const Objects before = store.objects;
    store.Put("b");
    files->FillDisk(true);
    EXPECT_FALSE(SaveIn(writer, store.Snapshot()));  // appends
    EXPECT_FALSE(SaveIn(writer, store.Snapshot()));  // writes a base
    EXPECT_THAT(files->Names(), ElementsAre(kName)) << "what could not be completed takes room";
    const Objects found = Must(ReadBack(*files)).objects;
    EXPECT_TRUE(found == before || found == store.objects);
    files->FillDisk(false);
    store.Remove("a");
    Must(SaveIn(writer, store.Snapshot()));
    EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects);
  }
}

TEST(SavedFile, ReportsAReadError) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  files->FailReads(true);
  const auto read = ReadBack(*files);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kConfig);
}

TEST(SavedFile, ThatDoesNotExistIsNotFound) {
  const auto read = ReadBack(*MakeFiles());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kNotFound);
}

TEST(SavedFile, IsNoLongerReadWhenTheCallerSaysSo) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  SavedWriter writer(files, kBinding);
  Must(SaveIn(writer, store.Snapshot()));
  int calls = 0;
  const auto read = SavedReader::Read(*files, kBinding, [&](const auto&) { return ++calls > 1; });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kCancelled);
  EXPECT_EQ(calls, 1);
}

// ------------------------------------------------------------------------------------------------------ damage

// A file of three states.
struct Small {
  Shared<test_support::SimulatedFiles> files = MakeFiles();
  std::vector<Objects> states;
  std::string content;

  Small() {
    SavedStore store;
    SavedWriter writer(files, kBinding);
    const auto save = [&] {
      Must(SaveIn(writer, store.Snapshot()));
      states.push_back(store.objects);
    };
    store.Put("a");
    store.Put("b");
    save();
    store.Put("a", R"(,"more":1)");
    save();
    store.Remove("b");
    store.Put("c");
    save();
    content = files->Content(kName);
  }

  // Returns the number of the state that a file of that content gives, or -1 if it is refused.
  int Read(std::string damaged) const {
    files->SetContent(kName, std::move(damaged));
    const auto read = ReadBack(*files);
    if (!read) {
      EXPECT_EQ(read.error().code(), Code::kDecode);
      EXPECT_THAT(read.error().message(), HasSubstr("simulated/" + kName));
      return -1;
    }
    const auto found = std::find(states.begin(), states.end(), read->objects);
    EXPECT_NE(found, states.end()) << "a state that was never saved";
    EXPECT_EQ(read->state.version,
              std::to_string(std::vector<int>{102, 103, 105}.at(static_cast<std::size_t>(found - states.begin()))));
    return static_cast<int>(found - states.begin());
  }
};

TEST(SavedFile, ThatIsCutOffAnywhereHasAnEarlierState) {
  const Small small;
  ASSERT_EQ(small.Read(small.content), 2);
  int last = -1;
  std::vector<int> counts(4);
  for (std::size_t size = 0; size < small.content.size(); ++size) {
    const int state = small.Read(small.content.substr(0, size));
    EXPECT_GE(state, last) << "of a longer file";
    last = state;
    ++counts.at(static_cast<std::size_t>(std::int64_t{state} + 1));
  }
  EXPECT_GT(counts[0], 0);
  EXPECT_GT(counts[1], 0);
  EXPECT_GT(counts[2], 0);
  EXPECT_EQ(counts[3], 0) << "the last state without its last byte";
}

TEST(SavedFile, WithAnyByteChangedHasAnEarlierState) {
  const Small small;
  for (std::size_t at = 0; at < small.content.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = small.content;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      EXPECT_LT(small.Read(damaged), 2) << "byte " << at;
    }
  }
}

TEST(SavedFile, WithAnyPartLeftOutOrRepeatedHasAnEarlierState) {
  const Small small;
  const std::string& all = small.content;
  for (std::size_t at = 0; at < all.size(); at += 3) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{40}, std::size_t{200}}) {
      EXPECT_LT(small.Read(all.substr(0, at) + all.substr(std::min(at + size, all.size()))), 2);
      if (at + size >= all.size()) continue;  // a tail without a commit
      EXPECT_LT(small.Read(all.substr(0, at + size) + all.substr(at)), 2);
    }
  }
}

TEST(SavedFile, WithATailHasItsLastState) {
  const Small small;
  for (const std::size_t size : {1, 4, 5, 13, 100, 300'000}) {
    EXPECT_EQ(small.Read(small.content + std::string(size, '\0')), 2);
    EXPECT_EQ(small.Read(small.content + std::string(size, '\xFF')), 2);
  }
}

TEST(SavedFile, ThatIsEmptyOrSomethingElseIsRefusedWithTheReason) {
  const auto files = MakeFiles();
  const auto reason = [&](std::string content) {
    files->SetContent(kName, std::move(content));
    const auto read = ReadBack(*files);
    return read ? "" : read.error().message();
  };
  EXPECT_THAT(reason(""), HasSubstr("does not begin as a saved cache does"));
  EXPECT_THAT(reason("{\"kind\":\"PodList\"}"), HasSubstr("does not begin as a saved cache does"));
  EXPECT_THAT(reason("kgencach"), HasSubstr("it has no header: the file ends"));
  EXPECT_THAT(reason("kgencach\xFF\xFF\xFF\xFF\1"), HasSubstr("it has no header: a record is too large"));
  EXPECT_THAT(reason(Small().content.substr(0, 300)), HasSubstr("no complete state: the file ends within a record"));
}

TEST(SavedFile, OfALaterFormatIsRefused) {
  const auto files = MakeFiles();
  std::string record(kRecordHead, '\0');
  AppendNumber(kSavedFormat + 1, 4, record);
  record += "what this program does not know";
  PutNumber(record.size() - kRecordHead, 4, record.data());
  record[4] = static_cast<char>(RecordKind::kHeader);
  AppendNumber(RecordCheck(record, kFirstCheck), kRecordCheck, record);
  files->SetContent(kName, std::string(kSavedMagic) + record);
  const auto read = ReadBack(*files);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("it has format 4, and this program reads format 3"));
}

// Otherwise the fuzzer would find every seed refused, and see little of the reader.
TEST(SavedFile, SeedsOfTheFuzzerHaveItsFormat) {
  std::size_t seeds = 0;
  for (const auto& seed : std::filesystem::directory_iterator(test_support::SourcePath("tests/fuzz/corpus/saved"))) {
    const std::string content = test_support::ReadFile(seed.path().string());
    const std::size_t header = 1 + kSavedMagic.size() + kRecordHead;  // the first byte is for the fuzzer
    ASSERT_GT(content.size(), header + 4) << seed.path();
    EXPECT_EQ(PayloadReader(std::string_view(content).substr(header)).Number(4), kSavedFormat) << seed.path();
    ++seeds;
  }
  EXPECT_GE(seeds, 5U);
}

// ----------------------------------------------------------------------------------------------------- crashes

// Runs processes that save, with a crash in the given operation, and returns how many operations there were.
std::uint64_t RunUntilCrash(std::uint64_t crash_at, std::uint64_t seed) {
  const auto files = MakeFiles(seed);
  if (crash_at != 0) files->CrashAt(crash_at);
  SavedStore store;
  std::vector<Objects> saved;         // every state that a save was asked for
  std::size_t least = 0;              // the file must have at least this one
  const std::string text(8000, 'x');  // so that the log becomes long enough for a new base
  auto writer = std::make_unique<SavedWriter>(files, kBinding);
  bool crashed = false;
  for (int round = 0; round < 24; ++round) {
    if (round % 5 != 4) store.Put("n" + std::to_string(round % 7), round % 2 == 0 ? R"(,"more":")" + text + '"' : "");
    if (round % 5 == 4) store.Remove("n" + std::to_string(round % 7));
    saved.push_back(store.objects);
    if (SaveIn(*writer, store.Snapshot())) {
      least = saved.size();
      if (round % 8 != 7) continue;
      writer = std::make_unique<SavedWriter>(files, kBinding);  // the next process
      writer->Continue(Must(ReadBack(*files)).state, store.Snapshot());
      continue;
    }
    if (crashed) ADD_FAILURE() << "a save failed after the crash";
    crashed = true;
    seed % 3 == 0 ? files->EndProcess() : files->Restart();
    const auto read = ReadBack(*files);
    if (!read) {
      EXPECT_EQ(least, 0U) << "operation " << crash_at << ", seed " << seed << ": " << read.error();
      writer = std::make_unique<SavedWriter>(files, kBinding);
      continue;
    }
    const auto found = std::find(saved.rbegin(), saved.rend(), read->objects);
    EXPECT_NE(found, saved.rend()) << "operation " << crash_at << ", seed " << seed << ": a state that was never saved";
    EXPECT_GE(static_cast<std::size_t>(saved.rend() - found), least)
        << "operation " << crash_at << ", seed " << seed << ": older than a save that returned";
    // The informer continues from there.
    SavedStore restored;
    for (const auto& [key, json] : read->objects) {
      const std::size_t rest = json.find("\"default\"}") + 10;
      restored.Put(key.substr(8), json.substr(rest, json.size() - rest - 1));
    }
    writer = std::make_unique<SavedWriter>(files, kBinding);
    writer->Continue(read->state, restored.Snapshot());
    store = std::move(restored);
  }
  EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects) << "operation " << crash_at << ", seed " << seed;
  return files->operations();
}

TEST(SavedFile, HasTheLastSavedStateAfterACrashInAnyOperation) {
  const std::uint64_t operations = RunUntilCrash(0, 1);
  ASSERT_GT(operations, 60U);
  for (std::uint64_t crash_at = 1; crash_at <= operations; ++crash_at) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) RunUntilCrash(crash_at, seed * 1000 + crash_at);
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace kgen::cache
