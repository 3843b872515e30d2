// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/in_process_transport.h"

#include <algorithm>
#include <utility>

namespace kgen::testing {
namespace {

constexpr std::size_t kWindow = 256 * 1024;

}  // namespace

// One request. Its steps are tasks on its own strand, so calls of the sink never overlap. A lock guards the members
// that other threads use.
class InProcessExchange final : public Exchange {
 public:
  InProcessExchange(Shared<InProcessEndpoint> endpoint, const void* transport, HttpRequest request,
                    Shared<ResponseSink> sink)
      : transport_(transport),
        endpoint_(std::move(endpoint)),
        strand_(endpoint_->executor_->MakeStrand("server: " + request.method + " " + request.path)),
        request_(std::move(request)),
        sink_(std::move(sink)) {}

  void Start() { Post(&InProcessExchange::Begin); }

  void Consumed(std::size_t bytes) noexcept override {
    {
      const MutexLock lock(mutex_);
      credit_ += bytes;
    }
    Poke();
  }
  void Cancel() noexcept override {
    {
      const MutexLock lock(mutex_);
      cancelled_ = true;
    }
    Poke();
  }
  void Cut() {
    {
      const MutexLock lock(mutex_);
      cut_ = true;
    }
    Poke();
  }
  void Abandon() { End(Fail(Code::kCancelled, "the server was shut down")); }

  const void* transport() const noexcept { return transport_; }

 private:
  void Post(void (InProcessExchange::*step)()) {
    endpoint_->executor_->Post(strand_, [self = Shared<InProcessExchange>(this), step] { (self.get()->*step)(); });
  }
  // Schedules Deliver(), unless it is already scheduled.
  void Poke() {
    {
      const MutexLock lock(mutex_);
      if (std::exchange(poked_, true)) return;
    }
    Post(&InProcessExchange::Deliver);
  }
  void After(Nanos delay, void (InProcessExchange::*step)()) {
    if (delay <= Nanos::zero()) return (this->*step)();
    timer_ = endpoint_->executor_->clock()->After(delay, TimerKind::kProgress,
                                                  [self = Shared<InProcessExchange>(this), step] { self->Post(step); });
  }

  // The steps, all on the strand.
  void Begin() {
    if (EndIfBroken()) return;
    if (request_.guard) {
      if (Result<void> may = request_.guard->MaySend(); !may) return End(Fail(std::move(may).error()));
    }
    After(endpoint_->latency_, &InProcessExchange::Handle);
  }
  void Handle() {
    if (EndIfBroken()) return;
    auto reply = endpoint_->server_->Handle(request_, [self = Shared<InProcessExchange>(this)](Reply late) {
      self->late_ = std::move(late);
      self->Post(&InProcessExchange::TakeLate);
    });
    if (!reply) return;  // it waits for webhooks
    reply_ = *std::move(reply);
    Deliverable();
  }
  void TakeLate() {
    if (EndIfBroken()) return;
    reply_ = std::move(late_);
    Deliverable();
  }
  void Deliverable() {
    if (reply_.refuse) return End(Fail(Error::NotConnected("cannot connect: connection refused")));
    if (reply_.stall) return;  // only Cancel() or Cut() ends it
    if (endpoint_->simulation_ != nullptr && endpoint_->simulation_->Choose(8) == 7) {
      const MutexLock lock(mutex_);
      credit_ -= kWindow - 512;  // makes a reader that forgets to return credit stall soon
    }
    After(reply_.delay, &InProcessExchange::Answer);
  }
  void Answer() {
    if (EndIfBroken()) return;
    ready_ = true;
    sink_->OnHead({.status = reply_.status, .headers = reply_.headers});
    if (reply_.watch)
      endpoint_->server_->OnWake(*reply_.watch, [self = Shared<InProcessExchange>(this)] { self->Poke(); });
    Poke();
  }
  void Deliver() {
    std::size_t credit;
    {
      const MutexLock lock(mutex_);
      poked_ = false;
      credit = credit_;
    }
    if (EndIfBroken() || !ready_) return;
    bool last = !reply_.watch;
    bool cut = false;
    if (reply_.watch) {
      const ApiServer::Taken taken = endpoint_->server_->Take(*reply_.watch);
      reply_.body += taken.bytes;
      last = taken.ended;
      cut = taken.cut;
    }
    std::size_t left = reply_.body.size() - offset_;
    if (reply_.cut_after_bytes && sent_ + left >= *reply_.cut_after_bytes) {
      left = *reply_.cut_after_bytes - sent_;
      cut = true;
    }
    const std::size_t size = Piece(std::min(left, credit), cut);
    if (size > 0) Send(size, last && size == left);
    if (sink_ == nullptr) return;  // the reader cancelled in the call of the sink, which ended the exchange
    if (cut && (size == left || !reply_.cut_after_bytes)) {
      return reply_.ends_well ? End({}) : End({Fail(Code::kUnavailable, "read: connection reset by peer"), true});
    }
    if (size < left && size > 0) return Poke();
    if (size == left && last) End({});
  }

