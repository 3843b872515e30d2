// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Versions of a custom resource: objects are stored in one version and served in all of them. They differ in apiVersion
// alone, or a conversion webhook makes one from the other.
#include <algorithm>
#include <utility>

#include "core/json/compact_json.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Nanos kConversionTimeout = 30s;

// What a webhook gets, as on a server: an object as it is stored, without the version that storing it gave it.
json ForConversion(const json& value) {
  json object = value;
  if (object["metadata"].is_object()) object["metadata"].erase("resourceVersion");
  return object;
}

// Identifies a conversion within a request. Of the metadata only what a webhook may change or must keep: a request may
// complete the rest after the conversion.
std::string ConversionKey(const json& value, std::string_view to) {
  json key = value;
  json metadata = json::object();
  for (const char* member : {"name", "namespace", "uid", "labels", "annotations"}) {
    if (const json* found = FindPath(value, std::string("metadata.") + member)) metadata[member] = *found;
  }
  key["metadata"] = std::move(metadata);
  return std::string(to) + ' ' + detail::CompactJson(key);
}

ApiError ConversionError(const std::string& message) { return {.code = 500, .message = message}; }

}  // namespace

bool ApiServer::NeedsConversion(const StoredObject& object, const Resource& resource, std::string_view version) const {
  return resource.conversion && object.value.is_object() &&
         TextAt(object.value, "apiVersion") != ApiVersionOf(resource, version);
}

ApiResult<const json*> ApiServer::InVersion(const json& value, const Resource& resource, std::string_view version,
                                            json& room) {
  if ((resource.versions.size() < 2 && !resource.conversion) || !value.is_object()) return &value;
  const std::string to = ApiVersionOf(resource, version);
  if (TextAt(value, "apiVersion") == to) return &value;
  if (!resource.conversion || run_ == nullptr) {
    room = value;
    room["apiVersion"] = to;
    return &room;
  }
  const std::string key = ConversionKey(value, to);
  if (const auto known = run_->conversions.find(key); known != run_->conversions.end()) {
    if (!known->second.failure.empty()) return Refuse(ConversionError(known->second.failure));
    room = WithMetadataOf(value, known->second.object);
    Complete(resource, version, room);
    return &room;
  }
  auto batch = std::find_if(run_->batches.begin(), run_->batches.end(), [&](const ConversionBatch& each) {
    return each.crd == resource.conversion->crd && each.to == to;
  });
  if (batch == run_->batches.end()) {
    run_->batches.push_back({.crd = resource.conversion->crd,
                             .client_config = resource.conversion->client_config,
                             .to = to,
                             .keys = {},
                             .objects = {}});
    batch = std::prev(run_->batches.end());
  }
  if (std::find(batch->keys.begin(), batch->keys.end(), key) == batch->keys.end()) {
    batch->keys.push_back(key);
    batch->objects.push_back(ForConversion(value));
  }
  return Refuse(Suspended());
}

ApiResult<json> ApiServer::StorageForm(const ApiCall& call, json object) {
  json room;
  const auto stored = InVersion(object, *call.resource, call.resource->info.version, room);
  if (!stored) return Refuse(stored.error());
  return *stored == &object ? std::move(object) : std::move(room);
}

ApiResult<void> ApiServer::PrepareReply(const ApiCall& call, const json& stored) {
  json room;
  const auto served = InVersion(stored, *call.resource, call.version, room);
  if (!served && run_ != nullptr && run_->waits()) return Refuse(served.error());
  return {};
}

WebhookRequest ApiServer::ConversionCall(const ConversionBatch& batch, std::string_view uid) {
  return {.name = batch.crd,
          .client_config = batch.client_config,
          .review = ConversionReviewOf(batch.objects, batch.to, uid),
          .timeout = kConversionTimeout};
}

ReviewResult<std::vector<json>> ApiServer::ReadConversion(const ConversionBatch& batch, std::string_view uid,
                                                          const WebhookOutcome& outcome) {
  if (!outcome.failure.empty()) return std::unexpected(ConversionFailure(batch.objects, outcome.failure));
  return ReadConversionReview(outcome.answer, batch.objects, batch.to, uid);
}

