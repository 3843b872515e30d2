// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Package v2 is version v2 of the CronJob of examples/cronjob: the schedule has a member for each field of the Cron
// format.
// +kubebuilder:object:generate=true
// +groupName=batch.tutorial.kubebuilder.io
package v2

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	GroupVersion  = schema.GroupVersion{Group: "batch.tutorial.kubebuilder.io", Version: "v2"}
	SchemeBuilder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&CronJob{}, &CronJobList{})
)

// What to do when a run is due while an earlier one is still running.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	AllowConcurrent   ConcurrencyPolicy = "Allow"   // start it beside the others
	ForbidConcurrent  ConcurrencyPolicy = "Forbid"  // skip it
	ReplaceConcurrent ConcurrencyPolicy = "Replace" // stop the others
)

// The fields of the Cron format, in UTC. An absent one is "*".
type CronSchedule struct {
	// 0 to 59
	Minute string `json:"minute,omitempty"`
	// 0 to 23
	Hour string `json:"hour,omitempty"`
	// 1 to 31
	DayOfMonth string `json:"dayOfMonth,omitempty"`
	// 1 to 12
	Month string `json:"month,omitempty"`
	// 0 to 6; 0 is Sunday
	DayOfWeek string `json:"dayOfWeek,omitempty"`
}

// What to run, and when.
type CronJobSpec struct {
	// When runs are due.
	Schedule CronSchedule `json:"schedule"`
	// How late a run may start, in seconds. One that is later counts as missed. Absent: any time.
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// What to do when a run is due while an earlier one is still running. The webhook sets Allow.
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Whether no runs start for now. Those that run go on.
	Suspend *bool `json:"suspend,omitempty"`
	// The Job that a run creates.
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate"`
	// How many successful Jobs to keep. The webhook sets 3.
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// How many failed Jobs to keep. The webhook sets 1.
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// What runs.
type CronJobStatus struct {
	// The Jobs that run now.
	// +listType=atomic
	Active []corev1.ObjectReference `json:"active,omitempty"`
	// When the last run was due.
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
}

// Runs Jobs on a schedule.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Last run,type=date,JSONPath=`.status.lastScheduleTime`
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CronJobSpec   `json:"spec,omitempty"`
	Status CronJobStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CronJob `json:"items"`
}
