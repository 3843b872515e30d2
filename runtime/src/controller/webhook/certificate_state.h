// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CertificateState: what the Secret of webhook certificates says. certificate_plan.h has what to do about it.
//
// Values and pure functions: no I/O, no clock.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_STATE_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_STATE_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/x509.h"

namespace kgen::controller {

// A certificate with its key. Usable if both can be read and belong together; then `facts` are the certificate's.
struct KeyPair {
  net::Identity identity{};
  net::CertificateFacts facts{};

  bool usable() const noexcept { return !facts.pem.empty(); }
  bool valid(std::chrono::sys_seconds now) const noexcept {
    return usable() && facts.validity.from <= now && now < facts.validity.until;
  }
};
KeyPair ReadKeyPair(net::Identity identity);

// An authority that signs nothing any more, but is published until the last certificate that it signed has expired.
struct OldAuthority {
  std::string pem{};
  std::chrono::sys_seconds until{};
};

struct CertificateState {
  KeyPair serving{};    // signed by `authority`
  KeyPair authority{};  // signs
  KeyPair next{};       // while an authority is being replaced: published, and signs nothing yet
  std::vector<OldAuthority> old{};
  std::chrono::sys_seconds signed_until{};              // no certificate of `authority` is valid for longer
  std::optional<std::chrono::sys_seconds> published{};  // when every configuration was seen to publish `next`
  bool record_lost = false;                             // the last three could not be read

  // What configurations publish: each certificate once.
  std::vector<std::string> Published() const;
  std::string Bundle() const;  // the same in one text
};

// The data of the Secret, decoded from base64. Parts that cannot be read are left unusable.
using SecretData = std::map<std::string, std::string, std::less<>>;
CertificateState DecodeState(const SecretData& data);
SecretData EncodeState(const CertificateState& state);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_STATE_H_
