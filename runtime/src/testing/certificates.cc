// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/certificates.h"

#include <openssl/x509v3.h>

#include <utility>

#include "net/x509.h"

namespace kgen::testing {
namespace {

using net::AddExtension;

constexpr std::chrono::seconds kHour = std::chrono::hours(1);

class Authority final : public CertificateAuthority {
 public:
  Authority(net::PrivateKey key, net::Certificate certificate)
      : key_(std::move(key)), certificate_(std::move(certificate)), pem_(net::PemOf(certificate_.get())) {}

  const std::string& certificate_pem() const noexcept override { return pem_; }

  Result<Identity> Issue(const CertificateOptions& options) const override {
    const net::PrivateKey key = net::NewPrivateKey();
    if (!key) return Fail(net::CertificateFailure());
    const net::Certificate made = net::NewCertificate(key.get(), options.common_name, options.from, options.until);
    if (!made) return Fail(net::CertificateFailure());
    X509* leaf = made.get();
    X509_set_issuer_name(leaf, X509_get_subject_name(certificate_.get()));
    bool good = AddExtension(leaf, certificate_.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                AddExtension(leaf, certificate_.get(), NID_ext_key_usage, "serverAuth,clientAuth") &&
                AddExtension(leaf, certificate_.get(), NID_authority_key_identifier, "keyid");
    if (!options.names.empty()) good = good && net::AddNames(leaf, options.names);
    if (!good || X509_sign(leaf, key_.get(), EVP_sha256()) == 0) return Fail(net::CertificateFailure());
    return Identity{net::PemOf(leaf), net::PemOf(key.get())};
  }

 private:
  const net::PrivateKey key_;
  const net::Certificate certificate_;
  const std::string pem_;
};

}  // namespace

Result<Shared<CertificateAuthority>> CertificateAuthority::Make(std::string_view name) {
  net::PrivateKey key = net::NewPrivateKey();
  if (!key) return Fail(net::CertificateFailure());
  net::Certificate made = net::NewCertificate(key.get(), name, -kHour, 24 * 365 * kHour);
  if (!made) return Fail(net::CertificateFailure());
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  const bool good = AddExtension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE") &&
                    AddExtension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,digitalSignature") &&
                    AddExtension(made.get(), made.get(), NID_subject_key_identifier, "hash");
  if (!good || X509_sign(made.get(), key.get(), EVP_sha256()) == 0) return Fail(net::CertificateFailure());
  return Shared<CertificateAuthority>(MakeShared<Authority>(std::move(key), std::move(made)));
}

}  // namespace kgen::testing
