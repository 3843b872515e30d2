// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks ManagedCertificates, and gives them their defaults.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_OPTIONS_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_OPTIONS_H_

#include <string>
#include <vector>

#include "controller/webhook/webhook_manifests.h"
#include "kgen/controller/webhook_certificates.h"
#include "kgen/core/result.h"

namespace kgen::controller {

// What follows from ManagedCertificates.
struct CertificateSetup {
  ManagedCertificates options{};     // with `namespace_` and `secret`
  std::vector<std::string> names{};  // of the certificate
  std::vector<WebhookManifest> install{};
  WebhookSurroundings around{};
};

// May read the namespace of the pod's service account from its file.
// Errors: kInvalidArgument  a name that is missing or malformed, a URL that is not https://HOST[:PORT], a time that is
//                           out of its range; the errors of ReadWebhookManifests(). The message says what to write.
Result<CertificateSetup> SetUpCertificates(ManagedCertificates options);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_OPTIONS_H_
