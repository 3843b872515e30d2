// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/registration.h"

#include <utility>

#include "cache/delivery/listener.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"

namespace kgen {

Registration::Registration(Shared<cache::Listener> listener) noexcept : listener_(std::move(listener)) {}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    Remove();
    listener_ = std::move(other.listener_);
  }
  return *this;
}

Registration::~Registration() { Remove(); }

void Registration::Remove() {
  if (listener_ && !detail::ForkedChild()) listener_->Remove();
}

Result<void> Registration::status() const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return listener_ ? listener_->status() : Result<void>();
}
bool Registration::HasSynced() const noexcept { return listener_ && listener_->HasSynced(); }
std::size_t Registration::Backlog() const noexcept { return listener_ ? listener_->Backlog() : 0; }
std::string Registration::name() const { return listener_ ? listener_->name() : std::string(); }

}  // namespace kgen
