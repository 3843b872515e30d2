// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RequestRun: a request that the in-memory API server may have to serve in several passes, because it needs answers of
// webhooks and must not wait for them under its lock.
//
//   ApiServer --pass--> needs an answer that the run does not have --lock released--> WebhookCaller
//       ^                                                                                  |
//       +---------------------- next pass, with the answer ----------------------<---------+
//
// A pass changes nothing before it has all answers that the change depends on. What a pass has decided by chance or
// read from the clock stays with the run, so that the next pass builds the same object and finds the answer for it. If
// another request has changed the stored object meanwhile, the pass builds another object, and asks about that one.
#ifndef KGEN_SRC_TESTING_REQUEST_RUN_H_
#define KGEN_SRC_TESTING_REQUEST_RUN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kgen/testing/cluster.h"
#include "testing/api_error.h"
#include "testing/object_store.h"
#include "testing/webhooks/webhook_caller.h"
#include "testing/webhooks/webhook_review.h"

namespace kgen::testing {

// Objects of one resource that are to be converted to one version, in one review.
struct ConversionBatch {
  std::string crd;
  nlohmann::json client_config;
  std::string to;  // the apiVersion
  std::vector<std::string> keys;
  std::vector<nlohmann::json> objects;
};

struct RequestRun {
  // A question about admission: a call of a webhook, or one of its matchConditions.
  struct Question {
    std::string key;
    WebhookRequest call;
    std::string condition{};  // not "": an expression for ClusterOptions::match_condition; call.review is the request
  };
  struct Conversion {
    nlohmann::json object;
    std::string failure;  // not "": the whole message
  };

  // --- What the passes share.
  std::optional<Fault> fault;  // of Cluster::Inject()
  bool faults_taken = false;
  bool recorded = false;              // in Cluster::Writes()
  std::vector<std::uint64_t> chance;  // in the order in which a pass draws
  std::optional<std::chrono::sys_seconds> now;
  std::map<std::string, WebhookOutcome> answers;          // by Question::key
  std::map<std::string, std::string> uids;                // of the reviews, by Question::key
  std::map<std::string, Conversion> conversions;          // by the object and the version
  std::set<std::pair<std::string, std::uint64_t>> bases;  // the stored versions for which webhooks were asked
  // For deletecollection: the objects that are still to be deleted, the last one first, and what was deleted.
  std::optional<std::vector<ObjectRef>> targets;
  std::vector<ObjectRef> deleted;

  // --- What belongs to one pass.
  std::size_t drawn = 0;
  std::vector<Question> questions;
  std::vector<ConversionBatch> batches;
  std::optional<ApiError> failure;  // of a conversion that the answer needs

  bool waits() const noexcept { return !questions.empty() || !batches.empty(); }
  void StartPass() {
    drawn = 0;
    questions.clear();
    batches.clear();
    failure.reset();
  }
};

// Ends a pass that waits for webhooks; never sent.
inline ApiError Suspended() { return {.code = 0, .message = "waits for webhooks"}; }

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_REQUEST_RUN_H_
