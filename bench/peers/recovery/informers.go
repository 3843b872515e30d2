// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// runInformers is client-go's program: typed shared informers with the defaults of the library.
func runInformers(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("informers", flag.ContinueOnError)
	server := flags.String("server", "", "URL of the server, or of a relay before it")
	namespaces := flags.String("namespaces", "", "informers of every resource for each of these; empty: for all at once")
	userAgent := flags.String("user-agent", "", "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config, err := loadConfig("reader", *server)
	if err != nil {
		return err
	}
	config.UserAgent = *userAgent
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, namespace := range strings.Split(*namespaces, ",") {
		factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace))
		for _, resource := range resources {
			if err := watchResource(factory, resource); err != nil {
				return err
			}
		}
		factory.Start(ctx.Done())
		for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
			if !synced {
				return fmt.Errorf("%v did not sync", kind)
			}
		}
	}
	fmt.Println("synced")
	<-ctx.Done()
	return nil
}

func watchResource(factory informers.SharedInformerFactory, resource schema.GroupVersionResource) error {
	informer, err := factory.ForResource(resource)
	if err != nil {
		return err
	}
	tell := func(sign string, object any) {
		if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = deleted.Obj
		}
		if it, err := meta.Accessor(object); err == nil {
			// Each line is written with one call, so that the lines of several handlers are not mixed.
			line := fmt.Sprintf("%d %s %s %s/%s %s\n", time.Now().UnixNano(), sign, resource.Resource, it.GetNamespace(),
				it.GetName(), it.GetResourceVersion())
			_, _ = os.Stdout.WriteString(line)
		}
	}
	_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("+", object) },
		UpdateFunc: func(_, object any) { tell("+", object) },
		DeleteFunc: func(object any) { tell("-", object) },
	})
	return err
}
