// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ClientIdentity: the latest client certificate of a credential plugin. The code that runs the plugin sets it, and the
// transport opens its connections with it.
#ifndef KGEN_SRC_NET_CLIENT_IDENTITY_H_
#define KGEN_SRC_NET_CLIENT_IDENTITY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/core/shared.h"
#include "kgen/net/tls_config.h"

namespace kgen::net {

// Thread safety: all members from any thread; none blocks.
class ClientIdentity : public SharedObject {
 public:
  void Set(std::string certificate_pem, std::string key_pem) {
    const MutexLock lock(mutex_);
    if (certificate_pem == certificate_pem_ && key_pem == key_pem_) return;
    certificate_pem_ = std::move(certificate_pem);
    key_pem_ = std::move(key_pem);
    version_.fetch_add(1, std::memory_order_release);
  }
  // Increases with every change; 0 while there is no certificate.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  void ApplyTo(rest::TlsConfig& config) const {
    const MutexLock lock(mutex_);
    config.certificate_data = certificate_pem_;
    config.key_data = key_pem_;
  }

 private:
  mutable Mutex mutex_;
  std::string certificate_pem_ KGEN_GUARDED_BY(mutex_){};
  std::string key_pem_ KGEN_GUARDED_BY(mutex_){};
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_CLIENT_IDENTITY_H_
