// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// watch: from the newest version, from any version, or from one in the history; streaming lists, bookmarks and
// timeouts.
#include <algorithm>
#include <charconv>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kBookmarkEvery = 1min;
constexpr Nanos kWatchAtMost = 30min;  // if the client sets no timeout

std::string ApiVersion(const WatchStream& watch) {
  const std::string& group = watch.resource->info.group;
  return group.empty() ? watch.version : group + "/" + watch.version;
}

}  // namespace

ApiResult<Reply> ApiServer::Watch(const ApiCall& call, const Fault* fault) {
  auto scope = ParseScope(call);
  if (!scope) return Refuse(scope.error());
  const bool streaming = call.Flag("sendInitialEvents");
  // Like a real server, refuses a list at a future version, but lets a watch wait for it.
  auto version = ParseVersion(call.Query("resourceVersion"), /*future=*/!streaming);
  if (!version) return Refuse(version.error());
  const std::string_view match = call.Query("resourceVersionMatch");
  if (call.query.contains("sendInitialEvents") && !options_.streaming_lists) {
    return Refuse(Invalid(
        {.group = "meta.k8s.io", .version = "v1", .kind = "ListOptions"}, "",
        {{"FieldValueForbidden", "sendInitialEvents", "Forbidden: this server does not support streaming lists"}}));
  }
  if (streaming && match != "NotOlderThan") {
    return Refuse(
        Invalid({.group = "meta.k8s.io", .version = "v1", .kind = "ListOptions"}, "",
                {{"FieldValueForbidden", "resourceVersionMatch", "Forbidden: sendInitialEvents needs NotOlderThan"}}));
  }

  auto watch = MakeShared<WatchStream>();
  watch->resource = call.resource;
  watch->version = call.version;
  watch->metadata_form = call.metadata_form;
  if (call.protobuf) watch->protobuf = TableOfAnswer(call);
  watch->scope = *std::move(scope);
  const bool wants_bookmarks = call.Flag("allowWatchBookmarks");
  watch->bookmarks = wants_bookmarks && options_.bookmarks && !(fault != nullptr && fault->drop_bookmarks);

  const std::uint64_t from = version->value_or(0);
  const bool from_now = call.query.contains("sendInitialEvents") && !streaming;
  if (streaming) {
    StreamList(watch, *version, wants_bookmarks, fault);
  } else if (from == 0 && !from_now) {
    SendInitial(*watch, store_.resource_version());
  } else if (from != 0 && from < call.resource->compacted) {
    SendLine(*watch, "ERROR",
             Expired("too old resource version: " + std::to_string(from) + " (" +
                     std::to_string(call.resource->compacted) + ")")
                 .ToStatus()
                 .dump());
    watch->ended = true;
  } else if (from != 0) {
    watch->after = from;
    SendSince(*watch, from);
  }
  Reply reply = JsonReply(200, std::exchange(watch->pending, {}));
  if (!watch->ended) {
    ArmTimers(watch, call);
    watches_.push_back(watch);
    ConvertBacklog(*watch);
  }
  reply.watch = std::move(watch);
  return reply;
}

// Sends the state of the cache, the events since then, and the bookmark that ends the initial events. The bookmark
// comes before these events if the client requested a version, and after them otherwise.
void ApiServer::StreamList(const Shared<WatchStream>& watch, const std::optional<std::uint64_t>& version,
                           bool wants_bookmarks, const Fault* fault) {
  const std::uint64_t at = VersionOfCache(*watch->resource, version.value_or(0), fault);
  const bool mark = wants_bookmarks && !(fault != nullptr && fault->no_end_marker);
  const Nanos late = fault != nullptr ? fault->late_marker : Nanos(0);
  SendInitial(*watch, at);
  if (version && mark && late == Nanos(0)) SendBookmark(*watch, at, /*end_of_initial_events=*/true);
  SendSince(*watch, at);
  if (!version && mark && late == Nanos(0)) {
    SendBookmark(*watch, store_.resource_version(), /*end_of_initial_events=*/true);
  }
  if (!mark || late == Nanos(0)) return;
  watch->marker = executor_->clock()->After(late, TimerKind::kProgress, [this, self = Shared<ApiServer>(this), watch] {
    executor_->Post(strand_, [this, self, watch] {
      const MutexLock lock(mutex_);
      if (closed_ || watch->ended || watch->cut) return;
      SendBookmark(*watch, store_.resource_version(), /*end_of_initial_events=*/true);
      if (watch->wake) watch->wake();
    });
  });
}

