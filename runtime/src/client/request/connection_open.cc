// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Connection::Open: checks a config, reads its files, and finds the connection that was already opened for an equal
// config.
#include <errno.h>  // program_invocation_short_name

#include <algorithm>
#include <utility>
#include <vector>

#include "client/request/connection_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "net/duration_text.h"
#include "net/http2_transport.h"
#include "net/tls.h"
#include "net/url.h"

namespace kgen::client {
namespace {

bool Equal(const rest::TlsConfig& a, const rest::TlsConfig& b) {
  return a.ca_data == b.ca_data && a.ca_file == b.ca_file && a.certificate_data == b.certificate_data &&
         a.certificate_file == b.certificate_file && a.key_data == b.key_data && a.key_file == b.key_file &&
         a.server_name == b.server_name && a.insecure_skip_verify == b.insecure_skip_verify;
}

bool Equal(const rest::Config& a, const rest::Config& b) {
  return a.host == b.host && Equal(a.tls, b.tls) && a.bearer_token == b.bearer_token &&
         a.bearer_token_file == b.bearer_token_file && a.exec == b.exec && a.proxy_url == b.proxy_url &&
         a.user_agent == b.user_agent && a.namespace_ == b.namespace_ && a.qps == b.qps && a.burst == b.burst &&
         a.timeout == b.timeout && a.protobuf == b.protobuf && a.observer == b.observer && a.executor == b.executor &&
         a.tracer == b.tracer;
}

// The live connections by config. Entries hold no references; a connection removes its entry when it is destroyed.
class Registry {
 public:
  Shared<ConnectionState> Find(const rest::Config& config) {
    const MutexLock lock(mutex_);
    for (const Entry& entry : entries_) {
      if (!Equal(entry.config, config)) continue;
      if (Shared<ConnectionState> state = Shared<ConnectionState>::TryAdd(entry.state)) return state;
    }
    return {};
  }
  void Add(const rest::Config& config, ConnectionState* state) {
    const MutexLock lock(mutex_);
    entries_.push_back({config, state});
  }
  void Replace(const ConnectionState* state, const rest::Config& config) {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(entries_, state, &Entry::state);
    if (found != entries_.end()) found->config = config;
  }
  void Remove(const ConnectionState* state) noexcept {
    std::vector<Entry> gone;  // destroyed after unlocking; may hold the last reference to an executor
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(entries_, state, &Entry::state);
    if (found == entries_.end()) return;
    gone.push_back(std::move(*found));
    entries_.erase(found);
  }

