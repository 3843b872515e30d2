// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhooks of api/: defaults and validation of version v1, and the conversion between v1 and v2.
#ifndef KGEN_EXAMPLES_CRONJOB_WEBHOOKS_H_
#define KGEN_EXAMPLES_CRONJOB_WEBHOOKS_H_

#include <kgen/controller/manager.h>

// Declares the webhooks of a manager that does not run yet. `kgen-crd --webhooks cronjobs/cronjobs` makes what lets the
// API server call them:
//
// +kgen:webhookconfiguration:mutating=true,name=cronjobs
// +kgen:webhookconfiguration:mutating=false,name=cronjobs
// +kgen:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=default.cronjobs.kubebuilder.io,admissionReviewVersions=v1
// +kgen:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=validate.cronjobs.kubebuilder.io,admissionReviewVersions=v1
void AddCronJobWebhooks(const kgen::Manager& manager);

#endif  // KGEN_EXAMPLES_CRONJOB_WEBHOOKS_H_
