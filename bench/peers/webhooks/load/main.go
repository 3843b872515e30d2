// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command load sends admission reviews to the webhook servers of the command line, one after the other, and prints what
// each costs.
//
//	load [--rounds N] [--reviews N] [--connections N] [--http2] NAME=PROGRAM...
//
// A program gets a port and a folder with tls.crt and tls.key. The load is what an API server sends: HTTP/1.1 over TLS,
// connections that stay open, a review of a Deployment in each request, half of them to the mutating webhook. With
// --http2 it is what an API server sends to a loopback address: HTTP/2 in one connection, with as many requests at a
// time, to a server that accepts it.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var paths = []string{"/mutate-apps-v1-deployment", "/validate-apps-v1-deployment"}

// identity writes a certificate for 127.0.0.1 that signs itself, and returns it.
func identity(folder string) (*x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "load"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool, errors.Join(
		os.WriteFile(filepath.Join(folder, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(folder, "tls.key"),
			pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
}

// deployment has about as much as Deployments of a real cluster have, with managed fields.
func deployment() *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "shop-production"}
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "registry.example.com/shop/" + name + ":1.24.3",
			Args: []string{"--listen=:8080", "--verbosity=2", "--database=postgres.shop.svc"},
			Env: []corev1.EnvVar{{Name: "REGION", Value: "eu-central-1"}, {Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "shop"}, Key: "password"}}}},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("512Mi")}},
		}
	}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "shop", Namespace: "shop", UID: "5b7e3f86-6f8f-4b54-9a5f-1d3c6d6d1c11", Labels: labels,
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubectl", Operation: "Apply", APIVersion: "apps/v1", FieldsType: "FieldsV1",
				FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:app.kubernetes.io/name":{}}},"f:spec":` +
					`{"f:selector":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"server\"}":{".":{},"f:image":{}}}}}}}`)}}},
		},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container("server"), container("proxy")}},
			},
		},
	}
}

func review() ([]byte, error) {
	object, err := json.Marshal(deployment())
	if err != nil {
		return nil, err
	}
	gvk := metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	gvr := metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1f2b7b0e-3f86-4f3e-bb35-4df1d93b0f86", Kind: gvk, Resource: gvr, RequestKind: &gvk, RequestResource: &gvr,
			Name: "shop", Namespace: "shop", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object},
		},
	})
}

// figures of one round.
type figures struct {
	protocol  string
	latencies []time.Duration
	cpu       time.Duration
	resident  int // KiB
}

// post returns the protocol of the answer.
func post(client *http.Client, url string, body []byte, mutates bool) (string, error) {
	answer, err := client.Post(url+"?timeout=10s", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	var read admissionv1.AdmissionReview
	if err := json.Unmarshal(text, &read); err != nil {
		return "", err
	}
	if read.Response == nil || !read.Response.Allowed || (len(read.Response.Patch) > 0) != mutates {
		return "", fmt.Errorf("%s answers %s", url, text)
	}
	return answer.Proto, nil
}

// load is what each round sends.
type load struct {
	body                 []byte
	reviews, connections int
	http2                bool
}

// send sends `reviews` reviews, and returns the protocol and how long each took.
func (l load) send(pool *x509.CertPool, address string, reviews int) (*figures, error) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: l.connections, MaxConnsPerHost: l.connections,
		ForceAttemptHTTP2: l.http2,
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	latencies := make([]time.Duration, reviews)
	protocols := make([]string, reviews)
	failures := make([]error, l.connections)
	var group sync.WaitGroup
	for connection := range l.connections {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := connection; i < reviews; i += l.connections {
				path := i / l.connections % 2
				begin := time.Now()
				protocols[i], failures[connection] = post(client, "https://"+address+paths[path], l.body, path == 0)
				if failures[connection] != nil {
					return
				}
				latencies[i] = time.Since(begin)
			}
		}()
	}
	group.Wait()
	slices.Sort(protocols)
	return &figures{protocol: strings.Join(slices.Compact(protocols), ","), latencies: latencies}, errors.Join(failures...)
}

func cpu(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

func resident(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "VmRSS:") {
			size, _ := strconv.Atoi(strings.Fields(line)[1])
			return size
		}
	}
	return 0
}

func (l load) measure(program string) (*figures, error) {
	folder, err := os.MkdirTemp("", "kgen-load-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	pool, err := identity(folder)
	if err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	command := exec.Command(program, address[strings.LastIndex(address, ":")+1:], folder)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	}()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err = l.send(pool, address, 2*l.connections); err == nil {
			break
		}
		if time.Since(begin) > 20*time.Second {
			return nil, fmt.Errorf("%s does not serve: %w", program, err)
		}
	}
	before, err := cpu(command.Process.Pid)
	if err != nil {
		return nil, err
	}
	measured, err := l.send(pool, address, l.reviews)
	if err != nil {
		return nil, err
	}
	after, err := cpu(command.Process.Pid)
	measured.cpu = after - before
	measured.resident = resident(command.Process.Pid)
	return measured, err
}

func run() error {
	rounds := flag.Int("rounds", 3, "how often each program is measured")
	reviews := flag.Int("reviews", 20000, "in each round")
	connections := flag.Int("connections", 8, "that the load uses; with HTTP/2, requests at a time")
	http2 := flag.Bool("http2", false, "offer HTTP/2")
	flag.Parse()
	body, err := review()
	if err != nil {
		return err
	}
	l := load{body, *reviews, *connections, *http2}
	fmt.Printf("reviews of %d bytes, %d in each round, %d at a time\n", len(body), *reviews, *connections)
	fmt.Printf("%-20s %-8s %5s %10s %10s %14s %12s\n",
		"program", "protocol", "round", "p50 us", "p99 us", "CPU us/review", "resident KiB")
	for round := range *rounds {
		for _, contestant := range flag.Args() {
			name, program, found := strings.Cut(contestant, "=")
			if !found {
				return fmt.Errorf("%q is not NAME=PROGRAM", contestant)
			}
			measured, err := l.measure(program)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			slices.Sort(measured.latencies)
			at := func(part float64) int64 {
				return measured.latencies[int(part*float64(len(measured.latencies)-1))].Microseconds()
			}
			fmt.Printf("%-20s %-8s %5d %10d %10d %14.1f %12d\n", name, measured.protocol, round+1, at(0.5), at(0.99),
				float64(measured.cpu.Microseconds())/float64(*reviews), measured.resident)
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
