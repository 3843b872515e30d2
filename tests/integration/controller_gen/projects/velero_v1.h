// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of vmware-tanzu/velero, for the comparison with their published CRDs: version v1.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_VELERO_V1_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_VELERO_V1_H_

#include <cstdint>

#include "k8s/core/v1/types.h"
#include "kgen/core/json.h"
#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/time.h"

namespace vel {

// Any object.
// +kgen:schema={type: object, x-kubernetes-preserve-unknown-fields: true}
using RawExtension = kgen::Json;

// Go's int.
// +kgen:format=""
using Int = std::int64_t;

}  // namespace vel

namespace vel::shared {

struct DataMoveOperationProgress {
  kgen::Optional<std::int64_t> totalBytes{};
  kgen::Optional<std::int64_t> bytesDone{};
  KGEN_OBJECT(DataMoveOperationProgress)
};

}  // namespace vel::shared

// +groupName=velero.io
// +versionName=v1
namespace vel::velero::v1 {

struct BackupRepositorySpec {
  // +required
  kgen::String volumeNamespace{};
  // +required
  kgen::String backupStorageLocation{};
  // +kubebuilder:validation:Enum=kopia;restic;""
  kgen::String repositoryType{};
  kgen::String resticIdentifier{};
  // +required
  kgen::Duration maintenanceFrequency{};
  // +nullable
  kgen::Map<kgen::String> repositoryConfig{};
  KGEN_OBJECT(BackupRepositorySpec)
};

// +kubebuilder:validation:Enum=New;Ready;NotReady
using BackupRepositoryPhase = kgen::String;

// +kubebuilder:validation:Enum=Succeeded;Failed
using BackupRepositoryMaintenanceResult = kgen::String;

struct BackupRepositoryMaintenanceStatus {
  BackupRepositoryMaintenanceResult result{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completeTimestamp{};
  kgen::String message{};
  KGEN_OBJECT(BackupRepositoryMaintenanceStatus)
};

struct BackupRepositoryStatus {
  BackupRepositoryPhase phase{};
  kgen::String message{};
  // +nullable
  kgen::Time lastMaintenanceTime{};
  kgen::List<BackupRepositoryMaintenanceStatus> recentMaintenance{};
  KGEN_OBJECT(BackupRepositoryStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Repository Type",type="string",JSONPath=".spec.repositoryType"
struct BackupRepository {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<BackupRepositorySpec> spec = kgen::kAbsent;
  kgen::Optional<BackupRepositoryStatus> status = kgen::kAbsent;
  KGEN_OBJECT(BackupRepository)
};

struct Metadata {
  kgen::Map<kgen::String> labels{};
  KGEN_OBJECT(Metadata)
};

// +kubebuilder:validation:Enum=Continue;Fail
using HookErrorMode = kgen::String;

struct ExecHook {
  kgen::String container{};
  // +kubebuilder:validation:MinItems=1
  // +required
  kgen::List<kgen::String> command{};
  HookErrorMode onError{};
  kgen::Duration timeout{};
  KGEN_OBJECT(ExecHook)
};

struct BackupResourceHook {
  // +required
  kgen::Optional<ExecHook> exec = kgen::kAbsent;
  KGEN_OBJECT(BackupResourceHook)
};

struct BackupResourceHookSpec {
  // +required
  kgen::String name{};
  // +nullable
  kgen::List<kgen::String> includedNamespaces{};
  // +nullable
  kgen::List<kgen::String> excludedNamespaces{};
  // +nullable
  kgen::List<kgen::String> includedResources{};
  // +nullable
  kgen::List<kgen::String> excludedResources{};
  // +nullable
  kgen::Optional<kgen::meta::v1::LabelSelector> labelSelector = kgen::kAbsent;
  kgen::List<BackupResourceHook> pre{};
  kgen::List<BackupResourceHook> post{};
  KGEN_OBJECT(BackupResourceHookSpec)
};

struct BackupHooks {
  // +nullable
  kgen::List<BackupResourceHookSpec> resources{};
  KGEN_OBJECT(BackupHooks)
};

struct UploaderConfigForBackup {
  kgen::Optional<Int> parallelFilesUpload{};
  KGEN_OBJECT(UploaderConfigForBackup)
};

struct BackupSpec {
  kgen::Optional<Metadata> metadata = kgen::kAbsent;
  // +nullable
  kgen::List<kgen::String> includedNamespaces{};
  // +nullable
  kgen::List<kgen::String> excludedNamespaces{};
  // +nullable
  kgen::List<kgen::String> includedResources{};
  // +nullable
  kgen::List<kgen::String> excludedResources{};
  // +nullable
  kgen::List<kgen::String> includedClusterScopedResources{};
  // +nullable
  kgen::List<kgen::String> excludedClusterScopedResources{};
  // +nullable
  kgen::List<kgen::String> includedNamespaceScopedResources{};
  // +nullable
  kgen::List<kgen::String> excludedNamespaceScopedResources{};
  // +nullable
  kgen::Optional<kgen::meta::v1::LabelSelector> labelSelector = kgen::kAbsent;
  // +nullable
  kgen::List<kgen::meta::v1::LabelSelector> orLabelSelectors{};
  // +nullable
  kgen::Optional<bool> snapshotVolumes{};
  kgen::Duration ttl{};
  kgen::String volumeGroupSnapshotLabelKey{};
  // +nullable
  kgen::Optional<bool> includeClusterResources{};
  kgen::Optional<BackupHooks> hooks = kgen::kAbsent;
  kgen::String storageLocation{};
  kgen::List<kgen::String> volumeSnapshotLocations{};
  // +nullable
  kgen::Optional<bool> defaultVolumesToRestic{};
  // +nullable
  kgen::Optional<bool> defaultVolumesToFsBackup{};
  // +nullable
  kgen::Map<kgen::String> orderedResources{};
  kgen::Duration csiSnapshotTimeout{};
  kgen::Duration itemOperationTimeout{};
  kgen::Optional<k8s::core::v1::TypedLocalObjectReference> resourcePolicy = kgen::kAbsent;
  // +nullable
  kgen::Optional<bool> snapshotMoveData{};
  kgen::String datamover{};
  // +nullable
  kgen::Optional<UploaderConfigForBackup> uploaderConfig = kgen::kAbsent;
  KGEN_OBJECT(BackupSpec)
};

// +kubebuilder:validation:Enum=New;Queued;ReadyToStart;FailedValidation;InProgress;WaitingForPluginOperations;WaitingForPluginOperationsPartiallyFailed;Finalizing;FinalizingPartiallyFailed;Completed;PartiallyFailed;Failed;Deleting
using BackupPhase = kgen::String;

struct BackupProgress {
  kgen::Optional<Int> totalItems{};
  kgen::Optional<Int> itemsBackedUp{};
  KGEN_OBJECT(BackupProgress)
};

struct HookStatus {
  kgen::Optional<Int> hooksAttempted{};
  kgen::Optional<Int> hooksFailed{};
  KGEN_OBJECT(HookStatus)
};

struct BackupStatus {
  kgen::Optional<Int> version{};
  kgen::String formatVersion{};
  // +nullable
  kgen::Time expiration{};
  BackupPhase phase{};
  kgen::Optional<Int> queuePosition{};
  // +nullable
  kgen::List<kgen::String> validationErrors{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completionTimestamp{};
  kgen::Optional<Int> volumeSnapshotsAttempted{};
  kgen::Optional<Int> volumeSnapshotsCompleted{};
  kgen::String failureReason{};
  kgen::Optional<Int> warnings{};
  kgen::Optional<Int> errors{};
  // +nullable
  kgen::Optional<BackupProgress> progress = kgen::kAbsent;
  kgen::Optional<Int> csiVolumeSnapshotsAttempted{};
  kgen::Optional<Int> csiVolumeSnapshotsCompleted{};
  kgen::Optional<Int> backupItemOperationsAttempted{};
  kgen::Optional<Int> backupItemOperationsCompleted{};
  kgen::Optional<Int> backupItemOperationsFailed{};
  // +nullable
  kgen::Optional<HookStatus> hookStatus = kgen::kAbsent;
  KGEN_OBJECT(BackupStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:rbac:groups=velero.io,resources=backups,verbs=create;delete;get;list;patch;update;watch
// +kubebuilder:rbac:groups=velero.io,resources=backups/status,verbs=get;update;patch
struct Backup {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<BackupSpec> spec = kgen::kAbsent;
  kgen::Optional<BackupStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Backup)
};

struct ObjectStorageLocation {
  // +required
  kgen::String bucket{};
  kgen::String prefix{};
  kgen::Bytes caCert{};
  kgen::Optional<k8s::core::v1::SecretKeySelector> caCertRef = kgen::kAbsent;
  KGEN_OBJECT(ObjectStorageLocation)
};

struct StorageType {
  // +required
  kgen::Optional<ObjectStorageLocation> objectStorage = kgen::kAbsent;
  KGEN_OBJECT(StorageType)
};

// +kubebuilder:validation:Enum=ReadOnly;ReadWrite
using BackupStorageLocationAccessMode = kgen::String;

struct BackupStorageLocationSpec {
  // +required
  kgen::String provider{};
  kgen::Map<kgen::String> config{};
  kgen::Optional<k8s::core::v1::SecretKeySelector> credential = kgen::kAbsent;
  StorageType storageType{};  // +kgen:inline
  kgen::Optional<bool> default_{};
  BackupStorageLocationAccessMode accessMode{};
  // +nullable
  kgen::Duration backupSyncPeriod{};
  // +nullable
  kgen::Duration validationFrequency{};
  KGEN_OBJECT(BackupStorageLocationSpec)
};

// +kubebuilder:validation:Enum=Available;Unavailable
using BackupStorageLocationPhase = kgen::String;

struct BackupStorageLocationStatus {
  BackupStorageLocationPhase phase{};
  // +nullable
  kgen::Time lastSyncedTime{};
  // +nullable
  kgen::Time lastValidationTime{};
  kgen::String message{};
  kgen::String lastSyncedRevision{};
  BackupStorageLocationAccessMode accessMode{};
  KGEN_OBJECT(BackupStorageLocationStatus)
};

// +kubebuilder:resource:shortName=bsl
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Last Validated",type="date",JSONPath=".status.lastValidationTime"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Default",type="boolean",JSONPath=".spec.default"
struct BackupStorageLocation {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<BackupStorageLocationSpec> spec = kgen::kAbsent;
  kgen::Optional<BackupStorageLocationStatus> status = kgen::kAbsent;
  KGEN_OBJECT(BackupStorageLocation)
};

struct DeleteBackupRequestSpec {
  // +required
  kgen::String backupName{};
  KGEN_OBJECT(DeleteBackupRequestSpec)
};

// +kubebuilder:validation:Enum=New;InProgress;Processed
using DeleteBackupRequestPhase = kgen::String;

struct DeleteBackupRequestStatus {
  DeleteBackupRequestPhase phase{};
  // +nullable
  kgen::List<kgen::String> errors{};
  KGEN_OBJECT(DeleteBackupRequestStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="BackupName",type="string",JSONPath=".spec.backupName"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.phase"
struct DeleteBackupRequest {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<DeleteBackupRequestSpec> spec = kgen::kAbsent;
  kgen::Optional<DeleteBackupRequestStatus> status = kgen::kAbsent;
  KGEN_OBJECT(DeleteBackupRequest)
};

// +kubebuilder:validation:Enum=BackupLog;BackupContents;BackupVolumeSnapshots;BackupItemOperations;BackupResourceList;BackupResults;RestoreLog;RestoreResults;RestoreResourceList;RestoreItemOperations;CSIBackupVolumeSnapshots;CSIBackupVolumeSnapshotContents;BackupVolumeInfos;RestoreVolumeInfo
using DownloadTargetKind = kgen::String;

struct DownloadTarget {
  // +required
  DownloadTargetKind kind{};
  // +required
  kgen::String name{};
  KGEN_OBJECT(DownloadTarget)
};

struct DownloadRequestSpec {
  // +required
  kgen::Optional<DownloadTarget> target = kgen::kAbsent;
  KGEN_OBJECT(DownloadRequestSpec)
};

// +kubebuilder:validation:Enum=New;Processed
using DownloadRequestPhase = kgen::String;

struct DownloadRequestStatus {
  DownloadRequestPhase phase{};
  kgen::String downloadURL{};
  // +nullable
  kgen::Time expiration{};
  KGEN_OBJECT(DownloadRequestStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
struct DownloadRequest {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<DownloadRequestSpec> spec = kgen::kAbsent;
  kgen::Optional<DownloadRequestStatus> status = kgen::kAbsent;
  KGEN_OBJECT(DownloadRequest)
};

struct PodVolumeBackupSpec {
  // +required
  kgen::String node{};
  // +required
  kgen::Optional<k8s::core::v1::ObjectReference> pod = kgen::kAbsent;
  // +required
  kgen::String volume{};
  // +required
  kgen::String backupStorageLocation{};
  // +required
  kgen::String repoIdentifier{};
  // +kubebuilder:validation:Enum=kopia;restic;""
  kgen::String uploaderType{};
  kgen::Map<kgen::String> tags{};
  // +nullable
  kgen::Map<kgen::String> uploaderSettings{};
  kgen::Optional<bool> cancel{};
  KGEN_OBJECT(PodVolumeBackupSpec)
};

// +kubebuilder:validation:Enum=New;Accepted;Prepared;InProgress;Canceling;Canceled;Completed;Failed
using PodVolumeBackupPhase = kgen::String;

struct PodVolumeBackupStatus {
  PodVolumeBackupPhase phase{};
  kgen::String path{};
  kgen::String snapshotID{};
  kgen::String message{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completionTimestamp{};
  kgen::Optional<shared::DataMoveOperationProgress> progress = kgen::kAbsent;
  kgen::Optional<std::int64_t> incrementalBytes{};
  // +nullable
  kgen::Time acceptedTimestamp{};
  KGEN_OBJECT(PodVolumeBackupStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Started",type="date",JSONPath=".status.startTimestamp"
// +kubebuilder:printcolumn:name="Bytes Done",type="integer",format="int64",JSONPath=".status.progress.bytesDone"
// +kubebuilder:printcolumn:name="Total Bytes",type="integer",format="int64",JSONPath=".status.progress.totalBytes"
// +kubebuilder:printcolumn:name="Incremental Bytes",type="integer",format="int64",JSONPath=".status.incrementalBytes",priority=10
// +kubebuilder:printcolumn:name="Storage Location",type="string",JSONPath=".spec.backupStorageLocation"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Uploader",type="string",JSONPath=".spec.uploaderType"
struct PodVolumeBackup {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<PodVolumeBackupSpec> spec = kgen::kAbsent;
  kgen::Optional<PodVolumeBackupStatus> status = kgen::kAbsent;
  KGEN_OBJECT(PodVolumeBackup)
};

struct PodVolumeRestoreSpec {
  // +required
  kgen::Optional<k8s::core::v1::ObjectReference> pod = kgen::kAbsent;
  // +required
  kgen::String volume{};
  // +required
  kgen::String backupStorageLocation{};
  // +required
  kgen::String repoIdentifier{};
  // +kubebuilder:validation:Enum=kopia;restic;""
  kgen::String uploaderType{};
  // +required
  kgen::String snapshotID{};
  // +required
  kgen::String sourceNamespace{};
  // +nullable
  kgen::Map<kgen::String> uploaderSettings{};
  kgen::Optional<bool> cancel{};
  kgen::Optional<std::int64_t> snapshotSize{};
  KGEN_OBJECT(PodVolumeRestoreSpec)
};

// +kubebuilder:validation:Enum=New;Accepted;Prepared;InProgress;Canceling;Canceled;Completed;Failed
using PodVolumeRestorePhase = kgen::String;

struct PodVolumeRestoreStatus {
  PodVolumeRestorePhase phase{};
  kgen::String message{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completionTimestamp{};
  kgen::Optional<shared::DataMoveOperationProgress> progress = kgen::kAbsent;
  // +nullable
  kgen::Time acceptedTimestamp{};
  kgen::String node{};
  KGEN_OBJECT(PodVolumeRestoreStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Started",type="date",JSONPath=".status.startTimestamp"
// +kubebuilder:printcolumn:name="Bytes Done",type="integer",format="int64",JSONPath=".status.progress.bytesDone"
// +kubebuilder:printcolumn:name="Total Bytes",type="integer",format="int64",JSONPath=".status.progress.totalBytes"
// +kubebuilder:printcolumn:name="Storage Location",type="string",JSONPath=".spec.backupStorageLocation"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.node"
// +kubebuilder:printcolumn:name="Uploader Type",type="string",JSONPath=".spec.uploaderType"
struct PodVolumeRestore {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<PodVolumeRestoreSpec> spec = kgen::kAbsent;
  kgen::Optional<PodVolumeRestoreStatus> status = kgen::kAbsent;
  KGEN_OBJECT(PodVolumeRestore)
};

struct RestoreStatusSpec {
  // +nullable
  kgen::List<kgen::String> includedResources{};
  // +nullable
  kgen::List<kgen::String> excludedResources{};
  KGEN_OBJECT(RestoreStatusSpec)
};

struct ExecRestoreHook {
  kgen::String container{};
  // +kubebuilder:validation:MinItems=1
  // +required
  kgen::List<kgen::String> command{};
  HookErrorMode onError{};
  kgen::Duration execTimeout{};
  kgen::Duration waitTimeout{};
  // +nullable
  kgen::Optional<bool> waitForReady{};
  KGEN_OBJECT(ExecRestoreHook)
};

struct InitRestoreHook {
  // +kubebuilder:pruning:PreserveUnknownFields
  kgen::List<RawExtension> initContainers{};
  kgen::Duration timeout{};
  KGEN_OBJECT(InitRestoreHook)
};

struct RestoreResourceHook {
  kgen::Optional<ExecRestoreHook> exec = kgen::kAbsent;
  kgen::Optional<InitRestoreHook> init = kgen::kAbsent;
  KGEN_OBJECT(RestoreResourceHook)
};

struct RestoreResourceHookSpec {
  // +required
  kgen::String name{};
  // +nullable
  kgen::List<kgen::String> includedNamespaces{};
  // +nullable
  kgen::List<kgen::String> excludedNamespaces{};
  // +nullable
  kgen::List<kgen::String> includedResources{};
  // +nullable
  kgen::List<kgen::String> excludedResources{};
  // +nullable
  kgen::Optional<kgen::meta::v1::LabelSelector> labelSelector = kgen::kAbsent;
  kgen::List<RestoreResourceHook> postHooks{};
  KGEN_OBJECT(RestoreResourceHookSpec)
};

struct RestoreHooks {
  kgen::List<RestoreResourceHookSpec> resources{};
  KGEN_OBJECT(RestoreHooks)
};

using PolicyType = kgen::String;

struct UploaderConfigForRestore {
  // +nullable
  kgen::Optional<bool> writeSparseFiles{};
  kgen::Optional<Int> parallelFilesDownload{};
  KGEN_OBJECT(UploaderConfigForRestore)
};

struct RestoreSpec {
  kgen::String backupName{};
  kgen::String scheduleName{};
  // +nullable
  kgen::List<kgen::String> includedNamespaces{};
  // +nullable
  kgen::List<kgen::String> excludedNamespaces{};
  // +nullable
  kgen::List<kgen::String> includedResources{};
  // +nullable
  kgen::List<kgen::String> excludedResources{};
  kgen::Map<kgen::String> namespaceMapping{};
  // +nullable
  kgen::Optional<kgen::meta::v1::LabelSelector> labelSelector = kgen::kAbsent;
  // +nullable
  kgen::List<kgen::meta::v1::LabelSelector> orLabelSelectors{};
  // +nullable
  kgen::Optional<bool> restorePVs{};
  // +nullable
  kgen::Optional<RestoreStatusSpec> restoreStatus = kgen::kAbsent;
  // +nullable
  kgen::Optional<bool> preserveNodePorts{};
  // +nullable
  kgen::Optional<bool> includeClusterResources{};
  kgen::Optional<RestoreHooks> hooks = kgen::kAbsent;
  // +nullable
  PolicyType existingResourcePolicy{};
  kgen::Duration itemOperationTimeout{};
  // +nullable
  kgen::Optional<k8s::core::v1::TypedLocalObjectReference> resourceModifier = kgen::kAbsent;
  // +nullable
  kgen::Optional<UploaderConfigForRestore> uploaderConfig = kgen::kAbsent;
  KGEN_OBJECT(RestoreSpec)
};

// +kubebuilder:validation:Enum=New;FailedValidation;InProgress;WaitingForPluginOperations;WaitingForPluginOperationsPartiallyFailed;Completed;PartiallyFailed;Failed;Finalizing;FinalizingPartiallyFailed
using RestorePhase = kgen::String;

struct RestoreProgress {
  kgen::Optional<Int> totalItems{};
  kgen::Optional<Int> itemsRestored{};
  KGEN_OBJECT(RestoreProgress)
};

struct RestoreStatus {
  RestorePhase phase{};
  // +nullable
  kgen::List<kgen::String> validationErrors{};
  kgen::Optional<Int> warnings{};
  kgen::Optional<Int> errors{};
  kgen::String failureReason{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completionTimestamp{};
  // +nullable
  kgen::Optional<RestoreProgress> progress = kgen::kAbsent;
  kgen::Optional<Int> restoreItemOperationsAttempted{};
  kgen::Optional<Int> restoreItemOperationsCompleted{};
  kgen::Optional<Int> restoreItemOperationsFailed{};
  // +nullable
  kgen::Optional<HookStatus> hookStatus = kgen::kAbsent;
  KGEN_OBJECT(RestoreStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:rbac:groups=velero.io,resources=restores,verbs=create;delete;get;list;patch;update;watch
// +kubebuilder:rbac:groups=velero.io,resources=restores/status,verbs=get;update;patch
struct Restore {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<RestoreSpec> spec = kgen::kAbsent;
  kgen::Optional<RestoreStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Restore)
};

struct ScheduleSpec {
  // +required
  kgen::Optional<BackupSpec> template_ = kgen::kAbsent;
  // +required
  kgen::String schedule{};
  // +nullable
  kgen::Optional<bool> useOwnerReferencesInBackup{};
  kgen::Optional<bool> paused{};
  kgen::Optional<bool> skipImmediately{};
  KGEN_OBJECT(ScheduleSpec)
};

// +kubebuilder:validation:Enum=New;Enabled;FailedValidation
using SchedulePhase = kgen::String;

struct ScheduleStatus {
  SchedulePhase phase{};
  // +nullable
  kgen::Time lastBackup{};
  // +nullable
  kgen::Time lastSkipped{};
  kgen::List<kgen::String> validationErrors{};
  KGEN_OBJECT(ScheduleStatus)
};

// +kubebuilder:resource
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Schedule",type="string",JSONPath=".spec.schedule"
// +kubebuilder:printcolumn:name="LastBackup",type="date",JSONPath=".status.lastBackup"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Paused",type="boolean",JSONPath=".spec.paused"
struct Schedule {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<ScheduleSpec> spec = kgen::kAbsent;
  kgen::Optional<ScheduleStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Schedule)
};

struct ServerStatusRequestSpec {
  KGEN_OBJECT(ServerStatusRequestSpec)
};

// +kubebuilder:validation:Enum=New;Processed
using ServerStatusRequestPhase = kgen::String;

struct PluginInfo {
  // +required
  kgen::String name{};
  // +required
  kgen::String kind{};
  KGEN_OBJECT(PluginInfo)
};

struct ServerStatusRequestStatus {
  ServerStatusRequestPhase phase{};
  // +nullable
  kgen::Time processedTimestamp{};
  kgen::String serverVersion{};
  // +nullable
  kgen::List<PluginInfo> plugins{};
  KGEN_OBJECT(ServerStatusRequestStatus)
};

// +kubebuilder:resource:shortName=ssr
// +kubebuilder:storageversion
struct ServerStatusRequest {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<ServerStatusRequestSpec> spec = kgen::kAbsent;
  kgen::Optional<ServerStatusRequestStatus> status = kgen::kAbsent;
  KGEN_OBJECT(ServerStatusRequest)
};

struct VolumeSnapshotLocationSpec {
  // +required
  kgen::String provider{};
  kgen::Map<kgen::String> config{};
  kgen::Optional<k8s::core::v1::SecretKeySelector> credential = kgen::kAbsent;
  KGEN_OBJECT(VolumeSnapshotLocationSpec)
};

// +kubebuilder:validation:Enum=Available;Unavailable
using VolumeSnapshotLocationPhase = kgen::String;

struct VolumeSnapshotLocationStatus {
  VolumeSnapshotLocationPhase phase{};
  KGEN_OBJECT(VolumeSnapshotLocationStatus)
};

// +kubebuilder:resource:shortName=vsl
// +kubebuilder:storageversion
struct VolumeSnapshotLocation {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<VolumeSnapshotLocationSpec> spec = kgen::kAbsent;
  kgen::Optional<VolumeSnapshotLocationStatus> status = kgen::kAbsent;
  KGEN_OBJECT(VolumeSnapshotLocation)
};

}  // namespace vel::velero::v1

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_VELERO_V1_H_
