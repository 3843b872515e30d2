// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/response_buffer.h"

namespace kgen::net {

std::string_view ServerRequest::Header(std::string_view name) const noexcept {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

bool ResponseBuffer::State::Take(std::size_t bytes) {
  taken += bytes;
  if (!rest().empty()) return false;
  buffer.clear();
  shared = {};
  taken = 0;
  return true;
}

void ResponseBuffer::Head(int status, std::vector<HttpHeader> headers) {
  const MutexLock lock(mutex_);
  state_.status = status;
  state_.headers = std::move(headers);
  Kick();
}

void ResponseBuffer::Write(std::string bytes) {
  const MutexLock lock(mutex_);
  if (state_.closed || state_.ended) return;
  state_.buffer += bytes;
  Kick();
}

void ResponseBuffer::End() {
  const MutexLock lock(mutex_);
  state_.ended = true;
  Kick();
}

void ResponseBuffer::EndWith(Shared<const SharedText> body) {
  const MutexLock lock(mutex_);
  if (state_.closed || state_.ended) return;
  if (state_.buffer.empty()) {
    state_.shared = std::move(body);
  } else {
    state_.buffer += body->text;
  }
  state_.ended = true;
  Kick();
}

void ResponseBuffer::Reset(std::uint32_t error) {
  const MutexLock lock(mutex_);
  state_.reset = error;
  Kick();
}

std::size_t ResponseBuffer::backlog() const {
  const MutexLock lock(mutex_);
  return state_.rest().size();
}

void ResponseBuffer::OnDrained(Task call) {
  loop_->Post([self = Shared<ResponseBuffer>(this), call = std::move(call)]() mutable {
    if (self->open_) self->drained_ = std::move(call);
  });
}

void ResponseBuffer::OnClosed(Task call) {
  loop_->Post([self = Shared<ResponseBuffer>(this), call = std::move(call)]() mutable {
    if (!self->open_) return call();
    self->on_closed_ = std::move(call);
  });
}

bool ResponseBuffer::closed() const {
  const MutexLock lock(mutex_);
  return state_.closed;
}

void ResponseBuffer::Close() {
  open_ = false;
  drained_ = nullptr;
  {
    const MutexLock lock(mutex_);
    state_.closed = true;
    state_.buffer = {};
    state_.shared = {};
    state_.taken = 0;
  }
  // Posted, because this may run in a callback of nghttp2.
  if (on_closed_) loop_->Post(std::exchange(on_closed_, nullptr));
}

void ResponseBuffer::Kick() {
  if (std::exchange(state_.kicked, true)) return;
  loop_->Post([self = Shared<ResponseBuffer>(this)] {
    self->Locked([](State& state) { state.kicked = false; });
    if (self->open_) self->OnKick();
  });
}

}  // namespace kgen::net
