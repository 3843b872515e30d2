// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/testing/cluster.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/request/errors.h"
#include "controller/webhook/webhook_routes.h"
#include "kgen/controller/webhook.h"
#include "testing/api_server.h"
#include "testing/in_process_transport.h"
#include "testing/loopback_endpoint.h"

namespace kgen::testing {
namespace {

template <typename T>
Result<T> ToResult(ApiResult<T> result) {
  if (!result) {
    const std::string body = result.error().Body();
    return client::ErrorOf({.status = result.error().code, .content_type = "application/json", .body = body});
  }
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

}  // namespace

class Cluster::Impl {
 public:
  explicit Impl(ClusterOptions given) : options(std::move(given)) {
    simulation = options.simulated ? options.simulation : nullptr;
    if (options.simulated && simulation == nullptr) {
      simulation = options.replay.empty() ? &own.emplace(options.seed) : &own.emplace(options.replay);
    }
    executor = simulation != nullptr ? simulation->executor() : DefaultExecutor();
    server = MakeShared<ApiServer>(options, executor);
    endpoint = MakeShared<InProcessEndpoint>(server, executor, simulation, options.latency);
  }
  ~Impl() {
    network = {};
    server->Close();
    if (own) {
      own.reset();  // nothing runs any more, so Abandon() ends the open exchanges
      endpoint->Abandon();
    } else {
      endpoint->Cut();
    }
  }

