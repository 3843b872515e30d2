// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <utility>

#include "client/event_loop.h"

namespace kgen::testing {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

constexpr std::chrono::seconds kHour = std::chrono::hours(1);

template <typename Write>
std::string Pem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Makes a certificate without extensions, issuer and signature.
Certificate Blank(EVP_PKEY* key, std::string_view name, std::chrono::seconds from, std::chrono::seconds until) {
  Certificate made(X509_new());
  if (!made) return made;
  X509_set_version(made.get(), X509_VERSION_3);
  const Number serial(BN_new());
  BN_rand(serial.get(), 120, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY);
  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(made.get()));
  X509_gmtime_adj(X509_getm_notBefore(made.get()), static_cast<long>(from.count()));
  X509_gmtime_adj(X509_getm_notAfter(made.get()), static_cast<long>(until.count()));
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.data()), static_cast<int>(name.size()), -1, 0);
  X509_set_pubkey(made.get(), key);
  return made;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + std::string(net::IsIpAddress(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

std::unexpected<Error> OpenSslFailed() {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return Fail(Code::kInternal, std::string("cannot make a certificate: ") + (reason != nullptr ? reason : "OpenSSL"));
}

class Authority final : public CertificateAuthority {
 public:
  Authority(Key key, Certificate certificate) : key_(std::move(key)), certificate_(std::move(certificate)) {
    pem_ = Pem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate_.get()); });
  }

  const std::string& certificate_pem() const noexcept override { return pem_; }

  Result<Identity> Issue(const CertificateOptions& options) const override {
    const Key key(EVP_EC_gen("P-256"));
    if (!key) return OpenSslFailed();
    const Certificate made = Blank(key.get(), options.common_name, options.from, options.until);
    if (!made) return OpenSslFailed();
    X509* leaf = made.get();
    X509_set_issuer_name(leaf, X509_get_subject_name(certificate_.get()));
    bool good = AddExtension(leaf, certificate_.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                AddExtension(leaf, certificate_.get(), NID_ext_key_usage, "serverAuth,clientAuth") &&
                AddExtension(leaf, certificate_.get(), NID_authority_key_identifier, "keyid");
    const std::string names = AlternativeNames(options.names);
    if (!names.empty()) good = good && AddExtension(leaf, certificate_.get(), NID_subject_alt_name, names);
    if (!good || X509_sign(leaf, key_.get(), EVP_sha256()) == 0) return OpenSslFailed();
    return Identity{Pem([&](BIO* bio) { PEM_write_bio_X509(bio, leaf); }), Pem([&](BIO* bio) {
                      PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
                    })};
  }

 private:
  const Key key_;
  const Certificate certificate_;
  std::string pem_;
};

}  // namespace

Result<Shared<CertificateAuthority>> CertificateAuthority::Make(std::string_view name) {
  Key key(EVP_EC_gen("P-256"));
  if (!key) return OpenSslFailed();
  Certificate made = Blank(key.get(), name, -kHour, 24 * 365 * kHour);
  if (!made) return OpenSslFailed();
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  const bool good = AddExtension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE") &&
                    AddExtension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,digitalSignature") &&
                    AddExtension(made.get(), made.get(), NID_subject_key_identifier, "hash");
  if (!good || X509_sign(made.get(), key.get(), EVP_sha256()) == 0) return OpenSslFailed();
  return Shared<CertificateAuthority>(MakeShared<Authority>(std::move(key), std::move(made)));
}

}  // namespace kgen::testing
