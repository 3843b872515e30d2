// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HTTP proxies: which one a server is reached through, and the CONNECT that opens the way.
//
//   Pool --Dialer--> TCP to the proxy --ProxyTunnel: CONNECT--> TCP to the server --> TLS, HTTP/2
//
// No message holds the user or the password of a proxy.
#ifndef KGEN_SRC_CLIENT_PROXY_H_
#define KGEN_SRC_CLIENT_PROXY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/event_loop.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::net {

// Of an http:// URL.
struct Proxy {
  std::string host{};  // name or IP address, without brackets
  std::uint16_t port = 80;
  std::string authorization{};  // the value of Proxy-Authorization, or ""; secret
  std::string Name() const { return "http://" + Address{host, port}.ToString(); }
};

// "http://user:password@proxy:3128", also without the scheme. `origin` says in messages where it was found.
// Errors: kConfig  malformed, or a kind of proxy that is not supported (https, socks5)
Result<Proxy> ParseProxy(std::string_view url, std::string_view origin);

// The variables that name proxies.
struct ProxyVariables {
  std::string https{};  // HTTPS_PROXY, else https_proxy
  std::string http{};   // HTTP_PROXY, else http_proxy
  std::string none{};   // NO_PROXY, else no_proxy
  static ProxyVariables OfProcess();
};

// Whether NO_PROXY takes a server out: "*", a name (with its subdomains), ".domain" (its subdomains), an IP address, a
// CIDR block, each but the last with ":port" if only that port is meant; separated by commas. As Go reads it.
bool IsExempt(std::string_view no_proxy, std::string_view host, std::uint16_t port);

// The proxy for a server. A proxy that is named for it (`configured`) is always used; those of variables are not used
// for localhost and loopback addresses. Errors: as ParseProxy
Result<std::optional<Proxy>> ChooseProxy(std::string_view configured, bool tls, std::string_view host,
                                         std::uint16_t port, const ProxyVariables& variables);

// One CONNECT. All members on the loop's thread.
class ProxyTunnel final : public SharedObject, private TcpStream::User {
 public:
  using Done = std::move_only_function<void(Result<Shared<TcpStream>>)>;
  // `target` is "host:port", with brackets where the host is an IPv6 address.
  ProxyTunnel(Shared<EventLoop> loop, Shared<TcpStream> stream, const Proxy& proxy, std::string target)
      : loop_(std::move(loop)), stream_(std::move(stream)), proxy_(proxy), target_(std::move(target)) {}

  // `done` is called once, never inside this call, unless Cancel() came first. It gets the stream, which now leads to
  // the target. Errors: kUnavailable  the proxy refused, was silent for `timeout`, or is none; without its name
  void Start(Nanos timeout, Done done);
  void Cancel() noexcept;

 private:
  void OnTcpRead(std::string_view bytes) override;
  void OnTcpDrained() override {}
  void OnTcpClosed(std::string_view why) override;
  void OnHead(std::string_view head, std::string_view rest);
  void Finish(Result<Shared<TcpStream>> result);

  const Shared<EventLoop> loop_;
  const Shared<TcpStream> stream_;
  const Proxy proxy_;
  const std::string target_;
  Done done_;
  Timer deadline_;
  std::string answer_;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_CLIENT_PROXY_H_
