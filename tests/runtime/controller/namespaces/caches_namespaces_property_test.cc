// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What caches promise whose namespaces change, under random changes and faults: each handler hears of an object's
// coming and going in turns, a read is never wrong about an object that exists, and in the end all agree.
#include <map>
#include <memory>
#include <set>

#include "controller/caches/kind_cache.h"
#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNamespaces[] = {"n0", "n1", "n2", "n3"};
constexpr const char* kOwn = "own";  // of one of those who change the namespaces

class NamespacesPropertyTest : public CachesFixture {
 protected:
  NamespacesPropertyTest() : CachesFixture({.streaming_lists = GetParam() % 2 == 0, .behind = GetParam() % 3 * 20}) {}

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  void Pause(Nanos duration) {
    const auto waiter = connection_.executor().MakeWaiter("pause");
    (void)waiter->Wait({}, Later(Now(), duration));
  }
  static std::string Text(const std::string& in, const std::string& name) { return in + "/" + name; }

  // The objects that one handler knows.
  struct Knower {
    NamespacesPropertyTest& test;
    bool slow;
    std::set<std::string> known{};
    void Hear(const ObjectKey& key, bool before, bool after, const char* what) {
      EXPECT_EQ(known.contains(key.str()), before) << what << " " << key << ", seed " << GetParam();
      if (slow && test.Choose(4) == 0) test.Pause(std::chrono::milliseconds(test.Choose(2000)));
      after ? (void)known.insert(key.str()) : (void)known.erase(key.str());
    }
    template <typename T>
    EventHandler<T> Handler() {
      return {.on_add = [this](const Added<T>& e) { Hear(e.key, false, true, "added"); },
              .on_update = [this](const Updated<T>& e) { Hear(e.key, true, true, "updated"); },
              .on_delete = [this](const Deleted<T>& e) { Hear(e.key, true, false, "deleted"); },
              .on_left = [this](const Left<T>& e) { Hear(e.key, true, false, "left"); }};
    }
    bool Knows(std::string_view in) const {
      return std::ranges::any_of(known, [&](const std::string& key) { return key.starts_with(std::string(in) + "/"); });
    }
  };

  void Write() {
    const std::string in = Choose(5) == 0 ? kOwn : kNamespaces[Choose(4)];
    const std::string name = "o" + std::to_string(Choose(4));
    const bool exists = objects_.contains(Text(in, name));
    if (!exists) {
      Must(cluster_.Add(Map(name, "1", in)));
      Must(cluster_.Add(MakePod(name, "web", in)));
      objects_.insert(Text(in, name));
    } else if (Choose(2) == 0) {
      Must(cluster_.Update(Map(name, std::to_string(Choose(1000)), in)));
    } else {
      Must(cluster_.Delete("configmaps", in, name));
      Must(cluster_.Delete("pods", in, name));
      objects_.erase(Text(in, name));
    }
  }

  void ChangeSome() {
    for (int i = 0; i < 8; ++i) {
      const std::string in = kNamespaces[Choose(4)];
      // SetNamespaces() would take the namespace of the other one.
      Must(Choose(2) == 0 ? caches_->AddNamespace(in) : caches_->RemoveNamespace(in));
      Pause(std::chrono::milliseconds(Choose(3000)));
    }
  }
  void ChangeOwn() {
    for (int i = 0; i < 8; ++i) {
      Must(caches_->AddNamespace(kOwn));
      if (Choose(2) == 0) Pause(std::chrono::milliseconds(Choose(3000)));
      if (Choose(2) == 0) {
        const auto got = client_->Get<ConfigMap>({kOwn, "stays"});
        EXPECT_TRUE(got && *got) << got.error();
      }
      Must(caches_->RemoveNamespace(kOwn));
      EXPECT_EQ(client_->Get<ConfigMap>({kOwn, "stays"}).error().code(), Code::kInvalidArgument);
      for (const auto& knower : knowers_) EXPECT_FALSE(knower->Knows(kOwn)) << "seed " << GetParam();
      if (Choose(2) == 0) Pause(std::chrono::milliseconds(Choose(3000)));
    }
  }
  void Read() {
    const auto maps = Must(caches_->Of<ConfigMap>());
    for (int i = 0; i < 40; ++i) {
      const std::string in = kNamespaces[Choose(4)];
      const auto fine = [&](const auto& got) {
        if (got) return true;
        return got.error().code() == Code::kInvalidArgument || got.error().code() == Code::kUnavailable;
      };
      const auto got = Choose(2) == 0 ? client_->Get<ConfigMap>({in, "stays"}) : maps.Get({in, "stays"});
      EXPECT_TRUE(fine(got)) << got.error();
      EXPECT_TRUE(!got || *got) << in << ", seed " << GetParam();
      const ListFilter filter = Choose(2) == 0 ? ListFilter{.namespace_ = in}
                                               : ListFilter{.namespace_ = in, .index = "name", .value = "stays"};
      const auto listed = client_->List<ConfigMap>(filter);
      EXPECT_TRUE(fine(listed)) << listed.error();
      EXPECT_TRUE(!listed || HasStaying(*listed)) << in << ", seed " << GetParam();
      const auto all = client_->List<ConfigMap>({.index = "name", .value = "stays"});
      EXPECT_TRUE(all) << all.error();
      Pause(std::chrono::milliseconds(Choose(500)));
    }
  }
  static bool HasStaying(const std::vector<Ref<const ConfigMap>>& maps) {
    return std::ranges::any_of(maps, [](const auto& map) { return map->metadata.name == "stays"; });
  }
  void Disturb() {
    const std::uint32_t what = Choose(6);
    if (what == 0) cluster_.CutWatches();
    if (what == 1) cluster_.EndWatches();
    if (what == 2) cluster_.Compact();
    if (what == 3) cluster_.Inject({.verb = "list", .status = 500});
    if (what == 4) cluster_.Inject({.verb = "watch", .status = 503, .retry_after_seconds = 1});
  }
  template <typename T>
  std::pair<std::unique_ptr<Knower>, CacheRegistration> Register(const Cache<T>& cache, bool slow,
                                                                 HandlerOptions options = {}) {
    auto knower = std::make_unique<Knower>(*this, slow);
    CacheRegistration registration = cache.AddEventHandler(knower->template Handler<T>(), options);
    return {std::move(knower), std::move(registration)};
  }
  template <typename T>
  void Keep(const Cache<T>& cache, bool slow, HandlerOptions options = {}) {
    auto [knower, registration] = Register(cache, slow, std::move(options));
    knowers_.push_back(std::move(knower));
    registrations_.push_back(std::move(registration));
  }
  // A handler that comes and goes.
  void RegisterSome() {
    const auto maps = Must(caches_->Of<ConfigMap>());
    for (int i = 0; i < 6; ++i) {
      auto [knower, registration] = Register(maps, Choose(2) == 0);
      Pause(std::chrono::milliseconds(Choose(4000)));
      registration.Remove();
    }
  }

