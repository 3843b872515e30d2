// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Command server answers lists and watches of objects that it has encoded in advance, so that it costs little CPU beside
// the informers that `./dev bench peers` measures. It knows neither requests that write nor discovery.
//
//	server --pods FILE --count N [--protobuf=false] --kubeconfig FILE
//	server --plain FILE --count N ...
//
// FILE of --pods has a pod in each line. FILE of --plain has a kind in each line: GROUP VERSION RESOURCE KIND
// namespaced|cluster builtin|custom. The program writes a kubeconfig, prints the URL of its control endpoint, and serves
// until its standard input ends:
//
//	/storm?events=N&rate=R     updates pods, R a second, or with rate=0 at full speed
//	/expire?changed=0.01       updates that share of the pods and makes the client list again
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	podsFile       = flag.String("pods", "", "a file with a pod in each line")
	plainFile      = flag.String("plain", "", "a file with a kind in each line")
	count          = flag.Int("count", 10_000, "the number of pods, or of objects of each kind")
	protobuf       = flag.Bool("protobuf", true, "encode pods as protobuf too")
	kubeconfig     = flag.String("kubeconfig", "", "the file to write")
	bookmarkPeriod = flag.Duration("bookmarks", time.Second, "the time from one bookmark to the next")
)

// maxStreams is the number of concurrent streams that kube-apiserver allows on a connection.
const maxStreams = 100

func podCollections() (map[string]*collection, error) {
	pods, err := readPods(*podsFile, *count, *protobuf)
	if err != nil {
		return nil, err
	}
	return map[string]*collection{"/api/v1/pods": newCollection("v1", "Pod", pods)}, nil
}

func plainCollections() (map[string]*collection, error) {
	text, err := os.ReadFile(*plainFile)
	if err != nil {
		return nil, err
	}
	all := map[string]*collection{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 6 {
			return nil, fmt.Errorf("%s: a line with %d words instead of 6: %s", *plainFile, len(words), line)
		}
		path, apiVersion := "/apis/"+words[0]+"/"+words[1], words[0]+"/"+words[1]
		if words[0] == "core" {
			path, apiVersion = "/api/"+words[1], words[1]
		}
		objects := make([]*object, *count)
		for i := range objects {
			if objects[i], err = newPlain(apiVersion, words[3], i, words[4] == "namespaced"); err != nil {
				return nil, err
			}
		}
		c := newCollection(apiVersion, words[3], objects)
		c.custom = words[5] == "custom"
		all[path+"/"+words[2]] = c
	}
	return all, nil
}

// certify makes a certificate for the key, which `issuer` has signed; without an issuer it is an authority that signs
// itself.
func certify(key *ecdsa.PrivateKey, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kgen bench authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if issuer == nil {
		issuer, issuerKey = template, key
	} else { // rustls accepts no authority as a server
		template.SerialNumber, template.Subject.CommonName = big.NewInt(2), "kgen bench"
		template.IsCA, template.KeyUsage = false, x509.KeyUsageDigitalSignature
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(raw)
}

// certificate makes one for the loopback address, and returns its authority's in PEM too.
func certificate() (tls.Certificate, []byte, error) {
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		var err error
		if keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return tls.Certificate{}, nil, err
		}
	}
	authority, err := certify(keys[0], nil, nil)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	own, err := certify(keys[1], authority, keys[0])
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{own.Raw}, PrivateKey: keys[1]},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw}), nil
}

const kubeconfigText = `apiVersion: v1
kind: Config
clusters:
- name: bench
  cluster: {server: "https://%s", certificate-authority-data: %s}
users:
- name: bench
  user: {token: bench}
contexts:
- name: bench
  context: {cluster: bench, user: bench, namespace: default}
current-context: bench
`

func serveAPI(all map[string]*collection) error {
	own, authority, err := certificate()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			if c := all[request.URL.Path]; c != nil && request.Method == http.MethodGet {
				c.ServeHTTP(writer, request)
				return
			}
			log.Printf("nothing here answers %s %s", request.Method, request.URL)
			http.NotFound(writer, request)
		}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:  log.New(io.Discard, "", 0), // clients end without closing their connections
	}
	text := fmt.Sprintf(kubeconfigText, listener.Addr(), base64.StdEncoding.EncodeToString(authority))
	if err := os.WriteFile(*kubeconfig, []byte(text), 0o600); err != nil {
		return err
	}
	go func() { log.Fatalf("serving failed: %v", server.ServeTLS(listener, "", "")) }()
	return nil
}

// serveControl prints the URL.
func serveControl(pods *collection) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	number := func(request *http.Request, name string) float64 {
		value, _ := strconv.ParseFloat(request.FormValue(name), 64)
		return value
	}
	answer := func(ctx context.Context, writer http.ResponseWriter, order *command) {
		order.done = make(chan result)
		if pods == nil {
			http.Error(writer, "there are no pods; start the server with --pods", http.StatusConflict)
			return
		}
		_ = json.NewEncoder(writer).Encode(pods.run(ctx, order)) // the client has gone
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/storm", func(writer http.ResponseWriter, request *http.Request) {
		answer(request.Context(), writer, &command{events: int(number(request, "events")), rate: number(request, "rate")})
	})
	mux.HandleFunc("/expire", func(writer http.ResponseWriter, request *http.Request) {
		answer(request.Context(), writer, &command{expire: true, changed: number(request, "changed")})
	})
	go func() { log.Fatalf("the control endpoint failed: %v", http.Serve(listener, mux)) }()
	fmt.Printf("http://%s\n", listener.Addr())
	return nil
}

func run() error {
	collections := plainCollections
	if *podsFile != "" {
		collections = podCollections
	}
	all, err := collections()
	if err != nil {
		return err
	}
	if err := serveAPI(all); err != nil {
		return err
	}
	if err := serveControl(all["/api/v1/pods"]); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin) // until the program that started it closes it or ends
	return err
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("server: ")
	flag.Parse()
	if (*podsFile == "") == (*plainFile == "") || *kubeconfig == "" {
		log.Fatal("usage: server --pods FILE|--plain FILE --count N --kubeconfig FILE")
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
