// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reviews that an API server sends to webhooks, and its checks of their answers, with the wording of a real server.
#ifndef KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_REVIEW_H_
#define KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_REVIEW_H_

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::testing {

// A value, or why the answer is not accepted.
template <typename T>
using ReviewResult = std::expected<T, std::string>;

// --- AdmissionReview of admission.k8s.io/v1

// `request` is the request of the review, without its uid.
std::string AdmissionReviewOf(nlohmann::json request, std::string_view uid);

struct AdmissionVerdict {
  bool allowed = false;
  nlohmann::json patch;   // null: none
  nlohmann::json status;  // of a denial; null: none
  std::vector<std::string> warnings;
};
ReviewResult<AdmissionVerdict> ReadAdmissionReview(std::string_view answer, std::string_view uid, bool mutating);

// Returns the Status of a denial, completed as a server completes it.
nlohmann::json DenialOf(std::string_view webhook, nlohmann::json status);

// --- ConversionReview of apiextensions.k8s.io/v1

std::string ConversionReviewOf(const std::vector<nlohmann::json>& objects, std::string_view to, std::string_view uid);

// Returns one object for each of `objects`, in their order, with the metadata of the original but for labels and
// annotations. `to` is the desired apiVersion. The error is the whole message of a server.
ReviewResult<std::vector<nlohmann::json>> ReadConversionReview(std::string_view answer,
                                                               const std::vector<nlohmann::json>& objects,
                                                               std::string_view to, std::string_view uid);
// Returns the message for a call that failed: "conversion webhook for shop.example/v1, Kind=Order failed: why".
std::string ConversionFailure(const std::vector<nlohmann::json>& objects, std::string_view why);

// Returns `converted` with the metadata of `original`, but for labels and annotations.
nlohmann::json WithMetadataOf(const nlohmann::json& original, nlohmann::json converted);

// --- Faults: break an answer as a broken webhook would.
std::string WithWrongUid(const std::string& answer);
std::string WithoutOneObject(const std::string& answer);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_REVIEW_H_
