// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <fcntl.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/execution/fork_error.h"
#include "core/execution/sleeper.h"
#include "core/execution/thread.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/core/function.h"
#include "net/openssl_use.h"

namespace kgen::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using detail::ForkedChild;
using detail::LeaveAlone;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr Nanos kAfterFailedAccept = std::chrono::milliseconds(100);

std::string Words(const error_code& error) {
  if (error == asio::error::eof) return "the peer closed the connection";
  return error.message();
}

void KeepFromChildren(int handle) { ::fcntl(handle, F_SETFD, FD_CLOEXEC); }

Address From(const tcp::endpoint& endpoint) { return {endpoint.address().to_string(), endpoint.port()}; }

class Stream final : public TcpStream {
 public:
  Stream(Shared<EventLoop> loop, tcp::socket socket) : loop_(std::move(loop)), socket_(std::move(socket)) {}

  void Connect(const tcp::endpoint& to, UniqueFunction<void(std::string_view)> done) {
    connected_ = std::move(done);
    // Opened here instead of by async_connect, so that programs that the user starts do not inherit it.
    error_code error;
    if (!socket_.open(to.protocol(), error)) KeepFromChildren(socket_.native_handle());
    socket_.async_connect(to, [self = Shared<Stream>(this)](const error_code& error) {
      if (self->closed_) return;
      if (!error) self->Prepare();
      auto call = std::move(self->connected_);
      call(error ? Words(error) : std::string());
    });
  }

  void Prepare() {
    error_code ignored;
    KeepFromChildren(socket_.native_handle());
    std::ignore = socket_.set_option(tcp::no_delay(true), ignored);
    std::ignore = socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    const auto peer = socket_.remote_endpoint(ignored);
    if (!ignored) peer_ = From(peer);
  }

  void Attach(User* user) override {
    user_ = user;
    if (!unread_.empty()) {
      // Posted, so that it is not called back inside this call. It still comes before anything that is read later,
      // because the loop keeps the order.
      loop_->Post([self = Shared<Stream>(this)] {
        const std::string bytes = std::exchange(self->unread_, {});
        if (!self->closed_) self->user_->OnTcpRead(bytes);
      });
    }
    Read();
  }

  void Unread(std::string bytes) override { unread_ = std::move(bytes); }

  void Write(std::string bytes) override {
    if (closed_ || bytes.empty()) return;
    if (pending_.empty()) {
      pending_ = std::move(bytes);
    } else {
      pending_ += bytes;
    }
    if (writing_.empty()) WriteSome();
  }

  std::size_t backlog() const noexcept override { return pending_.size() + writing_.size() - written_; }

  void PauseReading(bool pause) override {
    paused_ = pause;
    if (!pause) Read();
  }

  void FinishSending() noexcept override {
    error_code ignored;
    if (!closed_) std::ignore = socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }

  Address peer() const override { return peer_; }

  void Close() noexcept override {
    if (closed_) return;
    closed_ = true;
    user_ = nullptr;
    connected_ = nullptr;
    error_code ignored;
    std::ignore = socket_.close(ignored);
  }

 private:
  void Read() {
    if (reading_ || paused_ || closed_ || user_ == nullptr) return;
    reading_ = true;
    if (buffer_.empty()) buffer_.resize(kReadBytes);
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = Shared<Stream>(this)](const error_code& error, std::size_t size) {
                              self->reading_ = false;
                              if (self->closed_) return;
                              if (error) return self->Broke(error);
                              self->user_->OnTcpRead(std::string_view(self->buffer_.data(), size));
                              self->Read();
                            });
  }

  void WriteSome() {
    if (written_ == writing_.size()) {
      writing_.clear();
      written_ = 0;
      std::swap(writing_, pending_);
    }
    if (writing_.empty()) {
      if (user_ != nullptr) user_->OnTcpDrained();
      return;
    }
    socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                             [self = Shared<Stream>(this)](const error_code& error, std::size_t size) {
                               if (self->closed_) return;
                               // Data that the peer sent before it closed is still unread; reading reports the end.
                               if (error) return self->WriteBroke(error);
                               self->written_ += size;
                               self->WriteSome();
                             });
  }

  void WriteBroke(const error_code& error) {
    if (!reading_) Broke(error);
  }

  void Broke(const error_code& error) {
    User* user = user_;
    Close();
    if (user != nullptr) user->OnTcpClosed(Words(error));
  }

  const Shared<EventLoop> loop_;
  tcp::socket socket_;
  User* user_ = nullptr;
  Address peer_{};
  UniqueFunction<void(std::string_view)> connected_;
  std::vector<char> buffer_;
  std::string pending_, writing_, unread_;
  std::size_t written_ = 0;
  bool reading_ = false, paused_ = false, closed_ = false;
};

