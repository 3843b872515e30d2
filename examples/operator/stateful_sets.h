// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// For tests: plays the parts of a cluster that an API server alone does not have. No StatefulSet controller, scheduler,
// kubelet or garbage collector runs in these tests; this class acts as they do, as far as the operator can see.
#ifndef KGEN_EXAMPLES_OPERATOR_STATEFUL_SETS_H_
#define KGEN_EXAMPLES_OPERATOR_STATEFUL_SETS_H_

#include <k8s/apps/v1/client.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/client.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/connection.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

// Thread safety: one thread. Every function blocks for the server's answers, and throws kgen::Exception if one is an
// error that a controller would not expect.
class StatefulSets {
 public:
  // Acts in one namespace.
  StatefulSets(const kgen::Connection& connection, std::string in_namespace)
      : apps_(connection), core_(connection), namespace_(std::move(in_namespace)) {}

  // Pods with this image never become ready.
  void Break(const std::string& image) { broken_.insert(image); }

  // Looks at everything once. For each StatefulSet it takes at most one step, as the policy OrderedReady does: makes
  // the first missing pod, with its volume, once all before it are ready, or deletes the last one that is too many.
  // Makes pods of earlier steps ready. Deletes pods whose StatefulSet is gone. Returns how many writes it made.
  int Act();

 private:
  using Pod = k8s::core::v1::Pod;
  using StatefulSet = k8s::apps::v1::StatefulSet;

  int ActFor(const StatefulSet& set, const std::vector<const Pod*>& pods);
  int MakeReady(const Pod& pod);
  int Make(const StatefulSet& set, int ordinal);
  int WriteStatus(const StatefulSet& set, const std::vector<const Pod*>& pods);

  k8s::apps::v1::Client apps_;
  k8s::core::v1::Client core_;
  std::string namespace_;
  std::set<std::string> broken_;
};

#endif  // KGEN_EXAMPLES_OPERATOR_STATEFUL_SETS_H_
