// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Each argument of the markers of webhooks, with the markers of arguments/arguments.go.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_ARGUMENTS_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_ARGUMENTS_H_

namespace acme {

// +kubebuilder:webhookconfiguration:mutating=true,name=every-argument
// +kubebuilder:webhookconfiguration:mutating=false,name=every.argument.example.com

// Markers are not in the order of the names of their webhooks.
// +kubebuilder:webhook:path=/z,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=z.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/a,mutating=true,failurePolicy=Ignore,sideEffects=NoneOnDryRun,groups=apps;batch,resources=deployments;jobs,verbs=create;update;delete,versions=v1;v1beta1,name=a.every.example.com,admissionReviewVersions=v1;v1beta1

// A webhook may be about what has no group, named in three ways.
// +kubebuilder:webhook:path=/core,mutating=false,failurePolicy=ignore,sideEffects=None,groups=core,resources=pods,verbs=create,versions=v1,name=core.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/empty,mutating=false,failurePolicy=ignore,sideEffects=None,groups="",resources=pods/status;configmaps,verbs=UPDATE,versions=v1,name=empty.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mixed,mutating=false,failurePolicy=ignore,sideEffects=None,groups="";apps,resources={pods,"deployments"},verbs=Create,versions=v1,name=mixed.every.example.com,admissionReviewVersions={v1,v1beta1}

// Wildcards.
// +kubebuilder:webhook:path=/all,mutating=false,failurePolicy=ignore,sideEffects=None,groups=*,resources=*,verbs=*,versions=*,name=all.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/subresources,mutating=false,failurePolicy=ignore,sideEffects=None,groups=apps,resources=*/scale;deployments/status,verbs=update;connect,versions=v1,name=subresources.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/everything,mutating=false,failurePolicy=ignore,sideEffects=None,groups=apps,resources=*/*,verbs=delete,versions=v1,name=everything.every.example.com,admissionReviewVersions=v1

// What is optional.
// +kubebuilder:webhook:path=/exact,mutating=false,failurePolicy=fail,matchPolicy=exact,sideEffects=none,timeoutSeconds=1,groups=apps,resources=deployments,verbs=create,versions=v1,name=exact.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/equivalent,mutating=false,failurePolicy=FAIL,matchPolicy=Equivalent,sideEffects=noneOnDryRun,timeoutSeconds=30,groups=apps,resources=deployments,verbs=create,versions=v1,name=equivalent.every.example.com,admissionReviewVersions=v1,webhookVersions=v1
// +kubebuilder:webhook:path=/again,mutating=true,failurePolicy=fail,sideEffects=None,reinvocationPolicy=IfNeeded,groups=apps,resources=deployments,verbs=create,versions=v1,name=again.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/never,mutating=true,failurePolicy=fail,sideEffects=None,reinvocationPolicy=never,groups=apps,resources=deployments,verbs=create,versions=v1,name=never.every.example.com,admissionReviewVersions=v1

// Where a server calls.
// +kubebuilder:webhook:path=/other,serviceName=other,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=other.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/elsewhere,serviceName=other,serviceNamespace=elsewhere,servicePort=9443,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=elsewhere.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/near/by,serviceNamespace=nearby,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=nearby.every.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:url="https://hooks.example.com:9443/check",mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=url.every.example.com,admissionReviewVersions=v1
void RunWebhooks();

}  // namespace acme

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_ARGUMENTS_H_
