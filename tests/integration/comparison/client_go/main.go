// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command client_go is the small controller of docs/comparison.md on client-go alone: informers, listers and a work
// queue. The types and clients of Foo are those that code-generator made for k8s.io/sample-controller.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	foov1 "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	sample "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	sampleinformers "k8s.io/sample-controller/pkg/generated/informers/externalversions"
	foolisters "k8s.io/sample-controller/pkg/generated/listers/samplecontroller/v1alpha1"
)

type controller struct {
	kubernetes  kubernetes.Interface
	sample      sample.Interface
	foos        foolisters.FooLister
	deployments appslisters.DeploymentLister
	queue       workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func (c *controller) enqueue(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		c.queue.Add(name)
	}
}

func (c *controller) enqueueOwner(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	deployment, ok := object.(*apps.Deployment)
	if !ok {
		return
	}
	if owner := meta.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
		c.queue.Add(cache.NewObjectName(deployment.Namespace, owner.Name))
	}
}

func handler(enqueue func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, now any) { enqueue(now) },
		DeleteFunc: enqueue,
	}
}

func (c *controller) work(ctx context.Context) {
	for {
		name, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.sync(ctx, name); err != nil {
			klog.ErrorS(err, "sync failed", "foo", name)
			c.queue.AddRateLimited(name)
		} else {
			c.queue.Forget(name)
		}
		c.queue.Done(name)
	}
}

func (c *controller) sync(ctx context.Context, name cache.ObjectName) error {
	foo, err := c.foos.Foos(name.Namespace).Get(name.Name)
	if errors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	if foo.Spec.DeploymentName == "" {
		return nil
	}
	deployment, err := c.deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	if errors.IsNotFound(err) {
		deployment, err = c.kubernetes.AppsV1().Deployments(foo.Namespace).Create(ctx, deploymentFor(foo), meta.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if !meta.IsControlledBy(deployment, foo) {
		return fmt.Errorf("deployment %s belongs to somebody else", deployment.Name)
	}
	if foo.Spec.Replicas != nil && *foo.Spec.Replicas != *deployment.Spec.Replicas {
		changed := deployment.DeepCopy()
		changed.Spec.Replicas = foo.Spec.Replicas
		if deployment, err = c.kubernetes.AppsV1().Deployments(foo.Namespace).Update(ctx, changed, meta.UpdateOptions{}); err != nil {
			return err
		}
	}
	if foo.Status.AvailableReplicas == deployment.Status.AvailableReplicas {
		return nil
	}
	changed := foo.DeepCopy()
	changed.Status.AvailableReplicas = deployment.Status.AvailableReplicas
	_, err = c.sample.SamplecontrollerV1alpha1().Foos(foo.Namespace).UpdateStatus(ctx, changed, meta.UpdateOptions{})
	return err
}

func deploymentFor(foo *foov1.Foo) *apps.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{
			Name:            foo.Spec.DeploymentName,
			Namespace:       foo.Namespace,
			OwnerReferences: []meta.OwnerReference{*meta.NewControllerRef(foo, foov1.SchemeGroupVersion.WithKind("Foo"))},
		},
		Spec: apps.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &meta.LabelSelector{MatchLabels: labels},
			Template: core.PodTemplateSpec{
				ObjectMeta: meta.ObjectMeta{Labels: labels},
				Spec:       core.PodSpec{Containers: []core.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	c := &controller{
		kubernetes: kubernetes.NewForConfigOrDie(config),
		sample:     sample.NewForConfigOrDie(config),
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
	defer c.queue.ShutDown()

	kubernetesInformers := informers.NewSharedInformerFactory(c.kubernetes, 0)
	sampleInformers := sampleinformers.NewSharedInformerFactory(c.sample, 0)
	deployments := kubernetesInformers.Apps().V1().Deployments()
	foos := sampleInformers.Samplecontroller().V1alpha1().Foos()
	c.deployments, c.foos = deployments.Lister(), foos.Lister()
	if _, err := foos.Informer().AddEventHandler(handler(c.enqueue)); err != nil {
		return err
	}
	if _, err := deployments.Informer().AddEventHandler(handler(c.enqueueOwner)); err != nil {
		return err
	}
	kubernetesInformers.Start(ctx.Done())
	sampleInformers.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), deployments.Informer().HasSynced, foos.Informer().HasSynced) {
		return fmt.Errorf("the caches did not sync")
	}
	for range 2 {
		go c.work(ctx)
	}
	<-ctx.Done()
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "client_go:", err)
		os.Exit(1)
	}
}
