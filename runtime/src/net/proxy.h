// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HTTP proxies: chooses the proxy for a server, and opens the tunnel with CONNECT.
//
//   Pool --Dialer--> TCP to the proxy --ProxyTunnel: CONNECT--> TCP to the server --> TLS, HTTP/2
//
// No message contains the user or the password of a proxy.
#ifndef KGEN_SRC_NET_PROXY_H_
#define KGEN_SRC_NET_PROXY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/event_loop.h"

namespace kgen::net {

// The parts of a proxy's http:// URL.
struct Proxy {
  std::string host{};  // name or IP address, without brackets
  std::uint16_t port = 80;
  std::string authorization{};  // the value of Proxy-Authorization, or ""; secret
  std::string Name() const { return "http://" + Address{host, port}.ToString(); }
};

// Parses "http://user:password@proxy:3128", also without the scheme. Messages name `origin` as the place where it was
// found.
// Errors: kConfig  malformed, or a kind of proxy that is not supported (https, socks5)
Result<Proxy> ParseProxy(std::string_view url, std::string_view origin);

// The environment variables that name proxies.
struct ProxyVariables {
  std::string https{};  // HTTPS_PROXY, else https_proxy
  std::string http{};   // HTTP_PROXY, else http_proxy
  std::string none{};   // NO_PROXY, else no_proxy
  static ProxyVariables OfProcess();
};

// True if NO_PROXY exempts a server. Its entries are separated by commas: "*", a name (with its subdomains), ".domain"
// (its subdomains), an IP address or a CIDR block. All but the last may end in ":port" to exempt only that port. As in
// Go.
bool IsExempt(std::string_view no_proxy, std::string_view host, std::uint16_t port);

// Returns the proxy for a server. A `configured` proxy is always used; the proxies of the variables are not used for
// localhost and loopback addresses. Errors: as for ParseProxy
Result<std::optional<Proxy>> ChooseProxy(std::string_view configured, bool tls, std::string_view host,
                                         std::uint16_t port, const ProxyVariables& variables);

// One CONNECT. All members on the loop's thread.
class ProxyTunnel final : public SharedObject, private TcpStream::User {
 public:
  using Done = UniqueFunction<void(Result<Shared<TcpStream>>)>;
  // `target` is "host:port", with brackets if the host is an IPv6 address.
  ProxyTunnel(Shared<EventLoop> loop, Shared<TcpStream> stream, const Proxy& proxy, std::string target)
      : loop_(std::move(loop)), stream_(std::move(stream)), proxy_(proxy), target_(std::move(target)) {}

  // `done` is called once, never inside this call, unless Cancel() came first. It gets the stream, which now leads to
  // the target. Errors: kUnavailable  the proxy refused, did not respond within `timeout`, or is not a proxy; the
  // message does not name it
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
  std::size_t read_ = 0;  // bytes of all heads so far, with those in answer_
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_PROXY_H_
