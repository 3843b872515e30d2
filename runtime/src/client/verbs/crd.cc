// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/crd.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/request/pause.h"
#include "client/request/url_encoding.h"
#include "core/execution/post_timer.h"
#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "kgen/core/executor.h"
#include "net/duration_text.h"

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

json* Find(json& value, std::initializer_list<const char*> path) {
  json& found = const_cast<json&>(At(value, path));
  return found.is_object() ? &found : nullptr;
}

std::string TextAt(const json& value, std::initializer_list<const char*> path) {
  const json& found = At(value, path);
  return found.is_string() ? found.get<std::string>() : std::string();
}

// The result is discarded if the text is not JSON, or is nested too deeply for code that recurses over it.
json Parse(std::string_view text) {
  if (detail::NestsTooDeep(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, false);
}

// The element of spec.versions with this name, or null.
const json& VersionOf(const json& versions, const std::string& name) {
  static const json kNull;
  const auto found =
      std::ranges::find_if(versions, [&](const json& version) { return TextAt(version, {"name"}) == name; });
  return found == versions.end() ? kNull : *found;
}

// Sets in `into` what `from` says. Objects are merged, everything else is replaced.
void Merge(json& into, const json& from) {
  if (!into.is_object() || !from.is_object()) {
    into = from;
    return;
  }
  for (const auto& [key, value] : from.items()) Merge(into[key], value);
}

// Sets spec.conversion as the manifest has it. What belongs to a choice that the manifest does not make must go,
// because servers refuse a webhook beside the strategy None, and a `url` beside a `service`.
void MergeConversion(json& into, json ours) {
  if (TextAt(ours, {"strategy"}) != "Webhook" || !into.is_object()) {
    into = std::move(ours);
    return;
  }
  if (json* client = Find(ours, {"webhook", "clientConfig"}); client != nullptr) {
    if (TextAt(*client, {"caBundle"}).empty()) client->erase("caBundle");
    json* theirs = Find(into, {"webhook", "clientConfig"});
    for (const auto& [ours_has, theirs_goes] : {std::pair("service", "url"), std::pair("url", "service")}) {
      if (theirs != nullptr && client->contains(ours_has)) theirs->erase(theirs_goes);
    }
  }
  Merge(into, ours);
}

json Merged(const json& object, const json& manifest) {
  json merged = object;
  for (const char* member : {"labels", "annotations"}) {
    const json& ours = At(manifest, {"metadata", member});
    if (ours.is_object() && !ours.empty()) Merge(merged["metadata"][member], ours);
  }
  json spec = At(manifest, {"spec"});
  json conversion;
  if (const auto said = spec.find("conversion"); said != spec.end()) {
    conversion = std::move(*said);
    spec.erase(said);
  }
  Merge(merged["spec"], spec);
  if (!conversion.is_null()) MergeConversion(merged["spec"]["conversion"], std::move(conversion));
  return merged;
}

void AddChanges(const std::string& path, const json& before, const json& after, std::vector<std::string>& changes);

// The versions of a CRD are a list that is read by name.
void AddVersionChanges(const std::string& path, const json& before, const json& after,
                       std::vector<std::string>& changes) {
  const std::size_t known = changes.size();
  for (const json& version : before) {
    const std::string name = TextAt(version, {"name"});
    AddChanges(path + '[' + name + ']', version, VersionOf(after, name), changes);
  }
  for (const json& version : after) {
    const std::string name = TextAt(version, {"name"});
    if (VersionOf(before, name).is_null()) changes.push_back(path + '[' + name + "] added");
  }
  if (changes.size() == known && before != after) changes.push_back(path + " reordered");
}

// What differs, down to the members that do.
void AddChanges(const std::string& path, const json& before, const json& after, std::vector<std::string>& changes) {
  if (before == after) return;
  if (before.is_null() || after.is_null()) {
    changes.push_back(path + (before.is_null() ? " added" : " removed"));
  } else if (path == "spec.versions" && before.is_array() && after.is_array()) {
    AddVersionChanges(path, before, after, changes);
  } else if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      AddChanges(path + '.' + key, value, At(after, {key.c_str()}), changes);
    }
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) changes.push_back(path + '.' + key + " added");
    }
  } else {
    changes.push_back(path + " changed");
  }
}

std::vector<std::string> Changes(const json& before, const json& after) {
  std::vector<std::string> changes;
  AddChanges("metadata", At(before, {"metadata"}), At(after, {"metadata"}), changes);
  AddChanges("spec", At(before, {"spec"}), At(after, {"spec"}), changes);
  return changes;
}

