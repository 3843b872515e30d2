// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"strings"
)

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1

// Default sets what the author of a CronJob has left open.
func (job *CronJob) Default() {
	if job.Spec == nil {
		return
	}
	if job.Spec.ConcurrencyPolicy == "" {
		job.Spec.ConcurrencyPolicy = AllowConcurrent
	}
	if job.Spec.Suspend == nil {
		job.Spec.Suspend = new(bool)
	}
	if job.Spec.SuccessfulJobsHistoryLimit == nil {
		limit := int32(3)
		job.Spec.SuccessfulJobsHistoryLimit = &limit
	}
	if job.Spec.FailedJobsHistoryLimit == nil {
		limit := int32(1)
		job.Spec.FailedJobsHistoryLimit = &limit
	}
}

// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1

// Validate refuses names that leave no room for the names of jobs, and schedules that are not of five fields.
func (job *CronJob) Validate() error {
	if len(job.Name) > 52 {
		return fmt.Errorf("metadata.name: must have at most 52 characters")
	}
	if job.Spec != nil && len(strings.Fields(job.Spec.Schedule)) != 5 {
		return fmt.Errorf("spec.schedule: must have five fields")
	}
	return nil
}
