// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// crd::Install: puts CustomResourceDefinitions on a server and waits until it serves them.
#ifndef KGEN_CLIENT_CRD_H_
#define KGEN_CLIENT_CRD_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::crd {

// Options of Install().
struct InstallOptions {
  Nanos timeout = std::chrono::seconds(30);  // of the whole call; kgen::kNoLimit: no limit; zero or less: an error
  std::stop_token stop{};
};

// The result of Install() for one CRD.
struct Installed {
  // What Install() did with the CRD.
  enum class Outcome : std::uint8_t { kCreated, kUpdated, kUnchanged };
  std::string name{};  // of the CRD: "orders.shop.example.com"
  Outcome outcome = Outcome::kUnchanged;
  // What an update changed: "spec.versions[v1].schema.openAPIV3Schema.properties.spec.required changed",
  // "metadata.labels.team added", "spec.versions[v1alpha1] removed".
  std::vector<std::string> changes{};

  std::string str() const;  // "customresourcedefinition orders.shop.example.com updated: metadata.labels.team added"
};

// Creates or updates each CRD (as JSON, from a generated Manifests()), then waits for the condition Established and
// until the server serves the resource. Idempotent: it writes nothing if nothing changes. Blocks.
//
// An update sets what the manifest contains and keeps the rest: labels and annotations that it does not name, and the
// members of `spec` that it leaves out, such as `conversion` with a webhook that somebody has configured, and the
// `caBundle` of a webhook, which cert-manager injects. A list is replaced whole, so write an empty one to clear it, and
// so is `spec.versions`: the manifest defines each version, and which versions there are. An update carries the
// resourceVersion that was read; after a conflict the CRD is read again, up to five times in all.
//
// Errors: kTimeout, with the CRD and its conditions; kInvalidArgument for a manifest that is not a CRD, and for a
// timeout of zero or less; kInvalid if the manifest lacks a version in which objects may still be stored
// (`status.storedVersions`), with the way out; kCancelled; the server's.
[[nodiscard]] Result<std::vector<Installed>> Install(const Connection& connection,
                                                     std::span<const std::string_view> manifests,
                                                     const InstallOptions& options = {});

// Installs over the connection of any clientset.
template <typename Clientset>
  requires requires(const Clientset& c) { c.connection(); }
[[nodiscard]] Result<std::vector<Installed>> Install(const Clientset& clientset,
                                                     std::span<const std::string_view> manifests,
                                                     const InstallOptions& options = {}) {
  return Install(clientset.connection(), manifests, options);
}

}  // namespace kgen::crd

#endif  // KGEN_CLIENT_CRD_H_
