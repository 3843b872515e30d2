// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of cert-manager/cert-manager, for the comparison with their published CRDs: group acme.cert-manager.io.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_CERT_MANAGER_ACME_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_CERT_MANAGER_ACME_H_

#include <cstdint>

#include "k8s/core/v1/types.h"
#include "kgen/core/json.h"
#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/quantity.h"
#include "kgen/core/time.h"

namespace certs {

// Go's int.
// +kgen:format=""
using Int = std::int64_t;

}  // namespace certs

namespace certs::gateway::v1 {

// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
using Group = kgen::String;

// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
using Kind = kgen::String;

// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
using Namespace = kgen::String;

// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
using ObjectName = kgen::String;

// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
using SectionName = kgen::String;

using PortNumber = std::int32_t;

struct ParentReference {
  // +kubebuilder:default=gateway.networking.k8s.io
  Group group{};
  // +kubebuilder:default=Gateway
  Kind kind{};
  Namespace namespace_{};
  // +required
  ObjectName name{};
  SectionName sectionName{};
  // +kubebuilder:validation:Minimum=1
  // +kubebuilder:validation:Maximum=65535
  kgen::Optional<PortNumber> port{};
  KGEN_OBJECT(ParentReference)
};

}  // namespace certs::gateway::v1

namespace certs::meta::v1 {

struct LocalObjectReference {
  // +required
  kgen::String name{};
  KGEN_OBJECT(LocalObjectReference)
};

struct SecretKeySelector {
  LocalObjectReference localObjectReference{};  // +kgen:inline
  kgen::String key{};
  KGEN_OBJECT(SecretKeySelector)
};

struct IssuerReference {
  // +required
  kgen::String name{};
  kgen::String kind{};
  kgen::String group{};
  KGEN_OBJECT(IssuerReference)
};

// +kubebuilder:validation:Enum=True;False;Unknown
using ConditionStatus = kgen::String;

}  // namespace certs::meta::v1

// +groupName=acme.cert-manager.io
// +versionName=v1
namespace certs::acme::v1 {

// +kubebuilder:validation:Enum=HTTP-01;DNS-01
using ACMEChallengeType = kgen::String;

struct CertificateDNSNameSelector {
  kgen::Map<kgen::String> matchLabels{};
  // +listType=atomic
  kgen::List<kgen::String> dnsNames{};
  // +listType=atomic
  kgen::List<kgen::String> dnsZones{};
  KGEN_OBJECT(CertificateDNSNameSelector)
};

struct ACMEChallengeSolverHTTP01IngressPodObjectMeta {
  kgen::Map<kgen::String> annotations{};
  kgen::Map<kgen::String> labels{};
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressPodObjectMeta)
};

struct ACMEChallengeSolverHTTP01IngressPodSecurityContext {
  kgen::Optional<k8s::core::v1::SELinuxOptions> seLinuxOptions = kgen::kAbsent;
  kgen::Optional<std::int64_t> runAsUser{};
  kgen::Optional<std::int64_t> runAsGroup{};
  kgen::Optional<bool> runAsNonRoot{};
  // +listType=atomic
  kgen::List<std::int64_t> supplementalGroups{};
  kgen::Optional<std::int64_t> fsGroup{};
  // +listType=atomic
  kgen::List<k8s::core::v1::Sysctl> sysctls{};
  kgen::String fsGroupChangePolicy{};
  kgen::Optional<k8s::core::v1::SeccompProfile> seccompProfile = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressPodSecurityContext)
};

struct ACMEChallengeSolverHTTP01IngressPodResources {
  kgen::Map<kgen::Quantity> limits{};
  kgen::Map<kgen::Quantity> requests{};
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressPodResources)
};

struct ACMEChallengeSolverHTTP01IngressPodSpec {
  kgen::Map<kgen::String> nodeSelector{};
  kgen::Optional<k8s::core::v1::Affinity> affinity = kgen::kAbsent;
  // +listType=atomic
  kgen::List<k8s::core::v1::Toleration> tolerations{};
  kgen::String priorityClassName{};
  kgen::String serviceAccountName{};
  // +listType=map
  // +listMapKey=name
  kgen::List<k8s::core::v1::LocalObjectReference> imagePullSecrets{};
  kgen::Optional<ACMEChallengeSolverHTTP01IngressPodSecurityContext> securityContext = kgen::kAbsent;
  kgen::Optional<ACMEChallengeSolverHTTP01IngressPodResources> resources = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressPodSpec)
};

