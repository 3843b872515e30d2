// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/ca_publisher.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/request/url_encoding.h"
#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "kgen/core/quantity.h"
#include "net/base64.h"
#include "net/x509.h"

namespace kgen::controller {
namespace {

using nlohmann::json;

constexpr Nanos kRequestTimeout = std::chrono::seconds(30);
constexpr char kMutating[] = "MutatingWebhookConfiguration";
constexpr char kValidating[] = "ValidatingWebhookConfiguration";
constexpr char kCrd[] = "CustomResourceDefinition";

std::string CollectionOf(std::string_view kind) {
  if (kind == kCrd) return "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  return std::string("/apis/admissionregistration.k8s.io/v1/") +
         (kind == kMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations");
}

// The member at a JSON pointer, or null. For pointers of literals.
const json& AtPointer(const json& object, const char* pointer) {
  static const json kNone;
  const json::json_pointer at(pointer);
  return object.contains(at) ? object.at(at) : kNone;
}

std::string TextAtPointer(const json& object, const char* pointer) {
  const json& found = AtPointer(object, pointer);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::string InBase64(const std::string& raw) { return std::string(Bytes::Of(raw).base64()); }

bool NotFoundYet(const Error& error) { return error.code() == Code::kNotFound; }

}  // namespace

CaPublisher::CaPublisher(Connection connection, CaPublisherOptions options)
    : connection_(std::move(connection)), options_(std::move(options)) {
  for (const std::string& name : options_.configurations) {
    Add(kMutating, name);
    Add(kValidating, name);
  }
  for (const WebhookManifest& manifest : options_.install) {
    Add(manifest.mutating ? kMutating : kValidating, manifest.name).installs = true;
  }
  for (const std::string& name : options_.crds) Add(kCrd, name);
}

CaPublisher::Target& CaPublisher::Add(const std::string& kind, const std::string& name) {
  const auto known =
      std::ranges::find_if(targets_, [&](const Target& each) { return each.kind == kind && each.name == name; });
  if (known != targets_.end()) return *known;
  return targets_.emplace_back(Target{.collection = CollectionOf(kind), .kind = kind, .name = name});
}

Result<ApiResponse> CaPublisher::Send(ApiRequest request, const Target& target, std::string_view doing,
                                      const std::stop_token& stop) const {
  request.what = std::string(doing) + " " + target.kind + " " + target.name;
  request.timeout = kRequestTimeout;
  return connection_.Call(std::move(request), stop);
}

Result<void> CaPublisher::Read(const std::stop_token& stop) {
  for (Target& target : targets_) {
    if (Result<void> read = Read(target, stop); !read) return read;
  }
  return {};
}

Result<void> CaPublisher::Read(Target& target, const std::stop_token& stop) {
  const std::string path = target.collection + "/" + client::EscapeSegment(target.name);
  if (target.exists) {
    // A CRD may have a megabyte, and has rarely changed.
    const auto same = Send({.path = path, .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
                           target, "get the metadata of", stop);
    if (same && !detail::NestsTooDeep(same->body) &&
        TextAtPointer(json::parse(same->body, nullptr, false), "/metadata/resourceVersion") ==
            target.resource_version) {
      return {};
    }
    if (!same && !NotFoundYet(same.error())) return Fail(same.error());
  }
  const auto answer = Send({.path = path, .json = true}, target, "get", stop);
  target.exists = false;
  target.places.clear();
  target.problem.clear();
  if (!answer) return NotFoundYet(answer.error()) ? Result<void>() : Fail(answer.error());
  const json object = detail::NestsTooDeep(answer->body) ? json() : json::parse(answer->body, nullptr, false);
  target.resource_version = TextAtPointer(object, "/metadata/resourceVersion");
  if (target.resource_version.empty()) {
    return Fail(Code::kDecode, "get " + target.kind + " " + target.name + ": the answer is no object of Kubernetes");
  }
  target.exists = true;
  Learn(target, object);
  return {};
}

// Remembers where the object takes a bundle, and what is there.
void CaPublisher::Learn(Target& target, const json& object) const {
  const auto add = [&](std::string pointer, const json& client) {
    Place place{.pointer = std::move(pointer)};
    place.bundle = net::DecodeBase64(TextAtPointer(client, "/caBundle")).value_or("");
    for (net::CertificateFacts& one : net::ReadCertificates(place.bundle)) {
      place.certificates.push_back(std::move(one.pem));
    }
    target.places.push_back(std::move(place));
  };
  if (target.kind == kCrd) {
    const json& client = AtPointer(object, "/spec/conversion/webhook/clientConfig");
    if (client.is_object()) {
      add("/spec/conversion/webhook/clientConfig", client);
    } else {
      target.problem = "the CRD " + target.name +
                       " has no spec.conversion.webhook.clientConfig, so it gets no caBundle; write its conversion "
                       "with `strategy: Webhook`, or take it out of ManagedCertificates::crds";
    }
    return;
  }
  const json& webhooks = AtPointer(object, "/webhooks");
  for (std::size_t i = 0; webhooks.is_array() && i < webhooks.size(); ++i) {
    const json& client = AtPointer(webhooks[i], "/clientConfig");
    if (client.is_object()) add("/webhooks/" + std::to_string(i) + "/clientConfig", client);
  }
  json named = object;
  named["kind"] = target.kind;
  if (const Result<void> good = CheckForDeadlock(named, options_.around); !good)
    target.problem = good.error().message();
}

Publications CaPublisher::publications() const {
  Publications all;
  for (const Target& target : targets_) {
    for (const Place& place : target.places) all.push_back(place.certificates);
  }
  return all;
}

std::vector<std::string> CaPublisher::problems() const {
  std::vector<std::string> all;
  for (const Target& target : targets_) {
    if (!target.problem.empty()) all.push_back(target.problem);
    if (target.exists || (target.installs && !installed_)) continue;
    std::string what = target.kind;
    if (target.kind != kCrd && !target.installs) {  // the name stands for a configuration of either kind
      const bool other = std::ranges::any_of(targets_, [&](const Target& each) {
        return each.name == target.name && each.kind != kCrd && (each.exists || each.installs);
      });
      if (other || target.kind == kValidating) continue;
      what = "webhook configuration";
    }
    all.push_back("there is no " + what + " " + target.name + "; it gets the caBundle once it is there");
  }
  return all;
}

Result<bool> CaPublisher::Write(const std::string& bundle, const std::stop_token& stop) {
  bool any = false;
  std::optional<Error> failure;
  for (Target& target : targets_) {
    const Result<bool> written = Write(target, bundle, stop);
    any |= written && *written;
    if (!written && !failure) failure = written.error();
  }
  if (failure) return Fail(*std::move(failure));
  return any;
}

Result<bool> CaPublisher::Write(Target& target, const std::string& bundle, const std::stop_token& stop) {
  // The server refuses the patch if somebody has changed the object meanwhile, which also keeps the indexes right.
  json patch =
      json::array({{{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", target.resource_version}}});
  const std::string text = InBase64(bundle);
  for (const Place& place : target.places) {
    if (place.bundle != bundle)
      patch.push_back({{"op", "add"}, {"path", place.pointer + "/caBundle"}, {"value", text}});
  }
  if (!target.exists || patch.size() == 1) return false;
  const auto answer = Send({.method = "PATCH",
                            .path = target.collection + "/" + client::EscapeSegment(target.name),
                            .query = "fieldManager=" + client::EscapeSegment(options_.field_manager),
                            .content_type = "application/json-patch+json",
                            .body = detail::CompactJson(patch)},
                           target, "write the caBundle of", stop);
  if (!answer && NotFoundYet(answer.error())) return true;  // deleted meanwhile
  if (!answer) return Fail(answer.error());
  return true;
}

Result<bool> CaPublisher::Install(const std::string& bundle, const std::stop_token& stop) {
  bool any = false;
  for (const WebhookManifest& manifest : options_.install) {
    const Result<bool> made = Install(manifest, bundle, stop);
    if (!made) return made;
    any |= *made;
  }
  installed_ = !any;
  return any;
}

Result<bool> CaPublisher::Install(const WebhookManifest& manifest, const std::string& bundle,
                                  const std::stop_token& stop) {
  const Target& target = Add(manifest.mutating ? kMutating : kValidating, manifest.name);
  json object = json::parse(manifest.json, nullptr, false);
  const std::string query = "fieldManager=" + client::EscapeSegment(options_.field_manager);
  if (!target.exists) {
    // Made without webhooks, because only a write to an object that exists fails if this replica is late.
    object["webhooks"] = json::array();
    const auto made = Send({.method = "POST",
                            .path = target.collection,
                            .query = query,
                            .content_type = "application/json",
                            .body = detail::CompactJson(object)},
                           target, "create", stop);
    if (!made && made.error().code() != Code::kAlreadyExists) return Fail(made.error());
    return true;
  }
  const auto webhooks = object.find("webhooks");
  for (std::size_t i = 0; webhooks != object.end() && webhooks->is_array() && i < webhooks->size(); ++i) {
    json& webhook = (*webhooks)[i];
    const auto client = webhook.is_object() ? webhook.find("clientConfig") : webhook.end();
    if (client != webhook.end() && client->is_object()) (*client)["caBundle"] = InBase64(bundle);
  }
  object["metadata"]["resourceVersion"] = target.resource_version;
  const auto applied = Send({.method = "PATCH",
                             .path = target.collection + "/" + client::EscapeSegment(target.name),
                             .query = query + "&force=true",
                             .content_type = "application/apply-patch+yaml",
                             .body = detail::CompactJson(object)},
                            target, "apply", stop);
  if (!applied) return Fail(applied.error());
  return false;
}

}  // namespace kgen::controller
