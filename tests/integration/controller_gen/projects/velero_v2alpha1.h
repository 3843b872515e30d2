// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of vmware-tanzu/velero, for the comparison with their published CRDs: version v2alpha1.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_VELERO_V2ALPHA1_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_VELERO_V2ALPHA1_H_

#include <cstdint>

#include "kgen/core/json.h"
#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/time.h"
#include "tests/integration/controller_gen/projects/velero_v1.h"

// +groupName=velero.io
// +versionName=v2alpha1
namespace vel::velero::v2alpha1 {

struct TargetVolumeSpec {
  // +required
  kgen::String pvc{};
  // +required
  kgen::String pv{};
  // +required
  kgen::String namespace_{};
  KGEN_OBJECT(TargetVolumeSpec)
};

// +kubebuilder:validation:Enum=auto;linux;windows
using NodeOS = kgen::String;

struct DataDownloadSpec {
  // +required
  kgen::Optional<TargetVolumeSpec> targetVolume = kgen::kAbsent;
  // +required
  kgen::String backupStorageLocation{};
  kgen::String datamover{};
  // +required
  kgen::String snapshotID{};
  // +required
  kgen::String sourceNamespace{};
  kgen::Map<kgen::String> dataMoverConfig{};
  kgen::Optional<bool> cancel{};
  // +required
  kgen::Duration operationTimeout{};
  NodeOS nodeOS{};
  kgen::Optional<std::int64_t> snapshotSize{};
  KGEN_OBJECT(DataDownloadSpec)
};

// +kubebuilder:validation:Enum=New;Accepted;Prepared;InProgress;Canceling;Canceled;Completed;Failed
using DataDownloadPhase = kgen::String;

struct DataDownloadStatus {
  DataDownloadPhase phase{};
  kgen::String message{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completionTimestamp{};
  kgen::Optional<shared::DataMoveOperationProgress> progress = kgen::kAbsent;
  kgen::String node{};
  kgen::String acceptedByNode{};
  // +nullable
  kgen::Time acceptedTimestamp{};
  KGEN_OBJECT(DataDownloadStatus)
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
struct DataDownload {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<DataDownloadSpec> spec = kgen::kAbsent;
  kgen::Optional<DataDownloadStatus> status = kgen::kAbsent;
  KGEN_OBJECT(DataDownload)
};

using SnapshotType = kgen::String;

struct CSISnapshotSpec {
  // +required
  kgen::String volumeSnapshot{};
  // +required
  kgen::String storageClass{};
  kgen::String snapshotClass{};
  kgen::String driver{};
  KGEN_OBJECT(CSISnapshotSpec)
};

struct DataUploadSpec {
  // +required
  SnapshotType snapshotType{};
  // +nullable
  kgen::Optional<CSISnapshotSpec> csiSnapshot = kgen::kAbsent;
  // +required
  kgen::String sourcePVC{};
  kgen::String datamover{};
  // +required
  kgen::String backupStorageLocation{};
  // +required
  kgen::String sourceNamespace{};
  // +nullable
  kgen::Map<kgen::String> dataMoverConfig{};
  kgen::Optional<bool> cancel{};
  // +required
  kgen::Duration operationTimeout{};
  KGEN_OBJECT(DataUploadSpec)
};

// +kubebuilder:validation:Enum=New;Accepted;Prepared;InProgress;Canceling;Canceled;Completed;Failed
using DataUploadPhase = kgen::String;

struct DataUploadStatus {
  DataUploadPhase phase{};
  kgen::String path{};
  kgen::String snapshotID{};
  // +nullable
  kgen::Map<kgen::String> dataMoverResult{};
  kgen::String message{};
  // +nullable
  kgen::Time startTimestamp{};
  // +nullable
  kgen::Time completionTimestamp{};
  kgen::Optional<shared::DataMoveOperationProgress> progress = kgen::kAbsent;
  kgen::Optional<std::int64_t> incrementalBytes{};
  kgen::String node{};
  NodeOS nodeOS{};
  kgen::String acceptedByNode{};
  // +nullable
  kgen::Time acceptedTimestamp{};
  KGEN_OBJECT(DataUploadStatus)
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
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.node"
struct DataUpload {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<DataUploadSpec> spec = kgen::kAbsent;
  kgen::Optional<DataUploadStatus> status = kgen::kAbsent;
  KGEN_OBJECT(DataUpload)
};

}  // namespace vel::velero::v2alpha1

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_PROJECTS_VELERO_V2ALPHA1_H_
