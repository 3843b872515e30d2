// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/options.h"

#include "client/request/url_encoding.h"
#include "kgen/codec/encode.h"
#include "kgen/core/object_meta.h"
#include "net/duration_text.h"

namespace kgen {

std::string ListOptions::Query(bool watch) const {
  client::QueryBuilder query;
  if (allow_watch_bookmarks) query.Add("allowWatchBookmarks", "true");
  query.AddIfSet("continue", continue_);
  query.AddIfSet("fieldSelector", field_selector);
  query.AddIfSet("labelSelector", label_selector);
  if (limit.value_or(0) != 0) query.Add("limit", std::to_string(*limit));
  query.AddIfSet("resourceVersion", resource_version);
  query.AddIfSet("resourceVersionMatch", resource_version_match);
  if (send_initial_events) query.Add("sendInitialEvents", "true");
  query.AddIfSet("shardSelector", shard_selector);
  if (timeout_seconds.has_value()) {  // some servers read the first form, others the second
    query.Add("timeout", net::DurationText(std::chrono::seconds(*timeout_seconds)));
    query.Add("timeoutSeconds", std::to_string(*timeout_seconds));
  }
  if (watch) query.Add("watch", "true");
  return query.Take();
}

std::string LogOptions::Query() const {
  client::QueryBuilder query;
  query.AddIfSet("container", container);
  if (follow) query.Add("follow", "true");
  if (limit_bytes.has_value()) query.Add("limitBytes", std::to_string(*limit_bytes));
  if (previous) query.Add("previous", "true");
  if (since) {
    query.Add("sinceSeconds", std::to_string(std::chrono::ceil<std::chrono::seconds>(*since).count()));
  }
  if (tail_lines.has_value()) query.Add("tailLines", std::to_string(*tail_lines));
  if (timestamps) query.Add("timestamps", "true");
  return query.Take();
}

std::string DeleteOptions::Body() const {
  meta::v1::DeleteOptions body{.apiVersion = "v1", .gracePeriodSeconds = grace_period_seconds, .kind = "DeleteOptions"};
  if (!uid.empty()) body.preconditions->uid = uid;
  if (!resource_version.empty()) body.preconditions->resourceVersion = resource_version;
  switch (propagation_policy) {
    case Propagation::kDefault:
      break;
    case Propagation::kOrphan:
      body.propagationPolicy = "Orphan";
      break;
    case Propagation::kBackground:
      body.propagationPolicy = "Background";
      break;
    case Propagation::kForeground:
      body.propagationPolicy = "Foreground";
      break;
  }
  if (dry_run) body.dryRun = {"All"};
  return Encode(body);
}

Patch MergePatch(std::string_view json) { return {"application/merge-patch+json", std::string(json)}; }
Patch JsonPatch(std::string_view json) { return {"application/json-patch+json", std::string(json)}; }
Patch StrategicMergePatch(std::string_view json) {
  return {"application/strategic-merge-patch+json", std::string(json)};
}
Patch ApplyPatch(std::string_view json) { return {"application/apply-patch+yaml", std::string(json)}; }

}  // namespace kgen
