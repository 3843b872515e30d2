// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "kgen/comparison/cronjob/api/v1"
)

const (
	scheduledAt = "batch.tutorial.kubebuilder.io/scheduled-at"
	ownerIndex  = "owner"
	mostMissed  = 100
)

type jobsByState struct {
	active, successful, failed []batchv1.Job
}

// scheduledTime returns when the run of a Job was due, or zero if it is not one of this controller's.
func scheduledTime(job *batchv1.Job) time.Time {
	at, err := time.Parse(time.RFC3339, job.Annotations[scheduledAt])
	if err != nil {
		return time.Time{}
	}
	return at
}

func sortJobs(jobs []batchv1.Job) jobsByState {
	slices.SortFunc(jobs, func(a, b batchv1.Job) int {
		switch {
		case a.Status.StartTime.Equal(b.Status.StartTime):
			return cmp.Compare(a.Name, b.Name)
		case a.Status.StartTime.Before(b.Status.StartTime):
			return -1
		}
		return 1
	})
	var sorted jobsByState
	for _, job := range jobs {
		state := &sorted.active
		for _, condition := range job.Status.Conditions {
			if condition.Status != corev1.ConditionTrue {
				continue
			}
			switch condition.Type {
			case batchv1.JobComplete:
				state = &sorted.successful
			case batchv1.JobFailed:
				state = &sorted.failed
			}
		}
		*state = append(*state, job)
	}
	return sorted
}

type reconciler struct {
	client.Client
	clock clock.PassiveClock
}

// A Job that is gone already needs no deletion.
func (r *reconciler) delete(ctx context.Context, job *batchv1.Job) error {
	return client.IgnoreNotFound(r.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

func (r *reconciler) deleteOldest(ctx context.Context, jobs []batchv1.Job, limit *int32) error {
	if limit == nil {
		return nil
	}
	for i := range len(jobs) - int(*limit) {
		if err := r.delete(ctx, &jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) writeStatus(ctx context.Context, cronJob *v1.CronJob, active []batchv1.Job, last time.Time) error {
	before := cronJob.Status.DeepCopy()
	cronJob.Status.Active = nil
	for _, job := range active {
		cronJob.Status.Active = append(cronJob.Status.Active, corev1.ObjectReference{
			APIVersion: "batch/v1", Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
		})
	}
	if !last.IsZero() {
		cronJob.Status.LastScheduleTime = &metav1.Time{Time: last}
	}
	if equality.Semantic.DeepEqual(before, &cronJob.Status) {
		return nil
	}
	return r.Status().Update(ctx, cronJob)
}

// jobFor returns the Job of a run. Its name follows from the run, so that a second attempt does not start it twice.
func (r *reconciler) jobFor(cronJob *v1.CronJob, run time.Time) (*batchv1.Job, error) {
	template := cronJob.Spec.JobTemplate.DeepCopy()
	job := &batchv1.Job{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	job.Name = fmt.Sprintf("%s-%d", cronJob.Name, run.Unix()/60)
	job.Namespace = cronJob.Namespace
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, scheduledAt, run.UTC().Format(time.RFC3339))
	return job, ctrl.SetControllerReference(cronJob, job, r.Scheme())
}

// dueRuns returns the last run that is due and has not been started, and the next one; zero if there is none.
func (r *reconciler) dueRuns(ctx context.Context, cronJob *v1.CronJob, schedule cron.Schedule, last, now time.Time) (missed, next time.Time) {
	since := last
	if since.IsZero() {
		since = cronJob.CreationTimestamp.UTC()
	}
	if seconds := cronJob.Spec.StartingDeadlineSeconds; seconds != nil {
		if deadline := now.Add(-time.Duration(*seconds) * time.Second); deadline.After(since) {
			since = deadline
		}
	}
	next = schedule.Next(since)
	for runs := 1; !next.IsZero() && !next.After(now); runs++ {
		// After a long pause, for example of this controller, the runs before now are not worth counting.
		if runs == mostMissed {
			ctrl.LoggerFrom(ctx).Info("more than 100 runs were missed; set startingDeadlineSeconds")
			return time.Time{}, schedule.Next(now)
		}
		missed, next = next, schedule.Next(next)
	}
	return missed, next
}

func (r *reconciler) startRun(ctx context.Context, cronJob *v1.CronJob, active []batchv1.Job, run time.Time) error {
	if cronJob.Spec.ConcurrencyPolicy == v1.ForbidConcurrent && len(active) > 0 {
		ctrl.LoggerFrom(ctx).Info("skipped a run, because an earlier one is active", "run", run)
		return nil
	}
	if cronJob.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent {
		for i := range active {
			if err := r.delete(ctx, &active[i]); err != nil {
				return err
			}
		}
	}
	job, err := r.jobFor(cronJob, run)
	if err != nil {
		return err
	}
	if err := r.Create(ctx, job); !errors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=update
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",namespace=cronjobs,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=cronjobs,resources=leases,verbs=get;create;update

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cronJob v1.CronJob
	if err := r.Get(ctx, request.NamespacedName, &cronJob); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !cronJob.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	var owned batchv1.JobList
	err := r.List(ctx, &owned, client.InNamespace(cronJob.Namespace), client.MatchingFields{ownerIndex: string(cronJob.UID)})
	if err != nil {
		return ctrl.Result{}, err
	}
	var last time.Time
	for i := range owned.Items {
		if at := scheduledTime(&owned.Items[i]); at.After(last) {
			last = at
		}
	}
	jobs := sortJobs(owned.Items)
	if err := r.writeStatus(ctx, &cronJob, jobs.active, last); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.deleteOldest(ctx, jobs.successful, cronJob.Spec.SuccessfulJobsHistoryLimit); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.deleteOldest(ctx, jobs.failed, cronJob.Spec.FailedJobsHistoryLimit); err != nil {
		return ctrl.Result{}, err
	}
	if cronJob.Spec.Suspend != nil && *cronJob.Spec.Suspend {
		return ctrl.Result{}, nil
	}
	schedule, err := cron.ParseStandard(cronJob.Spec.Schedule)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the schedule is malformed")
		return ctrl.Result{}, nil // the next change of the object comes back
	}
	if at := cronJob.Status.LastScheduleTime; at != nil && at.After(last) {
		last = at.UTC()
	}
	now := r.clock.Now().UTC().Truncate(time.Second)
	missed, next := r.dueRuns(ctx, &cronJob, schedule, last, now)
	if !missed.IsZero() {
		if err := r.startRun(ctx, &cronJob, jobs.active, missed); err != nil {
			return ctrl.Result{}, err
		}
	}
	if next.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: next.Sub(now)}, nil
}

func addController(ctx context.Context, manager ctrl.Manager) error {
	err := manager.GetFieldIndexer().IndexField(ctx, &batchv1.Job{}, ownerIndex, func(job client.Object) []string {
		if owner := metav1.GetControllerOf(job); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&v1.CronJob{}).
		Owns(&batchv1.Job{}).
		Complete(&reconciler{manager.GetClient(), clock.RealClock{}})
}
