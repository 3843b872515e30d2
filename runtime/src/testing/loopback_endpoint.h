// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The network endpoint of Cluster. It serves the same ApiServer over HTTP/2 or HTTP/1.1 with TLS, on loopback and in
// real time.
#ifndef KGEN_SRC_TESTING_LOOPBACK_ENDPOINT_H_
#define KGEN_SRC_TESTING_LOOPBACK_ENDPOINT_H_

#include <cstdint>
#include <string>

#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "testing/api_server.h"

namespace kgen::testing {

// Thread safety: all members from any thread. The last reference must not be released on the server's thread.
class LoopbackEndpoint : public SharedObject {
 public:
  // Errors: kUnavailable  the port is taken
  static Result<Shared<LoopbackEndpoint>> Open(Shared<ApiServer> server, Shared<Executor> executor, std::uint16_t port);

  virtual std::string Kubeconfig() const = 0;
  virtual void Cut() = 0;  // breaks every connection
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_LOOPBACK_ENDPOINT_H_
