// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// elect takes part in the election of NAMESPACE/shop with client-go, until SIGTERM. While it leads, it writes IDENTITY
// to the ConfigMap "work" every 50 ms. After SIGTERM it ends its work, releases the Lease and exits.
func elect(kubeconfig, namespace, identity string) error {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	work, endWork := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer endWork()
	leading, endLeading := context.WithCancel(context.Background())
	defer endLeading()
	started := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		<-work.Done()
		select {
		case <-started:
			<-ended
		default:
		}
		endLeading()
	}()
	leaderelection.RunOrDie(leading, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "shop"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   6 * time.Second,
		RenewDeadline:   4 * time.Second,
		RetryPeriod:     time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				close(started)
				defer close(ended)
				fmt.Println("leading")
				for n := 0; work.Err() == nil && ctx.Err() == nil; n++ {
					patch := fmt.Sprintf(`{"data":{"by":%q,"n":"%d"}}`, identity, n)
					_, err := client.CoreV1().ConfigMaps(namespace).Patch(ctx, "work", types.MergePatchType, []byte(patch),
						metav1.PatchOptions{})
					if err != nil {
						fmt.Fprintln(os.Stderr, "patch:", err)
					}
					time.Sleep(50 * time.Millisecond)
				}
			},
			OnStoppedLeading: func() { fmt.Println("stopped") },
			OnNewLeader:      func(leader string) { fmt.Println("leader", leader) },
		},
	})
	return nil
}