struct ACMEChallengeSolverHTTP01IngressPodTemplate {
  kgen::Optional<ACMEChallengeSolverHTTP01IngressPodObjectMeta> metadata = kgen::kAbsent;
  kgen::Optional<ACMEChallengeSolverHTTP01IngressPodSpec> spec = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressPodTemplate)
};

struct ACMEChallengeSolverHTTP01IngressObjectMeta {
  kgen::Map<kgen::String> annotations{};
  kgen::Map<kgen::String> labels{};
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressObjectMeta)
};

struct ACMEChallengeSolverHTTP01IngressTemplate {
  kgen::Optional<ACMEChallengeSolverHTTP01IngressObjectMeta> metadata = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01IngressTemplate)
};

struct ACMEChallengeSolverHTTP01Ingress {
  kgen::String serviceType{};
  kgen::String ingressClassName{};
  kgen::String class_{};
  kgen::String name{};
  kgen::Optional<ACMEChallengeSolverHTTP01IngressPodTemplate> podTemplate = kgen::kAbsent;
  kgen::Optional<ACMEChallengeSolverHTTP01IngressTemplate> ingressTemplate = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01Ingress)
};

struct ACMEChallengeSolverHTTP01GatewayHTTPRoute {
  kgen::String serviceType{};
  kgen::Map<kgen::String> labels{};
  // +listType=atomic
  kgen::List<gateway::v1::ParentReference> parentRefs{};
  kgen::Optional<ACMEChallengeSolverHTTP01IngressPodTemplate> podTemplate = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01GatewayHTTPRoute)
};

struct ACMEChallengeSolverHTTP01 {
  kgen::Optional<ACMEChallengeSolverHTTP01Ingress> ingress = kgen::kAbsent;
  kgen::Optional<ACMEChallengeSolverHTTP01GatewayHTTPRoute> gatewayHTTPRoute = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverHTTP01)
};

// +kubebuilder:validation:Enum=None;Follow
using CNAMEStrategy = kgen::String;

struct ACMEIssuerDNS01ProviderAkamai {
  // +required
  kgen::String serviceConsumerDomain{};
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> clientTokenSecretRef = kgen::kAbsent;
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> clientSecretSecretRef = kgen::kAbsent;
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> accessTokenSecretRef = kgen::kAbsent;
  KGEN_OBJECT(ACMEIssuerDNS01ProviderAkamai)
};

struct ACMEIssuerDNS01ProviderCloudDNS {
  kgen::Optional<meta::v1::SecretKeySelector> serviceAccountSecretRef = kgen::kAbsent;
  // +required
  kgen::String project{};
  kgen::String hostedZoneName{};
  KGEN_OBJECT(ACMEIssuerDNS01ProviderCloudDNS)
};

struct ACMEIssuerDNS01ProviderCloudflare {
  kgen::String email{};
  kgen::Optional<meta::v1::SecretKeySelector> apiKeySecretRef = kgen::kAbsent;
  kgen::Optional<meta::v1::SecretKeySelector> apiTokenSecretRef = kgen::kAbsent;
  KGEN_OBJECT(ACMEIssuerDNS01ProviderCloudflare)
};

struct ServiceAccountRef {
  // +required
  kgen::String name{};
  // +listType=atomic
  kgen::List<kgen::String> audiences{};
  KGEN_OBJECT(ServiceAccountRef)
};

struct Route53KubernetesAuth {
  // +required
  kgen::Optional<ServiceAccountRef> serviceAccountRef = kgen::kAbsent;
  KGEN_OBJECT(Route53KubernetesAuth)
};

struct Route53Auth {
  // +required
  kgen::Optional<Route53KubernetesAuth> kubernetes = kgen::kAbsent;
  KGEN_OBJECT(Route53Auth)
};

struct ACMEIssuerDNS01ProviderRoute53 {
  kgen::Optional<Route53Auth> auth = kgen::kAbsent;
  kgen::String accessKeyID{};
  kgen::Optional<meta::v1::SecretKeySelector> accessKeyIDSecretRef = kgen::kAbsent;
  kgen::Optional<meta::v1::SecretKeySelector> secretAccessKeySecretRef = kgen::kAbsent;
  kgen::String role{};
  kgen::String hostedZoneID{};
  kgen::String region{};
  KGEN_OBJECT(ACMEIssuerDNS01ProviderRoute53)
};

