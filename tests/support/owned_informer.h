// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OwnedInformer: an informer that a test has made, and stops when it has done with it, as factories and caches do.
#ifndef KGEN_TESTS_SUPPORT_OWNED_INFORMER_H_
#define KGEN_TESTS_SUPPORT_OWNED_INFORMER_H_

#include <utility>

#include "cache/informer.h"

namespace kgen::testing {

class OwnedInformer {
 public:
  OwnedInformer() noexcept = default;
  OwnedInformer(Shared<cache::Informer> informer) noexcept : informer_(std::move(informer)) {}
  OwnedInformer(OwnedInformer&&) noexcept = default;
  OwnedInformer& operator=(OwnedInformer other) noexcept {
    std::swap(informer_, other.informer_);
    return *this;
  }
  ~OwnedInformer() {
    if (informer_) informer_->Stop();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(informer_); }
  cache::Informer* operator->() const noexcept { return informer_.get(); }
  const Shared<cache::Informer>& get() const noexcept { return informer_; }

 private:
  Shared<cache::Informer> informer_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_OWNED_INFORMER_H_
