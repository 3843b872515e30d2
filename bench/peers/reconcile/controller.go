// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// reconciler does what bench/reconcile_controller.cc says.
type reconciler struct {
	client.Client
	callsOf []atomic.Int32
	calls   atomic.Int64
	repeat  int
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var object corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.Namespace != namespace {
		return ctrl.Result{}, nil
	}
	number, err := strconv.Atoi(strings.TrimPrefix(object.Name, prefix))
	if err != nil {
		return ctrl.Result{}, err
	}
	call, all := int(r.callsOf[number].Add(1)), int(r.calls.Add(1))
	if all == len(r.callsOf) {
		fmt.Println("synced")
	}
	if all == len(r.callsOf)*(1+r.repeat) {
		fmt.Println("done")
	}
	if call > r.repeat {
		return ctrl.Result{}, nil
	}
	if call == 1 {
		return ctrl.Result{RequeueAfter: 15 * time.Second}, nil
	}
	return ctrl.Result{RequeueAfter: time.Millisecond}, nil
}

func runController(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("controller", flag.ContinueOnError)
	objects := flags.Int("objects", 0, "")
	workers := flags.Int("workers", 1, "")
	repeat := flags.Int("repeat", 0, "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard())
	config, err := loadConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: *workers}).
		Complete(&reconciler{Client: manager.GetClient(), callsOf: make([]atomic.Int32, *objects), repeat: *repeat})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
