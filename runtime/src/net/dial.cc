// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/dial.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

#include "kgen/core/function.h"
#include "net/duration_text.h"
#include "net/url.h"

namespace kgen::net {
namespace {

constexpr Nanos kNextAddress = std::chrono::milliseconds(250);  // of silence, before the next address is tried as well
constexpr Nanos kSecondTry = std::chrono::seconds(1);           // of silence, before the same address is tried again

// Returns IPv6 and IPv4 addresses alternately, beginning with the family that the system lists first.
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

}  // namespace

Result<Target> ParseTarget(const ServerConfig& config, const ProxyVariables& variables) {
  const auto url = ParseServerUrl(config.host, config.tls);
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
  auto proxy = ChooseProxy(config.proxy_url, target.tls, target.host, target.port, variables);
  if (!proxy) return Fail(proxy.error());
  target.proxy = *std::move(proxy);
  return target;
}

// Guarantees that the loop gets a result, even if the blocking task is destroyed without running.
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
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(target.host.c_str(), nullptr, &hints, &list); error != 0) {
    out.error = "the name cannot be resolved: " +
                (error == EAI_SYSTEM ? std::generic_category().message(errno) : std::string(gai_strerror(error)));
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

void Dialer::Start(UniqueFunction<void(Result<Shared<TcpStream>>)> done) {
  if (IsIpAddress(target_.host)) return StartAt({{target_.host, target_.port}}, std::move(done));
  Begin(std::move(done));
  executor_->BlockingShort("resolve " + target_.host,
                           [reply = Reply(Shared<Dialer>(this)), target = target_]() mutable {
                             Resolved resolved;
                             Resolve(target, resolved);
                             reply.Send(std::move(resolved));
                           });
}

void Dialer::StartAt(std::vector<Address> addresses, UniqueFunction<void(Result<Shared<TcpStream>>)> done) {
  Begin(std::move(done));
  loop_->Post([self = Shared<Dialer>(this), addresses = std::move(addresses)]() mutable {
    self->OnResolved({.addresses = std::move(addresses)});
  });
}

void Dialer::Begin(UniqueFunction<void(Result<Shared<TcpStream>>)> done) {
  done_ = std::move(done);
  deadline_ = loop_->After(timeout_, [self = Shared<Dialer>(this)] { self->OnTimeout(); });
}

void Dialer::Cancel() noexcept {
  done_ = nullptr;
  deadline_.Cancel();
  next_.Cancel();
  for (Path& path : paths_) {
    path.silence.Cancel();
    if (path.first) path.first->Close();
    if (path.second) path.second->Close();
  }
  paths_.clear();
}

void Dialer::OnResolved(Resolved resolved) {
  if (!done_) return;
  if (!resolved.error.empty()) return GiveUp(resolved.error);
  for (Address& address : resolved.addresses) paths_.push_back({.address = std::move(address)});
  TryNext();
}

void Dialer::TryNext() {
  if (tried_ == paths_.size()) return;
  const std::size_t path = tried_++;
  paths_[path].first = Attempt(path, false);
  AwaitAnswer(path);
  next_ = loop_->After(kNextAddress, [self = Shared<Dialer>(this)] {
    if (self->done_) self->TryNext();
  });
}

Shared<TcpStream> Dialer::Attempt(std::size_t path, bool second) {
  return loop_->Connect(paths_[path].address, [self = Shared<Dialer>(this), path, second](std::string_view error) {
    self->OnAttempt(path, second, error);
  });
}

void Dialer::AwaitAnswer(std::size_t path) {
  paths_[path].silence = loop_->After(kSecondTry, [self = Shared<Dialer>(this), path] {
    if (self->done_) self->TryAgain(path);
  });
}

void Dialer::TryAgain(std::size_t path) {
  if (paths_[path].second) paths_[path].second->Close();
  paths_[path].second = Attempt(path, true);
  AwaitAnswer(path);
}

void Dialer::OnAttempt(std::size_t path, bool second, std::string_view error) {
  if (!done_) return;
  Path& tried = paths_[path];
  if (error.empty()) return Finish(std::exchange(second ? tried.second : tried.first, {}));
  // The address has refused, so the other attempt need not wait any longer.
  tried.error = error;
  tried.silence.Cancel();
  for (Shared<TcpStream>* attempt : {&tried.first, &tried.second}) {
    if (*attempt) std::exchange(*attempt, {})->Close();
  }
  const auto failed = [](const Path& each) { return !each.error.empty(); };
  if (std::ranges::all_of(paths_, failed)) return GiveUp(Errors(""));
  if (std::all_of(paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(tried_), failed)) TryNext();
}

// Describes the error of each address; `silent` is the text for addresses that have not responded.
std::string Dialer::Errors(std::string_view silent) const {
  std::string text;
  for (std::size_t i = 0; i < tried_; ++i) {
    const std::string where = paths_[i].address.ToString();
    if (i > 0) text += "; ";
    if (where != target_.Name()) text += where + ": ";
    text += paths_[i].error.empty() ? silent : paths_[i].error;
  }
  return text;
}

std::string Dialer::Progress() const {
  return paths_.empty() ? "the name is still being resolved" : Errors("no answer yet");
}

void Dialer::OnTimeout() {
  const std::string limit = "within " + DurationText(timeout_);
  GiveUp(paths_.empty() ? "the name was not resolved " + limit : Errors("no answer " + limit));
}

void Dialer::GiveUp(const std::string& why) {
  Finish(Fail(Error::NotConnected("cannot connect to " + target_.Name() + ": " + why)));
}

void Dialer::Finish(Result<Shared<TcpStream>> result) {
  if (!done_) return;
  const Shared<Dialer> self(this);
  auto done = std::move(done_);
  Cancel();
  done(std::move(result));
}

}  // namespace kgen::net
