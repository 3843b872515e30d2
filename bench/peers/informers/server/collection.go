// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	pieceBytes = 64 << 10 // of a list, or of events at full speed, in one write
	stride     = 7919     // from one updated object to the next; a prime number
)

// collection has the objects of one kind. Its watch makes the changes itself, in its own goroutine: it blocks when the
// client does not read, so what is unsent is bounded by the flow control of the connection.
type collection struct {
	apiVersion, kind string
	custom           bool

	mu      sync.Mutex
	objects []*object
	version int64
	updates int
	watch   chan *command // of the newest watch; nil without one
	watched *sync.Cond
}

func newCollection(apiVersion, kind string, objects []*object) *collection {
	c := &collection{apiVersion: apiVersion, kind: kind, objects: objects, version: firstVersion}
	c.watched = sync.NewCond(&c.mu)
	for _, o := range objects {
		c.version++
		o.writeVersion(c.version)
	}
	return c
}

// command is what the control endpoint asks of a watch.
type command struct {
	events  int
	rate    float64 // a second; 0: full speed
	changed float64 // with expire: the share of objects
	expire  bool
	done    chan result
}

type result struct {
	Version    int64   `json:"version"`
	Changed    int     `json:"changed"`
	Seconds    float64 `json:"seconds"`     // until the last event was written
	LagSeconds float64 `json:"lag_seconds"` // how late the server wrote an event, at most
	Error      string  `json:"error,omitempty"`
}

// run passes the command to the watch, waiting for one if there is none.
func (c *collection) run(ctx context.Context, order *command) result {
	stopWaiting := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watched.Broadcast()
	})
	defer stopWaiting()
	c.mu.Lock()
	for c.watch == nil && ctx.Err() == nil {
		c.watched.Wait()
	}
	watch := c.watch
	c.mu.Unlock()
	select {
	case watch <- order:
		return <-order.done
	case <-ctx.Done():
		return result{Error: "nobody watches any more"}
	}
}

// next changes the next object. The caller holds mu.
func (c *collection) next(sign byte) *object {
	c.updates++
	c.version++
	o := c.objects[c.updates*stride%len(c.objects)]
	o.advance(c.version, sign, c.updates)
	return o
}

// stream is a response in pieces.
type stream struct {
	writer  http.ResponseWriter
	flusher http.Flusher
	buffer  []byte
	err     error
}

func (s *stream) send() {
	if s.err == nil && len(s.buffer) > 0 {
		_, s.err = s.writer.Write(s.buffer)
	}
	s.buffer = s.buffer[:0]
}

func (s *stream) flush() {
	s.send()
	s.flusher.Flush()
}

func (s *stream) sendFull() {
	if len(s.buffer) >= pieceBytes {
		s.send()
	}
}

func encodingFor(request *http.Request, c *collection) encoding {
	first, _, _ := strings.Cut(request.Header.Get("Accept"), ",")
	if strings.HasPrefix(first, "application/vnd.kubernetes.protobuf") && !c.custom && c.objects[0].proto != nil {
		return protobufEncoding{}
	}
	return jsonEncoding{}
}

func (c *collection) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	encoding := encodingFor(request, c)
	watching := query.Get("watch") == "true" || query.Get("watch") == "1"
	flusher, _ := writer.(http.Flusher)
	s := &stream{writer: writer, flusher: flusher, buffer: make([]byte, 0, pieceBytes*2)}
	writer.Header().Set("Content-Type", encoding.contentType(watching))
	if watching {
		c.serveWatch(s, request, query, encoding)
	} else {
		c.list(s, query, encoding)
	}
}

// list writes a page, or everything where the server would read from its cache, as a real one does.
func (c *collection) list(s *stream, query url.Values, encoding encoding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit, _ := strconv.Atoi(query.Get("limit"))
	from, _ := strconv.Atoi(query.Get("continue"))
	from = min(from, len(c.objects))
	items := c.objects[from:]
	list := meta.ListMeta{ResourceVersion: strconv.FormatInt(c.version, 10)}
	if limit > 0 && limit < len(items) && query.Get("resourceVersion") != "0" {
		remaining := int64(len(items) - limit)
		items = items[:limit]
		list.Continue, list.RemainingItemCount = strconv.Itoa(from+limit), &remaining
	}
	s.buffer = encoding.listHead(s.buffer, c, list, items)
	for i, o := range items {
		s.buffer = encoding.listItem(s.buffer, c, o, i == 0)
		s.sendFull()
	}
	s.buffer = encoding.listTail(s.buffer)
	s.send()
}

