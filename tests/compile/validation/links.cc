// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Two programs for validate_test.cc. Both include the header of a CRD, and one validates.
#include "pipelines/ci/tasks_manifest.h"
#include "pipelines/ci/v1/types.h"
#ifdef KGEN_VALIDATES
#include "kgen/validation/validate.h"
#endif

int main() {
  pipelines::ci::v1::Task task;
#ifdef KGEN_VALIDATES
  if (!kgen::Validate(task).valid()) return 1;
#endif
  return task.metadata.name.empty() ? 1 : 0;
}
