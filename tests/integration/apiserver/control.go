// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// serveOptions are what a start may change.
type serveOptions struct {
	WatchCache bool
	Compact    bool
	Audit      bool
	Flags      string // more flags of kube-apiserver, separated by spaces
}

// supervisor owns the child process. Its control endpoint, plain HTTP/1.1 on loopback, takes
//
//	POST /kill      SIGKILL; answers when the process is gone
//	POST /start     on the same data and ports; answers when /readyz says ok
//	POST /restart   both
//	POST /compact   etcd forgets all history; answers with the revision in plain text
//	POST /save      copies etcd's data, for which the server is killed and started again
//	POST /restore   puts the copy back in place of the data, for which the server is killed; it stays stopped
//	GET  /status    "running" or "stopped"
//
// /start and /restart take ?compact=true (compact after etcd has started and before the API server has: then every
// watch from an older resource version ends in a 410 that the API server's watch cache cannot hide) and
// ?watch-cache=false (watches go to etcd itself; stays in force until it is changed) and ?flags=F (more flags of the
// server, such as its feature gates; stay in force until they are changed).
type supervisor struct {
	site *site

	mutex   sync.Mutex
	options serveOptions
	child   *exec.Cmd
	ended   chan struct{}
}

func (s *supervisor) start() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.running() {
		return errors.New("the server is already running")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.site.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	child := exec.Command(self, "serve", "--dir", s.site.dir, fmt.Sprintf("--watch-cache=%t", s.options.WatchCache),
		fmt.Sprintf("--compact=%t", s.options.Compact), fmt.Sprintf("--audit=%t", s.options.Audit),
		"--flags="+s.options.Flags)
	s.options.Compact = false
	child.Stdout, child.Stderr = log, log
	// The server never outlives its supervisor, however that one ends.
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = child.Wait()
		close(ended)
	}()
	s.child, s.ended = child, ended
	return s.waitReady()
}

func (s *supervisor) kill() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.running() {
		_ = s.child.Process.Kill()
		<-s.ended
	}
}

// running says whether the child is there; the mutex is held.
func (s *supervisor) running() bool {
	if s.child == nil {
		return false
	}
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

func (s *supervisor) waitReady() error {
	client, err := s.site.httpClient()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	deadline := time.After(90 * time.Second)
	last := errors.New("no answer yet")
	for {
		select {
		case <-s.ended:
			return fmt.Errorf("the server ended while starting:\n%s", s.logTail())
		case <-deadline:
			return fmt.Errorf("not ready after 90 s (%w):\n%s", last, s.logTail())
		case <-time.After(100 * time.Millisecond):
		}
		request, err := http.NewRequest(http.MethodGet, s.site.apiURL()+"/readyz", nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+adminToken)
		response, err := client.Do(request)
		if err != nil {
			last = err
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		last = fmt.Errorf("%s: %s", response.Status, body)
	}
}

func (s *site) httpClient() (*http.Client, error) {
	ca, err := os.ReadFile(s.path("ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	return &http.Client{Transport: transport, Timeout: 5 * time.Second}, nil
}

// logTail is the end of the server's log, for a message.
func (s *supervisor) logTail() string {
	text, err := os.ReadFile(s.site.path("server.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// listen starts the control endpoint and returns its address.
func (s *supervisor) listen() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	answer := func(pattern string, do func(*http.Request) (string, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			text, err := do(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintln(w, text)
		})
	}
	answer("POST /kill", func(*http.Request) (string, error) {
		s.kill()
		return "stopped", nil
	})
	answer("POST /start", func(r *http.Request) (string, error) { return "running", s.startWith(r) })
	answer("POST /restart", func(r *http.Request) (string, error) {
		s.kill()
		return "running", s.startWith(r)
	})
	answer("POST /compact", func(r *http.Request) (string, error) {
		ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
		defer cancel()
		revision, err := compact(ctx, s.site)
		return fmt.Sprint(revision), err
	})
	answer("POST /save", func(*http.Request) (string, error) {
		s.kill()
		if err := s.replaceFolder("etcd", "etcd.saved"); err != nil {
			return "", err
		}
		return "running", s.start()
	})
	answer("POST /restore", func(*http.Request) (string, error) {
		s.kill()
		return "stopped", s.replaceFolder("etcd.saved", "etcd")
	})
	answer("GET /status", func(*http.Request) (string, error) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.running() {
			return "running", nil
		}
		return "stopped", nil
	})
	go func() { _ = http.Serve(listener, mux) }()
	return "http://" + listener.Addr().String(), nil
}

func (s *supervisor) startWith(r *http.Request) error {
	query := r.URL.Query()
	s.mutex.Lock()
	s.options.Compact = query.Get("compact") == "true"
	if query.Has("watch-cache") {
		s.options.WatchCache = query.Get("watch-cache") == "true"
	}
	if query.Has("flags") {
		s.options.Flags = query.Get("flags")
	}
	s.mutex.Unlock()
	return s.start()
}

// replaceFolder makes `to` in the site a copy of `from`.
func (s *supervisor) replaceFolder(from, to string) error {
	if err := os.RemoveAll(s.site.path(to)); err != nil {
		return err
	}
	return os.CopyFS(s.site.path(to), os.DirFS(s.site.path(from)))
}