class Listener final : public TcpListener {
 public:
  Listener(Shared<EventLoop> loop, asio::io_context& context, UniqueFunction<void(Shared<TcpStream>)> accepted)
      : loop_(std::move(loop)), acceptor_(context), accepted_(std::move(accepted)) {}

  error_code Open(const tcp::endpoint& at) {
    error_code error;
    std::ignore = acceptor_.open(at.protocol(), error);
    if (!error) KeepFromChildren(acceptor_.native_handle());
    if (!error) std::ignore = acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) std::ignore = acceptor_.bind(at, error);
    if (!error) std::ignore = acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    return error;
  }

  void Accept() {
    acceptor_.async_accept([self = Shared<Listener>(this)](const error_code& error, tcp::socket socket) {
      if (self->closed_ || error == asio::error::operation_aborted) return;
      if (!error) {
        auto stream = MakeShared<Stream>(self->loop_, std::move(socket));
        stream->Prepare();
        self->accepted_(std::move(stream));
      }
      if (self->closed_) return;
      if (!error) return self->Accept();
      // The process has too many open files, for example. Accepting again at once would fail in the same way, over and
      // over, and take all of the loop's time.
      self->pause_ = self->loop_->After(kAfterFailedAccept, [self] { self->Accept(); });
    });
  }

  std::uint16_t port() const noexcept override { return port_; }

  void Close() noexcept override {
    closed_ = true;
    pause_.Cancel();
    error_code ignored;
    std::ignore = acceptor_.close(ignored);
  }

 private:
  const Shared<EventLoop> loop_;
  tcp::acceptor acceptor_;
  UniqueFunction<void(Shared<TcpStream>)> accepted_;
  std::uint16_t port_ = 0;
  Timer pause_;
  bool closed_ = false;
};

class Loop;
thread_local const Loop* current = nullptr;  // the loop that this thread runs

class Loop final : public EventLoop {
 public:
  Loop() : work_(asio::make_work_guard(context_)) {}

  bool Post(Task task) override {
    if (ForkedChild()) {
      LeaveAlone(std::move(task));
      return false;
    }
    const MutexLock lock(mutex_);
    if (stopped_) return false;
    if (!started_) thread_ = detail::Thread::Start([this] { Run(); });
    started_ = started_ || thread_;
    if (!started_) return false;
    // asio may copy handlers, but the task is not copyable.
    asio::post(context_, [task = std::make_unique<Task>(std::move(task))] { (*task)(); });
    return true;
  }

  bool InLoop() const noexcept override { return current == this; }

  Timer After(Nanos delay, Task task) override;

  Shared<TcpStream> Connect(const Address& to, UniqueFunction<void(std::string_view)> done) override {
    auto stream = MakeShared<Stream>(Shared<EventLoop>(this), tcp::socket(context_));
    error_code error;
    const auto ip = asio::ip::make_address(to.ip, error);
    if (error || stopping_) {
      asio::post(context_, [done = std::make_unique<decltype(done)>(std::move(done)), error] {
        (*done)(error ? Words(error) : "the process is ending");
      });
      return stream;
    }
    stream->Connect(tcp::endpoint(ip, to.port), std::move(done));
    return stream;
  }

  Result<Shared<TcpListener>> Listen(const Address& at, UniqueFunction<void(Shared<TcpStream>)> accepted) override {
    if (ForkedChild()) return Fail(detail::ForkedError());
    detail::WatchForks();  // a listener makes the loop's descriptors before there is a thread
    error_code error;
    const auto ip = asio::ip::make_address(at.ip, error);
    auto listener = MakeShared<Listener>(Shared<EventLoop>(this), context_, std::move(accepted));
    if (!error) error = listener->Open(tcp::endpoint(ip, at.port));
    if (error) return Fail(Code::kUnavailable, "cannot listen at " + at.ToString() + ": " + Words(error));
    if (!Post([listener] { listener->Accept(); })) return Fail(Code::kStopped, "the loop has stopped");
    return Shared<TcpListener>(listener);
  }

