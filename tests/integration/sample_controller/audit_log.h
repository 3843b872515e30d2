// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a controller wrote, from the audit log of the real API server, in a form that does not depend on chance.
#ifndef KGEN_TESTS_INTEGRATION_SAMPLE_CONTROLLER_AUDIT_LOG_H_
#define KGEN_TESTS_INTEGRATION_SAMPLE_CONTROLLER_AUDIT_LOG_H_

#include <cstddef>
#include <iosfwd>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::integration {

// The writes of one program in one namespace.
//
// How often a controller repeats a write depends on timing: a worker may run before the cache has seen the write of the
// last run, and then writes the same again. Therefore a write that changes nothing is left out if the last one of its
// object and subresource was the same.
struct Writes {
  // "update foos/status first ?fieldManager=sample-controller {...}" in the order of the server. Bodies are without
  // what the server assigns (uids, versions, times), without the namespace, nulls and empty objects. One that never
  // succeeded ends with " failed".
  std::vector<std::string> objects{};
  // "Normal Synced of Foo first by sample-controller": kind, reason, object and source of each Event that was created.
  // Their API group, their texts and the counting of repetitions are the recorder's own.
  std::set<std::string> events{};
  std::size_t requests = 0;  // for objects, with repetitions
};

// Makes the server write what WritesOf() needs, by restarting it with another audit policy. It must run with --audit.
void StartAudit();

// The user agent of `program` begins with its name and '/'. Blocks: reads the log, which has a request before its
// client gets the answer.
Writes WritesOf(std::string_view program, std::string_view in_namespace);
// Returns what WritesOf() returns, from a log other than the running server's.
Writes WritesIn(std::istream& log, std::string_view program, std::string_view in_namespace);

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_SAMPLE_CONTROLLER_AUDIT_LOG_H_
