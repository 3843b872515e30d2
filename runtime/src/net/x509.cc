// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/x509.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <utility>

#include "net/event_loop.h"
#include "net/openssl_handles.h"
#include "net/openssl_use.h"

namespace kgen::net {
namespace {

using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

template <typename Write>
std::string PemWrittenBy(Write write) {
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

constexpr char kProcessEnds[] = "the process is ending";

// A certificate without a time, see NewCertificate().
Certificate Untimed(EVP_PKEY* key, std::string_view common_name) {
  Certificate made(X509_new());
  if (!made) return made;
  X509* const certificate = made.get();
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.data());
  const bool good = X509_set_version(certificate, X509_VERSION_3) == 1 && SetSerial(certificate) &&
                    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name,
                                               static_cast<int>(common_name.size()), -1, 0) == 1 &&
                    X509_set_pubkey(certificate, key) == 1;
  if (!good) made.reset();
  return made;
}

Bio BioOver(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Certificate FirstCertificate(std::string_view pem) {
  const Bio bio = BioOver(pem);
  return Certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
}

// No callback: an encrypted key must not ask for a password on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

PrivateKey ReadKey(std::string_view pem) {
  const Bio bio = BioOver(pem);
  return PrivateKey(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr) : nullptr);
}

std::chrono::sys_seconds TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(timegm(&parts)));
}

std::string NameOf(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) {
    const ASN1_STRING* text = name.d.dNSName;
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
            static_cast<std::size_t>(ASN1_STRING_length(text))};
  }
  if (name.type != GEN_IPADD) return {};
  const ASN1_OCTET_STRING* address = name.d.iPAddress;
  const int size = ASN1_STRING_length(address);
  char text[INET6_ADDRSTRLEN] = {};
  if (size != 4 && size != 16) return {};
  inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text, sizeof text);
  return text;
}

std::vector<std::string> NamesOf(X509* certificate) {
  const GeneralNames all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> names;
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    if (std::string name = NameOf(*sk_GENERAL_NAME_value(all.get(), i)); !name.empty())
      names.push_back(std::move(name));
  }
  return names;
}

Result<Identity> Signed(const Certificate& certificate, const PrivateKey& key, const PrivateKey& signer) {
  if (X509_sign(certificate.get(), signer.get(), EVP_sha256()) <= 0) return Fail(CertificateFailure());
  Identity identity{PemOf(certificate.get()), PemOf(key.get())};
  if (identity.certificate_pem.empty() || identity.key_pem.empty()) return Fail(CertificateFailure());
  return identity;
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
  Certificate made = Untimed(key, common_name);
  if (!made) return made;
  const bool good = X509_gmtime_adj(X509_getm_notBefore(made.get()), static_cast<long>(from.count())) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(made.get()), static_cast<long>(until.count())) != nullptr;
  if (!good) made.reset();
  return made;
}

Certificate NewCertificate(EVP_PKEY* key, std::string_view common_name, const Validity& validity) {
  Certificate made = Untimed(key, common_name);
  if (!made) return made;
  const auto set = [](ASN1_TIME* time, std::chrono::sys_seconds value) {
    return ASN1_TIME_set(time, static_cast<std::time_t>(value.time_since_epoch().count())) != nullptr;
  };
  const bool good =
      set(X509_getm_notBefore(made.get()), validity.from) && set(X509_getm_notAfter(made.get()), validity.until);
  if (!good) made.reset();
  return made;
}

Result<Identity> MakeAuthority(std::string_view common_name, const Validity& validity) {
  const OpenSslUse use;
  if (!use) return Fail(Code::kCancelled, kProcessEnds);
  ERR_clear_error();
  const PrivateKey key = NewPrivateKey();
  if (!key) return Fail(CertificateFailure());
  const Certificate made = NewCertificate(key.get(), common_name, validity);
  X509* const certificate = made.get();
  const bool good = certificate != nullptr &&
                    X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1 &&
                    AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    AddExtension(certificate, certificate, NID_subject_key_identifier, "hash");
  if (!good) return Fail(CertificateFailure());
  return Signed(made, key, key);
}

Result<Identity> IssueServer(const Identity& authority, std::string_view common_name,
                             const std::vector<std::string>& names, const Validity& validity) {
  const OpenSslUse use;
  if (!use) return Fail(Code::kCancelled, kProcessEnds);
  ERR_clear_error();
  const Certificate issuer = FirstCertificate(authority.certificate_pem);
  const PrivateKey signer = ReadKey(authority.key_pem);
  if (!issuer || !signer || X509_check_private_key(issuer.get(), signer.get()) != 1) {
    ERR_clear_error();
    return Fail(Code::kConfig, "the certificate and the key of the authority cannot be used together");
  }
  const PrivateKey key = NewPrivateKey();
  if (!key) return Fail(CertificateFailure());
  const Certificate made = NewCertificate(key.get(), common_name, validity);
  X509* const certificate = made.get();
  const bool good =
      certificate != nullptr && X509_set_issuer_name(certificate, X509_get_subject_name(issuer.get())) == 1 &&
      AddExtension(certificate, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
      AddExtension(certificate, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
      AddExtension(certificate, issuer.get(), NID_ext_key_usage, "serverAuth") &&
      AddExtension(certificate, issuer.get(), NID_authority_key_identifier, "keyid") && AddNames(certificate, names);
  if (!good) return Fail(CertificateFailure());
  return Signed(made, key, signer);
}

std::vector<CertificateFacts> ReadCertificates(std::string_view pem) {
  std::vector<CertificateFacts> all;
  const OpenSslUse use;
  if (!use) return all;
  const Bio bio = BioOver(pem);
  while (bio) {
    const Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!certificate) break;
    X509* const one = certificate.get();
    all.push_back({.pem = PemOf(one),
                   .validity = {TimeOf(X509_get0_notBefore(one)), TimeOf(X509_get0_notAfter(one))},
                   .authority = X509_check_ca(one) == 1,
                   .names = NamesOf(one)});
  }
  ERR_clear_error();
  return all;
}

bool KeyFits(const Identity& identity) {
  const OpenSslUse use;
  if (!use) return false;
  const Certificate certificate = FirstCertificate(identity.certificate_pem);
  const PrivateKey key = ReadKey(identity.key_pem);
  const bool fits = certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return fits;
}

bool IsSignedBy(std::string_view certificate_pem, std::string_view authority_pem) {
  const OpenSslUse use;
  if (!use) return false;
  const Certificate certificate = FirstCertificate(certificate_pem);
  const Certificate authority = FirstCertificate(authority_pem);
  EVP_PKEY* const key = authority ? X509_get0_pubkey(authority.get()) : nullptr;
  const bool is = certificate && key != nullptr && X509_verify(certificate.get(), key) == 1;
  ERR_clear_error();
  return is;
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
  return PemWrittenBy([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

std::string PemOf(EVP_PKEY* key) {
  return PemWrittenBy(
      [&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

Error CertificateFailure() {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return Error(Code::kInternal, std::string("cannot make a certificate: ") + (reason != nullptr ? reason : "OpenSSL"));
}

}  // namespace kgen::net
