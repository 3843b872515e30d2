// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

const (
	stallTime     = 20 * time.Second
	limitOfARound = 150 * time.Second // after which a program counts as not current
	pauseBetween  = 3 * time.Second
)

var errNotCurrent = errors.New("not current")

// fault is what happens in one round.
type fault struct {
	kind    string // "killed", "cut" or "stalled"
	away    time.Duration
	balance bool // killed, behind a balancer that accepts connections while the server is away
	compact bool
}

// faultOf gives each round its fault: of five, three kill the server, one cuts connections, one stalls them.
func faultOf(round int) fault {
	f := fault{compact: round%2 == 1}
	switch round % 5 {
	case 3:
		f.kind = "cut"
	case 4:
		f.kind, f.away = "stalled", stallTime
	default:
		f.kind, f.away = "killed", time.Duration(1+round*7%10)*time.Second
		f.balance = round%5 == 1
	}
	return f
}

func (f fault) String() string {
	text := f.kind
	if f.away > 0 {
		text += fmt.Sprintf(" %d s", int(f.away.Seconds()))
	}
	if f.balance {
		text += " behind a balancer"
	}
	if f.compact {
		text += ", compacted"
	}
	return text
}

// result is one round as a line of the results file.
type result struct {
	Round   int                `json:"round"`
	Fault   string             `json:"fault"`
	Members map[string]outcome `json:"members"`
	Marked  float64            `json:"marked"` // seconds until the markers were written
	Order   []string           `json:"order"`
	Bars    map[string]float64 `json:"bars"`
}

type outcome struct {
	Current  float64 `json:"current"`  // seconds; negative: not within the limit
	Requests int     `json:"requests"` // the most within one second
}

type rounds struct {
	cluster *cluster
	members []*member
}

func runRounds(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("rounds", flag.ContinueOnError)
	kgen := flags.String("kgen", "", "kgen's program with informers")
	count := flags.Int("rounds", 20, "how many")
	first := flags.Int("first", 0, "the number of the first, which decides about its fault")
	results := flags.String("results", "", "a file to which each round is appended; the report is about all that is in it")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &rounds{}
	// Ends the programs before this one ends.
	defer func() {
		cancel()
		for _, m := range r.members {
			<-m.ended
		}
	}()
	if err := r.prepare(ctx, *kgen); err != nil {
		return err
	}
	all, err := loadResults(*results)
	if err != nil {
		return err
	}
	for round := *first; round < *first+*count; round++ {
		done, err := r.run(ctx, round)
		if err != nil {
			return fmt.Errorf("round %d, %v: %w", round, faultOf(round), err)
		}
		all = append(all, done)
		if *results != "" {
			if err := saveResult(*results, done); err != nil {
				return err
			}
		}
		fmt.Fprintln(os.Stderr, describe(done))
		if err := sleep(ctx, pauseBetween); err != nil {
			return err
		}
	}
	return report(os.Stdout, all)
}

// prepare fills the cluster and starts the programs and the writer.
func (r *rounds) prepare(ctx context.Context, kgen string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if r.cluster, err = openCluster(); err != nil {
		return err
	}
	if err := r.cluster.prepare(ctx); err != nil {
		return err
	}
	for _, size := range []struct {
		informers  int
		namespaces []string
		bar        time.Duration
	}{{len(resources), []string{""}, 3 * time.Second}, {namespaceCount * len(resources), namespaces(), 6 * time.Second}} {
		if err := r.startMember(ctx, fmt.Sprint("kgen-", size.informers), []string{kgen}, size.namespaces, size.bar); err != nil {
			return err
		}
		if err := r.startMember(ctx, fmt.Sprint("client-go-", size.informers), []string{self, "informers"}, size.namespaces, 0); err != nil {
			return err
		}
	}
	go r.cluster.write(ctx, 1)
	return nil
}

func (r *rounds) startMember(ctx context.Context, name string, command, namespaces []string, bar time.Duration) error {
	upstream, err := url.Parse(r.cluster.config.Host)
	if err != nil {
		return err
	}
	m := &member{name: name, bar: bar}
	if m.relay, err = newRelay(upstream.Host); err != nil {
		return err
	}
	if err := m.start(ctx, command, namespaces); err != nil {
		return err
	}
	r.members = append(r.members, m)
	return nil
}

