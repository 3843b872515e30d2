// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const limitOfAStep = 5 * time.Minute

// process is a running controller of either library.
type process struct {
	name    string
	command *exec.Cmd
	lines   chan string // what it prints; closed when it ends
}

func start(program string, arguments ...string) (*process, error) {
	words := append(strings.Fields(program), arguments...)
	p := &process{name: program, command: exec.Command(words[0], words[1:]...), lines: make(chan string, 10)}
	p.command.Stderr = os.Stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			p.lines <- lines.Text()
		}
		close(p.lines)
	}()
	return p, nil
}

func (p *process) await(ctx context.Context, line string) error {
	select {
	case got := <-p.lines:
		if got == line {
			return nil
		}
		return fmt.Errorf("%s printed %q, or ended; expected %q", p.name, got, line)
	case <-time.After(limitOfAStep):
		return fmt.Errorf("%s did not print %q in %v", p.name, line, limitOfAStep)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *process) end() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	for range p.lines {
	}
	return p.command.Wait()
}

// cpu returns the seconds of CPU, of user and system, since the start.
func (p *process) cpu() (float64, error) {
	const schedClock = 2 // the kernel's CPUCLOCK_SCHED: in nanoseconds, where /proc/PID/stat counts ticks
	var used unix.Timespec
	err := unix.ClockGettime(int32(^p.command.Process.Pid)<<3|schedClock, &used)
	return time.Duration(used.Nano()).Seconds(), err
}

// memory returns a field of /proc/PID/status in MiB.
func (p *process) memory(field string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == field+":" {
			kilobytes, err := strconv.ParseFloat(words[1], 64)
			return kilobytes / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s in /proc", field)
}
