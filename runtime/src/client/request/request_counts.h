// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RequestCounts: how many requests of a connection had which result, for rest_client_requests_total.
#ifndef KGEN_SRC_CLIENT_REQUEST_REQUEST_COUNTS_H_
#define KGEN_SRC_CLIENT_REQUEST_REQUEST_COUNTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/core/shared.h"

namespace kgen::client {

// Every attempt counts, as in client-go: a call that was tried twice is two requests.
//
// Thread safety: all members from any thread. None blocks but for a short lock.
class RequestCounts : public SharedObject {
 public:
  struct Count {
    std::string method;
    int status = 0;  // 0: there was no response
    std::uint64_t requests = 0;
    friend bool operator==(const Count&, const Count&) = default;
  };

  explicit RequestCounts(std::string host) : host_(std::move(host)) {}

  const std::string& host() const noexcept { return host_; }  // "10.96.0.1:443"
  void Add(std::string_view method, int status) {
    const MutexLock lock(mutex_);
    const auto found =
        std::ranges::find_if(counts_, [&](const Count& c) { return c.status == status && c.method == method; });
    if (found != counts_.end()) {
      ++found->requests;
    } else {
      counts_.push_back({std::string(method), status, 1});
    }
  }
  std::vector<Count> Read() const {
    const MutexLock lock(mutex_);
    return counts_;
  }

 private:
  const std::string host_;
  mutable Mutex mutex_;
  std::vector<Count> counts_ KGEN_GUARDED_BY(mutex_);  // few: five methods, and the codes that a server returns
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_REQUEST_COUNTS_H_
