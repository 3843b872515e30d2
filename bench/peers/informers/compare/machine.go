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
	return []string{
		fmt.Sprintf("%d cores (%s), memory %s", runtime.NumCPU(), fieldOf("/proc/cpuinfo", "model name"),
			fieldOf("/proc/meminfo", "MemTotal")),
		"Linux " + firstLine("/proc/sys/kernel/osrelease"),
		"/proc/loadavg when the run began: " + firstLine("/proc/loadavg"),
	}
}

// versions adds client-go's, which its program knows, to those of the command line.
func (b *bench) versions(given string) []string {
	all := strings.Split(given, ";")
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

// arguments are those of `./dev bench peers`: without the paths that it adds.
func arguments() string {
	paths := []string{"--docs=", "--folder=", "--mixed=", "--server=", "--kgen=", "--kinds=", "--client-go=", "--kube-rs=",
		"--versions="}
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
