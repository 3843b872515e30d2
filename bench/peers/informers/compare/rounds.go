// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	afterSync    = 10 * time.Second // until the RSS is read; the idle CPU is measured during this time
	changedShare = 0.01
	rate         = 5000
	readSeconds  = 3

	reconciled       = 10_000 // objects of a controller
	reconcileRepeats = 10     // calls for each of them after the first
)

// bench is the run: what it measures and where it keeps its files.
type bench struct {
	programs  programs
	folder    string
	mixed     string // the file with the kinds of that scenario
	pods      int
	large     int
	storm     int // events at full speed
	rated     int // events at the rate
	scenarios map[string]bool
	results   *results
}

// pair is the server and the contestant that follows it.
type pair struct {
	bench          *bench
	name           string
	server, client *process
	control        string
	began          time.Time
	stopCounting   context.CancelFunc
}

// pairUp starts a server with the given flags, and the contestant when the server is ready.
func (b *bench) pairUp(ctx context.Context, c contestant, serverFlags []string, verb ...string) (*pair, error) {
	kubeconfig := filepath.Join(b.folder, "kubeconfig")
	server, err := start("the server", "", append([]string{b.programs.server, "--kubeconfig", kubeconfig}, serverFlags...)...)
	if err != nil {
		return nil, err
	}
	line, err := server.next(ctx)
	if err != nil {
		return nil, err
	}
	p := &pair{bench: b, name: c.name, server: server, control: line[0], began: time.Now()}
	if p.client, err = start(c.name, kubeconfig, c.command(b.programs, verb...)...); err != nil {
		return nil, err
	}
	counting, stop := context.WithCancel(ctx)
	p.stopCounting = stop
	go p.client.countThreads(counting)
	return p, nil
}

func (p *pair) end() error {
	p.stopCounting()
	if err := p.client.end(); err != nil {
		return err
	}
	return p.server.end()
}

func (p *pair) add(id string, value float64) {
	p.bench.results.add(id, p.name, value)
	fmt.Fprintf(os.Stderr, " %s=%.4g", id, value)
}

// served is the answer of the control endpoint.
type served struct {
	Seconds    float64 `json:"seconds"`
	LagSeconds float64 `json:"lag_seconds"`
	Error      string  `json:"error"`
}

func (p *pair) ask(ctx context.Context, path string) (served, error) {
	var answer served
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.control+path, nil)
	if err != nil {
		return answer, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer, fmt.Errorf("the server does not answer %s: %w", path, err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("the server's answer to %s is not JSON: %w", path, err)
	}
	if answer.Error != "" {
		return answer, fmt.Errorf("the server could not serve %s: %s", path, answer.Error)
	}
	return answer, nil
}

// sync measures the start, in figures that begin with the given name, and the time without work that follows.
func (p *pair) sync(ctx context.Context, name string, objects int, idle bool) error {
	synced, err := p.client.await(ctx, "synced")
	if err != nil {
		return err
	}
	took := time.Since(p.began)
	if len(synced) != 1 || int(synced[0]) != objects {
		return fmt.Errorf("%s synced %v objects instead of %d", p.name, synced, objects)
	}
	used, err := p.client.settle(ctx)
	if err != nil {
		return err
	}
	peak, err := p.client.status("VmHWM")
	if err != nil {
		return err
	}
	select {
	case <-time.After(time.Until(p.began.Add(took + afterSync))):
	case <-ctx.Done():
		return ctx.Err()
	}
	rss, err := p.client.status("VmRSS")
	if err != nil {
		return err
	}
	p.add(name+".time", took.Seconds())
	p.add(name+".cpu", used)
	p.add(name+".peak", peak)
	p.add(name+".rss", rss)
	if !idle {
		return nil
	}
	return p.idle(ctx)
}

