// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <utility>

#include "core/files/read_file.h"
#include "net/event_loop.h"
#include "net/openssl_handles.h"
#include "net/openssl_use.h"
#include "net/tls_names.h"

namespace kgen::net {
namespace {

using Hash = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

Bio BioOf(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

// Returns the oldest error of this thread's error queue, and empties the queue.
std::string LastError() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "unknown cause";
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "OpenSSL error " + std::to_string(error);
}

// Prevents OpenSSL from prompting on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

struct Pem {
  std::string text;
  std::string origin;  // for messages
};

Result<Pem> Load(const std::string& data, const std::string& file, std::string_view what) {
  if (!data.empty()) return Pem{data, std::string(what)};
  if (file.empty()) return Pem{};
  Result<std::string> text = detail::ReadFile(what, file);
  if (!text) return Fail(text.error());
  return Pem{*std::move(text), std::string(what) + " " + file};
}

// Returns the SHA-256 of these texts; "" if OpenSSL failed.
std::string DigestOf(std::initializer_list<const Pem*> pems) {
  const Hash hash(EVP_MD_CTX_new());
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  bool ok = hash != nullptr && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1;
  for (const Pem* pem : pems) {
    const std::string length = std::to_string(pem->text.size()) + ':';  // so that two texts cannot be split differently
    ok = ok && EVP_DigestUpdate(hash.get(), length.data(), length.size()) == 1 &&
         EVP_DigestUpdate(hash.get(), pem->text.data(), pem->text.size()) == 1;
  }
  ok = ok && EVP_DigestFinal_ex(hash.get(), out, &size) == 1;
  return ok ? std::string(reinterpret_cast<const char*>(out), size) : std::string();
}

Result<std::size_t> AddTrust(X509_STORE* store, const Pem& pem) {
  const Bio bio = BioOf(pem.text);
  std::size_t count = 0;
  while (const Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    X509_STORE_add_cert(store, certificate.get());
    ++count;
  }
  ERR_clear_error();
  if (count == 0) return Fail(Code::kConfig, pem.origin + ": contains no certificate in PEM form");
  return count;
}

Result<void> UseIdentity(SSL_CTX* context, const Pem& chain, const Pem& key) {
  const Bio bio = BioOf(chain.text);
  const Certificate leaf{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)};
  if (!leaf) {
    ERR_clear_error();
    return Fail(Code::kConfig, chain.origin + ": contains no certificate in PEM form");
  }
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1) return Fail(Code::kConfig, chain.origin + ": " + LastError());
  while (const Certificate next{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    SSL_CTX_add1_chain_cert(context, next.get());
  }
  ERR_clear_error();
  const Bio key_bio = BioOf(key.text);
  const PrivateKey pkey{PEM_read_bio_PrivateKey(key_bio.get(), nullptr, NoPassphrase, nullptr)};
  if (!pkey) {
    const bool locked = key.text.find("ENCRYPTED") != std::string::npos;
    ERR_clear_error();
    return Fail(Code::kConfig, key.origin + (locked ? ": is encrypted; keys with a passphrase are not supported"
                                                    : ": contains no private key in PEM form"));
  }
  if (SSL_CTX_use_PrivateKey(context, pkey.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return Fail(Code::kConfig, key.origin + ": is not the key of " + chain.origin);
  }
  return {};
}

std::string NameOf(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  return TextOf(bio.get());
}

std::string TimeText(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print_ex(bio.get(), time, ASN1_DTFLGS_ISO8601);
  return TextOf(bio.get());
}

// Returns the names that the certificate is for: "localhost, 127.0.0.1".
std::string SubjectsOf(X509* certificate) {
  const GeneralNames names{
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  std::string text;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    std::string one;
    if (name->type == GEN_DNS) {
      one.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                 static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      const Bio bio(BIO_new(BIO_s_mem()));
      GENERAL_NAME_print(bio.get(), const_cast<GENERAL_NAME*>(name));
      one = TextOf(bio.get()).substr(sizeof("IP Address:") - 1);
    } else {
      continue;
    }
    text += (text.empty() ? "" : ", ") + one;
  }
  return text.empty() ? "no name at all" : text;
}

std::string Problem(int error, X509* certificate, const std::string& name) {
  const std::string subject = certificate != nullptr ? NameOf(X509_get_subject_name(certificate)) : "";
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not for " + name + ", it is for " + SubjectsOf(certificate) +
             "; if one of these is right, set tls-server-name to it";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate of " + subject + " expired at " + TimeText(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate of " + subject + " is not valid before " + TimeText(X509_get0_notBefore(certificate)) +
             "; is the clock of this machine right?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "the server's certificate is signed by an unknown authority, " +
             (certificate != nullptr ? NameOf(X509_get_issuer_name(certificate)) : subject) +
             "; if it is the right one, the config's certificate-authority lacks it";
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the signature of the certificate of " + subject +
             " was not made by the trusted authority of that name; was the authority recreated?";
    default:
      return "the certificate of " + subject + " was refused: " + X509_verify_cert_error_string(error);
  }
}

int EngineIndex() {
  static const int kIndex = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

constexpr std::string_view kEnding = "the process is ending";

constexpr unsigned char kAlpnH2[] = {2, 'h', '2'};

int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
               void* wanted) {
  const auto& name = *static_cast<const std::string*>(wanted);
  for (unsigned i = 0; i < in_size; i += in[i] + 1u) {
    const std::string_view offered(reinterpret_cast<const char*>(in + i + 1), in[i]);
    if (offered != name) continue;
    *out = in + i + 1;
    *out_size = in[i];
    return SSL_TLSEXT_ERR_OK;
  }
  return name.empty() ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void SetCommon(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_default_passwd_cb(context, NoPassphrase);
}

}  // namespace

TlsContext::~TlsContext() {
  const OpenSslUse use;
  if (use) {
    SSL_CTX_free(context_);
  } else {
    OpenSslUse::Abandon(context_);
  }
}

// The contents of the files that a config names, or its data.
struct TlsContext::Pems {
  Pem ca, chain, key;

