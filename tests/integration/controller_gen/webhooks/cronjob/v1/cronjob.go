// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Package v1 is the API of ../../cronjob_v1.h as controller-gen reads it, with the same comments and markers: a job
// that is started again and again, as in the book of kubebuilder.
// +groupName=batch.tutorial.kubebuilder.io
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What happens if a job still runs when the next one is due.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	AllowConcurrent   ConcurrencyPolicy = "Allow"
	ForbidConcurrent  ConcurrencyPolicy = "Forbid"
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// What a job runs.
type JobTemplate struct {
	// The image of its container.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Its command, if the image has another one.
	Command []string `json:"command,omitempty"`
}

// When and what to start.
type CronJobSpec struct {
	// When, in the five fields of cron.
	// +kubebuilder:validation:MinLength=9
	Schedule string `json:"schedule"`
	// How late a job may start, in seconds.
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// +kubebuilder:default=Allow
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Whether no further jobs are started.
	Suspend *bool `json:"suspend,omitempty"`
	// How many jobs that succeeded are kept.
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// How many jobs that failed are kept.
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
	// What each job runs.
	JobTemplate JobTemplate `json:"jobTemplate"`
}

// What has been started.
type CronJobStatus struct {
	// The names of the jobs that run.
	// +listType=atomic
	Active []string `json:"active,omitempty"`
	// When the last job was started.
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
}

// A job that is started again and again.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=cronjobs,scope=Namespaced,shortName=cj
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   *CronJobSpec   `json:"spec,omitempty"`
	Status *CronJobStatus `json:"status,omitempty"`
}

// Hub makes this the version that the others are converted to and from.
func (*CronJob) Hub() {}
