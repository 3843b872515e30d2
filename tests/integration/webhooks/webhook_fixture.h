// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhooks of examples/cronjob in a real kube-apiserver: replicas of the operator in this process, with the
// certificates, the Service and the configurations of a cluster.
#ifndef KGEN_TESTS_INTEGRATION_WEBHOOKS_WEBHOOK_FIXTURE_H_
#define KGEN_TESTS_INTEGRATION_WEBHOOKS_WEBHOOK_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/controller/manager.h"
#include "kgen/controller/webhook.h"
#include "kgen/core/clock.h"
#include "kgen/core/shared.h"
#include "testing/certificates.h"

namespace kgen::integration {

// How the API server reaches the webhooks. To a loopback URL it offers HTTP/2; to a Service, which an ExternalName
// leads to this machine, it speaks HTTP/1.1 and names "cronjobs.cronjobs.svc" in SNI, as to any Service.
enum class Route { kUrl, kService };
void PrintTo(Route route, std::ostream* out);

// A manager that runs in a thread of its own until it is destroyed or Stop() is called. Its endpoint has any free port.
class Replica {
 public:
  // `declare` adds the webhooks. Port 0 of `webhooks`: any free one.
  Replica(const Connection& connection, WebhookOptions webhooks, const std::function<void(const Manager&)>& declare);
  ~Replica() { Stop(); }
  int port() const { return port_; }
  // Where its endpoint answers /readyz.
  const std::string& health() const { return manager_.endpoint_health_address(); }
  // Requests the stop, without waiting for its end.
  void RequestStop() { stop_.request_stop(); }
  // Ends it, and fails the test if it does not end well.
  void Stop();

 private:
  const Manager manager_;
  int port_ = 0;
  std::stop_source stop_;
  std::jthread thread_;
};

// A cluster with the CRD of examples/cronjob, whose webhooks lead to a port of this machine.
class WebhookTest : public ::testing::TestWithParam<Route> {
 public:
  using Json = nlohmann::json;
  // A CronJob in version v1, without what the webhook defaults.
  static Json CronJob(std::string_view name, std::string_view schedule = "*/5 * * * *");

 protected:
  using Authority = Shared<testing::CertificateAuthority>;
  static constexpr const char* kCrd = "cronjobs.batch.tutorial.kubebuilder.io";

  void SetUp() override;
  void TearDown() override;

  // Writes a certificate of `authority` into the files of the replicas.
  void IssueFiles(const Authority& authority);
  // The certificate in those files, as CertificateAt() returns it.
  std::string IssuedCertificate() const;
  // Starts a replica that serves with these files, and the webhooks of the example unless `declare` is given.
  std::unique_ptr<Replica> Start(const std::function<void(const Manager&)>& declare = {},
                                 Nanos drain = std::chrono::seconds(1));
  // Writes Service and CRD so that they lead to `port`, without a CA.
  void PointTo(int port);
  // Writes Service, CRD and configurations so that they lead to `port`, and trust these authorities. Waits until the
  // server calls the webhooks.
  void Install(int port, const std::vector<Authority>& authorities);
  // Waits until the server calls both webhooks.
  void AwaitWebhooks() const;
  // The configuration "cronjobs" of a kind, with one webhook.
  Json Configuration(std::string_view kind) const;
  // Changes members of the webhooks in both configurations.
  void Configure(const std::function<void(Json& webhook)>& change);
  void SetStorageVersion(std::string_view version);

  // Creates a file of this object and returns what `kubectl ARGUMENTS -f FILE` prints.
  std::string KubectlFile(std::string_view arguments, const Json& object) const;
  static Json Get(std::string_view version, std::string_view name);
  // The object at a path of the server; null if there is none.
  Json Read(std::string_view path) const;
  // Changes the object at a path, if there is one.
  void Change(const std::string& path, const std::function<void(Json& object)>& change) const;
  void Apply(std::string_view collection, const Json& object) const;
  // Deletes what is at a path, and waits until it is gone.
  void Delete(const std::string& path) const;
  // The server's own metrics of calls of admission webhooks that have failed since its start. Denials are not among
  // them, and conversions are left out: a server keeps what it has cached with an earlier CRD for up to a minute,
  // and goes on to convert it with the webhook of then, which no request sees.
  std::vector<std::string> FailedCalls() const;

  std::string folder_;
  Authority authority_;
  std::optional<Connection> connection_;

 private:
  Json ClientConfig(std::string_view path) const;
  int port_ = 0;
  std::string ca_;
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_WEBHOOKS_WEBHOOK_FIXTURE_H_
