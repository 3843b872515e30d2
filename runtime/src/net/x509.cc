// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/x509.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "net/event_loop.h"
#include "net/openssl_use.h"

namespace kgen::net {
namespace {

using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

template <typename Write>
std::string Pem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || write(bio.get()) != 1) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bool SetSerial(X509* certificate) {
  const Number serial(BN_new());
  return serial && BN_rand(serial.get(), 120, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
}

}  // namespace

Result<Identity> SelfSignedIdentity(const std::vector<std::string>& names, std::chrono::seconds validity) {
  const OpenSslUse use;
  if (!use) return Fail(Code::kCancelled, "the process is ending");
  ERR_clear_error();
  const PrivateKey key = NewPrivateKey();
  if (!key) return Fail(CertificateFailure());
  const Certificate made = NewCertificate(key.get(), names.front(), -std::chrono::hours(1), validity);
  X509* const certificate = made.get();
  const bool good = certificate != nullptr &&
                    X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1 &&
                    AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:FALSE") &&
                    AddExtension(certificate, certificate, NID_key_usage, "critical,digitalSignature") &&
                    AddExtension(certificate, certificate, NID_ext_key_usage, "serverAuth") &&
                    AddNames(certificate, names) && X509_sign(certificate, key.get(), EVP_sha256()) > 0;
  if (!good) return Fail(CertificateFailure());
  Identity identity{PemOf(certificate), PemOf(key.get())};
  if (identity.certificate_pem.empty() || identity.key_pem.empty()) return Fail(CertificateFailure());
  return identity;
}

PrivateKey NewPrivateKey() { return PrivateKey(EVP_EC_gen("P-256")); }

Certificate NewCertificate(EVP_PKEY* key, std::string_view common_name, std::chrono::seconds from,
                           std::chrono::seconds until) {
  Certificate made(X509_new());
  if (!made) return made;
  X509* const certificate = made.get();
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.data());
  const bool good = X509_set_version(certificate, X509_VERSION_3) == 1 && SetSerial(certificate) &&
                    X509_gmtime_adj(X509_getm_notBefore(certificate), static_cast<long>(from.count())) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(certificate), static_cast<long>(until.count())) != nullptr &&
                    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name,
                                               static_cast<int>(common_name.size()), -1, 0) == 1 &&
                    X509_set_pubkey(certificate, key) == 1;
  if (!good) made.reset();
  return made;
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

bool AddNames(X509* certificate, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + std::string(IsIpAddress(name) ? "IP:" : "DNS:") + name;
  }
  return AddExtension(certificate, certificate, NID_subject_alt_name, text);
}

std::string PemOf(X509* certificate) {
  return Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

std::string PemOf(EVP_PKEY* key) {
  return Pem([&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

Error CertificateFailure() {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return Error(Code::kInternal, std::string("cannot make a certificate: ") + (reason != nullptr ? reason : "OpenSSL"));
}

}  // namespace kgen::net
