// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HttpsPost: one POST over TLS and HTTP/1.1, as an API server sends a review to a Service.
#ifndef KGEN_SRC_TESTING_WEBHOOKS_HTTPS_POST_H_
#define KGEN_SRC_TESTING_WEBHOOKS_HTTPS_POST_H_

#include <chrono>
#include <string>

#include "kgen/core/result.h"

namespace kgen::testing {

struct HttpsPost {
  std::string host;  // a name or an IP address
  std::string port;
  std::string path;         // with the query
  std::string server_name;  // for SNI and the check of the certificate
  std::string ca_pem;       // "": the system's roots
  std::string body;
  std::chrono::seconds timeout{};  // of each step
};

struct HttpsAnswer {
  int status = 0;
  std::string body;
};

// Blocks until the answer is there. The connection is not kept. Errors: kConfig  the CA is malformed
//         kUnavailable  no connection, or it ended early; kTls  the certificate does not fit
Result<HttpsAnswer> SendHttpsPost(const HttpsPost& post);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_WEBHOOKS_HTTPS_POST_H_
