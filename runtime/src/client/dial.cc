// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/dial.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "client/url.h"

namespace kgen::net {
namespace {

// IPv6 and IPv4 by turns, beginning with what the system puts first.
std::vector<Address> Alternate(const std::vector<Address>& addresses) {
  std::vector<Address> first, second, result;
  for (const Address& address : addresses) {
    const auto v6 = [](const Address& a) { return a.ip.find(':') != std::string::npos; };
    (v6(address) == v6(addresses.front()) ? first : second).push_back(address);
  }
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) result.push_back(first[i]);
    if (i < second.size()) result.push_back(second[i]);
  }
  return result;
}

bool IsLoopback(std::string_view host) { return host == "localhost" || host.starts_with("127.") || host == "::1"; }

// The variable by which other programs would find a proxy for `target`. Its value may hold a password. [CLI TRN-12]
std::string ProxyVariable(const Target& target) {
  if (IsLoopback(target.host)) return {};
  for (const char* name : {target.tls ? "HTTPS_PROXY" : "HTTP_PROXY", target.tls ? "https_proxy" : "http_proxy"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return name;
  }
  return {};
}

}  // namespace

Result<Target> ParseTarget(const rest::Config& config) {
  const auto url = client::ParseServerUrl(config.host, config.tls);
  if (!url) return Fail(url.error());
  Target target;
  target.tls = url->tls;
  target.port = url->tls ? 443 : 80;
  target.authority = url->origin.substr(url->origin.find("://") + 3);
  std::string_view rest = target.authority;
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    target.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    target.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(target.host.size());
  }
  if (rest.starts_with(':')) std::from_chars(rest.data() + 1, rest.data() + rest.size(), target.port);
  target.proxy = ProxyVariable(target);
  return target;
}

// What a blocking body owes the loop: an answer, even if it is destroyed unrun.
struct Dialer::Reply {
  explicit Reply(Shared<Dialer> asker) : dialer(std::move(asker)) {}
  Reply(Reply&&) = default;
  ~Reply() {
    if (dialer) Send({.error = "the executor has been shut down"});
  }
  void Send(Resolved resolved) {
    EventLoop& loop = *dialer->loop_;
    loop.Post([dialer = std::exchange(dialer, {}), resolved = std::move(resolved)]() mutable {
      dialer->OnResolved(std::move(resolved));
    });
  }
  Shared<Dialer> dialer;
};

void Dialer::Resolve(const Target& target, Resolved& out) {
  if (IsIpAddress(target.host)) {
    out.addresses = {{target.host, target.port}};
    return;
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(target.host.c_str(), nullptr, &hints, &list); error != 0) {
    out.error = std::string("the name cannot be resolved: ") + gai_strerror(error);
    return;
  }
  std::vector<Address> addresses;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    addresses.push_back({text, target.port});
  }
  freeaddrinfo(list);
  if (addresses.empty()) out.error = "the name has no address";
  out.addresses = addresses.empty() ? addresses : Alternate(addresses);
}

void Dialer::Start(std::move_only_function<void(Result<Shared<TcpStream>>)> done) {
  done_ = std::move(done);
  const Shared<Dialer> self(this);
  deadline_ = loop_->After(options_.timeout, [self] {
    self->GiveUp(self->errors_.empty() ? "no answer in time" : self->errors_ + "; no answer in time");
  });
  if (IsIpAddress(target_.host)) {
    Resolved resolved;
    Resolve(target_, resolved);
    loop_->Post([self, resolved = std::move(resolved)]() mutable { self->OnResolved(std::move(resolved)); });
    return;
  }
  executor_->BlockingShort("resolve " + target_.host, [reply = Reply(self), target = target_]() mutable {
    Resolved resolved;
    Resolve(target, resolved);
    reply.Send(std::move(resolved));
  });
}

void Dialer::Cancel() noexcept {
  done_ = nullptr;
  deadline_.Cancel();
  next_.Cancel();
  for (auto& attempt : attempts_) attempt->Close();
  attempts_.clear();
}

void Dialer::OnResolved(Resolved resolved) {
  if (!done_) return;
  if (!resolved.error.empty()) return GiveUp(resolved.error);
  addresses_ = std::move(resolved.addresses);
  TryNext();
}

void Dialer::TryNext() {
  const std::size_t index = attempts_.size();
  if (index == addresses_.size()) return;
  const Shared<Dialer> self(this);
  attempts_.push_back(
      loop_->Connect(addresses_[index], [self, index](std::string_view error) { self->OnAttempt(index, error); }));
  next_ = loop_->After(options_.attempt_delay, [self] {
    if (self->done_) self->TryNext();
  });
}

void Dialer::OnAttempt(std::size_t index, std::string_view error) {
  if (!done_) return;
  if (error.empty()) {
    Shared<TcpStream> dialed = attempts_[index];
    attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(index));
    return Finish(std::move(dialed));
  }
  const std::string where = addresses_[index].ToString();
  if (!errors_.empty()) errors_ += "; ";
  errors_ += where == target_.Name() ? std::string(error) : where + ": " + std::string(error);
  if (++failed_ == addresses_.size()) return GiveUp(errors_);
  if (failed_ == attempts_.size()) TryNext();
}

void Dialer::GiveUp(const std::string& why) {
  const std::string hint = target_.proxy.empty()
                               ? ""
                               : " (" + target_.proxy + " is set; proxies are not supported, this was tried directly)";
  Finish(Fail(Error::NotConnected("cannot connect to " + target_.Name() + ": " + why + hint)));
}

void Dialer::Finish(Result<Shared<TcpStream>> result) {
  if (!done_) return;
  const Shared<Dialer> self(this);
  auto done = std::move(done_);
  Cancel();
  done(std::move(result));
}

}  // namespace kgen::net
