// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/throttled_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/manual_executor.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

// One line for each call: who, which object, and how many.
class Listener final : public Observer {
 public:
  void OnListOrWatchFailed(const ListOrWatchFailed& e) override { Add(e.informer, " failed", nullptr, e.count); }
  void OnObjectRefused(const ObjectRefused& e) override { Add(e.informer, "", e.key, e.count); }
  void OnFieldRefused(const FieldRefused& e) override { Add(e.informer, " " + std::string(e.path), e.key, e.count); }
  std::vector<std::string> received;

 private:
  void Add(std::string_view informer, const std::string& what, const ObjectKey* key, std::size_t count) {
    received.push_back(std::string(informer) + what + (key != nullptr ? " " + key->str() : "") + " x" +
                       std::to_string(count));
  }
};

class ThrottledObserverTest : public ::testing::Test {
 protected:
  ~ThrottledObserverTest() override { throttled_->Close(); }

  void ForwardTo(Shared<Observer> observer) {
    throttled_ = MakeShared<ThrottledObserver>(std::move(observer), executor_);
  }

  void Refuse(std::string_view informer, const std::string& name) {
    const Error error(Code::kDecode, "no name");
    const ObjectKey key = ObjectKey::Namespaced("default", name);
    throttled_->OnObjectRefused({.informer = informer, .key = &key, .error = &error});
  }
  void Fail(std::string_view informer, const Error& error, int attempt = 1) {
    throttled_->OnListOrWatchFailed(
        {.informer = informer, .watch = true, .error = &error, .attempt = attempt, .retry_in = 500ms});
  }
  void FailReconcile(std::string_view key, const Error& error, int attempt = 1, bool terminal = false) {
    throttled_->OnReconcileFailed(
        {.queue = "orders", .key = key, .error = &error, .attempt = attempt, .retry_in = 10ms, .terminal = terminal});
  }
  // The lines that are written to standard error meanwhile, without their times.
  template <typename Body>
  static std::vector<std::string> Written(Body body) {
    CaptureStderr();
    body();
    std::vector<std::string> lines;
    std::istringstream text(GetCapturedStderr());
    for (std::string line; std::getline(text, line);) {
      constexpr std::string_view kTime = "2023-11-14T22:13:20.000Z ";
      EXPECT_GT(line.size(), kTime.size());
      EXPECT_EQ(line[kTime.size() - 2], 'Z') << line;
      lines.push_back(line.substr(kTime.size()));
    }
    return lines;
  }

  Shared<testing::ManualExecutor> executor_ = MakeShared<testing::ManualExecutor>();
  Shared<Listener> listener_ = MakeShared<Listener>();
  Shared<ThrottledObserver> throttled_ = MakeShared<ThrottledObserver>(listener_, executor_);
  const Error refused_{Code::kUnavailable, "cannot connect to test:6443: connection refused"};
};

TEST_F(ThrottledObserverTest, ReportsTheFirstRefusalAtOnceAndOthersOnceASecondWithTheirCount) {
  for (int i = 0; i < 1000; ++i) Refuse("pods", "web-" + std::to_string(i));
  EXPECT_THAT(listener_->received, ElementsAre("pods default/web-0 x1"));
  executor_->Advance(1s);
  EXPECT_THAT(listener_->received, ElementsAre("pods default/web-0 x1", "pods default/web-1 x999"));

  // The call a second later began a second of its own.
  Refuse("pods", "late");
  executor_->Advance(999ms);
  EXPECT_EQ(listener_->received.size(), 2u);
  executor_->Advance(1ms);
  EXPECT_EQ(listener_->received.back(), "pods default/late x1");
}

