// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command compare measures informers of kgen, client-go and kube-rs beside each other. `./dev bench peers` builds
// everything and runs it:
//
//	compare [--rounds N] [--contestants A,B] [--scenarios X,Y] [--pods N] [--write]
//
// In each round it starts, one after the other, a server and each contestant, in an order that changes from round to
// round. CPU, memory and threads come from the kernel; latencies and reads come from the contestant, which all measure
// them in the same way.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Scenarios, in the order in which they run; those before "mixed" share a process.
var allScenarios = []string{"sync", "idle", "relist", "storm", "rated", "reads", "mixed", "dynamic", "large", "reconcile"}

const defaultScenarios = "sync,idle,relist,storm,rated,reads,mixed,dynamic,reconcile"

type options struct {
	rounds                 int
	contestants, scenarios string
	write                  bool
	from, docs, versions   string
}

func parse(b *bench) (options, error) {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "")
	flag.IntVar(&b.pods, "pods", 10_000, "")
	flag.IntVar(&b.large, "large", 300_000, "the number of pods of the scenario \"large\"")
	flag.IntVar(&b.storm, "storm", 100_000, "events at full speed")
	flag.IntVar(&b.rated, "rated", 50_000, "events at the rate")
	flag.StringVar(&o.contestants, "contestants", "", "names, or \"all\"")
	flag.StringVar(&o.scenarios, "scenarios", defaultScenarios, "")
	flag.BoolVar(&o.write, "write", false, "write docs/benchmarks.md and its plots")
	flag.StringVar(&o.from, "from", "", "take the figures of this file, which a run has written, instead of measuring")
	flag.StringVar(&o.docs, "docs", "docs", "the folder for --write")
	flag.StringVar(&b.folder, "folder", "", "the folder for the files of the run")
	flag.StringVar(&b.mixed, "mixed", "", "the file with the kinds of the scenario \"mixed\"")
	flag.StringVar(&b.programs.server, "server", "", "")
	flag.StringVar(&b.programs.kgen, "kgen", "", "")
	flag.StringVar(&b.programs.kinds, "kinds", "", "")
	flag.StringVar(&b.programs.clientGo, "client-go", "", "")
	flag.StringVar(&b.programs.kubeRs, "kube-rs", "", "")
	flag.StringVar(&b.programs.reconcile, "reconcile", "", "the command that measures controllers, with its arguments")
	flag.StringVar(&o.versions, "versions", "", "lines for the document, separated by semicolons")
	flag.Parse()
	if flag.NArg() != 0 {
		return o, fmt.Errorf("what is %q? ./dev bench --help lists the arguments", flag.Args())
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("--rounds is %d; it must be at least 1", o.rounds)
	}
	b.scenarios = map[string]bool{}
	for _, name := range strings.Split(o.scenarios, ",") {
		if !slices.Contains(allScenarios, name) {
			return o, fmt.Errorf("no such scenario: %q; there are %s", name, strings.Join(allScenarios, ", "))
		}
		b.scenarios[name] = true
	}
	return o, nil
}

// podsFile makes the file of reference pods, unless it is there.
func (b *bench) podsFile(ctx context.Context, count int) (string, error) {
	path := filepath.Join(b.folder, fmt.Sprintf("pods-%d.jsonl", count))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	file, err := os.Create(path + ".new")
	if err != nil {
		return "", err
	}
	defer file.Close()
	command := exec.CommandContext(ctx, b.programs.kgen, "reference-pods", fmt.Sprint(count))
	command.Stdout, command.Stderr = file, os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s made no reference pods: %w", command, err)
	}
	return path, os.Rename(path+".new", path)
}

