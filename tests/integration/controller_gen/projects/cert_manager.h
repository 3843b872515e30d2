// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of cert-manager/cert-manager, for the comparison with their published CRDs: group cert-manager.io.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_CERT_MANAGER_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_CERT_MANAGER_H_

#include <cstdint>

#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/time.h"
#include "tests/integration/controller_gen/projects/cert_manager_acme.h"

// +groupName=cert-manager.io
// +versionName=v1
namespace certs::certmanager::v1 {

struct X509Subject {
  // +listType=atomic
  kgen::List<kgen::String> organizations{};
  // +listType=atomic
  kgen::List<kgen::String> countries{};
  // +listType=atomic
  kgen::List<kgen::String> organizationalUnits{};
  // +listType=atomic
  kgen::List<kgen::String> localities{};
  // +listType=atomic
  kgen::List<kgen::String> provinces{};
  // +listType=atomic
  kgen::List<kgen::String> streetAddresses{};
  // +listType=atomic
  kgen::List<kgen::String> postalCodes{};
  kgen::String serialNumber{};
  KGEN_OBJECT(X509Subject)
};

using CertificateRenewalPolicy = kgen::String;

struct CertificateRenewalWindows {
  // +kubebuilder:validation:MinLength=1
  kgen::String timezone{};
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(s|m|h))+$"
  // +required
  kgen::Duration windowDuration{};
  // +kubebuilder:validation:MinLength=1
  // +required
  kgen::String cron{};
  KGEN_OBJECT(CertificateRenewalWindows)
};

struct CertificateRenewal {
  // +kubebuilder:validation:Enum=RenewBefore;Disabled
  CertificateRenewalPolicy policy{};
  // +listType=atomic
  kgen::List<CertificateRenewalWindows> windows{};
  KGEN_OBJECT(CertificateRenewal)
};

struct OtherName {
  kgen::String oid{};
  kgen::String utf8Value{};
  KGEN_OBJECT(OtherName)
};

struct CertificateSecretTemplate {
  kgen::Map<kgen::String> annotations{};
  kgen::Map<kgen::String> labels{};
  KGEN_OBJECT(CertificateSecretTemplate)
};

struct JKSKeystore {
  // +required
  kgen::Optional<bool> create{};
  kgen::String alias{};
  kgen::Optional<meta::v1::SecretKeySelector> passwordSecretRef = kgen::kAbsent;
  kgen::String password{};
  KGEN_OBJECT(JKSKeystore)
};

// +kubebuilder:validation:Enum=LegacyRC2;LegacyDES;Modern2023;Modern2026
using PKCS12Profile = kgen::String;

struct PKCS12Keystore {
  // +required
  kgen::Optional<bool> create{};
  PKCS12Profile profile{};
  kgen::Optional<meta::v1::SecretKeySelector> passwordSecretRef = kgen::kAbsent;
  kgen::String password{};
  KGEN_OBJECT(PKCS12Keystore)
};

struct CertificateKeystores {
  kgen::Optional<JKSKeystore> jks = kgen::kAbsent;
  kgen::Optional<PKCS12Keystore> pkcs12 = kgen::kAbsent;
  KGEN_OBJECT(CertificateKeystores)
};

// +kubebuilder:validation:Enum="signing";"digital signature";"content commitment";"key encipherment";"key agreement";"data encipherment";"cert sign";"crl sign";"encipher only";"decipher only";"any";"server auth";"client auth";"code signing";"email protection";"s/mime";"ipsec end system";"ipsec tunnel";"ipsec user";"timestamping";"ocsp signing";"microsoft sgc";"netscape sgc"
using KeyUsage = kgen::String;

// +kubebuilder:validation:Enum=Never;Always
using PrivateKeyRotationPolicy = kgen::String;

// +kubebuilder:validation:Enum=PKCS1;PKCS8
using PrivateKeyEncoding = kgen::String;

// +kubebuilder:validation:Enum=RSA;ECDSA;Ed25519
using PrivateKeyAlgorithm = kgen::String;

struct CertificatePrivateKey {
  PrivateKeyRotationPolicy rotationPolicy{};
  PrivateKeyEncoding encoding{};
  PrivateKeyAlgorithm algorithm{};
  kgen::Optional<Int> size{};
  KGEN_OBJECT(CertificatePrivateKey)
};

// +kubebuilder:validation:Enum=SHA256WithRSA;SHA384WithRSA;SHA512WithRSA;ECDSAWithSHA256;ECDSAWithSHA384;ECDSAWithSHA512;PureEd25519
using SignatureAlgorithm = kgen::String;

// +kubebuilder:validation:Enum=DER;CombinedPEM
using CertificateOutputFormatType = kgen::String;