TEST_F(ThrottledObserverTest, WritesOneLineAboutAFolderForAllInformersAndOneWhenTheyCanSaveAgain) {
  ForwardTo({});
  const Error full(Code::kConfig, "cannot write /cache/pods.saved: no space left on device");
  const Error foreign(Code::kConfig, "the folder /cache belongs to another user");
  const auto fail = [&](std::string_view informer, bool saving) {
    throttled_->OnSavedCacheFailed({.informer = informer,
                                    .path = "/cache/x.saved",
                                    .saving = saving,
                                    .error = saving ? &full : &foreign,
                                    .retry_in = saving ? 10s : 0s});
  };
  const std::vector<std::string> lines = Written([&] {
    fail("pods", false);
    fail("services", false);
    fail("pods", true);
    fail("services", true);
    fail("nodes", true);
    executor_->Advance(1s);
    throttled_->OnRecovered({.source = "saved cache", .key = "pods", .failures = 2, .after = 10s});
    executor_->Advance(1s);
  });
  EXPECT_THAT(
      lines,
      ElementsAre("WARNING kgen: pods: no warm start: the folder /cache belongs to another user (Config); listing "
                  "instead",
                  "WARNING kgen: pods: the cache could not be saved: cannot write /cache/pods.saved: no space "
                  "left on device (Config); next attempt in 10 s",
                  "WARNING kgen: services: no warm start: the folder /cache belongs to another user (Config); "
                  "listing instead",
                  "WARNING kgen: 2 informers (services and nodes): the cache could not be saved: cannot write "
                  "/cache/pods.saved: no space left on device (Config); next attempt in 10 s (2 such failures "
                  "of 2 informers since the last line)",
                  "INFO kgen: saved cache pods: works again after 2 failures in 10 s"));
}

TEST_F(ThrottledObserverTest, ReportsAtOnceAgainAfterAQuietSecondAndKeepsNoTimer) {
  Refuse("pods", "a");
  executor_->Advance(1s);
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  Refuse("pods", "b");
  EXPECT_THAT(listener_->received, ElementsAre("pods default/a x1", "pods default/b x1"));
}

TEST_F(ThrottledObserverTest, CountsInformersObjectsAndFieldsSeparately) {
  const ObjectKey key = ObjectKey::Namespaced("default", "a");
  for (int i = 0; i < 3; ++i) {
    Refuse("pods", "a");
    Refuse("services", "a");
    throttled_->OnFieldRefused({.informer = "pods", .key = &key, .path = "spec.replicas", .message = "no number"});
  }
  EXPECT_THAT(listener_->received,
              ElementsAre("pods default/a x1", "services default/a x1", "pods spec.replicas default/a x1"));
  executor_->Advance(1s);
  EXPECT_THAT(
      std::vector(listener_->received.begin() + 3, listener_->received.end()),
      ::testing::UnorderedElementsAre("pods default/a x2", "services default/a x2", "pods spec.replicas default/a x2"));
}

TEST_F(ThrottledObserverTest, PassesEveryFailedListAndWatchToAnObserverOfTheUser) {
  for (int i = 0; i < 3; ++i) Fail("pods", refused_);
  EXPECT_THAT(listener_->received, ElementsAre("pods failed x1", "pods failed x1", "pods failed x1"));
}

