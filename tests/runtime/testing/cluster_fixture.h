// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A simulated cluster and a raw client of it, for tests of the server's behaviour.
#ifndef KGEN_TESTS_RUNTIME_TESTING_CLUSTER_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_TESTING_CLUSTER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/core/object_meta.h"
#include "kgen/testing/cluster.h"

namespace kgen::testing {

using nlohmann::json;

// What a watch has received, as lines "ADDED default/a@5".
class WatchLog final : public StreamSink {
 public:
  void OnOpen() override { open = true; }
  void OnBytes(std::string_view bytes) override {
    rest += bytes;
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
      const json event = json::parse(rest.substr(0, end));
      events.push_back(event);
      const json& metadata = event["object"].contains("metadata") ? event["object"]["metadata"] : event["object"];
      std::string line = event["type"].get<std::string>();
      if (metadata.contains("name")) line += " " + metadata["name"].get<std::string>();
      if (metadata.contains("annotations") && line == "BOOKMARK") line += " end";
      lines.push_back(line);
    }
  }
  void OnEnd(Result<void> result) override { end = std::move(result); }

  bool open = false;
  std::string rest;
  std::vector<json> events;
  std::vector<std::string> lines;
  std::optional<Result<void>> end;
};

class ClusterTest : public ::testing::Test {
 protected:
  static constexpr char kCrds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  explicit ClusterTest(ClusterOptions options = {.seed = 1}) : cluster_(std::move(options)) {}

  // The answer's body; a Status for a refusal.
  json Send(std::string method, std::string path, std::string query = {}, const json& body = {},
            std::string type = {}) {
    ApiRequest request{.method = std::move(method), .path = std::move(path), .query = std::move(query)};
    request.body = body.is_null() ? "" : body.dump();
    request.content_type = !type.empty() || body.is_null() ? std::move(type) : "application/json";
    request.what = "test";
    const auto answer = connection_.Call(std::move(request));
    last_code_ = answer ? Code::kInternal : answer.error().code();
    last_causes_.clear();
    if (answer) {
      last_status_ = answer->status;
      json parsed = json::parse(answer->body, nullptr, false);
      return parsed.is_discarded() ? json(answer->body) : parsed;
    }
    const meta::v1::Status* status = answer.error().status();
    last_status_ = status != nullptr ? *status->code : 0;
    last_error_ = answer.error().ToString();
    if (status != nullptr) {
      for (const auto& cause : status->details->causes)
        last_causes_.push_back(std::string(cause.field) + " " + std::string(cause.reason));
    }
    return {};
  }
  json Get(std::string path, std::string query = {}) { return Send("GET", std::move(path), std::move(query)); }
  json Post(std::string path, const json& body) { return Send("POST", std::move(path), "", body); }
  json Put(std::string path, const json& body) { return Send("PUT", std::move(path), "", body); }
  json Delete(std::string path, const json& body = {}) { return Send("DELETE", std::move(path), "", body); }

  Shared<WatchLog> Watch(std::string path, std::string query) {
    auto log = MakeShared<WatchLog>();
    ApiRequest request{
        .path = std::move(path), .query = "watch=true" + (query.empty() ? "" : "&" + query), .what = "watch"};
    request.watch = true;
    calls_.push_back(connection_.Stream(std::move(request), connection_.executor().MakeStrand("watcher"), log));
    cluster_.RunUntilIdle();
    return log;
  }

  static json Pod(std::string_view name, const json& labels = json::object()) {
    json pod = json::parse(MinimalPod("default", name).json());
    if (!labels.empty()) pod["metadata"]["labels"] = labels;
    return pod;
  }

  Cluster cluster_;
  kgen::Connection connection_ = cluster_.Connection();
  std::vector<Shared<StreamCall>> calls_;
  int last_status_ = 0;
  Code last_code_ = Code::kInternal;
  std::string last_error_;
  std::vector<std::string> last_causes_;
};

inline constexpr char kPods[] = "/api/v1/namespaces/default/pods";

}  // namespace kgen::testing

#endif  // KGEN_TESTS_RUNTIME_TESTING_CLUSTER_FIXTURE_H_
