// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// authority signs the server's and the client's certificate. Its own key is not kept.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// makeKeys writes ca.crt, server.crt and .key, client.crt and .key (the admin user), reader.crt and .key, and sa.key for
// service accounts.
func (s *site) makeKeys() error {
	ca, err := s.newAuthority()
	if err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if err := s.issue(ca, "server", server); err != nil {
		return err
	}
	for name, subject := range map[string]pkix.Name{
		"client": {CommonName: adminUser, Organization: []string{adminGroup}},
		"reader": {CommonName: readerUser},
	} {
		client := &x509.Certificate{Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		if err := s.issue(ca, name, client); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return s.writeKey("sa.key", key)
}

func (s *site) newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "kgen test CA"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate, key}, s.writePEM("ca.crt", "CERTIFICATE", der)
}

func (s *site) issue(ca *authority, name string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore = ca.certificate.NotBefore
	template.NotAfter = ca.certificate.NotAfter
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, key.Public(), ca.key)
	if err != nil {
		return err
	}
	if err := s.writePEM(name+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return s.writeKey(name+".key", key)
}

func (s *site) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return s.writePEM(name, "EC PRIVATE KEY", der)
}

func (s *site) writePEM(name, kind string, der []byte) error {
	return os.WriteFile(s.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