// --- Watches, which are answered while their objects are converted

void ApiServer::ConvertBacklog(WatchStream& watch) {
  if (watch.backlog.empty() || closed_) return;
  std::vector<ObjectRef> objects;
  ConversionBatch batch;
  for (const WatchStream::Event& event : watch.backlog) {
    if (!event.object || !NeedsConversion(*event.object, *watch.resource, watch.version)) continue;
    if (!watched_.emplace(std::pair(event.object.get(), watch.version), WatchedConversion{.object = event.object})
             .second) {
      continue;
    }
    objects.push_back(event.object);
    batch.objects.push_back(ForConversion(event.object->value));
  }
  SendBacklog(watch);
  if (objects.empty()) return;
  batch.crd = watch.resource->conversion->crd;
  batch.client_config = watch.resource->conversion->client_config;
  batch.to = ApiVersionOf(*watch.resource, watch.version);
  const std::string uid = ReviewUid(batch.crd);
  caller_->Call(ConversionCall(batch, uid), [this, self = Shared<ApiServer>(this), version = watch.version, batch, uid,
                                             objects](const WebhookOutcome& outcome) {
    const auto converted = ReadConversion(batch, uid, outcome);
    const MutexLock lock(mutex_);
    OnConverted(version, objects, converted);
  });
}

void ApiServer::OnConverted(const std::string& version, const std::vector<ObjectRef>& objects,
                            const ReviewResult<std::vector<json>>& converted) {
  if (closed_) return;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    WatchedConversion& conversion = watched_[{objects[i].get(), version}];
    conversion.object = objects[i];
    conversion.done = true;
    if (converted) {
      conversion.value = (*converted)[i];
    } else {
      conversion.failure = converted.error();
    }
  }
  bool open = false;
  for (const Shared<WatchStream>& watch : std::vector(watches_)) {
    if (watch->backlog.empty()) continue;
    SendBacklog(*watch);
    open = open || !watch->backlog.empty();
  }
  // Once no watch waits, no watch needs what is converted: later events have other objects.
  if (!open) std::erase_if(watched_, [](const auto& each) { return each.second.done; });
}

// Sends events up to the first one whose object is not converted yet.
void ApiServer::SendBacklog(WatchStream& watch) {
  std::deque<WatchStream::Event> backlog = std::exchange(watch.backlog, {});
  while (!backlog.empty()) {
    const WatchStream::Event& event = backlog.front();
    if (!event.object) {
      WriteLine(watch, event.type, event.text);
    } else if (!NeedsConversion(*event.object, *watch.resource, watch.version)) {
      SendConverted(watch, event, event.object->value);
    } else {
      const auto found = watched_.find({event.object.get(), watch.version});
      if (found == watched_.end() || !found->second.done) break;
      if (!found->second.failure.empty()) {
        WriteLine(watch, "ERROR", ConversionError(found->second.failure).ToStatus().dump());
        return EndWatch(watch, /*cut=*/false);
      }
      SendConverted(watch, event, WithMetadataOf(event.object->value, found->second.value));
    }
    backlog.pop_front();
  }
  watch.backlog = std::move(backlog);
  if (!watch.pending.empty() && watch.wake) watch.wake();
}

void ApiServer::SendConverted(WatchStream& watch, const WatchStream::Event& event, json value) {
  if (event.resource_version != 0) value["metadata"]["resourceVersion"] = std::to_string(event.resource_version);
  const bool converted = value.is_object() && TextAt(value, "apiVersion") != TextAt(event.object->value, "apiVersion");
  if (converted) Complete(*watch.resource, watch.version, value);
  auto object = MakeShared<StoredObject>();
  object->bytes = value.is_object() ? value.dump() : event.object->bytes;
  object->value = std::move(value);
  WriteLine(watch, event.type, Bytes(ObjectRef(object), *watch.resource, watch.version, watch.metadata_form));
}

}  // namespace kgen::testing