// +kubebuilder:validation:Enum=AzurePublicCloud;AzureChinaCloud;AzureGermanCloud;AzureUSGovernmentCloud
using AzureDNSEnvironment = kgen::String;

struct AzureManagedIdentity {
  kgen::String clientID{};
  kgen::String resourceID{};
  kgen::String tenantID{};
  KGEN_OBJECT(AzureManagedIdentity)
};

// +kubebuilder:validation:Enum=AzurePublicZone;AzurePrivateZone
using AzureZoneType = kgen::String;

struct ACMEIssuerDNS01ProviderAzureDNS {
  kgen::String clientID{};
  kgen::Optional<meta::v1::SecretKeySelector> clientSecretSecretRef = kgen::kAbsent;
  // +required
  kgen::String subscriptionID{};
  kgen::String tenantID{};
  // +required
  kgen::String resourceGroupName{};
  kgen::String hostedZoneName{};
  AzureDNSEnvironment environment{};
  kgen::Optional<AzureManagedIdentity> managedIdentity = kgen::kAbsent;
  AzureZoneType zoneType{};
  KGEN_OBJECT(ACMEIssuerDNS01ProviderAzureDNS)
};

struct ACMEIssuerDNS01ProviderDigitalOcean {
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> tokenSecretRef = kgen::kAbsent;
  KGEN_OBJECT(ACMEIssuerDNS01ProviderDigitalOcean)
};

struct ACMEIssuerDNS01ProviderAcmeDNS {
  // +required
  kgen::String host{};
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> accountSecretRef = kgen::kAbsent;
  KGEN_OBJECT(ACMEIssuerDNS01ProviderAcmeDNS)
};

// +kubebuilder:validation:Enum=TCP;UDP
using RFC2136UpdateProtocol = kgen::String;

struct ACMEIssuerDNS01ProviderRFC2136 {
  // +required
  kgen::String nameserver{};
  kgen::Optional<meta::v1::SecretKeySelector> tsigSecretSecretRef = kgen::kAbsent;
  kgen::String tsigKeyName{};
  kgen::String tsigAlgorithm{};
  RFC2136UpdateProtocol protocol{};
  KGEN_OBJECT(ACMEIssuerDNS01ProviderRFC2136)
};

struct ACMEIssuerDNS01ProviderWebhook {
  // +required
  kgen::String groupName{};
  // +required
  kgen::String solverName{};
  kgen::Json config{};
  KGEN_OBJECT(ACMEIssuerDNS01ProviderWebhook)
};

struct ACMEChallengeSolverDNS01 {
  CNAMEStrategy cnameStrategy{};
  // +listType=atomic
  kgen::List<kgen::String> nameservers{};
  kgen::Optional<ACMEIssuerDNS01ProviderAkamai> akamai = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderCloudDNS> cloudDNS = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderCloudflare> cloudflare = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderRoute53> route53 = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderAzureDNS> azureDNS = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderDigitalOcean> digitalocean = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderAcmeDNS> acmeDNS = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderRFC2136> rfc2136 = kgen::kAbsent;
  kgen::Optional<ACMEIssuerDNS01ProviderWebhook> webhook = kgen::kAbsent;
  KGEN_OBJECT(ACMEChallengeSolverDNS01)
};

struct ACMEChallengeSolver {
  kgen::Optional<CertificateDNSNameSelector> selector = kgen::kAbsent;
  kgen::Optional<ACMEChallengeSolverHTTP01> http01 = kgen::kAbsent;
  kgen::Optional<ACMEChallengeSolverDNS01> dns01 = kgen::kAbsent;
  kgen::Duration waitInsteadOfSelfCheck{};
  KGEN_OBJECT(ACMEChallengeSolver)
};

struct ChallengeSpec {
  // +required
  kgen::String url{};
  // +required
  kgen::String authorizationURL{};
  // +required
  kgen::String dnsName{};
  kgen::Optional<bool> wildcard{};
  // +required
  ACMEChallengeType type{};
  // +required
  kgen::String token{};
  // +required
  kgen::String key{};
  // +required
  kgen::Optional<ACMEChallengeSolver> solver = kgen::kAbsent;
  // +required
  kgen::Optional<meta::v1::IssuerReference> issuerRef = kgen::kAbsent;
  KGEN_OBJECT(ChallengeSpec)
};

