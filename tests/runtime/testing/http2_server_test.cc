// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The HTTP/2 server as a handler sees it. tests/runtime/client/http2_transport_test.cc tests it as a client sees it.
#include "testing/http2_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/http2_harness.h"

namespace kgen::test_support {
namespace {

using Http2Server = Http2Test;

TEST_F(Http2Server, NotifiesAHandlerWhenTheClientHasReceivedItsBytes) {
  Serve();
  Connect();
  const Call call = Get(*transport_, "/hold", true);
  const auto writer = WaitHeld(1)[0];
  std::size_t sent = 0;
  // Writes the next piece only when the last one was sent: at most one piece is ever buffered.
  writer->OnDrained([&, writer] {
    EXPECT_EQ(writer->backlog(), 0u);
    if (++sent == 10) return writer->End();
    writer->Write(std::string(100000, 'p'));
  });
  writer->Write(std::string(100000, 'p'));
  EXPECT_TRUE(call.sink->WaitEnd().has_value());
  EXPECT_EQ(call.sink->body().size(), 1000000u);
  server_->Stop();  // before `sent` is destroyed
}

TEST_F(Http2Server, NotifiesAHandlerOnceWhenTheClientIsGone) {
  Serve();
  Connect();
  const Call call = Get(*transport_, "/hold", true);
  const auto writer = WaitHeld(1)[0];
  int closed = 0;
  writer->OnClosed([&] { signal_.Change([&] { ++closed; }); });
  call.exchange->Cancel();
  EXPECT_TRUE(WaitServer([&] { return closed == 1; }));
  EXPECT_TRUE(writer->closed());
  writer->Write("into the void");
  writer->End();
  writer->OnClosed([&] { signal_.Change([&] { ++closed; }); });
  EXPECT_TRUE(WaitServer([&] { return closed == 2; }));
  server_->Stop();
}

TEST_F(Http2Server, GivesTheWholeRequestToItsHandler) {
  Serve({.tls = false});
  Connect();
  auto sink = MakeShared<RecordingSink>();
  transport_->Start({.method = "PUT", .path = "/size?a=b", .headers = {{"x-one", "1"}}, .body = "12345"}, sink);
  EXPECT_TRUE(sink->WaitEnd().has_value());
  EXPECT_EQ(sink->head().Header("x-path"), "/size?a=b");
}

TEST_F(Http2Server, AnswersARequestWithALargerBodyThanItTakes) {
  Serve({.max_body = 1000});
  Connect();
  for (const std::size_t size : {1000u, 1001u, 5'000'000u}) {
    auto sink = MakeShared<RecordingSink>();
    transport_->Start({.method = "PUT", .path = "/size", .body = std::string(size, 'x')}, sink);
    EXPECT_TRUE(sink->WaitEnd().has_value());
    EXPECT_EQ(sink->head().status, size > 1000 ? 413 : 200);
  }
}

}  // namespace
}  // namespace kgen::test_support