  static Result<Pems> Read(const rest::TlsConfig& config);
  std::string Digest() const;
};

Result<TlsContext::Pems> TlsContext::Pems::Read(const rest::TlsConfig& config) {
  auto ca = Load(config.ca_data, config.ca_file, "certificate authority");
  if (!ca) return Fail(ca.error());
  auto chain = Load(config.certificate_data, config.certificate_file, "client certificate");
  if (!chain) return Fail(chain.error());
  auto key = Load(config.key_data, config.key_file, "client key");
  if (!key) return Fail(key.error());
  if (!ca->origin.empty() && config.insecure_skip_verify) {
    return Fail(Code::kConfig, "a certificate authority and insecure-skip-tls-verify are both set; remove one of them");
  }
  if (chain->origin.empty() != key->origin.empty()) {
    return Fail(Code::kConfig, chain->origin.empty() ? "there is a client key, but no client certificate"
                                                     : "there is a client certificate, but no client key");
  }
  return Pems{*std::move(ca), *std::move(chain), *std::move(key)};
}

// Tells whether files have changed without keeping a second copy of the key.
std::string TlsContext::Pems::Digest() const { return DigestOf({&ca, &chain, &key}); }

Result<std::string> TrustDigest(const rest::TlsConfig& config) {
  if (config.insecure_skip_verify) return "insecure";
  if (config.ca_data.empty() && config.ca_file.empty()) return "system";
  const Result<Pem> ca = Load(config.ca_data, config.ca_file, "certificate authority");
  if (!ca) return Fail(ca.error());
  const OpenSslUse use;  // after reading the file, which may block
  if (!use) return Fail(Code::kCancelled, kEnding);
  const std::string digest = DigestOf({&*ca});
  if (digest.empty()) return Fail(Code::kInternal, "OpenSSL: " + LastError());
  std::string text;
  for (const char byte : digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    text.append({kDigits[static_cast<unsigned char>(byte) >> 4], kDigits[static_cast<unsigned char>(byte) & 15]});
  }
  return text;
}

Result<Shared<TlsContext>> TlsContext::ForClient(const rest::TlsConfig& config) {
  const Result<Pems> pems = Pems::Read(config);
  if (!pems) return Fail(pems.error());
  return Make(config, *pems);
}

Shared<TlsContext> TlsContext::Renewed(const rest::TlsConfig& config) const {
  const Result<Pems> pems = Pems::Read(config);
  if (!pems) return {};
  const OpenSslUse use;
  if (!use || pems->Digest() == digest_) return {};
  return Make(config, *pems).value_or(Shared<TlsContext>());
}

Result<Shared<TlsContext>> TlsContext::Make(const rest::TlsConfig& config, const Pems& pems) {
  const bool has_ca = !pems.ca.origin.empty();
  const OpenSslUse use;  // after reading the files, which may block
  if (!use) return Fail(Code::kCancelled, kEnding);
  ERR_clear_error();
  auto result = MakeShared<TlsContext>(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = result->get();
  if (context == nullptr) return Fail(Code::kInternal, "OpenSSL: " + LastError());
  SetCommon(context);
  SSL_CTX_set_alpn_protos(context, kAlpnH2, sizeof(kAlpnH2));
  if (has_ca) {
    // Trust every given certificate, even an intermediate one or the server's own.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    if (const auto added = AddTrust(SSL_CTX_get_cert_store(context), pems.ca); !added) return Fail(added.error());
  } else if (!config.insecure_skip_verify) {
    SSL_CTX_set_default_verify_paths(context);
  }
  result->verifies_ = !config.insecure_skip_verify;
  result->digest_ = pems.Digest();
  if (!pems.chain.origin.empty()) {
    if (auto used = UseIdentity(context, pems.chain, pems.key); !used) return Fail(used.error());
  }
  return result;
}

Result<Shared<TlsContext>> TlsContext::ForServer(const Server& server) {
  const OpenSslUse use;
  if (!use) return Fail(Code::kCancelled, kEnding);
  ERR_clear_error();
  auto result = MakeShared<TlsContext>(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = result->get();
  if (context == nullptr) return Fail(Code::kInternal, "OpenSSL: " + LastError());
  SetCommon(context);
  result->alpn_ = server.alpn;
  SSL_CTX_set_alpn_select_cb(context, SelectAlpn, &result->alpn_);
  if (auto used = UseIdentity(context, {server.certificate_pem, "server certificate"}, {server.key_pem, "server key"});
      !used) {
    return Fail(used.error());
  }
  if (!server.client_ca_pem.empty()) {
    const auto added = AddTrust(SSL_CTX_get_cert_store(context), {server.client_ca_pem, "client authority"});
    if (!added) return Fail(added.error());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    // A resumed session would not show its certificate again.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
  }
  return result;
}

Result<void> CheckServerName(std::string_view name) {
  const bool bad = std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
  if (bad) return Fail(Code::kConfig, "tls-server-name contains a blank or a control character");
  return {};
}

TlsEngine::TlsEngine(Shared<TlsContext> context, ssl_st* ssl, std::string name)
    : context_(std::move(context)), ssl_(ssl), check_(new Check{.name = std::move(name)}) {
  SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  // An empty input means that more may follow, not the end.
  BIO_set_mem_eof_return(SSL_get_rbio(ssl_), -1);
}

TlsEngine::TlsEngine(TlsEngine&& other) noexcept
    : context_(std::move(other.context_)),
      ssl_(std::exchange(other.ssl_, nullptr)),
      check_(std::exchange(other.check_, nullptr)),
      peer_closed_(other.peer_closed_) {}

TlsEngine::~TlsEngine() {
  const OpenSslUse use;
  if (use) {
    SSL_free(ssl_);
  } else {
    OpenSslUse::Abandon(ssl_);
  }
  delete check_;
}

// Called for each certificate of the chain, the server's own last, with ok = 1 if it is good by itself.
int TlsEngine::OnVerify(int ok, X509_STORE_CTX* store) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* check = static_cast<Check*>(SSL_get_ex_data(ssl, EngineIndex()));
  if (ok == 1) {
    if (!check->is_host_name || X509_STORE_CTX_get_error_depth(store) != 0) return ok;
    check->fits = CertificateIsFor(X509_STORE_CTX_get_current_cert(store), check->name);
    if (check->fits) return ok;
    X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
  }
  check->problem = Problem(X509_STORE_CTX_get_error(store), X509_STORE_CTX_get_current_cert(store), check->name);
  return 0;
}

Result<TlsEngine> TlsEngine::Client(const Shared<TlsContext>& context, const std::string& name) {
  if (auto fits = CheckServerName(name); !fits) return Fail(fits.error());
  ERR_clear_error();
  SSL* ssl = SSL_new(context->get());
  if (ssl == nullptr) return Fail(Code::kInternal, "OpenSSL: " + LastError());
  TlsEngine engine(context, ssl, name);
  SSL_set_ex_data(ssl, EngineIndex(), engine.check_);
  const bool ip = IsIpAddress(name);
  engine.check_->is_host_name = !ip && context->verifies();
  if (!ip) SSL_set_tlsext_host_name(ssl, name.substr(0, name.find_last_not_of('.') + 1).c_str());
  if (context->verifies()) {
    // OnVerify() checks host names.
    if (ip && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) != 1) {
      return Fail(Code::kConfig, "'" + name + "' is not an address that a certificate can have");
    }
    SSL_set_verify(ssl, SSL_VERIFY_PEER, &TlsEngine::OnVerify);
  } else {
    SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
  }
  SSL_set_connect_state(ssl);
  return engine;
}

Result<TlsEngine> TlsEngine::Server(const Shared<TlsContext>& context) {
  ERR_clear_error();
  SSL* ssl = SSL_new(context->get());
  if (ssl == nullptr) return Fail(Code::kInternal, "OpenSSL: " + LastError());
  TlsEngine engine(context, ssl, "");
  SSL_set_accept_state(ssl);
  return engine;
}

void TlsEngine::Feed(std::string_view encrypted) {
  BIO_write(SSL_get_rbio(ssl_), encrypted.data(), static_cast<int>(encrypted.size()));
}

std::string TlsEngine::TakeOutput() {
  BIO* output = SSL_get_wbio(ssl_);
  std::string text = TextOf(output);
  BIO_reset(output);
  return text;
}

Error TlsEngine::Failure(int result, std::string_view doing) {
  const int kind = SSL_get_error(ssl_, result);
  const unsigned long error = ERR_peek_error();
  const int reason = ERR_GET_REASON(error);
  std::string words;
  if (kind == SSL_ERROR_SSL && !check_->problem.empty()) {
    words = check_->problem;
  } else if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
             reason == SSL_R_PACKET_LENGTH_TOO_LONG) {
    words = "the server does not speak TLS; is the port right, or does its address begin with http://?";
  } else if (reason == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL) {
    words = "the server does not speak HTTP/2; does a proxy in between speak HTTP/1 only?";
  } else if (reason > SSL_AD_REASON_OFFSET) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    // "tlsv13 alert certificate required"; OpenSSL's list of alerts by number is not complete.
    const char* reason_text = ERR_reason_error_string(error);
    const std::string_view text = reason_text != nullptr ? reason_text : "unknown alert";
    const auto name = text.find("alert ");
    words = "the server refused: " + std::string(text.substr(name == std::string_view::npos ? 0 : name + 6));
    if (alert == SSL_AD_CERTIFICATE_REQUIRED || alert == SSL_AD_BAD_CERTIFICATE || alert == SSL_AD_UNKNOWN_CA ||
        alert == SSL_AD_CERTIFICATE_UNKNOWN || alert == SSL_AD_CERTIFICATE_EXPIRED) {
      words += " (it requires another client certificate than the config's, if that has one)";
    }
  } else {
    const char* text = ERR_reason_error_string(error);
    words = text != nullptr ? text : "unexpected end";
  }
  ERR_clear_error();
  return Error(Code::kTls, std::string(doing) + ": " + words);
}

