// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// X.509 certificates made in memory, with keys on the curve P-256, which take about a millisecond to generate.
//
//   SelfSignedIdentity(names, validity) --> TlsContext::ForServer()
//   MakeAuthority() --> IssueServer() --> TlsContext::ForServer()
//
// The functions below that take or return objects of OpenSSL are the steps of that, and of the authority for tests
// (testing/certificates.h).
#ifndef KGEN_SRC_NET_X509_H_
#define KGEN_SRC_NET_X509_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "net/openssl_handles.h"

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

// When a certificate is valid, in wall time. The caller says what time it is, because that may be virtual time, or the
// time of another machine.
struct Validity {
  std::chrono::sys_seconds from{};
  std::chrono::sys_seconds until{};

  friend bool operator==(const Validity&, const Validity&) = default;
};

// An authority with a certificate that it has signed itself, for certificates of servers and for nothing below them.
// The name has at most 64 bytes.
// Errors: kInternal   OpenSSL failed
//         kCancelled  the process is ending
Result<Identity> MakeAuthority(std::string_view common_name, const Validity& validity);

// A certificate of a server for DNS names and IP addresses, at least one, which are well-formed. It is signed by the
// authority, and not checked against the authority's own validity. The common name has at most 64 bytes.
// Errors: kConfig     the authority's certificate or key cannot be read, or they do not belong together
//         kInternal   OpenSSL failed
//         kCancelled  the process is ending
Result<Identity> IssueServer(const Identity& authority, std::string_view common_name,
                             const std::vector<std::string>& names, const Validity& validity);

// What a certificate says.
struct CertificateFacts {
  std::string pem{};  // this certificate alone, as PemOf() writes it: equal certificates have equal texts
  Validity validity{};
  bool authority = false;            // may sign certificates
  std::vector<std::string> names{};  // DNS names and IP addresses, as they are usually written
};

// The certificates of a PEM text, in order, up to the first that cannot be read. Empty if the process is ending.
std::vector<CertificateFacts> ReadCertificates(std::string_view pem);
// Whether the key belongs to the first certificate. False also if one of them cannot be read.
bool KeyFits(const Identity& identity);
// Whether the first certificate of a text was signed with the key of the authority's. Does not look at the time.
bool IsSignedBy(std::string_view certificate_pem, std::string_view authority_pem);

PrivateKey NewPrivateKey();  // null: OpenSSL failed
// A certificate without extensions, issuer and signature. The times count from now. Null: OpenSSL failed.
Certificate NewCertificate(EVP_PKEY* key, std::string_view common_name, std::chrono::seconds from,
                           std::chrono::seconds until);
// A certificate as above, for a given span of time.
Certificate NewCertificate(EVP_PKEY* key, std::string_view common_name, const Validity& validity);
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
