// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Replicas that keep the certificates of webhooks, on the in-memory cluster, in virtual time. What they serve is
// checked with OpenSSL against what the configurations publish, as an API server does it.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_CERTIFICATES_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_CERTIFICATES_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/webhook/certificate_keeper.h"
#include "kgen/core/quantity.h"
#include "kgen/testing/cluster.h"
#include "net/x509.h"

namespace kgen::controller {

inline std::string FromBase64(std::string_view text) { return Bytes::FromBase64(text).Decode(); }
inline std::string ToBase64(std::string_view text) { return std::string(Bytes::Of(text).base64()); }

// Returns "", or why a client that trusts `bundle` refuses the certificate for `name` at that time.
inline std::string WhyRefused(const std::string& certificate, const std::string& bundle, const std::string& name,
                              std::chrono::sys_seconds now) {
  using Store = std::unique_ptr<X509_STORE, net::Freed<X509_STORE_free>>;
  using Context = std::unique_ptr<X509_STORE_CTX, net::Freed<X509_STORE_CTX_free>>;
  using Bio = std::unique_ptr<BIO, net::Freed<BIO_free_all>>;
  const auto read = [](BIO* from) { return net::Certificate(PEM_read_bio_X509(from, nullptr, nullptr, nullptr)); };
  const Store store(X509_STORE_new());
  const Bio trusted(BIO_new_mem_buf(bundle.data(), static_cast<int>(bundle.size())));
  while (trusted) {
    const net::Certificate one = read(trusted.get());
    if (!one) break;
    X509_STORE_add_cert(store.get(), one.get());
  }
  const Bio text(BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
  const net::Certificate leaf = text ? read(text.get()) : net::Certificate();
  if (!leaf) return "the certificate cannot be read";
  const Context context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), nullptr);
  X509_VERIFY_PARAM* const param = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(param, now.time_since_epoch().count());
  X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
  X509_VERIFY_PARAM_set1_host(param, name.data(), name.size());
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
  const int verified = X509_verify_cert(context.get());
  const std::string why = verified == 1 ? "" : X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
  ERR_clear_error();
  return why;
}

class CertificatesTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  using json = nlohmann::json;

  // Remembers what is logged, and calls `after` after every answer of the server, when its state may have changed.
  struct Watcher final : Observer {
    bool IsEnabled(LogComponent, LogLevel level) const noexcept override { return level <= LogLevel::kDebug; }
    void OnLogged(const Logged& e) override { logged.emplace_back(e.message); }
    void OnRequested(const Requested&) override {
      if (after) after();
    }
    std::vector<std::string> logged;
    std::function<void()> after;
  };
  // A process with a connection of its own.
  struct Replica {
    Shared<CertificateKeeper> keeper;
    std::stop_source stop{};
    std::optional<testing::TaskResult<Result<void>>> ran{};
  };

  CertificatesTest() {
    for (const bool mutating : {true, false}) {
      const std::string kind = mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
      cluster_.AddResource({.group = "admissionregistration.k8s.io",
                            .version = "v1",
                            .plural = Resource(mutating),
                            .kind = kind,
                            .namespaced = false});
    }
    Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "shop")));
  }
  ~CertificatesTest() override {
    watcher_->after = {};
    for (Replica& replica : replicas_) replica.stop.request_stop();
    cluster_.Advance({});
  }

  static std::string Resource(bool mutating) {
    return mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
  }
  // Certificates that live for hours, so that a test sees many of them.
  static ManagedCertificates ShortLived(Nanos poll = std::chrono::minutes(1)) {
    return {.service = "hooks",
            .namespace_ = "shop",
            .configurations = {"shop"},
            .validity = std::chrono::hours(4),
            .ca_validity = std::chrono::hours(12),
            .poll = poll};
  }

  Replica& Start(const ManagedCertificates& options) { return Start(options, cluster_.Connection()); }
  Replica& Start(const ManagedCertificates& options, const Connection& connection) {
    Replica& replica = replicas_.emplace_back(Replica{Must(CertificateKeeper::Make(connection, options, "shop"))});
    replica.ran = cluster_.simulation().Spawn(
        [keeper = replica.keeper, stop = replica.stop.get_token()] { return keeper->Run(stop); });
    return replica;
  }
  // As when the process ends: the certificate is gone.
  void End(Replica& replica) {
    replica.stop.request_stop();
    cluster_.Advance({});
    EXPECT_TRUE(replica.ran->done()) << cluster_.simulation().WhoWaits();
    replicas_.remove_if([&](const Replica& each) { return &each == &replica; });
  }

  static json Webhook(const std::string& name) {
    return {{"name", name},
            {"failurePolicy", "Fail"},
            {"sideEffects", "None"},
            {"admissionReviewVersions", {"v1"}},
            {"rules",
             {{{"apiGroups", {"shop.example.com"}},
               {"apiVersions", {"v1"}},
               {"operations", {"CREATE"}},
               {"resources", {"orders"}}}}},
            {"clientConfig", {{"service", {{"name", "hooks"}, {"namespace", "shop"}, {"path", "/x"}}}}}};
  }
  static json Configuration(bool mutating, const std::string& name, std::vector<std::string> webhooks) {
    json object = {{"apiVersion", "admissionregistration.k8s.io/v1"},
                   {"kind", mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration"},
                   {"metadata", {{"name", name}, {"labels", {{"app", "shop"}}}}},
                   {"webhooks", json::array()}};
    for (const std::string& each : webhooks) object["webhooks"].push_back(Webhook(each));
    return object;
  }
  void AddConfiguration(bool mutating, const std::string& name, std::vector<std::string> webhooks) {
    Must(cluster_.Add(Configuration(mutating, name, std::move(webhooks)).dump()));
  }
  void AddCrd(bool with_webhook = true) {
    json crd = {{"apiVersion", "apiextensions.k8s.io/v1"},
                {"kind", "CustomResourceDefinition"},
                {"metadata", {{"name", "orders.shop.example.com"}}},
                {"spec",
                 {{"group", "shop.example.com"},
                  {"scope", "Namespaced"},
                  {"names", {{"plural", "orders"}, {"singular", "order"}, {"kind", "Order"}}},
                  {"versions",
                   {{{"name", "v1"},
                     {"served", true},
                     {"storage", true},
                     {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}}}}}};
    if (with_webhook) {
      crd["spec"]["conversion"] = {
          {"strategy", "Webhook"},
          {"webhook",
           {{"conversionReviewVersions", {"v1"}},
            {"clientConfig", {{"service", {{"name", "hooks"}, {"namespace", "shop"}, {"path", "/convert"}}}}}}}};
    }
    Must(cluster_.Add(crd.dump()));
  }

  json Get(std::string_view resource, std::string_view in_namespace, std::string_view name) {
    return json::parse(Must(cluster_.Get(resource, in_namespace, name)));
  }
  json Secret() { return Get("secrets", "shop", "hooks-certificates"); }
  std::string InSecret(const char* key) { return FromBase64(Secret()["data"].value(key, "")); }
  bool HasSecret() { return cluster_.Get("secrets", "shop", "hooks-certificates").has_value(); }
  // Every caBundle, decoded, with where it is.
  std::vector<std::pair<std::string, std::string>> Bundles() {
    std::vector<std::pair<std::string, std::string>> all;
    const auto add = [&](const std::string& where, const json& client) {
      all.emplace_back(where, FromBase64(client.value("caBundle", "")));
    };
    for (const bool mutating : {true, false}) {
      for (const std::string& text : cluster_.List(Resource(mutating))) {
        const json object = json::parse(text);
        for (const json& each : object["webhooks"]) {
          add(object["metadata"]["name"].get<std::string>() + "/" + each["name"].get<std::string>(),
              each["clientConfig"]);
        }
      }
    }
    for (const std::string& text : cluster_.List("customresourcedefinitions")) {
      const json object = json::parse(text);
      const json::json_pointer client("/spec/conversion/webhook/clientConfig");
      if (object.contains(client)) add("CRD", object.at(client));
    }
    return all;
  }
  std::chrono::sys_seconds WallNow() {
    return std::chrono::floor<std::chrono::seconds>(cluster_.simulation().clock()->WallNow());
  }
  Nanos Elapsed() { return cluster_.simulation().clock()->Now().time_since_epoch(); }

  // What every replica serves is trusted by everything that publishes an authority.
  std::string Violation(const std::string& name = "hooks.shop.svc") {
    std::set<std::pair<std::string, std::string>>
        trusted;  // most replicas and bundles are the same, and OpenSSL is slow
    for (const auto& [where, bundle] : Bundles()) {
      if (bundle.empty()) continue;  // nobody has written it yet
      for (const Replica& replica : replicas_) {
        const std::string served = replica.keeper->current_pem();
        if (served.empty() || !trusted.emplace(served, bundle).second) continue;
        if (const std::string why = WhyRefused(served, bundle, name, WallNow()); !why.empty()) {
          return where + " refuses what is served: " + why;
        }
      }
    }
    return "";
  }
  // Checks that after each answer, until the end of the test.
  void CheckAlways() {
    watcher_->after = [this] {
      // Most answers leave everything as it is.
      std::string served;
      for (const Replica& replica : replicas_) served += replica.keeper->current_pem();
      if (std::exchange(checked_version_, cluster_.resource_version()) == cluster_.resource_version() &&
          std::exchange(checked_served_, served) == served) {
        return;
      }
      checked_served_ = served;
      if (violation_.empty()) violation_ = Violation();
    };
  }
  // Advances in steps, with a check after each.
  void Pass(Nanos duration, Nanos step = std::chrono::minutes(10)) {
    for (Nanos passed{}; passed < duration; passed += step) {
      cluster_.Advance(std::min(step, duration - passed));
      if (violation_.empty()) violation_ = Violation();
      ASSERT_EQ(violation_, "") << "after " << Elapsed() / std::chrono::minutes(1) << " min";
    }
  }
  std::vector<std::string> Logged(std::string_view part) const {
    std::vector<std::string> all;
    for (const std::string& each : watcher_->logged) {
      if (each.contains(part)) all.push_back(each);
    }
    return all;
  }
  static std::size_t Certificates(const std::string& pem) { return net::ReadCertificates(pem).size(); }

  const Shared<Watcher> watcher_ = MakeShared<Watcher>();
  testing::Cluster cluster_{{.seed = GetParam(), .observer = watcher_}};
  std::list<Replica> replicas_;
  std::string violation_, checked_served_;
  std::uint64_t checked_version_ = 0;
};

}  // namespace kgen::controller

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_CERTIFICATES_FIXTURE_H_