  void Register(User* user) override {
    users_.insert(user);
    if (stopping_) asio::post(context_, [this] { EndUsers(); });
  }
  void Unregister(User* user) noexcept override { users_.erase(user); }

  void Stop() noexcept override {
    if (InLoop() || ForkedChild()) return;
    const bool running = Post([this] {
      stopping_ = true;
      EndUsers();
      work_.reset();
    });
    if (!running) return;
    detail::Thread thread;
    {
      const MutexLock lock(mutex_);
      thread = std::move(thread_);
    }
    // The lock is not held, because tasks that are still posted must run.
    thread.Join();
  }

 private:
  class LoopTimer;

  void Run() {
    current = this;
    detail::OnPostedThread() = true;
    OpenSslUse::KeepObjectsOfThread();
    context_.run();
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
    }
    // Runs tasks that were posted in between.
    context_.restart();
    context_.run();
  }

  void EndUsers() {
    while (!users_.empty()) {
      User* user = *users_.begin();
      users_.erase(users_.begin());
      user->OnLoopStop();
    }
  }

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  Mutex mutex_;
  bool started_ KGEN_GUARDED_BY(mutex_) = false;
  bool stopped_ KGEN_GUARDED_BY(mutex_) = false;
  bool stopping_ = false;                          // on the loop's thread
  std::unordered_set<User*> users_;                // on the loop's thread
  detail::Thread thread_ KGEN_GUARDED_BY(mutex_);  // taken by the caller that joins it
};

class Loop::LoopTimer final : public Timer::State, public EventLoop::User {
 public:
  LoopTimer(Shared<Loop> loop, Task task) : loop_(std::move(loop)), timer_(loop_->context_), task_(std::move(task)) {}

  void Start(Nanos delay) {
    loop_->Register(this);
    timer_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(delay));
    timer_.async_wait([self = Shared<LoopTimer>(this)](const error_code&) {
      self->loop_->Unregister(self.get());
      if (self->cancelled_.load(std::memory_order_acquire)) return;
      auto task = std::move(self->task_);
      task();
    });
  }

  void Cancel() noexcept override {
    if (ForkedChild() || cancelled_.exchange(true, std::memory_order_acq_rel)) return;
    if (loop_->InLoop()) {
      timer_.cancel();
    } else {
      loop_->Post([self = Shared<LoopTimer>(this)] { self->timer_.cancel(); });
    }
  }

  void OnLoopStop() noexcept override { Cancel(); }

 private:
  const Shared<Loop> loop_;
  asio::steady_timer timer_;
  Task task_;
  std::atomic<bool> cancelled_{false};
};

Timer Loop::After(Nanos delay, Task task) {
  auto timer = MakeShared<LoopTimer>(Shared<Loop>(this), std::move(task));
  timer->Start(delay);
  return Timer(timer);
}

// Joins the thread of the process's loop at exit.
struct StopAtExit {
  EventLoop& loop;
  ~StopAtExit() { loop.Stop(); }
};

}  // namespace

std::string Address::ToString() const {
  const bool v6 = ip.find(':') != std::string::npos;
  return (v6 ? "[" + ip + "]:" : ip + ":") + std::to_string(port);
}

bool IsIpAddress(std::string_view text) {
  error_code error;
  asio::ip::make_address(std::string(text), error);
  return !error;
}

Shared<EventLoop> EventLoop::Make() { return MakeShared<Loop>(); }

Shared<EventLoop> EventLoop::Process() {
  // Exit handlers run in reverse order, so the thread is joined while OpenSSL is still usable.
  OpenSslUse::Prepare();
  // Never destroyed: a static object that is destroyed after the thread has ended may hold a transport.
  static const Shared<EventLoop>& loop = *new Shared<EventLoop>(Make());
  static const StopAtExit kStopAtExit{*loop};
  return loop;
}

Shared<EventLoop> EventLoop::ForEndpoints() {
  OpenSslUse::Prepare();
  static const Shared<EventLoop>& loop = *new Shared<EventLoop>(Make());
  static const StopAtExit kStopAtExit{*loop};
  return loop;
}

Shared<EventLoop> EventLoop::ForWebhooks() {
  OpenSslUse::Prepare();
  static const Shared<EventLoop>& loop = *new Shared<EventLoop>(Make());
  static const StopAtExit kStopAtExit{*loop};
  return loop;
}

}  // namespace kgen::net
