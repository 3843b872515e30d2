// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Wire: a TCP connection with or without TLS, as HTTP/2 sees it: plain bytes in, plain bytes out. For clients and
// servers.
#ifndef KGEN_SRC_NET_WIRE_H_
#define KGEN_SRC_NET_WIRE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/event_loop.h"
#include "net/tls.h"

namespace kgen::net {

// All members on the loop's thread. No callback comes inside a call of a member.
class Wire final : public SharedObject, private TcpStream::User {
 public:
  class User {
   public:
    virtual void OnWireOpen() = 0;  // only with TLS, when the handshake is done; once, before any other call
    // Bytes of the peer. More bytes of the same batch may follow, until OnWireBatchEnd().
    virtual void OnWireBytes(std::string_view plain) = 0;
    virtual void OnWireBatchEnd() = 0;
    virtual void OnWireDrained() = 0;          // everything that was written was passed to the kernel
    virtual void OnWireClosed(Error why) = 0;  // kTls or kUnavailable; the last call

   protected:
    ~User() = default;
  };

  explicit Wire(Shared<TcpStream> stream) : stream_(std::move(stream)) {}

  // Starts the handshake; without TLS the wire is open at once. `user` must live until Close() or OnWireClosed().
  void Start(User* user, std::optional<TlsEngine> tls);
  // Writes any number of bytes. Only once the wire is open.
  void Write(std::string_view plain);
  std::size_t backlog() const noexcept { return stream_->backlog() + held_.size(); }
  std::string_view alpn() const noexcept { return tls_ ? tls_->alpn() : std::string_view(); }
  // While paused, what has been read already still arrives, and nothing else.
  void PauseReading(bool pause) { stream_->PauseReading(pause); }
  // Tells the peer that no more bytes follow; reading continues. Only when everything was passed to the kernel.
  void FinishSending() noexcept { stream_->FinishSending(); }
  // No callbacks come afterwards. Bytes that were written but not sent yet are lost. Idempotent.
  void Close() noexcept;

  // ---- For tests of the peer. ----
  // A frozen wire reads nothing and sends nothing, like a stopped process.
  void Freeze(bool freeze);
  // Cuts the connection after that many more (encrypted) bytes were sent.
  void CutAfter(std::size_t bytes);

 private:
  void OnTcpRead(std::string_view bytes) override;
  void OnTcpDrained() override;
  void OnTcpClosed(std::string_view why) override;
  void Shake();
  void ReadPlain();
  void SendOutput();
  void Send(std::string bytes);
  void End(Error why);

  const Shared<TcpStream> stream_;
  User* user_ = nullptr;
  std::optional<TlsEngine> tls_;
  std::vector<char> plain_;
  std::string held_;  // while frozen
  std::optional<std::size_t> cut_;
  bool open_ = false, frozen_ = false;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_WIRE_H_