// +kubebuilder:validation:Enum=valid;ready;pending;processing;invalid;expired;errored
using State = kgen::String;

struct ChallengeStatus {
  kgen::Optional<bool> processing{};
  kgen::Optional<bool> presented{};
  kgen::Time presentedAt{};
  kgen::String reason{};
  State state{};
  KGEN_OBJECT(ChallengeStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Domain",type="string",JSONPath=".spec.dnsName"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.reason",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={cert-manager,cert-manager-acme}
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.group
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.kind
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.name
// +kubebuilder:subresource:status
struct Challenge {
  // +required
  kgen::meta::v1::ObjectMeta metadata{};
  // +required
  kgen::Optional<ChallengeSpec> spec = kgen::kAbsent;
  kgen::Optional<ChallengeStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Challenge)
};

struct OrderSpec {
  // +required
  kgen::Bytes request{};
  // +required
  kgen::Optional<meta::v1::IssuerReference> issuerRef = kgen::kAbsent;
  kgen::String commonName{};
  // +listType=atomic
  kgen::List<kgen::String> dnsNames{};
  // +listType=atomic
  kgen::List<kgen::String> ipAddresses{};
  kgen::Duration duration{};
  kgen::String profile{};
  kgen::String replaces{};
  KGEN_OBJECT(OrderSpec)
};

struct ACMEChallenge {
  // +required
  kgen::String url{};
  // +required
  kgen::String token{};
  // +required
  kgen::String type{};
  KGEN_OBJECT(ACMEChallenge)
};

struct ACMEAuthorization {
  // +required
  kgen::String url{};
  kgen::String identifier{};
  kgen::Optional<bool> wildcard{};
  State initialState{};
  // +listType=atomic
  kgen::List<ACMEChallenge> challenges{};
  KGEN_OBJECT(ACMEAuthorization)
};

struct OrderStatus {
  kgen::String url{};
  kgen::String finalizeURL{};
  // +listType=atomic
  kgen::List<ACMEAuthorization> authorizations{};
  kgen::Bytes certificate{};
  State state{};
  kgen::String reason{};
  kgen::Time failureTime{};
  KGEN_OBJECT(OrderStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Issuer",type="string",JSONPath=".spec.issuerRef.name",priority=1
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.reason",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={cert-manager,cert-manager-acme}
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.group
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.kind
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.name
// +kubebuilder:subresource:status
struct Order {
  // +required
  kgen::meta::v1::ObjectMeta metadata{};
  // +required
  kgen::Optional<OrderSpec> spec = kgen::kAbsent;
  kgen::Optional<OrderStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Order)
};

// +kubebuilder:validation:Enum=HS256;HS384;HS512
using HMACKeyAlgorithm = kgen::String;

struct ACMEExternalAccountBinding {
  // +required
  kgen::String keyID{};
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> keySecretRef = kgen::kAbsent;
  HMACKeyAlgorithm keyAlgorithm{};
  KGEN_OBJECT(ACMEExternalAccountBinding)
};

// +kubebuilder:validation:Enum=ARI;None
using ACMERenewalInformationSource = kgen::String;

struct ACMEIssuer {
  kgen::String email{};
  // +required
  kgen::String server{};
  // +kubebuilder:validation:MaxLength=64
  kgen::String preferredChain{};
  kgen::Bytes caBundle{};
  kgen::Optional<bool> skipTLSVerify{};
  kgen::Optional<ACMEExternalAccountBinding> externalAccountBinding = kgen::kAbsent;
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> privateKeySecretRef = kgen::kAbsent;
  // +listType=atomic
  kgen::List<ACMEChallengeSolver> solvers{};
  kgen::Optional<bool> disableAccountKeyGeneration{};
  kgen::Optional<bool> enableDurationFeature{};
  kgen::String profile{};
  // +kubebuilder:default=ARI
  ACMERenewalInformationSource renewalInformationSource{};
  KGEN_OBJECT(ACMEIssuer)
};

struct ACMEIssuerStatus {
  kgen::String uri{};
  kgen::String lastRegisteredEmail{};
  kgen::String lastPrivateKeyHash{};
  KGEN_OBJECT(ACMEIssuerStatus)
};

}  // namespace certs::acme::v1

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_CERT_MANAGER_ACME_H_
