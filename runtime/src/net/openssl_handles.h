// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: owners of OpenSSL's objects.
#ifndef KGEN_SRC_NET_OPENSSL_HANDLES_H_
#define KGEN_SRC_NET_OPENSSL_HANDLES_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace kgen::net {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using GeneralNames = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_OPENSSL_HANDLES_H_
