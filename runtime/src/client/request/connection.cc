// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/connection.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "client/request/blocking_call.h"
#include "client/request/call.h"
#include "client/request/callback.h"
#include "client/request/connection_state.h"
#include "client/request/stream.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/out_of_memory.h"
#include "kgen/core/function.h"

namespace kgen {

Connection::Connection(Shared<client::ConnectionState> state) noexcept : state_(std::move(state)) {}

namespace client {
namespace {

// "https://10.96.0.1:443/prefix": "10.96.0.1:443".
std::string HostOf(std::string_view url) {
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return std::string(url.substr(0, url.find('/')));
}

}  // namespace

ConnectionState::ConnectionState(Connection::Parts parts, Shared<ThrottledObserver> throttle, Settings settings)
    : transport(std::move(parts.transport)),
      executor(std::move(parts.executor)),
      clock(executor->clock()),
      observer(std::move(throttle)),
      host(std::move(settings.host)),
      authorities(std::move(settings.authorities)),
      base_path(std::move(settings.base_path)),
      user_agent(std::move(settings.user_agent)),
      default_namespace(std::move(settings.default_namespace)),
      timeout(settings.timeout),
      protobuf(settings.protobuf),
      limiter(settings.qps, settings.burst),
      token(std::move(settings.token), std::move(settings.token_file)),
      exec(std::move(settings.exec)),
      identity(std::move(settings.identity)),
      gate(MakeShared<ReconnectGate>(executor)),
      requests(MakeShared<RequestCounts>(HostOf(host))),
      tracer(std::move(settings.tracer)) {
  executor->ReportTo(observer);
  detail::OutOfMemory();
}

Shared<ConnectionState> ConnectionState::Of(const Connection& connection) { return connection.state_; }

Connection ConnectionState::Handle(Connection::Parts parts, Settings settings) {
  auto observer = MakeShared<ThrottledObserver>(parts.observer, parts.executor);
  return Handle(std::move(parts), std::move(observer), std::move(settings));
}

Connection ConnectionState::Handle(Connection::Parts parts, Shared<ThrottledObserver> observer, Settings settings) {
  return Connection(MakeShared<ConnectionState>(std::move(parts), std::move(observer), std::move(settings)));
}

}  // namespace client

Result<Connection> Connection::Open(const rest::Config& config) { return client::ConnectionState::Open(config); }

Result<Connection> Connection::Over(const rest::Config& config, Shared<Transport> transport) {
  return client::ConnectionState::Over(config, std::move(transport));
}

Connection Connection::Over(Parts parts) {
  client::ConnectionState::Settings settings;
  settings.host = parts.host;
  settings.tracer = std::move(parts.tracer);
  settings.user_agent = "kgen";
  return client::ConnectionState::Handle(std::move(parts), std::move(settings));
}

Connection Connection::With(std::stop_token stop) const {
  Connection with(*this);
  with.stop_ = std::move(stop);
  return with;
}

Connection Connection::With(Shared<SendGuard> guard) const {
  Connection with(*this);
  with.guard_ = std::move(guard);
  return with;
}

Connection Connection::With(const TraceContext& parent) const {
  Connection with(*this);
  with.trace_ = parent;
  return with;
}

void Connection::Complete(ApiRequest& request) const {
  if (!request.guard && request.method != "GET") request.guard = guard_;
  if (!request.parent.valid()) request.parent = trace_;
}

void Connection::CallAsync(ApiRequest request, UniqueFunction<void(Result<ApiResponse>)> done) const {
  if (client::RefuseInForkedChild(state_->observer, request.what, done)) return;
  Complete(request);
  client::MakeCall<client::CallOperation>(state_, std::move(request), std::move(done))->Begin();
}

Result<ApiResponse> Connection::Call(ApiRequest request, std::stop_token stop) const {
  Complete(request);
  return client::CallAndWait<client::CallOperation>(*this, std::move(request), std::move(stop));
}

Shared<StreamCall> Connection::Stream(ApiRequest request, Shared<Strand> strand, Shared<StreamSink> sink) const {
  if (detail::ForkedChild()) sink->OnEnd(Fail(detail::ForkedError()));
  Complete(request);
  auto stream = MakeShared<client::StreamOperation>(state_, std::move(request), std::move(strand), std::move(sink));
  if (!detail::ForkedChild()) stream->Begin();
  return MakeShared<client::StreamHandle>(std::move(stream));
}

Executor& Connection::executor() const noexcept { return *state_->executor; }
Shared<Executor> Connection::shared_executor() const noexcept { return state_->executor; }
Clock& Connection::clock() const noexcept { return *state_->clock; }
Observer& Connection::observer() const noexcept { return *state_->observer; }
std::string_view Connection::host() const noexcept { return state_->host; }
std::string_view Connection::default_namespace() const noexcept { return state_->default_namespace; }

}  // namespace kgen
