// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command reconcile measures what a controller costs: one of kgen and, in the same run, the same one of
// controller-runtime. `./dev bench reconcile` builds it, starts a real API server, and runs
//
//	reconcile compare --kgen PROGRAM [--objects N] [--repeat N] [--rounds N] [--updates N] [--figures FILE]
//
// which creates the objects and starts in turn PROGRAM, built from bench/reconcile_controller.cc, and itself as
//
//	reconcile controller --objects N --workers N --repeat N
//
// It reads CPU and memory of both from the kernel, and writes the values of all rounds to FILE, from which
// `./dev bench peers` takes them. With --updates it finally runs both at the same time with one worker, and
// changes every object so often, one after the other.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespace = "reconcile"
	prefix    = "object-"
	writers   = 8
)

func loadConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		config.QPS = -1
	}
	return config, err
}

type settings struct {
	kgen, own                        string // commands
	figures                          string // the file to write
	objects, repeat, rounds, updates int
}

// figures are the results of one program with one number of workers, one element for each round.
type figures struct{ sync, each, peak, idle []float64 }

func runCompare(ctx context.Context, arguments []string) error {
	var s settings
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.StringVar(&s.kgen, "kgen", "", "the program with kgen's controller")
	flags.IntVar(&s.objects, "objects", 10000, "")
	flags.IntVar(&s.repeat, "repeat", 10, "how often each object is reconciled after the first time")
	flags.IntVar(&s.rounds, "rounds", 3, "")
	flags.IntVar(&s.updates, "updates", 0, "how often each object is then changed")
	flags.StringVar(&s.figures, "figures", "", "the file for the values of all rounds, as JSON")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if s.rounds < 1 {
		return fmt.Errorf("--rounds is %d; it must be at least 1", s.rounds)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.own = self + " controller"
	config, err := loadConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := create(ctx, client, s.objects); err != nil {
		return err
	}
	if err := s.calls(ctx); err != nil {
		return err
	}
	if s.updates == 0 {
		return nil
	}
	return s.changes(ctx, client)
}

// forAll calls the function for each object, in several goroutines.
func forAll(objects int, do func(name string) error) error {
	var work sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		work.Go(func() {
			for i := w; i < objects && errs[w] == nil; i += writers {
				errs[w] = do(fmt.Sprint(prefix, i))
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}

func create(ctx context.Context, client kubernetes.Interface, objects int) error {
	space := &corev1.Namespace{ObjectMeta: meta.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, space, meta.CreateOptions{}); err != nil {
		return err
	}
	return forAll(objects, func(name string) error {
		object := &corev1.ConfigMap{Data: map[string]string{"key": "value"},
			ObjectMeta: meta.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": "a"}}}
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, object, meta.CreateOptions{})
		return err
	})
}

// calls measures the start and the repeated calls, and prints a table.
func (s settings) calls(ctx context.Context) error {
	programs := []string{s.kgen, s.own}
	names := []string{"kgen", "controller-runtime " + versionOf("sigs.k8s.io/controller-runtime")}
	workers := []int{1, 8}
	var all [2][2]figures
	for round := range s.rounds {
		for w, count := range workers {
			for turn := range programs {
				p := (turn + round) % len(programs)
				if err := s.measure(ctx, programs[p], count, &all[p][w]); err != nil {
					return err
				}
				last := func(values []float64) float64 { return values[len(values)-1] }
				f := all[p][w]
				fmt.Fprintf(os.Stderr, "round %d, %s, %d workers: sync %.2f s, %.2f us, peak %.1f MiB, idle %.1f MiB\n",
					round+1, names[p], count, last(f.sync), last(f.each), last(f.peak), last(f.idle))
			}
		}
	}
	fmt.Printf("%d ConfigMaps, %d calls after the first %d; %s, %d cores; median of %d (smallest to largest)\n\n",
		s.objects, s.objects*s.repeat, s.objects, runtime.Version(), runtime.NumCPU(), s.rounds)
	fmt.Println("| | workers | CPU from start to sync, s | CPU per call, us | RSS 10 s after sync, MiB | peak RSS, MiB |")
	fmt.Println("|---|---|---|---|---|---|")
	for w, count := range workers {
		for p, name := range names {
			f := all[p][w]
			fmt.Printf("| %s | %d | %s | %s | %s | %s |\n", name, count, spread(f.sync, 2), spread(f.each, 2),
				spread(f.idle, 1), spread(f.peak, 1))
		}
	}
	return s.write(all, workers)
}

// write makes the file of figures: the values of all rounds, by figure ("reconcile.sync.8") and program.
func (s settings) write(all [2][2]figures, workers []int) error {
	if s.figures == "" {
		return nil
	}
	values := map[string]map[string][]float64{}
	for w, count := range workers {
		for p, name := range []string{"kgen", "controller-runtime"} {
			f := all[p][w]
			for id, measured := range map[string][]float64{"sync": f.sync, "call": f.each, "rss": f.idle, "peak": f.peak} {
				id = fmt.Sprintf("reconcile.%s.%d", id, count)
				if values[id] == nil {
					values[id] = map[string][]float64{}
				}
				values[id][name] = measured
			}
		}
	}
	text, err := json.MarshalIndent(values, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.figures, text, 0o644)
}

func (s settings) arguments(workers, repeat int) []string {
	return []string{"--objects", fmt.Sprint(s.objects), "--workers", fmt.Sprint(workers), "--repeat", fmt.Sprint(repeat)}
}

func (s settings) measure(ctx context.Context, program string, workers int, f *figures) error {
	p, err := start(program, s.arguments(workers, s.repeat)...)
	if err != nil {
		return err
	}
	if err := p.await(ctx, "synced"); err != nil {
		return err
	}
	synced, err := p.cpu()
	if err != nil {
		return err
	}
	time.Sleep(10 * time.Second)
	idle, err := p.memory("VmRSS")
	if err != nil {
		return err
	}
	before, err := p.cpu()
	if err != nil {
		return err
	}
	if err := p.await(ctx, "done"); err != nil {
		return err
	}
	after, err := p.cpu()
	if err != nil {
		return err
	}
	peak, err := p.memory("VmHWM")
	if err != nil {
		return err
	}
	f.sync = append(f.sync, synced)
	f.each = append(f.each, (after-before)*1e6/float64(s.objects*s.repeat))
	f.idle, f.peak = append(f.idle, idle), append(f.peak, peak)
	return p.end()
}

// changes measures updates of all objects, with both programs at the same time.
func (s settings) changes(ctx context.Context, client kubernetes.Interface) error {
	var both []*process
	var before []float64
	for _, program := range []string{s.kgen, s.own} {
		p, err := start(program, s.arguments(1, 0)...)
		if err != nil {
			return err
		}
		if err := errors.Join(p.await(ctx, "synced"), p.await(ctx, "done")); err != nil {
			return err
		}
		both = append(both, p)
	}
	for _, p := range both {
		cpu, err := p.cpu()
		if err != nil {
			return err
		}
		before = append(before, cpu)
	}
	for round := range s.updates {
		patch := fmt.Appendf(nil, `{"data":{"key":"value %d"}}`, round)
		if err := forAll(s.objects, func(name string) error {
			_, err := client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, patch,
				meta.PatchOptions{})
			return err
		}); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second)
	fmt.Printf("\nCPU per update of an object, from the event to the end of the call, %d updates:\n", s.objects*s.updates)
	for i, p := range both {
		cpu, err := p.cpu()
		if err != nil {
			return err
		}
		fmt.Printf("%s: %.1f us\n", []string{"kgen", "controller-runtime"}[i],
			(cpu-before[i])*1e6/float64(s.objects*s.updates))
		if err := p.end(); err != nil {
			return err
		}
	}
	return nil
}

// spread returns "median (smallest to largest)".
func spread(values []float64, digits int) string {
	slices.Sort(values)
	return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, values[len(values)/2], digits, values[0], digits, values[len(values)-1])
}

func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return "of unknown version"
}

func main() {
	verbs := map[string]func(context.Context, []string) error{"compare": runCompare, "controller": runController}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: reconcile compare|controller ...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := verbs[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1)
	}
}
