// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command recovery measures how long informers need to be current again after faults of a real API server: kgen's and,
// in the same rounds, client-go's. `./dev bench recovery` builds it, starts the server, and runs
//
//	recovery rounds --kgen PROGRAM [--rounds N] [--first N] [--results FILE]
//
// which starts itself a second time as the program with client-go's informers:
//
//	recovery informers --server URL --namespaces A,B --user-agent NAME
//
// PROGRAM is bench/recovery_informers.cc and takes the same flags. Both print one line to standard output for each
// event of a handler (see member.go).
//
// A round: writers change objects all the time, bypassing the relays between the informers and the server. Then a fault
// is caused. As soon as the server responds to an independent reader again (/readyz, and a list of every resource), the
// writers pause, one marker object in each resource and namespace is changed, and the reader lists everything. An
// informer program is current when its handlers have reported exactly the objects and versions of those lists. The time
// counts from the first response to the reader, so it includes writing the markers.
//
// Requests are counted in the server's audit log, by user agent; each program has one connection.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	verbs := map[string]func(context.Context, []string) error{"rounds": runRounds, "informers": runInformers}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: recovery rounds|informers ...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := verbs[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "recovery:", err)
		os.Exit(1)
	}
}
