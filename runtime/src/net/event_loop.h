// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventLoop: the I/O thread, with sockets, timers and posted tasks on one loop. Only its source file uses Boost.Asio.
//
//   Pool, Session --> Wire (TLS) --> TcpStream --> EventLoop's thread
//
// All callbacks run on the loop's thread and must not block. A forked child (core/memory/fork.h) shares the sockets and
// the epoll descriptor with its parent and does not touch them: nothing is posted, sent, closed or cancelled there.
#ifndef KGEN_SRC_NET_EVENT_LOOP_H_
#define KGEN_SRC_NET_EVENT_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/core/clock.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::net {

struct Address {
  std::string ip{};  // "127.0.0.1", "::1"
  std::uint16_t port = 0;
  std::string ToString() const;  // "127.0.0.1:6443", "[::1]:6443"
};

// True if `text` is an IP address, without brackets.
bool IsIpAddress(std::string_view text);

// A TCP connection. All members on the loop's thread.
class TcpStream : public SharedObject {
 public:
  class User {
   public:
    virtual void OnTcpRead(std::string_view bytes) = 0;
    virtual void OnTcpDrained() = 0;                     // everything that was written was passed to the kernel
    virtual void OnTcpClosed(std::string_view why) = 0;  // the peer closed or the connection broke; the last call

   protected:
    ~User() = default;
  };

  // Starts reading. `user` must live until Close() or OnTcpClosed(), or until another user replaces it.
  virtual void Attach(User* user) = 0;
  // Puts back bytes that belong to the next user, who reads them first. Call it before Attach().
  virtual void Unread(std::string bytes) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual std::size_t backlog() const noexcept = 0;  // bytes written but not yet passed to the kernel
  virtual void PauseReading(bool pause) = 0;
  // Tells the peer that no more bytes follow; reading continues. Only with an empty backlog.
  virtual void FinishSending() noexcept = 0;
  virtual Address peer() const = 0;
  // No callbacks come afterwards. Idempotent.
  virtual void Close() noexcept = 0;
};

class TcpListener : public SharedObject {
 public:
  virtual std::uint16_t port() const noexcept = 0;
  virtual void Close() noexcept = 0;  // on the loop's thread
};

// Thread safety: Post and InLoop from any thread, the rest on the loop's thread unless it says otherwise.
class EventLoop : public SharedObject {
 public:
  // Notified on the loop's thread when the loop stops. The user must end what it is doing.
  class User {
   public:
    virtual void OnLoopStop() noexcept = 0;

   protected:
    ~User() = default;
  };

  // The loop of the process, for clients: its thread starts with the first task and is joined when the process exits.
  static Shared<EventLoop> Process();
  // A second one, for endpoints: what their clients do delays no request to an API server.
  static Shared<EventLoop> ForEndpoints();
  // A third one, for webhook servers, which the clients of endpoints do not delay either.
  static Shared<EventLoop> ForWebhooks();
  // Creates a separate loop. Stop() must be called.
  static Shared<EventLoop> Make();

  // Any thread. If the loop has stopped, returns false and destroys the task without running it.
  virtual bool Post(Task task) = 0;
  virtual bool InLoop() const noexcept = 0;
  [[nodiscard]] virtual Timer After(Nanos delay, Task task) = 0;
  // `done` gets "" or the error. It is never called inside this call, nor after Close() of the stream.
  virtual Shared<TcpStream> Connect(const Address& to, UniqueFunction<void(std::string_view error)> done) = 0;
  // Any thread. Port 0 stands for any free port.
  virtual Result<Shared<TcpListener>> Listen(const Address& at, UniqueFunction<void(Shared<TcpStream>)> accepted) = 0;
  virtual void Register(User* user) = 0;
  virtual void Unregister(User* user) noexcept = 0;
  // Ends every user, runs the posted tasks and joins the thread. Not on the loop's thread. Idempotent.
  virtual void Stop() noexcept = 0;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_EVENT_LOOP_H_
