// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/wire.h"

#include <span>
#include <tuple>
#include <utility>

namespace kgen::net {
namespace {

constexpr std::size_t kRecord = 16 * 1024;  // the largest piece of plain text in TLS

}  // namespace

void Wire::Start(User* user, std::optional<TlsEngine> tls) {
  user_ = user;
  if (tls) tls_.emplace(std::move(*tls));
  open_ = !tls_;
  stream_->Attach(this);
  if (tls_) {
    // The client sends first.
    std::ignore = tls_->Handshake();
    SendOutput();
  }
}

void Wire::Write(std::string_view plain) {
  if (user_ == nullptr || plain.empty()) return;
  if (!tls_) return Send(std::string(plain));
  // Reading will report a failure again, with its reason.
  std::ignore = tls_->Write(plain);
  SendOutput();
}

void Wire::Close() noexcept {
  if (user_ == nullptr) return;
  user_ = nullptr;
  if (tls_ && open_ && !frozen_) {
    tls_->Shutdown();
    SendOutput();
  }
  stream_->Close();
}

void Wire::Freeze(bool freeze) {
  frozen_ = freeze;
  stream_->PauseReading(freeze);
  if (!freeze) Send(std::exchange(held_, {}));
}

void Wire::CutAfter(std::size_t bytes) {
  const Shared<Wire> self(this);
  cut_ = bytes;
  if (bytes == 0) End(Error(Code::kUnavailable, "cut by the test"));
}

void Wire::OnTcpRead(std::string_view bytes) {
  const Shared<Wire> self(this);
  if (!tls_) {
    user_->OnWireBytes(bytes);
    if (user_ != nullptr) user_->OnWireBatchEnd();
    return;
  }
  tls_->Feed(bytes);
  if (!open_) Shake();
  if (open_ && user_ != nullptr) ReadPlain();
}

void Wire::Shake() {
  auto done = tls_->Handshake();
  SendOutput();
  if (!done) return End(std::move(done).error());
  if (!*done) return;
  open_ = true;
  user_->OnWireOpen();
}

void Wire::ReadPlain() {
  if (plain_.empty()) plain_.resize(kRecord);
  bool any = false;
  while (user_ != nullptr) {
    auto size = tls_->Read(std::span(plain_));
    if (!size) {
      SendOutput();
      return End(std::move(size).error());
    }
    if (*size == 0) break;
    any = true;
    user_->OnWireBytes(std::string_view(plain_.data(), *size));
  }
  if (user_ == nullptr) return;
  // Sends key updates and the like.
  SendOutput();
  if (any && user_ != nullptr) user_->OnWireBatchEnd();
  if (tls_->peer_closed() && user_ != nullptr) End(Error(Code::kUnavailable, "the peer closed the connection"));
}

void Wire::OnTcpDrained() {
  const Shared<Wire> self(this);
  if (cut_ && *cut_ == 0) return End(Error(Code::kUnavailable, "cut by the test"));
  if (user_ != nullptr && open_) user_->OnWireDrained();
}

void Wire::OnTcpClosed(std::string_view why) {
  const Shared<Wire> self(this);
  End(Error(Code::kUnavailable, why));
}

void Wire::SendOutput() { Send(tls_->TakeOutput()); }

void Wire::Send(std::string bytes) {
  if (frozen_) {
    held_ += bytes;
    return;
  }
  if (cut_) {
    if (bytes.size() > *cut_) bytes.resize(*cut_);
    *cut_ -= bytes.size();
  }
  stream_->Write(std::move(bytes));
}

void Wire::End(Error why) {
  User* user = std::exchange(user_, nullptr);
  // An alert that was just written has already been passed to the kernel.
  stream_->Close();
  if (user != nullptr) user->OnWireClosed(std::move(why));
}

}  // namespace kgen::net