struct CertificateAdditionalOutputFormat {
  // +required
  CertificateOutputFormatType type{};
  KGEN_OBJECT(CertificateAdditionalOutputFormat)
};

struct NameConstraintItem {
  // +listType=atomic
  kgen::List<kgen::String> dnsDomains{};
  // +listType=atomic
  kgen::List<kgen::String> ipRanges{};
  // +listType=atomic
  kgen::List<kgen::String> emailAddresses{};
  // +listType=atomic
  kgen::List<kgen::String> uriDomains{};
  KGEN_OBJECT(NameConstraintItem)
};

struct NameConstraints {
  kgen::Optional<bool> critical{};
  kgen::Optional<NameConstraintItem> permitted = kgen::kAbsent;
  kgen::Optional<NameConstraintItem> excluded = kgen::kAbsent;
  KGEN_OBJECT(NameConstraints)
};

struct CertificateSpec {
  kgen::Optional<X509Subject> subject = kgen::kAbsent;
  kgen::String literalSubject{};
  kgen::String commonName{};
  kgen::Duration duration{};
  kgen::Duration renewBefore{};
  kgen::Optional<std::int32_t> renewBeforePercentage{};
  kgen::Optional<CertificateRenewal> renewal = kgen::kAbsent;
  // +listType=atomic
  kgen::List<kgen::String> dnsNames{};
  // +listType=atomic
  kgen::List<kgen::String> ipAddresses{};
  // +listType=atomic
  kgen::List<kgen::String> uris{};
  // +listType=atomic
  kgen::List<OtherName> otherNames{};
  // +listType=atomic
  kgen::List<kgen::String> emailAddresses{};
  // +required
  kgen::String secretName{};
  kgen::Optional<CertificateSecretTemplate> secretTemplate = kgen::kAbsent;
  kgen::Optional<CertificateKeystores> keystores = kgen::kAbsent;
  // +required
  kgen::Optional<meta::v1::IssuerReference> issuerRef = kgen::kAbsent;
  kgen::Optional<bool> isCA{};
  // +listType=atomic
  kgen::List<KeyUsage> usages{};
  kgen::Optional<CertificatePrivateKey> privateKey = kgen::kAbsent;
  SignatureAlgorithm signatureAlgorithm{};
  kgen::Optional<bool> encodeUsagesInRequest{};
  kgen::Optional<std::int32_t> revisionHistoryLimit{};
  // +listType=atomic
  kgen::List<CertificateAdditionalOutputFormat> additionalOutputFormats{};
  kgen::Optional<NameConstraints> nameConstraints = kgen::kAbsent;
  KGEN_OBJECT(CertificateSpec)
};

using CertificateConditionType = kgen::String;

struct CertificateCondition {
  // +required
  CertificateConditionType type{};
  // +required
  meta::v1::ConditionStatus status{};
  kgen::Time lastTransitionTime{};
  kgen::String reason{};
  kgen::String message{};
  kgen::Optional<std::int64_t> observedGeneration{};
  KGEN_OBJECT(CertificateCondition)
};

struct ACMERenewalWindow {
  // +required
  kgen::Time start{};
  // +required
  kgen::Time end{};
  KGEN_OBJECT(ACMERenewalWindow)
};

struct CertificateACMEARIStatus {
  kgen::Optional<ACMERenewalWindow> suggestedWindow = kgen::kAbsent;
  kgen::String explanationURL{};
  kgen::Time lastChecked{};
  kgen::Time nextCheck{};
  kgen::String lastError{};
  KGEN_OBJECT(CertificateACMEARIStatus)
};

struct CertificateACMEStatus {
  kgen::Optional<CertificateACMEARIStatus> ari = kgen::kAbsent;
  KGEN_OBJECT(CertificateACMEStatus)
};

struct CertificateStatus {
  // +listType=map
  // +listMapKey=type
  kgen::List<CertificateCondition> conditions{};
  kgen::Time lastFailureTime{};
  kgen::Time notBefore{};
  kgen::Time notAfter{};
  kgen::Time renewalTime{};
  kgen::Optional<Int> revision{};
  kgen::String nextPrivateKeySecretName{};
  kgen::Optional<Int> failedIssuanceAttempts{};
  kgen::Optional<CertificateACMEStatus> acme = kgen::kAbsent;
  KGEN_OBJECT(CertificateStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].status`
// +kubebuilder:printcolumn:name="Secret",type="string",JSONPath=`.spec.secretName`
// +kubebuilder:printcolumn:name="Issuer",type="string",JSONPath=`.spec.issuerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Expiration",type="string",JSONPath=`.status.notAfter`,priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:resource:scope=Namespaced,shortName={cert,certs},categories=cert-manager
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.group
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.kind
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.name
// +kubebuilder:subresource:status
struct Certificate {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<CertificateSpec> spec = kgen::kAbsent;
  kgen::Optional<CertificateStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Certificate)
};