// A server refuses to drop a version in which objects may be stored, and says only "must appear in spec.versions".
Result<void> CheckStoredVersions(const json& object, const json& merged) {
  const json& versions = At(merged, {"spec", "versions"});
  std::string lost;
  json rest = json::array();
  for (const json& stored : At(object, {"status", "storedVersions"})) {
    if (!stored.is_string()) continue;
    const std::string version = stored.get<std::string>();
    if (!VersionOf(versions, version).is_null()) {
      rest.push_back(version);
    } else {
      lost += (lost.empty() ? "" : ", ") + version;
    }
  }
  if (lost.empty()) return {};
  for (const json& version : versions) {
    const json& storage = At(version, {"storage"});
    const json& name = At(version, {"name"});
    if (storage == json(true) && std::ranges::find(rest, name) == rest.end()) rest.push_back(name);
  }
  const std::string name = TextAt(object, {"metadata", "name"});
  return Fail(
      Code::kInvalid,
      "install customresourcedefinition " + name + ": the manifest does not have the version " + lost +
          ", which is in status.storedVersions, so objects may still be stored in it. Keep the version in the manifest "
          "(served: false is enough) beside the new storage version, store every object again (kubectl get " +
          name +
          " -A -o json | kubectl replace -f -), then forget the version: kubectl patch customresourcedefinition " +
          name + " --subresource=status --type=merge -p '" +
          detail::CompactJson({{"status", {{"storedVersions", rest}}}}) +
          "'. After that, this manifest can be installed");
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

  const Installed& installed() const noexcept { return installed_; }

  // Creates or updates the CRD, again if another writer comes in between.
  Result<void> Put() {
    for (int attempt = 1;; ++attempt) {
      Result<void> put = PutOnce();
      if (put || attempt == kAttempts) return put;
      const Code code = put.error().code();
      if (code != Code::kConflict && code != Code::kAlreadyExists && code != Code::kNotFound) return put;
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

  Result<void> PutOnce() {
    Result<json> object = Get();
    if (object) return Update(*object);
    if (object.error().code() != Code::kNotFound) return Fail(object.error());
    Result<ApiResponse> created = Send("POST", std::string(kCollection), detail::CompactJson(manifest_));
    if (created) installed_ = {name_, Installed::Outcome::kCreated, {}};
    return Discard(std::move(created));
  }

  Result<void> Update(const json& object) {
    json merged = Merged(object, manifest_);
    installed_ = {name_, Installed::Outcome::kUnchanged, {}};
    if (merged == object) return {};
    if (Result<void> kept = CheckStoredVersions(object, merged); !kept) return kept;
    std::vector<std::string> changes = Changes(object, merged);
    merged.erase("status");
    Result<ApiResponse> put =
        Send("PUT", std::string(kCollection) + '/' + client::EscapeSegment(name_), detail::CompactJson(merged));
    if (!put) return Fail(std::move(put).error());
    // The server leaves out what is empty. If that is all, it has written nothing.
    const std::string version = TextAt(Parse(put->body), {"metadata", "resourceVersion"});
    if (!version.empty() && version == TextAt(object, {"metadata", "resourceVersion"})) return {};
    installed_ = {name_, Installed::Outcome::kUpdated, std::move(changes)};
    return {};
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
  Installed installed_{};
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
      : forward_(options.stop, Forward{&source_}), deadline_(Later(connection.clock().Now(), options.timeout)) {
    if (options.timeout == kNoLimit) return;
    timer_ = detail::PostAt(connection.executor(), connection.executor().MakeStrand("time limit of crd::Install"),
                            deadline_, TimerKind::kProgress, [source = source_]() mutable { source.request_stop(); });
  }

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
  Timer timer_{};
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

std::string Installed::str() const {
  std::string text = "customresourcedefinition " + name;
  switch (outcome) {
    case Outcome::kCreated:
      return text + " created";
    case Outcome::kUnchanged:
      return text + " unchanged";
    case Outcome::kUpdated:
      break;
  }
  text += " updated";
  for (std::size_t i = 0; i < changes.size(); ++i) text += (i == 0 ? ": " : ", ") + changes[i];
  return text;
}

Result<std::vector<Installed>> Install(const Connection& connection, std::span<const std::string_view> manifests,
                                       const InstallOptions& options) {
  if (connection.executor().InPostedTask()) {
    return Fail(Code::kInvalidArgument,
                "crd::Install blocks, and this thread runs posted tasks; use Executor::Blocking");
  }
  if (options.timeout <= Nanos::zero()) {
    return Fail(Code::kInvalidArgument, "crd::Install: the timeout is " + net::DurationText(options.timeout) +
                                            ", which leaves no time for the call; use kgen::kNoLimit for no limit");
  }
  if (options.stop.stop_requested()) return Fail(Code::kCancelled, "crd::Install was stopped before it began");
  const TimeLimit limit(connection, options);
  std::vector<Installation> crds;
  crds.reserve(manifests.size());
  for (const std::string_view text : manifests) {
    Result<json> manifest = ParseManifest(text);
    if (!manifest) return Fail(manifest.error());
    crds.emplace_back(connection, *std::move(manifest), limit.token());
  }
  const Result<void> done = Install(connection, crds, limit);
  if (done) {
    std::vector<Installed> installed;
    installed.reserve(crds.size());
    for (const Installation& crd : crds) installed.push_back(crd.installed());
    return installed;
  }
  const bool in_time = connection.clock().Now() < limit.deadline();
  if (done.error().code() != Code::kCancelled || options.stop.stop_requested() || in_time) return Fail(done.error());
  std::string states;
  for (const Installation& crd : crds) states += (states.empty() ? "" : "; ") + crd.name() + ": " + crd.state();
  return Fail(Code::kTimeout, "the server does not serve these custom resource definitions after " +
                                  net::DurationText(options.timeout) + ": " + states);
}

}  // namespace kgen::crd
