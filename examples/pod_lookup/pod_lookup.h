// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PodLookup: which pod has this address, this container, this UID, or this owner? For agents and data planes, which see
// packets and processes, and not names.
//
//   PodLookup lookup(connection);
//   kgen::Must(lookup.Start(stop));
//   if (const auto pod = lookup.ByAddress("10.0.3.7")) Log(pod->metadata.name);
//
// Thread safety: const members from any thread. Reads take no lock and never wait for the writer;
// all but ByOwner() allocate nothing.
#ifndef KGEN_EXAMPLES_POD_LOOKUP_POD_LOOKUP_H_
#define KGEN_EXAMPLES_POD_LOOKUP_POD_LOOKUP_H_

#include <kgen/cache/factory.h>
#include <kgen/client/connection.h>
#include <lookup/projections.h>

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

class PodLookup {
 public:
  using Entry = kgen::Ref<const lookup::PodEntry>;  // null: no pod

  // `cache`: a folder in which the pods are saved; "" saves nothing. It must belong to this user alone.
  explicit PodLookup(const kgen::Connection& connection, std::string cache = "");

  // Starts to follow the pods, and blocks until all of them are known: from the server, or from the cache of an earlier
  // process. Errors: as WaitForCacheSync().
  [[nodiscard]] kgen::Result<void> Start(std::stop_token stop);
  // Returns false while the pods come from an earlier process and the server has not confirmed them: an address may
  // belong to another pod by now.
  bool IsCurrent() const { return pods_.HasSynced(); }

  // The pod that has the address now. Pods that have ended gave theirs back, and pods on the network of their node
  // share its address, so neither is found.
  Entry ByAddress(std::string_view ip) const { return indexer_.OneByIndex("address", ip); }
  // Returns the pod with that container ID, as the kubelet writes it: "containerd://4f6b...".
  Entry ByContainer(std::string_view id) const { return indexer_.OneByIndex("container", id); }
  Entry ByUid(std::string_view uid) const { return indexer_.OneByIndex("uid", uid); }
  // Returns the pods with an owner reference to that UID: the pods of a ReplicaSet, of a Job, ...
  std::vector<Entry> ByOwner(std::string_view uid) const;

 private:
  kgen::SharedInformerFactory factory_;
  kgen::SharedInformer<lookup::PodEntry> pods_;
  kgen::Indexer<lookup::PodEntry> indexer_;
};

#endif  // KGEN_EXAMPLES_POD_LOOKUP_POD_LOOKUP_H_
