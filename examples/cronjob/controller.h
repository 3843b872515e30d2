// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller of api/cronjob_v1.h: creates the Jobs of CronJobs when they are due.
#ifndef KGEN_EXAMPLES_CRONJOB_CONTROLLER_H_
#define KGEN_EXAMPLES_CRONJOB_CONTROLLER_H_

#include <kgen/controller/manager.h>

// Adds the controller to a manager that does not run yet.
kgen::Result<void> AddCronJobController(const kgen::Manager& manager);

#endif  // KGEN_EXAMPLES_CRONJOB_CONTROLLER_H_
