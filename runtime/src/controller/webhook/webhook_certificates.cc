// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/webhook_certificates.h"

#include <algorithm>

#include "controller/webhook/certificate_options.h"

namespace kgen {

std::vector<AccessRule> RulesOf(const ManagedCertificates& options) {
  const Result<controller::CertificateSetup> setup = controller::SetUpCertificates(options);
  if (!setup) return {};
  constexpr char kAdmission[] = "admissionregistration.k8s.io";
  constexpr char kMutating[] = "mutatingwebhookconfigurations";
  constexpr char kValidating[] = "validatingwebhookconfigurations";
  const std::string& in_namespace = setup->options.namespace_;
  std::vector<AccessRule> rules = {{in_namespace, "", "secrets", "", {"create"}},
                                   {in_namespace, "", "secrets", setup->options.secret, {"get", "update"}}};
  const auto add = [&](AccessRule rule) {
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(std::move(rule));
  };
  for (const std::string& name : setup->options.configurations) {
    for (const char* resource : {kMutating, kValidating}) add({"", kAdmission, resource, name, {"get", "patch"}});
  }
  for (const controller::WebhookManifest& manifest : setup->install) {
    const char* resource = manifest.mutating ? kMutating : kValidating;
    add({"", kAdmission, resource, "", {"create"}});
    add({"", kAdmission, resource, manifest.name, {"get", "patch"}});
  }
  for (const std::string& name : setup->options.crds) {
    add({"", "apiextensions.k8s.io", "customresourcedefinitions", name, {"get", "patch"}});
  }
  return rules;
}

}  // namespace kgen
