// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SendGuard: writes ask it at the last moment, in every transport; reads do not.
#include <atomic>

#include "kgen/testing/cluster.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/support/http2_harness.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Allows so many requests.
class Gatekeeper final : public SendGuard {
 public:
  explicit Gatekeeper(int allowed) : allowed_(allowed) {}
  Result<void> MaySend() noexcept override {
    asked_.fetch_add(1);
    if (allowed_.fetch_sub(1) > 0) return {};
    return Fail(error_);
  }
  void Allow(int requests) { allowed_ = requests; }
  int asked() const { return asked_; }

 private:
  std::atomic<int> allowed_;
  std::atomic<int> asked_{0};
  const Error error_{Code::kForbidden, "no longer the leader"};
};

using SendGuardTest = ClientTest;

TEST_F(SendGuardTest, RefusesWritesThatAreNotSentThen) {
  const auto guard = MakeShared<Gatekeeper>(0);
  const Connection guarded = connection().With(Shared<SendGuard>(guard));
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    ApiRequest request = Post();
    request.method = method;
    const auto response = guarded.Call(request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), Code::kForbidden);
    EXPECT_THAT(response.error().ToString(), HasSubstr("create pods: no longer the leader"));
  }
  EXPECT_EQ(guard->asked(), 4);
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(SendGuardTest, LetsReadsPassWithoutBeingAsked) {
  const auto guard = MakeShared<Gatekeeper>(0);
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection().With(Shared<SendGuard>(guard)).Call(Get()));
  EXPECT_EQ(guard->asked(), 0);
  EXPECT_FALSE(transport_->request(0).guard);
}

TEST_F(SendGuardTest, LeavesTheConnectionThatItWasMadeFromUnguarded) {
  const Connection plain = connection();
  const Connection guarded = plain.With(Shared<SendGuard>(MakeShared<Gatekeeper>(0)));
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(plain.Call(Post()));
  EXPECT_FALSE(guarded.With(std::stop_token()).Call(Post()));  // which a stop token does not change
}

TEST_F(SendGuardTest, IsAskedAgainBeforeEachAttempt) {
  const auto guard = MakeShared<Gatekeeper>(1);
  transport_->Reply({.status = 503, .body = "busy", .headers = {{"retry-after", "2"}}});
  const auto response = connection().With(Shared<SendGuard>(guard)).Call(Post());
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().ToString(), HasSubstr("no longer the leader"));
  EXPECT_EQ(transport_->size(), 1u);
}

// Lets everything pass for a time.
class Deadline final : public SendGuard {
 public:
  explicit Deadline(Nanos left) : left_(left) {}
  Result<void> MaySend() noexcept override { return {}; }
  Nanos TimeLeft() noexcept override { return left_; }
  void SetLeft(Nanos left) { left_ = left; }

 private:
  Nanos left_;
};

TEST_F(SendGuardTest, ShortensTheTimeLimitOfAWrite) {
  const Connection guarded = connection().With(Shared<SendGuard>(MakeShared<Deadline>(std::chrono::seconds(4))));
  const auto sent = [&](std::optional<Nanos> timeout) {
    ApiRequest request = Post();
    request.timeout = timeout;
    transport_->Reply({.body = "{}"});
    EXPECT_TRUE(guarded.Call(std::move(request)));
    return transport_->request(transport_->size() - 1).path;
  };
  EXPECT_THAT(sent(std::nullopt), HasSubstr("timeout=3.6s"));
  EXPECT_THAT(sent(std::chrono::seconds(30)), HasSubstr("timeout=3.6s"));
  EXPECT_THAT(sent(std::chrono::seconds(2)), HasSubstr("timeout=2s"));
}

TEST_F(SendGuardTest, RefusesAWriteThatHasWaitedForTooLong) {
  const auto guard = MakeShared<Deadline>(std::chrono::seconds(10));
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection().With(Shared<SendGuard>(guard)).Call(Post()));
  const Shared<SendGuard> asked = transport_->request(0).guard;  // what the transport asks when it is its turn
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->MaySend());
  guard->SetLeft(std::chrono::seconds(8));  // the server was told 9 s
  const Result<void> late = asked->MaySend();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kCancelled);
}

TEST(SendGuardInProcessTest, RefusesAWriteThatWaitsForItsTurn) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Cluster cluster({.seed = seed, .latency = 10ms});
    const kgen::Connection connection = cluster.Connection();
    const auto guard = MakeShared<Gatekeeper>(1);  // the client may begin, and the transport must not send
    ApiRequest request{.method = "POST",
                       .path = "/api/v1/namespaces/default/configmaps",
                       .content_type = "application/json",
                       .body = MinimalObject("v1", "ConfigMap", "default", "a").json(),
                       .what = "create configmaps"};
    const auto refused = connection.With(Shared<SendGuard>(guard)).Call(request);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().ToString(), HasSubstr("create configmaps: no longer the leader"));
    EXPECT_EQ(guard->asked(), 2);
    EXPECT_THAT(cluster.Writes(), IsEmpty());
    guard->Allow(2);
    EXPECT_TRUE(connection.With(Shared<SendGuard>(guard)).Call(request));
    EXPECT_EQ(cluster.Writes().size(), 1u);
  }
}

}  // namespace
}  // namespace kgen::testing

namespace kgen::test_support {
namespace {

using SendGuardHttp2Test = Http2Test;

class Closing final : public SendGuard {
 public:
  Result<void> MaySend() noexcept override {
    if (!closed) return {};
    return Fail(error_);
  }
  std::atomic<bool> closed{false};

 private:
  const Error error_{Code::kForbidden, "no longer the leader"};
};

TEST_F(SendGuardHttp2Test, EndsAWriteThatBecameUnsendableWhileItWaitedForAStream) {
  Serve({.max_concurrent_streams = 0});
  Connect();
  const auto guard = MakeShared<Closing>();
  const auto write = [&](const Shared<SendGuard>& by) {
    Call call{.sink = MakeShared<RecordingSink>(), .exchange = {}};
    call.exchange = transport_->Start({.method = "POST", .path = "/ok", .body = "{}", .guard = by}, call.sink);
    return call;
  };
  const Call first = write(guard);
  const Call second = write({});
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 1; }));
  guard->closed = true;
  server_->SetMaxConcurrentStreams(1);
  const Result<void> end = first.sink->WaitEnd();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message(), "no longer the leader");
  EXPECT_TRUE(second.sink->WaitEnd());  // the stream is free for the next request
  guard->closed = false;
  EXPECT_TRUE(write(guard).sink->WaitEnd());
}

}  // namespace
}  // namespace kgen::test_support