  void CheckEnd(const std::vector<std::string>& names) {
    std::set<std::string> expected;
    for (const std::string& object : objects_) {
      if (std::ranges::find(names, object.substr(0, object.find('/'))) != names.end()) expected.insert(object);
    }
    for (const auto& knower : knowers_) EXPECT_EQ(knower->known, expected) << "seed " << GetParam();
    std::set<std::string> read, indexed;
    const auto maps = Must(caches_->Of<ConfigMap>());
    for (const auto& map : Must(maps.List())) {
      read.insert(Text(map->metadata.namespace_.str(), map->metadata.name.str()));
      for (const auto& same : Must(maps.List({.index = "name", .value = map->metadata.name.str()}))) {
        indexed.insert(Text(same->metadata.namespace_.str(), same->metadata.name.str()));
      }
    }
    EXPECT_EQ(read, expected);
    EXPECT_EQ(indexed, expected);
    EXPECT_EQ(caches_->status().size(), 3 * names.size());
    for (const CacheRegistration& registration : registrations_) EXPECT_TRUE(registration.HasSynced());
  }

  std::set<std::string> objects_;
  std::vector<std::unique_ptr<Knower>> knowers_;
  std::vector<CacheRegistration> registrations_;
};

TEST_P(NamespacesPropertyTest, EveryHandlerAndEveryReadIsRightWhateverChanges) {
  for (const char* in : {"n0", "n1", "n2", "n3", kOwn}) {
    Must(cluster_.Add(Map("stays", "", in)));
    Must(cluster_.Add(MakePod("stays", "web", in)));
    objects_.insert(Text(in, "stays"));
  }
  for (int i = 0; i < 60; ++i) Must(cluster_.Add(Map(std::to_string(i))));  // what stays is in every list that is old
  MakeClient({.scopes = {{.namespace_ = "n0"}}, .changing_namespaces = true});
  const auto maps = Must(caches_->Of<ConfigMap>());
  const auto pods = Must(caches_->Of<Pod>());
  const auto metadata = Must(caches_->MetadataOf<ConfigMap>());
  Must(maps.AddIndex("name", FieldPath("metadata.name")));
  Keep(maps, true);
  Keep(maps, false, {.short_calls = true});
  Keep(maps, true, {.backlog_bytes = 1});
  Keep(pods, true);
  Keep(metadata, Choose(2) == 0);

  testing::Simulation& simulation = cluster_.simulation();
  const auto spawn = [&](auto function) { return simulation.Spawn([function] { return function(), true; }); };
  const auto done = [](const auto& tasks) {
    return std::ranges::all_of(tasks, [](const auto& t) { return t.done(); });
  };
  const std::vector tasks = {spawn([this] { ChangeSome(); }), spawn([this] { ChangeSome(); }),
                             spawn([this] { ChangeOwn(); }), spawn([this] { Read(); }),
                             spawn([this] { RegisterSome(); })};
  for (int i = 0; i < 2000 && !done(tasks); ++i) {
    if (Choose(3) != 0) Write();
    if (Choose(8) == 0) Disturb();
    cluster_.Advance(std::chrono::milliseconds(Choose(200)));
  }
  cluster_.Advance(10min);
  ASSERT_TRUE(done(tasks)) << simulation.WhoWaits();

  std::vector<std::string> names;
  for (const char* in : {"n0", "n1", "n2", "n3", kOwn}) {
    if (Choose(2) == 0) names.emplace_back(in);
  }
  Must(caches_->SetNamespaces(names));
  Must(caches_->WaitForSync({}));
  cluster_.Advance(10min);
  CheckEnd(names);
  registrations_.clear();
}

INSTANTIATE_TEST_SUITE_P(Seeds, NamespacesPropertyTest, ::testing::Range<std::uint64_t>(0, 100));

}  // namespace
}  // namespace kgen::controller
