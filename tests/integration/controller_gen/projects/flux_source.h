// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of fluxcd/source-controller, for the comparison with their published CRDs.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_FLUX_SOURCE_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_FLUX_SOURCE_H_

#include <cstdint>

#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/time.h"

namespace flux::meta {

struct LocalObjectReference {
  // +required
  kgen::String name{};
  KGEN_OBJECT(LocalObjectReference)
};

}  // namespace flux::meta

// +groupName=source.toolkit.fluxcd.io
// +versionName=v1
namespace flux::source::v1 {

struct BucketSTSSpec {
  // +kubebuilder:validation:Enum=aws;ldap
  // +required
  kgen::String provider{};
  // +kubebuilder:validation:Pattern="^(http|https)://.*$"
  // +required
  kgen::String endpoint{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  kgen::Optional<meta::LocalObjectReference> certSecretRef = kgen::kAbsent;
  KGEN_OBJECT(BucketSTSSpec)
};

// +kubebuilder:validation:XValidation:rule="self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)"
// +kubebuilder:validation:XValidation:rule="self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'"
// +kubebuilder:validation:XValidation:rule="self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'"
// +kubebuilder:validation:XValidation:rule="!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)"
// +kubebuilder:validation:XValidation:rule="!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)"
// +kubebuilder:validation:XValidation:rule="self.provider != 'generic' || !has(self.serviceAccountName)"
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || !has(self.serviceAccountName)"
struct BucketSpec {
  // +kubebuilder:validation:Enum=generic;aws;gcp;azure
  // +kubebuilder:default:=generic
  kgen::String provider{};
  // +required
  kgen::String bucketName{};
  // +required
  kgen::String endpoint{};
  kgen::Optional<BucketSTSSpec> sts = kgen::kAbsent;
  kgen::Optional<bool> insecure{};
  kgen::String region{};
  kgen::String prefix{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  kgen::String serviceAccountName{};
  kgen::Optional<meta::LocalObjectReference> certSecretRef = kgen::kAbsent;
  kgen::Optional<meta::LocalObjectReference> proxySecretRef = kgen::kAbsent;
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
  // +required
  kgen::Duration interval{};
  // +kubebuilder:default="60s"
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m))+$"
  kgen::Duration timeout{};
  kgen::String ignore{};
  kgen::Optional<bool> suspend{};
  KGEN_OBJECT(BucketSpec)
};

}  // namespace flux::source::v1

namespace flux::meta {

struct Artifact {
  // +kubebuilder:validation:Pattern="^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$"
  // +required
  kgen::String digest{};
  // +required
  kgen::String path{};
  // +required
  kgen::String url{};
  // +required
  kgen::String revision{};
  // +required
  kgen::Time lastUpdateTime{};
  kgen::Optional<std::int64_t> size{};
  kgen::Map<kgen::String> metadata{};
  KGEN_OBJECT(Artifact)
};

struct ReconcileRequestStatus {
  kgen::String lastHandledReconcileAt{};
  KGEN_OBJECT(ReconcileRequestStatus)
};

}  // namespace flux::meta

