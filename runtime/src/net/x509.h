// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// X.509 certificates made in memory, with keys on the curve P-256, which take about a millisecond to generate.
//
//   SelfSignedIdentity(names, validity) --> TlsContext::ForServer()
//
// The functions below that take or return objects of OpenSSL are the steps of that, and of the authority for tests
// (testing/certificates.h).
#ifndef KGEN_SRC_NET_X509_H_
#define KGEN_SRC_NET_X509_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"

namespace kgen::net {

struct Identity {
  std::string certificate_pem{};
  std::string key_pem{};
};

// A certificate for these DNS names and IP addresses that is signed with its own key. It is valid from an hour ago, for
// clocks that are behind, until `validity` from now.
// Errors: kInternal   OpenSSL failed
//         kCancelled  the process is ending
Result<Identity> SelfSignedIdentity(const std::vector<std::string>& names, std::chrono::seconds validity);

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

PrivateKey NewPrivateKey();  // null: OpenSSL failed
// A certificate without extensions, issuer and signature. The times count from now. Null: OpenSSL failed.
Certificate NewCertificate(EVP_PKEY* key, std::string_view common_name, std::chrono::seconds from,
                           std::chrono::seconds until);
// Adds an extension as in OpenSSL's configuration files. False: OpenSSL failed.
bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value);
// DNS names and IP addresses, at least one. False: OpenSSL failed.
bool AddNames(X509* certificate, const std::vector<std::string>& names);
// "": OpenSSL failed.
std::string PemOf(X509* certificate);
std::string PemOf(EVP_PKEY* key);
// The reason of the failure that has just been returned on this thread; kInternal.
Error CertificateFailure();

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_X509_H_