// podsRound measures one contestant with the pod informer.
func (b *bench) podsRound(ctx context.Context, c contestant) error {
	path, err := b.podsFile(ctx, b.pods)
	if err != nil {
		return err
	}
	p, err := b.pairUp(ctx, c, []string{"--pods", path, "--count", fmt.Sprint(b.pods), fmt.Sprintf("--protobuf=%v", c.protobuf)},
		"pods")
	if err != nil {
		return err
	}
	if err := p.sync(ctx, "sync", b.pods, b.scenarios["idle"]); err != nil {
		return err
	}
	steps := []struct {
		name string
		run  func(context.Context) error
	}{{"relist", p.relist}, {"storm", p.fullSpeed}, {"rated", p.atRate}, {"reads", p.reads}}
	for _, step := range steps {
		if !b.scenarios[step.name] {
			continue
		}
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return p.end()
}

// fits says whether the large list fits into the memory, by what a pod took at the first sync of this run.
func (b *bench) fits(c contestant, path string) (bool, error) {
	small, ok := b.results.spread("sync.peak", c.name)
	if !ok {
		return true, nil
	}
	var available float64
	if _, err := fmt.Sscan(fieldOf("/proc/meminfo", "MemAvailable"), &available); err != nil {
		return false, fmt.Errorf("/proc/meminfo has no MemAvailable: %w", err)
	}
	file, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	const (
		usable    = 0.9 // of what is available
		encodings = 2   // the server keeps the pods in both, and the file has the longer one
		mebi      = 1 << 20
	)
	needed := small.most * float64(b.large) / float64(b.pods)
	if needed+encodings*float64(file.Size())/mebi < usable*available/1024 {
		return true, nil
	}
	b.results.note("large", fmt.Sprintf("%s was left out: by its first sync of %d pods it would take %.0f MiB, more than the "+
		"machine has beside the server.", c.name, b.pods, needed))
	return false, nil
}

func (b *bench) largeRound(ctx context.Context, c contestant) error {
	path, err := b.podsFile(ctx, b.large)
	if err != nil {
		return err
	}
	if enough, err := b.fits(c, path); err != nil || !enough {
		return err
	}
	p, err := b.pairUp(ctx, c, []string{"--pods", path, "--count", fmt.Sprint(b.large), fmt.Sprintf("--protobuf=%v", c.protobuf)},
		"pods")
	if err != nil {
		return err
	}
	if err := p.sync(ctx, "large", b.large, false); err != nil {
		return err
	}
	return p.end()
}

// reconcile measures controllers with a program of its own, which starts an API server.
func (b *bench) reconcile(ctx context.Context, rounds int) error {
	path := filepath.Join(b.folder, "reconcile.json")
	words := append(strings.Fields(b.programs.reconcile), "--figures", path, "--rounds", fmt.Sprint(rounds),
		"--objects", fmt.Sprint(reconciled), "--repeat", fmt.Sprint(reconcileRepeats))
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s did not measure controllers: %w; see what it wrote above", command, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var values map[string]map[string][]float64
	if err := json.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("%s is not what was expected: %w", path, err)
	}
	maps.Copy(b.results.Values, values)
	b.results.Contestants = append(b.results.Contestants, controllerRuntime.name)
	return nil
}

func (b *bench) measure(ctx context.Context, c contestant) error {
	onPods := func(name string) bool { return b.scenarios[name] }
	if slices.ContainsFunc(allScenarios[:6], onPods) {
		if err := b.podsRound(ctx, c); err != nil {
			return err
		}
	}
	for _, name := range []string{"mixed", "dynamic"} {
		if b.scenarios[name] {
			if err := b.kindsRound(ctx, c, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if b.scenarios["large"] {
		if err := b.largeRound(ctx, c); err != nil {
			return fmt.Errorf("large: %w", err)
		}
	}
	return nil
}

func (b *bench) rounds(ctx context.Context, count int, chosen []contestant) error {
	for round := range count {
		for turn := range chosen {
			c := chosen[(turn+round)%len(chosen)]
			fmt.Fprintf(os.Stderr, "round %d, %s:", round+1, c.name)
			if err := b.measure(ctx, c); err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, c.name, err)
			}
			fmt.Fprintln(os.Stderr)
		}
	}
	return nil
}

// obtain measures, or reads what an earlier run has measured.
func obtain(ctx context.Context, b *bench, o options) (*results, error) {
	if o.from != "" {
		text, err := os.ReadFile(o.from)
		if err != nil {
			return nil, err
		}
		var r results
		return &r, json.Unmarshal(text, &r)
	}
	chosen, err := choose(o.contestants)
	if err != nil {
		return nil, err
	}
	b.results = &results{Arguments: arguments(), Date: time.Now().UTC().Format("2006-01-02"), Rounds: o.rounds, Pods: b.pods,
		Large: b.large, Storm: b.storm, Rated: b.rated,
		Machine: machine(), Versions: b.versions(o.versions), Values: map[string]map[string][]float64{},
		Notes: map[string][]string{}}
	for _, c := range chosen {
		b.results.Contestants = append(b.results.Contestants, c.name)
	}
	if err := b.rounds(ctx, o.rounds, chosen); err != nil {
		return nil, err
	}
	if b.scenarios["reconcile"] {
		if err := b.reconcile(ctx, o.rounds); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(b.results, "", " ")
	if err != nil {
		return nil, err
	}
	return b.results, os.WriteFile(filepath.Join(b.folder, "figures.json"), text, 0o644)
}

func run(ctx context.Context) error {
	b := &bench{}
	o, err := parse(b)
	if err != nil {
		return err
	}
	r, err := obtain(ctx, b, o)
	if err != nil {
		return err
	}
	fmt.Print(r.tables())
	if o.write {
		return r.write(o.docs)
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}
