// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// fieldOf returns the value of the first line of a file that begins with the name and a colon.
func fieldOf(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path) // an empty line says that it is not known
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// machine describes where the run takes place.
func machine() []string {
	kernel, _, _ := strings.Cut(firstLine("/proc/sys/kernel/osrelease"), "-")
	var load [3]float64
	_, _ = fmt.Sscan(firstLine("/proc/loadavg"), &load[0], &load[1], &load[2]) // zero: not known
	lines := []string{
		fmt.Sprintf("%d cores (%s), memory %s, Linux %s", runtime.NumCPU(), fieldOf("/proc/cpuinfo", "model name"),
			fieldOf("/proc/meminfo", "MemTotal"), kernel),
		fmt.Sprintf("load of the machine before the run: %.2f, %.2f, %.2f (1, 5 and 15 minutes)", load[0], load[1], load[2]),
	}
	const busy = 0.5 // tasks
	if load[0] > busy {
		lines = append(lines, "**the machine was busy with other work: times, latencies and CPU are higher than on an idle one**")
	}
	return lines
}

// versions adds client-go's version, which its program knows, to the versions of the command line.
func (b *bench) versions(given string) []string {
	var all []string
	for _, line := range strings.Split(given, ";") {
		if line != "" && (b.scenarios["reconcile"] || !strings.HasPrefix(line, controllerRuntime.name)) {
			all = append(all, line)
		}
	}
	info, err := buildinfo.ReadFile(b.programs.clientGo)
	if err != nil {
		return all
	}
	for _, dependency := range info.Deps {
		if dependency.Path == "k8s.io/client-go" {
			all = append(all, fmt.Sprintf("client-go %s, %s", dependency.Version, info.GoVersion))
		}
	}
	return all
}

// arguments returns the arguments of `./dev bench peers`, without the paths that it adds.
func arguments() string {
	paths := []string{"--docs=", "--folder=", "--mixed=", "--server=", "--kgen=", "--kinds=", "--client-go=", "--kube-rs=",
		"--reconcile=", "--versions="}
	var own []string
	for _, argument := range os.Args[1:] {
		added := false
		for _, path := range paths {
			added = added || strings.HasPrefix(argument, path)
		}
		if !added {
			own = append(own, argument)
		}
	}
	return strings.Join(own, " ")
}
