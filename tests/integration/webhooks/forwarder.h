// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Forwarder: one port in front of several replicas, which does what a Service does in a cluster.
//
//   API server --connection--> Forwarder --connection--> a replica that was ready when the connection came
#ifndef KGEN_TESTS_INTEGRATION_WEBHOOKS_FORWARDER_H_
#define KGEN_TESTS_INTEGRATION_WEBHOOKS_FORWARDER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kgen::integration {

// Asks /readyz at "HOST:PORT", as a kubelet does. False also if nobody answers.
bool IsReadyAt(const std::string& address);

// The certificate, as PEM, that a server of webhooks gives to a new connection; "": there is no such connection.
std::string CertificateAt(int port);

// As kube-proxy: each new connection goes to the next replica that is ready, and stays with it until one side closes
// it, whatever becomes of the replica's readiness. While no replica is ready, connections are closed. As a kubelet, it
// asks each replica for its readiness, ten times a second.
//
// Thread safety: all members from any thread.
class Forwarder {
 public:
  Forwarder();
  ~Forwarder();
  int port() const { return port_; }
  // Adds a replica that serves webhooks at `port` and its readiness at `health`.
  void Add(int port, std::string health);
  // Waits until new connections go to the replica, or no longer go there.
  bool AwaitReady(int port, bool ready = true) const;
  // How many connections have gone to the replica.
  int Connections(int port) const;

 private:
  struct Backend {
    int port = 0;
    std::string health{};
    bool ready = false;
    int connections = 0;
  };

  void Accept();
  int Choose();
  void Probe(const std::stop_token& stop);
  const Backend* Find(int port) const;

  mutable std::mutex mutex_;
  std::vector<Backend> backends_;  // guarded by mutex_
  std::size_t next_ = 0;           // guarded by mutex_
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  const int port_;
  std::jthread forwarding_, probing_;
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_WEBHOOKS_FORWARDER_H_
