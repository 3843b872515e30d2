// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The network between one machine and the API server: requests and answers that are late, lost or refused. A request
// that the client has given up may still reach the server.
#ifndef KGEN_TESTS_SIMULATION_NETWORK_H_
#define KGEN_TESTS_SIMULATION_NETWORK_H_

#include <functional>
#include <string>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/net/transport.h"

namespace kgen::simulation {

// What a machine sees of the network, and what is told of its requests. Used on any simulated thread.
struct Network : SharedObject {
  bool refuses = false, loses_requests = false, loses_answers = false;
  Nanos slowest{};                                       // each way takes up to so long
  std::function<std::uint32_t(std::uint32_t)> choose{};  // 0 <= result < n
  // Called on the machine when the request leaves it; and when its answer has arrived.
  std::function<void(const HttpRequest& request)> on_sent{};
  std::function<void(const HttpRequest& request, TimePoint sent, int status)> on_answered{};

  Nanos Delay() const {
    const auto most = static_cast<std::uint32_t>(slowest / std::chrono::milliseconds(1));
    return most == 0 ? Nanos() : std::chrono::milliseconds(choose(2) == 0 ? choose(most + 1) : choose(10));
  }
};

// One request. Its steps on the machine are tasks of the machine's executor, so that nothing is sent or received while
// the machine is suspended.
class NetworkExchange final : public Exchange {
 public:
  NetworkExchange(Shared<Network> network, Shared<Executor> machine, Shared<Clock> clock, Shared<Transport> inner,
                  HttpRequest request, Shared<ResponseSink> sink)
      : network_(std::move(network)),
        machine_(std::move(machine)),
        clock_(std::move(clock)),
        inner_(std::move(inner)),
        request_(std::move(request)),
        sink_(std::move(sink)),
        strand_(machine_->MakeStrand("network")) {}

  void Start() { Post(&NetworkExchange::Leave); }
  void Consumed(std::size_t) noexcept override {}
  void Cancel() noexcept override { Post(&NetworkExchange::GiveUp); }

 private:
  class Inbox;
  using Step = void (NetworkExchange::*)();

  void Post(Step step) {
    machine_->Post(strand_, [self = Shared<NetworkExchange>(this), step] { (self.get()->*step)(); });
  }
  void After(Nanos delay, UniqueFunction<void()> step) {
    timer_ = clock_->After(delay, TimerKind::kProgress, std::move(step));
  }

  // The request leaves the machine; runs there.
  void Leave() {
    if (!sink_) return;
    if (request_.guard) {
      if (Result<void> may = request_.guard->MaySend(); !may) return End(Fail(std::move(may).error()));
    }
    sent_ = machine_->clock()->NowWithSuspend();
    network_->on_sent(request_);
    if (network_->refuses) return End(Fail(Error::NotConnected("cannot connect: connection refused")));
    After(network_->Delay(), [self = Shared<NetworkExchange>(this)] { self->Reach(); });
  }
  void GiveUp() { End(Fail(Code::kCancelled, "the request was cancelled")); }
  void Receive() {
    if (!sink_) return;
    if (!end_.result) return End(std::move(end_));
    network_->on_answered(request_, sent_, head_.status);
    sink_->OnHead(std::move(head_));
    sink_->OnBytes(std::move(body_));
    End({});
  }
  void End(HttpEnd end) {
    if (const Shared<ResponseSink> sink = std::exchange(sink_, {})) sink->OnEnd(std::move(end));
  }

  // Between the machines.
  void Reach();
  void Return() {
    if (network_->loses_answers) return;
    After(network_->Delay(), [self = Shared<NetworkExchange>(this)] { self->Post(&NetworkExchange::Receive); });
  }

  const Shared<Network> network_;
  const Shared<Executor> machine_;
  const Shared<Clock> clock_;
  const Shared<Transport> inner_;
  const HttpRequest request_;
  Shared<ResponseSink> sink_;  // null: ended
  const Shared<Strand> strand_;
  TimePoint sent_{};
  Timer timer_{};
  Shared<Exchange> at_server_{};  // while it answers
  HttpHead head_{};
  std::string body_{};
  HttpEnd end_{};
};

// Collects the answer of the server.
class NetworkExchange::Inbox final : public ResponseSink {
 public:
  explicit Inbox(Shared<NetworkExchange> exchange) : exchange_(std::move(exchange)) {}
  void OnHead(HttpHead head) override { exchange_->head_ = std::move(head); }
  void OnBytes(std::string bytes) override {
    exchange_->body_ += bytes;
    if (exchange_->at_server_) exchange_->at_server_->Consumed(bytes.size());
  }
  void OnEnd(HttpEnd end) override {
    exchange_->end_ = std::move(end);
    exchange_->at_server_ = {};
    std::exchange(exchange_, {})->Return();
  }

 private:
  Shared<NetworkExchange> exchange_;
};

inline void NetworkExchange::Reach() {
  if (network_->loses_requests) return;
  HttpRequest request = request_;
  request.guard = {};  // it was asked when the request left the machine
  at_server_ = inner_->Start(std::move(request), MakeShared<Inbox>(Shared<NetworkExchange>(this)));
}

class NetworkTransport final : public Transport {
 public:
  // `clock` is the simulation's.
  NetworkTransport(Shared<Network> network, Shared<Executor> machine, Shared<Clock> clock, Shared<Transport> inner)
      : network_(std::move(network)),
        machine_(std::move(machine)),
        clock_(std::move(clock)),
        inner_(std::move(inner)) {}

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    auto exchange =
        MakeShared<NetworkExchange>(network_, machine_, clock_, inner_, std::move(request), std::move(sink));
    exchange->Start();
    return exchange;
  }
  void Close() noexcept override {}

 private:
  const Shared<Network> network_;
  const Shared<Executor> machine_;
  const Shared<Clock> clock_;
  const Shared<Transport> inner_;
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_NETWORK_H_
