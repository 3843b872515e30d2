// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Dialer: opens a TCP connection to an API server. Resolves the name, tries all addresses, and uses the first that
// responds.
#ifndef KGEN_SRC_NET_DIAL_H_
#define KGEN_SRC_NET_DIAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/net/tls_config.h"
#include "net/event_loop.h"
#include "net/proxy.h"

namespace kgen::net {

// Which server to reach, and how: the members of rest::Config with these names.
struct ServerConfig {
  std::string host{};
  rest::TlsConfig tls{};
  std::string proxy_url{};
};

// The parsed address of a server.
struct Target {
  std::string host{};  // name or IP address, without brackets
  std::uint16_t port = 0;
  bool tls = false;
  std::string authority{};       // the value of :authority, as the user wrote it
  std::optional<Proxy> proxy{};  // the proxy to use, if any
  std::string Name() const { return Address{host, port}.ToString(); }
};

// Parses the host of `config`, ignoring its path, and chooses the proxy of the config or of the environment. Errors:
// kConfig, which names the host or what is wrong with the proxy.
Result<Target> ParseTarget(const ServerConfig& config, const ProxyVariables& variables = ProxyVariables::OfProcess());

// One attempt to reach a target. All members on the loop's thread.
class Dialer final : public SharedObject {
 public:
  // `timeout` covers resolving the name and connecting.
  Dialer(Shared<EventLoop> loop, Shared<Executor> executor, Target target, Nanos timeout)
      : loop_(std::move(loop)), executor_(std::move(executor)), target_(std::move(target)), timeout_(timeout) {}

  // `done` is called once, never inside this call, unless Cancel() came first.
  // Errors: kUnavailable  not resolved, refused or no response; the message lists the addresses and reasons
  void Start(UniqueFunction<void(Result<Shared<TcpStream>>)> done);
  // Does the same for known addresses, in the order in which they are tried.
  void StartAt(std::vector<Address> addresses, UniqueFunction<void(Result<Shared<TcpStream>>)> done);
  void Cancel() noexcept;
  // Describes the progress, as part of a message: "10.0.0.1:6443: Connection refused; 10.0.0.2:6443: no answer yet".
  std::string Progress() const;

 private:
  struct Resolved {
    std::vector<Address> addresses{};
    std::string error{};
  };
  struct Reply;
  // An address that is being tried. The first attempt lasts to the end, because some paths are slow. The kernel repeats
  // a lost SYN after 1, 3, 7 and 15 seconds. A second attempt, restarted every second, notices a path that recovers in
  // between.
  struct Path {
    Address address{};
    Shared<TcpStream> first{}, second{};
    Timer silence{};
    std::string error{};  // not empty: the address has refused
  };
  static void Resolve(const Target& target, Resolved& out);

  void Begin(UniqueFunction<void(Result<Shared<TcpStream>>)> done);
  void OnResolved(Resolved resolved);
  void TryNext();
  Shared<TcpStream> Attempt(std::size_t path, bool second);
  void AwaitAnswer(std::size_t path);
  void TryAgain(std::size_t path);
  void OnAttempt(std::size_t path, bool second, std::string_view error);
  void OnTimeout();
  std::string Errors(std::string_view silent) const;
  void GiveUp(const std::string& why);
  void Finish(Result<Shared<TcpStream>> result);

  const Shared<EventLoop> loop_;
  const Shared<Executor> executor_;
  const Target target_;
  const Nanos timeout_;
  UniqueFunction<void(Result<Shared<TcpStream>>)> done_;
  std::vector<Path> paths_;
  std::size_t tried_ = 0;  // how many of paths_ have been started
  Timer deadline_, next_;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_DIAL_H_