void ApiServer::SendInitial(WatchStream& watch, std::uint64_t at) {
  for (const ObjectRef& object : store_.List(*watch.resource, watch.scope.namespace_, at)) {
    if (watch.scope.Matches(*object)) SendObject(watch, "ADDED", object);
  }
}

void ApiServer::SendSince(WatchStream& watch, std::uint64_t from) {
  for (const StoreEvent& event : watch.resource->history) {
    if (event.resource_version > from) SendEvent(watch, event);
  }
}

// Sends an event as the selectors see it: an object that starts to match is added, one that stops matching is deleted.
void ApiServer::SendEvent(WatchStream& watch, const StoreEvent& event) {
  if (event.resource_version <= watch.after) return;
  const bool before = event.before && watch.scope.Matches(*event.before);
  const bool now = event.now && watch.scope.Matches(*event.now);
  if (now) return SendObject(watch, before ? "MODIFIED" : "ADDED", event.now);
  if (!before) return;
  if (event.last) return SendObject(watch, "DELETED", event.last);
  if (NeedsConversion(*event.before, *watch.resource, watch.version)) {
    return SendObject(watch, "DELETED", event.before, event.resource_version);
  }
  auto last = MakeShared<StoredObject>();
  last->value = event.before->value;
  last->bytes = event.before->bytes;
  if (last->value.is_object()) {
    last->value["metadata"]["resourceVersion"] = std::to_string(event.resource_version);
    last->bytes = last->value.dump();
  }
  SendObject(watch, "DELETED", ObjectRef(last));
}

void ApiServer::SendObject(WatchStream& watch, std::string_view type, const ObjectRef& object,
                           std::uint64_t resource_version) {
  if (!watch.backlog.empty() || NeedsConversion(*object, *watch.resource, watch.version)) {
    watch.backlog.push_back({.type = std::string(type), .object = object, .resource_version = resource_version});
    return;
  }
  SendLine(watch, type, Bytes(object, *watch.resource, watch.version, watch.metadata_form));
}

void ApiServer::SendLine(WatchStream& watch, std::string_view type, std::string_view object) {
  if (watch.backlog.empty()) return WriteLine(watch, type, object);
  watch.backlog.push_back({.type = std::string(type), .object = {}, .text = std::string(object)});
}

void ApiServer::WriteLine(WatchStream& watch, std::string_view type, std::string_view object) {
  if (watch.protobuf != nullptr) return SendFrame(watch, type, object);
  watch.pending.append(R"({"type":")").append(type).append(R"(","object":)").append(object).append("}\n");
}

void ApiServer::SendBookmark(WatchStream& watch, std::uint64_t version, bool end_of_initial_events) {
  json metadata = {{"resourceVersion", std::to_string(version)}};
  if (end_of_initial_events) metadata["annotations"]["k8s.io/initial-events-end"] = "true";
  const json bookmark = {{"kind", watch.metadata_form.empty() ? watch.resource->info.kind : "PartialObjectMetadata"},
                         {"apiVersion", watch.metadata_form.empty() ? ApiVersion(watch) : watch.metadata_form},
                         {"metadata", std::move(metadata)}};
  SendLine(watch, "BOOKMARK", bookmark.dump());
}

