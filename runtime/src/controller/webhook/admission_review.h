// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads an AdmissionReview and writes its answer. Versions v1 and v1beta1 of admission.k8s.io have the same members;
// the answer has the version of the review.
//
//   bytes --ReadAdmissionReview()--> AdmissionRequest --> a handler --> AdmissionVerdict --WriteAdmissionReview()-->
//   bytes
//
// Thread safety: the functions are pure and do not block.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_REVIEW_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_REVIEW_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/controller/admission.h"
#include "kgen/core/json.h"
#include "kgen/core/object_key.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"

namespace kgen::controller {

// The request of a review. The objects are views of the bytes of the review, which must outlive it.
struct AdmissionRequest {
  bool v1beta1 = false;  // the version of the review; otherwise v1
  std::string uid{};
  AdmissionOperation operation = AdmissionOperation::kConnect;
  GroupVersionKind kind{}, request_kind{};
  GroupVersionResource resource{}, request_resource{};
  std::string subresource{}, request_subresource{};
  ObjectKey key{};
  AdmissionUser user{};
  bool dry_run = false;
  Json options{};
  std::string_view object{}, old_object{};  // JSON objects; "" if absent or null
};

// Reads a review into `request`, a default value. After an error it holds what could be read, so that the answer can
// echo the uid and the version.
//
// Errors: kDecode  no body, not JSON, another apiVersion or kind, no request, a member of the wrong type, nested deeper
//                  than an object may be (DecodeOptions), or more than a million members; the message names the place
Result<void> ReadAdmissionReview(std::string_view review, AdmissionRequest& request);

// What is answered. A denial has no patch.
struct AdmissionVerdict {
  bool allowed = true;
  meta::v1::Status status{};  // of a denial
  std::string patch{};        // a JSON patch; "" without one
  std::vector<std::string> warnings{};
  std::map<std::string, std::string> audit{};
};

// Returns the review with the answer; the request gives its version and uid.
std::string WriteAdmissionReview(const AdmissionRequest& request, const AdmissionVerdict& verdict);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_REVIEW_H_
