// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a client promises about its reads, under random faults: a read is never older than the client's last write of
// that key, or it fails within five seconds.
#include <map>
#include <set>
#include <tuple>

#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

std::uint64_t Number(const String& version) { return std::stoull(version.str()); }

class OwnWritesPropertyTest : public CachesFixture {
 protected:
  OwnWritesPropertyTest() : CachesFixture({.streaming_lists = GetParam() % 2 == 0, .behind = GetParam() % 3 * 20}) {}

  // What one worker has written of its keys.
  struct Known {
    std::uint64_t version = 0;
    std::set<std::string> deleted{};  // UIDs
    std::string uid{};                // of the last state that it has seen
    bool exists = false;
    bool unsure = false;  // a write has failed, and may have taken effect
  };
  struct Worker {
    int number;
    std::map<std::string, Known> keys{};
  };

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  void Pause(Nanos duration) {
    const auto waiter = connection_.executor().MakeWaiter("pause");
    (void)waiter->Wait({}, Later(Now(), duration));
  }

  static std::string KeyName(const Worker& worker, std::uint32_t i) {
    return "w" + std::to_string(worker.number) + "-" + std::to_string(i);
  }

  void Write(Worker& worker, const std::string& name) {
    Known& known = worker.keys[name];
    const std::uint32_t what = Choose(4);
    if (what == 0) {
      const Result<void> deleted = client_->Delete<ConfigMap>({"default", name});
      if (!deleted) return NoteFailure(known, deleted.error());
      if (!known.uid.empty()) known.deleted.insert(known.uid);
      known.exists = known.unsure = false;
      return;
    }
    ConfigMap map = Map(name, std::to_string(Choose(1000)));
    map.metadata.labels["app"] = Choose(4) == 0 ? "db" : "web";
    const Result<ConfigMap> written = what == 1 ? client_->Create(map) : client_->Apply(map);
    if (!written) return NoteFailure(known, written.error());
    known.version = std::max(known.version, Number(written->metadata.resourceVersion));
    known.uid = written->metadata.uid.str();
    known.exists = written->metadata.labels["app"] == "web";
    known.unsure = false;
  }
  static void NoteFailure(Known& known, const Error& error) {
    const bool refused = error.code() == Code::kAlreadyExists || error.code() == Code::kNotFound;
    known.unsure = known.unsure || !refused;
  }

  void CheckState(const Known& known, const ConfigMap* map, const std::string& name) {
    if (map == nullptr) {
      EXPECT_TRUE(!known.exists || known.unsure) << name << " was written and is not there";
      return;
    }
    EXPECT_GE(Number(map->metadata.resourceVersion), known.version) << name;
    EXPECT_FALSE(known.deleted.contains(map->metadata.uid.str())) << name << " was deleted";
    EXPECT_EQ(map->metadata.labels["app"], "web") << name;
  }

  void Read(Worker& worker) {
    const TimePoint start = Now();
    std::optional<Error> error;
    if (Choose(3) == 0) {
      const auto all = client_->List<ConfigMap>({.namespace_ = "default"});
      if (!all) error = all.error();
      for (const auto& [name, known] : all ? worker.keys : std::map<std::string, Known>()) {
        const auto found =
            std::find_if(all->begin(), all->end(), [&](const auto& map) { return map->metadata.name == name; });
        CheckState(known, found != all->end() ? found->get() : nullptr, name);
      }
    } else {
      const std::string name = KeyName(worker, Choose(3));
      const auto got = client_->Get<ConfigMap>({"default", name});
      if (!got) error = got.error();
      if (got) CheckState(worker.keys[name], got->get(), name);
    }
    EXPECT_LE(Now() - start, 5s);
    if (!error) return ++reads_, void();
    EXPECT_EQ(error->code(), Code::kTimeout) << *error;
    ++failures_;
  }

  void Work(int number) {
    Worker worker{number};
    for (int i = 0; i < 60; ++i) {
      if (Choose(2) == 0) Write(worker, KeyName(worker, Choose(3)));
      Read(worker);
      if (Choose(3) == 0) Pause(Nanos(std::chrono::milliseconds(Choose(1500))));
    }
    ++done_;
  }

  void Disturb() {
    switch (Choose(10)) {
      case 0:
        return cluster_.CutWatches();
      case 1:
        return cluster_.EndWatches();
      case 2:
        return cluster_.Compact();
      case 3:
        return cluster_.Restart();
      case 4:
        return cluster_.Inject({.verb = "watch", .delay = std::chrono::milliseconds(Choose(9000))});
      case 5:
        return cluster_.Inject(
            {.verb = "list", .behind = Choose(50), .delay = std::chrono::milliseconds(Choose(3000))});
      case 6:
        return cluster_.Inject({.times = 1 + static_cast<int>(Choose(3)), .status = 500});
      case 7:
        return cluster_.FailWatches(410, "Expired");
      case 8: {
        ConfigMap map = Map("w" + std::to_string(Choose(3)) + "-" + std::to_string(Choose(3)), "foreign");
        map.metadata.labels["app"] = "web";
        std::ignore = cluster_.Update(map);
        return;
      }
      default:
        std::ignore = cluster_.Add(Map("foreign" + std::to_string(Choose(20))));
    }
  }

  int reads_ = 0, failures_ = 0, done_ = 0;
};

// Contract: controller 143, 144, 145, 146, 147.
TEST_P(OwnWritesPropertyTest, ReadsAreNeverOlderThanTheLastWriteOrFailWithinFiveSeconds) {
  Make({.of = {{&ConfigMap::kTable, {.label_selector = "app=web"}}}});
  client_.emplace(*caches_, "test");
  while (!client_->List<ConfigMap>()) {
  }
  for (int i = 0; i < 3; ++i) {
    connection_.executor().Blocking("worker", [this, i] { Work(i); });
  }
  for (int i = 0; i < 400 && done_ < 3; ++i) {
    cluster_.Advance(std::chrono::milliseconds(Choose(1500)));
    if (Choose(3) == 0) Disturb();
  }
  cluster_.ClearFaults();
  cluster_.Advance(10min);
  EXPECT_EQ(done_, 3);
  EXPECT_GT(reads_, failures_);
  ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Seeds, OwnWritesPropertyTest, ::testing::Range<std::uint64_t>(0, 60));

}  // namespace
}  // namespace kgen::controller
