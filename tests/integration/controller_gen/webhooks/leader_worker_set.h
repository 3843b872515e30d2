// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The markers of the webhooks of LeaderWorkerSet (kubernetes-sigs/lws), as the project writes them: an argument stands
// twice in one of them.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_LEADER_WORKER_SET_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_LEADER_WORKER_SET_H_

namespace lws {

// +kubebuilder:webhook:path=/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset,mutating=true,failurePolicy=fail,sideEffects=None,groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=create;update,versions=v1,name=mleaderworkerset.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset,mutating=false,failurePolicy=fail,sideEffects=None,groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=create;update,versions=v1,name=vleaderworkerset.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=fail,groups="",resources=pods,verbs=create,versions=v1,name=mpod.kb.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate--v1-pod,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create;update,versions=v1,name=vpod.kb.io,sideEffects=None,admissionReviewVersions=v1
void RunWebhooks();

}  // namespace lws

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_LEADER_WORKER_SET_H_