TEST_F(ThrottledObserverTest, ReportsItsCountsWhenItIsClosed) {
  for (int i = 0; i < 3; ++i) Refuse("pods", "a");
  throttled_->Close();
  EXPECT_THAT(listener_->received, ElementsAre("pods default/a x1", "pods default/a x2"));
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

TEST_F(ThrottledObserverTest, WritesWarningsToStandardErrorWhenThereIsNoObserver) {
  ForwardTo({});
  const Error forbidden = Error(Code::kForbidden, "pods is forbidden").With("watch pods");
  const ObjectKey key = ObjectKey::Namespaced("default", "web-0");
  EXPECT_THAT(
      Written([&] {
        Fail("pods", forbidden, 3);
        Refuse("services", "api");
        throttled_->OnHandlerFailed({.informer = "pods", .key = &key, .what = "out of range"});
        for (int attempt = 2; attempt < 5; ++attempt) FailReconcile("default/first", forbidden, attempt);
        executor_->Advance(1s);
      }),
      ElementsAre(
          "WARNING kgen: pods: watch failed: pods is forbidden (Forbidden); next attempt in 0.5 s after 3 failures in "
          "a row",
          "WARNING kgen: services default/api: object refused, the cache keeps its last good state: no name (Decode)",
          "ERROR kgen: pods default/web-0: handler threw: out of range",
          "WARNING kgen: orders default/first: reconcile failed: watch pods: pods is forbidden (Forbidden); next "
          "attempt in 0.01 s after 2 failures in a row",
          "WARNING kgen: orders default/first: reconcile failed: watch pods: pods is forbidden (Forbidden); next "
          "attempt in 0.01 s after 3 failures in a row (2 such failures since the last line)"));
}

TEST_F(ThrottledObserverTest, BeginsEachLineWithTheTimeInUtcAndKeepsItOneLine) {
  ForwardTo({});
  executor_->Advance(1500ms);
  CaptureStderr();
  throttled_->OnLogged({.source = "web", .key = "default/a", .message = "one\ntwo\tthree\x1B[31m"});
  EXPECT_EQ(GetCapturedStderr(), "2023-11-14T22:13:21.500Z INFO kgen: web default/a: one\\ntwo\\tthree\\x1B[31m\n");
}

TEST_F(ThrottledObserverTest, WritesNothingForNormalEvents) {
  ForwardTo({});
  EXPECT_THAT(Written([&] {
                throttled_->OnConnectionChanged({.host = "test", .up = true});
                throttled_->OnRelisted({.informer = "pods", .resource_version = "7", .objects = 3});
                throttled_->OnRecovered({.source = "pods", .key = {}, .failures = 1, .after = 1s});
                throttled_->OnBacklogHigh({.informer = "pods", .backlog = 2000});
                Fail("pods", Error(Code::kExpired, "too old resource version"));
                executor_->Advance(1s);
              }),
              IsEmpty());
}

TEST_F(ThrottledObserverTest, WarnsOfAVersionThatKeepsExpiring) {
  ForwardTo({});
  EXPECT_EQ(Written([&] { Fail("pods", Error(Code::kExpired, "too old resource version"), 2); }).size(), 1u);
}

TEST_F(ThrottledObserverTest, WarnsOfAHandlerThatMissesStates) {
  ForwardTo({});
  EXPECT_THAT(Written([&] {
                throttled_->OnBacklogHigh(
                    {.informer = "pods", .backlog = 9, .handler = "audit", .bytes = 65u << 20, .merging = true});
              }),
              ElementsAre("WARNING kgen: pods, handler audit: 9 events wait for a handler and keep 66560 KiB alive, "
                          "which is its limit (HandlerOptions::backlog_bytes): events of an object are merged, and the "
                          "handler misses intermediate states"));
}

TEST_F(ThrottledObserverTest, WritesTheFirstErrorOfEachObjectAndEveryTerminalOne) {
  ForwardTo({});
  const Error error(Code::kInternal, "no such host");
  const auto lines = Written([&] {
    for (int i = 0; i < 19; ++i) FailReconcile("default/pod-" + std::to_string(i), error);
    for (int i = 0; i < 19; ++i) FailReconcile("default/pod-" + std::to_string(i), error, 2);
    FailReconcile("default/pod-3", Error(Code::kInternal, "another error"), 3);
    FailReconcile("default/pod-4", Error(Code::kInvalid, "hopeless"), 1, true);
  });
  ASSERT_EQ(lines.size(), 21u);
  for (std::size_t i = 0; i < 19; ++i) EXPECT_TRUE(lines[i].contains("pod-" + std::to_string(i) + ": ")) << lines[i];
  EXPECT_TRUE(lines[19].contains("another error")) << lines[19];
  EXPECT_EQ(
      lines[20],
      "ERROR kgen: orders default/pod-4: reconcile failed: hopeless (Invalid); next attempt in 0.01 s; no further "
      "attempt until the object changes");
  // Each repetition belongs to its object.
  EXPECT_EQ(Written([&] { executor_->Advance(1s); }).size(), 19u);
}

TEST_F(ThrottledObserverTest, StaysSmallAndStillWritesEveryFirstFailureWhenManyObjectsFail) {
  ForwardTo({});
  constexpr std::size_t kObjects = 2 * ThrottledObserver::kMostCauses;
  const Error error(Code::kInternal, "no such host");
  const auto fail_all = [&](int attempt) {
    for (std::size_t i = 0; i < kObjects; ++i) FailReconcile("default/" + std::to_string(i), error, attempt);
  };
  EXPECT_EQ(Written([&] { fail_all(1); }).size(), kObjects);
  EXPECT_LE(Written([&] { fail_all(2); }).size(), 1u);
  const auto lines = Written([&] { executor_->Advance(1s); });
  EXPECT_LE(lines.size(), ThrottledObserver::kMostCauses + 1);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) { return line.contains(" objects since"); }));
}

TEST_F(ThrottledObserverTest, WritesLinesOfOneCauseMoreAndMoreRarely) {
  ForwardTo({});
  const Error forbidden(Code::kForbidden, "pods is forbidden");
  const auto lines = Written([&] {
    for (int i = 0; i < 600; ++i) {
      Fail("pods", forbidden, i + 1);
      executor_->Advance(100ms);
    }
  });
  EXPECT_EQ(lines.size(), 6u);  // at 0, 1, 3, 7, 15 and 31 seconds
}

