// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/soak_server.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "bench/reference_pods.h"
#include "testing/http2_server.h"

namespace kgen::bench {
namespace {

using Clock = std::chrono::steady_clock;
using testing::ResponseWriter;
using namespace std::chrono_literals;

constexpr std::size_t kPodsInAPiece = 32;      // of a list
constexpr std::size_t kMostUnsent = 1u << 20;  // bytes, of a watch at full speed
constexpr std::size_t kStride = 7919;          // from one updated pod to the next

class PodServer final : public testing::HttpHandler {
 public:
  explicit PodServer(std::size_t count) : pods_(ReferencePods(count)), version_(NowMicroseconds()) {}

  void OnRequest(testing::ServerRequest request, Shared<ResponseWriter> writer) override {
    writer->Head(200, {{"content-type", "application/json"}});
    if (request.path.find("watch=") == std::string::npos) return List(std::move(writer));
    const std::lock_guard lock(mutex_);
    watch_ = std::move(writer);
  }

  // Blocks until the updates are written.
  std::pair<long, long> Update(std::size_t count, double rate) {
    const Clock::time_point start = Clock::now();
    long lag = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rate > 0) {
        const Clock::time_point due = start + std::chrono::nanoseconds(static_cast<long>(1e9 / rate * i));
        std::this_thread::sleep_until(due);
        lag = std::max<long>(lag, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - due).count());
      } else if (i % kPodsInAPiece == 0) {
        while (Unsent() > kMostUnsent) std::this_thread::sleep_for(200us);
      }
      UpdateNext();
    }
    return {version_, lag};
  }

  long Expire() {
    Shared<ResponseWriter> watch;
    {
      const std::lock_guard lock(mutex_);
      version_ = std::max(version_ + 1, NowMicroseconds());
      for (std::size_t i = 0; i < pods_.size() / 10; ++i) AdvancePod(NextPod(), version_, updates_);
      watch = std::exchange(watch_, {});
    }
    if (watch) {
      watch->Write(
          R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}})"
          "\n");
      watch->End();
    }
    return version_;
  }

  bool watched() const {
    const std::lock_guard lock(mutex_);
    return watch_ && !watch_->closed();
  }

 private:
  // A list that is being sent. The next piece follows when the network has accepted the last one.
  struct Listing : SharedObject {
    Shared<PodServer> server;
    Shared<ResponseWriter> writer;
    std::size_t next = 0;
  };

  void List(Shared<ResponseWriter> writer) {
    {
      const std::lock_guard lock(mutex_);
      writer->Write(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                    std::to_string(version_) + R"("},"items":[)");
    }
    auto listing = MakeShared<Listing>();
    listing->server = Shared<PodServer>(this);
    listing->writer = writer;
    writer->OnDrained([listing] { listing->server->Continue(*listing); });
    Continue(*listing);
  }

  void Continue(Listing& listing) {
    const std::lock_guard lock(mutex_);
    if (listing.next >= pods_.size()) return;
    std::string piece;
    const std::size_t end = std::min(listing.next + kPodsInAPiece, pods_.size());
    for (; listing.next < end; ++listing.next) {
      if (listing.next > 0) piece += ',';
      piece += pods_[listing.next];
    }
    if (end == pods_.size()) piece += "]}";
    listing.writer->Write(std::move(piece));
    if (end == pods_.size()) listing.writer->End();
  }

  std::string& NextPod() { return pods_[++updates_ * kStride % pods_.size()]; }

  void UpdateNext() {
    const std::lock_guard lock(mutex_);
    version_ = std::max(version_ + 1, NowMicroseconds());
    std::string& pod = NextPod();
    AdvancePod(pod, version_, updates_);
    std::string event = R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",)";
    event.append(pod, 1).append("}\n");
    if (watch_) watch_->Write(std::move(event));
  }

  std::size_t Unsent() const {
    const std::lock_guard lock(mutex_);
    return watch_ ? watch_->backlog() : 0;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> pods_;  // guarded by mutex_, like all members below
  long version_;
  std::size_t updates_ = 0;
  Shared<ResponseWriter> watch_;
};

}  // namespace

long NowMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
}

int ServePods(const std::vector<std::string>& arguments) {
  auto pods = MakeShared<PodServer>(std::stoul(arguments.at(0)));
  auto server = testing::Http2Server::Start({}, pods);
  if (!server) {
    std::cerr << server.error().ToString() << "\n";
    return 1;
  }
  std::ofstream(arguments.at(1)) << (*server)->ca_pem();
  std::cout << "serving " << (*server)->url() << std::endl;
  std::string word;
  while (std::cin >> word) {
    while (!pods->watched()) std::this_thread::sleep_for(1ms);
    std::size_t count = 0;
    double rate = 0;
    if (word == "update" && std::cin >> count >> rate) {
      const auto [version, lag] = pods->Update(count, rate);
      std::cout << "updated " << version << " " << lag << std::endl;
    } else {
      std::cout << "expired " << pods->Expire() << " 0" << std::endl;
    }
  }
  (*server)->Stop();
  return 0;
}

}  // namespace kgen::bench