  const ClusterOptions options;
  std::optional<Simulation> own;
  Simulation* simulation = nullptr;  // null: real time
  Shared<Executor> executor;
  Shared<ApiServer> server;
  Shared<InProcessEndpoint> endpoint;
  Shared<LoopbackEndpoint> network;
};

Cluster::Cluster(ClusterOptions options) : impl_(new Impl(std::move(options))) {}
Cluster::~Cluster() { delete impl_; }

kgen::Connection Cluster::Connection(Shared<Observer> observer) {
  return kgen::Connection::Over({.transport = impl_->endpoint->MakeTransport(),
                                 .executor = impl_->executor,
                                 .observer = observer ? std::move(observer) : impl_->options.observer,
                                 .tracer = impl_->options.tracer});
}

Result<std::string> Cluster::Serve(std::uint16_t port) {
  if (impl_->simulation) return Fail(Code::kInvalidArgument, "Serve() needs a cluster with simulated = false");
  if (!impl_->network) {
    auto network = LoopbackEndpoint::Open(impl_->server, impl_->executor, port);
    if (!network) return network.error();
    impl_->network = *std::move(network);
  }
  return impl_->network->Kubeconfig();
}

Result<void> Cluster::Add(std::string_view json) { return ToResult(impl_->server->Add(json)); }

Result<void> Cluster::Update(std::string_view json) { return ToResult(impl_->server->Update(json)); }

Result<std::string> Cluster::Get(std::string_view resource, std::string_view namespace_, std::string_view name) const {
  return ToResult(impl_->server->Get(resource, namespace_, name));
}

std::vector<std::string> Cluster::List(std::string_view resource) const { return impl_->server->List(resource); }

Result<void> Cluster::Delete(std::string_view resource, std::string_view namespace_, std::string_view name) {
  return ToResult(impl_->server->Delete(resource, namespace_, name));
}

Result<void> Cluster::Corrupt(std::string_view resource, std::string_view namespace_, std::string_view name,
                              std::string_view json) {
  return ToResult(impl_->server->Corrupt(resource, namespace_, name, json));
}

void Cluster::AddResource(ResourceInfo resource) { impl_->server->AddResource(std::move(resource)); }
void Cluster::SetLog(std::string_view namespace_, std::string_view pod, std::string text) {
  impl_->server->SetLog(namespace_, pod, std::move(text));
}
std::uint64_t Cluster::resource_version() const noexcept { return impl_->server->resource_version(); }

void Cluster::CutWatches() { impl_->server->EndWatches(/*cut=*/true); }
void Cluster::EndWatches() { impl_->server->EndWatches(/*cut=*/false); }
void Cluster::FailWatches(int status, std::string_view reason) { impl_->server->FailWatches(status, reason); }
void Cluster::Compact() { impl_->server->Compact(); }

void Cluster::Restart() {
  impl_->server->EndWatches(/*cut=*/true);
  impl_->endpoint->Cut();
  if (impl_->network) impl_->network->Cut();
  impl_->server->Compact();
}

void Cluster::SaveCopy() { impl_->server->SaveCopy(); }

void Cluster::RestoreCopy() {
  impl_->server->EndWatches(/*cut=*/true);
  impl_->server->RestoreCopy();
  Restart();
}

void Cluster::Inject(Fault fault) { impl_->server->Inject(std::move(fault)); }
void Cluster::ClearFaults() {
  impl_->server->ClearFaults();
  impl_->server->webhooks().ClearFaults();
}

void Cluster::ServeWebhooks(const Manager& manager, std::string_view service) {
  ServeWebhooks(detail::WebhookRoutesOf(manager), service);
}
void Cluster::ServeWebhooks(const Shared<controller::WebhookRoutes>& routes, std::string_view service) {
  impl_->server->webhooks().Serve(routes, service);
}

void Cluster::RouteWebhooks(std::string_view service, std::string_view address) {
  if (impl_->simulation) throw Exception(Error(Code::kInvalidArgument, "RouteWebhooks() needs simulated = false"));
  impl_->server->webhooks().ServeAt(service, address);
}

void Cluster::InjectWebhook(WebhookFault fault) {
  const auto refuse = [](const std::string& what) {
    throw Exception(Error(Code::kInvalidArgument, "WebhookFault::" + what));
  };
  if (fault.times <= 0) {
    refuse("times is " + std::to_string(fault.times) +
           ", but it must be positive; kgen::testing::kAlways means every call until ClearFaults()");
  }
  if (fault.skip < 0) refuse("skip is " + std::to_string(fault.skip) + ", but it must not be negative");
  if (fault.status && (*fault.status < 400 || *fault.status > 599)) {
    refuse("status is " + std::to_string(*fault.status) + ", but an HTTP status of an error is 400 to 599");
  }
  impl_->server->webhooks().Inject(std::move(fault));
}
std::vector<Action> Cluster::Writes() const { return impl_->server->Writes(); }
void Cluster::ClearWrites() { impl_->server->ClearWrites(); }

Cluster::Census Cluster::census() const noexcept {
  const std::size_t watches = impl_->server->open_watches(), all = impl_->endpoint->open();
  return {.watches = watches, .requests = all > watches ? all - watches : 0};
}

Simulation& Cluster::simulation() {
  if (!impl_->simulation) throw Exception(Error(Code::kInvalidArgument, "this cluster runs in real time"));
  return *impl_->simulation;
}

void Cluster::RunUntilIdle() {
  if (impl_->simulation) Must(impl_->simulation->RunUntilIdle());
}

void Cluster::Advance(Nanos duration) {
  if (impl_->simulation) Must(impl_->simulation->Advance(duration));
}

std::string Action::str() const {
  std::string text = verb + " " + resource;
  if (!subresource.empty()) text += "/" + subresource;
  if (!namespace_.empty() || !name.empty()) text += " ";
  text += namespace_;
  if (!namespace_.empty() && !name.empty()) text += "/";
  return text + name;
}

Minimal MinimalPod(std::string_view namespace_, std::string_view name) {
  const nlohmann::json pod = {{"apiVersion", "v1"},
                              {"kind", "Pod"},
                              {"metadata", {{"namespace", namespace_}, {"name", name}}},
                              {"spec", {{"containers", {{{"name", "main"}, {"image", "example/main:1"}}}}}}};
  return Minimal(pod.dump());
}

Minimal MinimalObject(std::string_view api_version, std::string_view kind, std::string_view namespace_,
                      std::string_view name) {
  nlohmann::json object = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  if (!namespace_.empty()) object["metadata"]["namespace"] = namespace_;
  return Minimal(object.dump());
}

}  // namespace kgen::testing
