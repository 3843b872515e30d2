// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command cronjob is examples/cronjob on controller-runtime, for docs/comparison.md: two versions, webhooks and a
// controller. It serves its webhooks with the certificate that cert-manager mounts.
//
//	cronjob [-namespace NAMESPACE] [-metrics ADDRESS] [-health ADDRESS] [-webhooks HOST:PORT] [-certificates FOLDER]
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	v1 "kgen/comparison/cronjob/api/v1"
	v2 "kgen/comparison/cronjob/api/v2"
)

func run() error {
	namespace := flag.String("namespace", "", "of the Lease; by default the namespace of the pod")
	metrics := flag.String("metrics", ":8080", "where /metrics is")
	health := flag.String("health", ":8081", "where /healthz and /readyz are")
	webhooks := flag.String("webhooks", ":9443", "where the webhooks are")
	certificates := flag.String("certificates", "/certs", "a folder with tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(klog.NewKlogr())
	host, text, err := net.SplitHostPort(*webhooks)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if err := v1.SchemeBuilder.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	if err := v2.SchemeBuilder.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                 server.Options{BindAddress: *metrics},
		HealthProbeBindAddress:  *health,
		LeaderElection:          true,
		LeaderElectionID:        "cronjob-operator",
		LeaderElectionNamespace: *namespace,
		WebhookServer:           webhook.NewServer(webhook.Options{Host: host, Port: port, CertDir: *certificates}),
	})
	if err != nil {
		return err
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("webhooks", manager.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := addWebhooks(manager); err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	if err := addController(ctx, manager); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cronjob:", err)
		os.Exit(1)
	}
}
