// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions without a schema, for tests without generated code.
#ifndef KGEN_TESTS_SUPPORT_CRDS_H_
#define KGEN_TESTS_SUPPORT_CRDS_H_

#include <string>

namespace kgen::testing {

// Returns a CRD of shop.example.com/v1, with the status subresource.
inline std::string CrdJson(const std::string& kind, const std::string& plural, bool namespaced) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")" + plural +
         R"(.shop.example.com"},"spec":{"group":"shop.example.com","scope":")" +
         (namespaced ? "Namespaced" : "Cluster") + R"(","names":{"kind":")" + kind + R"(","listKind":")" + kind +
         R"(List","plural":")" + plural + R"(","singular":")" + plural.substr(0, plural.size() - 1) +
         R"("},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},)"
         R"("schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";
}

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_CRDS_H_
