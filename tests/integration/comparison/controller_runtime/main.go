// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command controller_runtime is the small controller of docs/comparison.md on controller-runtime. The type Foo comes
// from k8s.io/sample-controller.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	foov1 "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type reconciler struct {
	client.Client
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var foo foov1.Foo
	if err := r.Get(ctx, request.NamespacedName, &foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if foo.Spec.DeploymentName == "" {
		return ctrl.Result{}, nil
	}
	deployment := &apps.Deployment{ObjectMeta: meta.ObjectMeta{Name: foo.Spec.DeploymentName, Namespace: foo.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		if deployment.UID == "" {
			deployment.Spec = specFor(&foo)
			return controllerutil.SetControllerReference(&foo, deployment, r.Scheme())
		}
		if !meta.IsControlledBy(deployment, &foo) {
			return fmt.Errorf("deployment %s belongs to somebody else", deployment.Name)
		}
		if foo.Spec.Replicas != nil {
			deployment.Spec.Replicas = foo.Spec.Replicas
		}
		return nil
	})
	if err != nil || foo.Status.AvailableReplicas == deployment.Status.AvailableReplicas {
		return ctrl.Result{}, err
	}
	foo.Status.AvailableReplicas = deployment.Status.AvailableReplicas
	return ctrl.Result{}, r.Status().Update(ctx, &foo)
}

func specFor(foo *foov1.Foo) apps.DeploymentSpec {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return apps.DeploymentSpec{
		Replicas: foo.Spec.Replicas,
		Selector: &meta.LabelSelector{MatchLabels: labels},
		Template: core.PodTemplateSpec{
			ObjectMeta: meta.ObjectMeta{Labels: labels},
			Spec:       core.PodSpec{Containers: []core.Container{{Name: "nginx", Image: "nginx:latest"}}},
		},
	}
}

func run() error {
	ctrl.SetLogger(logr.Discard())
	if err := foov1.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&foov1.Foo{}).
		Owns(&apps.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 2}).
		Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "controller_runtime:", err)
		os.Exit(1)
	}
}
