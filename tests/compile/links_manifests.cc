// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Two programs for manifests_test.cc: one that calls Manifests(), and one that links the same API without doing so.
#include "acme/clientset.h"
#include "acme/scheme.h"

int main() {
#ifdef KGEN_CALLS_MANIFESTS
  if (acme::Manifests().empty()) return 1;
#endif
  return acme::Kinds().empty() ? 1 : 0;
}