namespace flux::source::v1 {

struct BucketStatus {
  kgen::Optional<std::int64_t> observedGeneration{};
  kgen::List<kgen::meta::v1::Condition> conditions{};
  kgen::String url{};
  kgen::Optional<meta::Artifact> artifact = kgen::kAbsent;
  kgen::String observedIgnore{};
  meta::ReconcileRequestStatus reconcileRequestStatus{};  // +kgen:inline
  KGEN_OBJECT(BucketStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:resource:categories=all;fluxcd;fluxcd-sources
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.endpoint`
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
struct Bucket {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<BucketSpec> spec = kgen::kAbsent;
  // +kubebuilder:default={"observedGeneration":-1}
  kgen::Optional<BucketStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Bucket)
};

}  // namespace flux::source::v1

namespace flux::meta {

struct NamespacedObjectKindReference {
  kgen::String apiVersion{};
  // +required
  kgen::String kind{};
  // +required
  kgen::String name{};
  kgen::String namespace_{};
  KGEN_OBJECT(NamespacedObjectKindReference)
};

}  // namespace flux::meta

namespace flux::source::v1 {

struct ExternalArtifactSpec {
  kgen::Optional<meta::NamespacedObjectKindReference> sourceRef = kgen::kAbsent;
  KGEN_OBJECT(ExternalArtifactSpec)
};

struct ExternalArtifactStatus {
  kgen::Optional<meta::Artifact> artifact = kgen::kAbsent;
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(ExternalArtifactStatus)
};

// +kubebuilder:resource:shortName=ea,categories=all;fluxcd;fluxcd-sources
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Source",type="string",JSONPath=".spec.sourceRef.name"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
struct ExternalArtifact {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<ExternalArtifactSpec> spec = kgen::kAbsent;
  kgen::Optional<ExternalArtifactStatus> status = kgen::kAbsent;
  KGEN_OBJECT(ExternalArtifact)
};

struct GitRepositoryRef {
  kgen::String branch{};
  kgen::String tag{};
  kgen::String semver{};
  kgen::String name{};
  kgen::String commit{};
  KGEN_OBJECT(GitRepositoryRef)
};

using GitVerificationMode = kgen::String;

struct GitRepositoryVerification {
  // +kubebuilder:validation:Enum=head;HEAD;Tag;TagAndHEAD
  // +kubebuilder:default:=HEAD
  GitVerificationMode mode{};
  // +required
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  KGEN_OBJECT(GitRepositoryVerification)
};

struct GitRepositoryInclude {
  // +required
  kgen::Optional<meta::LocalObjectReference> repository = kgen::kAbsent;
  kgen::String fromPath{};
  kgen::String toPath{};
  KGEN_OBJECT(GitRepositoryInclude)
};

// +kubebuilder:validation:XValidation:rule="!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))"
struct GitRepositorySpec {
  // +kubebuilder:validation:Pattern="^(http|https|ssh)://.*$"
  // +required
  kgen::String url{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  // +kubebuilder:validation:Enum=generic;aws;azure;github
  kgen::String provider{};
  kgen::String serviceAccountName{};
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
  // +required
  kgen::Duration interval{};
  // +kubebuilder:default="60s"
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m))+$"
  kgen::Duration timeout{};
  kgen::Optional<GitRepositoryRef> ref = kgen::kAbsent;
  kgen::Optional<GitRepositoryVerification> verify = kgen::kAbsent;
  kgen::Optional<meta::LocalObjectReference> proxySecretRef = kgen::kAbsent;
  kgen::String ignore{};
  kgen::Optional<bool> suspend{};
  kgen::Optional<bool> recurseSubmodules{};
  kgen::List<GitRepositoryInclude> include{};
  kgen::List<kgen::String> sparseCheckout{};
  KGEN_OBJECT(GitRepositorySpec)
};

struct GitRepositoryStatus {
  kgen::Optional<std::int64_t> observedGeneration{};
  kgen::List<kgen::meta::v1::Condition> conditions{};
  kgen::Optional<meta::Artifact> artifact = kgen::kAbsent;
  kgen::List<meta::Artifact> includedArtifacts{};
  kgen::String observedIgnore{};
  kgen::Optional<bool> observedRecurseSubmodules{};
  kgen::List<GitRepositoryInclude> observedInclude{};
  kgen::List<kgen::String> observedSparseCheckout{};
  GitVerificationMode sourceVerificationMode{};
  meta::ReconcileRequestStatus reconcileRequestStatus{};  // +kgen:inline
  KGEN_OBJECT(GitRepositoryStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=gitrepo,categories=all;fluxcd;fluxcd-sources
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
struct GitRepository {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<GitRepositorySpec> spec = kgen::kAbsent;
  // +kubebuilder:default={"observedGeneration":-1}
  kgen::Optional<GitRepositoryStatus> status = kgen::kAbsent;
  KGEN_OBJECT(GitRepository)
};

struct LocalHelmChartSourceReference {
  kgen::String apiVersion{};
  // +kubebuilder:validation:Enum=HelmRepository;GitRepository;Bucket
  // +required
  kgen::String kind{};
  // +required
  kgen::String name{};
  KGEN_OBJECT(LocalHelmChartSourceReference)
};

struct OIDCIdentityMatch {
  // +required
  kgen::String issuer{};
  // +required
  kgen::String subject{};
  KGEN_OBJECT(OIDCIdentityMatch)
};

struct HelmChartVerification {
  // +kubebuilder:validation:Enum=cosign;notation
  // +kubebuilder:default:=cosign
  // +required
  kgen::String provider{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  kgen::List<OIDCIdentityMatch> matchOIDCIdentity{};
  KGEN_OBJECT(HelmChartVerification)
};

// +kubebuilder:validation:XValidation:rule="!has(self.verify) || self.sourceRef.kind == 'HelmRepository'"
struct HelmChartSpec {
  // +required
  kgen::String chart{};
  // +kubebuilder:default:=*
  kgen::String version{};
  // +required
  kgen::Optional<LocalHelmChartSourceReference> sourceRef = kgen::kAbsent;
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
  // +required
  kgen::Duration interval{};
  // +kubebuilder:validation:Enum=ChartVersion;Revision
  // +kubebuilder:default:=ChartVersion
  kgen::String reconcileStrategy{};
  kgen::List<kgen::String> valuesFiles{};
  kgen::Optional<bool> ignoreMissingValuesFiles{};
  kgen::Optional<bool> suspend{};
  kgen::Optional<HelmChartVerification> verify = kgen::kAbsent;
  KGEN_OBJECT(HelmChartSpec)
};

struct HelmChartStatus {
  kgen::Optional<std::int64_t> observedGeneration{};
  kgen::String observedSourceArtifactRevision{};
  kgen::String observedChartName{};
  kgen::List<kgen::String> observedValuesFiles{};
  kgen::List<kgen::meta::v1::Condition> conditions{};
  kgen::String url{};
  kgen::Optional<meta::Artifact> artifact = kgen::kAbsent;
  meta::ReconcileRequestStatus reconcileRequestStatus{};  // +kgen:inline
  KGEN_OBJECT(HelmChartStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=hc,categories=all;fluxcd;fluxcd-sources
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Chart",type=string,JSONPath=`.spec.chart`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Source Kind",type=string,JSONPath=`.spec.sourceRef.kind`
// +kubebuilder:printcolumn:name="Source Name",type=string,JSONPath=`.spec.sourceRef.name`
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
struct HelmChart {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<HelmChartSpec> spec = kgen::kAbsent;
  // +kubebuilder:default={"observedGeneration":-1}
  kgen::Optional<HelmChartStatus> status = kgen::kAbsent;
  KGEN_OBJECT(HelmChart)
};

}  // namespace flux::source::v1

namespace flux::acl {

struct NamespaceSelector {
  kgen::Map<kgen::String> matchLabels{};
  KGEN_OBJECT(NamespaceSelector)
};

struct AccessFrom {
  // +required
  kgen::List<NamespaceSelector> namespaceSelectors{};
  KGEN_OBJECT(AccessFrom)
};

}  // namespace flux::acl

namespace flux::source::v1 {

struct HelmRepositorySpec {
  // +kubebuilder:validation:Pattern="^(http|https|oci)://.*$"
  // +required
  kgen::String url{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  kgen::Optional<meta::LocalObjectReference> certSecretRef = kgen::kAbsent;
  kgen::Optional<bool> passCredentials{};
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
  kgen::Duration interval{};
  kgen::Optional<bool> insecure{};
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m))+$"
  kgen::Duration timeout{};
  kgen::Optional<bool> suspend{};
  kgen::Optional<acl::AccessFrom> accessFrom = kgen::kAbsent;
  // +kubebuilder:validation:Enum=default;oci
  kgen::String type{};
  // +kubebuilder:validation:Enum=generic;aws;azure;gcp
  // +kubebuilder:default:=generic
  kgen::String provider{};
  KGEN_OBJECT(HelmRepositorySpec)
};

struct HelmRepositoryStatus {
  kgen::Optional<std::int64_t> observedGeneration{};
  kgen::List<kgen::meta::v1::Condition> conditions{};
  kgen::String url{};
  kgen::Optional<meta::Artifact> artifact = kgen::kAbsent;
  meta::ReconcileRequestStatus reconcileRequestStatus{};  // +kgen:inline
  KGEN_OBJECT(HelmRepositoryStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=helmrepo,categories=all;fluxcd;fluxcd-sources
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
struct HelmRepository {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<HelmRepositorySpec> spec = kgen::kAbsent;
  // +kubebuilder:default={"observedGeneration":-1}
  kgen::Optional<HelmRepositoryStatus> status = kgen::kAbsent;
  KGEN_OBJECT(HelmRepository)
};

struct OCIRepositoryRef {
  kgen::String digest{};
  kgen::String semver{};
  kgen::String semverFilter{};
  kgen::String tag{};
  KGEN_OBJECT(OCIRepositoryRef)
};

struct OCILayerSelector {
  kgen::String mediaType{};
  // +kubebuilder:validation:Enum=extract;copy
  kgen::String operation{};
  KGEN_OBJECT(OCILayerSelector)
};

struct OCIRepositoryVerification {
  // +kubebuilder:validation:Enum=cosign;notation
  // +kubebuilder:default:=cosign
  // +required
  kgen::String provider{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  kgen::List<OIDCIdentityMatch> matchOIDCIdentity{};
  kgen::Optional<meta::LocalObjectReference> trustedRootSecretRef = kgen::kAbsent;
  KGEN_OBJECT(OCIRepositoryVerification)
};

struct OCIRepositorySpec {
  // +kubebuilder:validation:Pattern="^oci://.*$"
  // +required
  kgen::String url{};
  kgen::Optional<OCIRepositoryRef> ref = kgen::kAbsent;
  kgen::Optional<OCILayerSelector> layerSelector = kgen::kAbsent;
  // +kubebuilder:validation:Enum=generic;aws;azure;gcp
  // +kubebuilder:default:=generic
  kgen::String provider{};
  kgen::Optional<meta::LocalObjectReference> secretRef = kgen::kAbsent;
  kgen::Optional<OCIRepositoryVerification> verify = kgen::kAbsent;
  kgen::String serviceAccountName{};
  kgen::Optional<meta::LocalObjectReference> certSecretRef = kgen::kAbsent;
  kgen::Optional<meta::LocalObjectReference> proxySecretRef = kgen::kAbsent;
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
  // +required
  kgen::Duration interval{};
  // +kubebuilder:default="60s"
  // +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m))+$"
  kgen::Duration timeout{};
  kgen::String ignore{};
  kgen::Optional<bool> insecure{};
  kgen::Optional<bool> suspend{};
  KGEN_OBJECT(OCIRepositorySpec)
};

struct OCIRepositoryStatus {
  kgen::Optional<std::int64_t> observedGeneration{};
  kgen::List<kgen::meta::v1::Condition> conditions{};
  kgen::String url{};
  kgen::Optional<meta::Artifact> artifact = kgen::kAbsent;
  kgen::String observedIgnore{};
  kgen::Optional<OCILayerSelector> observedLayerSelector = kgen::kAbsent;
  meta::ReconcileRequestStatus reconcileRequestStatus{};  // +kgen:inline
  KGEN_OBJECT(OCIRepositoryStatus)
};

// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=ocirepo,categories=all;fluxcd;fluxcd-sources
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
struct OCIRepository {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<OCIRepositorySpec> spec = kgen::kAbsent;
  // +kubebuilder:default={"observedGeneration":-1}
  kgen::Optional<OCIRepositoryStatus> status = kgen::kAbsent;
  KGEN_OBJECT(OCIRepository)
};

}  // namespace flux::source::v1

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_FLUX_SOURCE_H_