  // Returns how many of the available bytes to send in one piece.
  std::size_t Piece(std::size_t most, bool cut) {
    Simulation* simulation = endpoint_->simulation_;
    if (simulation == nullptr || most == 0) return most;
    const auto all = static_cast<std::uint32_t>(most);
    // A connection may break at any byte, including the first.
    if (cut && !reply_.cut_after_bytes) return simulation->Choose(all + 1);
    switch (simulation->Choose(4)) {
      case 0:
        return simulation->Choose(all) + 1;
      case 1:
        return simulation->Choose(std::min<std::uint32_t>(all, 16)) + 1;
      default:
        return most;
    }
  }

  void Send(std::size_t size, bool whole) {
    std::string piece;
    if (whole && offset_ == 0) {
      piece = std::exchange(reply_.body, {});
    } else {
      piece = reply_.body.substr(offset_, size);
      offset_ += size;
    }
    if (offset_ > 64 * 1024 || offset_ == reply_.body.size()) {
      reply_.body.erase(0, offset_);
      offset_ = 0;
    }
    sent_ += size;
    {
      const MutexLock lock(mutex_);
      credit_ -= size;
    }
    const Shared<ResponseSink> sink = sink_;
    sink->OnBytes(std::move(piece));
  }

  bool EndIfBroken() {
    if (!sink_) return true;
    bool cancelled;
    bool cut;
    {
      const MutexLock lock(mutex_);
      cancelled = cancelled_;
      cut = cut_;
    }
    if (cancelled) End(Fail(Code::kCancelled, "the request was cancelled"));
    if (cut && !cancelled) End({Fail(Code::kUnavailable, "read: connection reset by peer"), true});
    return cancelled || cut;
  }

  void End(HttpEnd end) {
    const Shared<ResponseSink> sink = std::exchange(sink_, {});
    if (!sink) return;
    timer_.Cancel();
    if (reply_.watch) endpoint_->server_->CloseWatch(*reply_.watch);
    endpoint_->Remove(this);
    sink->OnEnd(std::move(end));
  }

  const void* const transport_;
  const Shared<InProcessEndpoint> endpoint_;
  const Shared<Strand> strand_;
  // Used only on the strand.
  HttpRequest request_;
  Shared<ResponseSink> sink_;  // null: ended
  Reply reply_;
  Reply late_;          // written once, before the task that takes it
  bool ready_ = false;  // the head has been sent
  std::size_t offset_ = 0, sent_ = 0;
  Timer timer_;

  Mutex mutex_;
  std::size_t credit_ KGEN_GUARDED_BY(mutex_) = kWindow;
  bool cancelled_ KGEN_GUARDED_BY(mutex_) = false;
  bool cut_ KGEN_GUARDED_BY(mutex_) = false;
  bool poked_ KGEN_GUARDED_BY(mutex_) = false;
};

class InProcessTransport final : public Transport {
 public:
  explicit InProcessTransport(Shared<InProcessEndpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    auto exchange = MakeShared<InProcessExchange>(endpoint_, this, std::move(request), std::move(sink));
    if (!endpoint_->Add(exchange.get())) return exchange;  // the executor has stopped, so nothing could call the sink
    bool closed;
    {
      const MutexLock lock(mutex_);
      closed = closed_;
    }
    if (closed) exchange->Cancel();
    exchange->Start();
    return exchange;
  }
  void Close() noexcept override {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
    }
    for (const auto& exchange : endpoint_->All()) {
      if (exchange->transport() == this) exchange->Cancel();
    }
  }

 private:
  const Shared<InProcessEndpoint> endpoint_;
  Mutex mutex_;
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

InProcessEndpoint::InProcessEndpoint(Shared<ApiServer> server, Shared<Executor> executor, Simulation* simulation,
                                     Nanos latency)
    : server_(std::move(server)), executor_(std::move(executor)), simulation_(simulation), latency_(latency) {}

Shared<Transport> InProcessEndpoint::MakeTransport() {
  return MakeShared<InProcessTransport>(Shared<InProcessEndpoint>(this));
}

bool InProcessEndpoint::Add(InProcessExchange* exchange) {
  const MutexLock lock(mutex_);
  if (abandoned_) return false;
  open_.push_back(Shared<InProcessExchange>(exchange));
  return true;
}

void InProcessEndpoint::Remove(InProcessExchange* exchange) {
  Shared<InProcessExchange> removed;  // destroyed without the lock
  const MutexLock lock(mutex_);
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& each) { return each.get() == exchange; });
  if (found == open_.end()) return;
  removed = std::move(*found);
  open_.erase(found);
}

std::vector<Shared<InProcessExchange>> InProcessEndpoint::All() const {
  const MutexLock lock(mutex_);
  return open_;
}

void InProcessEndpoint::Cut() {
  for (const auto& exchange : All()) exchange->Cut();
}

void InProcessEndpoint::Abandon() {
  {
    const MutexLock lock(mutex_);
    abandoned_ = true;
  }
  for (const auto& exchange : All()) exchange->Abandon();
}

std::size_t InProcessEndpoint::open() const {
  const MutexLock lock(mutex_);
  return open_.size();
}

}  // namespace kgen::testing
