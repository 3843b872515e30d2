// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The fixture of the reflector's tests: a scripted source, a simulation, and a recording observer.
#ifndef KGEN_TESTS_RUNTIME_CACHE_REFLECTOR_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CACHE_REFLECTOR_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cache/reflector/reflector.h"
#include "kgen/testing/simulation.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/fake_list_watch.h"

namespace kgen::cache {

using namespace std::chrono_literals;
using namespace kgen::testing;
using sample::Sample;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;

struct Seen : Observer {
  void OnListOrWatchFailed(const ListOrWatchFailed& e) override {
    failed.push_back(std::string(e.watch ? "watch " : "list ") + e.error->ToString());
    if (!e.watch && e.retry_in > Nanos(0)) {
      failed_lists.push_back(std::to_string(e.attempt) + " " + e.error->ToString());
    }
    delays.push_back(e.retry_in);
    gave_up = gave_up || e.gave_up;
  }
  void OnObjectRefused(const ObjectRefused& e) override {
    refused.push_back(e.key->str() + ": " + e.error->ToString());
  }
  void OnFieldRefused(const FieldRefused& e) override { fields.push_back(e.key->str() + " " + std::string(e.path)); }
  void OnRelisted(const Relisted& e) override {
    relisted.push_back(std::string(e.streamed ? "streamed " : "listed ") + std::to_string(e.objects) + " at " +
                       std::string(e.resource_version));
  }
  std::vector<std::string> failed, refused, fields, relisted;
  std::vector<std::string> failed_lists;  // the errors of lists that were not tried again at once
  std::vector<Nanos> delays;
  bool gave_up = false;
};

class ReflectorTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ReflectorTest() { options_.streaming_list = false; }
  ~ReflectorTest() override {
    OnStrand([&] {
      if (reflector_) reflector_->Stop();
    });
    EXPECT_EQ(source_->open(), 0u) << "a stream that nobody reads";
    EXPECT_EQ(simulation_.census().timers, 0u);
  }

  void Start() {
    reflector_ = MakeShared<Reflector>(source_, Sample::kTable, fifo_, simulation_.executor(), strand_, seen_, options_,
                                       Reflector::Hooks{.on_queued = [this] { ++queued_; },
                                                        .should_resync = [this] { return resync_due_; },
                                                        .on_status = [this] { ++status_changes_; }});
    OnStrand([&] { reflector_->Start(); });
  }
  void OnStrand(Task task) {
    simulation_.executor()->Post(strand_, std::move(task));
    Run();
  }
  // Everything but time; a wait stays a wait.
  void Run() { Must(simulation_.Advance(0s)); }
  void Advance(Nanos duration) { Must(simulation_.Advance(duration)); }
  // Past any delay, and before the deadline of a list.
  void WaitOut() { Advance(40s); }

  FakeStream& Last() { return source_->last(); }
  ReflectorStatus Status() const { return reflector_->status(); }
  std::string Version() const { return Status().resource_version; }

  void Answer(std::string_view body) {
    Last().Answer(body, 1 + simulation_.Choose(100));
    Run();
  }
  void Refuse(Error error) {
    Last().End(Fail(std::move(error)));
    Run();
  }
  void Open() {
    Last().Open();
    Run();
  }
  void Send(std::string_view text) {
    while (!text.empty()) {
      const std::size_t n = std::min<std::size_t>(text.size(), 1 + simulation_.Choose(200));
      Last().Send(std::string(text.substr(0, n)));
      text.remove_prefix(n);
    }
    Run();
  }
  void EndWatch(Result<void> end = {}) {
    Last().End(std::move(end));
    Run();
  }
  // Lists {a@1} at 5 and opens the watch.
  void ListAndOpenWatch() {
    Start();
    Answer(ListBody("5", {ObjectJson("a", "1")}));
    Open();
  }
  // A running streaming list.
  void StartStreaming() {
    source_->streaming = options_.streaming_list = true;
    Start();
    Open();
  }

  std::vector<std::string> Queue() {
    std::vector<std::string> words;
    while (!fifo_.empty()) {
      for (const Delta& d : fifo_.Drain(100)) words.push_back(Word(d));
    }
    return words;
  }
  static std::string Word(const Delta& d) {
    std::string text;
    switch (d.type) {
      case DeltaType::kAdded:
        text = "added ";
        break;
      case DeltaType::kUpdated:
        text = "updated ";
        break;
      case DeltaType::kDeleted:
        text = d.object ? "deleted " : "lost ";
        break;
      case DeltaType::kRefused:
        text = "refused ";
        break;
      case DeltaType::kReplaced:
        text = d.incomplete ? "replaced in part" : "replaced";
        break;
      case DeltaType::kSync:
        return "sync";
      case DeltaType::kBookmark:
        return d.held != 0 ? "held " + std::to_string(d.held) : "bookmark " + d.version;
      case DeltaType::kLeft:
        return "left but " + d.ranges->ToString() + (d.held != 0 ? ", held " + std::to_string(d.held) : "");
    }
    if (d.type != DeltaType::kReplaced) return text + d.key.name.str() + "@" + d.version;
    for (std::size_t slot = 0; slot < d.list.slots(); ++slot) {
      const ListedObject& item = d.list[slot];
      if (item.key.name.empty()) continue;
      text += " " + item.key.name.str();
      text += item.object ? "@" + item.object.metadata()->resourceVersion.str() : "?";
      if (item.stale) text += "(stale)";
    }
    return text + " at " + d.version + (d.held != 0 ? ", held " + std::to_string(d.held) : "");
  }

  Simulation simulation_{GetParam()};
  Shared<Strand> strand_ = simulation_.executor()->MakeStrand("test");
  Shared<FakeListWatch> source_ = MakeShared<FakeListWatch>(simulation_.executor());
  Shared<Seen> seen_ = MakeShared<Seen>();
  InformerSettings options_;
  DeltaFifo fifo_;
  int queued_ = 0;
  int status_changes_ = 0;
  bool resync_due_ = true;
  Shared<Reflector> reflector_;
};

}  // namespace kgen::cache

#endif  // KGEN_TESTS_RUNTIME_CACHE_REFLECTOR_FIXTURE_H_