void ApiServer::OnEvent(const Resource& resource, const StoreEvent& event) {
  if (resource.info.group == "admissionregistration.k8s.io") hooks_changed_ = true;
  for (std::size_t i = 0; i < watches_.size();) {
    const Shared<WatchStream> watch = watches_[i];
    if (watch->resource == &resource) {
      SendEvent(*watch, event);
      ConvertBacklog(*watch);
      if (!watch->pending.empty() && watch->wake) watch->wake();
    }
    if (i < watches_.size() && watches_[i].get() == watch.get()) ++i;  // a failed conversion ends it
  }
}

// Both timers are housekeeping: they recur forever, and no test waits for them.
void ApiServer::ArmTimers(const Shared<WatchStream>& watch, const ApiCall& call) {
  std::int64_t seconds = 0;
  const std::string_view text = call.Query("timeoutSeconds");
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  const Nanos limit = seconds > 0 ? Nanos(std::chrono::seconds(seconds)) : kWatchAtMost;
  watch->timeout =
      executor_->clock()->After(limit, TimerKind::kHousekeeping, [this, self = Shared<ApiServer>(this), watch] {
        executor_->Post(strand_, [this, self, watch] {
          const MutexLock lock(mutex_);
          EndWatch(*watch, /*cut=*/false);
        });
      });
  if (watch->bookmarks) ArmBookmark(watch);
}

void ApiServer::ArmBookmark(const Shared<WatchStream>& watch) {
  WatchStream& stream = *watch;
  stream.bookmark = executor_->clock()->After(
      kBookmarkEvery, TimerKind::kHousekeeping, [this, self = Shared<ApiServer>(this), watch] {
        executor_->Post(strand_, [this, self, watch] {
          const MutexLock lock(mutex_);
          if (closed_ || watch->ended || watch->cut) return;
          if (store_.resource_version() >= watch->after) {
            SendBookmark(*watch, store_.resource_version(), /*end_of_initial_events=*/false);
            if (watch->wake) watch->wake();
          }
          ArmBookmark(watch);
        });
      });
}

ApiServer::Taken ApiServer::Take(WatchStream& watch) {
  const MutexLock lock(mutex_);
  return {.bytes = std::exchange(watch.pending, {}), .ended = watch.ended, .cut = watch.cut};
}

void ApiServer::OnWake(WatchStream& watch, std::function<void()> wake) {
  const MutexLock lock(mutex_);
  watch.wake = std::move(wake);
}

void ApiServer::CloseWatch(WatchStream& watch) {
  std::function<void()> wake;  // may hold the last reference to the endpoint, so it is destroyed without the lock
  const MutexLock lock(mutex_);
  wake.swap(watch.wake);
  EndWatch(watch, /*cut=*/false);
}

// The caller must hold a reference to the watch.
void ApiServer::EndWatch(WatchStream& watch, bool cut) {
  if (watch.ended || watch.cut) return;
  (cut ? watch.cut : watch.ended) = true;
  watch.timeout.Cancel();
  watch.bookmark.Cancel();
  watch.marker.Cancel();
  watch.backlog.clear();
  std::erase_if(watches_, [&](const Shared<WatchStream>& each) { return each.get() == &watch; });
  if (watch.wake) watch.wake();
}

void ApiServer::EndWatches(bool cut) {
  const MutexLock lock(mutex_);
  for (const Shared<WatchStream>& watch : std::vector(watches_)) EndWatch(*watch, cut);
}

void ApiServer::FailWatches(int status, std::string_view reason) {
  const MutexLock lock(mutex_);
  const ApiError error{.code = status, .reason = std::string(reason), .message = "injected: " + std::string(reason)};
  for (const Shared<WatchStream>& watch : std::vector(watches_)) {
    watch->backlog.clear();
    SendLine(*watch, "ERROR", error.ToStatus().dump());
    EndWatch(*watch, /*cut=*/false);
  }
}

}  // namespace kgen::testing