// run plays one round and waits until every member is current again.
func (r *rounds) run(ctx context.Context, round int) (result, error) {
	f := faultOf(round)
	done := result{Round: round, Fault: f.String(), Members: map[string]outcome{}, Bars: map[string]float64{}}
	started := time.Now()
	answers, err := r.inflict(ctx, f)
	if err != nil {
		return done, err
	}
	r.cluster.writing.Lock()
	defer r.cluster.writing.Unlock()
	if err := r.cluster.mark(ctx, fmt.Sprint("round-", round)); err != nil {
		return done, err
	}
	done.Marked = time.Since(answers).Seconds()
	target, err := r.cluster.read(ctx, r.cluster.dynamic)
	if err != nil {
		return done, err
	}
	type ending struct {
		when time.Time
		err  error
	}
	endings := make([]chan ending, len(r.members))
	for i, m := range r.members {
		endings[i] = make(chan ending, 1)
		go func() {
			when, err := m.awaitState(ctx, target, limitOfARound)
			endings[i] <- ending{when, err}
		}()
	}
	for i, m := range r.members {
		end := <-endings[i]
		current := end.when.Sub(answers).Seconds()
		if errors.Is(end.err, errNotCurrent) {
			current = -1
		} else if end.err != nil {
			return done, end.err
		}
		done.Members[m.name] = outcome{Current: max(current, -1)}
		done.Order = append(done.Order, m.name)
		done.Bars[m.name] = m.bar.Seconds()
	}
	return done, countRequests(&done, started)
}

// inflict causes the fault, waits for its end, and returns the time at which the server responded again.
func (r *rounds) inflict(ctx context.Context, f fault) (time.Time, error) {
	switch f.kind {
	case "killed":
		return r.killServer(ctx, f)
	case "cut":
		return r.cutConnections(ctx, f)
	default:
		return r.stallConnections(ctx, f)
	}
}

func (r *rounds) killServer(ctx context.Context, f fault) (time.Time, error) {
	// No informer has seen what is written between the two steps.
	if !f.balance {
		for _, m := range r.members {
			m.relay.refuse()
		}
	} else {
		r.cutAll()
	}
	if err := sleep(ctx, 300*time.Millisecond); err != nil {
		return time.Time{}, err
	}
	if err := control(ctx, "/kill"); err != nil {
		return time.Time{}, err
	}
	if err := sleep(ctx, f.away); err != nil {
		return time.Time{}, err
	}
	started := make(chan error, 1)
	go func() { started <- control(ctx, fmt.Sprintf("/start?compact=%t", f.compact)) }()
	if !f.balance {
		if err := r.reopenWithServer(ctx); err != nil {
			return time.Time{}, err
		}
	}
	answers, err := r.cluster.awaitAnswer(ctx, "")
	return answers, errors.Join(err, <-started)
}

// reopenWithServer opens the relays' ports as soon as the server's is open.
func (r *rounds) reopenWithServer(ctx context.Context) error {
	if err := awaitPort(ctx, r.members[0].relay.upstream); err != nil {
		return err
	}
	for _, m := range r.members {
		if err := m.relay.listen(); err != nil {
			return err
		}
	}
	return nil
}

// cutConnections resets every connection three times, a second apart. The time counts from the last one.
func (r *rounds) cutConnections(ctx context.Context, f fault) (time.Time, error) {
	for range 3 {
		if err := sleep(ctx, time.Second); err != nil {
			return time.Time{}, err
		}
		r.cutAll()
	}
	if err := r.compactIf(ctx, f); err != nil {
		return time.Time{}, err
	}
	return r.cluster.awaitAnswer(ctx, r.members[0].relay.url())
}

func (r *rounds) stallConnections(ctx context.Context, f fault) (time.Time, error) {
	var releases []func()
	for _, m := range r.members {
		releases = append(releases, m.relay.stall())
	}
	err := sleep(ctx, f.away)
	err = errors.Join(err, r.compactIf(ctx, f))
	for _, release := range releases {
		release()
	}
	if err != nil {
		return time.Time{}, err
	}
	return r.cluster.awaitAnswer(ctx, r.members[0].relay.url())
}

func (r *rounds) cutAll() {
	for _, m := range r.members {
		m.relay.cut()
	}
}

func (r *rounds) compactIf(ctx context.Context, f fault) error {
	if !f.compact {
		return nil
	}
	return control(ctx, "/compact")
}

// control posts to the endpoint that kills and starts the server (tests/integration/apiserver/control.go).
func control(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("KGEN_TEST_APISERVER")+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	return nil
}

func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration):
		return nil
	}
}

func saveResult(name string, done result) error {
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Close())
}

// loadResults reads the results that earlier runs appended. Without a file, there are none.
func loadResults(name string) (all []result, err error) {
	file, err := os.Open(name)
	if name == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var one result
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, one)
	}
}
