// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Configurations of webhooks from the markers +kgen:webhook.
#ifndef KGEN_GENERATOR_CRD_WEBHOOKS_H_
#define KGEN_GENERATOR_CRD_WEBHOOKS_H_

#include <string>

#include "generator/crd/description.h"
#include "generator/crd/webhook_markers.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

// YAML documents: a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration, if there are such webhooks, with
// the webhooks by name; and the Service. Webhooks without serviceName and serviceNamespace are called through
// `service`. Those without ownNamespace are not called for objects in its namespace, so that the program can start
// without itself.
//
// Reports two webhooks of one name, a second +kgen:webhookconfiguration, one without webhooks, and nothing to call;
// warns of rules with which the program can lock itself out. Complete only if there are no errors.
std::string MakeWebhooks(const Description& description, const WebhookService& service, Diagnostics& diagnostics);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_WEBHOOKS_H_
