// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller of api/shop_v1.h: writes a packing list, a ConfigMap, for each order, and how many articles there are
// into the order's status.
#ifndef KGEN_EXAMPLES_CPP_FIRST_CONTROLLER_H_
#define KGEN_EXAMPLES_CPP_FIRST_CONTROLLER_H_

#include <kgen/controller/manager.h>

// Adds the controller to a manager that does not run yet.
kgen::Result<void> AddOrderController(const kgen::Manager& manager);

#endif  // KGEN_EXAMPLES_CPP_FIRST_CONTROLLER_H_
