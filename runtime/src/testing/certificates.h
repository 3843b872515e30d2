// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Certificates for tests and for the embedded API server. Each process makes its own authority, which issues valid and
// deliberately invalid leaf certificates.
#ifndef KGEN_SRC_TESTING_CERTIFICATES_H_
#define KGEN_SRC_TESTING_CERTIFICATES_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/x509.h"

namespace kgen::testing {

using net::Identity;

struct CertificateOptions {
  std::string common_name = "kgen test server";
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};  // DNS names and IP addresses
  std::chrono::seconds from = -std::chrono::hours(1);                  // validity, counted from now
  std::chrono::seconds until = std::chrono::hours(24 * 30);
};

// A certificate authority with keys on the curve P-256, which take about a millisecond to generate.
// Thread safety: immutable; all members from any thread.
class CertificateAuthority : public SharedObject {
 public:
  // Errors: kInternal  OpenSSL failed
  static Result<Shared<CertificateAuthority>> Make(std::string_view name = "kgen test authority");

  virtual const std::string& certificate_pem() const noexcept = 0;
  virtual Result<Identity> Issue(const CertificateOptions& options = {}) const = 0;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_CERTIFICATES_H_
