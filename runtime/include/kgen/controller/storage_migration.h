// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// MigrateStorage(): writes every object of a CRD again, so that all are stored in the storage version, and then removes
// the other versions from `status.storedVersions`. After that, a version can be removed from the CRD.
//
//   manager.Add("migration", [&](std::stop_token stop) -> kgen::Result<void> {
//     auto report = kgen::MigrateStorage(manager.connection(), "orders.shop.example", {}, stop);
//     if (!report) return kgen::Fail(report.error());
//     std::puts(report->str().c_str());
//     return {};
//   });
//
//   wait (settle) --> list a page --> update each object as it was read --> ... --> status.storedVersions
//
// Idempotent: if `status.storedVersions` has the storage version alone, nothing is written. Two runs at a time do
// no harm; so the function may run in every replica, though it is enough in the leader.
//
// Servers learn of a change to a CRD by a watch, one after the other, and there is no way to ask each of several
// servers behind one address. One that is late would store an object in the old version after its turn. So the function
// waits for MigrationOptions::settle before the first page, and refuses to finish if the CRD has changed since then:
// `status.storedVersions` is written with the resourceVersion that was read before the first page, and after a conflict
// everything starts again.
//
// Kubernetes has an API for the same, `storagemigration.k8s.io`. It is not used: in 1.36 it is v1beta1 and off by
// default, so a program needs its own way anyway, and which of the two ran would depend on the cluster.
//
// Needs these rights: get customresourcedefinitions, update customresourcedefinitions/status, and list and update of
// the objects.
#ifndef KGEN_CONTROLLER_STORAGE_MIGRATION_H_
#define KGEN_CONTROLLER_STORAGE_MIGRATION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen {

// How far a migration has come.
struct MigrationProgress {
  std::size_t pages = 0, updated = 0, skipped = 0;  // as in MigrationReport, so far
  // For MigrationOptions::resume.
  std::string resume{};
};

// Options of a migration.
struct MigrationOptions {
  // Default: 1 min. The wait before the first page, in which all API servers learn of the storage version. Zero: none,
  // for a cluster with one server and tests.
  Nanos settle = std::chrono::minutes(1);
  // Default: 20. How many objects are written each second; must be positive.
  double updates_per_second = 20;
  // Default: 500. How many objects are read at a time; must be positive.
  std::int64_t page_size = 500;
  // Default: at the beginning. A MigrationProgress::resume of a call that did not end. It is used only if the CRD has
  // not changed since; then there is no wait either.
  std::string resume{};
  // Default: none. Called on the calling thread after each page but the last.
  std::function<void(const MigrationProgress&)> progress{};
};

// What a migration has done.
struct MigrationReport {
  std::string storage_version{};               // "v2"
  std::vector<std::string> stored_versions{};  // as they were: "v1", "v2"
  std::size_t pages = 0;
  std::size_t updated = 0;
  std::size_t skipped = 0;  // written or deleted by somebody else meanwhile, so there was nothing to do
  int rounds = 0;           // 0: nothing had to be done; more than 1: the CRD changed meanwhile

  std::string str() const;  // "stored in v2: 1200 objects written, 3 written or deleted by others, 1 round"
};

// Migrates the objects of `crd`, for instance "orders.shop.example". Blocks; real migrations take minutes.
//
// A page that cannot be continued because its token has expired goes on where the server says, or at the beginning; to
// write an object twice is harmless. An update is tried again a few times after failures of the network or the server.
//
// Errors: kInvalidArgument  an option is out of range, nothing was sent; or the CRD has no storage version
//         kInvalid          objects that the server refuses, for instance because validation has become stricter; all
//                           others were written. The message names the first one, and how many there are
//         kConflict         the CRD changed during each of five rounds
//         kExpired          the tokens of pages expire faster than the pages are written: raise updates_per_second
//         kCancelled        `stop` was requested
//         the server's
// Thread safety: may be called from any thread.
[[nodiscard]] Result<MigrationReport> MigrateStorage(const Connection& connection, std::string_view crd,
                                                     const MigrationOptions& options = {}, std::stop_token stop = {});

}  // namespace kgen

#endif  // KGEN_CONTROLLER_STORAGE_MIGRATION_H_
