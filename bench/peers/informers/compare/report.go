// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// section is the part of the document about a scenario.
type section struct{ scenario, title, text string }

func (r *results) sections() []section {
	return []section{
		{"sync", fmt.Sprintf("First sync of %d pods", r.Pods), "The process starts, follows all pods and has called its " +
			"handler for each. CPU and peak RSS are read when it does nothing any more."},
		{"relist", "Relist", "The watch ends with 410 after 1 % of the pods have changed. The informer gets the whole list " +
			"again. The time includes how long each library waits before it tries again."},
		{"storm", "Updates at full speed", fmt.Sprintf("%d updates of pods, as fast as the informer reads them: the server "+
			"waits when the connection is full. Where the time for each event is longer than the CPU, the server or other "+
			"work of the machine was the limit.", r.Storm)},
		{"rated", fmt.Sprintf("Updates at %d a second", rate), fmt.Sprintf("%d updates at an even pace. The latency is the time "+
			"from the moment when the server makes the event to the call of the handler. Where the server was late by "+
			"far more than a few milliseconds, its connection was full: the informer could not keep up on this machine, and the "+
			"latencies measure its backlog.", r.Rated)},
		{"reads", "Reads beside updates", fmt.Sprintf("One thread gets pods by random names for %d seconds, while %d updates a "+
			"second arrive.", readSeconds, rate)},
		{"idle", "Idle", "Nothing changes for 10 s. The server sends a bookmark each second, which is 60 times as often as " +
			"a real one."},
		{"mixed", "Informers of 56 built-in kinds", fmt.Sprintf("One process follows 56 kinds with %d small objects each.",
			mixedObjects)},
		{"dynamic", fmt.Sprintf("%d informers without types", dynamicKinds), fmt.Sprintf("Custom resources of %d kinds, with %d "+
			"objects each: `ForResource` of kgen, `dynamicinformer` of client-go, `DynamicObject` of kube-rs. All use JSON.",
			dynamicKinds, dynamicObjects)},
		{"large", fmt.Sprintf("First sync of %d pods", r.Large), "As the first sync above."},
		{"reconcile", "A controller", fmt.Sprintf("A controller of %d ConfigMaps follows a real API server. It is called "+
			"once for each object, and then %d times more; each call reads the object from the cache and changes nothing. "+
			"`./dev bench reconcile` measures this alone, and updates as well.", reconciled, reconcileRepeats)},
	}
}

// table has a row for each figure of the scenario.
func (r *results) table(scenario string) string {
	var text strings.Builder
	contestants := r.of(scenario)
	text.WriteString("| | " + strings.Join(contestants, " | ") + " | better |\n|---|" +
		strings.Repeat("---|", len(contestants)+1) + "\n")
	for _, f := range figures {
		if f.scenario != scenario || r.Values[f.id] == nil {
			continue
		}
		title := f.title
		if f.unit != "" {
			title += ", " + f.unit
		}
		fmt.Fprintf(&text, "| %s |", title)
		for _, contestant := range contestants {
			cell := ""
			if s, ok := r.spread(f.id, contestant); ok {
				cell = s.text(f.digits)
			}
			fmt.Fprintf(&text, " %s |", cell)
		}
		fmt.Fprintf(&text, " %s |\n", r.verdict(f))
	}
	return text.String()
}

func (r *results) tables() string {
	var text strings.Builder
	for _, s := range r.sections() {
		if len(r.of(s.scenario)) > 0 {
			fmt.Fprintf(&text, "## %s\n\n%s\n\n%s\n", s.title, wrapped(s.text), r.table(s.scenario))
			for _, note := range r.Notes[s.scenario] {
				fmt.Fprintf(&text, "%s\n\n", wrapped(note))
			}
		}
	}
	return text.String()
}

// worse lists where a contestant other than kgen's is better.
func (r *results) worse() string {
	var lines []string
	for _, s := range r.sections() {
		for _, f := range figures {
			if verdict := r.verdict(f); f.scenario == s.scenario && strings.HasPrefix(verdict, "**") {
				lines = append(lines, wrapped(fmt.Sprintf("* %s, %s: %s", s.title, f.title, verdict)))
			}
		}
	}
	if len(lines) == 0 {
		return "Nowhere beyond the spread of the rounds.\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// wrapped breaks a paragraph into lines of up to 120 characters.
func wrapped(paragraph string) string {
	var text strings.Builder
	length := 0
	for i, word := range strings.Fields(paragraph) {
		switch {
		case i == 0:
		case length+1+len(word) > 120:
			text.WriteByte('\n')
			length = 0
		default:
			text.WriteByte(' ')
			length++
		}
		text.WriteString(word)
		length += len(word)
	}
	return text.String()
}

const introduction = `# kgen beside client-go and kube-rs

<!-- Written by "./dev bench peers --write"; change bench/peers/informers/compare/ instead of this file. -->

Informers of three libraries follow the same server, one process at a time. The server replays pods of about 9.2 KB
(which all benchmarks here use, from ` + "`bench/reference_pods.cc`" + `) over TLS on the loopback interface. It has encoded
them in advance, as JSON and as protobuf, so that it takes little CPU from the informers. Each program is what an
engineer who knows the library would write, and its handler does the same work: it reads the name and an annotation with
the time at which the server sent the event, and counts the latency.

The tables have the median of the rounds, with the least and the largest value. Less is better everywhere. The last
column says which is better, and by how much, kgen or the best of the other libraries; where the values of the rounds
overlap, it calls that even. Rows in which another library is better are bold there.
`

const limits = `## What this does not show

* One machine, one server on the loopback interface, and one informer process at a time. The server and the informer
  share the cores, so times and latencies depend on their number. CPU depends on it less.
* The server does not compress. A real one compresses long lists for clients that ask for it, as client-go does.
* kube-rs has no protobuf. Custom resources have none anywhere.
* All allocators are the default of their language; kgen has its own heap for objects.
* Recovery after faults of a real API server is measured by ` + "`./dev bench recovery`" + ` ([recovery.md](recovery.md)).
`

func (r *results) document(plots []string) string {
	var text strings.Builder
	text.WriteString(introduction)
	fmt.Fprintf(&text, "\n%s\n\n", wrapped(fmt.Sprintf("This run: `./dev bench peers %s`, %s, rounds: %d.", r.Arguments, r.Date,
		r.Rounds)))
	for _, line := range slices.Concat(r.Machine, r.Versions) {
		fmt.Fprintf(&text, "* %s\n", line)
	}
	text.WriteString("\n| contestant | what it is |\n|---|---|\n")
	for _, c := range slices.Concat(everyone, []contestant{controllerRuntime}) {
		if slices.Contains(r.Contestants, c.name) {
			fmt.Fprintf(&text, "| %s | %s |\n", c.name, c.about)
		}
	}
	text.WriteByte('\n')
	for _, plot := range plots {
		fmt.Fprintf(&text, "![%s](%s)\n", strings.TrimSuffix(strings.TrimPrefix(plot, "benchmarks-"), ".svg"), plot)
	}
	fmt.Fprintf(&text, "\n## Where another library is better\n\n%s\n%s%s", r.worse(), r.tables(), limits)
	return text.String()
}

// write makes docs/benchmarks.md and its plots.
func (r *results) write(folder string) error {
	var names []string
	for _, p := range plots {
		drawn := r.plot(p)
		if drawn == "" {
			continue
		}
		name := "benchmarks-" + p.name + ".svg"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(drawn), 0o644); err != nil {
			return err
		}
		names = append(names, name)
	}
	return os.WriteFile(filepath.Join(folder, "benchmarks.md"), []byte(r.document(names)), 0o644)
}
