// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// state maps objects, by resource and key as in "pods recovery-0/a", to their resource versions.
type state map[string]string

// member is one informer program in the rounds, with the relay that it connects through. The events of its handlers are
// applied to a state. The program prints "synced" once, and for each event
//
//	NANOSECONDS + RESOURCE NAMESPACE/NAME VERSION     added or updated; time is Unix time
//	NANOSECONDS - RESOURCE NAMESPACE/NAME VERSION     deleted
type member struct {
	name   string        // also its user agent
	bar    time.Duration // 0: no bar
	relay  *relay
	synced chan struct{}
	ended  chan struct{}

	mutex      sync.Mutex
	seen       state
	lastChange time.Time
	target     state // the state to wait for; nil: none
	reached    chan time.Time
}

// start runs the program until the context ends, and returns when its caches are synced.
func (m *member) start(ctx context.Context, command, namespaces []string) error {
	m.synced, m.ended, m.seen = make(chan struct{}), make(chan struct{}), state{}
	arguments := append(command[1:], "--server", m.relay.url(), "--namespaces", strings.Join(namespaces, ","),
		"--user-agent", m.name)
	process := exec.CommandContext(ctx, command[0], arguments...)
	output, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	log, err := os.CreateTemp("", "recovery-"+m.name+"-*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	process.Stderr = log
	if err := process.Start(); err != nil {
		return err
	}
	go func() {
		m.read(output)
		_ = process.Wait()
		close(m.ended)
	}()
	select {
	case <-m.synced:
		return nil
	case <-m.ended:
	case <-time.After(time.Minute):
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("%s did not sync: %s", m.name, text)
}

func (m *member) read(output io.Reader) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 1 && words[0] == "synced" {
			close(m.synced)
			continue
		}
		if len(words) != 5 || !strings.HasPrefix(words[3], namespacePrefix) {
			continue
		}
		nanoseconds, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			continue
		}
		m.apply(time.Unix(0, nanoseconds), words[1] == "+", words[2]+" "+words[3], words[4])
	}
}

func (m *member) apply(when time.Time, there bool, key, version string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if there {
		m.seen[key] = version
	} else {
		delete(m.seen, key)
	}
	m.lastChange = when
	m.check()
}

// check notifies the waiting function when the target is reached. The caller must hold the mutex.
func (m *member) check() {
	if m.target != nil && maps.Equal(m.seen, m.target) {
		m.target = nil
		m.reached <- m.lastChange
	}
}

// awaitState returns the time at which the program's state became `target`, which may be in the past.
func (m *member) awaitState(ctx context.Context, target state, limit time.Duration) (time.Time, error) {
	m.mutex.Lock()
	m.target, m.reached = target, make(chan time.Time, 1)
	m.check()
	reached := m.reached
	m.mutex.Unlock()
	select {
	case when := <-reached:
		return when, nil
	case <-m.ended:
		return time.Time{}, fmt.Errorf("%s ended", m.name)
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case <-time.After(limit):
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.target = nil
	return time.Time{}, errNotCurrent
}
