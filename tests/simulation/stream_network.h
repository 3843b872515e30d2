// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The network between one machine and the API server for requests whose answers are streams: late, lost, refused, and
// cut off. Of one stream the bytes come in order and without a gap, or no longer at all.
#ifndef KGEN_TESTS_SIMULATION_STREAM_NETWORK_H_
#define KGEN_TESTS_SIMULATION_STREAM_NETWORK_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/net/transport.h"

namespace kgen::simulation {

class StreamExchange;

// Tells the server's side of the simulation when a request has left its machine, in nanoseconds of the simulation.
inline constexpr std::string_view kSentHeader = "x-simulated-sent";
// Who has sent it.
inline constexpr std::string_view kFromHeader = "x-simulated-from";

// What a machine sees of the network. Used on any simulated thread, one at a time.
struct StreamNetwork : SharedObject {
  std::string name{};  // of the process on the machine
  bool refuses = false, loses_requests = false, loses_answers = false;
  Nanos slowest{};                                            // each way takes up to so long
  std::function<std::uint32_t(std::uint32_t)> choose{};       // 0 <= result < n
  std::function<void(const HttpRequest& request)> on_sent{};  // the request leaves the machine
  std::vector<StreamExchange*> open{};

  Nanos Delay() const {
    const auto most = static_cast<std::uint32_t>(slowest / std::chrono::milliseconds(1));
    return most == 0 ? Nanos() : std::chrono::milliseconds(choose(2) == 0 ? choose(most + 1) : choose(10));
  }
  // Every request under way ends with a broken connection.
  void Break();
};

// One request. Its steps on the machine are tasks of the machine's executor, so that nothing is sent or received while
// the machine is suspended.
class StreamExchange final : public Exchange {
 public:
  StreamExchange(Shared<StreamNetwork> network, Shared<Executor> machine, Shared<Clock> clock, Shared<Transport> inner,
                 HttpRequest request, Shared<ResponseSink> sink)
      : network_(std::move(network)),
        machine_(std::move(machine)),
        clock_(std::move(clock)),
        inner_(std::move(inner)),
        request_(std::move(request)),
        sink_(std::move(sink)),
        strand_(machine_->MakeStrand("network")) {
    network_->open.push_back(this);
  }
  ~StreamExchange() override { std::erase(network_->open, this); }

  void Start() {
    Post([](StreamExchange& self) { self.Leave(); });
  }
  void Consumed(std::size_t bytes) noexcept override {
    if (const Shared<Exchange> server = at_server_) server->Consumed(bytes);
  }
  void Cancel() noexcept override {
    Post([](StreamExchange& self) { self.End(Fail(Code::kCancelled, "the request was cancelled")); });
  }
  void Break() {
    lost_ = true;
    Post([](StreamExchange& self) { self.End(Fail(Code::kUnavailable, "the connection was reset")); });
  }

 private:
  class Inbox;
  using Step = UniqueFunction<void(StreamExchange&)>;

  void Post(Step step) {
    machine_->Post(strand_, [self = Shared<StreamExchange>(this), step = std::move(step)]() mutable { step(*self); });
  }

  void Leave() {
    if (!sink_) return;
    if (request_.guard) {
      if (Result<void> may = request_.guard->MaySend(); !may) return End(Fail(std::move(may).error()));
    }
    network_->on_sent(request_);
    const Nanos sent = clock_->Now().time_since_epoch();
    request_.headers.push_back({std::string(kSentHeader), std::to_string(sent.count())});
    request_.headers.push_back({std::string(kFromHeader), network_->name});
    if (network_->refuses) return End(Fail(Error::NotConnected("cannot connect: connection refused")));
    if (network_->loses_requests) return;
    leaving_ = clock_->After(network_->Delay(), TimerKind::kProgress,
                             [self = Shared<StreamExchange>(this)] { self->Reach(); });
  }
  void Reach();
  // Bytes arrive at the machine in the order in which they have left the server.
  void Return(Step step) {
    if (network_->loses_answers) lost_ = true;
    if (lost_) return;
    last_ = std::max(last_, Later(clock_->Now(), network_->Delay()));
    arriving_.push_back(std::move(step));
    Arm();
  }
  void Arm() {
    if (armed_ || arriving_.empty()) return;
    armed_ = true;
    arrival_ = clock_->At(last_, TimerKind::kProgress, [self = Shared<StreamExchange>(this)] {
      self->armed_ = false;
      for (Step& step : std::exchange(self->arriving_, {})) {
        if (!self->lost_) self->Post(std::move(step));
      }
      self->Arm();
    });
  }
  void End(HttpEnd end) {
    if (const Shared<Exchange> server = std::exchange(at_server_, {})) server->Cancel();
    if (const Shared<ResponseSink> sink = std::exchange(sink_, {})) sink->OnEnd(std::move(end));
  }

  const Shared<StreamNetwork> network_;
  const Shared<Executor> machine_;
  const Shared<Clock> clock_;
  const Shared<Transport> inner_;
  HttpRequest request_;
  Shared<ResponseSink> sink_;  // null: ended
  const Shared<Strand> strand_;
  Timer leaving_{}, arrival_{};
  Shared<Exchange> at_server_{};  // while it answers
  std::deque<Step> arriving_{};
  TimePoint last_ = TimePoint::min();
  bool armed_ = false, lost_ = false;
};

class StreamExchange::Inbox final : public ResponseSink {
 public:
  explicit Inbox(Shared<StreamExchange> exchange) : exchange_(std::move(exchange)) {}
  void OnHead(HttpHead head) override {
    exchange_->Return([head = std::move(head)](StreamExchange& self) mutable {
      if (self.sink_) self.sink_->OnHead(std::move(head));
    });
  }
  void OnBytes(std::string bytes) override {
    exchange_->Return([bytes = std::move(bytes)](StreamExchange& self) mutable {
      if (self.sink_) self.sink_->OnBytes(std::move(bytes));
    });
  }
  void OnEnd(HttpEnd end) override {
    exchange_->at_server_ = {};
    const Shared<StreamExchange> exchange = std::exchange(exchange_, {});
    exchange->Return([end = std::move(end)](StreamExchange& self) mutable { self.End(std::move(end)); });
  }

 private:
  Shared<StreamExchange> exchange_;
};

inline void StreamExchange::Reach() {
  HttpRequest request = request_;
  request.guard = {};  // it was asked when the request left the machine
  Shared<Exchange> server = inner_->Start(std::move(request), MakeShared<Inbox>(Shared<StreamExchange>(this)));
  if (sink_) {
    at_server_ = std::move(server);
  } else if (request_.long_lived && server) {
    server->Cancel();  // a watch that nobody reads would stay open
  }
}

inline void StreamNetwork::Break() {
  for (StreamExchange* const each : std::vector<StreamExchange*>(open)) each->Break();
}

class StreamTransport final : public Transport {
 public:
  // `clock` is the simulation's.
  StreamTransport(Shared<StreamNetwork> network, Shared<Executor> machine, Shared<Clock> clock, Shared<Transport> inner)
      : network_(std::move(network)),
        machine_(std::move(machine)),
        clock_(std::move(clock)),
        inner_(std::move(inner)) {}

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    auto exchange = MakeShared<StreamExchange>(network_, machine_, clock_, inner_, std::move(request), std::move(sink));
    exchange->Start();
    return exchange;
  }
  void Close() noexcept override {}

 private:
  const Shared<StreamNetwork> network_;
  const Shared<Executor> machine_;
  const Shared<Clock> clock_;
  const Shared<Transport> inner_;
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_STREAM_NETWORK_H_
