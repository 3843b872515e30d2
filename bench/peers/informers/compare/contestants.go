// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// programs are the paths of what is measured.
type programs struct{ server, kgen, kinds, clientGo, kubeRs, reconcile string }

// contestant is a program with certain flags.
type contestant struct {
	name     string
	protobuf bool
	command  func(p programs, verb ...string) []string
	about    string
}

func with(program func(programs) string, flags ...string) func(programs, ...string) []string {
	return func(p programs, verb ...string) []string {
		return slices.Concat([]string{program(p)}, flags, verb)
	}
}

func clientGo(p programs) string { return p.clientGo }
func kubeRs(p programs) string   { return p.kubeRs }

// ofKgen has its pod informer and its other kinds in two programs.
func ofKgen(flags ...string) func(programs, ...string) []string {
	return func(p programs, verb ...string) []string {
		program := p.kinds
		if verb[0] == "pods" {
			program = p.kgen
		}
		return slices.Concat([]string{program}, verb, flags)
	}
}

func isKgen(contestant string) bool { return strings.HasPrefix(contestant, "kgen") }

var everyone = []contestant{
	{"kgen", true, ofKgen(), "a factory and a shared informer with a handler; protobuf over HTTP/2; streaming lists, as by " +
		"default"},
	{"kgen-json", false, ofKgen("--json"), "the same with `Config::protobuf` off, as for custom resources"},
	{"client-go-protobuf", true, with(clientGo), "an informer factory with a handler; protobuf over HTTP/2; streaming " +
		"lists, as by default"},
	{"client-go-json", false, with(clientGo, "--json"), "the same with JSON, as client-go does by default and always does " +
		"for custom resources"},
	{"kube-rs", false, with(kubeRs), "`watcher` with `default_backoff`, `reflect` into a store and `applied_objects`; " +
		"JSON over HTTP/1.1, as by default; `streaming_lists()`"},
	{"kgen-short-calls", true, ofKgen("--short-calls"), "kgen with `HandlerOptions::short_calls`"},
	{"kgen-paged", true, ofKgen("--paged"), "kgen without streaming lists"},
	{"client-go-protobuf-paged", true, with(clientGo, "--paged"), "client-go with protobuf and without streaming lists"},
	{"client-go-json-paged", false, with(clientGo, "--json", "--paged"), "client-go with JSON and without streaming lists"},
	{"kube-rs-paged", false, with(kubeRs, "--paged"), "kube-rs with pages of 500, as by default"},
}

// controllerRuntime takes part in the scenario "reconcile" only, beside kgen.
var controllerRuntime = contestant{name: "controller-runtime", about: "a controller with the same reconciler; JSON, as by default"}

const defaultContestants = 5

func choose(names string) ([]contestant, error) {
	if names == "" {
		return everyone[:defaultContestants], nil
	}
	if names == "all" {
		return everyone, nil
	}
	var chosen []contestant
	for _, name := range strings.Split(names, ",") {
		at := slices.IndexFunc(everyone, func(c contestant) bool { return c.name == name })
		if at < 0 {
			var known []string
			for _, c := range everyone {
				known = append(known, c.name)
			}
			return nil, fmt.Errorf("no such contestant: %q; there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, everyone[at])
	}
	return chosen, nil
}
