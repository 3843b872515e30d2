// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	limitOfAStep  = 5 * time.Minute
	quietFor      = 500 * time.Millisecond // without work, a phase is over
	quietCPU      = 0.005                  // seconds of CPU in that time that do not count as work: timers, bookmarks
	longestSettle = 20 * time.Second
)

// process is the server or a contestant.
type process struct {
	name    string
	command *exec.Cmd
	input   io.WriteCloser
	lines   chan string // what it prints; closed when it ends

	mu      sync.Mutex
	threads float64 // the most at a time
}

func start(name, kubeconfig string, words ...string) (*process, error) {
	p := &process{name: name, command: exec.Command(words[0], words[1:]...), lines: make(chan string, 10)}
	p.command.Stderr = os.Stderr
	p.command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			p.lines <- lines.Text()
		}
		close(p.lines)
	}()
	return p, nil
}

func (p *process) tell(command string) error {
	if _, err := fmt.Fprintln(p.input, command); err != nil {
		return fmt.Errorf("%s does not take %q: %w; see what it wrote above", p.name, command, err)
	}
	return nil
}

// next returns the words of the next line.
func (p *process) next(ctx context.Context) ([]string, error) {
	select {
	case line, ok := <-p.lines:
		if words := strings.Fields(line); ok && len(words) > 0 {
			return words, nil
		}
		return nil, fmt.Errorf("%s ended, or printed an empty line; see what it wrote above", p.name)
	case <-time.After(limitOfAStep):
		return nil, fmt.Errorf("%s printed nothing in %v", p.name, limitOfAStep)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// await returns the numbers after the given word, which the next line must begin with.
func (p *process) await(ctx context.Context, word string) ([]float64, error) {
	words, err := p.next(ctx)
	if err != nil {
		return nil, err
	}
	if words[0] != word {
		return nil, fmt.Errorf("%s printed %q instead of %q", p.name, strings.Join(words, " "), word)
	}
	numbers := make([]float64, len(words)-1)
	for i := range numbers {
		if numbers[i], err = strconv.ParseFloat(words[i+1], 64); err != nil {
			return nil, fmt.Errorf("%s printed %q: %w", p.name, strings.Join(words, " "), err)
		}
	}
	return numbers, nil
}

// end closes the standard input, which ends every program here.
func (p *process) end() error {
	p.input.Close()
	killed := time.AfterFunc(10*time.Second, func() { _ = p.command.Process.Kill() }) // it may have ended
	defer killed.Stop()
	for range p.lines {
	}
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("%s did not end well: %w", p.name, err)
	}
	return nil
}

// cpu returns the seconds of CPU, of user and system, since the start.
func (p *process) cpu() (float64, error) {
	const schedClock = 2 // the kernel's CPUCLOCK_SCHED: in nanoseconds, where /proc/PID/stat counts ticks
	var used unix.Timespec
	err := unix.ClockGettime(int32(^p.command.Process.Pid)<<3|schedClock, &used)
	return time.Duration(used.Nano()).Seconds(), err
}

// settle waits until the process does nothing any more, and returns its CPU.
func (p *process) settle(ctx context.Context) (float64, error) {
	const step = 50 * time.Millisecond
	var last []float64
	for began := time.Now(); ; {
		used, err := p.cpu()
		if err != nil {
			return 0, err
		}
		last = append(last, used)
		steps := int(quietFor / step)
		if n := len(last); n > steps && used-last[n-1-steps] < quietCPU || time.Since(began) > longestSettle {
			return used, nil
		}
		select {
		case <-time.After(step):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// status returns a number of /proc/PID/status; memory in MiB.
func (p *process) status(field string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == field+":" {
			number, err := strconv.ParseFloat(words[1], 64)
			if len(words) > 2 {
				number /= 1024
			}
			return number, err
		}
	}
	return 0, fmt.Errorf("no %s in /proc/%d/status of %s", field, p.command.Process.Pid, p.name)
}

// resetPeak makes VmHWM begin again at what is resident now.
func (p *process) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.command.Process.Pid), []byte("5"), 0)
}

// countThreads looks at the number of threads until ctx ends.
func (p *process) countThreads(ctx context.Context) {
	for ticks := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-ticks.C:
			if now, err := p.status("Threads"); err == nil {
				p.mu.Lock()
				p.threads = max(p.threads, now)
				p.mu.Unlock()
			}
		case <-ctx.Done():
			ticks.Stop()
			return
		}
	}
}

func (p *process) mostThreads() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads
}
