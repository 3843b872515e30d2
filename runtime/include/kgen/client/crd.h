// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// crd::Install: puts CustomResourceDefinitions on a server and waits until it serves them.
#ifndef KGEN_CLIENT_CRD_H_
#define KGEN_CLIENT_CRD_H_

#include <chrono>
#include <span>
#include <stop_token>
#include <string_view>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::crd {

struct InstallOptions {
  Nanos timeout = std::chrono::seconds(30);
  std::stop_token stop{};
};

// Creates or updates each CRD (as JSON, from a generated Manifests()), then waits for the condition Established and
// until the server serves the resource. Idempotent. Blocks. Errors: kTimeout, with the CRD and its conditions;
// kInvalidArgument for a manifest that is not a CRD; the server's.
[[nodiscard]] Result<void> Install(const Connection& connection, std::span<const std::string_view> manifests,
                                   const InstallOptions& options = {});

// The same with any clientset.
template <typename Clientset>
  requires requires(const Clientset& c) { c.connection(); }
[[nodiscard]] Result<void> Install(const Clientset& clientset, std::span<const std::string_view> manifests,
                                   const InstallOptions& options = {}) {
  return Install(clientset.connection(), manifests, options);
}

}  // namespace kgen::crd

#endif  // KGEN_CLIENT_CRD_H_