TEST_F(ThrottledObserverTest, WritesOneLineForAllThatRecoverTogetherAndNothingForWhatItNeverReported) {
  ForwardTo({});
  const Error missing = Error(Code::kNotFound, "the server could not find the requested resource");
  EXPECT_THAT(Written([&] {
                Fail("widgets.test.kgen.dev/v1", missing);
                for (const char* name : {"a", "b", "c", "d"}) Fail(name, missing);
                executor_->Advance(1s);
              }),
              ElementsAre(::testing::EndsWith("widgets.test.kgen.dev/v1: watch failed: the server could not find the "
                                              "requested resource (NotFound); is its CustomResourceDefinition "
                                              "installed, with this version?; next attempt in 0.5 s"),
                          ::testing::HasSubstr("4 informers (a, b, c and 1 more): list or watch failed: the server")));
  EXPECT_THAT(Written([&] {
                for (const char* name : {"a", "b", "c", "d", "e"}) {
                  throttled_->OnRecovered({.source = name, .key = {}, .failures = 2, .after = 3s});
                }
                executor_->Advance(1s);
              }),
              ElementsAre("INFO kgen: 4 informers (a, b, c and 1 more): work again after up to 2 failures in 3 s"));
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

TEST_F(ThrottledObserverTest, AsksForACrdOnlyOnce) {
  ForwardTo({});
  const Error asks(Code::kNotFound, "not found; is the CustomResourceDefinition of this kind installed?");
  EXPECT_THAT(
      Written([&] {
        Fail("widgets.test.kgen.dev/v1", asks);
        executor_->Advance(1s);
      }),
      ElementsAre(::testing::EndsWith("widgets.test.kgen.dev/v1: watch failed: not found; is the "
                                      "CustomResourceDefinition of this kind installed? (NotFound); next attempt "
                                      "in 0.5 s")));
}

TEST_F(ThrottledObserverTest, WritesThatAnObjectIsReconciledAgainAfterWhatItHasNotYetWrittenAboutIt) {
  ForwardTo({});
  const Error error(Code::kInternal, "no such host");
  EXPECT_THAT(Written([&] {
                FailReconcile("default/a", error);
                FailReconcile("default/a", error, 2);
                throttled_->OnRecovered({.source = "orders", .key = "default/a", .failures = 2, .after = 15ms});
                executor_->Advance(2s);
              }),
              ElementsAre(::testing::HasSubstr("WARNING kgen: orders default/a: reconcile failed: no such host"),
                          ::testing::HasSubstr("after 2 failures in a row"),
                          "INFO kgen: orders default/a: works again after 2 failures in 0.015 s"));
}

TEST_F(ThrottledObserverTest, WritesAFewLinesWhileSixtyInformersHaveNoConnectionForAMinuteAndOneWhenItIsBack) {
  ForwardTo({});
  const auto fail_all = [&] {
    throttled_->OnConnectionChanged({.host = "test:6443", .error = &refused_});
    for (int i = 0; i < 60; ++i) Fail("kind-" + std::to_string(i), refused_);
    FailReconcile("default/a", refused_);
  };
  EXPECT_THAT(Written(fail_all),
              ElementsAre("WARNING kgen: test:6443: no connection: cannot connect to test:6443: connection refused "
                          "(Unavailable)"));
  EXPECT_THAT(Written([&] { executor_->Advance(1s); }),
              ElementsAre("WARNING kgen: 60 informers (kind-0, kind-1, kind-2 and 57 more): list or watch failed: "
                          "cannot connect to test:6443: connection refused (Unavailable); next attempt in 0.5 s (61 "
                          "such failures since the last line)"));
  const auto lines = Written([&] {
    for (int i = 0; i < 59; ++i) {
      fail_all();
      executor_->Advance(1s);
    }
  });
  EXPECT_LE(lines.size(), 5u);
  EXPECT_THAT(Written([&] {
                throttled_->OnConnectionChanged({.host = "test:6443", .up = true});
                throttled_->OnConnectionChanged({.host = "test:6443", .up = true});
              }),
              ElementsAre("INFO kgen: test:6443: connected"));
}

TEST_F(ThrottledObserverTest, WritesNothingForTheNullObserver) {
  ForwardTo(NullObserver());
  EXPECT_THAT(Written([&] {
                Fail("pods", refused_);
                Refuse("pods", "a");
              }),
              IsEmpty());
}

}  // namespace
}  // namespace kgen
