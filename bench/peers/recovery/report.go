// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

const requestBar = 50 // requests a second on one connection

// countRequests reads the audit log and adds to a round the largest number of requests of each member within one
// second.
func countRequests(done *result, since time.Time) error {
	file, err := os.Open(os.Getenv("KGEN_TEST_AUDIT_LOG"))
	if err != nil {
		return err
	}
	defer file.Close()
	times := map[string][]time.Time{}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var event struct {
			UserAgent                string    `json:"userAgent"`
			RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
		}
		// A server that was killed may have left half a line.
		if json.Unmarshal(line, &event) == nil && event.RequestReceivedTimestamp.After(since) {
			times[event.UserAgent] = append(times[event.UserAgent], event.RequestReceivedTimestamp)
		}
	}
	for name, of := range done.Members {
		of.Requests = mostWithinASecond(times[name])
		done.Members[name] = of
	}
	return nil
}

func mostWithinASecond(times []time.Time) (most int) {
	slices.SortFunc(times, time.Time.Compare)
	for begin, end := 0, 0; end < len(times); end++ {
		for times[end].Sub(times[begin]) >= time.Second {
			begin++
		}
		most = max(most, end-begin+1)
	}
	return most
}

func describe(done result) string {
	text := fmt.Sprintf("round %2d, %s:", done.Round, done.Fault)
	for _, name := range done.Order {
		of := done.Members[name]
		text += fmt.Sprintf("  %s %s (%d/s)", name, seconds(of.Current), of.Requests)
	}
	return text
}

func seconds(value float64) string {
	if value < 0 {
		return fmt.Sprintf("> %d s", int(limitOfARound.Seconds()))
	}
	return fmt.Sprintf("%.1f s", value)
}

// report writes a table of all rounds in Markdown, and a verdict for each bar. It returns an error if a bar was missed.
func report(to io.Writer, all []result) error {
	if len(all) == 0 {
		return errors.New("no rounds")
	}
	order := all[0].Order
	fmt.Fprintf(to, "| round | fault | %s | most requests/s |\n|---|---|%s---|\n", strings.Join(order, " | "),
		strings.Repeat("---|", len(order)))
	worst, busiest := map[string]float64{}, map[string]int{}
	for _, done := range all {
		var times, requests []string
		for _, name := range order {
			of := done.Members[name]
			times = append(times, seconds(of.Current))
			requests = append(requests, fmt.Sprint(of.Requests))
			busiest[name] = max(busiest[name], of.Requests)
			if of.Current < 0 {
				of.Current = limitOfARound.Seconds()
			}
			worst[name] = max(worst[name], of.Current)
		}
		fmt.Fprintf(to, "| %d | %s | %s | %s |\n", done.Round, done.Fault, strings.Join(times, " | "),
			strings.Join(requests, ", "))
	}
	fmt.Fprintln(to)
	short := false
	for _, name := range order {
		verdict := ""
		if bar := all[0].Bars[name]; bar > 0 {
			verdict = fmt.Sprintf(" (bars: %.0f s, %d/s): met", bar, requestBar)
			if worst[name] > bar || busiest[name] > requestBar {
				verdict, short = strings.Replace(verdict, "met", "MISSED", 1), true
			}
		}
		fmt.Fprintf(to, "%s: worst of %d rounds %.1f s, at most %d requests/s%s\n", name, len(all), worst[name],
			busiest[name], verdict)
	}
	if short {
		return errors.New("a bar was missed")
	}
	return nil
}

// awaitPort returns when a process listens on the port.
func awaitPort(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return connection.Close()
		}
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