Result<bool> TlsEngine::Handshake() {
  if (SSL_is_init_finished(ssl_)) return true;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1 && check_->is_host_name && !check_->fits) {
    return Fail(Code::kTls, "TLS handshake: the name of the server was not verified");
  }
  if (result == 1) return true;
  const int kind = SSL_get_error(ssl_, result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return false;
  return Fail(Failure(result, "TLS handshake"));
}

Result<std::size_t> TlsEngine::Read(std::span<char> out) {
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_read_ex(ssl_, out.data(), out.size(), &size);
  if (result == 1) return size;
  const int kind = SSL_get_error(ssl_, result);
  if (kind == SSL_ERROR_ZERO_RETURN) peer_closed_ = true;
  if (kind == SSL_ERROR_ZERO_RETURN || kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return 0;
  return Fail(Failure(result, "TLS"));
}

Result<void> TlsEngine::Write(std::string_view plain) {
  ERR_clear_error();
  while (!plain.empty()) {
    std::size_t size = 0;
    const int result = SSL_write_ex(ssl_, plain.data(), plain.size(), &size);
    if (result != 1) return Fail(Failure(result, "TLS"));
    plain.remove_prefix(size);
  }
  return {};
}

void TlsEngine::Shutdown() {
  ERR_clear_error();
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
  ERR_clear_error();
}

std::string_view TlsEngine::alpn() const noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size);
}

}  // namespace kgen::net
