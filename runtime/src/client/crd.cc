// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/crd.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/pause.h"
#include "client/text.h"
#include "core/json_depth.h"
#include "kgen/core/executor.h"

namespace kgen::crd {
namespace {

using nlohmann::json;

constexpr std::string_view kCollection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// Returns the member at a path of keys, or null.
const json& At(const json& value, std::initializer_list<const char*> path) {
  static const json kNull;
  const json* here = &value;
  for (const char* key : path) {
    if (!here->is_object()) return kNull;
    const auto found = here->find(key);
    if (found == here->end()) return kNull;
    here = &*found;
  }
  return *here;
}

std::string TextAt(const json& value, std::initializer_list<const char*> path) {
  const json& found = At(value, path);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::string Dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

// The result is discarded if the text is not JSON, or is nested too deeply for code that recurses over it.
json Parse(std::string_view text) {
  if (detail::NestsTooDeep(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, false);
}

// The installation of one CRD, until it is served.
class Installation {
 public:
  Installation(const Connection& connection, json manifest, std::stop_token stop)
      : connection_(connection),
        manifest_(std::move(manifest)),
        name_(TextAt(manifest_, {"metadata", "name"})),
        stop_(std::move(stop)) {}

  const std::string& name() const noexcept { return name_; }
  const std::string& state() const noexcept { return state_; }

  Result<void> Put() {
    Result<ApiResponse> created = Send("POST", std::string(kCollection), Dump(manifest_));
    if (created || created.error().code() != Code::kAlreadyExists) return Discard(std::move(created));
    for (int attempt = 1;; ++attempt) {
      Result<void> updated = Update();
      if (updated || updated.error().code() != Code::kConflict || attempt == kAttempts) return updated;
    }
  }

  // Returns true once the condition Established holds and lists of each served version succeed.
  Result<bool> Served() {
    Result<json> object = Get();
    if (!object) return Transient(object.error());
    bool established = false;
    state_.clear();
    for (const json& condition : At(*object, {"status", "conditions"})) {
      const std::string type = TextAt(condition, {"type"});
      const std::string status = TextAt(condition, {"status"});
      established |= type == "Established" && status == "True";
      state_ += (state_.empty() ? "" : ", ") + type + "=" + status;
      if (status != "True")
        state_ += " (" + TextAt(condition, {"reason"}) + ": " + TextAt(condition, {"message"}) + ")";
    }
    if (state_.empty()) state_ = "no conditions";
    if (!established) return false;
    for (const json& version : At(*object, {"spec", "versions"})) {
      if (!At(version, {"served"}).is_boolean() || !At(version, {"served"}).get<bool>()) continue;
      const std::string path = "/apis/" + client::EscapeSegment(TextAt(*object, {"spec", "group"})) + '/' +
                               client::EscapeSegment(TextAt(version, {"name"})) + '/' +
                               client::EscapeSegment(TextAt(*object, {"spec", "names", "plural"}));
      Result<ApiResponse> answer = Send("GET", path, "", "limit=1");
      // A user who may install a kind need not be allowed to list it. A 403 shows that the server serves it.
      if (answer || answer.error().code() == Code::kForbidden) continue;
      state_ += ", " + path + ": " + answer.error().message();
      return Transient(answer.error());
    }
    return true;
  }

 private:
  static constexpr int kAttempts = 5;

  Result<ApiResponse> Send(std::string_view method, std::string path, std::string body, std::string query = {}) {
    ApiRequest request;
    request.method = method;
    request.path = std::move(path);
    request.query = std::move(query);
    request.what = "install customresourcedefinition " + name_;
    if (!body.empty()) request.content_type = "application/json";
    request.body = std::move(body);
    return connection_.Call(std::move(request), stop_);
  }

  Result<json> Get() {
    Result<ApiResponse> answer = Send("GET", std::string(kCollection) + '/' + client::EscapeSegment(name_), "");
    if (!answer) return Fail(answer.error());
    json object = Parse(answer->body);
    if (!object.is_object())
      return Fail(Code::kDecode, "customresourcedefinition " + name_ + ": the response is not a JSON object");
    return object;
  }

  // Sets our spec, labels and annotations in the existing object. What others have added to the metadata is kept.
  Result<void> Update() {
    Result<json> object = Get();
    if (!object) return Fail(object.error());
    json wanted = *object;
    wanted["spec"] = At(manifest_, {"spec"});
    for (const char* member : {"labels", "annotations"}) {
      const json& ours = At(manifest_, {"metadata", member});
      if (!ours.is_object()) continue;
      json& theirs = wanted["metadata"][member];
      if (!theirs.is_object()) theirs = json::object();
      theirs.update(ours);
    }
    if (wanted == *object) return {};
    wanted.erase("status");
    return Discard(Send("PUT", std::string(kCollection) + '/' + client::EscapeSegment(name_), Dump(wanted)));
  }

  // Returns false if the error may go away, so that the caller checks again. Every other error ends the installation.
  static Result<bool> Transient(const Error& error) {
    switch (error.code()) {
      case Code::kNotFound:
      case Code::kUnavailable:
      case Code::kTooManyRequests:
      case Code::kServer:
        return false;
      default:
        return Fail(error);
    }
  }

  const Connection& connection_;
  const json manifest_;
  const std::string name_;
  const std::stop_token stop_;
  std::string state_ = "not seen yet";
};

Result<json> ParseManifest(std::string_view text) {
  json manifest = Parse(text);
  if (!manifest.is_object()) {
    return Fail(Code::kInvalidArgument, "the manifest is not a JSON object of at most 256 levels");
  }
  const std::string kind = TextAt(manifest, {"kind"});
  const std::string version = TextAt(manifest, {"apiVersion"});
  if (kind != "CustomResourceDefinition" || version != "apiextensions.k8s.io/v1") {
    return Fail(Code::kInvalidArgument, "a manifest of " + version + " " + kind +
                                            "; expected apiextensions.k8s.io/v1 CustomResourceDefinition");
  }
  if (TextAt(manifest, {"metadata", "name"}).empty() || !At(manifest, {"spec"}).is_object()) {
    return Fail(Code::kInvalidArgument, "the CustomResourceDefinition has no metadata.name or no spec");
  }
  return manifest;
}

// A stop token that fires with the user's token, or at a deadline.
class TimeLimit {
 public:
  TimeLimit(const Connection& connection, const InstallOptions& options)
      : forward_(options.stop, Forward{&source_}),
        deadline_(Later(connection.clock().Now(), options.timeout)),
        timer_(connection.clock().At(deadline_, TimerKind::kProgress,
                                     [source = source_]() mutable { source.request_stop(); })) {}

  std::stop_token token() const { return source_.get_token(); }
  TimePoint deadline() const noexcept { return deadline_; }

 private:
  struct Forward {
    std::stop_source* source;
    void operator()() const noexcept { source->request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Forward> forward_;
  const TimePoint deadline_;
  Timer timer_;
};

Result<void> Install(const Connection& connection, std::vector<Installation>& crds, const TimeLimit& limit) {
  constexpr Nanos kFirstPause = std::chrono::milliseconds(50);
  constexpr Nanos kLongestPause = std::chrono::seconds(1);
  for (Installation& crd : crds) {
    if (Result<void> put = crd.Put(); !put) return put;
  }
  for (Installation& crd : crds) {
    for (Nanos pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
      Result<bool> served = crd.Served();
      if (!served) return Fail(served.error());
      if (*served) break;
      const Result<void> waited =
          client::Pause(connection.executor(), crd.name() + " to be served", pause, limit.token());
      if (!waited) return waited;
    }
  }
  return {};
}

}  // namespace

Result<void> Install(const Connection& connection, std::span<const std::string_view> manifests,
                     const InstallOptions& options) {
  if (connection.executor().InPostedTask()) {
    return Fail(Code::kInvalidArgument,
                "crd::Install blocks, and this thread runs posted tasks; use Executor::Blocking");
  }
  const TimeLimit limit(connection, options);
  std::vector<Installation> crds;
  crds.reserve(manifests.size());
  for (const std::string_view text : manifests) {
    Result<json> manifest = ParseManifest(text);
    if (!manifest) return Fail(manifest.error());
    crds.emplace_back(connection, *std::move(manifest), limit.token());
  }
  Result<void> installed = Install(connection, crds, limit);
  if (installed || installed.error().code() != Code::kCancelled || options.stop.stop_requested()) return installed;
  if (connection.clock().Now() < limit.deadline()) return installed;
  std::string states;
  for (const Installation& crd : crds) states += (states.empty() ? "" : "; ") + crd.name() + ": " + crd.state();
  return Fail(Code::kTimeout, "the server does not serve these custom resource definitions after " +
                                  client::DurationText(options.timeout) + ": " + states);
}

}  // namespace kgen::crd
