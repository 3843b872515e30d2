// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Admission: the request to the API server about which an admission webhook decides; and the answer of a raw webhook.
#ifndef KGEN_CONTROLLER_ADMISSION_H_
#define KGEN_CONTROLLER_ADMISSION_H_

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/controller/cached_client.h"
#include "kgen/core/clock.h"
#include "kgen/core/field_errors.h"
#include "kgen/core/json.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"
#include "kgen/core/shared.h"
#include "kgen/core/unstructured.h"

namespace kgen {

namespace controller {
struct AdmissionContext;
}

// What the request does. kConnect is a request to a subresource such as exec.
enum class AdmissionOperation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };
// Returns "CREATE", ...
std::string_view ToString(AdmissionOperation operation) noexcept;

// Who sent a request. It is a claim of whoever sent the review: only a client certificate of the API server
// (WebhookOptions::client_ca_file) proves that the review comes from there.
struct AdmissionUser {
  // As the server has authenticated the user; `extra` is what the authenticator adds.
  std::string username{}, uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
};

// What a function of a webhook knows of the request, beside the object. Source: AdmissionRequest of
// admission.k8s.io/v1.
//
// Lifetime: valid during one call of the function. Thread safety: one thread at a time.
class Admission {
 public:
  // Identifies this one call of the webhook.
  const std::string& uid() const noexcept;
  AdmissionOperation operation() const noexcept;
  // The kind and resource of the object in the review. With `matchPolicy: Equivalent` the server converts the object to
  // the version of the webhook's rule: request_kind() and request_resource() are what the client has sent.
  const GroupVersionKind& kind() const noexcept;
  const GroupVersionKind& request_kind() const noexcept;
  const GroupVersionResource& resource() const noexcept;
  const GroupVersionResource& request_resource() const noexcept;
  const std::string& subresource() const noexcept;  // "status", "scale"; "" for the object itself
  const std::string& request_subresource() const noexcept;
  // The key of the object. The name is "" for a CREATE that leaves the name to the server (generateName).
  const ObjectKey& key() const noexcept;
  const AdmissionUser& user() const noexcept;
  // Whether nothing will be stored. A function without side effects need not ask; client() refuses writes then.
  bool dry_run() const noexcept;
  // The CreateOptions, UpdateOptions or DeleteOptions of the request; unset if it has none.
  const Json& options() const noexcept;

  // Sends a warning to the client, which kubectl prints. Equal warnings count once. Servers cut off warnings of more
  // than 256 characters once all of a review have more than 4,096 together; so the answer merges those that do not fit
  // into one that says how many they are.
  void Warn(std::string_view text) const;
  // Adds to the audit event of the request. The key has no '/', which the server puts between it and the webhook's
  // name.
  void Audit(std::string_view key, std::string_view value) const;

  // The client of the manager. Writes are refused with kForbidden if dry_run(), because they would not be undone.
  // Throws kgen::Exception (kInvalidArgument) if the manager does not run yet, as in a test that calls its webhooks
  // without it.
  const CachedClient& client() const;
  // Requested a little before the server gives up. What a function returns afterwards is not sent.
  std::stop_token stop() const noexcept;
  TimePoint deadline() const noexcept;
  // Writes a record to the structured log of the manager, with the webhook, the object and the uid. Never blocks.
  void Log(std::string_view message) const;

  explicit Admission(const controller::AdmissionContext* context) noexcept : context_(context) {}

 private:
  const controller::AdmissionContext* context_;  // not owned; never null
};

// What a raw webhook sees of a review: any kind, any subresource, CONNECT.
struct RawAdmission {
  // What is known of the request: operation, user, resource, ...
  const Admission& request;
  const Json& object;      // unset for DELETE
  const Json& old_object;  // unset but for UPDATE and DELETE
};

// What a raw webhook answers.
struct AdmissionAnswer {
  // Whether the request is admitted.
  bool allowed = true;
  // The HTTP status, reason and message of a denial. Default: 403 and "Forbidden"; with errors: 422 and "Invalid".
  int code = 0;
  std::string reason{};
  std::string message{};
  FieldErrors errors{};  // if any, the request is denied
  // A JSON patch (RFC 6902), or unset. Only of a mutating webhook, and not on DELETE.
  Json patch{};
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_ADMISSION_H_
