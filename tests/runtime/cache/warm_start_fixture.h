// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An informer that saves its cache, and the processes after it, over a source and a folder that the test controls.
#ifndef KGEN_TESTS_RUNTIME_CACHE_WARM_START_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CACHE_WARM_START_FIXTURE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/saved/saved_cache.h"
#include "tests/runtime/cache/informer_fixture.h"
#include "tests/support/simulated_files.h"

namespace kgen::cache {

// A folder whose writes wait while the test holds them.
class HeldFiles final : public SavedFiles {
 public:
  HeldFiles(Shared<test_support::SimulatedFiles> inner, Shared<Executor> executor)
      : inner_(std::move(inner)), executor_(std::move(executor)) {}

  void Hold() { held_ = executor_->MakeWaiter("a slow disk"); }
  void LetGo() { std::exchange(held_, {})->Notify(); }
  bool waits() const noexcept { return waits_; }
  int saves() const noexcept { return saves_; }
  int reads() const noexcept { return reads_; }

  std::string Path(const std::string& name) const override { return inner_->Path(name); }
  Result<std::unique_ptr<SavedInput>> Open(const std::string& name) override {
    ++reads_;
    Wait();
    return inner_->Open(name);
  }
  Result<std::unique_ptr<SavedOutput>> Create(const std::string& name) override {
    ++saves_;
    Wait();
    return inner_->Create(name);
  }
  Result<std::unique_ptr<SavedOutput>> Extend(const std::string& name, std::uint64_t size,
                                              std::string_view end) override {
    return inner_->Extend(name, size, end);
  }
  Result<void> Rename(const std::string& from, const std::string& to) override { return inner_->Rename(from, to); }
  Result<void> Remove(const std::string& name) override { return inner_->Remove(name); }
  Result<std::unique_ptr<SavedLock>> Lock(const std::string& name) override { return inner_->Lock(name); }

 private:
  void Wait() {
    if (!held_) return;
    waits_ = true;
    (void)Shared<Waiter>(held_)->Wait();
    waits_ = false;
  }
  const Shared<test_support::SimulatedFiles> inner_;
  const Shared<Executor> executor_;
  Shared<Waiter> held_;
  bool waits_ = false;
  int saves_ = 0, reads_ = 0;
};

class WarmStartFixture : public InformerFixture {
 protected:
  using Received = std::vector<std::string>;

  WarmStartFixture() {
    source_->knows_cluster = true;
    options_.saved = SavedSettings{.files = held_, .binding = Binding(), .every = kEvery};
  }

  static SavedBinding Binding() {
    return {.server = "https://10.0.0.1:6443",
            .authorities = "",
            .resource = "samples.test.kgen.dev/v1",
            .namespace_ = "",
            .label_selector = "",
            .field_selector = "",
            .form = "",
            .transform = "",
            .drop_managed_fields = false};
  }

  void AnswerCluster(std::string_view uid = "cluster-1") {
    EXPECT_TRUE(source_->last().cluster) << "the newest request is not about the cluster";
    Answer(testing::ClusterJson(uid));
  }
  // The list of a process that found no file, its watch, and the first save.
  void SaveFirst(std::string_view version, const std::vector<std::string>& items) {
    Start();
    AnswerCluster();
    Answer(testing::ListBody(version, items));
    Open();
    Advance(kEvery);
    EXPECT_EQ(files_->Names().size(), 1u);
  }
  // The informer of the next process, which is not started yet.
  void NextProcess() {
    Core()->Stop();
    Run();
    core_ = {};
    Run();
    source_ = MakeShared<testing::FakeListWatch>(simulation_.executor());
    source_->knows_cluster = true;
  }
  // Reads the file, resumes the watch, and answers the check of the history.
  void Resume() {
    Start();
    AnswerCluster();
    EXPECT_TRUE(source_->last().watch);
    Open();
    Answer(testing::ListBody("1000000", {}));  // the history is intact
  }
  // On the watch, which need not be the newest request.
  void SendToWatch(std::string_view text) {
    source_->last_watch().Send(std::string(text));
    Run();
  }
  // The requests so far: "cluster", "list at 5", "watch at 5".
  Received Requests() {
    Received requests;
    for (std::size_t i = 0; i < source_->size(); ++i) {
      const testing::FakeStream& each = source_->at(i);
      requests.push_back(each.cluster ? "cluster"
                                      : (each.watch ? "watch at " : "list at ") + each.options.resource_version);
    }
    return requests;
  }
  InformerStatus Status() { return Core()->status(); }

  static constexpr Nanos kEvery = std::chrono::seconds(10);
  Shared<test_support::SimulatedFiles> files_ =
      MakeShared<test_support::SimulatedFiles>([this](std::uint32_t n) { return simulation_.Choose(n); });
  Shared<HeldFiles> held_ = MakeShared<HeldFiles>(files_, simulation_.executor());
};

}  // namespace kgen::cache

#endif  // KGEN_TESTS_RUNTIME_CACHE_WARM_START_FIXTURE_H_
