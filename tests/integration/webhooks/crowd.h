// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Crowd: many connections to a server over TLS that never send a whole request.
#ifndef KGEN_TESTS_INTEGRATION_WEBHOOKS_CROWD_H_
#define KGEN_TESTS_INTEGRATION_WEBHOOKS_CROWD_H_

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace kgen::integration {

// A third of the connections is silent, a third stops in the middle of the handshake, and a third sends a request, one
// byte in each turn. In each turn, twice a second, a hundred of those that the server has closed are opened again. They
// come from 127.0.0.2, because a client in a cluster has not the address of the API server.
//
// Thread safety: all members from any thread.
class Crowd {
 public:
  // Raises the limit of open files of this process, if it must.
  Crowd(int port, int size);
  ~Crowd();
  int turns() const { return turns_; }
  // How many connections were open at the beginning of the last turn, and how many the server has closed so far.
  int open() const { return open_; }
  int closed() const { return closed_; }

 private:
  struct Member {
    std::unique_ptr<boost::asio::ssl::stream<boost::asio::ip::tcp::socket>> stream{};
    std::size_t sent = 0;
  };

  void Turn(const std::stop_token& stop);
  void Open(Member& member, std::size_t number);
  static bool IsOpen(Member& member, std::size_t number);

  const int port_;
  boost::asio::io_context io_;
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_client};
  std::vector<Member> members_;
  std::atomic<int> turns_ = 0, open_ = 0, closed_ = 0;
  std::jthread thread_;
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_WEBHOOKS_CROWD_H_
