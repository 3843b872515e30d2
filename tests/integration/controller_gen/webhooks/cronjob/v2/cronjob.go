// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Package v2 is the API of ../../cronjob_v2.h as controller-gen reads it: v1 with a schedule of single fields.
// +groupName=batch.tutorial.kubebuilder.io
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "kgen/controller_gen/webhooks/cronjob/v1"
)

// One field of a schedule.
// +kubebuilder:validation:MinLength=1
type CronField string

// When to start. What is left out is every minute, hour and so on.
type CronSchedule struct {
	Minute     *CronField `json:"minute,omitempty"`
	Hour       *CronField `json:"hour,omitempty"`
	DayOfMonth *CronField `json:"dayOfMonth,omitempty"`
	Month      *CronField `json:"month,omitempty"`
	DayOfWeek  *CronField `json:"dayOfWeek,omitempty"`
}

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
	// When to start a job.
	Schedule CronSchedule `json:"schedule"`
	// Whether no further jobs are started.
	Suspend *bool `json:"suspend,omitempty"`
	// What each job runs.
	JobTemplate JobTemplate `json:"jobTemplate"`
}

// A job that is started again and again.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=cronjobs,scope=Namespaced,shortName=cj
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec *CronJobSpec `json:"spec,omitempty"`
}

func field(text *CronField) string {
	if text == nil {
		return "*"
	}
	return string(*text)
}

// ConvertTo converts to the hub.
func (job *CronJob) ConvertTo(hub *v1.CronJob) {
	hub.ObjectMeta = job.ObjectMeta
	if job.Spec == nil {
		return
	}
	s := job.Spec.Schedule
	hub.Spec = &v1.CronJobSpec{
		Schedule: field(s.Minute) + " " + field(s.Hour) + " " + field(s.DayOfMonth) + " " + field(s.Month) + " " +
			field(s.DayOfWeek),
		Suspend:     job.Spec.Suspend,
		JobTemplate: v1.JobTemplate(job.Spec.JobTemplate),
	}
}
