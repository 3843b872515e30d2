// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller of api/store_v1.h. For each Store it keeps a StatefulSet with a pod for each member, a headless
// Service for the members, a Service for clients, a ConfigMap with the settings, and a PodDisruptionBudget. It restarts
// members whose image or settings have changed, and removes members that are no longer wanted, one at a time.
#ifndef KGEN_EXAMPLES_OPERATOR_CONTROLLER_H_
#define KGEN_EXAMPLES_OPERATOR_CONTROLLER_H_

#include <kgen/controller/manager.h>
#include <kgen/core/result.h>

// The options of a manager for the controller: its name, and caches that have only the pods of stores.
kgen::ManagerOptions StoreManagerOptions();

// Adds the controller to a manager that does not run yet. Errors: as ControllerBuilder::Reconcile().
kgen::Result<void> AddStoreController(const kgen::Manager& manager);

#endif  // KGEN_EXAMPLES_OPERATOR_CONTROLLER_H_
