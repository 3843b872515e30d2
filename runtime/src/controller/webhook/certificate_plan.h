// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// NextStep(): what a replica does next about the certificates of webhooks. A pure function, but for the keys that it
// makes.
//
//   Secret --DecodeState()--> CertificateState --NextStep()--> CertificateState --EncodeState()--> Secret
//
// Three rules make that every certificate that a replica serves is trusted by every configuration at that moment:
//   * What is served comes from the Secret, and its authority was read back from every configuration before.
//   * A configuration is written only with what a Secret says that was read after the configuration, and only if the
//     configuration has not changed since. So no late replica removes what somebody has read back.
//   * An authority leaves the Secret only after the last certificate that it signed has expired.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_PLAN_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_PLAN_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "controller/webhook/certificate_state.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::controller {

struct CertificatePlan {
  std::vector<std::string> names{};  // of the server, at least one
  Nanos validity{}, ca_validity{};
  std::optional<Nanos> renew_before{};
  Nanos settle{};
};

// The certificates that each configuration publishes, as net::CertificateFacts::pem.
using Publications = std::vector<std::vector<std::string>>;
// Whether every configuration publishes this certificate.
bool AllPublish(const Publications& published, const std::string& pem);

struct CertificateStep {
  CertificateState state{};
  std::string what{};  // for people: "renewed the certificate; it is valid until 2026-04-01T00:00:00Z"
};

// Returns the next step, or nothing if none is due. `published` must have been read before `state`.
// Errors: kInternal (OpenSSL failed), kCancelled
Result<std::optional<CertificateStep>> NextStep(const CertificateState& state, const Publications& published,
                                                std::chrono::sys_seconds now, const CertificatePlan& plan);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_PLAN_H_
