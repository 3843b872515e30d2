// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Concurrent calls and streams: in simulation in orders chosen by a seed, and on real threads for the sanitizers.
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "client/request/pause.h"
#include "kgen/client/watcher.h"
#include "kgen/core/object_meta.h"
#include "kgen/testing/simulation.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

// Records a stream and checks the guarantees of its calls.
class CheckingSink final : public StreamSink {
 public:
  void OnOpen() override {
    EXPECT_EQ(ends, 0);
    EXPECT_EQ(opens++, 0);
  }
  void OnBytes(std::string_view bytes) override {
    EXPECT_EQ(ends, 0) << "bytes after the end";
    EXPECT_EQ(opens, 1);
    text += bytes;
  }
  void OnEnd(Result<void> result) override {
    EXPECT_EQ(ends++, 0);
    end = std::move(result);
  }
  int opens = 0;
  std::atomic<int> ends = 0;
  std::string text;
  std::optional<Result<void>> end;
};

const Error kBroken(Code::kUnavailable, "connection reset");

class ConnectionRaceTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // A reply that the seed chooses: well, refused, busy, or broken off somewhere.
  FakeReply AnyReply() {
    FakeReply reply = {.body = "0123456789", .piece = 1 + simulation_.Choose(4)};
    switch (simulation_.Choose(5)) {
      case 0:
        reply.broken = kBroken;
        reply.lost = simulation_.Choose(2) == 0;
        break;
      case 1:
        return {.status = 0, .broken = kBroken, .lost = true};
      case 2:
        return {.status = 503, .body = "busy", .headers = {{"retry-after", "1"}}};
      case 3:
        return {.status = 404, .body = "none"};
      default:
        break;
    }
    return reply;
  }

  Simulation simulation_{GetParam()};
  Shared<FakeTransport> transport_ = MakeShared<FakeTransport>();
};

TEST_P(ConnectionRaceTest, EveryStreamEndsOnceWheneverItIsCancelled) {
  const Connection connection = Connection::Over({transport_, simulation_.executor()});
  std::vector<Shared<CheckingSink>> sinks;
  std::vector<TaskResult<int>> cancels;
  for (int i = 0; i < 8; ++i) {
    transport_->Reply(AnyReply());
    sinks.push_back(MakeShared<CheckingSink>());
    const auto strand = simulation_.executor()->MakeStrand("stream");
    const auto call =
        connection.Stream({.path = "/x", .what = "stream", .watch = simulation_.Choose(2) == 0}, strand, sinks.back());
    if (simulation_.Choose(2) == 0) {
      cancels.push_back(simulation_.Spawn([call] {
        call->Cancel();
        return 0;
      }));
    }
  }
  ASSERT_TRUE(simulation_.RunUntilIdle().has_value());
  for (const auto& sink : sinks) {
    EXPECT_EQ(sink->ends, 1);
    if (*sink->end) {
      EXPECT_EQ(sink->text, "0123456789");
    }
  }
  EXPECT_EQ(simulation_.census().timers, 0u);
  EXPECT_EQ(simulation_.census().tasks, 0u);
}

TEST_P(ConnectionRaceTest, EveryCallReturnsWheneverItIsStopped) {
  const Connection connection = Connection::Over({transport_, simulation_.executor()});
  for (int i = 0; i < 100; ++i) transport_->Reply(AnyReply());
  std::stop_source stop;
  std::vector<TaskResult<Code>> calls;
  for (int i = 0; i < 6; ++i) {
    calls.push_back(simulation_.Spawn([&, i] {
      const Result<ApiResponse> answer =
          connection.Call({.path = "/x", .what = "call"}, i % 2 == 0 ? stop.get_token() : std::stop_token());
      if (!answer) return answer.error().code();
      EXPECT_EQ(answer->body, "0123456789");
      return Code::kInternal;  // stands for none
    }));
  }
  const auto stopper = simulation_.Spawn([&] {
    (void)client::Pause(*simulation_.executor(), "a while", 500ms * simulation_.Choose(5));
    return stop.request_stop();
  });
  ASSERT_TRUE(simulation_.RunUntilIdle().has_value());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(calls[i].done()) << simulation_.WhoWaits();
    if (i % 2 == 1) {
      EXPECT_NE(calls[i].result(), Code::kCancelled);
    }
  }
  EXPECT_EQ(simulation_.census().blocking, 0u);
  EXPECT_EQ(simulation_.census().timers, 0u);
  EXPECT_EQ(simulation_.census().tasks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConnectionRaceTest, ::testing::Range<std::uint64_t>(0, 200));

// Answers on a thread of its own, as the real one does.
class ThreadedTransport final : public Transport {
 public:
  ~ThreadedTransport() override {
    for (std::thread& thread : threads_) {
      if (thread.get_id() == std::this_thread::get_id()) {
        thread.detach();  // it held the last reference
      } else {
        thread.join();
      }
    }
  }
  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    auto exchange = MakeShared<Silent>();
    const std::scoped_lock lock(mutex_);
    threads_.emplace_back([sink = std::move(sink), broken = request.path.ends_with("broken")]() mutable {
      sink->OnHead({200, {}});
      for (int i = 0; i < 10; ++i) sink->OnBytes(std::to_string(i));
      sink->OnEnd(broken ? Result<void>(Fail(kBroken)) : Result<void>());
      sink = {};
    });
    return exchange;
  }
  void Close() noexcept override {}

 private:
  struct Silent final : Exchange {
    void Consumed(std::size_t) noexcept override {}
    void Cancel() noexcept override {}
  };
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

TEST(ConnectionThreads, CallsStreamsAndCancellationsFromManyThreads) {
  const auto transport = MakeShared<ThreadedTransport>();
  const auto executor = Must(MakeThreadPool({.threads = 3}));
  const Connection connection = Connection::Over({transport, executor});
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&, user] {
      for (int i = 0; i < 30; ++i) {
        std::stop_source stop;
        std::thread stopper([&] {
          if (i % 3 == 0) stop.request_stop();
        });
        const Result<ApiResponse> answer =
            connection.Call({.method = "POST", .path = user == 0 ? "/broken" : "/fine"}, stop.get_token());
        EXPECT_TRUE(i % 3 == 0 || answer.has_value() == (user != 0));
        if (answer) {
          EXPECT_EQ(answer->body, "0123456789");
        }
        stopper.join();

        const auto sink = MakeShared<CheckingSink>();
        const auto call = connection.Stream({.path = "/fine", .watch = true}, executor->MakeStrand("s"), sink);
        if (i % 2 == 0) call->Cancel();
        while (sink->ends == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& user : users) user.join();
}

TEST(ConnectionThreads, AWatcherCanBeDestroyedAtAnyTime) {
  const auto transport = MakeShared<ThreadedTransport>();
  const auto executor = Must(MakeThreadPool({.threads = 3}));
  static constexpr KindInfo kKind = {"", "v1", "Pod", "PodList", "pods", "pod", Scope::kNamespaced, nullptr};
  for (int i = 0; i < 50; ++i) {
    const Connection connection = Connection::Over({transport, executor});
    Result<AnyWatcher> watcher =
        AnyWatcher::Open(RawResource(connection, kKind, "default"), meta::v1::ObjectMeta::kTable, {});
    ASSERT_TRUE(watcher.has_value()) << watcher.error();
    if (i % 2 != 0) continue;
    EXPECT_EQ(watcher->Next({}).error().code(), Code::kDecode) << "digits are no event";
  }
}

}  // namespace
}  // namespace kgen::testing