 private:
  struct Entry {
    rest::Config config;
    ConnectionState* state;
  };
  Mutex mutex_;
  std::vector<Entry> entries_ KGEN_GUARDED_BY(mutex_);
};

Registry& Connections() {
  static Registry& registry = *new Registry();  // outlives connections in static variables
  return registry;
}

Result<void> CheckHeaderText(std::string_view what, std::string_view text) {
  const bool bad = std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (bad) return Fail(Code::kConfig, std::string(what) + " contains control characters");
  return {};
}

net::ServerConfig ServerOf(const rest::Config& config) {
  return {.host = config.host, .tls = config.tls, .proxy_url = config.proxy_url};
}

// A config with other credentials does not use its plugin.
bool UsesExec(const rest::Config& config) {
  return !config.exec.command.empty() && config.bearer_token.empty() && config.bearer_token_file.empty() &&
         config.tls.certificate_data.empty() && config.tls.certificate_file.empty();
}

Result<void> CheckLimits(const rest::Config& config) {
  const auto refused = [](std::string_view name, const std::string& value) {
    return Fail(Code::kConfig,
                "Config::" + std::string(name) + " is " + value + "; leave it out for no limit, or make it positive");
  };
  if (config.qps && !(*config.qps > 0)) return refused("qps", std::to_string(*config.qps));
  if (config.burst && *config.burst <= 0) return refused("burst", std::to_string(*config.burst));
  if (config.timeout && *config.timeout <= Nanos::zero()) return refused("timeout", net::DurationText(*config.timeout));
  return {};
}

// Opens a connection over `transport`, or over a new transport if it is null.
Result<Connection> OpenNew(rest::Config config, Shared<Transport> transport = {}) {
  Result<net::ServerUrl> url = net::ParseServerUrl(config.host, config.tls);
  if (!url) return Fail(url.error());
  if (auto ok = CheckHeaderText("the bearer token", config.bearer_token); !ok) return Fail(ok.error());
  if (auto ok = CheckHeaderText("the user agent", config.user_agent); !ok) return Fail(ok.error());
  if (auto ok = net::CheckServerName(config.tls.server_name); !ok) return Fail(ok.error());
  if (auto ok = CheckLimits(config); !ok) return Fail(ok.error());
  ConnectionState::Settings settings;
  settings.host = url->origin + url->base_path;
  if (url->tls) settings.authorities = net::TrustDigest(config.tls).value_or("unreadable");
  settings.base_path = url->base_path;
  settings.user_agent = config.user_agent;
  if (settings.user_agent.empty()) settings.user_agent = std::string(program_invocation_short_name) + "/kgen";
  if (!config.namespace_.empty()) settings.default_namespace = config.namespace_;
  settings.timeout = config.timeout;
  settings.protobuf = config.protobuf;
  settings.qps = config.qps;
  settings.burst = config.burst;
  settings.token = config.bearer_token;
  settings.token_file = config.bearer_token_file;
  settings.tracer = config.tracer;

  Connection::Parts parts;
  parts.executor = config.executor ? config.executor : DefaultExecutor();
  auto observer = MakeShared<ThrottledObserver>(config.observer, parts.executor);
  parts.host = settings.host;
  Shared<net::ClientIdentity> identity;
  if (UsesExec(config)) {
    if (auto ok = CheckExec(config.exec); !ok) return Fail(ok.error());
    settings.exec = ExecCredentials::For(config, parts.executor, /*certificates=*/!transport);
    identity = settings.exec->identity();
  }
  config.host = url->origin;
  // So that the certificate can be replaced.
  if (!identity && !config.tls.certificate_data.empty()) identity = MakeShared<net::ClientIdentity>();
  if (!transport) {
    settings.identity = identity;
    Result<Shared<Transport>> made =
        MakeHttp2Transport(ServerOf(config), parts.executor, observer, Http2Options(), std::move(identity));
    if (!made) return Fail(made.error());
    transport = *std::move(made);
  }
  parts.transport = std::move(transport);
  Connection connection = ConnectionState::Handle(std::move(parts), std::move(observer), std::move(settings));
  // If a file is the only source of the token, it must be readable from the start.
  const Shared<ConnectionState> state = ConnectionState::Of(connection);
  if (!config.bearer_token_file.empty()) {
    if (Result<std::string> token = state->token.Read(state->clock->Now()); !token) return Fail(token.error());
  }
  return connection;
}

}  // namespace

// Not called in a forked child, as no SharedObject is destroyed there.
ConnectionState::~ConnectionState() {
  Connections().Remove(this);
  if (transport) transport->Close();
  executor->StopReportingTo(*observer);
  observer->Close();
}

bool ConnectionState::ReplaceCredentials(const rest::Config& before, const rest::Config& after) {
  rest::Config same = after;
  same.bearer_token = before.bearer_token;
  same.tls.certificate_data = before.tls.certificate_data;
  same.tls.key_data = before.tls.key_data;
  const bool certificate =
      before.tls.certificate_data != after.tls.certificate_data || before.tls.key_data != after.tls.key_data;
  if (!Equal(same, before) || before.bearer_token.empty() != after.bearer_token.empty() ||
      before.tls.certificate_data.empty() != after.tls.certificate_data.empty() || (certificate && !identity)) {
    return false;
  }
  if (certificate) identity->Set(after.tls.certificate_data, after.tls.key_data);
  if (before.bearer_token != after.bearer_token) token.Replace(after.bearer_token);
  Connections().Replace(this, after);
  return true;
}

Result<Connection> ConnectionState::Over(const rest::Config& config, Shared<Transport> transport) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (!transport) return Fail(Error(Code::kInvalidArgument, "the transport is null").With("open a connection"));
  Result<Connection> opened = OpenNew(config, std::move(transport));
  if (!opened) return Fail(opened.error().With("open a connection"));
  return opened;
}

Result<Connection> ConnectionState::Open(const rest::Config& config) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (Shared<ConnectionState> state = Connections().Find(config)) return Connection(std::move(state));
  Result<Connection> opened = OpenNew(config);
  if (!opened) return Fail(opened.error().With("open a connection"));
  // Another thread may have opened an equal one meanwhile. Both work, and later calls find this one.
  Connections().Add(config, Of(*opened).get());
  return opened;
}

}  // namespace kgen::client

kgen::Result<kgen::Shared<kgen::Transport>> kgen::MakeHttpTransport(const rest::Config& config) {
  Result<net::ServerUrl> url = net::ParseServerUrl(config.host, config.tls);
  if (!url) return Fail(url.error().With("make a transport"));
  rest::Config origin = config;
  origin.host = url->origin;
  const Shared<Executor> executor = config.executor ? config.executor : DefaultExecutor();
  auto observer = MakeShared<ThrottledObserver>(config.observer, executor);
  Result<Shared<Transport>> made = MakeHttp2Transport(client::ServerOf(origin), executor, std::move(observer));
  if (!made) return Fail(made.error().With("make a transport"));
  return made;
}
