// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
)

// figure is a row of the tables. Less is better in all of them.
type figure struct {
	id, scenario, title, unit string
	digits                    int
}

// serverLag shows that an informer could not keep up, or that the machine was too busy for any of them.
const serverLag = "rated.lag"

var figures = []figure{
	{"sync.time", "sync", "time from the start of the process", "s", 2},
	{"sync.cpu", "sync", "CPU from the start of the process", "s", 2},
	{"sync.peak", "sync", "peak RSS", "MiB", 1},
	{"sync.rss", "sync", "RSS 10 s after the sync", "MiB", 1},
	{"relist.time", "relist", "time until the last changed pod arrives", "s", 2},
	{"relist.cpu", "relist", "CPU", "s", 3},
	{"relist.peak", "relist", "peak RSS", "MiB", 1},
	{"storm.time", "storm", "time for each event", "us", 1},
	{"storm.cpu", "storm", "CPU for each event", "us", 1},
	{"storm.peak", "storm", "peak RSS", "MiB", 1},
	{"rated.p50", "rated", "latency, median", "us", 0},
	{"rated.p99", "rated", "latency, 99 %", "us", 0},
	{"rated.p999", "rated", "latency, 99.9 %", "us", 0},
	{"rated.cpu", "rated", "CPU for each event", "us", 1},
	{serverLag, "rated", "longest delay of the server", "ms", 0},
	{"reads.cpu", "reads", "CPU of the reading thread for each get", "ns", 0},
	{"reads.time", "reads", "time for each get", "ns", 0},
	{"idle.cpu", "idle", "CPU in 10 s", "ms", 1},
	{"mixed.time", "mixed", "time from the start of the process", "s", 2},
	{"mixed.cpu", "mixed", "CPU from the start of the process", "s", 2},
	{"mixed.peak", "mixed", "peak RSS", "MiB", 1},
	{"mixed.rss", "mixed", "RSS 10 s after the sync", "MiB", 1},
	{"mixed.threads", "mixed", "most threads", "", 0},
	{"dynamic.time", "dynamic", "time from the start of the process", "s", 2},
	{"dynamic.cpu", "dynamic", "CPU from the start of the process", "s", 2},
	{"dynamic.peak", "dynamic", "peak RSS", "MiB", 1},
	{"dynamic.rss", "dynamic", "RSS 10 s after the sync", "MiB", 1},
	{"dynamic.threads", "dynamic", "most threads", "", 0},
	{"large.time", "large", "time from the start of the process", "s", 2},
	{"large.cpu", "large", "CPU from the start of the process", "s", 1},
	{"large.peak", "large", "peak RSS", "MiB", 0},
	{"large.rss", "large", "RSS 10 s after the sync", "MiB", 0},
	{"reconcile.sync.1", "reconcile", "1 worker: CPU from the start to the sync", "s", 2},
	{"reconcile.call.1", "reconcile", "1 worker: CPU for each call", "us", 2},
	{"reconcile.rss.1", "reconcile", "1 worker: RSS 10 s after the sync", "MiB", 1},
	{"reconcile.peak.1", "reconcile", "1 worker: peak RSS", "MiB", 1},
	{"reconcile.sync.8", "reconcile", "8 workers: CPU from the start to the sync", "s", 2},
	{"reconcile.call.8", "reconcile", "8 workers: CPU for each call", "us", 2},
	{"reconcile.rss.8", "reconcile", "8 workers: RSS 10 s after the sync", "MiB", 1},
	{"reconcile.peak.8", "reconcile", "8 workers: peak RSS", "MiB", 1},
}

// results are the values of all rounds, by figure and contestant. They are what is kept of a run.
type results struct {
	Machine     []string                        `json:"machine"`  // lines for the document
	Versions    []string                        `json:"versions"` // the same
	Arguments   string                          `json:"arguments"`
	Date        string                          `json:"date"`
	Rounds      int                             `json:"rounds"`
	Pods        int                             `json:"pods"`
	Large       int                             `json:"large"` // pods of that scenario
	Storm       int                             `json:"storm"` // events
	Rated       int                             `json:"rated"` // events
	Contestants []string                        `json:"contestants"`
	Notes       map[string][]string             `json:"notes"` // by scenario: what was left out, and why
	Values      map[string]map[string][]float64 `json:"values"`
}

func (r *results) add(id, contestant string, value float64) {
	if r.Values[id] == nil {
		r.Values[id] = map[string][]float64{}
	}
	r.Values[id][contestant] = append(r.Values[id][contestant], value)
}

func (r *results) note(scenario, text string) {
	if !slices.Contains(r.Notes[scenario], text) {
		r.Notes[scenario] = append(r.Notes[scenario], text)
	}
}

// of returns the contestants that have figures of the scenario.
func (r *results) of(scenario string) []string {
	return slices.DeleteFunc(slices.Clone(r.Contestants), func(contestant string) bool {
		return !slices.ContainsFunc(figures, func(f figure) bool {
			return f.scenario == scenario && r.Values[f.id][contestant] != nil
		})
	})
}

// spread is the median of the rounds between their extremes.
type spread struct{ least, median, most float64 }

func (r *results) spread(id, contestant string) (spread, bool) {
	values := slices.Sorted(slices.Values(r.Values[id][contestant]))
	if len(values) == 0 {
		return spread{}, false
	}
	n := len(values)
	return spread{values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]}, true
}

func (s spread) text(digits int) string {
	if s.least == s.most {
		return fmt.Sprintf("%.*f", digits, s.median)
	}
	return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, s.median, digits, s.least, digits, s.most)
}

// verdict compares kgen with the best of the others: only beyond the spread of the rounds is one of them better.
func (r *results) verdict(f figure) string {
	own, ok := r.spread(f.id, "kgen")
	best, name := spread{}, ""
	for _, contestant := range r.Contestants {
		if s, has := r.spread(f.id, contestant); has && !isKgen(contestant) && (name == "" || s.median < best.median) {
			best, name = s, contestant
		}
	}
	switch {
	case !ok || name == "" || f.id == serverLag:
		return ""
	case own.most < best.least:
		return fmt.Sprintf("kgen, %.1f times less", best.median/own.median)
	case best.most < own.least:
		return fmt.Sprintf("**%s, %.1f times less than kgen**", name, own.median/best.median)
	}
	return "even: the rounds overlap"
}
