// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One informer in a simulation, over a source that the test controls.
#ifndef KGEN_TESTS_RUNTIME_CACHE_INFORMER_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CACHE_INFORMER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/informer_settings.h"
#include "cache/store/store.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/client/connection.h"
#include "kgen/core/observer.h"
#include "kgen/testing/simulation.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/delaying_executor.h"
#include "tests/support/fake_list_watch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/owned_informer.h"

namespace kgen::cache {

using sample::Sample;

struct SeenByObserver : Observer {
  void OnListOrWatchFailed(const ListOrWatchFailed& e) override { failed.push_back(e.error->ToString()); }
  void OnObjectRefused(const ObjectRefused& e) override {
    refused.push_back(e.key->str() + ": " + e.error->ToString());
    refusals += e.count;
  }
  void OnSavedCacheFailed(const SavedCacheFailed& e) override {
    (e.saving ? unsaved : unused).push_back(std::string(e.path) + ": " + e.error->ToString());
  }
  void OnRecovered(const Recovered& e) override {
    recovered.push_back(std::string(e.source) + " " + std::string(e.key));
  }
  void OnHandlerFailed(const HandlerFailed& e) override {
    thrown.push_back((e.key != nullptr ? e.key->str() + ": " : "") + std::string(e.what));
  }
  std::vector<std::string> failed, refused, thrown, unused, unsaved, recovered;
  std::size_t refusals = 0;
};

class InformerFixture : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  InformerFixture() { options_.streaming_list = false; }

  // Makes what the informer receives wait in its queue for `delay`. Call it before Core().
  void ApplyAfter(Nanos delay) {
    connection_ = Connection::Over({.transport = MakeShared<testing::FakeTransport>(),
                                    .executor = MakeShared<testing::DelayingExecutor>(simulation_.executor(), delay),
                                    .observer = seen_});
  }
  // The informer of the test, made at the first call.
  const Shared<cache::Informer>& Core() {
    if (!core_) core_ = MakeShared<cache::Informer>(connection_, source_, Sample::kTable, options_);
    return core_.get();
  }
  SharedInformer<Sample> Informer() { return SharedInformer<Sample>(Core()); }

  // A handler that records its events: "added a@1 initial", "updated a@1>2 watch", "deleted a@2 relist unknown",
  // "left a@2".
  [[nodiscard]] Registration Listen(std::vector<std::string>& received, HandlerOptions options = {}) {
    return Informer().AddEventHandler(
        {.on_add = [&received](const Added<Sample>& e) { received.push_back("added " + Text(e.now) + Why(e.reason)); },
         .on_update =
             [&received](const Updated<Sample>& e) {
               received.push_back("updated " + Text(e.before) + ">" + e.now->metadata.resourceVersion.str() +
                                  Why(e.reason));
             },
         .on_delete =
             [&received](const Deleted<Sample>& e) {
               const std::string object = e.before ? Text(e.before) : e.key.name.str() + "@?";
               received.push_back("deleted " + object + Why(e.reason) + (e.final_state_unknown ? " unknown" : ""));
             },
         .on_left = [&received](const Left<Sample>& e) { received.push_back("left " + Text(e.before)); }},
        std::move(options));
  }

  void Run() { Must(simulation_.Advance(Nanos(0))); }
  void Advance(Nanos duration) { Must(simulation_.Advance(duration)); }
  void WaitOut() { Advance(std::chrono::seconds(40)); }  // past any delay, and before a list's deadline

  void Start(std::stop_token stop = {}) {
    Core()->Start(std::move(stop));
    Run();
  }
  void Answer(std::string_view body) {
    source_->last().Answer(body, 1 + simulation_.Choose(100));
    Run();
  }
  void Refuse(Error error) {
    source_->last().End(Fail(std::move(error)));
    Run();
  }
  void Open() {
    source_->last().Open();
    Run();
  }
  void Send(std::string_view text) {
    source_->last().Send(std::string(text));
    Run();
  }
  // Started, listed, and watching.
  void Sync(std::string_view version, const std::vector<std::string>& items) {
    Start();
    Answer(testing::ListBody(version, items));
    Open();
  }
  // The watch, which made progress, ends with a 410, and the list that follows has this content.
  void Relist(std::string_view version, const std::vector<std::string>& items) {
    Advance(std::chrono::seconds(10));
    Send(testing::EventJson("ERROR", testing::StatusJson(410, "Expired")));
    Answer(testing::ListBody(version, items));
    Open();
  }

  // What the store holds: "a@1 b@2(stale)", by key.
  std::string Store() {
    const AnySnapshot view = Core()->store()->Snapshot();
    std::vector<ObjectKey> keys = view.Keys();
    std::sort(keys.begin(), keys.end());
    std::string text;
    for (const ObjectKey& key : keys) {
      text += (text.empty() ? "" : " ") + key.name.str() + "@" + view.Get(key).metadata()->resourceVersion.str();
      if (view.IsStale(key)) text += "(stale)";
    }
    return text;
  }
  std::string StoreVersion() { return std::string(Core()->store()->Snapshot().version()); }

  static std::string Text(const Ref<const Sample>& object) {
    return object->metadata.name + "@" + object->metadata.resourceVersion.str();
  }
  static std::string Why(Reason reason) { return " " + std::string(ToString(reason)); }

  testing::Simulation simulation_{GetParam()};
  Shared<testing::FakeListWatch> source_ = MakeShared<testing::FakeListWatch>(simulation_.executor());
  Shared<SeenByObserver> seen_ = MakeShared<SeenByObserver>();
  Connection connection_ = Connection::Over(
      {.transport = MakeShared<testing::FakeTransport>(), .executor = simulation_.executor(), .observer = seen_});
  InformerSettings options_;
  testing::OwnedInformer core_;
};

}  // namespace kgen::cache

#endif  // KGEN_TESTS_RUNTIME_CACHE_INFORMER_FIXTURE_H_