// begin writes what a watch begins with, and makes it the one that gets commands. Returns nil if it cannot go on.
func (c *collection) begin(s *stream, query url.Values, encoding encoding) chan *command {
	c.mu.Lock()
	defer c.mu.Unlock()
	version, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	initial := query.Get("sendInitialEvents") == "true"
	if !initial && version != 0 && version < c.version {
		s.writer.WriteHeader(http.StatusGone)
		s.buffer = encoding.status(s.buffer, http.StatusGone, meta.StatusReasonExpired,
			fmt.Sprintf("too old resource version: %d (%d)", version, c.version), false)
		s.send()
		return nil
	}
	if initial {
		for _, o := range c.objects {
			s.buffer = encoding.event(s.buffer, c, "ADDED", o)
			s.sendFull()
		}
		s.buffer = encoding.bookmark(s.buffer, c, c.version, true)
	}
	s.flush()
	c.watch = make(chan *command)
	c.watched.Broadcast()
	return c.watch
}

func (c *collection) end(watch chan *command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == watch {
		c.watch = nil
	}
}

func (c *collection) serveWatch(s *stream, request *http.Request, query url.Values, encoding encoding) {
	commands := c.begin(s, query, encoding)
	if commands == nil {
		return
	}
	defer c.end(commands)
	bookmarks := time.NewTicker(*bookmarkPeriod)
	defer bookmarks.Stop()
	var timeout <-chan time.Time
	if seconds, _ := strconv.Atoi(query.Get("timeoutSeconds")); seconds > 0 {
		timeout = time.After(time.Duration(seconds) * time.Second)
	}
	for s.err == nil {
		select {
		case <-request.Context().Done():
			return
		case <-timeout:
			return
		case <-bookmarks.C:
			c.mu.Lock()
			s.buffer = encoding.bookmark(s.buffer, c, c.version, false)
			c.mu.Unlock()
			s.flush()
		case order := <-commands:
			if order.expire {
				order.done <- c.expire(s, order, encoding)
				return
			}
			order.done <- c.storm(s, order, encoding)
		}
	}
}

// storm writes updates, the last of which has the mark.
func (c *collection) storm(s *stream, order *command, encoding encoding) result {
	start := time.Now()
	var lag time.Duration
	for i := range order.events {
		if order.rate > 0 {
			due := start.Add(time.Duration(float64(i) / order.rate * float64(time.Second)))
			time.Sleep(time.Until(due)) // the pace is what is measured
			lag = max(lag, time.Since(due))
		}
		sign := byte(unmarked)
		if i == order.events-1 {
			sign = mark
		}
		c.mu.Lock()
		s.buffer = encoding.event(s.buffer, c, "MODIFIED", c.next(sign))
		c.mu.Unlock()
		if order.rate > 0 {
			s.flush()
		} else {
			s.sendFull()
		}
	}
	s.flush()
	done := result{Version: c.version, Changed: order.events, Seconds: time.Since(start).Seconds(), LagSeconds: lag.Seconds()}
	if s.err != nil {
		done.Error = s.err.Error()
	}
	return done
}

// expire changes a share of the objects without telling the watch, and ends the watch as if its version were too old.
// The changed object that is the last one of a list gets the mark.
func (c *collection) expire(s *stream, order *command, encoding encoding) result {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := max(1, int(order.changed*float64(len(c.objects))))
	every := len(c.objects) / count
	for i := range count {
		sign := byte(unmarked)
		if i == count-1 {
			sign = mark
		}
		c.updates++
		c.version++
		c.objects[(i+1)*every-1].advance(c.version, sign, c.updates)
	}
	c.version += 1000 // as if changes had gone whose events the server no longer has
	c.watch = nil
	s.buffer = encoding.status(s.buffer, http.StatusGone, meta.StatusReasonExpired, "too old resource version", true)
	s.flush()
	return result{Version: c.version, Changed: count}
}
