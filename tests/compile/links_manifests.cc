// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Three programs for manifests_test.cc, which link the same API: one calls Manifests(), one calls the function of one
// kind, and one calls neither, although it includes the header of that kind.
#include "pipelines/ci/pipelines_manifest.h"
#include "pipelines/clientset.h"
#include "pipelines/scheme.h"

int main() {
#ifdef KGEN_CALLS_MANIFESTS
  if (pipelines::Manifests().empty()) return 1;
#endif
#ifdef KGEN_CALLS_PIPELINE_MANIFEST
  if (pipelines::ci::PipelineManifest().empty()) return 1;
#endif
  return pipelines::Kinds().empty() ? 1 : 0;
}
