// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command controller_runtime serves the webhooks of bench/webhook_server.cc with controller-runtime.
//
//	controller_runtime PORT FOLDER    FOLDER has tls.crt and tls.key
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type deployments struct{}

func (deployments) Default(_ context.Context, deployment *appsv1.Deployment) error {
	if deployment.Spec.Replicas == nil {
		one := int32(1)
		deployment.Spec.Replicas = &one
	}
	if deployment.Labels == nil {
		deployment.Labels = map[string]string{}
	}
	if deployment.Labels["team"] == "" {
		deployment.Labels["team"] = "nobody"
	}
	return nil
}

func validate(deployment *appsv1.Deployment) error {
	var errs field.ErrorList
	if deployment.Spec.Replicas != nil && *deployment.Spec.Replicas > 100 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), *deployment.Spec.Replicas, "must be at most 100"))
	}
	containers := field.NewPath("spec", "template", "spec", "containers")
	for i, container := range deployment.Spec.Template.Spec.Containers {
		if container.Image == "" {
			errs = append(errs, field.Required(containers.Index(i).Child("image"), ""))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), deployment.Name, errs)
}

func (deployments) ValidateCreate(_ context.Context, now *appsv1.Deployment) (admission.Warnings, error) {
	return nil, validate(now)
}

func (deployments) ValidateUpdate(_ context.Context, _, now *appsv1.Deployment) (admission.Warnings, error) {
	return nil, validate(now)
}

func (deployments) ValidateDelete(context.Context, *appsv1.Deployment) (admission.Warnings, error) {
	return nil, nil
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: controller_runtime PORT FOLDER")
	}
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[2]})
	server.Register("/mutate-apps-v1-deployment", admission.WithDefaulter[*appsv1.Deployment](scheme, deployments{}))
	server.Register("/validate-apps-v1-deployment", admission.WithValidator[*appsv1.Deployment](scheme, deployments{}))
	return server.Start(signals.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "controller_runtime:", err)
		os.Exit(1)
	}
}
