// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	v1 "kgen/comparison/cronjob/api/v1"
	v2 "kgen/comparison/cronjob/api/v2"
)

// A Job's name is the name of its CronJob and 11 characters, and at most 63 long because it is a label of its pods.
const longestName = 52

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=default.cronjobs.kubebuilder.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=validate.cronjobs.kubebuilder.io,admissionReviewVersions=v1

type webhooks struct{}

func (webhooks) Default(_ context.Context, job *v1.CronJob) error {
	if job.Spec.ConcurrencyPolicy == "" {
		job.Spec.ConcurrencyPolicy = v1.AllowConcurrent
	}
	if job.Spec.Suspend == nil {
		job.Spec.Suspend = new(false)
	}
	if job.Spec.SuccessfulJobsHistoryLimit == nil {
		job.Spec.SuccessfulJobsHistoryLimit = new(int32(3))
	}
	if job.Spec.FailedJobsHistoryLimit == nil {
		job.Spec.FailedJobsHistoryLimit = new(int32(1))
	}
	return nil
}

func (webhooks) ValidateCreate(_ context.Context, job *v1.CronJob) (admission.Warnings, error) {
	var errs field.ErrorList
	var warnings admission.Warnings
	if len(job.Name) > longestName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), job.Name, "must be no more than 52 characters"))
	}
	if schedule, err := cron.ParseStandard(job.Spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec", "schedule"), job.Spec.Schedule, err.Error()))
	} else if schedule.Next(time.Now()).IsZero() {
		warnings = append(warnings, "spec.schedule: no such day exists, so this CronJob never runs")
	}
	if len(errs) == 0 {
		return warnings, nil
	}
	return warnings, errors.NewInvalid(v1.GroupVersion.WithKind("CronJob").GroupKind(), job.Name, errs)
}

func (w webhooks) ValidateUpdate(ctx context.Context, _, job *v1.CronJob) (admission.Warnings, error) {
	return w.ValidateCreate(ctx, job)
}

func (webhooks) ValidateDelete(context.Context, *v1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

func toV1(_ context.Context, from *v2.CronJob, to *v1.CronJob) error {
	schedule := from.Spec.Schedule
	fields := []string{schedule.Minute, schedule.Hour, schedule.DayOfMonth, schedule.Month, schedule.DayOfWeek}
	for i := range fields {
		fields[i] = cmp.Or(fields[i], "*")
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec = v1.CronJobSpec{
		Schedule:                   strings.Join(fields, " "),
		StartingDeadlineSeconds:    from.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          v1.ConcurrencyPolicy(from.Spec.ConcurrencyPolicy),
		Suspend:                    from.Spec.Suspend,
		JobTemplate:                from.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: from.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     from.Spec.FailedJobsHistoryLimit,
	}
	to.Status = v1.CronJobStatus(from.Status)
	return nil
}

// fromV1 does not validate: whatever is stored must have a form in v2. What is not five fields stays in the first ones.
func fromV1(_ context.Context, from *v1.CronJob, to *v2.CronJob) error {
	to.ObjectMeta = from.ObjectMeta
	to.Spec = v2.CronJobSpec{
		StartingDeadlineSeconds:    from.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          v2.ConcurrencyPolicy(from.Spec.ConcurrencyPolicy),
		Suspend:                    from.Spec.Suspend,
		JobTemplate:                from.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: from.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     from.Spec.FailedJobsHistoryLimit,
	}
	to.Status = v2.CronJobStatus(from.Status)
	schedule := &to.Spec.Schedule
	fields := []*string{&schedule.Minute, &schedule.Hour, &schedule.DayOfMonth, &schedule.Month, &schedule.DayOfWeek}
	for i, text := range strings.Fields(from.Spec.Schedule) {
		if i < len(fields) && text != "*" {
			*fields[i] = text
		}
	}
	return nil
}

func addWebhooks(manager ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(manager, &v1.CronJob{}).
		WithDefaulter(webhooks{}).
		WithValidator(webhooks{}).
		WithConverter(conversion.NewHubSpokeConverter(&v1.CronJob{},
			conversion.NewSpokeConverter(&v2.CronJob{}, fromV1, toV1))).
		Complete()
}
