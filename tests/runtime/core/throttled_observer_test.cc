// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/throttled_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
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
  // What is written to standard error meanwhile.
  template <typename Body>
  static std::string Written(Body body) {
    CaptureStderr();
    body();
    return GetCapturedStderr();
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
  EXPECT_EQ(
      Written([&] {
        Fail("pods", forbidden, 3);
        Refuse("services", "api");
        throttled_->OnHandlerFailed({.informer = "pods", .key = &key, .what = "out of range"});
        for (int attempt = 2; attempt < 5; ++attempt) {
          throttled_->OnReconcileFailed(
              {.queue = "orders", .key = "default/first", .error = &forbidden, .attempt = attempt, .retry_in = 10ms});
        }
        executor_->Advance(1s);
      }),
      "kgen: pods: watch failed: pods is forbidden (Forbidden); next attempt in 0.5 s after 3 failures in a row\n"
      "kgen: services default/api: object refused, the cache keeps its last good state: no name (Decode)\n"
      "kgen: pods default/web-0: handler threw: out of range\n"
      "kgen: orders default/first: reconcile failed: watch pods: pods is forbidden (Forbidden); next attempt in "
      "0.01 s after 2 failures in a row\n"
      "kgen: orders default/first: reconcile failed: watch pods: pods is forbidden (Forbidden); next attempt in "
      "0.01 s after 3 failures in a row (one of 2 such events since the last line)\n");
}

TEST_F(ThrottledObserverTest, WritesNothingForNormalEvents) {
  ForwardTo({});
  EXPECT_EQ(Written([&] {
              throttled_->OnConnectionChanged({.host = "test", .up = true});
              throttled_->OnRelisted({.informer = "pods", .resource_version = "7", .objects = 3});
              Fail("pods", Error(Code::kExpired, "too old resource version"));
              executor_->Advance(1s);
            }),
            "");
}

TEST_F(ThrottledObserverTest, WarnsOfAVersionThatKeepsExpiring) {
  ForwardTo({});
  EXPECT_NE(Written([&] { Fail("pods", Error(Code::kExpired, "too old resource version"), 2); }), "");
}

TEST_F(ThrottledObserverTest, WritesOneLineASecondWhileSixtyInformersHaveNoConnectionAndOneWhenItIsBack) {
  ForwardTo({});
  const auto fail_all = [&] {
    throttled_->OnConnectionChanged({.host = "test:6443", .error = &refused_});
    for (int i = 0; i < 60; ++i) Fail("kind-" + std::to_string(i), refused_);
  };
  EXPECT_EQ(Written(fail_all),
            "kgen: test:6443: no connection: cannot connect to test:6443: connection refused (Unavailable)\n");
  EXPECT_EQ(
      Written([&] { executor_->Advance(1s); }),
      "kgen: kind-0: watch failed: cannot connect to test:6443: connection refused (Unavailable); next attempt in "
      "0.5 s (one of 60 such events since the last line)\n");
  EXPECT_EQ(Written([&] {
              throttled_->OnConnectionChanged({.host = "test:6443", .up = true});
              throttled_->OnConnectionChanged({.host = "test:6443", .up = true});
            }),
            "kgen: test:6443: connected\n");
}

TEST_F(ThrottledObserverTest, WritesNothingForTheNullObserver) {
  ForwardTo(NullObserver());
  EXPECT_EQ(Written([&] {
              Fail("pods", refused_);
              Refuse("pods", "a");
            }),
            "");
}

}  // namespace
}  // namespace kgen
