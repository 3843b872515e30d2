// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An I/O loop without sockets, in virtual time: the test decides which connections come about and what their peers say.
//
//   ManualExecutor runs everything; loop->attempt(0).Accept() connects; loop->attempt(0).Receive(frames) is the peer;
//   loop->Dial() is a peer that connects to a listener.
#ifndef KGEN_TESTS_SUPPORT_MANUAL_LOOP_H_
#define KGEN_TESTS_SUPPORT_MANUAL_LOOP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/event_loop.h"
#include "tests/support/manual_executor.h"

namespace kgen::testing {

// One attempt to connect, and the connection once it was accepted.
class ManualStream final : public net::TcpStream {
 public:
  using Done = std::move_only_function<void(std::string_view error)>;
  ManualStream(net::Address to, Done done) : to_(std::move(to)), done_(std::move(done)) {}

  void Attach(User* user) override {
    user_ = user;
    if (const std::string first = std::exchange(unread_, {}); !first.empty()) user_->OnTcpRead(first);
  }
  void Unread(std::string bytes) override { unread_ = std::move(bytes); }
  void Write(std::string bytes) override {
    if (!closed_) sent_ += bytes;
  }
  std::size_t backlog() const noexcept override { return 0; }
  void PauseReading(bool) override {}
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
  void Break(std::string_view why) {
    if (User* user = std::exchange(user_, nullptr)) user->OnTcpClosed(why);
  }
  std::string address() const { return to_.ToString(); }
  const std::string& sent() const noexcept { return sent_; }
  bool closed() const noexcept { return closed_; }

 private:
  void Answer(std::string_view error) {
    if (Done done = std::exchange(done_, nullptr)) done(error);
  }

  const net::Address to_;
  Done done_;
  User* user_ = nullptr;
  std::string sent_;
  std::string unread_;
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
                                          std::move_only_function<void(Shared<net::TcpStream>)> accepted) override {
    if (listener_ && !listener_->closed) return Fail(Code::kUnavailable, "cannot listen at " + at.ToString());
    listener_ = MakeShared<Listener>(at.port, std::move(accepted));
    return Shared<net::TcpListener>(listener_);
  }
  void Register(User* user) override { users_.insert(user); }
  void Unregister(User* user) noexcept override { users_.erase(user); }
  void Stop() noexcept override {
    while (!users_.empty()) (*users_.extract(users_.begin()).value()).OnLoopStop();
  }

  // A peer connects to the listener: the server's side of the connection.
  Shared<ManualStream> Dial() {
    auto stream = MakeShared<ManualStream>(net::Address{"127.0.0.1", 1}, nullptr);
    listener_->accepted(stream);
    return stream;
  }
  bool listening() const noexcept { return listener_ && !listener_->closed; }

  std::size_t attempts() const noexcept { return attempts_.size(); }
  ManualStream& attempt(std::size_t i) { return *attempts_.at(i); }

 private:
  struct Listener final : net::TcpListener {
    Listener(std::uint16_t at, std::move_only_function<void(Shared<net::TcpStream>)> call)
        : number(at), accepted(std::move(call)) {}
    std::uint16_t port() const noexcept override { return number; }
    void Close() noexcept override {
      closed = true;
      accepted = nullptr;  // it may hold the loop
    }
    const std::uint16_t number;
    std::move_only_function<void(Shared<net::TcpStream>)> accepted;
    bool closed = false;
  };

  const Shared<ManualExecutor> executor_;
  Shared<Listener> listener_;
  std::vector<Shared<ManualStream>> attempts_;
  std::unordered_set<User*> users_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_MANUAL_LOOP_H_
