// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Calls whose allocations fail while their answer is worked on, one after the other: each ends with an answer or an
// error, and none without either. And timers of the client that find no memory while they run.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "client/request/reconnect_gate.h"
#include "kgen/client/async_client.h"
#include "kgen/client/crd.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"
#include "tests/support/poor_clock.h"

// ThreadSanitizer has an operator new of its own, in place of this one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGEN_TEST_WITHOUT_OWN_NEW 1
#endif
#endif

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
namespace {
// So many more are given to this thread, and then one is not; less than 0: any number.
thread_local std::int64_t until_one_fails = -1;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  const bool fails = until_one_fails == 0 || kgen::testing::timer_runs;
  if (until_one_fails >= 0) --until_one_fails;
  if (fails) throw std::bad_alloc();
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace kgen::testing {
namespace {

using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;

constexpr char kWidget[] = R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"a-name-that-is-long",
  "namespace":"default","labels":{"a-label-that-is-long":"a-value-that-is-long"}}})";

class MemoryTest : public ClientTest {
 protected:
  // Makes the call, lets its answer come, and fails one allocation of the work that follows. Calls are repeated with a
  // later one each time, until none fails. Returns how many ended with an error.
  template <typename T>
  int FailEach(const std::string& body, const std::function<void(Callback<T>)>& call) {
    int errors = 0;
    for (std::int64_t n = 0; n < 2000; ++n) {
      int answers = 0;
      std::optional<Result<T>> kept;  // what goes with an answer takes memory too, which is another story
      transport_->Hold();
      call([&](Result<T> answer) {
        ++answers;
        kept.emplace(std::move(answer));
      });
      executor_->Run();
      transport_->last().Head(200, {{"content-type", "application/json"}});
      if (!body.empty()) transport_->last().Bytes(body);
      if (!body.empty()) transport_->last().End();
      until_one_fails = n;
      executor_->Run();
      const bool failed = std::exchange(until_one_fails, -1) < 0;
      EXPECT_EQ(answers, 1) << "with allocation " << n;
      if (!failed) {
        EXPECT_TRUE(kept && kept->has_value());
        return errors;
      }
      if (answers != 1) return errors;
      errors += kept->has_value() ? 0 : 1;
    }
    ADD_FAILURE() << "it never got through";
    return errors;
  }

  ResourceClient<Widget, WidgetList> widgets_{connection(), "default"};
};

TEST_F(MemoryTest, EndsEveryGetWhateverAllocationFails) {
  EXPECT_GT(FailEach<Widget>(kWidget, [&](Callback<Widget> done) { widgets_.Async().Get("a", std::move(done)); }), 0);
}

TEST_F(MemoryTest, EndsEveryDeletionWhateverAllocationFails) {
  FailEach<void>(kWidget, [&](Callback<void> done) { widgets_.Async().Delete("a", std::move(done)); });
}

TEST_F(MemoryTest, EndsTheOpeningOfEveryWatchWhateverAllocationFails) {
  FailEach<Watcher<Widget>>("", [&](Callback<Watcher<Widget>> done) { widgets_.Async().Watch(std::move(done)); });
}

// The timers of one connection, none of which finds memory while it runs.
class PoorClockTest : public ClientTest {
 protected:
  ~PoorClockTest() override {
    transport_->EndAll();
    poor_->manual().Shutdown();
  }
  Connection Poor(Settings settings = Defaults()) {
    return client::ConnectionState::Handle({transport_, poor_, observer_}, std::move(settings));
  }
  Nanos Elapsed() { return poor_->clock()->Now() - start_; }

  const Shared<PoorClockExecutor> poor_ = MakeShared<PoorClockExecutor>();
};

TEST_F(PoorClockTest, ACallEndsAtItsTimeLimit) {
  transport_->Hold();
  ApiRequest request = Get();
  request.timeout = 3s;
  EXPECT_EQ(Poor().Call(std::move(request)).error().code(), Code::kTimeout);
  EXPECT_EQ(Elapsed(), 3s);
}

TEST_F(PoorClockTest, AStreamEndsWhenATimerCancelsIt) {
  struct Sink : StreamSink {
    void OnOpen() override {}
    void OnBytes(std::string_view) override {}
    void OnEnd(Result<void> end) override { code = end.error().code(); }
    std::optional<Code> code;
  };
  transport_->Hold();
  const auto sink = MakeShared<Sink>();
  const auto stream = Poor().Stream(Get(), poor_->MakeStrand("stream"), sink);
  const Timer timer = poor_->clock()->After(3s, TimerKind::kProgress, [&] { stream->Cancel(); });
  poor_->manual().Advance(2s);
  EXPECT_EQ(sink->code, std::nullopt);
  poor_->manual().Advance(2s);
  EXPECT_EQ(sink->code, Code::kCancelled);
}

TEST_F(PoorClockTest, ACallGoesOnAfterTheLimiterAndAfterTheRetryPause) {
  Settings settings = Defaults();
  settings.qps = 0.1;
  settings.burst = 1;
  const Connection connection = Poor(settings);
  transport_->Reply({});
  transport_->Reply(Busy(429, "2"));
  transport_->Reply({});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_GE(Elapsed(), 12s);
  EXPECT_EQ(transport_->size(), 3u);
}

TEST_F(PoorClockTest, TheGateGrantsEveryTurn) {
  const auto gate = MakeShared<client::ReconnectGate>(poor_);
  const Shared<Strand> strand = poor_->MakeStrand("informer");
  int granted = 0;
  std::vector<client::ReconnectGate::Turn> turns;
  for (int i = 0; i < 40; ++i) {
    turns.push_back(gate->Enter(client::ReconnectGate::Purpose::kAgain, strand, [&] { ++granted; }));
    granted += turns.back().granted() ? 1 : 0;
  }
  EXPECT_LT(granted, 40);
  poor_->manual().Advance(10s);
  EXPECT_EQ(granted, 40);
}

TEST_F(PoorClockTest, TheGateSendsAProbeAfterProbe) {
  const auto gate = MakeShared<client::ReconnectGate>(poor_);
  const Shared<Strand> strand = poor_->MakeStrand("informer");
  int probes = 0;
  client::ReconnectGate::Turn turn;
  std::function<void()> enter = [&] {
    turn = gate->Enter(client::ReconnectGate::Purpose::kAgain, strand, [&] {
      ++probes;
      turn.NoConnection(kRefused);
      enter();
    });
  };
  turn = gate->Enter(client::ReconnectGate::Purpose::kFirst, strand, [] {});
  turn.NoConnection(kRefused);
  enter();
  poor_->manual().Advance(1min);
  EXPECT_GT(probes, 10);
  turn.Leave();
}

TEST_F(PoorClockTest, TheInstallationOfDefinitionsEndsAtItsTimeLimit) {
  constexpr std::string_view kManifest = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.test.kgen.dev"},"spec":{"group":"test.kgen.dev"}})";
  transport_->Hold();
  const std::string_view manifests[] = {kManifest};
  const auto installed = crd::Install(Poor(), manifests, {.timeout = 5s});
  ASSERT_FALSE(installed.has_value());
  EXPECT_EQ(installed.error().code(), Code::kTimeout) << installed.error();
  EXPECT_EQ(Elapsed(), 5s);
}

}  // namespace
}  // namespace kgen::testing
#endif  // KGEN_TEST_WITHOUT_OWN_NEW
