// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
)

const getsBetweenLooks = 256 // at the clock

func threadCPU() int64 {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used) // cannot fail for the own thread
	return used.Nano()
}

// reads gets pods by random keys for so many seconds. Prints the number of gets, and the nanoseconds of CPU and of time.
func reads(lister listers.PodLister, seconds string) error {
	duration, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return fmt.Errorf("reads: %w", err)
	}
	all, err := lister.List(labels.Everything())
	if err != nil {
		return err
	}
	keys := make([][2]string, len(all))
	for i, pod := range all {
		keys[i] = [2]string{pod.Namespace, pod.Name}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, cpu := time.Now(), threadCPU()
	gets, missing, random := 0, 0, uint64(88172645463325252)
	for time.Since(start).Seconds() < duration {
		for range getsBetweenLooks {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			key := &keys[random%uint64(len(keys))]
			if pod, err := lister.Pods(key[0]).Get(key[1]); err != nil || pod.Name != key[1] {
				missing++
			}
		}
		gets += getsBetweenLooks
	}
	used, passed := threadCPU()-cpu, time.Since(start)
	if missing != 0 {
		return fmt.Errorf("%d of %d gets found nothing", missing, gets)
	}
	fmt.Println("reads", gets, used, passed.Nanoseconds())
	return nil
}
