// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// The user of the contexts "token" and "certificate" of the kubeconfig.
const (
	adminToken = "kgen-test-admin"
	adminUser  = "kgen-test"
	adminGroup = "system:masters"
)

// The user of the contexts "reader" and "reader-certificate", who may do nothing but what a test allows.
const (
	readerToken = "kgen-test-reader"
	readerUser  = "kgen-reader"
)

// What the audit log holds: each request once, when it is received.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
- level: Metadata
`

// site is one server's folder. All that a restart must find again is in it.
type site struct {
	dir   string
	ports ports
}

type ports struct {
	API        int `json:"api"`
	EtcdClient int `json:"etcdClient"`
	EtcdPeer   int `json:"etcdPeer"`
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }
func (s *site) apiURL() string          { return fmt.Sprintf("https://127.0.0.1:%d", s.ports.API) }
func (s *site) etcdURL() string         { return fmt.Sprintf("http://127.0.0.1:%d", s.ports.EtcdClient) }
func (s *site) peerURL() string         { return fmt.Sprintf("http://127.0.0.1:%d", s.ports.EtcdPeer) }

// openSite makes what is missing in the folder and keeps what is there.
func openSite(dir string) (*site, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &site{dir: absolute}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return nil, err
	}
	if text, err := os.ReadFile(s.path("ports.json")); err == nil {
		if err := json.Unmarshal(text, &s.ports); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path("ports.json"), err)
		}
		return s, nil
	}
	if err := s.choosePorts(); err != nil {
		return nil, err
	}
	if err := s.makeKeys(); err != nil {
		return nil, err
	}
	tokens := fmt.Sprintf("%s,%s,uid-1,%q\n%s,%s,uid-2\n", adminToken, adminUser, adminGroup, readerToken, readerUser)
	if err := os.WriteFile(s.path("tokens.csv"), []byte(tokens), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.path("audit.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	if err := s.writeKubeconfig(); err != nil {
		return nil, err
	}
	// Last, because its presence says that the rest is there.
	text, err := json.Marshal(s.ports)
	if err != nil {
		return nil, err
	}
	return s, os.WriteFile(s.path("ports.json"), text, 0o600)
}

// choosePorts asks the kernel for three free ports. Another program could take one before we listen on it; then the
// start fails with a clear message of the listener.
func (s *site) choosePorts() error {
	var listeners []net.Listener
	defer func() {
		for _, listener := range listeners {
			listener.Close()
		}
	}()
	for _, port := range []*int{&s.ports.API, &s.ports.EtcdClient, &s.ports.EtcdPeer} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		listeners = append(listeners, listener)
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return nil
}

func (s *site) writeKubeconfig() error {
	var parts [5]string
	for i, name := range []string{"ca.crt", "client.crt", "client.key", "reader.crt", "reader.key"} {
		text, err := os.ReadFile(s.path(name))
		if err != nil {
			return err
		}
		parts[i] = base64.StdEncoding.EncodeToString(text)
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: token
clusters:
- name: test
  cluster:
    server: %s
    certificate-authority-data: %s
contexts:
- name: token
  context: {cluster: test, user: token, namespace: default}
- name: certificate
  context: {cluster: test, user: certificate, namespace: default}
- name: reader
  context: {cluster: test, user: reader, namespace: default}
- name: reader-certificate
  context: {cluster: test, user: reader-certificate, namespace: default}
users:
- name: token
  user:
    token: %s
- name: certificate
  user:
    client-certificate-data: %s
    client-key-data: %s
- name: reader
  user:
    token: %s
- name: reader-certificate
  user:
    client-certificate-data: %s
    client-key-data: %s
`, s.apiURL(), parts[0], adminToken, parts[1], parts[2], readerToken, parts[3], parts[4])
	return os.WriteFile(s.path("kubeconfig"), []byte(text), 0o600)
}
