// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "core/secrets.h"
#include "kgen/core/quantity.h"
#include "net/base64.h"
#include "net/printable.h"
#include "net/trim.h"
#include "net/url.h"

namespace kgen::net {
namespace {

constexpr std::size_t kLargestHead = 16 * 1024;  // of the response to a CONNECT

std::string Variable(const char* upper, const char* lower) {
  for (const char* name : {upper, lower}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Decodes the percent-encoding of user and password. Returns nothing if it is malformed.
std::optional<std::string> Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* const digits = text.data() + i + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
    plain += static_cast<char>(value);
    i += 2;
  }
  return plain;
}

// An IP address in the form of IPv6, so that both kinds can be compared.
using AddressBytes = std::array<unsigned char, 16>;
std::optional<AddressBytes> BytesOf(std::string_view text) {
  AddressBytes bytes{};
  const std::string address(text);
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return bytes;
  bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (::inet_pton(AF_INET, address.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool IsLoopback(std::string_view host) {
  if (Lower(host) == "localhost") return true;
  const auto bytes = BytesOf(host);
  return bytes && (*bytes == BytesOf("::1") || (host.find(':') == std::string_view::npos && (*bytes)[12] == 127));
}

bool IsInBlock(const AddressBytes& address, std::string_view block) {
  const std::size_t slash = block.find('/');
  const auto network = BytesOf(block.substr(0, slash));
  const std::string_view digits = block.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool v4 = block.find(':') == std::string_view::npos;
  if (!network || error != std::errc() || end != digits.data() + digits.size() || bits > (v4 ? 32u : 128u))
    return false;
  if (v4) bits += 96;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned char mask = static_cast<unsigned char>(0x80u >> (bit % 8));
    if (((address[bit / 8] ^ (*network)[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

// A host or "[::1]", with or without ":port".
struct Rule {
  std::string_view host, port;
};
Rule SplitPort(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = std::min(text.find(']'), text.size() - 1);
    const std::string_view rest = text.substr(close + 1);
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : std::string_view()};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool Matches(std::string_view rule_text, std::string_view host, const std::optional<AddressBytes>& address,
             std::string_view port) {
  if (rule_text == "*") return true;
  if (rule_text.find('/') != std::string_view::npos) return address && IsInBlock(*address, rule_text);
  Rule rule = SplitPort(rule_text);
  if (rule.host.empty() || (!rule.port.empty() && rule.port != port)) return false;
  if (const auto wanted = BytesOf(rule.host)) return address == wanted;
  if (rule.host.starts_with("*.")) rule.host.remove_prefix(1);
  if (!rule.host.starts_with('.') && host == rule.host) return true;
  return host.ends_with(rule.host) &&
         (rule.host.starts_with('.')
              ? host.size() > rule.host.size()
              : host.size() > rule.host.size() && host[host.size() - rule.host.size() - 1] == '.');
}

// "200 Connection established"
std::string_view StatusOf(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  return line.substr(std::min<std::size_t>(line.find(' '), line.size() - 1) + 1);
}

}  // namespace

Result<Proxy> ParseProxy(std::string_view url, std::string_view origin) {
  const auto failed = [&](std::string_view why) {
    return Fail(Code::kConfig, std::string(origin) + ": " + std::string(why));
  };
  std::string_view rest = Trim(url);
  if (const std::size_t end = rest.find("://"); end != std::string_view::npos) {
    const std::string scheme = Lower(rest.substr(0, end));
    if (scheme == "https") return failed("https:// proxies are not supported, only http:// ones");
    if (scheme.starts_with("socks")) return failed("SOCKS proxies are not supported, only http:// ones");
    if (scheme != "http") return failed("the scheme of the proxy's URL is not http");
    rest.remove_prefix(end + 3);
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  Proxy proxy;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const auto user = Unescape(rest.substr(0, at));
    if (!user) return failed("user or password of the proxy's URL is not percent-encoded as it must be");
    const std::string credentials = user->find(':') == std::string::npos ? *user + ':' : *user;
    proxy.authorization = "Basic " + std::string(Bytes::Of(credentials).base64());
    rest.remove_prefix(at + 1);
  }
  // Hosts and ports follow the same rules as in the URL of a server.
  const auto server = ParseServerUrl("http://" + std::string(rest), {});
  if (!server || rest.empty()) return failed("the proxy's URL has no valid host and port");
  const Rule parts = SplitPort(rest);
  proxy.host = parts.host;
  if (!parts.port.empty()) std::from_chars(parts.port.data(), parts.port.data() + parts.port.size(), proxy.port);
  return proxy;
}

ProxyVariables ProxyVariables::OfProcess() {
  return {.https = Variable("HTTPS_PROXY", "https_proxy"),
          .http = Variable("HTTP_PROXY", "http_proxy"),
          .none = Variable("NO_PROXY", "no_proxy")};
}

bool IsExempt(std::string_view no_proxy, std::string_view host, std::uint16_t port) {
  const std::string name = Lower(host), rules = Lower(no_proxy), port_text = std::to_string(port);
  const auto address = BytesOf(name);
  std::string_view rest = rules;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view rule = Trim(rest.substr(0, comma));
    if (!rule.empty() && Matches(rule, name, address, port_text)) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

Result<std::optional<Proxy>> ChooseProxy(std::string_view configured, bool tls, std::string_view host,
                                         std::uint16_t port, const ProxyVariables& variables) {
  const auto chosen = [](std::string_view url, std::string_view origin) -> Result<std::optional<Proxy>> {
    Result<Proxy> proxy = ParseProxy(url, origin);
    if (!proxy) return Fail(std::move(proxy).error());
    return std::optional<Proxy>(*std::move(proxy));
  };
  if (!configured.empty()) return chosen(configured, "proxy-url");
  const std::string& url = tls ? variables.https : variables.http;
  if (url.empty() || IsLoopback(host) || IsExempt(variables.none, host, port)) return std::optional<Proxy>();
  return chosen(url, tls ? "HTTPS_PROXY" : "HTTP_PROXY");
}

void ProxyTunnel::Start(Nanos timeout, Done done) {
  done_ = std::move(done);
  deadline_ = loop_->After(timeout, [self = Shared<ProxyTunnel>(this)] {
    self->Finish(Fail(Code::kUnavailable, "the proxy did not answer in time"));
  });
  stream_->Attach(this);
  std::string request = "CONNECT " + target_ + " HTTP/1.1\r\nHost: " + target_ + "\r\n";
  if (!proxy_.authorization.empty()) request += "Proxy-Authorization: " + proxy_.authorization + "\r\n";
  stream_->Write(request + "\r\n");
}

void ProxyTunnel::Cancel() noexcept {
  done_ = nullptr;
  deadline_.Cancel();
  stream_->Close();
}

void ProxyTunnel::OnTcpRead(std::string_view bytes) {
  const Shared<ProxyTunnel> self(this);
  answer_ += bytes;
  read_ += bytes.size();
  while (std::string_view("HTTP/1.").starts_with(std::string_view(answer_).substr(0, 7))) {
    const std::size_t end = answer_.find("\r\n\r\n");
    const std::size_t size = end == std::string::npos ? answer_.size() : end + 4;
    if (read_ - answer_.size() + size > kLargestHead) {
      return Finish(Fail(Code::kUnavailable,
                         "the head of the proxy's response is larger than " + std::to_string(kLargestHead) + " bytes"));
    }
    if (end == std::string::npos) return;  // more follows
    const std::string answer = std::exchange(answer_, answer_.substr(end + 4));
    const std::string_view head = std::string_view(answer).substr(0, end);
    // "100 Continue", "102 Processing": the response follows.
    if (!StatusOf(head).starts_with('1')) return OnHead(head, std::string_view(answer).substr(end + 4));
  }
  Finish(Fail(Code::kUnavailable, "the proxy's response is not HTTP/1.1"));
}

void ProxyTunnel::OnTcpClosed(std::string_view why) {
  const Shared<ProxyTunnel> self(this);
  Finish(Fail(Code::kUnavailable, "the proxy ended the connection: " + std::string(why)));
}

// `head` begins with a line such as "HTTP/1.1 200 Connection established".
void ProxyTunnel::OnHead(std::string_view head, std::string_view rest) {
  const std::string_view status = StatusOf(head);
  if (!head.starts_with("HTTP/1.") || status.size() < 3) {
    return Finish(Fail(Code::kUnavailable, "the proxy's response is not HTTP/1.1"));
  }
  if (status.starts_with('2')) {
    stream_->Unread(std::string(rest));
    return Finish(stream_);
  }
  std::string said(status);
  // "Basic dXNlcjpwYXNzd29yZA==", that is user:password.
  const std::string_view credentials =
      std::string_view(proxy_.authorization).substr(proxy_.authorization.find(' ') + 1);
  detail::HideSecret(credentials, said);
  if (const std::optional<std::string> plain = DecodeBase64(credentials)) {
    detail::HideSecret(std::string_view(*plain).substr(plain->find(':') + 1), said);
  }
  std::string why = "the proxy refused: " + Printable(said, 100);
  if (status.starts_with("407")) {
    why += proxy_.authorization.empty() ? "; give user and password in the proxy's URL: http://user:password@host:port"
                                        : "; it does not accept the user and password of its URL";
  }
  Finish(Fail(Code::kUnavailable, why));
}

void ProxyTunnel::Finish(Result<Shared<TcpStream>> result) {
  if (!done_) return;
  const Shared<ProxyTunnel> self(this);
  deadline_.Cancel();
  if (!result) stream_->Close();
  std::exchange(done_, nullptr)(std::move(result));
}

}  // namespace kgen::net
