// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reference pods of all budgets: 9.2 KB of compact JSON on average, 20 pods per ReplicaSet, a token volume and a
// node for each pod, as on a real cluster. Deterministic: pod i is always the same.
#ifndef KGEN_BENCH_REFERENCE_PODS_H_
#define KGEN_BENCH_REFERENCE_PODS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace kgen::bench {

// Returns `count` pods, one JSON object each. The pods depend on the count, because the number of nodes grows with it.
std::vector<std::string> ReferencePods(std::size_t count);

// Returns the same pods in the order in which API servers list them: by namespace and name.
std::vector<std::string> ListedPods(std::size_t count);

// Makes the changes of a kubelet that reports a status: the version, the times of a condition and of its field manager,
// and the restart count of a container.
void AdvancePod(std::string& pod, long version, std::size_t n);

// Returns the pods as a streaming list sends them, with kind and apiVersion in each object.
std::string AsEvents(const std::vector<std::string>& pods);
// Returns the JSON array of these objects, which can be the items of a list.
std::string AsArray(const std::vector<std::string>& pods);

}  // namespace kgen::bench

#endif  // KGEN_BENCH_REFERENCE_PODS_H_
