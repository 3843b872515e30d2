// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// relay is a TCP relay on loopback that can fail like a network, a proxy, or a server whose process has ended.
type relay struct {
	upstream string
	port     int

	mutex       sync.Mutex
	listener    net.Listener
	connections map[net.Conn]bool
	stalled     chan struct{} // closed when the stall ends; nil: bytes flow
}

func newRelay(upstream string) (*relay, error) {
	r := &relay{upstream: upstream, connections: map[net.Conn]bool{}}
	return r, r.listen()
}

func (r *relay) url() string { return fmt.Sprintf("https://127.0.0.1:%d", r.port) }

// listen opens the port: any free port the first time, and the same one later.
func (r *relay) listen() error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", r.port))
	if err != nil {
		return err
	}
	r.mutex.Lock()
	r.listener, r.port = listener, listener.Addr().(*net.TCPAddr).Port
	r.mutex.Unlock()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go r.carry(connection)
		}
	}()
	return nil
}

// refuse closes the port, as if the process behind it had died: new connections are refused.
func (r *relay) refuse() {
	r.mutex.Lock()
	r.listener.Close()
	r.mutex.Unlock()
	r.cut()
}

// cut resets every connection.
func (r *relay) cut() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for connection := range r.connections {
		_ = connection.(*net.TCPConn).SetLinger(0)
		connection.Close()
	}
}

// stall holds every byte, in both directions, until the function that it returns is called. New connections are
// accepted and receive nothing.
func (r *relay) stall() (release func()) {
	stalled := make(chan struct{})
	r.mutex.Lock()
	r.stalled = stalled
	r.mutex.Unlock()
	return func() {
		r.mutex.Lock()
		r.stalled = nil
		r.mutex.Unlock()
		close(stalled)
	}
}

func (r *relay) carry(client net.Conn) {
	r.hold(client)
	defer r.drop(client)
	r.waitWhileStalled()
	server, err := net.DialTimeout("tcp", r.upstream, time.Second)
	if err != nil {
		return // as a balancer without a server behind it
	}
	r.hold(server)
	defer r.drop(server)
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			r.copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done // when one direction ends, so does the connection
}

func (r *relay) copy(from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		count, err := from.Read(buffer)
		r.waitWhileStalled()
		if count > 0 {
			if _, err := to.Write(buffer[:count]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) waitWhileStalled() {
	r.mutex.Lock()
	stalled := r.stalled
	r.mutex.Unlock()
	if stalled != nil {
		<-stalled
	}
}

func (r *relay) hold(connection net.Conn) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.connections[connection] = true
}

func (r *relay) drop(connection net.Conn) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.connections, connection)
	connection.Close()
}
