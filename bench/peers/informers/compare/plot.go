// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// plot is a picture with a group of bars for each figure. Each group has its own scale.
type plot struct {
	name, title string
	figures     []string
}

var plots = []plot{
	{"cpu", "CPU (less is better)", []string{"sync.cpu", "relist.cpu", "storm.cpu", "rated.cpu", "reads.cpu", "mixed.cpu",
		"dynamic.cpu", "large.cpu", "reconcile.call.1", "reconcile.call.8"}},
	{"memory", "Memory (less is better)", []string{"sync.rss", "sync.peak", "relist.peak", "storm.peak", "mixed.rss",
		"dynamic.rss", "large.rss", "large.peak"}},
	{"latency", "Latency of events at 5,000 a second, and times (less is better)", []string{"rated.p50", "rated.p99",
		"rated.p999", "sync.time", "relist.time"}},
}

var colors = []string{"#1f6feb", "#00add8", "#7fd6ec", "#ce6b3a", "#85b0f5", "#8a63d2", "#5d8a66", "#b08800", "#999999"}

const (
	plotWidth  = 760
	barLeft    = 200
	barWidth   = 420
	barHeight  = 16
	groupSpace = 30
)

// plot draws the figures that the run has, or returns "" if it has none.
func (r *results) plot(p plot) string {
	var body strings.Builder
	y := 40
	for _, id := range p.figures {
		at := slices.IndexFunc(figures, func(f figure) bool { return f.id == id })
		if r.Values[id] == nil || at < 0 {
			continue
		}
		y = r.group(&body, figures[at], y) + groupSpace
	}
	if body.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="white"/>
<text x="%d" y="20" text-anchor="middle" font-size="14">%s</text>
%s</svg>
`, plotWidth, y, plotWidth/2, html.EscapeString(p.title), body.String())
}

// group draws a bar for each contestant, with a line from the least to the largest value, and returns where it ends.
func (r *results) group(body *strings.Builder, f figure, y int) int {
	most := 0.0
	for _, contestant := range r.Contestants {
		if s, ok := r.spread(f.id, contestant); ok {
			most = max(most, s.most)
		}
	}
	if most == 0 {
		most = 1
	}
	var title string
	for _, s := range r.sections() {
		if s.scenario == f.scenario {
			title = s.title
		}
	}
	fmt.Fprintf(body, "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s: %s</text>\n", y+11, html.EscapeString(title),
		html.EscapeString(strings.TrimSuffix(f.title+", "+f.unit, ", ")))
	y += barHeight + 2
	for i, contestant := range r.Contestants {
		s, ok := r.spread(f.id, contestant)
		if !ok {
			continue
		}
		x := func(value float64) float64 { return barLeft + value/most*barWidth }
		fmt.Fprintf(body, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", barLeft-6, y+12, html.EscapeString(contestant))
		fmt.Fprintf(body, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", barLeft, y+1,
			x(s.median)-barLeft, barHeight-3, colors[i%len(colors)])
		fmt.Fprintf(body, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"black\"/>\n", x(s.least), y+7, x(s.most), y+7)
		fmt.Fprintf(body, "<text x=\"%.1f\" y=\"%d\">%.*f</text>\n", x(s.most)+6, y+12, f.digits, s.median)
		y += barHeight
	}
	return y
}
