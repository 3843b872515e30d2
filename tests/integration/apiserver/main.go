// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command apiserver runs a real Kubernetes API server with a real etcd on loopback, for tests.
//
//	apiserver [--dir DIR] [--audit] [-- COMMAND ARG...]
//
// It is two processes of one binary: this one supervises, its child (the hidden verb "serve") holds etcd and
// kube-apiserver. So a test can kill the server with SIGKILL and start it again on the same data and ports. Keys,
// certificates, ports and data lie in DIR; without --dir it is a new folder that is removed at the end.
//
// With a COMMAND: starts the server, runs the command with the variables below, stops the server, exits with the
// command's code. Without: prints the variables and serves until SIGINT or SIGTERM.
//
//	KGEN_TEST_KUBECONFIG  contexts "token" (the current one) and "certificate", both cluster admins, and "reader" and
//	                      "reader-certificate", a user without any rights until a test grants some
//	KGEN_TEST_APISERVER   address of the control endpoint, http://127.0.0.1:PORT (see control.go)
//	KGEN_TEST_KUBECTL     the kubectl beside this binary, when there is one
//	KGEN_TEST_AUDIT_LOG   with --audit: a file with one JSON object for each request that the server received
//	KUBECONFIG            the same as KGEN_TEST_KUBECONFIG
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"google.golang.org/grpc/grpclog"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "apiserver: serve:", err)
			os.Exit(1)
		}
		return
	}
	code, err := supervise()
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func supervise() (int, error) {
	dir := flag.String("dir", "", "folder of keys, data and logs; default: a new one, removed at the end")
	watchCache := flag.Bool("watch-cache", true, "serve watches from the API server's cache, as by default")
	audit := flag.Bool("audit", false, "log every request")
	flag.Parse()
	// The etcd client of /compact warns through gRPC when it closes; the output here is the tests'.
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)

	if *dir == "" {
		made, err := os.MkdirTemp("", "kgen-apiserver-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(made)
		*dir = made
	}
	site, err := openSite(*dir)
	if err != nil {
		return 1, err
	}
	server := &supervisor{site: site, options: serveOptions{WatchCache: *watchCache, Audit: *audit}}
	defer server.kill()
	if err := server.start(); err != nil {
		return 1, err
	}
	control, err := server.listen()
	if err != nil {
		return 1, err
	}

	variables := []string{
		"KGEN_TEST_KUBECONFIG=" + site.path("kubeconfig"),
		"KGEN_TEST_APISERVER=" + control,
		"KUBECONFIG=" + site.path("kubeconfig"),
	}
	if *audit {
		variables = append(variables, "KGEN_TEST_AUDIT_LOG="+site.path("audit.log"))
	}
	if self, err := os.Executable(); err == nil {
		kubectl := filepath.Join(filepath.Dir(self), "kubectl")
		if _, err := os.Stat(kubectl); err == nil {
			variables = append(variables, "KGEN_TEST_KUBECTL="+kubectl)
		}
	}
	if flag.NArg() == 0 {
		for _, variable := range variables {
			fmt.Println(variable)
		}
		<-stop
		return 0, nil
	}
	return run(flag.Args(), variables, stop)
}

// run runs the command to its end. A signal for us goes to the command; the server is stopped after it has ended.
func run(arguments, variables []string, stop <-chan os.Signal) (int, error) {
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), variables...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return 1, err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	for {
		select {
		case signal := <-stop:
			_ = command.Process.Signal(signal)
		case err := <-done:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return max(exit.ExitCode(), 1), nil
			}
			return 0, err
		}
	}
}
