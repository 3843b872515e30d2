// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// serve is the child process: etcd, then kube-apiserver, until it is killed.
func serve(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	dir := flags.String("dir", "", "")
	watchCache := flags.Bool("watch-cache", true, "")
	compactFirst := flags.Bool("compact", false, "")
	audit := flags.Bool("audit", false, "")
	more := flags.String("flags", "", "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	s, err := openSite(*dir)
	if err != nil {
		return err
	}
	etcd, err := startEtcd(s)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	if *compactFirst {
		if _, err := compact(context.Background(), s); err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	command := app.NewAPIServerCommand()
	arguments = apiServerFlags(s, *watchCache)
	if *audit {
		arguments = append(arguments, "--audit-log-path="+s.path("audit.log"), "--audit-policy-file="+s.path("audit.yaml"))
	}
	command.SetArgs(append(arguments, strings.Fields(*more)...))
	return command.ExecuteContext(context.Background())
}

func startEtcd(s *site) (*embed.Etcd, error) {
	client, err := url.Parse(s.etcdURL())
	if err != nil {
		return nil, err
	}
	peer, err := url.Parse(s.peerURL())
	if err != nil {
		return nil, err
	}
	config := embed.NewConfig()
	config.Dir = s.path("etcd")
	config.LogLevel = "warn"
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// What was written survives SIGKILL of the process without a sync to the disk, only not a loss of power.
	config.UnsafeNoFsync = true
	config.QuotaBackendBytes = 4 << 30
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		return nil, err
	case <-time.After(30 * time.Second):
		etcd.Close()
		return nil, errors.New("not ready after 30 s")
	}
}

func apiServerFlags(s *site, watchCache bool) []string {
	return []string{
		"--etcd-servers=" + s.etcdURL(),
		// Compaction is a test's own doing.
		"--etcd-compaction-interval=0",
		fmt.Sprintf("--watch-cache=%t", watchCache),
		"--bind-address=127.0.0.1",
		// There is no kubelet and no other server: nobody looks for this one through endpoints.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", s.ports.API),
		"--cert-dir=" + s.path("certs"),
		"--tls-cert-file=" + s.path("server.crt"),
		"--tls-private-key-file=" + s.path("server.key"),
		"--client-ca-file=" + s.path("ca.crt"),
		"--token-auth-file=" + s.path("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.path("sa.key"),
		"--service-account-signing-key-file=" + s.path("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/16",
		// Without a controller manager nobody makes the service accounts that this plugin waits for.
		"--disable-admission-plugins=ServiceAccount",
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=2000",
		"--max-mutating-requests-inflight=1000",
	}
}

// compact forgets every revision before the newest one. Returns that revision.
func compact(ctx context.Context, s *site) (int64, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.etcdURL()}, DialTimeout: 10 * time.Second})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	now, err := client.Get(ctx, "/")
	if err != nil {
		return 0, err
	}
	_, err = client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	return now.Header.Revision, err
}
