// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command client_go has client-go's informers for `./dev bench peers`. It reads $KUBECONFIG.
//
//	client_go [--json] [--paged] pods
//	client_go [--json] [--paged] mixed
//	client_go [--paged] dynamic FILE        the resources of that file of the server
//
// Prints "synced N" when the handlers have had all N objects. With "pods" it then takes commands on standard input:
// "phase" forgets all latencies, "report" prints them, "reads SECONDS" measures reads from the cache. When the handler
// gets the last event of a phase, it prints "seen". The programs for kgen and kube-rs do the same.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const sentKey = "bench.kgen.dev/sent"

// observed is what the handler has seen of the current phase.
type observed struct {
	mu        sync.Mutex
	since     int64 // nanoseconds since 1970
	latencies histogram
	names     int // bytes
}

func (o *observed) object(pod *corev1.Pod) {
	now := time.Now().UnixNano()
	sent := pod.Annotations[sentKey]
	if len(sent) < 2 {
		return
	}
	at, err := strconv.ParseInt(sent[1:], 10, 64)
	if err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names += len(pod.Name)
	if at < o.since { // a relist passes unchanged objects on too
		return
	}
	o.latencies.record(uint64(max(now-at, 0) / 1000))
	if sent[0] == '!' {
		fmt.Println("seen")
	}
}

func (o *observed) phase() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since, o.latencies = time.Now().UnixNano(), histogram{}
	fmt.Println("phase")
}

func (o *observed) report() {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := &o.latencies
	fmt.Println("report", h.total, h.percentile(0.5), h.percentile(0.99), h.percentile(0.999), h.max)
}

// onAll calls the function for each object that was added or changed.
func onAll[T any](do func(T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { do(object.(T)) },
		UpdateFunc: func(_, object any) { do(object.(T)) },
	}
}

func runPods(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	seen := &observed{since: time.Now().UnixNano()}
	handler, err := pods.Informer().AddEventHandler(onAll(seen.object))
	if err != nil {
		return err
	}
	lister := pods.Lister()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		return errors.New("the cache did not sync")
	}
	fmt.Println("synced", len(pods.Informer().GetStore().ListKeys()))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, argument, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "phase":
			seen.phase()
		case "report":
			seen.report()
		case "reads":
			if err := reads(lister, argument); err != nil {
				return err
			}
		default:
			return fmt.Errorf("no such command: %q", lines.Text())
		}
	}
	return nil
}

// syncAll starts informers with handlers that count, and waits for them.
func syncAll(ctx context.Context, all []cache.SharedIndexInformer, start func()) error {
	var count atomic.Int64
	var handlers []cache.InformerSynced
	for _, informer := range all {
		handler, err := informer.AddEventHandler(onAll(func(object runtime.Object) {
			if accessor, ok := object.(meta.ObjectMetaAccessor); ok && accessor.GetObjectMeta().GetName() != "" {
				count.Add(1)
			} else if named, ok := object.(meta.Object); ok && named.GetName() != "" {
				count.Add(1)
			}
		}))
		if err != nil {
			return err
		}
		handlers = append(handlers, handler.HasSynced)
	}
	start()
	if !cache.WaitForCacheSync(ctx.Done(), handlers...) {
		return errors.New("the caches did not sync")
	}
	fmt.Println("synced", count.Load())
	_, err := io.Copy(io.Discard, os.Stdin) // until the end of the run
	return err
}

func loadConfig(json bool) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if !json {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	return config, nil
}

func run(ctx context.Context) error {
	json := flag.Bool("json", false, "ask for JSON instead of protobuf")
	paged := flag.Bool("paged", false, "list instead of a watch that begins with the state")
	flag.Parse()
	if *paged {
		os.Setenv("KUBE_FEATURE_WatchListClient", "false")
	}
	config, err := loadConfig(*json)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	switch flag.Arg(0) {
	case "pods":
		return runPods(ctx, client)
	case "mixed":
		return runMixed(ctx, client)
	case "dynamic":
		return runDynamic(ctx, config, flag.Arg(1))
	}
	return errors.New("usage: client_go [--json] [--paged] pods|mixed|dynamic FILE")
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "client_go:", err)
		os.Exit(1)
	}
}
