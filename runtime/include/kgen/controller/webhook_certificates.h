// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ManagedCertificates: certificates of webhooks that take care of themselves.
//
//   kgen::Manager manager = kgen::Must(kgen::Manager::New(config, {
//       .name = "shop",
//       .webhooks = {.enabled = true,
//                    .managed = kgen::ManagedCertificates{.service = "shop-webhooks", .namespace_ = "shop",
//                                                         .configurations = {"shop"},
//                                                         .crds = {"orders.shop.example.com"}}}}));
//
//   Secret <--make, renew, rotate-- every replica --caBundle--> webhook configurations, CRDs
//                                       |
//                                       +--certificate--> the server of webhooks
//
// A certificate authority (CA) and the certificate that it signed for the server are in one Secret. Each replica reads
// it, and does what is due: conflicts of updates decide which replica did it, and the others read the result. There is
// no leader, and nothing to install beside the program.
//
// A CA is replaced in three steps, each of which is in the Secret, so that any replica goes on with it:
//   1. The next CA is made, and every configuration and CRD publishes both.
//   2. Once that was read back from all of them, and `settle` has passed, a certificate of the next CA is served.
//   3. Once the last certificate of the old CA has expired, the old CA is removed.
// So at every moment, each replica serves a certificate that every configuration trusts. To get a new CA before its
// time, delete the Secret: the old CA stays trusted for `validity`.
//
// Times are the API server's, which checks the certificates: a replica whose clock is wrong does no harm.
#ifndef KGEN_CONTROLLER_WEBHOOK_CERTIFICATES_H_
#define KGEN_CONTROLLER_WEBHOOK_CERTIFICATES_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kgen/controller/access_rules.h"
#include "kgen/core/clock.h"

namespace kgen {

// A value. Thread safety: as a standard container.
struct ManagedCertificates {
  // The Service of the webhooks. The certificate is for `SERVICE.NAMESPACE.svc` and
  // `SERVICE.NAMESPACE.svc.cluster.local`. Required, unless there is a `url`.
  std::string service{};
  // The namespace of the Service, of the Secret and of the program. Default: the namespace of the pod's service
  // account.
  std::string namespace_{};
  // The Secret. Default: the Service and "-certificates"; without a Service, "webhook-certificates". It may exist
  // without data. One with data that kgen has not written is refused.
  std::string secret{};
  // More DNS names and IP addresses for the certificate. Default: none.
  std::vector<std::string> names{};
  // For a laptop: where the API server reaches the program, such as "https://192.168.1.7:9443". Default: none, the API
  // server uses the Service. The certificate is also for this host, localhost, 127.0.0.1 and ::1. In `install`, this
  // URL and the path take the place of the Service.
  std::string url{};

  // The names of MutatingWebhookConfigurations and ValidatingWebhookConfigurations, and of CRDs with a conversion
  // webhook, that get the caBundle; nothing else in them is changed. One that does not exist is reported, and gets it
  // once it exists. Default: the configurations in `install`.
  std::vector<std::string> configurations{};
  std::vector<std::string> crds{};
  // Manifests of webhook configurations, for instance from `kgen-crd --webhooks`, which this replica applies once it
  // serves, with the caBundle. Default: none, something else installs them. They are applied once in the life of a
  // process, so that a configuration that is deleted in an emergency stays deleted. A Service among them is left out,
  // because whatever deploys the program deploys it, too.
  //
  // A webhook with `failurePolicy: Fail` and without a `namespaceSelector` gets one that excludes `namespace_`, so that
  // it cannot keep the program from starting. It is then not called for any object in that namespace, your own kinds
  // included; `namespaceSelector: {}` in the manifest selects all namespaces.
  std::string install{};

  Nanos validity = std::chrono::hours(24 * 90);          // Default: 90 days. The life of a certificate.
  Nanos ca_validity = std::chrono::hours(24 * 365 * 2);  // Default: 2 years. At least twice `validity`.
  // Default: a third of `validity`. How long before its end a certificate is renewed; at most half of `validity`.
  std::optional<Nanos> renew_before{};
  // Default: 5 min. How long API servers have time to notice a CA before a certificate of it is served.
  Nanos settle = std::chrono::minutes(5);
  // Default: 1 min. How often each replica reads the Secret, the configurations and the CRDs.
  Nanos poll = std::chrono::minutes(1);
};

// Returns the permissions that a program with these options needs: the Secret in its namespace, and `get` and `patch`
// on what gets the caBundle. A rule with a name cannot allow to create an object, so the Secret and the configurations
// in `install` have a rule more. Needs a `namespace_`. Options that Manager::New() would refuse give no rules. Any
// thread; never blocks.
[[nodiscard]] std::vector<AccessRule> RulesOf(const ManagedCertificates& options);

}  // namespace kgen

#endif  // KGEN_CONTROLLER_WEBHOOK_CERTIFICATES_H_
