// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "pod_lookup.h"

#include <utility>

using lookup::PodEntry;

namespace {

bool HasEnded(const PodEntry& pod) {
  return pod.status->phase == PodEntry::Status::PhaseValues::kSucceeded ||
         pod.status->phase == PodEntry::Status::PhaseValues::kFailed;
}

void Addresses(const PodEntry& pod, kgen::IndexSink& sink) {
  if (HasEnded(pod) || *pod.spec->hostNetwork) return;
  for (const auto& each : pod.status->podIPs) sink.Add(each.ip);
}

void Containers(const PodEntry& pod, kgen::IndexSink& sink) {
  for (const auto& each : pod.status->containerStatuses) sink.Add(each.containerID);
  for (const auto& each : pod.status->initContainerStatuses) sink.Add(each.containerID);
}

void Owners(const PodEntry& pod, kgen::IndexSink& sink) {
  for (const auto& each : pod.metadata.ownerReferences) sink.Add(each.uid);
}

kgen::FactoryOptions OptionsFor(std::string cache) {
  if (cache.empty()) return {};
  return {.defaults = {.warm_start = kgen::WarmStart{.folder = std::move(cache)}}};
}

}  // namespace

// begin start
PodLookup::PodLookup(const kgen::Connection& connection, std::string cache)
    : factory_(connection, OptionsFor(std::move(cache))),
      pods_(factory_.Of<PodEntry>().Informer()),
      indexer_(pods_.Indexer()) {}

kgen::Result<void> PodLookup::Start(std::stop_token stop) {
  kgen::Must(pods_.AddIndex("address", Addresses));
  kgen::Must(pods_.AddIndex("container", Containers));
  kgen::Must(pods_.AddIndex("owner", Owners));
  kgen::Must(pods_.AddIndex("uid", kgen::FieldPath("metadata.uid")));
  factory_.Start(stop);
  return factory_.WaitForCacheSync(stop, {.stale = true});
}
// end start

std::vector<PodLookup::Entry> PodLookup::ByOwner(std::string_view uid) const {
  return indexer_.Snapshot().ByIndex("owner", uid);
}