struct CertificateRequestSpec {
  kgen::Duration duration{};
  // +required
  kgen::Optional<meta::v1::IssuerReference> issuerRef = kgen::kAbsent;
  // +required
  kgen::Bytes request{};
  kgen::Optional<bool> isCA{};
  // +listType=atomic
  kgen::List<KeyUsage> usages{};
  kgen::String username{};
  kgen::String uid{};
  // +listType=atomic
  kgen::List<kgen::String> groups{};
  kgen::Map<kgen::List<kgen::String>> extra{};
  KGEN_OBJECT(CertificateRequestSpec)
};

using CertificateRequestConditionType = kgen::String;

struct CertificateRequestCondition {
  // +required
  CertificateRequestConditionType type{};
  // +required
  meta::v1::ConditionStatus status{};
  kgen::Time lastTransitionTime{};
  kgen::String reason{};
  kgen::String message{};
  KGEN_OBJECT(CertificateRequestCondition)
};

struct CertificateRequestStatus {
  // +listType=map
  // +listMapKey=type
  kgen::List<CertificateRequestCondition> conditions{};
  kgen::Bytes certificate{};
  kgen::Bytes ca{};
  kgen::Time failureTime{};
  KGEN_OBJECT(CertificateRequestStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Approved",type="string",JSONPath=`.status.conditions[?(@.type == "Approved")].status`
// +kubebuilder:printcolumn:name="Denied",type="string",JSONPath=`.status.conditions[?(@.type == "Denied")].status`
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].status`
// +kubebuilder:printcolumn:name="Issuer",type="string",JSONPath=`.spec.issuerRef.name`
// +kubebuilder:printcolumn:name="Requester",type="string",JSONPath=`.spec.username`
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:resource:scope=Namespaced,shortName={cr,crs},categories=cert-manager
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.group
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.kind
// +kubebuilder:selectablefield:JSONPath=.spec.issuerRef.name
// +kubebuilder:subresource:status
struct CertificateRequest {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<CertificateRequestSpec> spec = kgen::kAbsent;
  kgen::Optional<CertificateRequestStatus> status = kgen::kAbsent;
  KGEN_OBJECT(CertificateRequest)
};

struct CAIssuer {
  // +required
  kgen::String secretName{};
  // +listType=atomic
  kgen::List<kgen::String> crlDistributionPoints{};
  // +listType=atomic
  kgen::List<kgen::String> ocspServers{};
  // +listType=atomic
  kgen::List<kgen::String> issuingCertificateURLs{};
  KGEN_OBJECT(CAIssuer)
};

struct VaultAppRole {
  // +required
  kgen::String path{};
  // +required
  kgen::String roleId{};
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> secretRef = kgen::kAbsent;
  KGEN_OBJECT(VaultAppRole)
};

struct VaultClientCertificateAuth {
  kgen::String mountPath{};
  kgen::String secretName{};
  kgen::String name{};
  KGEN_OBJECT(VaultClientCertificateAuth)
};

struct ServiceAccountRef {
  // +required
  kgen::String name{};
  // +listType=atomic
  kgen::List<kgen::String> audiences{};
  KGEN_OBJECT(ServiceAccountRef)
};

struct VaultKubernetesAuth {
  kgen::String mountPath{};
  kgen::Optional<meta::v1::SecretKeySelector> secretRef = kgen::kAbsent;
  kgen::Optional<ServiceAccountRef> serviceAccountRef = kgen::kAbsent;
  // +required
  kgen::String role{};
  KGEN_OBJECT(VaultKubernetesAuth)
};

struct VaultAWSAuth {
  kgen::String mountPath{};
  // +kubebuilder:validation:MinLength=1
  // +required
  kgen::String role{};
  kgen::String region{};
  kgen::Optional<ServiceAccountRef> serviceAccountRef = kgen::kAbsent;
  kgen::String iamRoleArn{};
  kgen::String vaultHeaderValue{};
  KGEN_OBJECT(VaultAWSAuth)
};

struct VaultAuth {
  kgen::Optional<meta::v1::SecretKeySelector> tokenSecretRef = kgen::kAbsent;
  kgen::Optional<VaultAppRole> appRole = kgen::kAbsent;
  kgen::Optional<VaultClientCertificateAuth> clientCertificate = kgen::kAbsent;
  kgen::Optional<VaultKubernetesAuth> kubernetes = kgen::kAbsent;
  kgen::Optional<VaultAWSAuth> aws = kgen::kAbsent;
  KGEN_OBJECT(VaultAuth)
};

struct VaultIssuer {
  // +required
  kgen::Optional<VaultAuth> auth = kgen::kAbsent;
  // +required
  kgen::String server{};
  kgen::String serverName{};
  // +required
  kgen::String path{};
  kgen::String namespace_{};
  kgen::Bytes caBundle{};
  kgen::Optional<meta::v1::SecretKeySelector> caBundleSecretRef = kgen::kAbsent;
  kgen::Optional<meta::v1::SecretKeySelector> clientCertSecretRef = kgen::kAbsent;
  kgen::Optional<meta::v1::SecretKeySelector> clientKeySecretRef = kgen::kAbsent;
  KGEN_OBJECT(VaultIssuer)
};

struct SelfSignedIssuer {
  // +listType=atomic
  kgen::List<kgen::String> crlDistributionPoints{};
  KGEN_OBJECT(SelfSignedIssuer)
};

struct VenafiTPP {
  // +required
  kgen::String url{};
  // +required
  kgen::Optional<meta::v1::LocalObjectReference> credentialsRef = kgen::kAbsent;
  kgen::Bytes caBundle{};
  kgen::Optional<meta::v1::SecretKeySelector> caBundleSecretRef = kgen::kAbsent;
  KGEN_OBJECT(VenafiTPP)
};

struct VenafiCloud {
  kgen::String url{};
  // +required
  kgen::Optional<meta::v1::SecretKeySelector> apiTokenSecretRef = kgen::kAbsent;
  KGEN_OBJECT(VenafiCloud)
};

struct VenafiNGTS {
  kgen::String url{};
  kgen::String tokenEndpoint{};
  // +required
  kgen::String tsgID{};
  // +required
  kgen::Optional<meta::v1::LocalObjectReference> credentialsRef = kgen::kAbsent;
  KGEN_OBJECT(VenafiNGTS)
};

// +kubebuilder:validation:XValidation:rule="(has(self.tpp) ? 1 : 0) + (has(self.cloud) ? 1 : 0) + (has(self.ngts) ? 1 : 0) == 1"
struct VenafiIssuer {
  // +required
  kgen::String zone{};
  kgen::Optional<VenafiTPP> tpp = kgen::kAbsent;
  kgen::Optional<VenafiCloud> cloud = kgen::kAbsent;
  kgen::Optional<VenafiNGTS> ngts = kgen::kAbsent;
  KGEN_OBJECT(VenafiIssuer)
};

struct IssuerConfig {
  kgen::Optional<acme::v1::ACMEIssuer> acme = kgen::kAbsent;
  kgen::Optional<CAIssuer> ca = kgen::kAbsent;
  kgen::Optional<VaultIssuer> vault = kgen::kAbsent;
  kgen::Optional<SelfSignedIssuer> selfSigned = kgen::kAbsent;
  kgen::Optional<VenafiIssuer> venafi = kgen::kAbsent;
  KGEN_OBJECT(IssuerConfig)
};

struct IssuerSpec {
  IssuerConfig issuerConfig{};  // +kgen:inline
  KGEN_OBJECT(IssuerSpec)
};

using IssuerConditionType = kgen::String;

struct IssuerCondition {
  // +required
  IssuerConditionType type{};
  // +required
  meta::v1::ConditionStatus status{};
  kgen::Time lastTransitionTime{};
  kgen::String reason{};
  kgen::String message{};
  kgen::Optional<std::int64_t> observedGeneration{};
  KGEN_OBJECT(IssuerCondition)
};

struct IssuerStatus {
  // +listType=map
  // +listMapKey=type
  kgen::List<IssuerCondition> conditions{};
  kgen::Optional<acme::v1::ACMEIssuerStatus> acme = kgen::kAbsent;
  KGEN_OBJECT(IssuerStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].status`
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:resource:scope=Cluster,shortName=ciss,categories=cert-manager
// +kubebuilder:subresource:status
struct ClusterIssuer {
  kgen::meta::v1::ObjectMeta metadata{};
  // +required
  kgen::Optional<IssuerSpec> spec = kgen::kAbsent;
  kgen::Optional<IssuerStatus> status = kgen::kAbsent;
  KGEN_OBJECT(ClusterIssuer)
};

// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].status`
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=`.status.conditions[?(@.type == "Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:resource:scope=Namespaced,shortName=iss,categories=cert-manager
// +kubebuilder:subresource:status
struct Issuer {
  kgen::meta::v1::ObjectMeta metadata{};
  // +required
  kgen::Optional<IssuerSpec> spec = kgen::kAbsent;
  kgen::Optional<IssuerStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Issuer)
};

}  // namespace certs::certmanager::v1

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_CERT_MANAGER_H_
