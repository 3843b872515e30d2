// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_EXAMPLES_TRACING_CONTROLLER_H_
#define KGEN_EXAMPLES_TRACING_CONTROLLER_H_

#include <kgen/controller/manager.h>
#include <kgen/core/result.h>

// The annotation that the controller writes.
inline constexpr const char* kKeys = "tracing.example.com/keys";

// Adds a controller that writes how many keys each ConfigMap has into an annotation.
// Errors: as ControllerBuilder::Reconcile()
kgen::Result<void> AddKeyCounter(const kgen::Manager& manager);

#endif  // KGEN_EXAMPLES_TRACING_CONTROLLER_H_
