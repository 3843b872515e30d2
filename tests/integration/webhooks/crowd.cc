// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/webhooks/crowd.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"

namespace kgen::integration {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::string_view kHalfHandshake("\x16\x03\x01\x02\x00\x01", 6);
constexpr std::string_view kRequest =
    "POST /validate-batch-tutorial-kubebuilder-io-v1-cronjob?timeout=30s HTTP/1.1\r\nHost: cronjobs\r\n"
    "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{";

constexpr int kNewInATurn = 100;

bool IsSlow(std::size_t number) { return number % 3 == 2; }

void AllowFiles(rlim_t count) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur >= count) return;
  files.rlim_cur = std::min(files.rlim_max, count);
  ::setrlimit(RLIMIT_NOFILE, &files);
  EXPECT_GE(files.rlim_cur, count) << "the process may not open enough files";
}

}  // namespace

Crowd::Crowd(int port, int size) : port_(port), members_(static_cast<std::size_t>(size)) {
  AllowFiles(4 * static_cast<rlim_t>(size));  // the server is in the same process
  thread_ = std::jthread([this](const std::stop_token& stop) {
    const auto pause = DefaultExecutor()->MakeWaiter("crowd");
    while (!stop.stop_requested()) {
      Turn(stop);
      (void)pause->Wait(stop, DefaultExecutor()->clock()->Now() + std::chrono::milliseconds(500));
    }
  });
}

Crowd::~Crowd() {
  thread_.request_stop();
  thread_.join();
}

void Crowd::Turn(const std::stop_token& stop) {
  int open = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    if (!member.stream) continue;
    if (!IsOpen(member, i)) {
      member.stream.reset();
      ++closed_;
      continue;
    }
    ++open;
    error_code ignored;  // of a connection that was closed just now, which the next turn sees
    if (IsSlow(i)) member.stream->write_some(asio::buffer(&kRequest[member.sent++ % kRequest.size()], 1), ignored);
  }
  open_ = open;
  int missing = turns_ == 0 ? static_cast<int>(members_.size()) : kNewInATurn;
  for (std::size_t i = 0; i < members_.size() && missing > 0 && !stop.stop_requested(); ++i) {
    if (members_[i].stream) continue;
    Open(members_[i], i);
    --missing;
  }
  ++turns_;
}

void Crowd::Open(Member& member, std::size_t number) {
  member = {std::make_unique<ssl::stream<tcp::socket>>(io_, context_)};
  tcp::socket& socket = member.stream->next_layer();
  error_code failure;
  socket.open(tcp::v4());
  socket.bind({asio::ip::make_address("127.0.0.2"), 0});
  (void)socket.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port_)}, failure);
  if (!failure && number % 3 == 1) socket.send(asio::buffer(kHalfHandshake), 0, failure);
  if (!failure && IsSlow(number)) (void)member.stream->handshake(ssl::stream_base::client, failure);
  if (!failure) (void)socket.non_blocking(true, failure);
  if (failure) member.stream.reset();
}

bool Crowd::IsOpen(Member& member, std::size_t number) {
  char byte = 0;
  error_code failure;
  IsSlow(number) ? member.stream->read_some(asio::buffer(&byte, 1), failure)
                 : member.stream->next_layer().receive(asio::buffer(&byte, 1), 0, failure);
  return failure == asio::error::would_block;
}

}  // namespace kgen::integration
