// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An I/O loop without sockets, in virtual time: the test decides which connections come about and what their peers say.
//
//   ManualExecutor runs everything; loop->attempt(0).Accept() connects; loop->attempt(0).Receive(frames) is the peer;
//   loop->Dial() is a peer that connects to a listener.
#ifndef KGEN_TESTS_SUPPORT_MANUAL_LOOP_H_
#define KGEN_TESTS_SUPPORT_MANUAL_LOOP_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kgen/core/function.h"
#include "net/event_loop.h"
#include "tests/support/manual_executor.h"

namespace kgen::testing {

// One attempt to connect, and the connection once it was accepted.
class ManualStream final : public net::TcpStream {
 public:
  using Done = UniqueFunction<void(std::string_view error)>;
  ManualStream(net::Address to, Done done) : to_(std::move(to)), done_(std::move(done)) {}

  void Attach(User* user) override {
    user_ = user;
    if (const std::string first = std::exchange(unread_, {}); !first.empty()) user_->OnTcpRead(first);
  }
  void Unread(std::string bytes) override { unread_ = std::move(bytes); }
  void Write(std::string bytes) override {
    if (!closed_) (holds_ ? held_ : sent_) += bytes;
  }
  std::size_t backlog() const noexcept override { return held_.size(); }
  void PauseReading(bool pause) override { paused_ = pause; }
  void FinishSending() noexcept override {}
  net::Address peer() const override { return to_; }
  void Close() noexcept override {
    closed_ = true;
    user_ = nullptr;
    done_ = nullptr;
  }

  // ---- The other side. ----
  void Accept() { Answer(""); }
  void Refuse(std::string_view why = "Connection refused") { Answer(why); }
  void Receive(std::string_view bytes) {
    if (user_ != nullptr) user_->OnTcpRead(bytes);
  }
  // Makes the peer read only what it takes from now on.
  void Hold() { holds_ = true; }
  void Take(std::size_t bytes) {
    sent_ += held_.substr(0, bytes);
    held_.erase(0, bytes);
    if (held_.empty() && user_ != nullptr) user_->OnTcpDrained();
  }
  void Break(std::string_view why) {
    if (User* user = std::exchange(user_, nullptr)) user->OnTcpClosed(why);
  }
  std::string address() const { return to_.ToString(); }
  const std::string& sent() const noexcept { return sent_; }
  bool closed() const noexcept { return closed_; }
  bool paused() const noexcept { return paused_; }  // the side of the test does not heed it

 private:
  void Answer(std::string_view error) {
    if (Done done = std::exchange(done_, nullptr)) done(error);
  }

  const net::Address to_;
  Done done_;
  User* user_ = nullptr;
  std::string sent_;
  std::string held_;
  std::string unread_;
  bool holds_ = false;
  bool paused_ = false;
  bool closed_ = false;
};

class ManualLoop final : public net::EventLoop {
 public:
  explicit ManualLoop(Shared<ManualExecutor> executor) : executor_(std::move(executor)) {}

  bool Post(Task task) override {
    executor_->Post({}, std::move(task));
    return true;
  }
  bool InLoop() const noexcept override { return true; }
  Timer After(Nanos delay, Task task) override {
    return executor_->clock()->After(delay, TimerKind::kProgress, std::move(task));
  }
  Shared<net::TcpStream> Connect(const net::Address& to, ManualStream::Done done) override {
    attempts_.push_back(MakeShared<ManualStream>(to, std::move(done)));
    return attempts_.back();
  }
  Result<Shared<net::TcpListener>> Listen(const net::Address& at,
                                          UniqueFunction<void(Shared<net::TcpStream>)> accepted) override {
    for (const auto& each : listeners_) {
      if (each->number == at.port && !each->closed) {
        return Fail(Code::kUnavailable, "cannot listen at " + at.ToString());
      }
    }
    listeners_.push_back(MakeShared<Listener>(at.port, std::move(accepted)));
    return Shared<net::TcpListener>(listeners_.back());
  }
  void Register(User* user) override { users_.insert(user); }
  void Unregister(User* user) noexcept override { users_.erase(user); }
  void Stop() noexcept override {
    while (!users_.empty()) (*users_.extract(users_.begin()).value()).OnLoopStop();
  }

  // A peer connects to the listener at `port`, 0 for the last one: the server's side of the connection.
  Shared<ManualStream> Dial(const std::string& ip = "127.0.0.1", std::uint16_t port = 0) {
    auto stream = MakeShared<ManualStream>(net::Address{ip, 1}, nullptr);
    for (auto each = listeners_.rbegin(); each != listeners_.rend(); ++each) {
      if (port != 0 && (*each)->number != port) continue;
      (*each)->accepted(stream);
      break;
    }
    return stream;
  }
  bool listening() const noexcept {
    return std::ranges::any_of(listeners_, [](const auto& each) { return !each->closed; });
  }

  std::size_t attempts() const noexcept { return attempts_.size(); }
  ManualStream& attempt(std::size_t i) { return *attempts_.at(i); }

 private:
  struct Listener final : net::TcpListener {
    Listener(std::uint16_t at, UniqueFunction<void(Shared<net::TcpStream>)> call)
        : number(at), accepted(std::move(call)) {}
    std::uint16_t port() const noexcept override { return number; }
    void Close() noexcept override {
      closed = true;
      accepted = nullptr;  // it may hold the loop
    }
    const std::uint16_t number;
    UniqueFunction<void(Shared<net::TcpStream>)> accepted;
    bool closed = false;
  };

  const Shared<ManualExecutor> executor_;
  std::vector<Shared<Listener>> listeners_;
  std::vector<Shared<ManualStream>> attempts_;
  std::unordered_set<User*> users_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_MANUAL_LOOP_H_
