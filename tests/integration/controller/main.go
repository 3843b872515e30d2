// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command controller has three parts, which are clients of the tests.
//
//	controller KUBECONFIG
//	controller elect KUBECONFIG NAMESPACE IDENTITY
//	controller metrics URL
//
// The first is a small controller on controller-runtime, to show that its manager works against the in-memory cluster of
// kgen::testing. The second is a candidate for a Lease with client-go; see elect.go. The third lists what Prometheus'
// parser finds at the URL.
//
// The manager of the first speaks JSON. It sets data.reconciled of each ConfigMap with the label app=controller, prints
// the name of the first that comes back from the watch with that mark, and exits. It fails after 30 seconds.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type reconciler struct {
	client.Client
	seen chan<- string
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var found corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if found.Labels["app"] != "controller" {
		return ctrl.Result{}, nil
	}
	if found.Data["reconciled"] == "yes" {
		r.seen <- request.String()
		return ctrl.Result{}, nil
	}
	if found.Data == nil {
		found.Data = map[string]string{}
	}
	found.Data["reconciled"] = "yes"
	return ctrl.Result{}, r.Update(ctx, &found)
}

func run() error {
	if len(os.Args) == 5 && os.Args[1] == "elect" {
		return elect(os.Args[2], os.Args[3], os.Args[4])
	}
	if len(os.Args) == 3 && os.Args[1] == "metrics" {
		return printMetrics(os.Args[2])
	}
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: controller KUBECONFIG | controller elect KUBECONFIG NAMESPACE IDENTITY | controller metrics URL")
	}
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	seen := make(chan string, 100)
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(&reconciler{manager.GetClient(), seen})
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	if !manager.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache did not sync")
	}
	fmt.Println("synced")
	select {
	case name := <-seen:
		fmt.Println("reconciled", name)
		return nil
	case err := <-ended:
		return fmt.Errorf("the manager ended without a reconciled ConfigMap: %v", err)
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}