func (p *pair) idle(ctx context.Context) error {
	before, err := p.client.cpu()
	if err != nil {
		return err
	}
	select {
	case <-time.After(afterSync):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := p.client.cpu()
	p.add("idle.cpu", (after-before)*1e3)
	return err
}

// phase is what a contestant did between two commands.
type phase struct {
	cpu, peak, lag             float64 // seconds, MiB, seconds
	seen                       time.Duration
	count, p50, p99, p999, max float64 // latencies in us
}

// during tells the contestant that a phase begins, does something to the server, and waits until the contestant has
// had the last event and does nothing any more.
func (p *pair) during(ctx context.Context, path string) (phase, error) {
	var f phase
	if err := p.client.tell("phase"); err != nil {
		return f, err
	}
	if _, err := p.client.await(ctx, "phase"); err != nil {
		return f, err
	}
	if err := p.client.resetPeak(); err != nil {
		return f, err
	}
	before, err := p.client.cpu()
	if err != nil {
		return f, err
	}
	began := time.Now()
	answer, err := p.ask(ctx, path)
	if err != nil {
		return f, err
	}
	if _, err := p.client.await(ctx, "seen"); err != nil {
		return f, err
	}
	f.seen = time.Since(began)
	after, err := p.client.settle(ctx)
	if err != nil {
		return f, err
	}
	f.cpu = after - before
	if f.peak, err = p.client.status("VmHWM"); err != nil {
		return f, err
	}
	f.lag = answer.LagSeconds
	return f, p.report(ctx, &f)
}

func (p *pair) report(ctx context.Context, f *phase) error {
	if err := p.client.tell("report"); err != nil {
		return err
	}
	numbers, err := p.client.await(ctx, "report")
	if err != nil {
		return err
	}
	if len(numbers) != 5 {
		return fmt.Errorf("%s reported %v, which are not 5 numbers", p.name, numbers)
	}
	f.count, f.p50, f.p99, f.p999, f.max = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
	return nil
}

func (p *pair) relist(ctx context.Context) error {
	f, err := p.during(ctx, fmt.Sprintf("/expire?changed=%g", changedShare))
	if err != nil {
		return err
	}
	p.add("relist.time", f.max/1e6)
	p.add("relist.cpu", f.cpu)
	p.add("relist.peak", f.peak)
	return nil
}

func (p *pair) fullSpeed(ctx context.Context) error {
	events := p.bench.storm
	f, err := p.during(ctx, fmt.Sprintf("/storm?events=%d&rate=0", events))
	if err != nil {
		return err
	}
	p.add("storm.time", f.seen.Seconds()*1e6/float64(events))
	p.add("storm.cpu", f.cpu*1e6/float64(events))
	p.add("storm.peak", f.peak)
	if f.count != float64(events) {
		fmt.Fprintf(os.Stderr, " (the handler had %.0f of %d events, the others were merged)", f.count, events)
	}
	return nil
}

func (p *pair) atRate(ctx context.Context) error {
	events := p.bench.rated
	f, err := p.during(ctx, fmt.Sprintf("/storm?events=%d&rate=%d", events, rate))
	if err != nil {
		return err
	}
	p.add("rated.p50", f.p50)
	p.add("rated.p99", f.p99)
	p.add("rated.p999", f.p999)
	p.add("rated.cpu", f.cpu*1e6/float64(events))
	p.add(serverLag, f.lag*1e3)
	return nil
}

// reads runs a storm at the rate for as long as the contestant reads, and a second longer.
func (p *pair) reads(ctx context.Context) error {
	storm := make(chan error, 1)
	go func() {
		_, err := p.ask(ctx, fmt.Sprintf("/storm?events=%d&rate=%d", rate*(readSeconds+1), rate))
		storm <- err
	}()
	if err := p.client.tell(fmt.Sprintf("reads %d", readSeconds)); err != nil {
		return err
	}
	for range 2 { // "seen" and "reads", in either order
		words, err := p.client.next(ctx)
		if err != nil {
			return err
		}
		if words[0] != "reads" {
			continue
		}
		var gets, used, passed float64
		if _, err := fmt.Sscan(strings.Join(words[1:], " "), &gets, &used, &passed); err != nil {
			return fmt.Errorf("%s printed %v instead of three numbers after \"reads\": %w", p.name, words, err)
		}
		p.add("reads.cpu", used/gets)
		p.add("reads.time", passed/gets)
	}
	return <-storm
}
