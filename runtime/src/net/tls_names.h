// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which certificate is good for which host name, by the rules of Go's crypto/x509, so that a kubeconfig works here if
// it works with kubectl. OpenSSL has others: it refuses "*.test" and a name with a dot at its end.
#ifndef KGEN_SRC_NET_TLS_NAMES_H_
#define KGEN_SRC_NET_TLS_NAMES_H_

#include <openssl/x509.h>

#include <string_view>

namespace kgen::net {

// Whether a DNS name of a certificate covers the name of a server. Case does not matter. A "*" stands for exactly the
// first label; a dot at the end of `name` is ignored. If one of the two is no valid host name, such as a `name` with a
// "*", they must be equal.
bool NameMatches(std::string_view of_certificate, std::string_view name);

// Whether a DNS name among the subjectAltNames covers `name`. The common name is not a name (RFC 9525).
bool CertificateIsFor(X509* certificate, std::string_view name);

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_TLS_NAMES_H_
